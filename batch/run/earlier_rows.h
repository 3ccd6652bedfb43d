// SPDX-License-Identifier: Apache-2.0
// The scenes of a batch whose report is resumed: which are done, and which are to be done again, by its rows.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "batch_options.h"
#include "cli/output.h"
#include "inputs.h"

namespace raylift::batch {

class EarlierRows {
 public:
  /// `all_scenes`: of all shards.
  EarlierRows(const std::vector<Input>& inputs, const BatchOptions& options, std::size_t all_scenes);

  /// Says where the rows' files are.
  void set_folder(const cli::Json& head);
  /// Takes a row of the report. Throws Error(usage) where it is of another shard, or of another list.
  void add(const cli::Json& head, const cli::Json& row);
  /// Compares the scenes' files with those that the rows are of. Throws Error(usage) where one has changed, unless
  /// --retry names these; io; cancelled.
  void check_sources(const Progress& progress);

  /// The rows that stay, by the scene's number, with what a summary needs.
  [[nodiscard]] const std::map<std::size_t, cli::Json>& done() const { return done_; }
  /// Whether rows have to go, and which: those of scenes that are done again.
  [[nodiscard]] bool any_again() const { return !again_.empty(); }
  [[nodiscard]] bool again(const cli::Json& row) { return again_.contains(scene_of(row).value_or(inputs_.size())); }
  /// The number of the scene that a row is of; nothing where it is none of this batch's.
  [[nodiscard]] std::optional<std::size_t> scene_of(const cli::Json& row);

 private:
  [[nodiscard]] bool changed(std::size_t scene, const cli::Json& row, const Progress& progress) const;

  const std::vector<Input>& inputs_;
  const BatchOptions& options_;
  std::size_t all_scenes_;
  std::unordered_map<std::string, std::size_t> by_identity_;
  std::optional<FileIdentity> identity_;
  std::map<std::size_t, cli::Json> done_;
  std::unordered_set<std::size_t> again_;
};

/// The number in this batch or, with a row's shard, in the one that wrote the row.
[[nodiscard]] std::string shard_text(const std::optional<Shard>& shard, std::size_t scenes);

}  // namespace raylift::batch
