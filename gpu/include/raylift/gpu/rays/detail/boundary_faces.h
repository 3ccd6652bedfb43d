// SPDX-License-Identifier: Apache-2.0
// What the search for boundaries rests on: membership in solids, the tolerance, and faces as a ray meets them.
// docs/boundaries.md has the rule.
#pragma once

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
// Faces are at one place if they are not farther from each other than `across`. So a new point, at the first of them,
// may be off by that against the others too: a face is at the start if it is within so many `across`.
inline constexpr float kAtStart = 3;
// And not farther ahead along the ray than so many: at a low angle, what is near across may be far ahead.
inline constexpr float kAheadAtStart = 4;
// Where faces within `across` contradict each other, those within up to so many of it are tried too.
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

// In millimetres, for a ray from outside of the scene too.
RAYLIFT_HD inline float across_of(const GeometryView& geometry, const Ray& ray) {
  return maximum(geometry.reach, largest_component(ray.origin)) * kAcross;
}

// A crossing and what the boundary needs of its face.
struct Face {
  Crossing crossing;
  Float3 normal;  // in the world, of unit length, outward
  float speed;    // how fast the ray gets through: |normal . direction|, millimetres across the face per t
};

RAYLIFT_HD inline Face face_at(const GeometryView& geometry, const Ray& world, Site site) {
  const RayAndTriangle in = at_site(geometry.bvh.nodes, geometry.bvh.pairs, world, site);
  Face face;
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
  n = {product(n.x, scale), product(n.y, scale), product(n.z, scale)};
  const float inverse = 1.0f / sqrtf(product(n.x, n.x) + product(n.y, n.y) + product(n.z, n.z));
  face.normal = {product(n.x, inverse), product(n.y, inverse), product(n.z, inverse)};
  const Float3 d = world.direction;
  face.speed = fabsf(product(face.normal.x, d.x) + product(face.normal.y, d.y) + product(face.normal.z, d.z));
  return face;
}

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
  const Float3 n = normal_of(in.a, in.b, in.c);
  const auto distance_by = [&](Float3 normal, Float3 from) {  // times the normal's length
    return product(normal.x, in.origin.x - from.x) + product(normal.y, in.origin.y - from.y) +
           product(normal.z, in.origin.z - from.z);
  };
  const auto scaled = [near](Float3 normal) {
    return 2 * near * (fabsf(normal.x) + fabsf(normal.y) + fabsf(normal.z));
  };
  if (fabsf(distance_by(n, in.a)) > scaled(n)) return false;
  const auto inner = [&](Float3 u, Float3 v) {
    const Float3 e = {v.x - u.x, v.y - u.y, v.z - u.z};
    const Float3 inward = {product(n.y, e.z) - product(n.z, e.y), product(n.z, e.x) - product(n.x, e.z),
                           product(n.x, e.y) - product(n.y, e.x)};
    return distance_by(inward, u) >= -scaled(inward);
  };
  return inner(in.a, in.b) && inner(in.b, in.c) && inner(in.c, in.a);
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
