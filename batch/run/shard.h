// SPDX-License-Identifier: Apache-2.0
// Shards: parts of a batch that run as jobs of their own, each with its own report.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cli/output.h"

namespace raylift::batch {

/// Scenes are dealt round-robin: shard `index` of `count` has those whose number, in the order of the inputs, leaves
/// the remainder `index`.
struct Shard {
  std::size_t index = 0;
  std::size_t count = 1;

  [[nodiscard]] bool has(std::size_t scene) const { return scene % count == index; }
  [[nodiscard]] std::string text() const { return std::to_string(index) + '/' + std::to_string(count); }
};

/// "0/3" to "2/3". Throws Error(usage) for anything else.
[[nodiscard]] Shard parse_shard(std::string_view text);

/// The shard of this task of a Slurm job array, from SLURM_ARRAY_TASK_ID, _MIN, _STEP and _COUNT; nothing outside of an
/// array. Throws Error(usage) where the tasks' numbers are not evenly spaced.
[[nodiscard]] std::optional<Shard> slurm_shard();

/// A shard as its rows describe it, so that reports can be resumed and merged without another look at the inputs.
struct ShardRow {
  Shard shard;
  std::size_t scene = 0;   ///< its number in the order of the inputs
  std::size_t scenes = 0;  ///< of all shards
};
void set_shard(cli::Json& row, const ShardRow& shard);
/// Nothing where the row is of a batch without shards. Throws Error(malformed).
[[nodiscard]] std::optional<ShardRow> shard_of(const cli::Json& row);

}  // namespace raylift::batch
