// SPDX-License-Identifier: Apache-2.0
// The device's builder with other limits than its own, for tests: few machines hold a mesh that reaches them.
#pragma once

#include "bvh/bvh_build.h"

#include <cstdint>

#include "bvh_build_kernels.h"

namespace raylift::detail {

struct BuildLimits {
  /// The host's builder takes the device's place for more.
  std::uint32_t most_pairs = cuda::kMaxDevicePairs;
  /// Up to here the host doesn't wait for the number of pairs before they are made: there is memory for as many as
  /// triangles.
  std::uint32_t few_triangles = 1u << 21;
};

/// build_bvh() within limits.
[[nodiscard]] DeviceBvh build_bvh_within(const BuildLimits& limits, const Device& device, const Float3* vertices,
                                         std::size_t vertex_count, const UInt3* triangles, std::size_t triangle_count,
                                         const Bvh::Options& options, StreamRef stream);

}  // namespace raylift::detail
