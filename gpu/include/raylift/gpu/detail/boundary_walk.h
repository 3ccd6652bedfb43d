// SPDX-License-Identifier: Apache-2.0
// What next_boundary is made of: membership in solids, the tolerance, and the walks that find the faces of a boundary.
// docs/boundaries.md has the rule.
#pragma once

#include <raylift/gpu/query.h>

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

// Across a face, in millimetres: a bound on how far a point may be off from where it should be against the face, for
// points with coordinates up to `reach`. In units of u = 2^-24 of the reach: up to 19 for the ray's way into a mesh's
// frame (in_mesh, of which the direction's share does not count near the origin), 5 for the rounding of the point and
// of t, and the face's own rounding; errors that add up like that are not met in practice.
inline constexpr float kAcross = 0x1p-19f;
// How far back along the ray, in terms of `across`, faces are looked for: at lower angles than its inverse a face that
// was passed by rounding is not seen from the next point, but from the one after it.
inline constexpr float kBack = 0x1p12f;
// Within that many `across`, along the ray, hits are looked at one by one.
inline constexpr float kNearStart = 256;
// Hits nearer to each other than that many `across`, along the ray, are looked at one by one; so are those of faces
// that are seen at a low angle.
inline constexpr float kCrowd = 32;

RAYLIFT_HD inline float largest_component(float3 v) {
  return maximum(maximum(fabsf(v.x), fabsf(v.y)), fabsf(v.z));
}

