// SPDX-License-Identifier: Apache-2.0
// What next_boundary is made of: membership in solids, the tolerance, and the walks that find the faces of a boundary.
// docs/boundaries.md has the rule.
#pragma once

#include <raylift/gpu/rays/query.h>

namespace raylift {

/// No solid: outside of all.
inline constexpr std::uint32_t kNoSolid = 0xFFFFFFFFu;

/// The set of solids that contain a point: a solid and its mothers, up to the top. Where solids overlap although they
/// should not, up to two exceptions make it any other set: a solid among the mothers that does not contain the point,
/// or one not among them that does.
struct Containment {
  std::uint32_t solid = kNoSolid;  ///< the innermost one: an index in GeometryView::solids
  std::uint32_t exceptions[2] = {kNoSolid, kNoSolid};

  /// Exactly a solid and its mothers.
  [[nodiscard]] RAYLIFT_HD bool consistent() const { return exceptions[0] == kNoSolid && exceptions[1] == kNoSolid; }
};

namespace bvh_detail {

// ---- membership -----------------------------------------------------------------------------------------------------

// Whether `solid` is `inner` or one of its mothers.
RAYLIFT_HD inline bool among_mothers(const SolidView* solids, std::uint32_t inner, std::uint32_t solid) {
  if (inner == kNoSolid || solid == kNoSolid) return false;
  const std::uint32_t depth = solids[solid].depth;
  while (inner != solid && inner != kNoSolid && solids[inner].depth > depth) inner = solids[inner].mother;
  return inner == solid;
}

RAYLIFT_HD inline bool contains(const SolidView* solids, const Containment& in, std::uint32_t solid) {
  return among_mothers(solids, in.solid, solid) != (in.exceptions[0] == solid || in.exceptions[1] == solid);
}

// The solid that the triangle at a site belongs to.
RAYLIFT_HD inline std::uint32_t solid_of(const GeometryView& geometry, Site site) {
  return geometry.solid_ids != nullptr ? geometry.solid_ids[triangle_of(geometry.bvh, site)]
                                       : instance_of(geometry.bvh, site);
}

// ---- tolerance ------------------------------------------------------------------------------------------------------

// Across a face: how far a point may be off from where it should be against the face, in terms of the scene's largest
// coordinate: eight units of u = 2^-24. The ray's way into a mesh's frame takes up to 11u (in_mesh, of which the
// direction's share does not count near the origin), the rounding of the point and of t up to 5u: at worst, all in the
// same direction, twice as much; kAtStart allows for more. The point's own coordinate would not do: a
// mesh's translation and its vertices are rounded too.
inline constexpr float kAcross = 0x1p-21f;
// Faces are at one place if they are not farther from each other than `across`. So a new point, at the first of them,
// may be off by that against the others too: a face is at the start if it is within so many `across`.
inline constexpr float kAtStart = 3;
// Where faces within `across` contradict each other, those within up to so many of it are tried too.
inline constexpr int kWidest = 4;
// How far back along the ray, in terms of `across`, faces are looked for: at lower angles than its inverse a face that
// was passed by rounding is not seen from the next point, but from one after it.
inline constexpr float kBack = 0x1p10f;
// And by how much farther with each wider tolerance.
inline constexpr float kBackGrowth = 8;
// Within that many `across` ahead, hits are looked at one by one.
inline constexpr float kNearStart = 32;
// Hits nearer to each other than that many `across`, along the ray, are looked at one by one; so are those of faces
// that are seen at a low angle.
inline constexpr float kCrowd = 32;

RAYLIFT_HD inline float largest_component(float3 v) {
  return maximum(maximum(fabsf(v.x), fabsf(v.y)), fabsf(v.z));
}

// In millimetres, for a ray from outside of the scene too.
RAYLIFT_HD inline float across_of(const GeometryView& geometry, const Ray& ray) {
  return maximum(geometry.reach, largest_component(ray.origin)) * kAcross;
}

// A crossing and what the boundary needs of its face.
struct Face {
  Crossing crossing;
  float3 normal;  // in the world, of unit length, outward
  float speed;    // how fast the ray gets through: |normal . direction|, millimetres across the face per t
};

RAYLIFT_HD inline Face face_at(const GeometryView& geometry, const Ray& world, Site site) {
  const RayAndTriangle in = at_site(geometry.bvh.nodes, geometry.bvh.pairs, world, site);
  Face face;
  face.crossing = cross(in, false);
  float3 n = normal_of(in.a, in.b, in.c);
  if (site.placed != kNoInstance) {
    const float* m = instance_node(geometry.bvh, site.placed).to_mesh.m;
    n = {product(m[0], n.x) + product(m[4], n.y) + product(m[8], n.z),
         product(m[1], n.x) + product(m[5], n.y) + product(m[9], n.z),
         product(m[2], n.x) + product(m[6], n.y) + product(m[10], n.z)};
  }
  // Scaled first, as squares of small triangles' normals would underflow.
  const float scale = 1.0f / largest_component(n);
  n = {product(n.x, scale), product(n.y, scale), product(n.z, scale)};
  const float inverse = 1.0f / sqrtf(product(n.x, n.x) + product(n.y, n.y) + product(n.z, n.z));
  face.normal = {product(n.x, inverse), product(n.y, inverse), product(n.z, inverse)};
  const float3 d = world.direction;
  face.speed = fabsf(product(face.normal.x, d.x) + product(face.normal.y, d.y) + product(face.normal.z, d.z));
  return face;
}

// ---- walks ----------------------------------------------------------------------------------------------------------

// Whether a triangle that the ray misses comes near to its origin.
RAYLIFT_HD inline bool near_origin(const GeometryView& geometry, const Ray& world, Site site, float across) {
  if (id_of(geometry.bvh, site) == kNoTriangle) return false;  // the absent second one of a pair
  const RayAndTriangle in = at_site(geometry.bvh.nodes, geometry.bvh.pairs, world, site);
  const float near = 2 * kAtStart * across * largest_component(in.direction);
  const auto reaches = [near](float a, float b, float c, float o) {
    return minimum(minimum(a, b), c) - o <= near && o - maximum(maximum(a, b), c) <= near;
  };
  if (!reaches(in.a.x, in.b.x, in.c.x, in.origin.x) || !reaches(in.a.y, in.b.y, in.c.y, in.origin.y) ||
      !reaches(in.a.z, in.b.z, in.c.z, in.origin.z))
    return false;
  // Boxes of large triangles hold much: its plane must be near too, and the inner sides of its edges.
  const float3 n = normal_of(in.a, in.b, in.c);
  const auto distance_by = [&](float3 normal, float3 from) {  // times the normal's length
    return product(normal.x, in.origin.x - from.x) + product(normal.y, in.origin.y - from.y) +
           product(normal.z, in.origin.z - from.z);
  };
  const auto scaled = [near](float3 normal) {
    return 2 * near * (fabsf(normal.x) + fabsf(normal.y) + fabsf(normal.z));
  };
  if (fabsf(distance_by(n, in.a)) > scaled(n)) return false;
  const auto inner = [&](float3 u, float3 v) {
    const float3 e = {v.x - u.x, v.y - u.y, v.z - u.z};
    const float3 inward = {product(n.y, e.z) - product(n.z, e.y), product(n.z, e.x) - product(n.x, e.z),
                           product(n.x, e.y) - product(n.y, e.x)};
    return distance_by(inward, u) >= -scaled(inward);
  };
  return inner(in.a, in.b) && inner(in.b, in.c) && inner(in.c, in.a);
}

// Whether rounding explains that a face lies ahead of the start: it is within so many millimetres across.
RAYLIFT_HD inline bool explained(const Face& face, float across) {
  return face.crossing.t <= 0 || face.crossing.t * face.speed <= across;
}

// Whether the start lies behind a face or at it. At a low angle a face that is near across may be far along the ray.
RAYLIFT_HD inline bool at_start(const Face& face, float across, float stretch) {
  return face.crossing.t <= 0 || (face.crossing.t * face.speed <= across && face.crossing.t <= 4 * stretch);
}

// Whether a crossing agrees with the set: an exit of a solid in it, or an entry of one that is not.
RAYLIFT_SLOW_PATH inline bool counts(const GeometryView& geometry, Containment in, Site site, bool from_inside) {
  return contains(geometry.solids, in, solid_of(geometry, site)) == from_inside;
}

// The nearest face that counts: the ray leaves a solid of the set, or enters one that is not in it.
struct NearestFaces {
  const GeometryView* geometry;
  Containment in;
  float tmin, tmax;
  bool from_start;  // false: only what lies behind tmin
  float across;     // at the start, in millimetres
  float stretch;    // the same along the ray, as t
  float margin;     // beyond the best: how far faces still matter
  Site best;
  float best_near, best_far;
  float other;        // the t of the nearest of all other faces, but for those near the start
  bool start_counts;  // a face behind the start may change the set: see StartFaces
  bool start_passed;  // the ray passes a triangle that comes near to the start

