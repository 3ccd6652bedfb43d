// SPDX-License-Identifier: Apache-2.0
#include "scene_stream.h"

#include <raylift/geometry/scene/flatten.h>

#include <array>

#include "for_each_mesh.h"

namespace raylift {

void refuse_import(const std::string& what) {
  throw Error(ErrorKind::malformed, "the import process returned an invalid scene: " + what);
}

void put_options(ByteWriter& writer, const LoadOptions& options) {
  writer.value(options.unit_mm.value_or(0));
  writer.value(options.up_axis ? static_cast<int>(*options.up_axis) : -1);
  writer.value(options.weld);
  writer.value(std::uint8_t{options.external});
  writer.value(std::uint8_t{options.repair});
  writer.value(std::uint8_t{options.drop_degenerate});
  writer.value(std::uint8_t{options.sensor_materials});
  writer.value(std::uint8_t{options.compute_rayleigh});
  writer.value(std::uint8_t{options.strict_optics});
  writer.value(options.limits);
}

LoadOptions get_options(ByteReader& reader) {
  LoadOptions options;
  if (const auto unit = reader.get<double>(); unit != 0) options.unit_mm = unit;
  if (const auto axis = reader.get<int>(); axis >= 0) options.up_axis = static_cast<UpAxis>(axis);
  options.weld = reader.get<WeldOptions>();
  options.external = reader.get<std::uint8_t>() != 0;
  options.repair = reader.get<std::uint8_t>() != 0;
  options.drop_degenerate = reader.get<std::uint8_t>() != 0;
  options.sensor_materials = reader.get<std::uint8_t>() != 0;
  options.compute_rayleigh = reader.get<std::uint8_t>() != 0;
  options.strict_optics = reader.get<std::uint8_t>() != 0;
  options.limits = reader.get<LoadLimits>();
  return options;
}

void put_scene(ByteWriter& writer, const Scene& scene) {
  detail::SceneCounts counts = detail::counts_of(scene);
  std::vector<detail::MeshSizes> sizes = detail::sizes_of(scene);
  detail::visit_facts(writer, scene, counts);
  detail::visit_tree(writer, scene, sizes);
  for (const Mesh& mesh : scene.meshes) {
    writer.array(mesh.vertices, mesh.vertices.size());
    writer.array(mesh.triangles, mesh.triangles.size());
    detail::for_each_triangle_attribute([&](const auto& attribute) {
      const auto& values = mesh.*attribute.mesh;
      writer.value(std::uint64_t{values.size()});
      writer.array(values, values.size());
    });
  }
}

Scene get_scene(ByteReader& reader) {
  Scene scene;
  detail::SceneCounts counts;
  std::vector<detail::MeshSizes> sizes;
  detail::visit_facts(reader, scene, counts);
  detail::visit_tree(reader, scene, sizes);
  const auto failure = [&reader](const std::string& what) { reader.fail(what); };
  detail::check_scene(scene, sizes, failure);
  struct Arrays {
    std::string_view vertices, triangles;
    std::array<std::string_view, std::tuple_size_v<decltype(detail::kTriangleAttributes)>> attributes;
  };
  std::vector<Arrays> arrays;
  for (const detail::MeshSizes& size : sizes) {
    const std::string_view vertices = reader.elements<Float3>(size.vertices);
    arrays.push_back({vertices, reader.elements<UInt3>(size.triangles), {}});
    auto* elements = arrays.back().attributes.data();
    detail::for_each_triangle_attribute([&]<class T>(const detail::TriangleAttribute<T>&) {
      const auto count = reader.get<std::uint64_t>();
      if (count != 0 && count != size.triangles) reader.fail("an array has not one value for each triangle");
      *elements++ = reader.elements<T>(count);
    });
  }
  detail::for_each_mesh(0, arrays.size(), [&](std::size_t i) {
    Mesh& mesh = scene.meshes[i];
    ByteReader::copy(arrays[i].vertices, mesh.vertices);
    ByteReader::copy(arrays[i].triangles, mesh.triangles);
    const auto* elements = arrays[i].attributes.data();
    detail::for_each_triangle_attribute(
        [&](const auto& attribute) { ByteReader::copy(*elements++, mesh.*attribute.mesh); });
    detail::check_mesh(mesh, failure);
  });
  return scene;
}

void put_error(ByteWriter& writer, const Error& error) {
  writer.text(to_string(error.kind()));
  for (const std::string* text : {&error.problem(), &error.file(), &error.element(), &error.advice()})
    writer.text(*text);
}

Error get_error(ByteReader& reader) {
  const std::string name_of_kind = reader.get_text();
  const ErrorKind kind = [&] {
    try {
      return error_kind(name_of_kind);
    } catch (const Error&) {
      reader.fail("an unknown kind of error");
    }
  }();
  const std::string problem = reader.get_text();
  const std::string file = reader.get_text();
  const std::string element = reader.get_text();
  return {kind, problem, {file, element}, reader.get_text()};
}

}  // namespace raylift
