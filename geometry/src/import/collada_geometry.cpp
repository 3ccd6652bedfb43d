// SPDX-License-Identifier: Apache-2.0
// Geometries: positions, primitives and their indices, checked against each other and written anew for Assimp.
//
// Assimp 5.2 trusts counts, clamps negative indices, reads past short arrays, overruns on strips of less than three
// points, takes fans for polygons and stops at <extra> inside primitives. So it gets none of these: just the original
// texts of positions and indices, once they are known to be sound, in elements of our own.
#include <algorithm>
#include <array>
#include <utility>

#include "collada_primitive.h"
#include "collada_text.h"
#include "huge_pages.h"

namespace raylift::inline v0_1::collada {
namespace {

/// How an <accessor> reads its array.
struct Accessor {
  std::uint64_t count;            // points
  std::uint64_t offset;           // values before the first one
  std::uint64_t stride;           // values of a point
  std::size_t width;              // of these, up to the last one that is used
  std::array<std::size_t, 3> at;  // which of them are X, Y and Z
};

/// X, Y and Z are found by the params' names, or in order where none is named.
Accessor read_accessor(pugi::xml_node accessor, const Source& source) {
  std::array<std::size_t, 3> at{SIZE_MAX, SIZE_MAX, SIZE_MAX};
  std::size_t params = 0;
  bool named = false;
  for (const pugi::xml_node param : accessor.children("param")) {
    const std::string_view name = param.attribute("name").value();
    named = named || !name.empty();
    for (std::size_t axis = 0; axis != 3; ++axis)
      if (name.size() == 1 && (name[0] | 0x20) == static_cast<char>('x' + axis)) at[axis] = params;
    ++params;
  }
  const std::uint64_t count = unsigned_attribute(accessor, "count", 0, source);
  const std::uint64_t offset = unsigned_attribute(accessor, "offset", 0, source);
  const std::uint64_t stride = unsigned_attribute(accessor, "stride", 1, source);
  if (!named && (params == 0 ? stride : params) >= 3)
    for (std::size_t axis = 0; axis != 3; ++axis) at[axis] = axis;
  if (std::max({at[0], at[1], at[2]}) == SIZE_MAX)
    fail(ErrorKind::unsupported, "positions need an X, a Y and a Z", source, accessor,
         "export them in three dimensions");
  const std::size_t width = std::max({at[0], at[1], at[2]}) + 1;
  if (stride < std::max(width, params))
    fail(ErrorKind::malformed,
         "a stride of " + std::to_string(stride) + " is less than the " + std::to_string(std::max(width, params)) +
             " values of a point",
         source, accessor);
  return {count, offset, stride, width, at};
}

}  // namespace

/// The positions of a mesh, and the element that its primitives name.
struct GeometryReader::Positions {
  std::string_view vertices_id;
  std::uint64_t count = 0;  ///< points
};

GeometryReader::GeometryReader(Source& source, std::size_t bytes)
    : source_(source), library_(source, "library_geometries", "geometry") {
  reserve_huge(text_, bytes + 1024);
  text_ +=
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<COLLADA version=\"1.4.1\"><asset><unit meter=\"1\"/>"
      "<up_axis>Y_UP</up_axis></asset>\n<library_geometries>\n";
}

std::uint32_t GeometryReader::use(std::string_view url, pugi::xml_node referrer) {
  const pugi::xml_node element = library_.find(url, referrer);
  const auto number = static_cast<std::uint32_t>(geometries_.size());
  const auto [entry, inserted] = numbers_.try_emplace(element.internal_object(), number);
  if (!inserted) return entry->second;

  const pugi::xml_node mesh = element.child("mesh");
  if (!mesh) {
    for (const char* other : {"convex_mesh", "spline", "brep"})
      if (element.child(other))
        fail(ErrorKind::unsupported, std::string("a <") + other + "> is no triangle mesh", source_, element,
             "export it as a <mesh>");
    fail(ErrorKind::malformed, "the geometry has no <mesh>", source_, element);
  }

  Geometry& geometry = geometries_.emplace_back();
  elements_.push_back(element);
  geometry.id = element.attribute("id").value();
  names_.emplace_back(element.attribute("name") ? element.attribute("name").value() : geometry.id);
  write(text_, "<geometry id=\"m", number, "\"><mesh>");
  const auto children = mesh.children();
  if (std::any_of(children.begin(), children.end(), is_primitive)) {
    const Positions positions = write_positions(mesh);
    for (const pugi::xml_node child : children)
      if (is_primitive(child)) write_primitive(geometry, positions, child);
  }
  for (const pugi::xml_node child : mesh.children())
    if (is(child, "lines") || is(child, "linestrips")) ++ignored_primitives_;
  text_ += "</mesh></geometry>\n";
  return number;
}

GeometryReader::Positions GeometryReader::write_positions(pugi::xml_node mesh) {
  const pugi::xml_node vertices = mesh.child("vertices");
  if (!vertices) fail(ErrorKind::malformed, "the mesh has no <vertices>", source_, mesh);
  const pugi::xml_node input = vertices.find_child_by_attribute("input", "semantic", "POSITION");
  if (!input) fail(ErrorKind::malformed, "the <vertices> have no POSITION input", source_, vertices);

  // Ids are looked up in the mesh alone: exporters that number sources anew in each mesh are common.
  const auto local = [&](const char* what, std::string_view url, pugi::xml_node referrer, const auto& find) {
    const auto id = source_.own_id(url, referrer);
    if (!id)
      fail(url.empty() ? ErrorKind::malformed : ErrorKind::unsupported,
           "'" + std::string(url) + "' refers to no element of this document", source_, referrer);
    pugi::xml_node found = find(std::string(*id));
    if (!found) found = find(percent_decoded(*id));
    if (!found)
      fail(ErrorKind::malformed, "'" + std::string(url) + "' names no " + what + " of this mesh", source_, referrer);
    return found;
  };
  const pugi::xml_node source = local("<source>", input.attribute("source").value(), input, [&](const std::string& id) {
    return mesh.find_child_by_attribute("source", "id", id.c_str());
  });
  const pugi::xml_node accessor = source.child("technique_common").child("accessor");
  if (!accessor) fail(ErrorKind::malformed, "the source has no <accessor>", source_, source);
  const pugi::xml_node array =
      local("<float_array>", accessor.attribute("source").value(), accessor, [&](const std::string& id) {
        for (const pugi::xml_node candidate : mesh.children("source"))
          for (const char* kind : {"float_array", "int_array"})
            if (const pugi::xml_node found = candidate.find_child_by_attribute(kind, "id", id.c_str())) return found;
        return pugi::xml_node();
      });

  const Accessor points = read_accessor(accessor, source_);
  const auto& [count, offset, stride, width, at] = points;

  std::string joined;
  const std::string_view numbers = text_of(array, joined);
  const NumberScan scan = scan_reals(numbers);
  if (scan.bad) fail(ErrorKind::malformed, "'" + *scan.bad + "' is no number", source_, array);
  // Each of these is below 2^32, so the sum fits into 64 bits.
  const std::uint64_t needed = count == 0 ? 0 : offset + (count - 1) * stride + width;
  if (needed > scan.count)
    fail(ErrorKind::malformed,
         std::to_string(count) + " points need " + std::to_string(needed) + " values, and the array holds " +
             std::to_string(scan.count),
         source_, accessor, "the file may have been cut off; export it again");

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
  CheckedPrimitive read;
  read_primitive(read, element, positions.vertices_id, positions.count, source_);
  triangles_ += read.triangles;
  if (triangles_ > source_.options().limits.triangles)
    fail(ErrorKind::limit, "more than " + std::to_string(source_.options().limits.triangles) + " triangles", source_,
         element, "raise the limit with LoadLimits::triangles");
  if (read.primitive.faces == 0) return;
  needs_triangulation_ = needs_triangulation_ || !read.primitive.triangles;

  // Normals and the like are left out of the document, but their indices still stand between those of the vertices. A
  // VERTEX input at the last offset keeps the stride; of several such inputs Assimp takes the last one.
  const std::size_t number = geometries_.size() - 1;
  const char* name = read.primitive.triangles ? "triangles" : "polylist";
  write(text_, "<", name, " count=\"", read.primitive.faces, "\">");
  for (const std::size_t offset : {read.inputs.stride - 1, read.inputs.vertex_offset})
    write(text_, "<input semantic=\"VERTEX\" source=\"#v", number, "\" offset=\"", offset, "\"/>");
  if (!read.primitive.triangles) {
    text_ += "<vcount>";
    for (const std::uint32_t size : read.points.sizes) write(text_, size, " ");
    text_ += "</vcount>";
  }
  write(text_, "<p>", read.points.all_indices, "</p></", name, ">");
  geometry.primitives.push_back(std::move(read.primitive));
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

}  // namespace raylift::inline v0_1::collada