  RAYLIFT_HD NearestFaces(const GeometryView& of, const Ray& ray, const Containment& set, bool start)
      : geometry(&of), in(set), tmin(ray.tmin), tmax(ray.tmax), from_start(start) {
    across = across_of(of, ray);
    stretch = across / largest_component(ray.direction);
    margin = kCrowd * stretch;
    best = {kNoTriangle, kNoInstance};
    best_near = best_far = tmax;
    other = 0x1.fffffep127f;
    start_counts = start_passed = false;
  }
  [[nodiscard]] RAYLIFT_HD float near_start() const { return kNearStart * stretch; }
};

// The walk that finds them. kTrusting: away from the start every face is taken to count, as it does where scene and set
// are right. This saves reading each candidate's solid; whether the one that was found counts is to be asked at the
// end.
template <bool kTrusting>
struct NearestCounting : NearestFaces {
  static constexpr bool kSmall = true;
  using NearestFaces::NearestFaces;

  [[nodiscard]] RAYLIFT_HD float farthest() const { return best_far + margin; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  [[nodiscard]] RAYLIFT_HD float around() const { return from_start ? 2 * kAtStart * stretch : 0; }
  RAYLIFT_HD void see_other(float near) {
    if (near > near_start() && near < other) other = near;
  }
  RAYLIFT_HD void set(float near, float far, Site site) {
    if (best.triangle != kNoTriangle) see_other(best_near);
    best_near = near;
    best_far = far;
    best = site;
  }

  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site site) {
    if (seen.far < tmin || seen.near > farthest()) return false;
    const bool ahead = seen.near > (from_start ? near_start() : tmin);
    // Behind the best it does not matter whether a face counts.
    if (seen.near > best_far || (!(kTrusting && ahead) && !counts(*geometry, in, site, seen.from_inside))) {
      see_other(seen.near);
      return false;
    }
    if (ahead && seen.far < best_near) {
      set(seen.near, seen.far, site);
      return false;
    }
    return true;
  }

