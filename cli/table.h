// SPDX-License-Identifier: Apache-2.0
// Tables of text with aligned columns.
#pragma once

#include <string>
#include <vector>

namespace raylift::cli {

enum class Align { left, right };

/// Rows of cells under a header. add() makes cells printable.
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::right;
  };

  /// Without titles there is no header.
  explicit Table(std::vector<Column> columns);

  /// One cell per column.
  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// The table's lines, indented by `indent` spaces.
  [[nodiscard]] std::string text(std::size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace raylift::cli
