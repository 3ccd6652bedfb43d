// SPDX-License-Identifier: Apache-2.0
// Columns of numbers in a text file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace raylift::detail {

/// Lines of numbers, separated by commas, semicolons, tabs or spaces: by the first of these that the first line has. A
/// first line that is not all numbers names the columns. Empty lines, and those that begin with '#', are left out.
class CsvTable {
 public:
  /// `file` is for messages. Throws Error(malformed) for a line with another number of columns than the first.
  CsvTable(std::string_view text, std::string file);

  /// By its name, or by its number from 1. Throws Error(malformed): no such column, or something in it is no number.
  [[nodiscard]] std::vector<double> column(const std::string& name) const;
  [[nodiscard]] std::vector<double> column(long long number) const;
  /// The file's line that a row of numbers is on, from 1.
  [[nodiscard]] std::size_t line(std::size_t row) const { return lines_[row]; }

 private:
  [[nodiscard]] std::vector<double> numbers(std::size_t column) const;

  std::string file_;
  std::vector<std::string> names_;  // empty where the file has none
  std::size_t columns_ = 0;
  std::vector<std::string> cells_;  // by line
  std::vector<std::size_t> lines_;
};

}  // namespace raylift::detail
