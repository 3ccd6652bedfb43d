// SPDX-License-Identifier: Apache-2.0
// The walk of one ray through a tree, step by step: what the loops of a thread on its own, of a warp and of the host's
// vector instructions share.
//
// What a walk looks for is a Query, a struct with
//   float tmin; float farthest() const    the stretch of the ray that may still count
//   bool offer(bvh, seen, site)           a triangle is surely hit, within bounds of t. True: that does not do, and
//   void decide(bvh, world, site)         is to be called, as where float arithmetic leaves open whether it is hit
//   bool done() const                     nothing more is looked for
//   kSmall                                whether it is cheaply copied
// and, if it has that,
//   float around() const                  triangles as near as that to the ray's origin are decided too, although the
//                                         ray misses them, in terms of the direction's largest component
//   kFine                                 whether hits are those of the exact ray, of which the walk's is the rounded
//                                         one: see fine_edge_bound. around() is then at least what rounding does to it
//
// A Bvh is a BvhView or extends one: with node(), pair() and ids_of() of its own, by which walks read elements. Of
// a FineWalkRay the way into meshes goes by BvhView::frames.
#pragma once

#include <raylift/geometry/bvh/detail/ray_node.h>

namespace raylift::bvh_detail {

// ---- triangles ------------------------------------------------------------------------------------------------------

RAYLIFT_HD inline TrianglePair load_pair(const TrianglePair* pair) {
#if defined(__CUDA_ARCH__)
  TrianglePair result;
  const float4* source = reinterpret_cast<const float4*>(pair);
  const float4 a = __ldg(source), b = __ldg(source + 1), c = __ldg(source + 2);
  const float flat[12] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w};
#pragma unroll
  for (int k = 0; k < 12; ++k) result.vertex[k / 3][k % 3] = flat[k];
  return result;
#else
  return *pair;
#endif
}

RAYLIFT_HD inline Float3 vertex(const TrianglePair& pair, int k) {
  return {pair.vertex[k][0], pair.vertex[k][1], pair.vertex[k][2]};
}

// Which triangle: the first or the second one of a pair, and the InstanceNode over it, where there is one.
struct alignas(8) Site {
  std::uint32_t triangle;  // twice the pair's number, plus 1 for the second one
  std::uint32_t placed;    // in BvhView::nodes, or kNoInstance
};
inline constexpr std::uint32_t kNoInstance = 0xFFFFFFFFu;

RAYLIFT_HD inline const InstanceNode& instance_node(const BvhView& bvh, std::uint32_t placed) {
  return reinterpret_cast<const InstanceNode*>(bvh.nodes)[placed];
}
// The number in the scene of the instance that a site belongs to.
RAYLIFT_HD inline std::uint32_t instance_of(const BvhView& bvh, Site site) {
  return site.placed == kNoInstance ? 0 : instance_node(bvh, site.placed).instance;
}
// The triangle's number in the caller's mesh, times four, and how its corners are turned: see PairIds.
template <class Bvh>
RAYLIFT_HD inline std::uint32_t id_of(const Bvh& bvh, Site site) {
  return bvh.ids_of(site.triangle >> 1)->triangle[site.triangle & 1u];
}
RAYLIFT_HD inline std::uint32_t triangle_of(const BvhView& bvh, Site site) {
  return id_of(bvh, site) >> 2;
}

// The ray and the triangle at a site, in the frame of the triangle's mesh; by the addresses of its InstanceNode, which
// is read where there is one, and of its pair.
RAYLIFT_HD inline RayAndTriangle at_elements(const BvhNode* placed, const TrianglePair* address, Ray ray, Site site) {
  if (site.placed != kNoInstance) ray = in_mesh(*reinterpret_cast<const InstanceNode*>(placed), ray);
  const TrianglePair pair = load_pair(address);
  const bool second = (site.triangle & 1u) != 0;
  const Float3 p0 = vertex(pair, 0), p1 = vertex(pair, 1), p2 = vertex(pair, 2), p3 = vertex(pair, 3);
  return {ray.origin, ray.direction, second ? p2 : p0, p1, second ? p3 : p2};
}

RAYLIFT_HD inline RayAndTriangle at_site(const BvhNode* nodes, const TrianglePair* pairs, const Ray& ray, Site site) {
  return at_elements(site.placed == kNoInstance ? nullptr : nodes + site.placed, pairs + (site.triangle >> 1), ray,
                     site);
}

