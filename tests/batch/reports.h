// SPDX-License-Identifier: Apache-2.0
// Reports of `raylift batch`, as tests look at them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "run_program.h"

namespace raylift::test {

/// The report's lines, its head among them; throws where one is no JSON.
inline std::vector<nlohmann::json> lines_of(const std::filesystem::path& report) {
  std::vector<nlohmann::json> lines;
  std::ifstream file(report);
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

/// The report's rows, in its order.
inline std::vector<nlohmann::json> rows_of(const std::filesystem::path& report) {
  std::vector<nlohmann::json> rows = lines_of(report);
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

/// The rows by the last part of their file's name.
inline std::map<std::string, nlohmann::json> rows_by_name(const std::filesystem::path& report) {
  std::map<std::string, nlohmann::json> rows;
  for (nlohmann::json& row : rows_of(report)) {
    const std::string name = std::filesystem::path(row["file"].get<std::string>()).filename().string();
    rows[name] = std::move(row);
  }
  return rows;
}

/// What must be the same each time: the rows without how long they took and where.
inline std::vector<std::string> rows_in_order(const std::filesystem::path& report) {
  std::vector<std::string> lines;
  for (nlohmann::json& row : rows_of(report)) {
    row.erase("run");
    lines.push_back(row.dump());
  }
  return lines;
}

/// The same in the order of their text.
inline std::vector<std::string> content_of(const std::filesystem::path& report) {
  std::vector<std::string> lines = rows_in_order(report);
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Makes `count` copies of a small scene in a folder.
inline void copy_scenes(const std::filesystem::path& folder, int count) {
  for (int i = 0; i != count; ++i)
    std::filesystem::copy_file(data_file("cube.dae"), folder / ("scene" + std::to_string(i) + ".dae"));
}

/// A batch of copies of a small scene, and its report.
class CopiesOfAScene : public testing::Test {
 protected:
  explicit CopiesOfAScene(int count) {
    std::filesystem::create_directory(scenes());
    copy_scenes(scenes(), count);
  }
  [[nodiscard]] std::string scenes() const { return folder_.path() / "scenes"; }
  [[nodiscard]] std::string report() const { return folder_.path() / "report.jsonl"; }
  /// The report's.
  [[nodiscard]] std::string text() const { return bytes_in(report()); }

  TemporaryFolder folder_;
};

}  // namespace raylift::test
