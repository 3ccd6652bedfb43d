// SPDX-License-Identifier: Apache-2.0
// Tables of text with aligned columns.
#pragma once

#include <string>
#include <vector>

namespace raylift::cli {

enum class Align { left, right };

/// Rows of cells under a header. Cells are made printable as they are added.
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::right;
  };

  /// Without any titles no header is printed.
  explicit Table(std::vector<Column> columns);

  /// `cells` has one text for each column.
  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// All lines, each behind `indent` spaces and with no blanks at its end.
  [[nodiscard]] std::string text(std::size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace raylift::cli
