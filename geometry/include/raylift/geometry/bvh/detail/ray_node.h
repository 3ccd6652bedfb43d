// SPDX-License-Identifier: Apache-2.0
// Which of a node's children a ray meets, and the order in which they are visited.
#pragma once

#include <raylift/geometry/bvh/detail/ray_box.h>

namespace raylift::bvh_detail {

// Siblings yet to visit, from `first` on. Four bits a slot: bit 4p is set for a slot p ^ order that is to be visited,
// the highest first; bit 4s + 1 for a slot s that is an inner node.
struct NodeGroup {
  std::uint32_t first;
  std::uint32_t bits;
};

RAYLIFT_HD inline bool any_child(NodeGroup nodes) {
  return (nodes.bits & 0x11111111u) != 0;
}

// The next one, taken out of the group, which has one: clang's analyzer does not see that groups on the stack do.
// `order` is that of the ray for which the group was made.
RAYLIFT_HD inline std::uint32_t next_child(NodeGroup& nodes, std::uint32_t order) {
  const int bit = highest_bit(nodes.bits & 0x11111111u);
  const std::uint32_t slot = static_cast<std::uint32_t>(bit) ^ order << 2;
  nodes.bits &= ~(1u << bit);  // NOLINT(clang-analyzer-core.UndefinedBinaryOperatorResult)
  return nodes.first + count_bits(nodes.bits & 0x22222222u & ((1u << slot) - 1u));
}

// The group whose only child is `first`, whatever the order: no slot below it is an inner node.
RAYLIFT_HD inline NodeGroup only_child(std::uint32_t first) {
  return {first, 0x10000000u};
}

// Moves the four bits of slot s to slot s ^ order.
RAYLIFT_HD inline std::uint32_t in_ray_order(std::uint32_t bits, std::uint32_t order) {
#if defined(__CUDA_ARCH__)
  // Byte b comes from b ^ (order >> 1): 0x3210 with each digit so changed.
  asm("prmt.b32 %0, %0, 0, %1;" : "+r"(bits) : "r"(0x3210u ^ (order >> 1) * 0x1111u));
#else
  if ((order & 4u) != 0) bits = bits << 16 | bits >> 16;
  if ((order & 2u) != 0) bits = (bits << 8 & 0xFF00FF00u) | (bits >> 8 & 0x00FF00FFu);
#endif
  return (order & 1u) != 0 ? (bits << 4 & 0xF0F0F0F0u) | (bits >> 4 & 0x0F0F0F0Fu) : bits;
}

// The same by the order that a ray has prepared.
RAYLIFT_HD inline std::uint32_t in_ray_order(std::uint32_t bits, const PreparedRay& ray) {
#if defined(__CUDA_ARCH__)
  asm("prmt.b32 %0, %0, 0, %1;" : "+r"(bits) : "r"(ray.bits));
  const std::uint32_t shift = ray.bits >> 27;
  return (bits >> shift & 0x0F0F0F0Fu) | (bits << shift & 0xF0F0F0F0u);
#else
  return in_ray_order(bits, ray.order());
#endif
}

// Pairs of a node that are to be tested.
struct PairHits {
  std::uint32_t pairs;  // what is hit of pair_mask
  std::uint32_t pair_mask, first_pair;
};

// The next pair that is hit, taken out.
RAYLIFT_HD inline std::uint32_t next_pair(PairHits& hits) {
  const int bit = highest_bit(hits.pairs);
  hits.pairs &= ~(1u << bit);
  return hits.first_pair + count_bits(hits.pair_mask & ((1u << bit) - 1u));
}

struct NodeHits {
  NodeGroup children;
  PairHits leaves;
};

RAYLIFT_HD inline NodeHits intersect_node(const NodeWords& node, const PreparedRay& ray, float tmin, float tmax) {
  const std::uint32_t first_child = node.word[4], first_pair = node.word[5], pairs = node.word[6], inner = node.word[7],
                      hits = met_slots(node, ray, tmin, tmax);
  return {{first_child, in_ray_order(hits & inner, ray) | inner << 1}, {hits & pairs, pairs, first_pair}};
}

// Whether a mesh is only moved: neither turned nor scaled. Zeros may have any sign.
RAYLIFT_HD inline bool only_moves(const InstanceNode& placed) {
  const float* m = placed.to_mesh.m;
  const std::uint32_t one = as_bits(1.0f),
                      diagonal = (as_bits(m[0]) ^ one) | (as_bits(m[5]) ^ one) | (as_bits(m[10]) ^ one),
                      others =
                          as_bits(m[1]) | as_bits(m[2]) | as_bits(m[4]) | as_bits(m[6]) | as_bits(m[8]) | as_bits(m[9]);
  return (diagonal | others << 1) == 0;
}

// An origin in the frame of a mesh that is only moved, as in_mesh() would make it in double, but for the sign of a
// zero: the sum of two floats is rounded to the same float whether or not it is rounded to double before (Figueroa,
// "When is Double Rounding Innocuous?", SIGNUM Newsletter 30(3), 1995).
RAYLIFT_HD inline Float3 moved(const InstanceNode& placed, Float3 origin) {
  const float* m = placed.to_mesh.m;
  return {origin.x + m[3], origin.y + m[7], origin.z + m[11]};
}

// The ray in a mesh's frame. Rounded the same way everywhere, unlike Affine::point: products of floats are exact in
// double, fused or not, and of each component only the last rounding, to float, is felt.
//
// With u = 2^-24 and a rotation: that, and the rounding of the matrix, put the origin off by 3u |origin| + 2u
// |translation| and the direction by 3u |direction|, |.| being Euclid's, so a point within reach of the mesh by 6u
// |origin| + 5u |reach|. The boxes of instances are larger by 2^-20 times the condition of the transform and the
// scene's largest coordinate; the share of |origin|, at most twice the largest component, is added by PreparedRay.
RAYLIFT_HD inline Ray in_mesh(const InstanceNode& placed, const Ray& ray) {
  if (only_moves(placed)) return {LocalPoint(moved(placed, ray.origin)), ray.tmin, ray.direction, ray.tmax};
  const auto d = [](float value) { return static_cast<double>(value); };
  const float* m = placed.to_mesh.m;
  const double ox = d(ray.origin.x), oy = d(ray.origin.y), oz = d(ray.origin.z);
  const double dx = d(ray.direction.x), dy = d(ray.direction.y), dz = d(ray.direction.z);
  float origin[3], direction[3];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int row = 0; row < 3; ++row, m += 4) {
    const double x = d(m[0]), y = d(m[1]), z = d(m[2]);
    origin[row] = static_cast<float>(x * ox + y * oy + z * oz + d(m[3]));
    direction[row] = static_cast<float>(x * dx + y * dy + z * dz);
  }
  return {LocalPoint(origin[0], origin[1], origin[2]), ray.tmin, {direction[0], direction[1], direction[2]}, ray.tmax};
}

