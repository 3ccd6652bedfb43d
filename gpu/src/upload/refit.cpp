// SPDX-License-Identifier: Apache-2.0
// New vertices of a mesh, and the boxes of its tree after them.
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "device/run_on.h"
#include "moving.h"

namespace raylift {
namespace {

using detail::FloatBox;
using detail::Levels;
using detail::NodeLevel;

bool are_in_range(const Device& device, DeviceSpan<const Float3> vertices, StreamRef stream) {
  std::uint32_t bad = 0;
  PooledBuffer<std::uint32_t> flag(device, stream, 1);
  flag.copy_from(std::span<const std::uint32_t>(&bad, 1), stream);
  detail::run_on(
      device, "check_vertices",
      [&] { return cuda::launch_check_vertices(vertices.data, vertices.size, flag.device(), stream.handle()); },
      [&] {
        device.synchronize(stream);
        if (!std::all_of(vertices.data, vertices.data + vertices.size, detail::is_in_range)) *flag.device() = 1;
      });
  flag.copy_to(std::span(&bad, 1), stream);
  device.synchronize(stream);
  return bad == 0;
}

void put(const Device& device, DeviceSpan<const Float3> from, Float3* to, StreamRef stream) {
  detail::run_on(
      device, "put_vertices", [&] { return cuda::launch_put_vertices(from.data, from.size, to, stream.handle()); },
      [&] { std::copy(from.data, from.data + from.size, to); });
}

void find_levels_on_host(const bvh_detail::BvhNode* nodes, std::uint32_t root, NodeLevel* levels) {
  NodeLevel level{root, root + 1, 0};
  for (std::uint32_t l = 0; l != kBvhMaxDepth; ++l) {
    levels[l] = level;
    std::uint32_t children = 0, first = kNone;
    for (std::uint32_t i = level.begin; i != level.end; ++i) {
      children += static_cast<std::uint32_t>(std::popcount(nodes[i].inner));
      if (nodes[i].inner != 0) first = std::min(first, nodes[i].first_child);
    }
    level = {first, first + children, level.before + (level.end - level.begin)};
    if (children == 0) level.begin = level.end = 0;
  }
}

Levels find_levels(const Device& device, const bvh_detail::BvhNode* nodes, std::uint32_t root, StreamRef stream) {
  Levels levels{};
  PooledBuffer<NodeLevel> found(device, stream, levels.size());
  detail::run_on(
      device, "find_levels", [&] { return cuda::launch_find_levels(nodes, root, found.device(), stream.handle()); },
      [&] {
        device.synchronize(stream);
        find_levels_on_host(nodes, root, found.device());
      });
  found.copy_to(std::span(levels), stream);
  device.synchronize(stream);
  return levels;
}

std::size_t node_count(const Levels& levels) {
  std::size_t count = 0;
  for (const NodeLevel& level : levels) count += level.end - level.begin;
  return count;
}

void refit_levels(const Device& device, const detail::RefitInput& input, const Levels& levels, StreamRef stream) {
  for (std::size_t l = levels.size(); l-- != 0;) {
    const NodeLevel level = levels[l], below = l + 1 != levels.size() ? levels[l + 1] : NodeLevel{};
    if (level.begin == level.end) continue;
    detail::run_on(
        device, "refit_level", [&] { return cuda::launch_refit_level(input, level, below, stream.handle()); },
        [&] {
          tbb::parallel_for(level.begin, level.end,
                            [&](std::uint32_t i) { detail::refit_node(input, i, level, below); });
        });
  }
}

const std::vector<MeshView>& known_meshes(const GpuGeometry& geometry, detail::Moving& moving, StreamRef stream) {
  if (moving.meshes.empty()) {
    std::vector<MeshView> meshes(geometry.view().mesh_count);
    geometry.array(ViewArray::meshes).copy_to(std::as_writable_bytes(std::span(meshes)), stream);
    geometry.device().synchronize(stream);
    moving.meshes = std::move(meshes);
  }
  return moving.meshes;
}

/// How many meshes before this one have a tree: those of empty meshes are left out.
std::uint32_t trees_before(std::uint32_t mesh, const std::vector<MeshView>& meshes) {
  return static_cast<std::uint32_t>(std::count_if(meshes.begin(), meshes.begin() + mesh,
                                                  [](const MeshView& one) { return one.triangle_count != 0; }));
}

}  // namespace

void GpuGeometry::refit(std::uint32_t mesh, DeviceSpan<const Float3> vertices, StreamRef stream) {
  if (mesh >= view_.mesh_count) throw Error(ErrorKind::usage, "the geometry has no mesh " + std::to_string(mesh));
  if (view_.bvh_levels == 0)
    throw Error(ErrorKind::usage, "the geometry has no BVH", {}, "upload it with UploadOptions::bvh");
  const std::vector<MeshView>& meshes = known_meshes(*this, moving(), stream);
  const MeshView& range = meshes[mesh];
  if (vertices.size != range.vertex_count)
    throw Error(ErrorKind::usage, std::to_string(vertices.size) + " vertices were given for the " +
                                      std::to_string(range.vertex_count) + " of mesh " + std::to_string(mesh));
  if (vertices.size == 0) return;
  if (!are_in_range(device(), vertices, stream))
    throw Error(ErrorKind::usage, "a vertex of mesh " + std::to_string(mesh) + " is not finite, or beyond 1e18");
  auto* const to = array(ViewArray::vertices).as<Float3>() + range.first_vertex;
  if (range.triangle_count == 0) {
    put(device(), vertices, to, stream);
    return device().synchronize(stream);
  }

  // All that may lack memory comes before anything changes.
  const bool flat = view_.bvh_levels == 1;
  auto* const nodes = array(ViewArray::nodes).as<bvh_detail::BvhNode>();
  auto tree = moving().trees.find(mesh);
  if (tree == moving().trees.end()) {
    const std::uint32_t root = flat ? 0 : moving_instances(stream).roots() + trees_before(mesh, meshes);
    tree = moving().trees.emplace(mesh, find_levels(device(), nodes, root, stream)).first;
  }
  PooledBuffer<FloatBox> boxes(device(), stream, node_count(tree->second));
  put(device(), vertices, to, stream);
  refit_levels(device(),
               {nodes, array(ViewArray::pairs).as<bvh_detail::TrianglePair>(), view_.bvh.ids, view_.triangles,
                view_.vertices, boxes.device()},
               tree->second, stream);
  if (!flat) return rebuild_instance_level(stream);
  FloatBox whole{};
  boxes.copy_to(std::span(&whole, 1), stream);
  device().synchronize(stream);
  if (view_.reach == 0) return;  // of a flat scene that was uploaded on its own
  for (int a = 0; a != 3; ++a)
    view_.reach = std::max({view_.reach, std::abs(whole.lower[a]), std::abs(whole.upper[a])});
}

}  // namespace raylift
