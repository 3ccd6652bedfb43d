// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "text.h"

namespace raylift::cli {

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i != columns_.size(); ++i) {
    std::size_t width = cli::columns(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, cli::columns(row[i]));
    widths.push_back(width);
  }
  std::string result;
  const auto add_line = [&](const auto& cell) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i != columns_.size(); ++i) {
      const std::string& text = cell(i);
      const std::string padding(widths[i] - cli::columns(text), ' ');
      if (i != 0) line += "  ";
      line += columns_[i].align == Align::left ? text + padding : padding + text;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  };
  const bool titled =
      std::any_of(columns_.begin(), columns_.end(), [](const Column& column) { return !column.title.empty(); });
  if (titled) add_line([&](std::size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) add_line([&](std::size_t i) -> const std::string& { return row[i]; });
  return result;
}

}  // namespace raylift::cli
