// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/scene/eigen.h>
#include <raylift/gpu/memory/buffer.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "media_scenes.h"

namespace raylift::bench {
namespace {

using Eigen::Vector3d;
using std::numbers::pi;

constexpr double kLargeSolid = 1500;  // millimetres: solids that reach farther are no grid's

struct HostOracle {
  std::vector<std::uint32_t> always;
  std::vector<WalkMesh> meshes;
  std::vector<Float3> vertices;
  std::vector<UInt3> triangles;
  WalkGrid grid{};
  std::vector<std::uint32_t> cell_begin, cell_solids;
};

Vector3d to_vector(Float3 v) {
  return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
}

/// The distances of a mesh's surface from its origin: at least that of the nearest plane, at most that of the farthest
/// vertex.
WalkMesh measured(const Mesh& mesh) {
  WalkMesh result{0, static_cast<std::uint32_t>(mesh.triangles.size()), 1e300, 0, 0};
  double angle = 0;  // the solid angle that the surface takes (Van Oosterom, Strackee 1983)
  for (const UInt3& t : mesh.triangles) {
    const Vector3d a = to_vector(mesh.vertices[t.x]), b = to_vector(mesh.vertices[t.y]),
                   c = to_vector(mesh.vertices[t.z]);
    const Vector3d normal = (b - a).cross(c - a);
    if (normal.norm() > 0) result.inner = std::min(result.inner, std::abs(normal.normalized().dot(a)));
    const double na = a.norm(), nb = b.norm(), nc = c.norm();
    angle += 2 * std::atan2(a.dot(b.cross(c)), na * nb * nc + a.dot(b) * nc + b.dot(c) * na + c.dot(a) * nb);
    for (const double n : {na, nb, nc}) result.outer = std::max(result.outer, n);
  }
  result.origin_inside = std::abs(angle) > 2 * pi ? 1 : 0;
  return result;
}

HostOracle make_oracle(const MediaScene& scene) {
  HostOracle oracle;
  std::vector<std::uint32_t> in_grid;
  std::vector<bool> measure(scene.scene.meshes.size(), false);
  for (const WalkSolid& solid : scene.solids)
    if (solid.shape == SolidShape::mesh) measure[solid.mesh] = true;
  for (std::size_t i = 0; i != scene.scene.meshes.size(); ++i) {
    const Mesh& mesh = scene.scene.meshes[i];
    WalkMesh own{};
    if (measure[i]) {
      own = measured(mesh);
      own.first_triangle = static_cast<std::uint32_t>(oracle.triangles.size());
      const auto base = static_cast<std::uint32_t>(oracle.vertices.size());
      oracle.vertices.insert(oracle.vertices.end(), mesh.vertices.begin(), mesh.vertices.end());
      for (const UInt3& t : mesh.triangles) oracle.triangles.push_back({base + t.x, base + t.y, base + t.z});
    }
    oracle.meshes.push_back(own);
  }
  for (std::uint32_t i = 0; i != scene.solids.size(); ++i) {
    const WalkSolid& solid = scene.solids[i];
    const bool small = solid.shape == SolidShape::mesh && oracle.meshes[solid.mesh].outer < kLargeSolid;
    (small ? in_grid : oracle.always).push_back(i);
  }
  if (in_grid.empty()) return oracle;
  const auto reach_of = [&](std::uint32_t id) { return oracle.meshes[scene.solids[id].mesh].outer + 1; };
  const auto place_of = [&](std::uint32_t id) -> Vector3d {
    return to_eigen(scene.scene.instances[id].transform).translation();
  };
  Bounds all;
  for (const std::uint32_t id : in_grid) {
    const Vector3d reach = Vector3d::Constant(reach_of(id));
    all.add(Vector3d(place_of(id) - reach));
    all.add(Vector3d(place_of(id) + reach));
  }
  oracle.grid.cell = 400;
  for (int a = 0; a != 3; ++a) {
    oracle.grid.origin[a] = all.min[a];
    oracle.grid.size[a] = static_cast<std::uint32_t>(all.size()[a] / oracle.grid.cell) + 1;
  }
  const auto* size = oracle.grid.size;
  std::vector<std::vector<std::uint32_t>> cells(std::size_t{size[0]} * size[1] * size[2]);
  for (const std::uint32_t id : in_grid) {
    std::array<std::uint32_t, 3> low{}, high{};
    for (int a = 0; a != 3; ++a) {
      const double at = place_of(id)[a] - all.min[a];
      low[a] = static_cast<std::uint32_t>((at - reach_of(id)) / oracle.grid.cell);
      high[a] = std::min(size[a] - 1, static_cast<std::uint32_t>((at + reach_of(id)) / oracle.grid.cell));
    }
    for (std::uint32_t z = low[2]; z <= high[2]; ++z)
      for (std::uint32_t y = low[1]; y <= high[1]; ++y)
        for (std::uint32_t x = low[0]; x <= high[0]; ++x)
          cells[(std::size_t{z} * size[1] + y) * size[0] + x].push_back(id);
  }
  oracle.cell_begin.push_back(0);
  for (const auto& cell : cells) {
    oracle.cell_solids.insert(oracle.cell_solids.end(), cell.begin(), cell.end());
    oracle.cell_begin.push_back(static_cast<std::uint32_t>(oracle.cell_solids.size()));
  }
  return oracle;
}

template <class T>
DeviceBuffer<T> on_device(const Device& device, const Stream& stream, const std::vector<T>& values) {
  DeviceBuffer<T> buffer(device, values.size());
  buffer.copy_from(std::span<const T>(values), stream);
  stream.synchronize();
  return buffer;
}

GpuGeometry uploaded(const MediaScene& scene, const Device& device, MediaLevels levels) {
  UploadOptions options;
  options.flatten = levels == MediaLevels::flat;
  options.positions = levels == MediaLevels::fine ? UploadOptions::Positions::fine : UploadOptions::Positions::floats;
  options.bvh = true;
  options.bvh_builder = UploadOptions::BvhBuilder::device;
  options.origin = Vector3d(Vector3d::Zero());
  return upload(scene.scene, device, options);
}

}  // namespace

MediaOnDevice::MediaOnDevice(const MediaScene& scene, const Device& device, MediaLevels levels)
    : geometry_(uploaded(scene, device, levels)) {
  const HostOracle oracle = make_oracle(scene);
  const Stream stream(device);
  solids_ = on_device(device, stream, scene.solids);
  always_ = on_device(device, stream, oracle.always);
  cell_begin_ = on_device(device, stream, oracle.cell_begin);
  cell_solids_ = on_device(device, stream, oracle.cell_solids);
  meshes_ = on_device(device, stream, oracle.meshes);
  vertices_ = on_device(device, stream, oracle.vertices);
  triangles_ = on_device(device, stream, oracle.triangles);
  task_.geometry = geometry_.view();
  task_.oracle = {solids_.device(),    always_.device(),      static_cast<std::uint32_t>(oracle.always.size()),
                  oracle.grid,         meshes_.device(),      vertices_.device(),
                  triangles_.device(), media_tolerance(scene)};
  task_.oracle.grid.begin = oracle.cell_begin.empty() ? nullptr : cell_begin_.device();
  task_.oracle.grid.solids = cell_solids_.device();
  task_.start_min = to_float(scene.start_min);
  task_.start_max = to_float(scene.start_max);
  task_.check_every = 1;
  task_.stepping = Stepping::boundaries;
}

}  // namespace raylift::bench
