// SPDX-License-Identifier: Apache-2.0
#include "merge.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "base/json.h"
#include "batch_summary.h"
#include "cli/output.h"
#include "cli/text.h"
#include "report.h"
#include "report_head.h"
#include "shard.h"

namespace raylift::batch {
using namespace cli;
namespace {

class Merge {
 public:
  void add(const std::string& report) {
    std::ifstream file(report);
    if (!file) throw Error(ErrorKind::io, std::string("can't open the report: ") + std::strerror(errno), {report, ""});
    std::string line;
    // A line without an end is a row that a batch was killed at: it counts as missing.
    Json head;
    for (std::size_t number = 1; std::getline(file, line) && !file.eof(); ++number) {
      Json row = base::parse_json<Json>(line);
      if (number == 1) {
        if (!is_head(row))
          throw Error(ErrorKind::malformed, "the line is no head of a report", {report, "line 1"},
                      "merge the reports of batches with --shard");
        if (head_.is_null()) head_ = row;
        check_head(row, head_, report);
        head = std::move(row);
        continue;
      }
      const std::optional<ShardRow> shard = is_row(row) ? shard_of(row) : std::nullopt;
      if (!shard)
        throw Error(ErrorKind::malformed, "the line is no row of a shard", {report, "line " + std::to_string(number)},
                    "merge the reports of batches with --shard");
      // The merged report has one folder for all.
      if (head["folder"] != head_["folder"])
        set_file(row, (std::filesystem::path(folder_of(head)) / file_of(row)).string());
      add_row(report, std::move(row), *shard);
    }
    if (file.bad()) throw Error(ErrorKind::io, "can't read the report", {report, ""});
  }

  /// Throws Error(usage) where scenes are missing.
  void check_complete() const {
    if (rows_.empty()) throw Error(ErrorKind::usage, "the reports hold no rows", {}, "name those of all shards");
    if (rows_.size() == scenes_) return;
    std::map<std::size_t, std::size_t> done;
    for (const auto& [scene, row] : rows_) ++done[scene % shards_];
    constexpr int kMax = 8;
    std::string text;
    int named = 0;
    for (std::size_t index = 0; index != std::min(shards_, scenes_) && named != kMax; ++index) {
      const std::size_t all = (scenes_ - index - 1) / shards_ + 1;
      const std::size_t lacks = all - done[index];
      if (lacks == 0) continue;
      text += (named++ == 0 ? "" : ", ") + Shard{index, shards_}.text() + " lacks " + std::to_string(lacks) + " of " +
              std::to_string(all);
    }
    throw Error(ErrorKind::usage,
                counted(scenes_ - rows_.size(), "scene has", "scenes have") + " no row: shard " + text +
                    (named == kMax ? ", ..." : ""),
                {}, "finish these shards with --resume, and name the reports of all");
  }

  [[nodiscard]] Summary write(const std::string& path) const {
    Summary summary(rows_.size());
    Report report(path, Report::Mode::fresh, head_);
    for (const auto& [scene, row] : rows_) {
      report.append(row.json);
      summary.add(scene, row.json, false);
    }
    report.finish();
    return summary;
  }

 private:
  struct Row {
    Json json;
    std::string report;
  };

  void add_row(const std::string& report, Json row, const ShardRow& shard) {
    if (rows_.empty()) {
      scenes_ = shard.scenes;
      shards_ = shard.shard.count;
    }
    if (scenes_ != shard.scenes || shards_ != shard.shard.count)
      throw Error(ErrorKind::usage,
                  "the report is of another batch: shard " + shard.shard.text() + " of " +
                      counted(shard.scenes, "scene", "scenes") + ", after " + counted(shards_, "shard", "shards") +
                      " of " + counted(scenes_, "scene", "scenes"),
                  {report, ""}, "name the reports of one batch");
    row["run"].erase("shard");  // the merged report is one of all scenes
    const auto [place, added] = rows_.try_emplace(shard.scene, Row{std::move(row), report});
    if (!added)
      throw Error(ErrorKind::usage,
                  "shard " + shard.shard.text() + " is there twice: scene " + std::to_string(shard.scene) +
                      " has a row in " + place->second.report + " too",
                  {report, ""}, "name each report once");
  }

  std::map<std::size_t, Row> rows_;  // by the scene's number in the order of the inputs
  std::size_t scenes_ = 0;
  std::size_t shards_ = 0;
  Json head_;
};

}  // namespace

int merge_reports(Session& session, const std::vector<std::string>& reports, const std::string& merged) {
  for (const std::string& report : reports)
    if (std::filesystem::is_directory(report))
      throw Error(ErrorKind::usage, "a folder is no report", {report, ""},
                  "name the shards' reports, such as " + report + (report.ends_with('/') ? "" : "/") + "*.jsonl");
  if (merged.empty()) throw Error(ErrorKind::usage, "--merge needs a report to write to", {}, "name it by --report");
  const auto start = std::chrono::steady_clock::now();
  Merge merge;
  for (const std::string& report : reports) merge.add(report);
  merge.check_complete();
  const Summary summary = merge.write(merged);
  if (session.options().json) {
    session.write(base::json_text(summary.json(std::chrono::steady_clock::now() - start), 2) + '\n');
  } else {
    session.write(summary.table());
  }
  return summary.exit_code();
}

}  // namespace raylift::batch
