// SPDX-License-Identifier: Apache-2.0
// The builder: pairs of triangles, and the wide tree over them.
#include <raylift/geometry/bvh/bvh.h>

#include "bvh_pairs.h"
#include "bvh_wide.h"
#include "large_vector.h"
#include "stage.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <cmath>
#include <new>

namespace raylift {
namespace {

using bvh::Primitive;

RawVector<Primitive> make_primitives(const RawVector<bvh_detail::PairIds>& pairs, std::span<const Float3> vertices,
                                     std::span<const UInt3> triangles) {
  RawVector<Primitive> primitives;
  resize_large(primitives, pairs.size());
  const auto ids = [&](std::size_t i) { return pairs[i]; };
  bvh::for_pairs(vertices, triangles, pairs.size(), ids,
                 [&](std::size_t i, bvh_detail::PairIds, const bvh_detail::TrianglePair& pair) {
                   bvh::Box box;
                   for (const auto& v : pair.vertex) {
                     const bvh::Lanes point = {v[0], v[1], v[2], 0};
                     box.add(point, point);
                   }
                   primitives[i] = {box.lower, box.upper};
                   primitives[i].set_number(static_cast<std::uint32_t>(i));
                 });
  return primitives;
}

// The products of a mesh's normals would underflow if it were smaller. One without any extent has none to begin with.
void check_size(const bvh_detail::BvhNode& root) {
  constexpr double kSmallest = 0x1p-50;
  double extent = 0;
  for (const std::uint8_t exponent : root.exponent) extent = std::max(extent, std::ldexp(255.0, exponent - 127));
  if (extent < kSmallest && extent > std::ldexp(255.0, -126))
    throw Error(ErrorKind::limit, "the mesh is smaller than 1e-15 of its units, too small for floats' products", {},
                "scale its vertices up, and its instances' transforms down");
}

}  // namespace

Bvh build_bvh(std::span<const Float3> vertices, std::span<const UInt3> triangles, const Bvh::Options& options,
              const Progress& progress) try {
  if (options.leaf_pairs < 1 || options.leaf_pairs > kBvhMaxLeafPairs)
    throw Error(ErrorKind::usage, "leaf_pairs is not 1 to 4");
  const RawVector<bvh_detail::PairIds> pairs =
      bvh::pair_triangles(vertices, triangles, options.pair_triangles, progress);
  if (pairs.empty()) return {};
  const Stage stage(progress, "build", pairs.size());
  RawVector<Primitive> primitives = make_primitives(pairs, vertices, triangles);
  bvh::WideTree tree = bvh::build_wide(primitives, options.leaf_pairs);
  check_size(tree.nodes[0]);
  Bvh result;
  result.nodes = std::move(tree.nodes);
  result.level_ends = std::move(tree.level_ends);
  resize_large(result.ids, pairs.size());
  resize_large(result.pairs, pairs.size());
  const auto in_order = [&](std::size_t i) { return pairs[tree.order[i]]; };
  bvh::for_pairs(vertices, triangles, pairs.size(), in_order,
                 [&](std::size_t i, bvh_detail::PairIds ids, const bvh_detail::TrianglePair& pair) {
                   result.ids[i] = ids;
                   result.pairs[i] = pair;
                 });
  stage.advance(pairs.size());
  return result;
} catch (const std::bad_alloc&) {
  throw Error(ErrorKind::out_of_host_memory, "no memory for building a BVH");
}

}  // namespace raylift
