// SPDX-License-Identifier: Apache-2.0
// The device builder's launch.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace raylift::inline v0_1::cuda {

/// Where the builder gets its device memory; what it throws ends the build.
class BuildMemory {
 public:
  virtual ~BuildMemory() = default;
  /// For the time of the build.
  virtual void* scratch(std::size_t bytes) = 0;
  /// For the result.
  virtual BvhNode* nodes(std::size_t count) = 0;
  virtual TrianglePair* pairs(std::size_t count) = 0;
  virtual PairIds* ids(std::size_t count) = 0;
};

/// Pairs and the binary nodes over them are numbered in 30 bits.
inline constexpr std::uint32_t kMostDevicePairs = 1u << 29;

/// Device addresses.
struct BuildInput {
  const Float3* vertices;
  std::uint32_t vertex_count;
  const UInt3* triangles;
  std::uint32_t triangle_count;
  bool pair_triangles;
  std::uint32_t leaf_pairs;  ///< 1 or 2
  std::uint32_t most_pairs;  ///< at most kMostDevicePairs
};

enum class BuildOutcome {
  built,
  bad_input,  ///< a coordinate that is not finite or beyond 1e18, or an index out of range
  too_large,  ///< more than most_pairs
  too_deep,   ///< more than kBvhMaxDepth levels
};

/// Builds on the current device; `level_ends` as Bvh has them. Waits for the stream twice. Throws Error(device).
BuildOutcome build_bvh_on_device(const BuildInput& input, void* stream, BuildMemory& memory,
                                 std::vector<std::uint32_t>& level_ends);

}  // namespace raylift::inline v0_1::cuda
