// SPDX-License-Identifier: Apache-2.0
// Geometries: positions, primitives and their indices, read and checked against each other.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "collada_primitive.h"
#include "collada_text.h"

namespace raylift::collada {
namespace {

/// How an <accessor> reads its array: all of Positions but the numbers. X, Y and Z are found by the params' names, or
/// in order where none is named.
Positions read_accessor(pugi::xml_node accessor, const Source& source) {
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
  return {{}, {}, count, offset, stride, at};
}

/// The positions that the <vertices> of a mesh name.
Positions read_positions(pugi::xml_node mesh, pugi::xml_node vertices, const Source& document) {
  const pugi::xml_node input = vertices.find_child_by_attribute("input", "semantic", "POSITION");
  if (!input) fail(ErrorKind::malformed, "the <vertices> have no POSITION input", document, vertices);

  // Ids are looked up in the mesh alone: exporters that number sources anew in each mesh are common.
  const auto local = [&](const char* what, std::string_view url, pugi::xml_node referrer, const auto& find) {
    const auto id = document.own_id(url, referrer);
    if (!id)
      fail(url.empty() ? ErrorKind::malformed : ErrorKind::unsupported,
           "'" + std::string(url) + "' refers to no element of this document", document, referrer);
    pugi::xml_node found = find(std::string(*id));
    if (!found) found = find(percent_decoded(*id));
    if (!found)
      fail(ErrorKind::malformed, "'" + std::string(url) + "' names no " + what + " of this mesh", document, referrer);
    return found;
  };
  const pugi::xml_node source = local("<source>", input.attribute("source").value(), input, [&](const std::string& id) {
    return mesh.find_child_by_attribute("source", "id", id.c_str());
  });
  const pugi::xml_node accessor = source.child("technique_common").child("accessor");
  if (!accessor) fail(ErrorKind::malformed, "the source has no <accessor>", document, source);
  const pugi::xml_node array =
      local("<float_array>", accessor.attribute("source").value(), accessor, [&](const std::string& id) {
        for (const pugi::xml_node candidate : mesh.children("source"))
          for (const char* kind : {"float_array", "int_array"})
            if (const pugi::xml_node found = candidate.find_child_by_attribute(kind, "id", id.c_str())) return found;
        return pugi::xml_node();
      });

  Positions positions = read_accessor(accessor, document);
  std::string joined;
  Floats floats = read_floats(text_of(array, joined), document.options().rests);
  if (floats.bad) fail(ErrorKind::malformed, "'" + *floats.bad + "' is no number", document, array);
  // Each of these is below 2^32, so the sum fits into 64 bits.
  const std::uint64_t width = std::max({positions.at[0], positions.at[1], positions.at[2]}) + 1;
  const std::uint64_t needed =
      positions.count == 0 ? 0 : positions.offset + (positions.count - 1) * positions.stride + width;
  if (needed > floats.values.size())
    fail(ErrorKind::malformed,
         std::to_string(positions.count) + " points need " + std::to_string(needed) + " values, and the array holds " +
             std::to_string(floats.values.size()),
         document, accessor, "the file may have been cut off; export it again");
  positions.numbers = std::move(floats.values);
  positions.rests = std::move(floats.rests);
  return positions;
}

/// What the reading of a geometry has come to.
struct Findings {
  std::vector<std::pair<pugi::xml_node, std::uint64_t>> triangles;  // of each primitive element, once polygons are cut
  std::exception_ptr failure;                                       // behind them
};

void read_geometry(pugi::xml_node element, const Source& source, Geometry& geometry, Findings& findings) {
  const pugi::xml_node mesh = element.child("mesh");
  const auto children = mesh.children();
  if (std::none_of(children.begin(), children.end(), is_primitive)) return;
  const pugi::xml_node vertices = mesh.child("vertices");
  if (!vertices) fail(ErrorKind::malformed, "the mesh has no <vertices>", source, mesh);
  geometry.positions = read_positions(mesh, vertices, source);
  for (const pugi::xml_node child : children) {
    if (!is_primitive(child)) continue;
    CheckedPrimitive read = read_primitive(child, vertices.attribute("id").value(), geometry.positions.count, source);
    findings.triangles.emplace_back(child, read.triangles);
    if (holds_polygons(child)) geometry.primitives.push_back(std::move(read.primitive));
  }
}

}  // namespace

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
  for (const pugi::xml_node child : mesh.children()) {
    if (is_primitive(child) && holds_polygons(child))
      geometry.symbols.emplace_back(child.attribute("material").value());
    if (is(child, "lines") || is(child, "linestrips")) ++ignored_primitives_;
  }
  return number;
}

void GeometryReader::read() {
  std::vector<Findings> findings(geometries_.size());
  tbb::parallel_for(std::size_t{0}, geometries_.size(), [&](std::size_t i) {
    try {
      read_geometry(elements_[i], source_, geometries_[i], findings[i]);
    } catch (...) {
      findings[i].failure = std::current_exception();
    }
  });
  // In the order of the document's first uses, whatever the threads' was.
  const std::uint64_t limit = source_.options().limits.triangles;
  std::uint64_t triangles = 0;
  for (const Findings& found : findings) {
    for (const auto& [element, count] : found.triangles) {
      triangles += count;
      if (triangles > limit)
        fail(ErrorKind::limit, "more than " + std::to_string(limit) + " triangles", source_, element,
             "raise the limit with LoadLimits::triangles");
    }
    if (found.failure) std::rethrow_exception(found.failure);
  }
}

void GeometryReader::finish(Document& document) && {
  document.scene.report.ignored_primitives = ignored_primitives_;
  document.scene.meshes.resize(geometries_.size());
  for (std::size_t i = 0; i != geometries_.size(); ++i) document.scene.meshes[i].name = std::move(names_[i]);
  document.geometries = std::move(geometries_);
}

}  // namespace raylift::collada
