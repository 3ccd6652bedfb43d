// SPDX-License-Identifier: Apache-2.0
// Geometries: positions, primitives and their indices, checked against each other and written anew for Assimp.
//
// Assimp 5.2 trusts counts, clamps negative indices, reads past short arrays, overruns on strips of less than three
// points, takes fans for polygons and stops at <extra> inside primitives. So it gets none of these: just the original
// texts of positions and indices, once they are known to be sound, in elements of our own.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <type_traits>
#include <utility>

#include "collada_detail.h"
#include "collada_text.h"
#include "huge_pages.h"

namespace raylift::collada {
namespace {

constexpr std::uint64_t kMostPoints = 0xFFFFFFFEU;  // of one primitive element: Assimp counts in 32 bits
constexpr std::size_t kMostInputs = 256;            // values per point in <p>

void append(std::string& text, std::uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  text.append(digits, end);
}

/// The pieces follow each other, numbers and texts alike.
template <class... Pieces>
void write(std::string& text, const Pieces&... pieces) {
  const auto one = [&](const auto& piece) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(piece)>>)
      append(text, piece);
    else
      text += piece;
  };
  (one(pieces), ...);
}

/// An attribute that must be a non-negative integer, where it is there.
std::uint64_t unsigned_attribute(pugi::xml_node element, const char* name, std::uint64_t missing,
                                 const std::string& file) {
  const pugi::xml_attribute attribute = element.attribute(name);
  if (!attribute) return missing;
  std::string_view text = attribute.value();
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > kMostPoints)
    fail(ErrorKind::malformed,
         std::string(name) + "='" + attribute.value() + "' is no number from 0 to " + std::to_string(kMostPoints), file,
         element);
  return value;
}

bool is(pugi::xml_node element, const char* name) {
  return std::strcmp(element.name(), name) == 0;
}

}  // namespace

/// The positions of a mesh, and the element that its primitives name.
struct GeometryReader::Positions {
  std::string_view vertices_id;
  std::uint64_t count = 0;  ///< points
};

GeometryReader::GeometryReader(const Source& source, std::size_t bytes)
    : source_(source), library_(source.root, "library_geometries", "geometry") {
  reserve_huge(text_, bytes + 1024);
  text_ +=
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<COLLADA version=\"1.4.1\"><asset><unit meter=\"1\"/>"
      "<up_axis>Y_UP</up_axis></asset>\n<library_geometries>\n";
}

std::uint32_t GeometryReader::use(std::string_view url, pugi::xml_node referrer) {
  const pugi::xml_node element = library_.find(url, source_.file, referrer);
  const auto number = static_cast<std::uint32_t>(geometries_.size());
  const auto [entry, inserted] = numbers_.try_emplace(element.attribute("id").value(), number);
  if (!inserted) return entry->second;

  const pugi::xml_node mesh = element.child("mesh");
  if (!mesh) {
    for (const char* other : {"convex_mesh", "spline", "brep"})
      if (element.child(other))
        fail(ErrorKind::unsupported, std::string("a <") + other + "> is no triangle mesh", source_.file, element,
             "export it as a <mesh>");
    fail(ErrorKind::malformed, "the geometry has no <mesh>", source_.file, element);
  }

  Geometry& geometry = geometries_.emplace_back();
  geometry.id = element.attribute("id").value();
  names_.emplace_back(element.attribute("name") ? element.attribute("name").value() : geometry.id);
  write(text_, "<geometry id=\"m", number, "\"><mesh>");
  bool any = false;
  for (const pugi::xml_node child : mesh.children())
    any = any || is(child, "triangles") || is(child, "polylist") || is(child, "polygons") || is(child, "tristrips") ||
          is(child, "trifans");
  if (any) {
    const Positions positions = write_positions(mesh);
    for (const pugi::xml_node child : mesh.children()) write_primitive(geometry, positions, child);
  }
  for (const pugi::xml_node child : mesh.children())
    if (is(child, "lines") || is(child, "linestrips")) ++ignored_primitives_;
  text_ += "</mesh></geometry>\n";
  return number;
}

