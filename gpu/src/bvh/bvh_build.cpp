// SPDX-License-Identifier: Apache-2.0
// Building on a device: memory for the kernels, and the host's builder where they are not for it.
#include "bvh/bvh_build.h"
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/pool.h>

#include <algorithm>
#include <limits>
#include <string>

#include "bvh_build_kernels.h"
#include "bvh_build_limit.h"
#include "device/run_on.h"
#ifdef RAYLIFT_WITH_CUDA
#include "device/cuda/check.h"
#include "pooled_scratch.h"
#endif

namespace raylift {
namespace {

template <class T, class Allocator>
DeviceBuffer<T> to_device(const Device& device, const std::vector<T, Allocator>& values, StreamRef stream) {
  DeviceBuffer<T> buffer(device, values.size());
  buffer.copy_from(std::span<const T>(values), stream);
  return buffer;
}

template <class T>
std::vector<T> to_host(const Device& device, const T* from, std::size_t count, StreamRef stream) {
  std::vector<T> values(count);
  if (count != 0) device.backend()->copy_to_host(values.data(), from, count * sizeof(T), stream.handle());
  return values;
}

/// With the host's builder, whatever the device. Its errors say which vertex or triangle is wrong.
DeviceBvh build_on_host(const Device& device, const Float3* vertices, std::size_t vertex_count, const UInt3* triangles,
                        std::size_t triangle_count, const Bvh::Options& options, StreamRef stream) {
  const std::vector<Float3> host_vertices = to_host(device, vertices, vertex_count, stream);
  const std::vector<UInt3> host_triangles = to_host(device, triangles, triangle_count, stream);
  device.synchronize(stream);
  Bvh bvh = build_bvh(host_vertices, host_triangles, options);
  DeviceBvh result;
  result.nodes = to_device(device, bvh.nodes, stream);
  result.pairs = to_device(device, bvh.pairs, stream);
  result.ids = to_device(device, bvh.ids, stream);
  result.level_ends = std::move(bvh.level_ends);
  device.synchronize(stream);
  return result;
}

#ifdef RAYLIFT_WITH_CUDA
class DeviceScratch : public cuda::BuildMemory {
 public:
  DeviceScratch(const Device& device, StreamRef stream, DeviceBvh& result)
      : device_(device), stream_(stream), scratch_(device, stream), result_(result) {}
  void* scratch(std::size_t bytes) override { return scratch_.scratch(bytes); }
  bool reserve(std::size_t bytes) override { return scratch_.reserve(bytes); }
  void* looked_at(std::size_t bytes) override {
    looked_at_ = device_.pinned_pool().allocate(bytes);
    return looked_at_.host().data();
  }
  void mark() override { looked_at_.used_by(stream_); }
  void wait() override { looked_at_.wait(); }
  bvh_detail::BvhNode* nodes(std::size_t count) override { return keep(result_.nodes, count); }
  bvh_detail::TrianglePair* pairs(std::size_t count) override { return keep(result_.pairs, count); }
  bvh_detail::PairIds* ids(std::size_t count) override { return keep(result_.ids, count); }

 private:
  template <class T>
  T* keep(DeviceBuffer<T>& buffer, std::size_t count) {
    buffer = DeviceBuffer<T>(device_, count);
    return buffer.device();
  }

  const Device& device_;
  StreamRef stream_;
  PinnedPool::Block looked_at_;
  detail::PooledScratch scratch_;
  DeviceBvh& result_;
};
#endif

}  // namespace

Bvh DeviceBvh::to_host(StreamRef stream) const {
  Bvh bvh;
  bvh.nodes.resize(nodes.size());
  bvh.pairs.resize(pairs.size());
  bvh.ids.resize(ids.size());
  nodes.copy_to(std::span(bvh.nodes), stream);
  pairs.copy_to(std::span(bvh.pairs), stream);
  ids.copy_to(std::span(bvh.ids), stream);
  if (detail::Backend* const backend = nodes.backend()) backend->synchronize(stream.handle());
  bvh.level_ends = level_ends;
  return bvh;
}

DeviceBvh detail::build_bvh_within([[maybe_unused]] const BuildLimits& limits, const Device& device,
                                   const Float3* vertices, std::size_t vertex_count, const UInt3* triangles,
                                   std::size_t triangle_count, const Bvh::Options& options, StreamRef stream) {
  if (options.leaf_pairs < 1 || options.leaf_pairs > kBvhMaxLeafPairs)
    throw Error(ErrorKind::usage, "leaf_pairs is not 1 to 4");
  if (triangle_count > kBvhMaxTriangles || vertex_count > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorKind::limit, std::to_string(triangle_count) + " triangles are more than a BVH numbers (2^30)", {},
                "Split the mesh.");
  detail::require_arrays(vertex_count, {vertices});
  detail::require_arrays(triangle_count, {triangles});
  if (triangle_count == 0) return {};
#ifdef RAYLIFT_WITH_CUDA
  if (!device.info().is_host && vertex_count != 0) {
    const cuda::CurrentDevice current(device.info().cuda_device);
    cuda::check(current.code(), "selecting " + device.info().id);
    DeviceBvh result;
    DeviceScratch memory(device, stream, result);
    const cuda::BuildInput input{vertices,
                                 static_cast<std::uint32_t>(vertex_count),
                                 triangles,
                                 static_cast<std::uint32_t>(triangle_count),
                                 options.pair_triangles,
                                 std::min(options.leaf_pairs, 2U),
                                 limits.most_pairs,
                                 limits.few_triangles};
    if (cuda::build_bvh_on_device(input, stream.handle(), memory, result.level_ends) == cuda::BuildOutcome::built) {
      device.synchronize(stream);
      return result;
    }
  }
#endif
  return build_on_host(device, vertices, vertex_count, triangles, triangle_count, options, stream);
}

DeviceBvh build_bvh(const Device& device, const Float3* vertices, std::size_t vertex_count, const UInt3* triangles,
                    std::size_t triangle_count, const Bvh::Options& options, StreamRef stream) {
  return detail::build_bvh_within({}, device, vertices, vertex_count, triangles, triangle_count, options, stream);
}

}  // namespace raylift
