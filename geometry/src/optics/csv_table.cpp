// SPDX-License-Identifier: Apache-2.0
#include "csv_table.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <optional>

#include "base/parse_number.h"
#include "base/suggest.h"

namespace raylift::detail {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  text = text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

char separator_of(std::string_view line) {
  for (const char one : {',', ';', '\t'})
    if (line.find(one) != std::string_view::npos) return one;
  return ' ';
}

std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    const std::string_view cell = trimmed(line.substr(begin, end - begin));
    if (separator != ' ' || !cell.empty()) cells.push_back(cell);
    begin = end + 1;
  }
  return cells;
}

std::optional<double> number(std::string_view text) {
  return base::parse_number<double>(base::without_plus(text));
}

}  // namespace

CsvTable::CsvTable(std::string_view text, std::string file) : file_(std::move(file)) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  char separator = 0;
  std::size_t number_of_line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number_of_line;
    if (line.empty() || line.front() == '#') continue;
    const bool first = separator == 0;
    if (first) separator = separator_of(line);
    const std::vector<std::string_view> cells = cells_of(line, separator);
    if (first) {
      columns_ = cells.size();
      if (!std::all_of(cells.begin(), cells.end(), [](std::string_view cell) { return number(cell).has_value(); })) {
        names_.assign(cells.begin(), cells.end());
        continue;
      }
    }
    if (cells.size() != columns_)
      throw Error(ErrorKind::malformed,
                  "line " + std::to_string(number_of_line) + " has " + std::to_string(cells.size()) +
                      " columns, and the first one has " + std::to_string(columns_),
                  {file_, ""});
    cells_.insert(cells_.end(), cells.begin(), cells.end());
    lines_.push_back(number_of_line);
  }
}

std::vector<double> CsvTable::column(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end())
    throw Error(ErrorKind::malformed, "no column is called '" + name + "'" + base::did_you_mean(name, names_),
                {file_, ""}, names_.empty() ? "the file's first line has no names: give the column's number" : "");
  return numbers(static_cast<std::size_t>(found - names_.begin()));
}

std::vector<double> CsvTable::column(long long number) const {
  if (number < 1 || static_cast<unsigned long long>(number) > columns_)
    throw Error(ErrorKind::malformed,
                "there is no column " + std::to_string(number) + ": the file has " + std::to_string(columns_),
                {file_, ""}, "columns are numbered from 1");
  return numbers(static_cast<std::size_t>(number) - 1);
}

std::vector<double> CsvTable::numbers(std::size_t column) const {
  std::vector<double> values;
  values.reserve(lines_.size());
  for (std::size_t row = 0; row != lines_.size(); ++row) {
    const std::string& cell = cells_[row * columns_ + column];
    const std::optional<double> value = number(cell);
    if (!value)
      throw Error(ErrorKind::malformed,
                  "'" + cell + "' in column " + std::to_string(column + 1) + " of line " + std::to_string(lines_[row]) +
                      " is no number",
                  {file_, ""}, "numbers have a decimal point");
    values.push_back(*value);
  }
  return values;
}

}  // namespace raylift::detail
