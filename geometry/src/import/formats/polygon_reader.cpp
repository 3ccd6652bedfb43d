// SPDX-License-Identifier: Apache-2.0
#include "polygon_reader.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>

#include "import/collada/collada_text.h"

namespace raylift::imported {
namespace {

constexpr std::string_view kBlanks = " \t\v\f";
constexpr std::string_view kSpaces = " \t\v\f\r\n";

}  // namespace

void set_frame(Scene& scene, Frame frame, const LoadOptions& options) {
  if (options.unit_mm) frame.unit_mm = *options.unit_mm, frame.unit_from = Scene::Provenance::option;
  if (options.up_axis) frame.up_axis = *options.up_axis, frame.up_from = Scene::Provenance::option;
  scene.unit_mm = frame.unit_mm;
  scene.unit_from = frame.unit_from;
  scene.up_axis = frame.up_axis;
  scene.up_from = frame.up_from;
}

Document begin_document(const InputFile& input, const char* format, const Frame& frame, const LoadOptions& options) {
  Document document;
  document.scene.format = format;
  document.scene.source = input.path().string();
  set_frame(document.scene, frame, options);
  document.scene.nodes.push_back({input.path().filename().string(), kNone, std::nullopt, kNone});
  return document;
}

void add_solid(Document& document, std::string name, Geometry geometry, std::vector<std::uint32_t> materials) {
  Scene& scene = document.scene;
  if (name.empty()) name = std::filesystem::path(scene.source).stem().string();
  const auto number = static_cast<std::uint32_t>(scene.meshes.size());
  EigenTransform transform = EigenTransform::Identity();
  transform.scale(scene.unit_mm);
  const auto node = static_cast<std::uint32_t>(scene.nodes.size());
  scene.nodes.push_back({name, 0, std::nullopt, kNone});
  scene.meshes.emplace_back().name = name;
  scene.bindings.push_back(std::move(materials));
  scene.instances.push_back({number, node, number, kNone, transform});
  geometry.id = std::move(name);
  document.geometries.push_back(std::move(geometry));
}

void check_vertex_count(std::uint64_t count, const std::string& file) {
  constexpr std::uint64_t kMax = 0xFFFFFFFEU;
  if (count > kMax)
    throw Error(ErrorKind::limit, "more vertices than 32-bit indices can number", {file, ""}, "split the file");
}

std::string read_bytes(const InputFile& input, const LoadLimits& limits) {
  check_memory(input.path(), input.size(), limits);
  std::string bytes(input.size(), '\0');
  bytes.resize(input.read(0, bytes.data(), bytes.size()));
  return bytes;
}

bool PolygonReader::is_sound(std::span<const std::uint64_t> corners, std::uint64_t vertices) const {
  if (corners.size() < 3 || corners.size() > options_.limits.polygon_vertices) return false;
  return std::all_of(corners.begin(), corners.end(), [&](std::uint64_t corner) { return corner < vertices; });
}

void PolygonReader::append(Primitive& primitive, std::span<const std::uint64_t> corners) const {
  auto& [all, sizes] = primitive;
  if (corners.size() != 3 && sizes.empty()) sizes.assign(all.size() / 3, 3);
  for (const std::uint64_t corner : corners) all.push_back(static_cast<std::uint32_t>(corner));
  if (corners.size() != 3 || !sizes.empty()) sizes.push_back(static_cast<std::uint32_t>(corners.size()));
}

void PolygonReader::refuse_or_drop(std::span<const std::uint64_t> corners, std::uint64_t vertices,
                                   const std::string& element) const {
  if (corners.size() < 3) {
    ++report_.ignored_primitives;
    return;
  }
  if (corners.size() > options_.limits.polygon_vertices)
    throw Error(ErrorKind::limit,
                "a polygon of " + std::to_string(corners.size()) + " vertices is beyond the limit of " +
                    std::to_string(options_.limits.polygon_vertices),
                {file_, element},
                "triangulate it before exporting, or raise the limit with LoadLimits::polygon_vertices");
  if (!options_.repair)
    throw Error(ErrorKind::malformed,
                "a vertex index is out of range: there are " + std::to_string(vertices) + " vertices", {file_, element},
                "correct the file, or drop such triangles with LoadOptions::repair");
  report_.dropped_triangles += corners.size() - 2;
}

std::string_view TextReader::next_line() {
  const std::size_t end = std::min(rest_.find_first_of("\r\n"), rest_.size());
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end);
  if (rest_.empty()) return line;
  rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : 1);
  ++line_;
  return line;
}

std::string_view TextReader::next_word() {
  std::size_t begin = 0;
  for (; begin != rest_.size() && kSpaces.find(rest_[begin]) != std::string_view::npos; ++begin)
    if (rest_[begin] == '\n' || (rest_[begin] == '\r' && rest_.substr(begin + 1, 1) != "\n")) ++line_;
  rest_.remove_prefix(begin);
  std::size_t end = 0;
  while (end != rest_.size() && kSpaces.find(rest_[end]) == std::string_view::npos) ++end;
  const std::string_view word = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return word;
}

float TextReader::next_float() {
  const std::string_view word = next_word();
  const std::optional<float> value = collada::read_float(word);
  if (value) return *value;
  if (word.empty()) fail("the file ends where a number is expected", "it may have been cut off; export it again");
  fail(in_quotes(word) + " is no number");
}

void TextReader::fail(const std::string& problem, std::string_view advice) const {
  throw Error(ErrorKind::malformed, problem, {file_, "line " + std::to_string(line_)}, advice);
}

std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

std::string_view trimmed(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(kSpaces), line.size()));
  return line.substr(0, line.find_last_not_of(kSpaces) + 1);
}

std::string in_quotes(std::string_view word) {
  return "'" + std::string(word.substr(0, 40)) + (word.size() > 40 ? "..." : "") + "'";
}

}  // namespace raylift::imported