// A ray whose origin is the sum of two floats, and which may go on behind a place that is known to 48 bits.
struct FineWalkRay : Ray {
  Float3 rest;     // of the origin
  float seen_low;  // places at tmin count whose t_low is more: -infinity for all
};

// The same to double, from the transform in double.
struct FineRayInMesh {
  Double3 origin, direction;
};
RAYLIFT_HD inline FineRayInMesh fine_in_mesh(const Transform& to_mesh, const FineWalkRay& ray) {
  const auto d = [](float value) { return static_cast<double>(value); };
  const double ox = d(ray.origin.x) + d(ray.rest.x), oy = d(ray.origin.y) + d(ray.rest.y),
               oz = d(ray.origin.z) + d(ray.rest.z);
  const double dx = d(ray.direction.x), dy = d(ray.direction.y), dz = d(ray.direction.z);
  FineRayInMesh in;
  const double* m = to_mesh.m;
  const auto row = [](const double* r, double x, double y, double z) {
    return product(r[0], x) + product(r[1], y) + product(r[2], z);
  };
  in.origin = {row(m, ox, oy, oz) + m[3], row(m + 4, ox, oy, oz) + m[7], row(m + 8, ox, oy, oz) + m[11]};
  in.direction = {row(m, dx, dy, dz), row(m + 4, dx, dy, dz), row(m + 8, dx, dy, dz)};
  return in;
}

// The origin in the frame of a mesh that is only moved.
RAYLIFT_HD inline Float3 fine_moved(const Transform& to_mesh, const FineWalkRay& ray) {
  const auto sum = [](float a, float b, double c) {
    return static_cast<float>(static_cast<double>(a) + static_cast<double>(b) + c);
  };
  return {sum(ray.origin.x, ray.rest.x, to_mesh.m[3]), sum(ray.origin.y, ray.rest.y, to_mesh.m[7]),
          sum(ray.origin.z, ray.rest.z, to_mesh.m[11])};
}

}  // namespace raylift::bvh_detail
