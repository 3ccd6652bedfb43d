// SPDX-License-Identifier: Apache-2.0
#include "scene_stream.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>

namespace raylift {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorKind::malformed, "the import process gave back a scene that makes no sense: " + what);
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(ErrorKind::io, std::string("can't hand the scene over: ") + std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void check_mesh(const Mesh& mesh) {
  std::uint64_t next = 0;
  for (const MeshPart& part : mesh.parts) {
    if (part.first_triangle != next) fail("parts do not follow each other");
    next += part.triangle_count;
  }
  if (next != mesh.triangles.size()) fail("parts do not cover a mesh");
  std::atomic<bool> sound{true};
  const std::size_t vertices = mesh.vertices.size();
  using Range = tbb::blocked_range<std::size_t>;
  tbb::parallel_for(Range(0, mesh.triangles.size(), 1U << 15), [&](const Range& range) {
    bool good = true;
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      const uint3& t = mesh.triangles[i];
      good = good && t.x < vertices && t.y < vertices && t.z < vertices;
    }
    if (!good) sound = false;
  });
  tbb::parallel_for(Range(0, vertices, 1U << 15), [&](const Range& range) {
    float sum = 0;  // becomes NaN by any coordinate that is not finite
    for (std::size_t i = range.begin(); i != range.end(); ++i)
      sum += 0 * mesh.vertices[i].x + 0 * mesh.vertices[i].y + 0 * mesh.vertices[i].z;
    if (std::isnan(sum)) sound = false;
  });
  if (!sound) fail("a mesh holds broken indices or coordinates");
}

}  // namespace

void ByteWriter::put_text(std::string_view text) {
  put(std::uint64_t{text.size()});
  own_ += text;
}

void ByteWriter::write_to(int descriptor) const {
  std::size_t done = 0;
  const std::string_view own = own_;
  for (const Piece& piece : pieces_) {
    write_all(descriptor, own.substr(done, piece.own_before - done));
    write_all(descriptor, piece.outside);
    done = piece.own_before;
  }
  write_all(descriptor, own.substr(done));
}

const char* ByteReader::take(std::size_t size) {
  if (size > bytes_.size()) fail("it ends too early");
  const char* data = bytes_.data();
  bytes_.remove_prefix(size);
  return data;
}

std::size_t ByteReader::get_count(std::size_t size) {
  const auto count = get<std::uint64_t>();
  if (count > bytes_.size() / std::max<std::size_t>(size, 1)) fail("a count is larger than what follows");
  return count;
}

std::string ByteReader::get_text() {
  const std::size_t size = get_count(1);
  return {take(size), size};
}

void put_options(ByteWriter& writer, const LoadOptions& options) {
  writer.put(options.unit_mm.value_or(0));
  writer.put(options.up_axis ? static_cast<int>(*options.up_axis) : -1);
  writer.put(options.weld);
  writer.put(options.repair);
  writer.put(options.drop_degenerate);
  writer.put(options.limits);
}

LoadOptions get_options(ByteReader& reader) {
  LoadOptions options;
  if (const auto unit = reader.get<double>(); unit != 0) options.unit_mm = unit;
  if (const auto axis = reader.get<int>(); axis >= 0) options.up_axis = static_cast<UpAxis>(axis);
  options.weld = reader.get<WeldOptions>();
  options.repair = reader.get<bool>();
  options.drop_degenerate = reader.get<bool>();
  options.limits = reader.get<LoadLimits>();
  return options;
}

void put_scene(ByteWriter& writer, const Scene& scene) {
  for (const std::string* text : {&scene.source, &scene.format, &scene.generator}) writer.put_text(*text);
  writer.put(scene.unit_mm);
  for (const Provenance from : {scene.unit_from, scene.up_from}) writer.put(from);
  writer.put(scene.up_axis);
  writer.put(std::uint64_t{scene.meshes.size()});
  for (const Mesh& mesh : scene.meshes) {
    writer.put_text(mesh.name);
    writer.put_array(std::span<const float3>(mesh.vertices));
    writer.put_array(std::span<const uint3>(mesh.triangles));
    writer.put_array(std::span<const MeshPart>(mesh.parts));
  }
  writer.put(std::uint64_t{scene.materials.size()});
  for (const Material& material : scene.materials) {
    writer.put_text(material.name);
    writer.put(material.color);
  }
  writer.put(std::uint64_t{scene.bindings.size()});
  for (const std::vector<std::uint32_t>& binding : scene.bindings)
    writer.put_array(std::span<const std::uint32_t>(binding));
  writer.put(std::uint64_t{scene.nodes.size()});
  for (const Node& node : scene.nodes) {
    writer.put_text(node.name);
    writer.put(node.parent);
    writer.put(std::uint8_t{node.copy_number.has_value()});
    writer.put(node.copy_number.value_or(0));
  }
  writer.put(std::uint64_t{scene.instances.size()});
  for (const Instance& instance : scene.instances) {
    for (const std::uint32_t index : {instance.mesh, instance.node, instance.binding, instance.outside})
      writer.put(index);
    std::array<double, 12> values;
    std::copy_n(instance.transform.data(), values.size(), values.begin());
    writer.put(values);
  }
  for (int axis = 0; axis != 3; ++axis) {
    writer.put(scene.bounds.min[axis]);
    writer.put(scene.bounds.max[axis]);
  }
  const LoadReport& report = scene.report;
  for (const std::uint64_t count : {report.degenerate_triangles, report.dropped_triangles, report.repaired_vertices,
                                    report.ignored_primitives, report.vertices_before_weld})
    writer.put(count);
  writer.put(std::uint64_t{report.warnings.size()});
  for (const std::string& warning : report.warnings) writer.put_text(warning);
}

