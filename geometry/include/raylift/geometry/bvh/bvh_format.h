// SPDX-License-Identifier: Apache-2.0
// The bounding volume hierarchy bit by bit: one format, read by host and device alike.
//
// Eight-wide nodes of 80 bytes, after Ylitie, Karras, Laine, "Efficient Incoherent Ray Traversal on GPUs Through
// Compressed Wide BVHs" (HPG 2017). Leaves hold pairs of triangles that share an edge: four exact vertices, 48 bytes.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/geometry/vector_types.h>

namespace raylift {

/// The maximum number of levels of nodes in a tree, and so the maximum number of entries on a traversal's stack.
inline constexpr int kBvhMaxDepth = 32;
/// The maximum number of triangle pairs under one child slot of a node.
inline constexpr std::uint32_t kBvhMaxLeafPairs = 4;
/// Triangles are numbered in 30 bits.
inline constexpr std::uint32_t kBvhMaxTriangles = 1u << 30;
/// The largest coordinate: squares of lengths stay finite.
inline constexpr float kBvhFarthest = 1e18f;
/// No triangle: in Hit::triangle and for a pair that holds only one.
inline constexpr std::uint32_t kNoTriangle = 0xFFFFFFFFu;

namespace bvh_detail {

/// Eight child slots, each empty, an inner node (or instance), or one to four triangle pairs. Planes lie on a grid of
/// 256 steps per axis over the node's own box, so the size of the world costs no precision.
///
///   plane on axis a   origin[a] + q * 2^(exponent[a] - 127), with q one byte of lower or upper. Lower is rounded down,
///                     upper up: a slot's box contains what is in it. An empty slot has lower 255, upper 0
///   inner             bit 4s: slot s is an inner node; they lie from first_child on in the order of their slots
///   pairs             bits 4s and up: as many ones as the leaf in slot s has pairs; they lie from first_pair on,
///                     likewise. A slot with neither is empty
///
/// With four bits per slot, one word has the hits of a ray in all slots, `inner` and `pairs` mask it, and the rank of a
/// bit in its mask is the offset of the child or pair. Slots are assigned so that visiting s in the order of s ^ k, k
/// from the signs of the ray's direction, is about front to back: slot bit 0, 1, 2 set says that the child lies towards
/// +x, +y, +z.
struct alignas(16) BvhNode {
  float origin[3];
  std::uint8_t exponent[3];
  std::uint8_t spare;
  std::uint32_t first_child;
  std::uint32_t first_pair;
  std::uint32_t pairs;
  std::uint32_t inner;
  std::uint8_t lower[3][8];
  std::uint8_t upper[3][8];

  [[nodiscard]] RAYLIFT_HD constexpr bool is_inner(int slot) const { return (inner >> (4 * slot) & 1u) != 0; }
  /// Ones in the lowest bits, one for each pair of the leaf in a slot.
  [[nodiscard]] RAYLIFT_HD constexpr std::uint32_t pair_bits(int slot) const { return pairs >> (4 * slot) & 0xFu; }
  [[nodiscard]] RAYLIFT_HD constexpr bool is_empty(int slot) const { return !is_inner(slot) && pair_bits(slot) == 0; }
};
static_assert(sizeof(BvhNode) == 80 && std::is_trivially_copyable_v<BvhNode>);

/// An instance in a scene's tree, stored in place of a BvhNode: a child slot of the level over instances refers to it,
/// and rays continue from here in the mesh's frame at nodes[root]. It has a zero where a BvhNode has exponents, which
/// are never zero.
struct alignas(16) InstanceNode {
  std::uint32_t root;      ///< of the mesh's tree or of a part of it, in the same array of nodes
  std::uint32_t instance;  ///< number in the scene
  std::uint32_t spare;
  std::uint32_t zero;
  Affine to_mesh;  ///< world -> mesh frame; a ray's t does not change
  std::uint32_t unused[4];
};
static_assert(sizeof(InstanceNode) == sizeof(BvhNode) && std::is_trivially_copyable_v<InstanceNode>);

/// Triangles (v0, v1, v2) and (v2, v1, v3); for one triangle alone v3 equals v2. Coordinates are copies, bit for bit.
struct alignas(16) TrianglePair {
  float vertex[4][3];
};
static_assert(sizeof(TrianglePair) == 48);

/// Which triangles the pair holds: number << 2 | r, where the stored vertex k is the triangle's own vertex (k + r) % 3;
/// kNoTriangle for an absent second one. Apart from the vertices, as only a hit reads it.
struct alignas(8) PairIds {
  std::uint32_t triangle[2];
};
static_assert(sizeof(PairIds) == 8);

}  // namespace bvh_detail

/// The arrays that a traversal reads, not owned; host or device addresses. Without nodes every ray misses. The root is
/// nodes[0]; the tree does not record whether it is a mesh's or the one over a scene's instances.
struct BvhView {
  const bvh_detail::BvhNode* nodes;
  const bvh_detail::TrianglePair* pairs;
  const bvh_detail::PairIds* ids;
  std::uint32_t node_count;
  std::uint32_t pair_count;
  /// The number of last elements in host memory, which the device reads over its link. trace() orders the rays that
  /// need these elements so as to suit the link; single queries ignore these numbers.
  std::uint32_t host_nodes;
  std::uint32_t host_pairs;
  std::uint32_t host_ids;
  /// The instances' transforms by their numbers: world -> mesh frame, as InstanceNode::to_mesh, in double. Only
  /// boundaries are searched by them. Null: there are none.
  const Transform* frames = nullptr;

  [[nodiscard]] RAYLIFT_HD const bvh_detail::BvhNode* node(std::uint32_t i) const { return nodes + i; }
  [[nodiscard]] RAYLIFT_HD const bvh_detail::TrianglePair* pair(std::uint32_t i) const { return pairs + i; }
  [[nodiscard]] RAYLIFT_HD const bvh_detail::PairIds* ids_of(std::uint32_t pair) const { return ids + pair; }
};
static_assert(std::is_trivially_copyable_v<BvhView> && std::is_standard_layout_v<BvhView>);

}  // namespace raylift
