// SPDX-License-Identifier: Apache-2.0
// The device's builder with another limit than its own, for tests: few machines hold a mesh that reaches it.
#pragma once

#include <raylift/gpu/bvh/bvh_build.h>

#include <cstdint>

namespace raylift::inline v0_1::detail {

/// build_bvh(); the host's builder takes the device's place for more than `most_pairs` triangle pairs.
[[nodiscard]] DeviceBvh build_bvh_up_to(std::uint32_t most_pairs, const Device& device, const Float3* vertices,
                                        std::size_t vertex_count, const UInt3* triangles, std::size_t triangle_count,
                                        const BvhOptions& options, StreamRef stream);

}  // namespace raylift::inline v0_1::detail
