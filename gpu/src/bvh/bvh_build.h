// SPDX-License-Identifier: Apache-2.0
// Builds the BVH of a mesh in device memory, on the device.
#pragma once

#include <raylift/geometry/bvh/bvh.h>
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/memory/buffer.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace raylift {

/// A Bvh in a device's memory. Move-only.
struct DeviceBvh {
  DeviceBuffer<bvh_detail::BvhNode> nodes;
  DeviceBuffer<bvh_detail::TrianglePair> pairs;
  DeviceBuffer<bvh_detail::PairIds> ids;
  std::vector<std::uint32_t> level_ends;  ///< as in Bvh

  /// For kernels, and for trace().
  [[nodiscard]] BvhView view() const {
    const auto node_count = static_cast<std::uint32_t>(nodes.size()),
               pair_count = static_cast<std::uint32_t>(pairs.size());
    return {nodes.device(), pairs.device(), ids.device(), node_count, pair_count, 0, 0, 0};
  }
  /// The same on the host. Waits for the stream.
  [[nodiscard]] Bvh to_host(StreamRef stream) const;
};

/// Builds the BVH of a mesh. `vertices` and `triangles` are device addresses, and no longer used on return. CUDA's
/// builder merges clusters along a Morton curve (H-PLOC; the kernels name the sources). It builds some billion
/// triangles per second, and the result is the same each time. Rays traverse its trees at 0.98 times the rate of the
/// host builder's. It pairs triangles up to four places apart, treats leaf_pairs above 2 as 2, and needs about 100
/// bytes of device memory per triangle during the build (200 for up to 2 million triangles, if available). The
/// host's builder is used instead on the host device, for more than 2^29 pairs of triangles, and if a tree would be
/// deeper than kBvhMaxDepth. Waits for the stream. Errors: as build_bvh; usage where an
/// array is a null pointer, out_of_device_memory, device.
[[nodiscard]] DeviceBvh build_bvh(const Device& device, const Float3* vertices, std::size_t vertex_count,
                                  const UInt3* triangles, std::size_t triangle_count, const Bvh::Options& options,
                                  StreamRef stream);

}  // namespace raylift
