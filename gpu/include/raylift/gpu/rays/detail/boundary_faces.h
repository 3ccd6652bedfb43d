// SPDX-License-Identifier: Apache-2.0
// What the search for boundaries rests on: membership in solids, the tolerance, and faces as a ray meets them.
// docs/boundaries.md has the rule.
#pragma once

#include <raylift/geometry/resolution.h>
#include <raylift/gpu/rays/containment.h>
#include <raylift/gpu/rays/query.h>

namespace raylift {

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
// The same for a fine geometry, where points, the way into a mesh's frame and places are known to 48 bits or more. What
// rounds there is 2^-46 at most; the rest is for faces that coincide by the file's numbers, but for their rounding.
inline constexpr float kFineAcross = static_cast<float>(kPositionStep);
// Faces are at one place if they are not farther from each other than `across`. So a new point, at the first of them,
// may be off by that against the others too: a face is at the start if it is within so many `across`.
inline constexpr float kAtStart = 3;
// And not farther ahead along the ray than so many: at a low angle, what is near across may be far ahead.
inline constexpr float kAheadAtStart = 4;
// Where faces within `across` contradict each other, those within up to so many of it are tried too; of a fine geometry
// then those within so many of a float's `across`, as the file's numbers may be rounded to floats.
inline constexpr int kWidest = 4;
// How far back along the ray, in terms of `across`, faces are looked for: at lower angles than its inverse a face that
// was passed by rounding is not seen from the next point, but from one after it.
inline constexpr float kBack = 0x1p10f;
// And by how much farther with each wider tolerance.
inline constexpr float kBackGrowth = 8;
// Within that many `across` ahead, hits are looked at one by one.
inline constexpr float kNearStart = 32;
// Behind the nearest face, other faces are looked for within that many `across`, along the ray: at lower angles than
// twice its inverse, faces farther behind may be at the same place.
inline constexpr float kCrowd = 128;

RAYLIFT_HD inline float largest_component(Float3 v) {
  return maximum(maximum(fabsf(v.x), fabsf(v.y)), fabsf(v.z));
}

RAYLIFT_HD inline float next_after(float t) {
  const std::uint32_t bits = as_bits(t);
  return t == 0 ? as_float(1) : as_float(t > 0 ? bits + 1 : bits - 1);
}

// The search is by one of two rays: a Ray, or in a fine geometry a FineWalkRay.
template <class SomeRay>
inline constexpr bool kIsFine = std::is_same_v<SomeRay, FineWalkRay>;

// In millimetres, for a ray from outside of the scene too: what rounds in a walk, which goes by floats.
RAYLIFT_HD inline float float_across(const GeometryView& geometry, const Ray& ray) {
  return maximum(geometry.reach, largest_component(ray.origin)) * kAcross;
}
// What is one place.
template <class SomeRay>
RAYLIFT_HD inline float across_of(const GeometryView& geometry, const SomeRay& ray) {
  return float_across(geometry, ray) * (kIsFine<SomeRay> ? kFineAcross / kAcross : 1.0f);
}
// The number of widths that are tried, and the `across` of each, from 1 on.
template <class SomeRay>
inline constexpr int kWidths = kIsFine<SomeRay> ? 2 * kWidest : kWidest;
template <class SomeRay>
RAYLIFT_HD inline float across_of(const GeometryView& geometry, const SomeRay& ray, int width) {
  return width <= kWidest ? static_cast<float>(width) * across_of(geometry, ray)
                          : static_cast<float>(width - kWidest) * float_across(geometry, ray);
}
// How near the walk's ray, which is rounded, comes to what the ray itself meets, as t: see ray_walk.h.
template <class SomeRay>
RAYLIFT_HD inline float blur_of(const GeometryView& geometry, const SomeRay& ray) {
  return kIsFine<SomeRay> ? 2 * float_across(geometry, ray) / largest_component(ray.direction) : 0;
}

// Whether a place lies on a ray's stretch, as far as its beginning is concerned.
RAYLIFT_HD inline bool begins_before(const Ray& ray, const Crossing& crossing) {
  return crossing.t >= ray.tmin;
}
RAYLIFT_HD inline bool begins_before(const FineWalkRay& ray, const Crossing& crossing) {
  return crossing.t > ray.tmin || (crossing.t == ray.tmin && crossing.t_low > ray.seen_low);
}

// Likewise as far as its end is concerned: a place may round to the end and lie before it all the same.
RAYLIFT_HD inline bool ends_behind(const Ray& ray, const Crossing& crossing) {
  return crossing.t < ray.tmax;
}
RAYLIFT_HD inline bool ends_behind(const FineWalkRay& ray, const Crossing& crossing) {
  return crossing.t < ray.tmax || (crossing.t == ray.tmax && crossing.t_low < 0);
}

// The same ray on another stretch.
template <class SomeRay>
RAYLIFT_HD inline SomeRay between(SomeRay ray, float tmin, float tmax) {
  ray.tmin = tmin;
  ray.tmax = tmax;
  if constexpr (kIsFine<SomeRay>) ray.seen_low = -0x1.fffffep127f;
  return ray;
}
// The same ray behind a place.
template <class SomeRay>
RAYLIFT_HD inline SomeRay behind(SomeRay ray, float t, float t_low) {
  if constexpr (kIsFine<SomeRay>) {
    ray.tmin = t;
    ray.seen_low = t_low;
  } else {
    ray.tmin = next_after(t);
  }
  return ray;
}

// A crossing and what the boundary needs of its face.
struct Face {
  Crossing crossing;
  Float3 normal;  // in the world, of unit length, outward
  float speed;    // how fast the ray gets through: |normal . direction|, millimetres across the face per t
};

// The ray and the triangle at a site, in the frame of the triangle's mesh, of a fine geometry.
RAYLIFT_HD inline FineRayAndTriangle fine_at_site(const GeometryView& geometry, const FineWalkRay& world, Site site) {
  const FineRayInMesh ray = site.placed == kNoInstance
                                ? fine_in_mesh(Transform(), world)
                                : fine_in_mesh(geometry.bvh.frames[instance_of(geometry.bvh, site)], world);
  const bvh_detail::TrianglePair pair = load_pair(geometry.bvh.pairs + (site.triangle >> 1));
  const bool second = (site.triangle & 1u) != 0;
  FineRayAndTriangle in{ray.origin, ray.direction, vertex(pair, second ? 2 : 0), vertex(pair, 1),
                        vertex(pair, second ? 3 : 2)};
  if (geometry.vertex_rests != nullptr) {
    const std::uint32_t id = id_of(geometry.bvh, site);
    if (id != kNoTriangle) {
      const UInt3 own = geometry.triangles[id >> 2];
      const std::uint32_t turned = id & 3u;
      const auto add = [&](Double3& vertex, std::uint32_t k) {
        const std::uint32_t corner = (k + turned) % 3;
        const Float3 rest = geometry.vertex_rests[corner == 0 ? own.x : corner == 1 ? own.y : own.z];
        vertex.x += static_cast<double>(rest.x);
        vertex.y += static_cast<double>(rest.y);
        vertex.z += static_cast<double>(rest.z);
      };
      add(in.a, 0);
      add(in.b, 1);
      add(in.c, 2);
    }
  }
  return in;
}

RAYLIFT_HD inline Double3 normal_of(const Double3& a, const Double3& b, const Double3& c) {
  const double ex = b.x - a.x, ey = b.y - a.y, ez = b.z - a.z, fx = c.x - a.x, fy = c.y - a.y, fz = c.z - a.z;
  return {product(ey, fz) - product(ez, fy), product(ez, fx) - product(ex, fz), product(ex, fy) - product(ey, fx)};
}

// A direction across the face, outward, in the frame of the world, to float's precision, of any length.
RAYLIFT_HD inline Float3 fine_normal(const GeometryView& geometry, const FineRayAndTriangle& in, Site site) {
  Double3 n = normal_of(in.a, in.b, in.c);
  const auto larger = [](double a, double b) { return a > b ? a : b; };
  if (site.placed != kNoInstance) {
    const double* m = geometry.bvh.frames[instance_of(geometry.bvh, site)].m;
    n = {product(m[0], n.x) + product(m[4], n.y) + product(m[8], n.z),
         product(m[1], n.x) + product(m[5], n.y) + product(m[9], n.z),
         product(m[2], n.x) + product(m[6], n.y) + product(m[10], n.z)};
  }
  const double scale = 1 / larger(larger(fabs(n.x), fabs(n.y)), fabs(n.z));
  return {static_cast<float>(product(n.x, scale)), static_cast<float>(product(n.y, scale)),
          static_cast<float>(product(n.z, scale))};
}

// Whether a ray meets the triangle at a site, and where.
RAYLIFT_SLOW_PATH inline Crossing crossing_at(const GeometryView& geometry, FineWalkRay world, Site site) {
  return cross(fine_at_site(geometry, world, site), false);
}
RAYLIFT_HD inline Crossing crossing_at(const GeometryView& geometry, const Ray& world, Site site) {
  return cross(geometry.bvh.nodes, geometry.bvh.pairs, world, site);
}

// Makes what a face's normal gives, from a direction across it.
RAYLIFT_HD inline void set_normal(Face& face, Float3 n, Float3 direction);

RAYLIFT_HD inline Face face_at(const GeometryView& geometry, const FineWalkRay& world, Site site) {
  const FineRayAndTriangle in = fine_at_site(geometry, world, site);
  Face face;
  face.crossing = cross(in, false);
  set_normal(face, fine_normal(geometry, in, site), world.direction);
  return face;
}

RAYLIFT_HD inline Face face_at(const GeometryView& geometry, const Ray& world, Site site) {
  Face face;
  const RayAndTriangle in = at_site(geometry.bvh.nodes, geometry.bvh.pairs, world, site);
  face.crossing = cross(in, false);
  Float3 n = normal_of(in.a, in.b, in.c);
  if (site.placed != kNoInstance) {
    const float* m = instance_node(geometry.bvh, site.placed).to_mesh.m;
    n = {product(m[0], n.x) + product(m[4], n.y) + product(m[8], n.z),
         product(m[1], n.x) + product(m[5], n.y) + product(m[9], n.z),
         product(m[2], n.x) + product(m[6], n.y) + product(m[10], n.z)};
  }
  // Scaled first, as squares of small triangles' normals would underflow.
  const float scale = 1.0f / largest_component(n);
  set_normal(face, {product(n.x, scale), product(n.y, scale), product(n.z, scale)}, world.direction);
  return face;
}

RAYLIFT_HD inline void set_normal(Face& face, Float3 n, Float3 d) {
  const float inverse = 1.0f / sqrtf(product(n.x, n.x) + product(n.y, n.y) + product(n.z, n.z));
  face.normal = {product(n.x, inverse), product(n.y, inverse), product(n.z, inverse)};
  face.speed = fabsf(product(face.normal.x, d.x) + product(face.normal.y, d.y) + product(face.normal.z, d.z));
}

// Whether a triangle comes within `near` of the origin, by a box and planes.
template <class Scalar, class Vector>
RAYLIFT_HD inline bool near_origin(const RayAndTriangleOf<Vector>& in, Scalar near) {
  const auto smaller = [](Scalar a, Scalar b) { return a < b ? a : b; };
  const auto larger = [](Scalar a, Scalar b) { return a > b ? a : b; };
  const auto size = [](Scalar a) { return a < 0 ? -a : a; };
  const auto reaches = [&](Scalar a, Scalar b, Scalar c, Scalar o) {
    return smaller(smaller(a, b), c) - o <= near && o - larger(larger(a, b), c) <= near;
  };
  if (!reaches(in.a.x, in.b.x, in.c.x, in.origin.x) || !reaches(in.a.y, in.b.y, in.c.y, in.origin.y) ||
      !reaches(in.a.z, in.b.z, in.c.z, in.origin.z))
    return false;
  // Boxes of large triangles hold much: its plane must be near too, and the inner sides of its edges.
  const Vector n = normal_of(in.a, in.b, in.c);
  const auto distance_by = [&](Vector normal, Vector from) {  // times the normal's length
    return product(normal.x, in.origin.x - from.x) + product(normal.y, in.origin.y - from.y) +
           product(normal.z, in.origin.z - from.z);
  };
  const auto scaled = [&](Vector normal) { return 2 * near * (size(normal.x) + size(normal.y) + size(normal.z)); };
  if (size(distance_by(n, in.a)) > scaled(n)) return false;
  const auto inner = [&](Vector u, Vector v) {
    const Vector e = {v.x - u.x, v.y - u.y, v.z - u.z};
    const Vector inward = {product(n.y, e.z) - product(n.z, e.y), product(n.z, e.x) - product(n.x, e.z),
                           product(n.x, e.y) - product(n.y, e.x)};
    return distance_by(inward, u) >= -scaled(inward);
  };
  return inner(in.a, in.b) && inner(in.b, in.c) && inner(in.c, in.a);
}

// Whether a triangle that the ray misses comes near to its origin.
template <class SomeRay>
RAYLIFT_HD inline bool near_origin(const GeometryView& geometry, const SomeRay& world, Site site, float across) {
  if (id_of(geometry.bvh, site) == kNoTriangle) return false;  // the absent second one of a pair
  const auto reach = [&](Float3 direction) { return 2 * kAtStart * across * largest_component(direction); };
  if constexpr (kIsFine<SomeRay>) {
    const FineRayAndTriangle in = fine_at_site(geometry, world, site);
    return near_origin(in, static_cast<double>(reach(rounded(in.direction))));
  } else {
    const RayAndTriangle in = at_site(geometry.bvh.nodes, geometry.bvh.pairs, world, site);
    return near_origin(in, reach(in.direction));
  }
}

// Whether rounding explains that a face lies ahead of the start: it is within so many millimetres across.
RAYLIFT_HD inline bool explained(const Face& face, float across) {
  return face.crossing.t <= 0 || face.crossing.t * face.speed <= across;
}

// Whether the start lies behind a face or at it.
RAYLIFT_HD inline bool at_start(const Face& face, float across, float stretch) {
  return face.crossing.t <= 0 || (face.crossing.t * face.speed <= across && face.crossing.t <= kAheadAtStart * stretch);
}

// Whether a crossing agrees with the set: an exit of a solid in it, or an entry of one that is not.
RAYLIFT_SLOW_PATH inline bool counts(const GeometryView& geometry, Containment in, Site site, bool from_inside) {
  return contains(geometry.solids, in, solid_of(geometry, site)) == from_inside;
}

}  // namespace bvh_detail
}  // namespace raylift
