// SPDX-License-Identifier: Apache-2.0
// New vertices of a mesh, and the boxes of its tree after them.
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "bvh/refit_kernels.h"
#include "moving_instances.h"
#ifdef RAYLIFT_WITH_CUDA
#include "device/cuda/check.h"
#endif

namespace raylift::inline v0_1 {
namespace {

using detail::FloatBox;
using detail::NodeLevel;
using Levels = std::array<NodeLevel, kBvhMaxDepth>;

/// Runs kernels on the geometry's device, or the same work on the host.
class Refit {
 public:
  Refit(const Device& device, StreamRef stream) : device_(device), stream_(stream) {}

  /// Copies the vertices; false where one of them is not finite or beyond 1e18: then nothing was copied.
  [[nodiscard]] bool put(DeviceSpan<const Float3> from, Float3* to) const {
#ifdef RAYLIFT_WITH_CUDA
    if (!device_.info().is_host) {
      const cuda::CurrentDevice current = select();
      PooledBuffer<std::uint32_t> bad(device_, stream_, 1);
      std::uint32_t found = 0;
      bad.copy_from(std::span<const std::uint32_t>(&found, 1), stream_);
      check(cuda::launch_check_vertices(from.data, from.size, bad.device(), stream_.handle()));
      bad.copy_to(std::span(&found, 1), stream_);
      device_.synchronize(stream_);
      if (found == 0) check(cuda::launch_put_vertices(from.data, from.size, to, stream_.handle()));
      return found == 0;
    }
#endif
    device_.synchronize(stream_);
    if (!std::all_of(from.data, from.data + from.size, detail::is_in_range)) return false;
    std::copy(from.data, from.data + from.size, to);
    return true;
  }

  [[nodiscard]] Levels levels(const BvhNode* nodes, std::uint32_t root) const {
    Levels found{};
#ifdef RAYLIFT_WITH_CUDA
    if (!device_.info().is_host) {
      const cuda::CurrentDevice current = select();
      PooledBuffer<NodeLevel> on_device(device_, stream_, found.size());
      check(cuda::launch_find_levels(nodes, root, on_device.device(), stream_.handle()));
      on_device.copy_to(std::span(found), stream_);
      device_.synchronize(stream_);
      return found;
    }
#endif
    NodeLevel level{root, root + 1, 0};
    for (NodeLevel& one : found) {
      one = level;
      std::uint32_t children = 0, first = kNone;
      for (std::uint32_t i = level.begin; i != level.end; ++i) {
        children += static_cast<std::uint32_t>(std::popcount(nodes[i].inner));
        if (nodes[i].inner != 0) first = std::min(first, nodes[i].first_child);
      }
      level = {first, first + children, level.before + (level.end - level.begin)};
      if (children == 0) level.begin = level.end = 0;
    }
    return found;
  }

  void run(const detail::RefitInput& input, const NodeLevel& level, const NodeLevel& below) const {
#ifdef RAYLIFT_WITH_CUDA
    if (!device_.info().is_host) {
      const cuda::CurrentDevice current = select();
      check(cuda::launch_refit_level(input, level, below, stream_.handle()));
      return;
    }
#endif
    tbb::parallel_for(level.begin, level.end, [&](std::uint32_t i) { detail::refit_node(input, i, level, below); });
  }

 private:
#ifdef RAYLIFT_WITH_CUDA
  [[nodiscard]] cuda::CurrentDevice select() const {
    return cuda::CurrentDevice(device_.info().cuda_device);
  }
  static void check(int code) {
    cuda::check(static_cast<cudaError_t>(code), "refitting a mesh");
  }
#endif

  const Device& device_;
  StreamRef stream_;
};

/// A mesh's range in the arrays over all meshes, and how many meshes before it have a tree.
struct KnownMesh {
  MeshView range{};
  std::uint32_t trees_before = 0;
};

KnownMesh find_mesh(const Memory& meshes, std::uint32_t mesh, const Device& device, StreamRef stream) {
  std::vector<MeshView> all(mesh + 1);
  meshes.copy_to(std::as_writable_bytes(std::span(all)), stream);
  device.synchronize(stream);
  const auto has_tree = [](const MeshView& one) { return one.triangle_count != 0; };
  return {all.back(), static_cast<std::uint32_t>(std::count_if(all.begin(), all.end() - 1, has_tree))};
}

}  // namespace

void GpuGeometry::refit(std::uint32_t mesh, DeviceSpan<const Float3> vertices, StreamRef stream) {
  if (mesh >= view_.mesh_count) throw Error(ErrorKind::usage, "the geometry has no mesh " + std::to_string(mesh));
  if (view_.bvh_levels == 0)
    throw Error(ErrorKind::usage, "the geometry has no BVH", {}, "upload it with UploadOptions::bvh");
  const bool flat = view_.bvh_levels == 1;
  const KnownMesh known = find_mesh(array(ViewArray::meshes), mesh, device(), stream);
  if (vertices.size != known.range.vertex_count)
    throw Error(ErrorKind::usage, std::to_string(vertices.size) + " vertices were given for the " +
                                      std::to_string(known.range.vertex_count) + " of mesh " + std::to_string(mesh));
  if (vertices.size == 0) return;
  const std::uint32_t root = flat ? 0 : moving(stream).roots() + known.trees_before;
  const Refit work(device(), stream);
  if (!work.put(vertices, array(ViewArray::vertices).as<Float3>() + known.range.first_vertex))
    throw Error(ErrorKind::usage, "a vertex of mesh " + std::to_string(mesh) + " is not finite, or beyond 1e18");
  if (known.range.triangle_count == 0) return device().synchronize(stream);

  auto* const nodes = array(ViewArray::nodes).as<BvhNode>();
  const Levels levels = work.levels(nodes, root);
  std::size_t count = 0;
  for (const NodeLevel& level : levels) count += level.end - level.begin;
  PooledBuffer<FloatBox> boxes(device(), stream, count);
  const detail::RefitInput input{nodes,          array(ViewArray::pairs).as<TrianglePair>(),
                                 view_.bvh.ids,  view_.triangles,
                                 view_.vertices, boxes.device()};
  for (std::size_t l = levels.size(); l-- != 0;)
    if (levels[l].begin != levels[l].end)
      work.run(input, levels[l], l + 1 != levels.size() ? levels[l + 1] : NodeLevel{});
  if (!flat) return rebuild_instance_level(stream);
  FloatBox whole{};
  boxes.copy_to(std::span(&whole, 1), stream);
  device().synchronize(stream);
  if (view_.reach == 0) return;  // of a flat scene that was uploaded on its own
  for (int a = 0; a != 3; ++a)
    view_.reach = std::max({view_.reach, std::abs(whole.lower[a]), std::abs(whole.upper[a])});
}

}  // namespace raylift::inline v0_1