// Whether a ray in the world's frame meets the triangle at a site, and where.
RAYLIFT_SLOW_PATH inline Crossing cross(const BvhNode* nodes, const TrianglePair* pairs, Ray ray, Site site) {
  return cross(at_site(nodes, pairs, ray, site), false);
}

// Whether the box around a pair, in the ray's frame, comes that near to the ray's origin.
RAYLIFT_HD inline bool pair_near_origin(float distance, Sheared a, Sheared b, Sheared c, Sheared d) {
  const auto reaches = [distance](float p, float q, float r, float s) {
    return minimum(minimum(p, q), minimum(r, s)) <= distance && maximum(maximum(p, q), maximum(r, s)) >= -distance;
  };
  return reaches(a.z, b.z, c.z, d.z) && reaches(a.x, b.x, c.x, d.x) && reaches(a.y, b.y, c.y, d.y);
}

template <class Query>
RAYLIFT_HD inline float around_of(const Query& query) {
  if constexpr (requires { query.around(); })
    return query.around();
  else
    return 0;
}

// The edge functions of a pair's triangles, and its vertices' z.
struct PairEdges {
  Edges first, second;
  float z[4];
};

// Offers the triangles of a pair that are surely hit to the query. The result has a bit for each that must be decided.
// Usually one of the two is hit: the threads of a warp measure it in the same instructions, whichever it is.
template <class Query>
RAYLIFT_HD inline std::uint32_t offer_pair(const BvhView& bvh, std::uint32_t index, float inverse_z,
                                           const PairEdges& pair, float bound, float least_sure, std::uint32_t placed,
                                           Query& query, float reach = 0) {
  const Verdict first = judge(pair.first, least_sure), second = judge(pair.second, least_sure);
  std::uint32_t open = (first.missed || first.hit ? 0u : 1u) | (second.missed || second.hit ? 0u : 2u);
  for (std::uint32_t hit = (first.hit ? 1u : 0u) | (second.hit ? 2u : 0u); hit != 0; hit &= hit - 1) {
    const bool is_first = (hit & 1u) != 0;
    const Edges edges{is_first ? pair.first.u : pair.second.u, is_first ? pair.first.v : pair.second.v,
                      is_first ? pair.first.w : pair.second.w};
    const Impression seen = measure(inverse_z, is_first ? pair.z[0] : pair.z[2], pair.z[1],
                                    is_first ? pair.z[2] : pair.z[3], edges, bound, reach);
    if (query.offer(bvh, seen, Site{2 * index + (is_first ? 0u : 1u), placed})) open |= is_first ? 1u : 2u;
  }
  return open;
}

// The ray's shear and inverse_z() must be set. `at` is where the pair lies.
template <class SomeRay, class Query>
RAYLIFT_HD inline std::uint32_t intersect_pair_at(const BvhView& bvh, const TrianglePair* at, std::uint32_t index,
                                                  const SomeRay& ray, std::uint32_t placed, Query& query) {
  const TrianglePair pair = load_pair(at);
  const Sheared p0 = shear(ray, vertex(pair, 0)), p1 = shear(ray, vertex(pair, 1)), p2 = shear(ray, vertex(pair, 2)),
                p3 = shear(ray, vertex(pair, 3));
  const float shared = edge(p1, p2), inverse_z = ray.inverse_z();
  const float extent = extent_of(p0, p1, p2, p3);
  const float depth = depth_of(p0, p1, p2, p3);
  float bound = edge_bound(extent, depth), reach = 0;
  if constexpr (requires { requires Query::kFine; }) {
    const Float3 o = ray.origin;
    reach = maximum(maximum(fabsf(o.x), fabsf(o.y)), fabsf(o.z));
    bound = fine_edge_bound(extent, maximum(depth, reach));
  }
  float least_sure = bound;
  if constexpr (requires { query.around(); }) {
    // Few pairs reach back to the origin.
    const float first = minimum(minimum(p0.z, p1.z), minimum(p2.z, p3.z)) * fabsf(inverse_z);
    if (const float around = query.around(); first <= around && around > 0) {
      // Not only sure misses are left out, but misses by more than that.
      const float distance = around / fabsf(inverse_z);
      if (pair_near_origin(distance, p0, p1, p2, p3)) least_sure += 3 * distance * extent;
    }
  }
  const PairEdges edges{
      {shared, edge(p2, p0), edge(p0, p1)}, {edge(p1, p3), edge(p3, p2), -shared}, {p0.z, p1.z, p2.z, p3.z}};
  return offer_pair(bvh, index, inverse_z, edges, bound, least_sure, placed, query, reach);
}

