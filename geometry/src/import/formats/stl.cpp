// SPDX-License-Identifier: Apache-2.0
// STL has no standard: the layout is that of 3D Systems' "StereoLithography Interface Specification" (1989).
#include "stl.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "import/collada/collada_text.h"
#include "polygon_reader.h"

namespace raylift::imported {
namespace {

constexpr std::size_t kHeader = 80, kFacet = 50;

std::string_view without_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

bool is(std::string_view word, std::string_view expected) {
  return collada::equals_ignoring_case(word, expected);
}

/// Text begins with "solid", and so do the headers of some binary files: these have bytes that no text has.
bool is_text(std::string_view bytes) {
  const std::string_view begin = trimmed(without_mark(bytes.substr(0, 512)));
  if (!is(begin.substr(0, 5), "solid")) return false;
  return std::none_of(begin.begin(), begin.end(), [](char c) { return static_cast<unsigned char>(c) < 9; });
}

class StlText {
 public:
  StlText(std::string_view text, const std::string& file, const LoadOptions& options, Document& document)
      : text_(without_mark(text), file), polygons_(file, options, document.scene.report), document_(document) {}

  void read() {
    for (std::string_view word = text_.next_word(); !word.empty(); word = text_.next_word()) {
      if (!is(word, "solid")) text_.fail(in_quotes(word) + " is where 'solid' is expected");
      read_solid(std::string(trimmed(text_.next_line())));
    }
  }

 private:
  /// The next word, where there must be one.
  std::string_view word() {
    const std::string_view next = text_.next_word();
    if (next.empty()) text_.fail("the file ends within a solid", "it may have been cut off; export it again");
    return next;
  }
  void expect(std::string_view expected) {
    const std::string_view next = word();
    if (!is(next, expected)) text_.fail(in_quotes(next) + " is where '" + std::string(expected) + "' is expected");
  }

  void read_solid(std::string name) {
    Geometry geometry;
    geometry.primitives.emplace_back();
    for (std::string_view next = word(); !is(next, "endsolid"); next = word()) {
      if (!is(next, "facet")) text_.fail(in_quotes(next) + " is where 'facet' or 'endsolid' is expected");
      read_facet(geometry);
    }
    (void)text_.next_line();  // the name again
    if (geometry.primitives.front().corners.empty()) return;
    geometry.positions.count = geometry.positions.numbers.size() / 3;
    add_solid(document_, std::move(name), std::move(geometry), {kNone});
  }

  void read_facet(Geometry& geometry) {
    const std::uint64_t line = text_.line();
    std::vector<float>& numbers = geometry.positions.numbers;
    expect("normal");
    for (int i = 0; i != 3; ++i) (void)word();  // often no number, and never used
    expect("outer");
    expect("loop");
    corners_.clear();
    for (std::string_view next = word(); !is(next, "endloop"); next = word()) {
      if (!is(next, "vertex")) text_.fail(in_quotes(next) + " is where 'vertex' or 'endloop' is expected");
      corners_.push_back(numbers.size() / 3);
      for (int i = 0; i != 3; ++i) numbers.push_back(text_.next_float());
    }
    expect("endfacet");
    check_vertex_count(numbers.size() / 3, document_.scene.source);
    polygons_.add(geometry.primitives.front(), corners_, numbers.size() / 3,
                  [line] { return "line " + std::to_string(line); });
  }

  TextReader text_;
  PolygonReader polygons_;
  Document& document_;
  std::vector<std::uint64_t> corners_;
};

/// The number of facets that a binary file's header states; nothing where the file is shorter than a header.
std::optional<std::uint32_t> stated_facets(std::string_view bytes) {
  std::uint32_t facets = 0;
  if (bytes.size() < kHeader + sizeof facets) return std::nullopt;
  std::memcpy(&facets, bytes.data() + kHeader, sizeof facets);
  return facets;
}

void read_binary(std::string_view bytes, std::optional<std::uint32_t> stated, const std::string& file,
                 const LoadOptions& options, Document& document) {
  const auto fail = [&file](const std::string& problem, const char* advice = "") {
    throw Error(ErrorKind::malformed, problem, {file, ""}, advice);
  };
  if (!stated) fail("no STL: neither a text that begins with 'solid' nor a header of 84 bytes");
  const std::uint32_t facets = *stated;
  bytes.remove_prefix(kHeader + sizeof facets);
  if (bytes.size() / kFacet < facets)
    fail("the file states " + std::to_string(facets) + " facets and has room for " +
             std::to_string(bytes.size() / kFacet),
         "it may have been cut off, or be no STL; export it again");
  if (facets > options.limits.triangles)
    throw Error(ErrorKind::limit, "more than " + std::to_string(options.limits.triangles) + " triangles", {file, ""},
                "raise the limit with LoadLimits::triangles");
  check_vertex_count(std::uint64_t{facets} * 3, file);
  const std::size_t rest = bytes.size() - std::size_t{facets} * kFacet;
  if (rest != 0)
    document.scene.report.warnings.push_back(std::to_string(rest) + " bytes behind the last of the " +
                                             std::to_string(facets) + " facets are not read");
  if (facets == 0) return;
  Geometry geometry;
  Primitive& primitive = geometry.primitives.emplace_back();
  geometry.positions.count = std::uint64_t{facets} * 3;
  geometry.positions.numbers.resize(std::size_t{facets} * 9);
  primitive.corners.resize(std::size_t{facets} * 3);
  constexpr std::size_t kNormal = 3 * sizeof(float);
  for (std::size_t i = 0; i != facets; ++i)
    std::memcpy(geometry.positions.numbers.data() + 9 * i, bytes.data() + kFacet * i + kNormal, 9 * sizeof(float));
  for (std::size_t i = 0; i != primitive.corners.size(); ++i) primitive.corners[i] = static_cast<std::uint32_t>(i);
  add_solid(document, {}, std::move(geometry), {kNone});
}

}  // namespace

Document read_stl(const InputFile& input, const LoadOptions& options) {
  // What printers and CAD programs write.
  Document document = begin_document(input, "STL", {.up_axis = UpAxis::z}, options);
  const std::string file = input.path().string();
  const std::string bytes = read_bytes(input, options.limits);
  const std::optional<std::uint32_t> facets = stated_facets(bytes);
  const bool fits =
      facets.value_or(0) != 0 && bytes.size() == kHeader + sizeof(std::uint32_t) + std::size_t{*facets} * kFacet;
  if (!fits && is_text(bytes))
    StlText(bytes, file, options, document).read();
  else
    read_binary(bytes, facets, file, options, document);
  return document;
}

}  // namespace raylift::imported