  RAYLIFT_HD void settle(const BvhView& bvh, const Ray& world, Site site) {
    const Face face = face_at(*geometry, world, site);
    const Crossing& crossing = face.crossing;
    if (!crossing.hit) {
      start_passed = start_passed || (from_start && near_origin(*geometry, world, site, stretch));
      return;
    }
    if (crossing.t < tmin) return;
    if (!counts(*geometry, in, site, crossing.from_inside)) return see_other(crossing.t);
    if (from_start && at_start(face, across, stretch)) {
      start_counts = true;
      return;
    }
    if (crossing.t >= tmax) return;
    if (best.triangle != kNoTriangle) {
      const Crossing before = cross(bvh.nodes, bvh.pairs, world, best);
      if (!crossing.before(before) && !(crossing.same_place(before) && comes_first(bvh, site, best)))
        return see_other(crossing.t);
    }
    const float ulp = fabsf(crossing.t) * 0x1p-23f;
    set(crossing.t - ulp, crossing.t + ulp, site);
  }
};

// Solids and the last of their faces in a stretch of the ray: behind it the ray is in a solid if it entered it there.
struct LastFaces {
  static constexpr int kMost = 16;
  struct Last {
    std::uint32_t solid;
    Site site;
    Crossing crossing;
    bool inside;  // behind it
    bool open;    // faces contradict each other at one place: as it was
  };

  float apart;  // faces nearer than that along the ray are at one place: an edge that the ray goes through
  int count = 0;
  bool overflow = false;
  Last faces[kMost];

  RAYLIFT_HD explicit LastFaces(float at_one_place) : apart(at_one_place) {}
  // The solid's entry; a new one if there is none. Null: there is no room.
  RAYLIFT_HD Last* find(std::uint32_t solid) {
    for (int i = 0; i < count; ++i)
      if (faces[i].solid == solid) return &faces[i];
    if (count == kMost) {
      overflow = true;
      return nullptr;
    }
    faces[count] = {kNoSolid, {kNoTriangle, kNoInstance}, {}, false, false};
    return &faces[count++];
  }
  RAYLIFT_HD void add(std::uint32_t solid, Site site, const Crossing& crossing) {
    Last* const last = find(solid);
    if (last == nullptr) return;
    bool open = false;
    if (last->solid != kNoSolid) {
      const float later = (crossing.t - last->crossing.t) + (crossing.t_low - last->crossing.t_low);
      open = fabsf(later) <= apart && (last->open || crossing.from_inside != last->crossing.from_inside);
      if (later <= 0) {
        last->open = last->open || open;
        return;
      }
    }
    *last = {solid, site, crossing, !crossing.from_inside, open};
  }
  // Says of a solid whether the ray is in it, whatever its faces are.
  RAYLIFT_HD void set(std::uint32_t solid, bool inside) {
    Last* const last = find(solid);
    if (last == nullptr) return;
    last->solid = solid;
    last->inside = inside;
    last->open = false;
  }
};

// The faces at one place: those that the place of the first one lies on.
struct PlaceFaces {
  static constexpr bool kSmall = false;
  const GeometryView& geometry;
  float tmin, end;
  Crossing first;
  float first_speed;
  float across;
  bool along;  // what lies within `across` of one of the two faces will do: at a low angle that is far along the ray
  float last_t;
  LastFaces last;

