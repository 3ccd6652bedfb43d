// SPDX-License-Identifier: Apache-2.0
// What the readers of formats without a preflight of their own share: a document of solids side by side, and polygons
// that are checked as they are read.
#pragma once

#include <raylift/geometry/import/load.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/document.h"
#include "import/input_file.h"

namespace raylift::imported {

/// The unit and up axis of a format, before the options override them.
struct Frame {
  double unit_mm = 1;
  Scene::Provenance unit_from = Scene::Provenance::assumed;
  UpAxis up_axis = UpAxis::y;
  Scene::Provenance up_from = Scene::Provenance::assumed;
};
/// Sets the scene's unit and up axis, from the options first.
void set_frame(Scene& scene, Frame frame, const LoadOptions& options);

/// A document with a root node alone, named after the file. `format` is its display name.
[[nodiscard]] Document begin_document(const InputFile& input, const char* format, const Frame& frame,
                                      const LoadOptions& options);

/// Adds a solid below the root: a node and a mesh of that name, and a material (or kNone) for each primitive. A solid
/// without a name has the file's, without its ending.
void add_solid(Document& document, std::string name, Geometry geometry, std::vector<std::uint32_t> materials);

/// Throws Error(limit) for more vertices than 32-bit indices can number.
void check_vertex_count(std::uint64_t count, const std::string& file);

/// The whole file. Throws Error: io, system, limit.
[[nodiscard]] std::string read_bytes(const InputFile& input, const LoadLimits& limits);

/// Adds polygons to a primitive, each checked.
class PolygonReader {
 public:
  /// The arguments must outlive this.
  PolygonReader(const std::string& file, const LoadOptions& options, LoadReport& report)
      : file_(file), options_(options), report_(report) {}

  /// A polygon whose corners are indices of `vertices` vertices; `element()` names it in errors. Points and lines are
  /// counted. With LoadOptions::repair, a polygon with an index out of range is dropped and counted. Throws Error:
  /// malformed, limit.
  template <class Element>
  void add(Primitive& primitive, std::span<const std::uint64_t> corners, std::uint64_t vertices,
           const Element& element) const {
    if (is_sound(corners, vertices)) return append(primitive, corners);
    refuse_or_drop(corners, vertices, element());
  }

 private:
  [[nodiscard]] bool is_sound(std::span<const std::uint64_t> corners, std::uint64_t vertices) const;
  void append(Primitive& primitive, std::span<const std::uint64_t> corners) const;
  void refuse_or_drop(std::span<const std::uint64_t> corners, std::uint64_t vertices, const std::string& element) const;

  const std::string& file_;
  const LoadOptions& options_;
  LoadReport& report_;
};

/// The lines and words of a text, with the number of the line for errors.
class TextReader {
 public:
  /// The arguments must outlive this.
  TextReader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::uint64_t line() const { return line_; }
  /// The rest of the line, without its end: \n, \r\n or \r.
  std::string_view next_line();
  /// The next word, on this line or a later one; empty at the end.
  std::string_view next_word();
  /// The next word, which is a real number, rounded once to the nearest float; beyond float's range it is infinite.
  float next_float();
  /// What has not been read.
  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[noreturn]] void fail(const std::string& problem, std::string_view advice = {}) const;

 private:
  std::string_view rest_;
  const std::string& file_;
  std::uint64_t line_ = 1;
};

/// Takes the first word off a line; empty where there is none.
[[nodiscard]] std::string_view take_word(std::string_view& line);
/// The line without white space around it.
[[nodiscard]] std::string_view trimmed(std::string_view line);
/// A word for a message: no longer than 40 characters.
[[nodiscard]] std::string in_quotes(std::string_view word);

}  // namespace raylift::imported