Scene get_scene(ByteReader& reader) {
  Scene scene;
  for (std::string* text : {&scene.source, &scene.format, &scene.generator}) *text = reader.get_text();
  scene.unit_mm = reader.get<double>();
  for (Provenance* from : {&scene.unit_from, &scene.up_from}) *from = reader.get<Provenance>();
  scene.up_axis = reader.get<UpAxis>();
  if (scene.up_axis > UpAxis::z || scene.unit_from > Provenance::option || scene.up_from > Provenance::option)
    fail("an enumeration is out of range");
  scene.meshes.resize(reader.get_count(4 * sizeof(std::uint64_t)));
  for (Mesh& mesh : scene.meshes) {
    mesh.name = reader.get_text();
    mesh.vertices = reader.get_array<float3>();
    mesh.triangles = reader.get_array<uint3>();
    mesh.parts = reader.get_array<MeshPart>();
    check_mesh(mesh);
  }
  scene.materials.resize(reader.get_count(sizeof(std::uint64_t)));
  for (Material& material : scene.materials) {
    material.name = reader.get_text();
    material.color = reader.get<std::array<float, 4>>();
  }
  const auto index = [](std::uint32_t value, std::size_t count, bool may_be_none) {
    if (value >= count && !(may_be_none && value == kNone)) fail("an index is out of range");
    return value;
  };
  scene.bindings.resize(reader.get_count(sizeof(std::uint64_t)));
  for (std::vector<std::uint32_t>& binding : scene.bindings) {
    binding = reader.get_array<std::uint32_t>();
    for (const std::uint32_t material : binding) index(material, scene.materials.size(), true);
  }
  scene.nodes.resize(reader.get_count(sizeof(std::uint64_t)));
  for (std::size_t i = 0; i != scene.nodes.size(); ++i) {
    Node& node = scene.nodes[i];
    node.name = reader.get_text();
    node.parent = index(reader.get<std::uint32_t>(), i, true);
    const bool has_copy_number = reader.get<std::uint8_t>() != 0;  // any other byte than 0 and 1 is no bool
    const auto copy_number = reader.get<std::int64_t>();
    if (has_copy_number) node.copy_number = copy_number;
  }
  scene.instances.resize(reader.get_count(4 * sizeof(std::uint32_t)));
  for (Instance& instance : scene.instances) {
    instance.mesh = index(reader.get<std::uint32_t>(), scene.meshes.size(), false);
    instance.node = index(reader.get<std::uint32_t>(), scene.nodes.size(), true);
    instance.binding = index(reader.get<std::uint32_t>(), scene.bindings.size(), false);
    instance.outside = index(reader.get<std::uint32_t>(), scene.materials.size(), true);
    const auto values = reader.get<std::array<double, 12>>();
    std::copy(values.begin(), values.end(), instance.transform.data());
    if (!instance.transform.matrix().allFinite()) fail("a transform is not finite");
  }
  for (int axis = 0; axis != 3; ++axis) {
    scene.bounds.min[axis] = reader.get<double>();
    scene.bounds.max[axis] = reader.get<double>();
  }
  if (!scene.bounds.min.allFinite() || !scene.bounds.max.allFinite() || !std::isfinite(scene.unit_mm) ||
      scene.unit_mm <= 0)
    fail("its extent or unit is no length");
  LoadReport& report = scene.report;
  for (std::uint64_t* count : {&report.degenerate_triangles, &report.dropped_triangles, &report.repaired_vertices,
                               &report.ignored_primitives, &report.vertices_before_weld})
    *count = reader.get<std::uint64_t>();
  report.warnings.resize(reader.get_count(sizeof(std::uint64_t)));
  for (std::string& warning : report.warnings) warning = reader.get_text();
  return scene;
}

void put_error(ByteWriter& writer, const Error& error) {
  writer.put_text(name(error.kind()));
  for (const std::string* text : {&error.problem(), &error.file(), &error.element(), &error.advice()})
    writer.put_text(*text);
}

Error get_error(ByteReader& reader) {
  const std::string name_of_kind = reader.get_text();
  const ErrorKind kind = [&] {
    try {
      return error_kind(name_of_kind);
    } catch (const Error&) {
      fail("an unknown kind of error");
    }
  }();
  const std::string problem = reader.get_text();
  const std::string file = reader.get_text();
  const std::string element = reader.get_text();
  return {kind, problem, {file, element}, reader.get_text()};
}

}  // namespace raylift