GeometryReader::Positions GeometryReader::write_positions(pugi::xml_node mesh) {
  const std::string& file = source_.file;
  const pugi::xml_node vertices = mesh.child("vertices");
  if (!vertices) fail(ErrorKind::malformed, "the mesh has no <vertices>", file, mesh);
  const pugi::xml_node input = vertices.find_child_by_attribute("input", "semantic", "POSITION");
  if (!input) fail(ErrorKind::malformed, "the <vertices> have no POSITION input", file, vertices);

  // Ids are looked up in the mesh alone: exporters that number sources anew in each mesh are common.
  const auto local = [&](const char* what, std::string_view url, pugi::xml_node referrer, const auto& find) {
    if (url.empty() || url.front() != '#')
      fail(url.empty() ? ErrorKind::malformed : ErrorKind::unsupported,
           "'" + std::string(url) + "' refers to no element of this document", file, referrer);
    const pugi::xml_node found = find(std::string(url.substr(1)));
    if (!found)
      fail(ErrorKind::malformed, "'" + std::string(url) + "' names no " + what + " of this mesh", file, referrer);
    return found;
  };
  const pugi::xml_node source = local("<source>", input.attribute("source").value(), input, [&](const std::string& id) {
    return mesh.find_child_by_attribute("source", "id", id.c_str());
  });
  const pugi::xml_node accessor = source.child("technique_common").child("accessor");
  if (!accessor) fail(ErrorKind::malformed, "the source has no <accessor>", file, source);
  const pugi::xml_node array =
      local("<float_array>", accessor.attribute("source").value(), accessor, [&](const std::string& id) {
        for (const pugi::xml_node candidate : mesh.children("source"))
          for (const char* kind : {"float_array", "int_array"})
            if (const pugi::xml_node found = candidate.find_child_by_attribute(kind, "id", id.c_str())) return found;
        return pugi::xml_node();
      });

  // Which values of a point are X, Y and Z: by the params' names, or in order where none is named.
  std::size_t at[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
  std::size_t params = 0;
  bool named = false;
  for (const pugi::xml_node param : accessor.children("param")) {
    const std::string_view name = param.attribute("name").value();
    named = named || !name.empty();
    for (std::size_t axis = 0; axis != 3; ++axis)
      if (name.size() == 1 && (name[0] | 0x20) == static_cast<char>('x' + axis)) at[axis] = params;
    ++params;
  }
  const std::uint64_t count = unsigned_attribute(accessor, "count", 0, file);
  const std::uint64_t offset = unsigned_attribute(accessor, "offset", 0, file);
  const std::uint64_t stride = unsigned_attribute(accessor, "stride", 1, file);
  if (!named && (params == 0 ? stride : params) >= 3)
    for (std::size_t axis = 0; axis != 3; ++axis) at[axis] = axis;
  if (std::max({at[0], at[1], at[2]}) == SIZE_MAX)
    fail(ErrorKind::unsupported, "positions need an X, a Y and a Z", file, accessor, "export them in three dimensions");
  const std::size_t width = std::max({at[0], at[1], at[2]}) + 1;
  if (stride < std::max(width, params))
    fail(ErrorKind::malformed,
         "a stride of " + std::to_string(stride) + " is less than the " + std::to_string(std::max(width, params)) +
             " values of a point",
         file, accessor);

  std::string joined;
  const std::string_view numbers = text_of(array, joined);
  const NumberScan scan = scan_reals(numbers);
  if (scan.bad) fail(ErrorKind::malformed, "'" + *scan.bad + "' is no number", file, array);
  // Each of these is below 2^32, so the sum fits into 64 bits.
  const std::uint64_t needed = count == 0 ? 0 : offset + (count - 1) * stride + width;
  if (needed > scan.count)
    fail(ErrorKind::malformed,
         std::to_string(count) + " points need " + std::to_string(needed) + " values, and the array holds " +
             std::to_string(scan.count),
         file, accessor, "the file may have been cut off; export it again");

  const std::size_t number = geometries_.size() - 1;
  write(text_, "<source id=\"p", number, "\"><float_array id=\"a", number, "\" count=\"", needed, "\">", numbers,
        "</float_array><technique_common><accessor source=\"#a", number, "\" count=\"", count, "\" offset=\"", offset,
        "\" stride=\"", stride, "\">");
  for (std::size_t i = 0; i != width; ++i) {
    const auto* axis = std::find(std::begin(at), std::end(at), i);
    if (axis == std::end(at))
      text_ += "<param type=\"float\"/>";
    else
      write(text_, "<param name=\"", std::string(1, static_cast<char>('X' + (axis - std::begin(at)))),
            "\" type=\"float\"/>");
  }
  write(text_, "</accessor></technique_common></source><vertices id=\"v", number,
        "\"><input semantic=\"POSITION\" source=\"#p", number, "\"/></vertices>");
  return {vertices.attribute("id").value(), count};
}

void GeometryReader::write_primitive(Geometry& geometry, const Positions& positions, pugi::xml_node element) {
  const bool triangles = is(element, "triangles");
  const bool polylist = is(element, "polylist");
  const bool polygons = is(element, "polygons");
  const bool strips = is(element, "tristrips");
  if (!triangles && !polylist && !polygons && !strips && !is(element, "trifans")) return;
  const std::string& file = source_.file;

  std::size_t stride = 1;
  std::size_t vertex_offset = 0;
  int vertex_inputs = 0;
  for (const pugi::xml_node input : element.children("input")) {
    const std::uint64_t offset = unsigned_attribute(input, "offset", 0, file);
    if (offset >= kMostInputs)
      fail(ErrorKind::limit, "an input's offset of " + std::to_string(offset) + " is beyond the limit of 255", file,
           input);
    stride = std::max<std::size_t>(stride, offset + 1);
    if (std::strcmp(input.attribute("semantic").value(), "VERTEX") != 0) continue;
    ++vertex_inputs;
    vertex_offset = offset;
    const std::string_view url = input.attribute("source").value();
    if (url.empty() || url.front() != '#' || url.substr(1) != positions.vertices_id)
      fail(!url.empty() && url.front() != '#' ? ErrorKind::unsupported : ErrorKind::malformed,
           "the VERTEX input '" + std::string(url) + "' does not name the <vertices> of its own mesh", file, element);
  }
  if (vertex_inputs != 1 && (element.child("p") || element.child("ph")))
    fail(ErrorKind::malformed,
         vertex_inputs == 0 ? "the primitive has no VERTEX input" : "the primitive has more than one VERTEX input",
         file, element);
  if (element.child("ph"))
    fail(ErrorKind::unsupported, "polygons with holes (<ph>) are not read", file, element,
         "triangulate the mesh before exporting it");

  // Every <p>, checked; `points` of them in all.
  std::string joined;
  std::string indices;           // of all <p>, where there are several, or where they are written anew
  std::string_view all_indices;  // what goes to Assimp
  std::uint64_t points = 0;
  std::vector<std::uint32_t> sizes;  // points of each polygon, where they are not all triangles
  std::uint64_t rewritten = 0;       // triangles of strips and fans
  std::size_t texts = 0;
  for (const pugi::xml_node p : element.children("p")) {
    const std::string_view text = text_of(p, joined);
    const IndexScan scan = scan_indices(text, stride);
    if (scan.bad) fail(ErrorKind::malformed, "'" + *scan.bad + "' is no vertex index", file, element);
    if (scan.count % stride != 0)
      fail(ErrorKind::malformed,
           std::to_string(scan.count) + " indices are no multiple of the " + std::to_string(stride) +
               " indices of a point",
           file, element);
    const std::uint64_t here = scan.count / stride;
    if (here != 0 && scan.largest[vertex_offset] >= positions.count)
      fail(ErrorKind::malformed,
           "vertex index " + std::to_string(scan.largest[vertex_offset]) + " is out of range: the mesh has " +
               std::to_string(positions.count) + " vertices",
           file, element);
    points += here;
    if (points > kMostPoints)
      fail(ErrorKind::limit, "more than " + std::to_string(kMostPoints) + " points in one primitive element", file,
           element, "split the mesh");
    if (triangles || polylist || polygons) {
      if (polygons) sizes.push_back(static_cast<std::uint32_t>(here));
      if (texts++ == 0 && text.data() != joined.data()) {
        all_indices = text;
      } else {
        if (texts == 2) indices = all_indices;
        (indices += ' ') += text;
        all_indices = indices;
      }
      continue;
    }
    if (here < 3)
      fail(ErrorKind::malformed, "a strip or fan of " + std::to_string(here) + " points is no triangle", file, element);
    const std::vector<std::uint32_t> list = read_indices(text);
    const auto point = [&](std::size_t i) { return list[i * stride + vertex_offset]; };
    for (std::size_t i = 0; i + 2 < here; ++i, ++rewritten) {
      // Every other triangle of a strip runs the other way around.
      const std::size_t a = strips ? i + i % 2 : 0;
      const std::size_t b = strips ? i + 1 - i % 2 : i + 1;
      write(indices, point(a), " ", point(b), " ", point(i + 2), " ");
    }
    all_indices = indices;
  }

  const std::uint64_t stated = unsigned_attribute(element, "count", 0, file);
  const auto expect = [&](std::uint64_t found) {
    if (element.attribute("count") && stated != found)
      fail(ErrorKind::malformed, "count='" + std::to_string(stated) + "', but there are " + std::to_string(found), file,
           element, "the file may have been cut off; export it again");
  };
  Primitive primitive;
  primitive.symbol = element.attribute("material").value();
  std::uint64_t cut = 0;  // triangles, once polygons are cut
  if (triangles) {
    if (points % 3 != 0)
      fail(ErrorKind::malformed, std::to_string(points) + " points are no whole number of triangles", file, element);
    cut = primitive.faces = points / 3;
    expect(primitive.faces);
  } else if (strips || is(element, "trifans")) {
    cut = primitive.faces = rewritten;
    stride = 1;
    vertex_offset = 0;
  } else {
    if (polylist) {
      const std::string_view text = text_of(element.child("vcount"), joined);
      const IndexScan scan = scan_indices(text, 1);
      if (scan.bad)
        fail(ErrorKind::malformed, "'" + *scan.bad + "' in <vcount> is no number of vertices", file, element);
      sizes = read_indices(text);
    }
    expect(sizes.size());
    std::uint64_t sum = 0;
    for (const std::uint32_t size : sizes) {
      sum += size;
      cut += size > 2 ? size - 2 : 0;
      primitive.triangles = primitive.triangles && size == 3;
      if (size > source_.options.limits.polygon_vertices)
        fail(ErrorKind::limit,
             "a polygon of " + std::to_string(size) + " vertices is beyond the limit of " +
                 std::to_string(source_.options.limits.polygon_vertices),
             file, element, "triangulate it before exporting, or raise the limit with --max-polygon");
    }
    if (sum != points)
      fail(ErrorKind::malformed,
           "the polygons need " + std::to_string(sum) + " points, and there are " + std::to_string(points), file,
           element);
    primitive.faces = sizes.size();
  }
  triangles_ += cut;
  if (triangles_ > source_.options.limits.triangles)
    fail(ErrorKind::limit, "more than " + std::to_string(source_.options.limits.triangles) + " triangles", file,
         element, "raise the limit with --max-triangles");
  if (primitive.faces == 0) return;
  needs_triangulation_ = needs_triangulation_ || !primitive.triangles;

  // Normals and the like are left out of the document, but their indices still stand between those of the vertices. A
  // VERTEX input at the last offset keeps the stride; of several such inputs Assimp takes the last one.
  const std::size_t number = geometries_.size() - 1;
  const char* name = primitive.triangles ? "triangles" : "polylist";
  write(text_, "<", name, " count=\"", primitive.faces, "\">");
  for (const std::size_t offset : {stride - 1, vertex_offset})
    write(text_, "<input semantic=\"VERTEX\" source=\"#v", number, "\" offset=\"", offset, "\"/>");
  if (!primitive.triangles) {
    text_ += "<vcount>";
    for (const std::uint32_t size : sizes) write(text_, size, " ");
    text_ += "</vcount>";
  }
  write(text_, "<p>", all_indices, "</p></", name, ">");
  geometry.primitives.push_back(std::move(primitive));
}

void GeometryReader::finish(Document& document) && {
  std::string text = std::move(text_);
  text += "</library_geometries>\n<library_visual_scenes><visual_scene id=\"scene\">\n";
  for (std::size_t i = 0; i != geometries_.size(); ++i)
    write(text, "<node id=\"g", i, "\"><instance_geometry url=\"#m", i, "\"/></node>\n");
  text += "</visual_scene></library_visual_scenes>\n<scene><instance_visual_scene url=\"#scene\"/></scene></COLLADA>\n";

  document.geometry_text = std::move(text);
  document.needs_triangulation = needs_triangulation_;
  document.scene.report.ignored_primitives = ignored_primitives_;
  document.scene.meshes.resize(geometries_.size());
  for (std::size_t i = 0; i != geometries_.size(); ++i) document.scene.meshes[i].name = std::move(names_[i]);
  document.geometries = std::move(geometries_);
}

}  // namespace raylift::collada
