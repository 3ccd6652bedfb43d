// SPDX-License-Identifier: Apache-2.0
// The walk of one ray through a tree, step by step: what the loops of a thread on its own, of a warp and of the host's
// vector instructions share.
//
// What a walk looks for is a Query, a struct with
//   float tmin; float farthest() const    the stretch of the ray that may still count
//   bool offer(bvh, seen, site)           a triangle is surely hit, within bounds of t. True: that does not do, and
//   void settle(bvh, world, site)         is to be called, as where float arithmetic leaves open whether it is hit
//   bool done() const                     nothing more is looked for
//   kSmall                                whether it is cheaply copied
// and, if it has that,
//   float around() const                  triangles as near as that to the ray's origin are settled too, although the
//                                         ray misses them, in terms of the direction's largest component
//
// A Bvh is a BvhView or extends one: with node(), pair() and ids_of() of its own, by which walks read elements.
#pragma once

#include <raylift/geometry/bvh/detail/ray_node.h>

namespace raylift::inline v0_1::bvh_detail {

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
struct Site {
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

// The triangles of a pair that are surely hit are offered to the query. The result has a bit for each that is to be
// settled.
template <class Query>
RAYLIFT_HD inline std::uint32_t offer_pair(const BvhView& bvh, std::uint32_t index, const Impression& first,
                                           const Impression& second, std::uint32_t placed, Query& query) {
  std::uint32_t open = 0;
  if (first.hit ? query.offer(bvh, first, Site{2 * index, placed}) : !first.missed) open |= 1u;
  if (second.hit ? query.offer(bvh, second, Site{2 * index + 1, placed}) : !second.missed) open |= 2u;
  return open;
}

// Of the ray its shear and inverse_z() are wanted.
template <class Bvh, class SomeRay, class Query>
RAYLIFT_HD inline std::uint32_t intersect_pair(const Bvh& bvh, std::uint32_t index, const SomeRay& ray,
                                               std::uint32_t placed, Query& query) {
  const TrianglePair pair = load_pair(bvh.pair(index));
  const Sheared p0 = shear(ray, vertex(pair, 0)), p1 = shear(ray, vertex(pair, 1)), p2 = shear(ray, vertex(pair, 2)),
                p3 = shear(ray, vertex(pair, 3));
  const float shared = edge(p1, p2), inverse_z = ray.inverse_z();
  const float extent = extent_of(p0, p1, p2, p3);
  const float bound = edge_bound(extent, depth_of(p0, p1, p2, p3));
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
  return offer_pair(bvh, index, look_at(inverse_z, p0, p1, p2, shared, edge(p2, p0), edge(p0, p1), bound, least_sure),
                    look_at(inverse_z, p2, p1, p3, edge(p1, p3), edge(p3, p2), -shared, bound, least_sure), placed,
                    query);
}

template <class Query>
RAYLIFT_HD inline void settle_pair(const BvhView& bvh, std::uint32_t index, std::uint32_t open, const Ray& world,
                                   std::uint32_t placed, Query& query) {
  for (; open != 0; open &= open - 1) query.settle(bvh, world, Site{2 * index + ((open & 1u) ^ 1u), placed});
}

// The same as a call where there are calls, for queries that are small enough to be copied: so that on a GPU settling
// takes no registers from the walk.
template <class Query>
RAYLIFT_SLOW_PATH inline void settle_by_call(BvhView bvh, std::uint32_t index, std::uint32_t open, Ray world,
                                             std::uint32_t placed, Query* query) {
  settle_pair(bvh, index, open, world, placed, *query);
}

// ---- the tree -------------------------------------------------------------------------------------------------------

// The most entries of a walk's stack: one level leaves at most one group of siblings.
template <bool kScene>
inline constexpr int kStackSize = kScene ? 2 * kBvhMaxDepth : kBvhMaxDepth;

// A walk's stack, and behind it what a query seldom looks at. On a GPU an array that is indexed lies in memory, so this
// takes no registers.
template <bool kScene>
struct Stack {
  Group groups[kStackSize<kScene> + 2];
  RAYLIFT_HD Group* cold() { return groups + kStackSize<kScene>; }
};

RAYLIFT_HD inline bool has_nan(Float3 v) {
  return v.x != v.x || v.y != v.y || v.z != v.z;
}
// Of such a ray every comparison fails: it would miss no box.
RAYLIFT_HD inline bool has_nan(const Ray& ray) {
  return has_nan(ray.origin) || has_nan(ray.direction) || ray.tmin != ray.tmin || ray.tmax != ray.tmax;
}

// A ray on its way. kScene: nodes[0] is over instances. The stack is apart, an array of the caller's: with an array in
// it the compiler would keep none of this in registers.
template <bool kScene>
struct Walk {
  PreparedRay ray;  // in the frame of the mesh, or in the world's
  Group nodes;
  NodeHits hits;                       // pairs to be tested, of the last node
  int depth;                           // of the stack
  int mesh_depth = -1;                 // in a mesh: entries of the stack below it, which are the world's
  std::uint32_t placed = kNoInstance;  // that mesh's InstanceNode

