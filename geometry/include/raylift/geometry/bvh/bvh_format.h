// SPDX-License-Identifier: Apache-2.0
// The bounding volume hierarchy bit by bit: one format, read by host and device alike.
//
// Eight-wide nodes of 80 bytes, after Ylitie, Karras, Laine, "Efficient Incoherent Ray Traversal on GPUs Through
// Compressed Wide BVHs" (HPG 2017). Leaves hold pairs of triangles that share an edge: four exact vertices, 48 bytes.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/geometry/vector_types.h>

namespace raylift::inline v0_1 {

/// The most levels of nodes that a builder makes, and so the most entries that a traversal has on its stack.
inline constexpr int kBvhMaxDepth = 32;
/// The most triangle pairs under one child slot of a node.
inline constexpr std::uint32_t kBvhMaxLeafPairs = 4;
/// Triangles are numbered in 30 bits.
inline constexpr std::uint32_t kBvhMaxTriangles = 1u << 30;
/// The largest coordinate: squares of lengths stay finite.
inline constexpr float kBvhFarthest = 1e18f;
/// No triangle: in Hit::triangle and for a pair that holds only one.
inline constexpr std::uint32_t kNoTriangle = 0xFFFFFFFFu;

/// Eight child slots, each empty, an inner node (or instance), or one to four triangle pairs. Planes lie on a grid of
/// 256 steps per axis over the node's own box, so the size of the world costs no precision.
///
///   plane on axis a   origin[a] + q * 2^(exponent[a] - 127), with q one byte of lower or upper. Lower is rounded down,
///                     upper up: a slot's box contains what is in it. An empty slot has lower 255, upper 0
///   inner             bit 4s: slot s is an inner node; they lie from first_child on in the order of their slots
///   pairs             bits 4s and up: as many ones as the leaf in slot s has pairs; they lie from first_pair on,
///                     likewise. A slot with neither is empty
///
/// Four bits a slot: so one word says of all slots what a ray hits, `inner` and `pairs` are its masks, and a bit's rank
/// in its mask is where to look. Slots are assigned so that visiting s in the order of s ^ k, k from the signs of the
/// ray's direction, is about front to back: slot bit 0, 1, 2 set says that the child lies towards +x, +y, +z.
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

/// In a scene's tree, what stands in a node's place for a mesh put into the world: a child slot of the level over
/// instances leads here, and from here rays go on in the mesh's frame at nodes[root]. Told from a BvhNode by its zero
/// where that has exponents, which are never zero.
struct alignas(16) InstanceNode {
  std::uint32_t root;      ///< of the mesh's tree or of a part of it, in the same array of nodes
  std::uint32_t instance;  ///< number in the scene
  std::uint32_t spare;
  std::uint32_t zero;
  Affine to_mesh;  ///< world -> mesh frame; t of a ray stays what it is
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

/// What traversal needs, not owned; host or device addresses. No nodes: nothing to hit. The root is nodes[0]; whether
/// it is a mesh's or that over a scene's instances is for the caller to know.
struct BvhView {
  const BvhNode* nodes;
  const TrianglePair* pairs;
  const PairIds* ids;
  std::uint32_t node_count;
  std::uint32_t pair_count;
  /// How many of the last elements lie in host memory that the device reads over its link. trace() takes the rays that
  /// need these in an order that suits the link; single queries do not look at them.
  std::uint32_t host_nodes;
  std::uint32_t host_pairs;
  std::uint32_t host_ids;

  [[nodiscard]] RAYLIFT_HD const BvhNode* node(std::uint32_t i) const { return nodes + i; }
  [[nodiscard]] RAYLIFT_HD const TrianglePair* pair(std::uint32_t i) const { return pairs + i; }
  [[nodiscard]] RAYLIFT_HD const PairIds* ids_of(std::uint32_t pair) const { return ids + pair; }
};
static_assert(std::is_trivially_copyable_v<BvhView> && std::is_standard_layout_v<BvhView>);

}  // namespace raylift::inline v0_1
