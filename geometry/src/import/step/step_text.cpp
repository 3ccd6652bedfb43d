// SPDX-License-Identifier: Apache-2.0
#include "step_text.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <vector>

#include "base/parse_number.h"
#include "base/utf8.h"
#include "import/formats/polygon_reader.h"

namespace raylift::step {
namespace {

struct Numbered {
  std::uint32_t id = 0, line = 0;
  friend bool operator<(const Numbered& a, const Numbered& b) { return a.id != b.id ? a.id < b.id : a.line < b.line; }
};

bool word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '!';
}

class Preflight {
 public:
  Preflight(std::string_view text, const std::string& file, const LoadLimits& limits)
      : text_(text), file_(file), limits_(limits) {}

  StepText run() {
    if (word() != "ISO-10303-21") fail("the file does not begin with ISO-10303-21", "it is no STEP file");
    end_statement("ISO-10303-21");
    bool data = false;
    for (std::string_view section = word(); section != "END-ISO-10303-21"; section = word()) {
      if (section.empty()) fail_end();
      data = data || section == "DATA";
      read_section(section);
    }
    end_statement("END-ISO-10303-21");
    if (!data) fail("the file has no DATA section");
    check_references();
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem, std::string_view advice = {},
                         ErrorKind kind = ErrorKind::malformed) const {
    throw Error(kind, problem, {file_, "line " + std::to_string(line_)}, advice);
  }
  [[noreturn]] void fail_end() const {
    fail("the file ends before END-ISO-10303-21", "it may have been cut off; export it again");
  }

  // Tokens -----------------------------------------------------------------------------------------------------------

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }

  void skip() {
    while (!at_end()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (text_.substr(at_).starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) fail("a comment does not end");
        count_lines(text_.substr(at_, end - at_));
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  void count_lines(std::string_view piece) {
    line_ += static_cast<std::uint32_t>(std::count(piece.begin(), piece.end(), '\n'));
  }

  /// The next character that is no blank; fails at the end.
  char next() {
    skip();
    if (at_end()) fail_end();
    return text_[at_++];
  }

  std::string_view word() {
    skip();
    const std::size_t begin = at_;
    while (!at_end() && word_character(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// The string whose first apostrophe was read.
  std::string_view string() {
    const std::size_t begin = at_;
    for (;;) {
      const std::size_t end = text_.find('\'', at_);
      if (end == std::string_view::npos) fail("a string does not end", "it may have been cut off; export it again");
      at_ = end + 1;
      if (at_end() || text_[at_] != '\'') break;
      ++at_;  // two stand for one
    }
    const std::string_view piece = text_.substr(begin, at_ - 1 - begin);
    count_lines(piece);
    return piece;
  }

  std::uint32_t number(const char* what) {
    const std::string_view digits = word();
    if (at_end()) fail_end();
    const auto value = base::parse_number<std::uint32_t>(digits);
    if (!value || *value == 0 || *value > static_cast<std::uint32_t>(std::numeric_limits<int>::max()))
      fail(std::string(what) + " is no number of an entity: #" + std::string(digits.substr(0, 40)));
    return *value;
  }

  // Statements -------------------------------------------------------------------------------------------------------

  void end_statement(const char* after) {
    skip();
    if (at_end()) fail_end();
    if (text_[at_++] != ';') fail(std::string("there is no ';' after ") + after);
  }

  void read_section(std::string_view name) {
    const bool header = name == "HEADER", data = name == "DATA";
    if (name == "REFERENCE")
      fail("the file refers to entities in other files, which are not read", "export it as one file",
           ErrorKind::unsupported);
    if (!header && !data && name != "ANCHOR") fail("'" + std::string(name.substr(0, 40)) + "' is no section");
    statement("", nullptr);  // what DATA may state of itself
    for (;;) {
      const char c = next();
      if (c == '#' && data) {
        entity();
        continue;
      }
      --at_;
      const std::string_view one = word();
      if (one == "ENDSEC") return end_statement("ENDSEC");
      if (data) fail("an entity is expected, which begins with #");
      if (one.empty() && header) fail("a statement of the header is expected");
      std::vector<std::string_view> strings;
      statement(one, header ? &strings : nullptr);
      if (one == "FILE_SCHEMA" && !strings.empty() && result_.schema.empty()) result_.schema = decoded(strings[0]);
      // FILE_NAME(name, time, (author...), (organization...), preprocessor, system, authorisation)
      if (one == "FILE_NAME" && strings.size() >= 3) result_.generator = decoded(strings[strings.size() - 2]);
    }
  }

  void entity() {
    const std::uint32_t id = number("what follows #");
    defined_.push_back({id, line_});
    if (next() != '=') fail("there is no '=' after #" + std::to_string(id));
    skip();
    const std::string_view type = word();
    if (type.starts_with("TESSELLATED_") && type.ends_with("SOLID")) ++result_.tessellated;
    if (type.starts_with("TESSELLATED_") && type.ends_with("SHELL")) ++result_.tessellated;
    if (type.empty() && (at_end() || text_[at_] != '(')) fail("#" + std::to_string(id) + " has no type");
    statement(type, nullptr);
    ++result_.entities;
  }

  /// What is left of a statement, its ';' included. Keeps its strings where they are asked for.
  void statement(std::string_view type, std::vector<std::string_view>* strings) {
    std::uint32_t depth = 0;
    for (;;) {
      const char c = next();
      if (c == ';') break;
      if (c == '(' && ++depth > limits_.node_depth)
        fail("parentheses are nested more than " + std::to_string(limits_.node_depth) + " deep",
             "raise the limit with LoadLimits::node_depth", ErrorKind::limit);
      if (c == ')' && depth-- == 0) fail("a ')' has no '('" + in(type));
      if (c == '#') used_.push_back({number("a reference"), line_});
      if (c == '\'') {
        const std::string_view piece = string();
        if (strings != nullptr) strings->push_back(piece);
      }
      if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+') check_number(c);
      if (std::isalpha(static_cast<unsigned char>(c)) != 0) (void)word();
    }
    if (depth != 0) fail("a '(' has no ')'" + in(type));
  }
  /// A number whose first character was read, which the library would take for another one or for infinite.
  void check_number(char first) {
    const std::size_t begin = first == '+' ? at_ : at_ - 1;
    while (!at_end() && (word_character(text_[at_]) || text_[at_] == '.' || text_[at_] == '+')) ++at_;
    const std::string_view token = text_.substr(begin, at_ - begin);
    if (at_end()) fail_end();
    if (!base::parse_number<double>(token))
      fail("'" + std::string(token.substr(0, 40)) + "' is no number that fits into a double");
  }

  static std::string in(std::string_view type) { return type.empty() ? "" : " in " + std::string(type.substr(0, 60)); }

  void check_references() {
    std::sort(defined_.begin(), defined_.end());
    const auto twice = std::adjacent_find(defined_.begin(), defined_.end(),
                                          [](const Numbered& a, const Numbered& b) { return a.id == b.id; });
    if (twice != defined_.end()) {
      line_ = (twice + 1)->line;
      fail("#" + std::to_string(twice->id) + " is defined twice; first in line " + std::to_string(twice->line));
    }
    for (const Numbered& use : used_) {
      if (std::binary_search(defined_.begin(), defined_.end(), use,
                             [](const Numbered& a, const Numbered& b) { return a.id < b.id; }))
        continue;
      line_ = use.line;
      fail("#" + std::to_string(use.id) + " is not in the file", "it may have been cut off; export it again");
    }
  }

  std::string_view text_;
  const std::string& file_;
  const LoadLimits& limits_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  StepText result_;
  std::vector<Numbered> defined_, used_;
};

/// Hexadecimal digits, `width` for each character, as UTF-8; nothing where they are none.
std::optional<std::string> of_digits(std::string_view digits, std::size_t width) {
  if (digits.size() % width != 0) return std::nullopt;
  std::string bytes;  // UTF-16, big-endian
  for (std::size_t i = 0; i < digits.size(); i += width) {
    const auto value = base::parse_number<std::uint32_t>(digits.substr(i, width), 16);
    if (!value || *value > 0x10FFFF) return std::nullopt;
    const auto unit = [&](std::uint32_t one) {
      bytes += static_cast<char>(one >> 8U);
      bytes += static_cast<char>(one & 0xFFU);
    };
    if (*value < 0x10000) {
      unit(*value);
    } else {
      unit(0xD800 + ((*value - 0x10000) >> 10U));
      unit(0xDC00 + ((*value - 0x10000) & 0x3FFU));
    }
  }
  return base::utf8_from_utf16(bytes, true);
}

}  // namespace

StepText check_step_text(std::string_view text, const std::string& file, const LoadLimits& limits) {
  return Preflight(text, file, limits).run();
}

std::string decoded(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    std::optional<std::string> piece;
    std::size_t length = 0;
    if (text.starts_with("''") || text.starts_with("\\\\")) {
      piece = text.substr(0, 1);
      length = 2;
    } else if (text.starts_with("\\X\\") && text.size() >= 5) {
      piece = of_digits("00" + std::string(text.substr(3, 2)), 4);
      length = 5;
    } else if (text.starts_with("\\S\\") && text.size() >= 4) {
      const auto code = static_cast<unsigned char>(text[3]);  // ISO 8859-1, its upper half
      piece = base::utf8_from_utf16(std::string{'\0', static_cast<char>(code | 0x80U)}, true);
      length = 4;
    } else if (text.starts_with("\\X2\\") || text.starts_with("\\X4\\")) {
      const std::size_t end = text.find("\\X0\\");
      if (end != std::string_view::npos) piece = of_digits(text.substr(4, end - 4), text[2] == '2' ? 4 : 8);
      length = end == std::string_view::npos ? 0 : end + 4;
    }
    if (!piece) piece = text.substr(0, 1), length = 1;
    result += *piece;
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace raylift::step