  RAYLIFT_HD explicit Walk(const Ray& world, float around = 0)
      : ray(world, kScene ? Frame::world : Frame::mesh, around) {
    restart(world);
  }
  RAYLIFT_HD void restart(const Ray& world) {
    nodes = has_nan(world) ? Group{0, 0} : only_child(0);
    hits = {{0, 0}, 0, 0, 0};
    depth = 0;
    mesh_depth = -1;
    placed = kNoInstance;
  }
};

// Goes on to the next node, nearer ones by octant first. False: there is none. world() is the ray.
template <bool kScene, class Bvh, class World>
RAYLIFT_HD inline bool advance(const Bvh& bvh, Walk<kScene>& walk, Group* stack, const World& world, float tmin,
                               float tmax, float around) {
  if (!any_child(walk.nodes)) {
    if (walk.depth == 0) return false;
    if constexpr (kScene) {
      if (walk.depth == walk.mesh_depth) {
        walk.mesh_depth = -1;
        walk.ray = PreparedRay(world(), Frame::world, around);
      }
    }
    walk.nodes = stack[--walk.depth];
  }
  const std::uint32_t child = next_child(walk.nodes, walk.ray.order());
  if (any_child(walk.nodes)) stack[walk.depth++] = walk.nodes;
  NodeWords node = load_node(bvh.node(child));
  if constexpr (kScene) {
    if (walk.mesh_depth < 0 && !node.is_node()) {
      const InstanceNode placed = node.instance();
      walk.placed = child;
      walk.ray = PreparedRay(in_mesh(placed, world()), Frame::mesh, around);
      node = load_node(bvh.node(placed.root));
      walk.mesh_depth = walk.depth;
    }
  }
  walk.hits = intersect_node(node, walk.ray, tmin, tmax);
  walk.nodes = walk.hits.children;
  return true;
}

// A whole walk, by one thread.
template <bool kScene, class Query>
RAYLIFT_HD inline void traverse(const BvhView& bvh, const Ray& ray, Group* stack, Query& query) {
  if (bvh.node_count == 0) return;
  const auto world = [&ray]() -> const Ray& { return ray; };
  Walk<kScene> walk(ray, around_of(query));
  while (advance(bvh, walk, stack, world, query.tmin, query.farthest(), around_of(query)))
    while (walk.hits.pairs != 0) {
      const std::uint32_t index = next_pair(walk.hits);
      if (const std::uint32_t open = intersect_pair(bvh, index, walk.ray, walk.placed, query); open != 0) {
        if constexpr (Query::kSmall) {
          Query copy = query;
          settle_by_call(bvh, index, open, ray, walk.placed, &copy);
          query = copy;
        } else {
          settle_pair(bvh, index, open, ray, walk.placed, query);
        }
      }
      if (query.done()) return;
    }
}

// ---- queries --------------------------------------------------------------------------------------------------------

// Filters say which triangles count: bool accept(bvh, site), and, where kOfCrossings, bool accept(bvh, site, crossing).
struct Any {
  static constexpr bool kOfCrossings = false;
  RAYLIFT_HD bool accept(const BvhView&, Site) const { return true; }
};

struct OtherThan {
  static constexpr bool kOfCrossings = false;
  std::uint32_t triangle, instance;
  RAYLIFT_HD bool accept(const BvhView& bvh, Site site) const {
    return triangle == kNoTriangle || triangle_of(bvh, site) != triangle || instance_of(bvh, site) != instance;
  }
};

// A caller's accept(instance, triangle, from_inside, t).
template <class Accept>
struct AcceptedBy {
  static constexpr bool kOfCrossings = true;
  const Accept& accepts;
  RAYLIFT_HD bool accept(const BvhView& bvh, Site site, const Crossing& crossing) const {
    return accepts(instance_of(bvh, site), triangle_of(bvh, site), crossing.from_inside, crossing.t);
  }
};

// A caller's accept(instance, triangle).
template <class Accept>
struct AcceptedSites {
  static constexpr bool kOfCrossings = false;
  const Accept* accepts;  // not a reference: queries are copied
  RAYLIFT_HD bool accept(const BvhView& bvh, Site site) const {
    return (*accepts)(instance_of(bvh, site) & 0x7FFFFFFFu, triangle_of(bvh, site));
  }
};

template <class Filter>
RAYLIFT_HD inline bool accepts(const Filter& filter, const BvhView& bvh, Site site, const Crossing& crossing) {
  if constexpr (Filter::kOfCrossings)
    return filter.accept(bvh, site, crossing);
  else
    return filter.accept(bvh, site);
}

// Which of two crossings counts where both are at the same place: the one of the lowest pair, so that the order of
// visits is of no consequence; of instances of one mesh the lowest.
RAYLIFT_HD inline bool comes_first(const BvhView& bvh, Site a, Site b) {
  return a.triangle != b.triangle ? a.triangle < b.triangle : instance_of(bvh, a) < instance_of(bvh, b);
}

// The nearest triangle. Its t lies between near and far; far is a member as nodes are compared with it, and what is
// looked at only where a triangle is hit lies in `cold`, two elements: near and the site.
template <class Filter>
struct Nearest {
  static constexpr bool kSmall = !Filter::kOfCrossings;
  float tmin;
  float far;
  Group* cold;
  Filter filter;

