// SPDX-License-Identifier: Apache-2.0
// What a batch has come to: counts by result, for its table, its JSON document and its exit code.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/output.h"

namespace raylift::batch {

class Summary {
 public:
  explicit Summary(std::size_t scenes) : codes_(scenes, kOpen) {}

  /// Takes a scene's row; `earlier` if a batch before this one has written it.
  void add(std::size_t scene, const cli::Json& row, bool earlier);
  /// That of the first scene, in the order of the inputs, that failed; else kNegative if any had that answer; else 0.
  [[nodiscard]] int exit_code() const;
  [[nodiscard]] std::size_t done() const { return done_; }
  /// The state of a running batch: "12 scenes done, 1 failed, 30 remaining, 2.5 scenes/s".
  [[nodiscard]] std::string progress(std::chrono::duration<double> time) const;
  /// How many scenes came to which result.
  [[nodiscard]] std::string table() const;
  /// The table, and how long the batch took.
  [[nodiscard]] std::string text(std::chrono::duration<double> time) const;
  [[nodiscard]] cli::Json json(std::chrono::duration<double> time) const;

 private:
  static constexpr int kOpen = -1;
  struct Count {
    std::uint64_t scenes = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<int> codes_;
  std::map<std::string, Count> counts_;  // by "ok", "negative", or the error's kind
  std::size_t done_ = 0;
  std::size_t earlier_ = 0;
};

}  // namespace raylift::batch
