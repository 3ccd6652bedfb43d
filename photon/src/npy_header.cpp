// SPDX-License-Identifier: Apache-2.0
#include "npy_header.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/parse_number.h"

namespace raylift::photon {
namespace {

constexpr std::array<std::string_view, 4> kNames{"float32", "int32", "uint32", "uint64"};
constexpr std::array<std::string_view, 4> kDescriptions{"<f4", "<i4", "<u4", "<u8"};
constexpr std::size_t kMaxAxes = 32;  // NumPy's own limit

/// What a file says, before it is known whether that is read.
struct Said {
  std::optional<std::string> description;
  std::optional<bool> fortran;
  std::optional<std::vector<std::uint64_t>> shape;
};

/// Parses those of Python's literals that such dictionaries have.
class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  Said dictionary() {
    Said said;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr")
        set(said.description, description());
      else if (key == "fortran_order")
        set(said.fortran, boolean());
      else if (key == "shape")
        set(said.shape, tuple());
      else
        fail("the header has the unknown key '" + key + "'");
      if (!accept(',') && !next_is('}')) fail("the header is no dictionary");
    }
    skip();
    if (!rest_.empty()) fail("the header goes on after its dictionary");
    if (!said.description || !said.fortran || !said.shape)
      fail("the header lacks one of 'descr', 'fortran_order' and 'shape'");
    return said;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorKind::malformed, problem, {file_, {}}, "write the file with numpy.save");
  }
  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }
  bool next_is(char c) {
    skip();
    return !rest_.empty() && rest_.front() == c;
  }
  bool accept(char c) {
    if (!next_is(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("the header lacks a '") + c + '\'');
  }
  template <class T>
  void set(std::optional<T>& slot, T value) {
    if (slot) fail("the header has a key twice");
    slot = std::move(value);
  }
  std::string quoted() {
    const char quote = next_is('"') ? '"' : '\'';
    expect(quote);
    const std::size_t end = rest_.find(quote);
    if (end > 64) fail("the header has text without an end");
    std::string text(rest_.substr(0, end));
    // Such names would spoil the messages that tell of them.
    if (std::any_of(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }))
      fail("the header has a name that is not of ASCII letters");
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string description() {
    if (next_is('['))
      throw Error(ErrorKind::unsupported, "is an array of records", {file_, {}}, "save each field by itself");
    return quoted();
  }
  bool boolean() {
    skip();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    fail("'fortran_order' is neither True nor False");
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> values;
    expect('(');
    while (!accept(')')) {
      skip();
      std::uint64_t value = 0;
      if (base::read_number(rest_, value) != std::errc() || values.size() == kMaxAxes)
        fail("'shape' is no tuple of up to 32 counts");
      values.push_back(value);
      if (!accept(',') && !next_is(')')) fail("'shape' is no tuple of up to 32 counts");
    }
    return values;
  }

  std::string_view rest_;
  const std::string& file_;
};

}  // namespace

std::string npy_header(NpyType type, std::span<const std::uint64_t> row_shape, std::uint64_t rows, std::size_t least) {
  std::string text = "\x93NUMPY\x01";
  text += '\0';
  text += "  {'descr': '";
  text += kDescriptions[static_cast<std::size_t>(type)];
  text += "', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ',';
  for (std::size_t i = 0; i != row_shape.size(); ++i) {
    if (i != 0) text += ',';
    text += ' ' + std::to_string(row_shape[i]);
  }
  text += "), }";
  const std::size_t size = std::max((text.size() + 64) / 64 * 64, least);  // with the line's end
  text.resize(size - 1, ' ');
  text += '\n';
  text[8] = static_cast<char>((size - 10) & 0xFF);
  text[9] = static_cast<char>((size - 10) >> 8);
  return text;
}

NpyHeader parse_npy_header(std::string_view text, const std::string& file) {
  const Said said = Parser(text, file).dictionary();
  const auto unsupported = [&](const std::string& problem, const std::string& advice) {
    throw Error(ErrorKind::unsupported, problem, {file, {}}, advice);
  };
  const auto type = std::find(kDescriptions.begin(), kDescriptions.end(), *said.description);
  if (type == kDescriptions.end())
    unsupported("is an array of '" + *said.description + "'",
                "save it as '<f4', '<i4', '<u4' or '<u8', with array.astype()");
  if (*said.fortran) unsupported("is in Fortran's order", "save numpy.ascontiguousarray(array)");
  if (said.shape->empty()) unsupported("is an array without an axis", "save an array of at least one axis");
  return {static_cast<NpyType>(type - kDescriptions.begin()), *said.shape};
}

std::string npy_text(NpyType type, std::span<const std::uint64_t> row_shape) {
  std::string text(kNames[static_cast<std::size_t>(type)]);
  if (row_shape.empty()) return text;
  text += " in rows of (";
  for (std::size_t i = 0; i != row_shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(row_shape[i]);
  return text + ')';
}

}  // namespace raylift::photon