template <class Bvh, class SomeRay, class Query>
RAYLIFT_HD inline std::uint32_t intersect_pair(const Bvh& bvh, std::uint32_t index, const SomeRay& ray,
                                               std::uint32_t placed, Query& query) {
  return intersect_pair_at(bvh, bvh.pair(index), index, ray, placed, query);
}

template <class World, class Query>
RAYLIFT_HD inline void decide_pair(const BvhView& bvh, std::uint32_t index, std::uint32_t open, const World& world,
                                   std::uint32_t placed, Query& query) {
  for (; open != 0; open &= open - 1) query.decide(bvh, world, Site{2 * index + ((open & 1u) ^ 1u), placed});
}

// The same as a call where there are calls, for queries that are small enough to be copied: so that on a GPU settling
// takes no registers from the walk.
template <class World, class Query>
RAYLIFT_SLOW_PATH inline void decide_by_call(BvhView bvh, std::uint32_t index, std::uint32_t open, World world,
                                             std::uint32_t placed, Query* query) {
  decide_pair(bvh, index, open, world, placed, *query);
}

// ---- the tree -------------------------------------------------------------------------------------------------------

// The most entries of a walk's stack: one level leaves at most one group of siblings.
template <bool kScene>
inline constexpr int kStackSize = kScene ? 2 * kBvhMaxDepth : kBvhMaxDepth;

// The best hit so far of a query for the nearest triangle, and the lower bound of its t. Rarely accessed, so it is kept
// in memory.
struct alignas(16) Candidate {
  Site site;
  float near;
};
class Cold {
 public:
  RAYLIFT_HD explicit Cold(Candidate* place) : place_(place) {}
  RAYLIFT_HD void set(Site site, float near) const { *place_ = {site, near}; }
  [[nodiscard]] RAYLIFT_HD Site site() const { return place_->site; }
  [[nodiscard]] RAYLIFT_HD float near() const { return place_->near; }

 private:
  Candidate* place_;
};

// The ray as it is prepared in the world's frame.
template <bool kScene>
struct SavedRay {};
template <>
struct SavedRay<true> {
  PreparedRay ray;
};

// A traversal stack, and the query's best hit, in local memory.
template <bool kScene>
class Stack {
 public:
  RAYLIFT_HD void push(int& depth, NodeGroup group) { groups_[depth++] = group; }
  [[nodiscard]] RAYLIFT_HD NodeGroup pop(int& depth) const { return groups_[--depth]; }
  RAYLIFT_HD Cold cold() { return Cold(&candidate_); }
  RAYLIFT_HD void save(const PreparedRay& ray) { saved_.ray = ray; }
  RAYLIFT_HD void restore(PreparedRay& ray) const { ray = saved_.ray; }

 private:
  SavedRay<kScene> saved_;
  NodeGroup groups_[kStackSize<kScene>];
  Candidate candidate_;
};

RAYLIFT_HD inline bool has_nan(Float3 v) {
  return v.x != v.x || v.y != v.y || v.z != v.z;
}
// Every comparison with such a ray fails: it would miss no box.
RAYLIFT_HD inline bool has_nan(const Ray& ray) {
  return has_nan(ray.origin) || has_nan(ray.direction) || ray.tmin != ray.tmin || ray.tmax != ray.tmax;
}

// A ray on its way. kScene: nodes[0] is over instances. The stack is apart, an array of the caller's: with an array in
// it the compiler would keep none of this in registers.
template <bool kScene>
struct Walk {
  PreparedRay ray;  // in the frame of the mesh, or in the world's
  NodeGroup nodes;
  PairHits hits;                       // of the last node
  int depth;                           // of the stack
  int mesh_depth = -1;                 // in a mesh: entries of the stack below it, which are the world's
  std::uint32_t placed = kNoInstance;  // that mesh's InstanceNode

