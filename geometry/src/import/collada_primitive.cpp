// SPDX-License-Identifier: Apache-2.0
#include "collada_primitive.h"

#include <algorithm>
#include <cstring>

#include "collada_text.h"

namespace raylift::inline v0_1::collada {
namespace {

constexpr std::size_t kMostInputs = 256;  // values per point in <p>

Inputs read_inputs(pugi::xml_node element, std::string_view vertices_id, const Source& source) {
  Inputs inputs;
  int vertex_inputs = 0;
  for (const pugi::xml_node input : element.children("input")) {
    const std::uint64_t offset = unsigned_attribute(input, "offset", 0, source);
    if (offset >= kMostInputs)
      fail(ErrorKind::limit, "an input's offset of " + std::to_string(offset) + " is beyond the limit of 255", source,
           input);
    inputs.stride = std::max<std::size_t>(inputs.stride, offset + 1);
    if (std::strcmp(input.attribute("semantic").value(), "VERTEX") != 0) continue;
    ++vertex_inputs;
    inputs.vertex_offset = offset;
    const std::string_view url = input.attribute("source").value();
    const auto id = source.own_id(url, input);
    if (!id || (*id != vertices_id && percent_decoded(*id) != vertices_id))
      fail(!url.empty() && !id ? ErrorKind::unsupported : ErrorKind::malformed,
           "the VERTEX input '" + std::string(url) + "' does not name the <vertices> of its own mesh", source, element);
  }
  if (vertex_inputs != 1 && (element.child("p") || element.child("ph")))
    fail(ErrorKind::malformed,
         vertex_inputs == 0 ? "the primitive has no VERTEX input" : "the primitive has more than one VERTEX input",
         source, element);
  if (element.child("ph"))
    fail(ErrorKind::unsupported, "polygons with holes (<ph>) are not read", source, element,
         "triangulate the mesh before exporting it");
  return inputs;
}

/// The number of points of a <p>, whose indices are checked.
std::uint64_t count_points(std::string_view text, const Inputs& inputs, std::uint64_t vertices, pugi::xml_node element,
                           const Source& source) {
  const IndexScan scan = scan_indices(text, inputs.stride);
  if (scan.bad) fail(ErrorKind::malformed, "'" + *scan.bad + "' is no vertex index", source, element);
  if (scan.count % inputs.stride != 0)
    fail(ErrorKind::malformed,
         std::to_string(scan.count) + " indices are no multiple of the " + std::to_string(inputs.stride) +
             " indices of a point",
         source, element);
  const std::uint64_t points = scan.count / inputs.stride;
  if (points != 0 && scan.largest[inputs.vertex_offset] >= vertices)
    fail(ErrorKind::malformed,
         "vertex index " + std::to_string(scan.largest[inputs.vertex_offset]) + " is out of range: the mesh has " +
             std::to_string(vertices) + " vertices",
         source, element);
  return points;
}

/// A strip's or fan's triangles, written anew.
void append_triangles(Points& points, std::string_view text, std::uint64_t here, const Inputs& inputs, bool strips) {
  const std::vector<std::uint32_t> list = read_indices(text);
  const auto point = [&](std::size_t i) { return list[i * inputs.stride + inputs.vertex_offset]; };
  for (std::size_t i = 0; i + 2 < here; ++i, ++points.rewritten) {
    // Every other triangle of a strip runs the other way around.
    const std::size_t a = strips ? i + i % 2 : 0;
    const std::size_t b = strips ? i + 1 - i % 2 : i + 1;
    write(points.indices, point(a), " ", point(b), " ", point(i + 2), " ");
  }
  points.all_indices = points.indices;
}

void read_points(Points& points, pugi::xml_node element, const Inputs& inputs, std::uint64_t vertices,
                 const Source& source) {
  const bool strips = is(element, "tristrips");
  const bool lists = !strips && !is(element, "trifans");
  const bool polygons = is(element, "polygons");
  std::string joined;
  for (const pugi::xml_node p : element.children("p")) {
    const std::string_view text = text_of(p, joined);
    const std::uint64_t here = count_points(text, inputs, vertices, element, source);
    points.count += here;
    if (points.count > kMostPoints)
      fail(ErrorKind::limit, "more than " + std::to_string(kMostPoints) + " points in one primitive element", source,
           element, "split the mesh");
    if (polygons) points.sizes.push_back(static_cast<std::uint32_t>(here));
    if (lists) {
      points.append(text, text.data() != joined.data());
      continue;
    }
    if (here < 3)
      fail(ErrorKind::malformed, "a strip or fan of " + std::to_string(here) + " points is no triangle", source,
           element);
    append_triangles(points, text, here, inputs, strips);
  }
}

void expect_count(pugi::xml_node element, std::uint64_t stated, std::uint64_t found, const Source& source) {
  if (element.attribute("count") && stated != found)
    fail(ErrorKind::malformed, "count='" + std::to_string(stated) + "', but there are " + std::to_string(found), source,
         element, "the file may have been cut off; export it again");
}

/// Sets the faces of a <polylist> or of <polygons>; returns how many triangles they are cut into.
std::uint64_t count_polygons(Points& points, Primitive& primitive, pugi::xml_node element, std::uint64_t stated,
                             const LoadLimits& limits, const Source& source) {
  std::uint64_t cut = 0;
  if (is(element, "polylist")) {
    std::string joined;
    const std::string_view text = text_of(element.child("vcount"), joined);
    const IndexScan scan = scan_indices(text, 1);
    if (scan.bad)
      fail(ErrorKind::malformed, "'" + *scan.bad + "' in <vcount> is no number of vertices", source, element);
    points.sizes = read_indices(text);
  }
  expect_count(element, stated, points.sizes.size(), source);
  std::uint64_t sum = 0;
  for (const std::uint32_t size : points.sizes) {
    sum += size;
    cut += size > 2 ? size - 2 : 0;
    primitive.triangles = primitive.triangles && size == 3;
    if (size > limits.polygon_vertices)
      fail(ErrorKind::limit,
           "a polygon of " + std::to_string(size) + " vertices is beyond the limit of " +
               std::to_string(limits.polygon_vertices),
           source, element, "triangulate it before exporting, or raise the limit with LoadLimits::polygon_vertices");
  }
  if (sum != points.count)
    fail(ErrorKind::malformed,
         "the polygons need " + std::to_string(sum) + " points, and there are " + std::to_string(points.count), source,
         element);
  primitive.faces = points.sizes.size();
  return cut;
}

}  // namespace

bool is_primitive(pugi::xml_node element) {
  return is(element, "triangles") || is(element, "polylist") || is(element, "polygons") || is(element, "tristrips") ||
         is(element, "trifans");
}

void read_primitive(CheckedPrimitive& result, pugi::xml_node element, std::string_view vertices_id,
                    std::uint64_t vertices, const Source& source) {
  Points& points = result.points;
  Primitive& primitive = result.primitive;
  result.inputs = read_inputs(element, vertices_id, source);
  read_points(points, element, result.inputs, vertices, source);
  const std::uint64_t stated = unsigned_attribute(element, "count", 0, source);
  primitive.symbol = element.attribute("material").value();
  if (is(element, "triangles")) {
    if (points.count % 3 != 0)
      fail(ErrorKind::malformed, std::to_string(points.count) + " points are no whole number of triangles", source,
           element);
    result.triangles = primitive.faces = points.count / 3;
    expect_count(element, stated, primitive.faces, source);
  } else if (is(element, "tristrips") || is(element, "trifans")) {
    result.triangles = primitive.faces = points.rewritten;
    result.inputs = {};
  } else {
    result.triangles = count_polygons(points, primitive, element, stated, source.options().limits, source);
  }
}

}  // namespace raylift::inline v0_1::collada
