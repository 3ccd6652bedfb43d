// SPDX-License-Identifier: Apache-2.0
#include "earlier_rows.h"

#include <raylift/geometry/error.h>

#include <algorithm>

#include "cli/text.h"
#include "report.h"
#include "report_head.h"

namespace raylift::batch {
using namespace cli;

EarlierRows::EarlierRows(const std::vector<Input>& inputs, const BatchOptions& options, std::size_t all_scenes)
    : inputs_(inputs), options_(options), all_scenes_(all_scenes) {
  for (std::size_t i = 0; i != inputs.size(); ++i) by_identity_.emplace(inputs[i].identity, i);
}

std::optional<std::size_t> EarlierRows::scene_of(const Json& row) {
  const auto found = by_identity_.find(identity_.value()(file_of(row)));
  return found == by_identity_.end() ? std::nullopt : std::optional(found->second);
}

void EarlierRows::set_folder(const Json& head) {
  if (!identity_) identity_.emplace(folder_of(head));
}

void EarlierRows::add(const Json& head, const Json& row) {
  set_folder(head);
  const std::optional<ShardRow> earlier = shard_of(row);
  const std::string theirs =
      earlier ? shard_text(earlier->shard, earlier->scenes) : shard_text(std::nullopt, all_scenes_);
  const std::string ours = shard_text(options_.shard, all_scenes_);
  if (theirs != ours)
    throw Error(ErrorKind::usage, "the report's rows are of " + theirs + ", and this is " + ours,
                {options_.report, file_of(row)}, "use the same inputs and shard, or another report");
  const std::optional<std::size_t> scene = scene_of(row);
  if (!scene || again_.contains(*scene)) return;
  const bool failed = row["status"] == "failed";
  if (failed && std::ranges::count(options_.retry, row["error"]["kind"].get<std::string>()) != 0) {
    again_.insert(*scene);
    done_.erase(*scene);
    return;
  }
  Json kept = {{"status", row["status"]},
               {"bytes", row.value("bytes", Json())},
               {"source", row.value("source", Json())},
               {"files", row.value("files", Json::array())}};
  if (failed) kept["error"]["kind"] = row["error"]["kind"];
  done_.try_emplace(*scene, std::move(kept));
}

bool EarlierRows::changed(std::size_t scene, const Json& row, const Progress& progress) const {
  const Input& input = inputs_[scene];
  if (input.error) return false;
  // A file that was not read has its size alone.
  if (!row["source"].is_string()) return row["bytes"].is_number_unsigned() && row["bytes"] != input.bytes;
  return scene_hash(input.path, options_.action.load, UINT64_MAX, progress) != row["source"].get<std::string>() ||
         !same_files(row, input.path, progress);
}

void EarlierRows::check_sources(const Progress& progress) {
  std::vector<std::size_t> found;
  for (const auto& [scene, row] : done_)
    if (changed(scene, row, progress)) found.push_back(scene);
  if (found.empty()) return;
  if (std::ranges::count(options_.retry, kChanged) == 0)
    throw Error(ErrorKind::usage,
                "the report's rows are of other files: " +
                    counted(found.size(), "scene has changed since", "scenes have changed since"),
                {options_.report, inputs_[found.front()].path},
                std::string("do them again by --retry ") + kChanged + ", or use another report");
  for (const std::size_t scene : found) {
    done_.erase(scene);
    again_.insert(scene);
  }
}

std::string shard_text(const std::optional<Shard>& shard, std::size_t scenes) {
  return shard ? "shard " + shard->text() + " of " + counted(scenes, "scene", "scenes") : "a batch without shards";
}

}  // namespace raylift::batch