  RAYLIFT_HD Nearest(const Ray& ray, Group* memory, const Filter& accepted)
      : tmin(ray.tmin), far(ray.tmax), cold(memory), filter(accepted) {
    set(ray.tmax, ray.tmax, {kNoTriangle, kNoInstance});
  }
  [[nodiscard]] RAYLIFT_HD float farthest() const { return far; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  // That of no triangle: nothing was hit.
  [[nodiscard]] RAYLIFT_HD Site site() const { return {cold[0].bits, cold[1].first}; }

  RAYLIFT_HD bool offer(const BvhView& bvh, const Impression& seen, Site site) {
    if constexpr (!Filter::kOfCrossings)
      if (seen.near > tmin && seen.far < as_float(cold[0].first)) {
        if (filter.accept(bvh, site)) set(seen.near, seen.far, site);
        return false;
      }
    return !(seen.far < tmin || seen.near > far);
  }

  RAYLIFT_HD void settle(const BvhView& bvh, const Ray& world, Site site) {
    const Crossing crossing = cross(bvh.nodes, bvh.pairs, world, site);
    if (!crossing.hit || crossing.t < tmin || !accepts(filter, bvh, site, crossing)) return;
    if (const Site best = this->site(); best.triangle == kNoTriangle) {
      if (!(crossing.t < far)) return;
    } else {
      const Crossing before = cross(bvh.nodes, bvh.pairs, world, best);
      if (!crossing.before(before) && !(crossing.same_place(before) && comes_first(bvh, site, best))) return;
    }
    const float ulp = fabsf(crossing.t) * 0x1p-23f;
    set(crossing.t - ulp, crossing.t + ulp, site);
  }

 private:
  RAYLIFT_HD void set(float near, float far_end, Site site) {
    far = far_end;
    cold[0] = {as_bits(near), site.triangle};
    cold[1] = {site.placed, 0};
  }
};

template <bool kScene, class Filter>
RAYLIFT_HD inline Site nearest(const BvhView& bvh, const Ray& ray, const Filter& filter) {
  Stack<kScene> stack;
  Nearest<Filter> query(ray, stack.cold(), filter);
  traverse<kScene>(bvh, ray, stack.groups, query);
  return query.site();
}

// How many triangles the ray meets. kFirst: one will do.
template <bool kFirst, class Filter>
struct HitCount {
  static constexpr bool kSmall = !Filter::kOfCrossings;
  float tmin, tmax;
  Filter filter;
  std::uint32_t count;

