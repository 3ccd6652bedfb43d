// SPDX-License-Identifier: Apache-2.0
// The device builder's launch.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/gpu/view.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace raylift::cuda {

/// Where builders get their device memory; what it throws ends the build.
class ScratchMemory {
 public:
  virtual ~ScratchMemory() = default;
  /// For the time of the build, aligned to 256 bytes.
  virtual void* scratch(std::size_t bytes) = 0;
  /// Takes at once what the next calls of scratch() will ask for, as an allocation takes as long as a short kernel.
  /// False where there is not as much.
  virtual bool reserve(std::size_t bytes) = 0;
};

class BuildMemory : public ScratchMemory {
 public:
  /// Pinned host memory, one block for all of the build, into which its stream copies what the host looks at.
  virtual void* looked_at(std::size_t bytes) = 0;
  /// What the stream does until mark() is what wait() waits for.
  virtual void mark() = 0;
  virtual void wait() = 0;
  /// For the result.
  virtual bvh_detail::BvhNode* nodes(std::size_t count) = 0;
  virtual bvh_detail::TrianglePair* pairs(std::size_t count) = 0;
  virtual bvh_detail::PairIds* ids(std::size_t count) = 0;
};

/// Pairs and the binary nodes over them are numbered in 30 bits.
inline constexpr std::uint32_t kMaxDevicePairs = 1u << 29;

/// Device addresses.
struct BuildInput {
  const Float3* vertices;
  std::uint32_t vertex_count;
  const UInt3* triangles;
  std::uint32_t triangle_count;
  bool pair_triangles;
  std::uint32_t leaf_pairs;     ///< 1 or 2
  std::uint32_t most_pairs;     ///< at most kMaxDevicePairs
  std::uint32_t few_triangles;  ///< up to here, memory for as many pairs is taken before they are counted
};

enum class BuildOutcome {
  built,
  bad_input,  ///< a coordinate that is not finite or beyond 1e18, or an index out of range
  too_large,  ///< more than most_pairs
  too_deep,   ///< more than kBvhMaxDepth levels
};

/// What of an instance a child slot of the level over instances leads to.
struct InstancePiece {
  std::uint32_t root;  ///< of the instance's mesh's tree, or of a part of it, in the array of nodes
  std::uint32_t instance;
};

/// Device addresses.
struct InstanceLevelInput {
  bvh_detail::BvhNode* nodes;  ///< the room for the level, and behind it the trees of the meshes
  const InstanceView* instances;
  const InstancePiece* pieces;
  std::uint32_t count;  ///< of pieces; at least one
  float reach;          ///< the least that `reach` becomes
};

/// Builds the level over instances on the current device. Waits for the stream. `reach`: the largest coordinate of all
/// boxes. Throws Error(device).
BuildOutcome build_instance_level_on_device(const InstanceLevelInput& input, void* stream, ScratchMemory& memory,
                                            float& reach);

/// Builds on the current device; `level_ends` as Bvh has them. Waits for the stream twice. Throws Error(device).
BuildOutcome build_bvh_on_device(const BuildInput& input, void* stream, BuildMemory& memory,
                                 std::vector<std::uint32_t>& level_ends);

}  // namespace raylift::cuda
