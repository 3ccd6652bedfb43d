// SPDX-License-Identifier: Apache-2.0
#include "collada_primitive.h"

#include <algorithm>
#include <cstring>

#include "collada_text.h"

namespace raylift::collada {
namespace {

constexpr std::size_t kMaxInputs = 256;  // values per point in <p>

/// How many indices a point has, and which of them is its vertex.
struct Inputs {
  std::size_t stride = 1;
  std::size_t vertex_offset = 0;
};

Inputs read_inputs(pugi::xml_node element, std::string_view vertices_id, const Source& source) {
  Inputs inputs;
  int vertex_inputs = 0;
  for (const pugi::xml_node input : element.children("input")) {
    const std::uint64_t offset = unsigned_attribute(input, "offset", 0, source);
    if (offset >= kMaxInputs)
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

/// Appends the vertex of each point of a <p> to `corners`. Returns the number of these points.
std::uint64_t read_corners(std::string_view text, const Inputs& inputs, std::uint64_t vertices, pugi::xml_node element,
                           const Source& source, std::vector<std::uint32_t>& corners) {
  const IndexScan scan = read_indices(text, inputs.stride, inputs.vertex_offset, corners);
  if (scan.bad) fail(ErrorKind::malformed, "'" + *scan.bad + "' is no vertex index", source, element);
  if (scan.count % inputs.stride != 0)
    fail(ErrorKind::malformed,
         std::to_string(scan.count) + " indices are no multiple of the " + std::to_string(inputs.stride) +
             " indices of a point",
         source, element);
  const std::uint64_t points = scan.count / inputs.stride;
  if (points != 0 && scan.largest >= vertices)
    fail(ErrorKind::malformed,
         "vertex index " + std::to_string(scan.largest) + " is out of range: the mesh has " + std::to_string(vertices) +
             " vertices",
         source, element);
  return points;
}

/// A strip's or fan's triangles.
void append_triangles(std::vector<std::uint32_t>& corners, const std::vector<std::uint32_t>& points, bool strips) {
  for (std::size_t i = 0; i + 2 < points.size(); ++i) {
    // Every other triangle of a strip runs the other way around.
    const std::size_t a = strips ? i + i % 2 : 0;
    const std::size_t b = strips ? i + 1 - i % 2 : i + 1;
    corners.insert(corners.end(), {points[a], points[b], points[i + 2]});
  }
}

/// Reads the corners of all <p>; of <polygons>, their sizes too.
void read_points(Primitive& primitive, pugi::xml_node element, const Inputs& inputs, std::uint64_t vertices,
                 const Source& source) {
  const bool strips = is(element, "tristrips");
  const bool lists = !strips && !is(element, "trifans");
  const bool polygons = is(element, "polygons");
  std::string joined;
  std::vector<std::uint32_t> strip;
  std::uint64_t count = 0;
  for (const pugi::xml_node p : element.children("p")) {
    strip.clear();
    const std::uint64_t here =
        read_corners(text_of(p, joined), inputs, vertices, element, source, lists ? primitive.corners : strip);
    count += here;
    if (count > kMaxPoints)
      fail(ErrorKind::limit, "more than " + std::to_string(kMaxPoints) + " points in one primitive element", source,
           element, "split the mesh");
    if (polygons) primitive.sizes.push_back(static_cast<std::uint32_t>(here));
    if (lists) continue;
    if (here < 3)
      fail(ErrorKind::malformed, "a strip or fan of " + std::to_string(here) + " points is no triangle", source,
           element);
    append_triangles(primitive.corners, strip, strips);
  }
}

void expect_count(pugi::xml_node element, std::uint64_t stated, std::uint64_t found, const Source& source) {
  if (element.attribute("count") && stated != found)
    fail(ErrorKind::malformed, "count='" + std::to_string(stated) + "', but there are " + std::to_string(found), source,
         element, "the file may have been cut off; export it again");
}

/// Reads the sizes of a <polylist>, and checks those of <polygons> too. Returns how many triangles the polygons are cut
/// into.
std::uint64_t read_sizes(Primitive& primitive, pugi::xml_node element, std::uint64_t stated, const LoadLimits& limits,
                         const Source& source) {
  std::vector<std::uint32_t>& sizes = primitive.sizes;
  if (is(element, "polylist")) {
    std::string joined;
    const IndexScan scan = read_indices(text_of(element.child("vcount"), joined), 1, 0, sizes);
    if (scan.bad)
      fail(ErrorKind::malformed, "'" + *scan.bad + "' in <vcount> is no number of vertices", source, element);
  }
  expect_count(element, stated, sizes.size(), source);
  std::uint64_t cut = 0;
  std::uint64_t sum = 0;
  for (const std::uint32_t size : sizes) {
    sum += size;
    cut += size > 2 ? size - 2 : 0;
    if (size > limits.polygon_vertices)
      fail(ErrorKind::limit,
           "a polygon of " + std::to_string(size) + " vertices is beyond the limit of " +
               std::to_string(limits.polygon_vertices),
           source, element, "triangulate it before exporting, or raise the limit with LoadLimits::polygon_vertices");
  }
  if (sum != primitive.corners.size())
    fail(ErrorKind::malformed,
         "the polygons need " + std::to_string(sum) + " points, and there are " +
             std::to_string(primitive.corners.size()),
         source, element);
  if (std::all_of(sizes.begin(), sizes.end(), [](std::uint32_t size) { return size == 3; })) sizes = {};
  return cut;
}

}  // namespace

bool is_primitive(pugi::xml_node element) {
  return is(element, "triangles") || is(element, "polylist") || is(element, "polygons") || is(element, "tristrips") ||
         is(element, "trifans");
}

bool holds_polygons(pugi::xml_node element) {
  std::string joined;
  if (is(element, "polylist")) return !is_blank(text_of(element.child("vcount"), joined));
  const auto lists = element.children("p");
  if (!is(element, "triangles")) return !lists.empty();
  return std::any_of(lists.begin(), lists.end(), [&](pugi::xml_node p) { return !is_blank(text_of(p, joined)); });
}

CheckedPrimitive read_primitive(pugi::xml_node element, std::string_view vertices_id, std::uint64_t vertices,
                                const Source& source) {
  CheckedPrimitive result;
  Primitive& primitive = result.primitive;
  const Inputs inputs = read_inputs(element, vertices_id, source);
  read_points(primitive, element, inputs, vertices, source);
  const std::uint64_t stated = unsigned_attribute(element, "count", 0, source);
  const std::size_t corners = primitive.corners.size();
  if (is(element, "triangles")) {
    if (corners % 3 != 0)
      fail(ErrorKind::malformed, std::to_string(corners) + " points are no whole number of triangles", source, element);
    expect_count(element, stated, corners / 3, source);
  }
  result.triangles = is(element, "polylist") || is(element, "polygons")
                         ? read_sizes(primitive, element, stated, source.options().limits, source)
                         : corners / 3;
  return result;
}

}  // namespace raylift::collada