  RAYLIFT_HD explicit Walk(const Ray& world, float around = 0)
      : ray(world, kScene ? RaySpace::world : RaySpace::mesh, around) {
    restart(world);
  }
  RAYLIFT_HD void restart(const Ray& world) {
    nodes = has_nan(world) ? NodeGroup{0, 0} : only_child(0);
    hits = {0, 0, 0};
    depth = 0;
    mesh_depth = -1;
    placed = kNoInstance;
  }
};

// What `around` adds to the slack of boxes; world() is the ray.
template <class World>
RAYLIFT_HD inline float slack_around(const World& world, float around) {
  return around != 0 ? PreparedRay::slack_around(world().direction, around) : 0;
}

// The ray on its way into an instance's mesh. world() is the ray.
template <bool kScene, class Bvh, class World>
RAYLIFT_HD inline void enter(const Bvh& bvh, const InstanceNode& placed, Walk<kScene>& walk, const World& world,
                             float tmin, float around) {
  const bool moves = only_moves(placed) && !walk.ray.is_along_a_plane();
  if constexpr (requires { world().rest; }) {
    const Transform& to_mesh = bvh.frames[placed.instance];
    if (moves) return walk.ray.move(fine_moved(to_mesh, world()), tmin, slack_around(world, around));
    const auto ray = world();
    const FineRayInMesh in = fine_in_mesh(to_mesh, ray);
    walk.ray = PreparedRay({LocalPoint(rounded(in.origin)), ray.tmin, rounded(in.direction), ray.tmax}, RaySpace::mesh,
                           around);
  } else if (moves) {
    walk.ray.move(moved(placed, walk.ray.origin), tmin, slack_around(world, around));
  } else {
    walk.ray = PreparedRay(in_mesh(placed, world()), RaySpace::mesh, around);
  }
}

// Goes on to the next node, nearer ones by octant first. False: there is none. world() is the ray. The caller has
// called stack.save() with it, as it is prepared in the world's frame.
template <bool kScene, class Bvh, class SomeStack, class World>
RAYLIFT_HD inline bool advance(const Bvh& bvh, Walk<kScene>& walk, SomeStack& stack, const World& world, float tmin,
                               float tmax, float around) {
  if (!any_child(walk.nodes)) {
    if (walk.depth == 0) return false;
    if constexpr (kScene) {
      if (walk.depth == walk.mesh_depth) {
        walk.mesh_depth = -1;
        stack.restore(walk.ray);
      }
    }
    walk.nodes = stack.pop(walk.depth);
  }
  const std::uint32_t child = next_child(walk.nodes, walk.ray.order());
  if (any_child(walk.nodes)) stack.push(walk.depth, walk.nodes);
  NodeWords node = load_node(bvh.node(child));
  if constexpr (kScene) {
    if (walk.mesh_depth < 0 && !node.is_node()) {
      const InstanceNode placed = node.instance();
      walk.placed = child;
      enter(bvh, placed, walk, world, tmin, around);
      node = load_node(bvh.node(placed.root));
      walk.mesh_depth = walk.depth;
    }
  }
  const NodeHits met = intersect_node(node, walk.ray, tmin, tmax);
  walk.hits = met.leaves;
  walk.nodes = met.children;
  return true;
}

// A whole walk, by one thread.
template <bool kScene, class World, class SomeStack, class Query>
RAYLIFT_HD inline void traverse(const BvhView& bvh, const World& ray, SomeStack& stack, Query& query) {
  if (bvh.node_count == 0) return;
  const auto world = [&ray]() -> const World& { return ray; };
  Walk<kScene> walk(ray, around_of(query));
  if constexpr (kScene) stack.save(walk.ray);
  while (advance(bvh, walk, stack, world, query.tmin, query.farthest(), around_of(query)))
    while (walk.hits.pairs != 0) {
      const std::uint32_t index = next_pair(walk.hits);
      if (const std::uint32_t open = intersect_pair(bvh, index, walk.ray, walk.placed, query); open != 0) {
        if constexpr (Query::kSmall) {
          Query copy = query;
          decide_by_call(bvh, index, open, ray, walk.placed, &copy);
          query = copy;
        } else {
          decide_pair(bvh, index, open, ray, walk.placed, query);
        }
      }
      if (query.done()) return;
    }
}

}  // namespace raylift::bvh_detail