// In millimetres, for points of the ray up to t.
RAYLIFT_HD inline float across_at(const Ray& ray, float t) {
  return (largest_component(ray.origin) + fabsf(t) * largest_component(ray.direction)) * kAcross;
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

// The nearest face that counts: the ray leaves a solid of the set, or enters one that is not in it. Of all other faces
// the t of the nearest one that is not near the start.
struct NearestCounting {
  const GeometryView& geometry;
  Containment in;
  float tmin, tmax;
  float across;  // at the start
  float margin;  // beyond the best: how far faces still matter
  float best_near, best_far;
  float other;
  Site best;

  RAYLIFT_HD NearestCounting(const GeometryView& of, const Ray& ray, const Containment& set)
      : geometry(of),
        in(set),
        tmin(ray.tmin),
        tmax(ray.tmax),
        best_near(ray.tmax),
        best_far(ray.tmax),
        best{kNoTriangle, kNoInstance} {
    across = across_at(ray, 0) / largest_component(ray.direction);
    margin = 0;
    other = 0x1.fffffep127f;
  }
  [[nodiscard]] RAYLIFT_HD float farthest() const { return best_far + margin; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  [[nodiscard]] RAYLIFT_HD bool counts(Site site, bool from_inside) const {
    return contains(geometry.solids, in, solid_of(geometry, site)) == from_inside;
  }
  RAYLIFT_HD void see_other(float near) {
    if (near > kNearStart * across && near < other) other = near;
  }
  RAYLIFT_HD void set(float near, float far, Site site) {
    if (best.triangle != kNoTriangle) see_other(best_near);
    best_near = near;
    best_far = far;
    best = site;
    margin = kCrowd * (across + fabsf(far) * kAcross);
  }

  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site site) {
    if (seen.far < tmin || seen.near > farthest()) return false;
    if (!counts(site, seen.from_inside)) {
      see_other(seen.near);
      return false;
    }
    if (seen.near > 0 && seen.near > tmin && seen.far < best_near) {
      set(seen.near, seen.far, site);
      return false;
    }
    if (seen.near > best_far) {
      see_other(seen.near);
      return false;
    }
    return true;
  }

  RAYLIFT_HD void settle(const BvhView& bvh, const Ray& world, Site site) {
    const Face face = face_at(geometry, world, site);
    const Crossing& crossing = face.crossing;
    if (!crossing.hit || crossing.t < tmin || crossing.t >= tmax) return;
    if (!counts(site, crossing.from_inside)) return see_other(crossing.t);
    // Behind the start: only where rounding may have moved the start across the face.
    if (crossing.t < 0 && -crossing.t * face.speed > across_at(world, 0)) return;
    if (best.triangle != kNoTriangle) {
      const Crossing before = cross(bvh.nodes, bvh.pairs, world, best);
      if (!crossing.before(before) && !(crossing.same_place(before) && comes_first(bvh, site, best)))
        return see_other(crossing.t);
    }
    const float ulp = fabsf(crossing.t) * 0x1p-23f;
    set(crossing.t - ulp, crossing.t + ulp, site);
  }
};

// Of every solid with a face in a stretch of the ray, the last of these: behind it the ray is in the solid if it
// entered it there.
struct LastFaces {
  static constexpr int kMost = 12;
  struct Last {
    std::uint32_t solid;
    Site site;
    Crossing crossing;
    bool tied;  // left and entered at the same place: as it was
  };

  const GeometryView& geometry;
  float tmin, end;
  Crossing from;
  float from_speed;
  float across;
  int count = 0;
  bool overflow = false;
  float last_t;
  Last faces[kMost];

  RAYLIFT_HD LastFaces(const GeometryView& of, const Crossing& first, float speed, float tolerance)
      : geometry(of), tmin(first.t), end(first.t), from(first), from_speed(speed), across(tolerance), last_t(first.t) {}
  [[nodiscard]] RAYLIFT_HD float farthest() const { return end; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site) { return !(seen.far < tmin || seen.near > end); }
  RAYLIFT_HD void settle(const BvhView&, const Ray& world, Site site) {
    const Face face = face_at(geometry, world, site);
    const Crossing& crossing = face.crossing;
    if (!crossing.hit || crossing.t < tmin || crossing.t > end || crossing.before(from)) return;
    // Faces count that the first one's place lies on, or that lie between it and the start.
    const float apart = (crossing.t - from.t) + (crossing.t_low - from.t_low);
    if (crossing.t > 0 && apart * maximum(face.speed, from_speed) > 2 * across) return;
    if (crossing.t > last_t) last_t = crossing.t;
    add(solid_of(geometry, site), site, crossing);
  }
  RAYLIFT_HD void add(std::uint32_t solid, Site site, const Crossing& crossing) {
    int i = 0;
    while (i < count && faces[i].solid != solid) ++i;
    if (i == kMost) {
      overflow = true;
      return;
    }
    if (i == count) {
      ++count;
    } else if (crossing.same_place(faces[i].crossing)) {
      faces[i].tied = faces[i].tied || crossing.from_inside != faces[i].crossing.from_inside;
      return;
    } else if (crossing.before(faces[i].crossing)) {
      return;
    }
    faces[i] = {solid, site, crossing, false};
  }
};

// Whether there is a face that contradicts the set and that neither the start nor the end of the stretch explains.
struct Contradiction {
  const GeometryView& geometry;
  Containment in;
  float tmin, end;
  float across;
  bool found = false;

  [[nodiscard]] RAYLIFT_HD float farthest() const { return end; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return found; }
  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site) { return !(seen.far < tmin || seen.near > end); }
  RAYLIFT_HD void settle(const BvhView&, const Ray& world, Site site) {
    const Face face = face_at(geometry, world, site);
    const float t = face.crossing.t;
    if (!face.crossing.hit || t < tmin || t >= end) return;
    const bool counts = contains(geometry.solids, in, solid_of(geometry, site)) == face.crossing.from_inside;
    found = found || (!counts && t * face.speed > 2 * across && (end - t) * face.speed > 2 * across);
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
    if (behind.faces[i].solid == solid) return behind.faces[i].tied ? before : !behind.faces[i].crossing.from_inside;
  return before;
}

// The set behind the faces as a Containment. Of several innermost solids, as deep as each other, the one with the
// highest number counts. overflow: more exceptions than it holds; the first ones are kept.
RAYLIFT_HD inline Containment set_behind(const SolidView* solids, const Containment& in, const LastFaces& behind,
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