  RAYLIFT_HD PlaceFaces(const GeometryView& of, const Face& face, float tolerance, float apart, bool far_along)
      : geometry(of),
        tmin(face.crossing.t),
        end(face.crossing.t),
        first(face.crossing),
        first_speed(face.speed),
        across(tolerance),
        along(far_along),
        last_t(face.crossing.t),
        last(apart) {}
  [[nodiscard]] RAYLIFT_HD float farthest() const { return end; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  [[nodiscard]] RAYLIFT_HD static float around() { return 0; }
  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site) { return !(seen.far < tmin || seen.near > end); }
  RAYLIFT_HD void settle(const BvhView&, const Ray& world, Site site) {
    const Face face = face_at(geometry, world, site);
    const Crossing& crossing = face.crossing;
    if (!crossing.hit || crossing.t < tmin || crossing.t > end || crossing.before(first)) return;
    const float apart = (crossing.t - first.t) + (crossing.t_low - first.t_low);
    const float speed = along ? minimum(face.speed, first_speed) : maximum(face.speed, first_speed);
    if (apart * speed > across) return;
    if (crossing.t > last_t) last_t = crossing.t;
    last.add(solid_of(geometry, site), site, crossing);
  }
};

// The faces at the start, and the solids that the ray passes by there.
struct StartFaces {
  static constexpr bool kSmall = false;
  static constexpr int kMostPassed = 8;
  const GeometryView& geometry;
  float tmin, end;
  float across, stretch;
  LastFaces here, here_and_ahead;
  bool overflow = false;
  int passed_count = 0;
  std::uint32_t passed[kMostPassed];

  RAYLIFT_HD StartFaces(const GeometryView& of, const Ray& ray, float tolerance)
      : geometry(of),
        tmin(ray.tmin),
        end(ray.tmax),
        across(tolerance),
        stretch(tolerance / largest_component(ray.direction)),
        here(stretch),
        here_and_ahead(stretch) {}
  [[nodiscard]] RAYLIFT_HD float farthest() const { return end; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  [[nodiscard]] RAYLIFT_HD float around() const { return 2 * kAtStart * stretch; }
  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site) { return !(seen.far < tmin || seen.near > end); }
  RAYLIFT_HD void settle(const BvhView&, const Ray& world, Site site) {
    const Face face = face_at(geometry, world, site);
    if (!face.crossing.hit) {
      if (near_origin(geometry, world, site, stretch)) pass(solid_of(geometry, site));
    } else if (face.crossing.t >= tmin && face.crossing.t <= end && explained(face, kAtStart * across)) {
      const std::uint32_t solid = solid_of(geometry, site);
      here_and_ahead.add(solid, site, face.crossing);
      if (at_start(face, across, stretch)) here.add(solid, site, face.crossing);
    }
  }
  RAYLIFT_HD void pass(std::uint32_t solid) {
    for (int i = 0; i < passed_count; ++i)
      if (passed[i] == solid) return;
    if (passed_count == kMostPassed)
      overflow = true;
    else
      passed[passed_count++] = solid;
  }
};

// The first face of one solid ahead.
struct FirstOfSolid {
  static constexpr bool kSmall = false;
  const GeometryView& geometry;
  std::uint32_t solid;
  float tmin, far;
  bool found = false;
  Face first{};

