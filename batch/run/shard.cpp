// SPDX-License-Identifier: Apache-2.0
#include "shard.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <cstdlib>

#include "base/parse_number.h"

namespace raylift::batch {
using namespace cli;
namespace {

/// The value of one of Slurm's variables.
std::size_t slurm_number(const char* variable) {
  const char* set = std::getenv(variable);
  const auto value = set == nullptr ? std::nullopt : base::parse_number<std::size_t>(set);
  if (!value)
    throw Error(ErrorKind::usage,
                fmt::format("this is a task of a Slurm job array, but {} is {}", variable,
                            set == nullptr ? "not set" : fmt::format("'{}', no number", set)),
                {}, "name the shard by --shard");
  return *value;
}

}  // namespace

Shard parse_shard(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto index = base::parse_number<std::size_t>(text.substr(0, slash));
  const auto count = base::parse_number<std::size_t>(text.substr(std::min(slash + 1, text.size())));
  if (!index || !count || *index >= *count)
    throw Error(ErrorKind::usage, fmt::format("'{}' is no shard: of three, these are 0/3, 1/3 and 2/3", text));
  return {*index, *count};
}

std::optional<Shard> slurm_shard() {
  if (std::getenv("SLURM_ARRAY_TASK_ID") == nullptr) return std::nullopt;
  const std::size_t task = slurm_number("SLURM_ARRAY_TASK_ID");
  const std::size_t least = slurm_number("SLURM_ARRAY_TASK_MIN");
  const std::size_t count = slurm_number("SLURM_ARRAY_TASK_COUNT");
  const std::size_t most = slurm_number("SLURM_ARRAY_TASK_MAX");
  const std::size_t step = std::getenv("SLURM_ARRAY_TASK_STEP") != nullptr ? slurm_number("SLURM_ARRAY_TASK_STEP") : 1;
  // An array such as 1,2,7 has gaps: the number of a task does not say which of them it is.
  if (step == 0 || task < least || task > most || (task - least) % step != 0 || (most - least) / step + 1 != count)
    throw Error(ErrorKind::usage,
                fmt::format("task {} of a job array of {} tasks from {} to {} is no shard", task, count, least, most),
                {}, "submit an array without gaps, or name the shard by --shard");
  return Shard{(task - least) / step, count};
}

void set_shard(Json& row, const ShardRow& shard) {
  row["run"]["shard"] = {
      {"index", shard.shard.index}, {"count", shard.shard.count}, {"scene", shard.scene}, {"scenes", shard.scenes}};
}

std::optional<ShardRow> shard_of(const Json& row) {
  const auto run = row.find("run");
  if (run == row.end() || !run->is_object() || !run->contains("shard")) return std::nullopt;
  try {
    const Json& json = run->at("shard");
    const auto member = [&](const char* name) { return json.at(name).get<std::size_t>(); };
    const ShardRow shard{{member("index"), member("count")}, member("scene"), member("scenes")};
    if (shard.shard.count != 0 && shard.scene < shard.scenes && shard.shard.has(shard.scene)) return shard;
  } catch (const Json::exception&) {
    // said below
  }
  throw Error(ErrorKind::malformed, "what a row says of its shard makes no sense");
}

}  // namespace raylift::batch