  [[nodiscard]] RAYLIFT_HD float farthest() const { return tmax; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return kFirst && count != 0; }
  RAYLIFT_HD bool offer(const BvhView& bvh, const Impression& seen, Site site) {
    if constexpr (!Filter::kOfCrossings)
      if (seen.near > tmin && seen.far < tmax) {
        if (filter.accept(bvh, site)) ++count;
        return false;
      }
    return !(seen.far < tmin || seen.near > tmax);
  }
  RAYLIFT_HD void settle(const BvhView& bvh, const Ray& world, Site site) {
    const Crossing crossing = cross(bvh.nodes, bvh.pairs, world, site);
    if (crossing.hit && crossing.t >= tmin && crossing.t < tmax && accepts(filter, bvh, site, crossing)) ++count;
  }
};

template <bool kScene, bool kFirst, class Filter>
RAYLIFT_HD inline std::uint32_t count_hits(const BvhView& bvh, const Ray& ray, const Filter& filter) {
  Stack<kScene> stack;
  HitCount<kFirst, Filter> query{ray.tmin, ray.tmax, filter, 0};
  traverse<kScene>(bvh, ray, stack.groups, query);
  return query.count;
}

template <bool kScene, class Filter>
RAYLIFT_HD inline bool hits_any(const BvhView& bvh, const Ray& ray, const Filter& filter) {
  return count_hits<kScene, true>(bvh, ray, filter) != 0;
}

// (b - a) x (c - a), rounded from double: exact to a float's precision in triangles of any shape.
RAYLIFT_HD inline Float3 normal_of(Float3 a, Float3 b, Float3 c) {
  const auto d = [](float x, float y) { return static_cast<double>(x) - static_cast<double>(y); };
  const double ex = d(b.x, a.x), ey = d(b.y, a.y), ez = d(b.z, a.z), fx = d(c.x, a.x), fy = d(c.y, a.y),
               fz = d(c.z, a.z);
  return {static_cast<float>(product(ey, fz) - product(ez, fy)), static_cast<float>(product(ez, fx) - product(ex, fz)),
          static_cast<float>(product(ex, fy) - product(ey, fx))};
}

// The hit at a site that a walk has found, in the terms of the triangle's own vertices and in its mesh's frame.
template <class Bvh>
RAYLIFT_HD inline Hit hit_of(const Bvh& bvh, const Ray& world, Site site) {
  Hit hit{world.tmax, kNoTriangle, 0, 0, {0, 0, 0}, 0, 0};
  if (site.triangle == kNoTriangle) return hit;
  const BvhNode* const placed = site.placed == kNoInstance ? nullptr : bvh.node(site.placed);
  const RayAndTriangle in = at_elements(placed, bvh.pair(site.triangle >> 1), world, site);
  const Crossing crossing = cross(in, true);
  hit.t = crossing.t;
  hit.normal = normal_of(in.a, in.b, in.c);
  // Stored vertex k is the triangle's (k + r) % 3, so its own vertex j is stored at (j + 3 - r) % 3.
  const std::uint32_t id = id_of(bvh, site), rotation = id & 3u;
  hit.triangle = id >> 2;
  const float first = 1.0f - crossing.u - crossing.v;
  hit.u = rotation == 0 ? crossing.u : rotation == 1 ? first : crossing.v;
  hit.v = rotation == 0 ? crossing.v : rotation == 1 ? crossing.u : first;
  hit.instance = instance_of(bvh, site) & 0x7FFFFFFFu;
  hit.from_inside = crossing.from_inside ? 1 : 0;
  return hit;
}

}  // namespace raylift::inline v0_1::bvh_detail