  [[nodiscard]] RAYLIFT_HD float farthest() const { return far; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  [[nodiscard]] RAYLIFT_HD static float around() { return 0; }
  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site site) {
    return !(seen.far < tmin || seen.near > far) && solid_of(geometry, site) == solid;
  }
  RAYLIFT_HD void settle(const BvhView& bvh, const Ray& world, Site site) {
    if (id_of(bvh, site) == kNoTriangle || solid_of(geometry, site) != solid) return;
    const Face face = face_at(geometry, world, site);
    const float t = face.crossing.t;
    if (!face.crossing.hit || t <= 0 || t < tmin || (found && !face.crossing.before(first.crossing))) return;
    found = true;
    first = face;
    far = face.crossing.t;
  }
};

// The solids whose faces contradict the set, but for faces near to either end of the stretch.
struct Contradictions {
  static constexpr bool kSmall = false;
  static constexpr int kMost = 8;
  const GeometryView& geometry;
  Containment in;
  float tmin, end;
  float across;
  int count = 0;
  bool overflow = false;
  std::uint32_t solids[kMost] = {};

  [[nodiscard]] RAYLIFT_HD float farthest() const { return end; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return overflow; }
  [[nodiscard]] RAYLIFT_HD static float around() { return 0; }
  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site) { return !(seen.far < tmin || seen.near > end); }
  RAYLIFT_HD void settle(const BvhView&, const Ray& world, Site site) {
    const Face face = face_at(geometry, world, site);
    const float t = face.crossing.t;
    if (!face.crossing.hit || t < tmin || t >= end) return;
    const std::uint32_t solid = solid_of(geometry, site);
    if (contains(geometry.solids, in, solid) == face.crossing.from_inside) return;
    if (t * face.speed <= (kAtStart + 1) * across || (end - t) * face.speed <= across) return;
    for (int i = 0; i < count; ++i)
      if (solids[i] == solid) return;
    if (count == kMost)
      overflow = true;
    else
      solids[count++] = solid;
  }
};

template <class Query>
RAYLIFT_HD inline void walk(const GeometryView& geometry, const Ray& ray, Query& query) {
  Group stack[kStackSize<true>];
  if (geometry.bvh_levels == 2)
    traverse<true>(geometry.bvh, ray, stack, query);
  else
    traverse<false>(geometry.bvh, ray, stack, query);
}

// ---- the set behind a boundary --------------------------------------------------------------------------------------

// Whether the set behind the faces contains a solid, if `before` does before them.
RAYLIFT_HD inline bool contained_behind(const LastFaces& behind, std::uint32_t solid, bool before) {
  for (int i = 0; i < behind.count; ++i)
    if (behind.faces[i].solid == solid) return behind.faces[i].open ? before : behind.faces[i].inside;
  return before;
}

// The set behind the faces as a Containment. Of several innermost solids, as deep as each other, the one with the
// highest number counts. overflow: more exceptions than it holds; the first ones are kept.
RAYLIFT_SLOW_PATH inline Containment set_behind(const SolidView* solids, Containment in, const LastFaces& behind,
                                                bool& overflow) {
  const auto is_in = [&](std::uint32_t solid) { return contained_behind(behind, solid, contains(solids, in, solid)); };
  Containment after;
  after.solid = in.solid;
  while (after.solid != kNoSolid && !is_in(after.solid)) after.solid = solids[after.solid].mother;
  const auto deeper = [&](std::uint32_t solid) {
    if (solid == kNoSolid || !is_in(solid)) return;
    if (after.solid == kNoSolid || solids[solid].depth > solids[after.solid].depth ||
        (solids[solid].depth == solids[after.solid].depth && solid > after.solid))
      after.solid = solid;
  };
  for (int i = 0; i < behind.count; ++i) deeper(behind.faces[i].solid);
  for (const std::uint32_t solid : in.exceptions) deeper(solid);
  // What differs from the chain of the innermost solid lies among the solids crossed, the exceptions, and the two
  // chains.
  int exceptions = 0;
  const auto look_at_solid = [&](std::uint32_t solid) {
    if (solid == kNoSolid || is_in(solid) == among_mothers(solids, after.solid, solid)) return;
    if (after.exceptions[0] == solid || after.exceptions[1] == solid) return;
    if (exceptions < 2)
      after.exceptions[exceptions++] = solid;
    else
      overflow = true;
  };
  for (int i = 0; i < behind.count; ++i) look_at_solid(behind.faces[i].solid);
  for (const std::uint32_t solid : in.exceptions) look_at_solid(solid);
  std::uint32_t a = in.solid, b = after.solid;
  while (a != b) {  // up to where the chains meet
    const bool up_a = b == kNoSolid || (a != kNoSolid && solids[a].depth >= solids[b].depth);
    std::uint32_t& inner = up_a ? a : b;
    look_at_solid(inner);
    inner = solids[inner].mother;
  }
  return after;
}

}  // namespace bvh_detail
}  // namespace raylift
