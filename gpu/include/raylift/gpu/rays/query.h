// SPDX-License-Identifier: Apache-2.0
// Ray queries against uploaded geometry, for kernels and host code alike: closest_hit, any_hit, count_hits, all_hits
// and for_each_hit over a GeometryView.
//
//   __global__ void kernel(raylift::GeometryView geometry, const raylift::Ray* rays, ...) {
//     const raylift::Hit hit = raylift::closest_hit(geometry, rays[i]);
//     if (hit.valid()) solid = geometry.solid_id(hit.instance, hit.triangle);
//
// The geometry must have its BVH, as it has by default: one uploaded without (UploadOptions::bvh = false) has nothing
// that a ray could hit. Rays are in millimetres from the view's origin: a ray from a point of the scene starts at
// geometry.from_scene(point). What is said in <raylift/geometry/bvh/ray.h> holds here.
#pragma once

#include <raylift/geometry/bvh/ray.h>
#include <raylift/geometry/detail/standard.h>
#include <raylift/gpu/view.h>

namespace raylift {

namespace bvh_detail {

// A hit of a scene in two levels has its normal in the mesh's frame. Normals go with the inverse transposed, which also
// keeps them outward where the instance mirrors.
RAYLIFT_HD inline Hit in_world(const GeometryView& geometry, Hit hit) {
  if (!hit.valid()) return hit;
  const float* m = geometry.instances[hit.instance].to_mesh.m;
  const Float3 n = hit.normal;
  hit.normal = {product(m[0], n.x) + product(m[4], n.y) + product(m[8], n.z),
                product(m[1], n.x) + product(m[5], n.y) + product(m[9], n.z),
                product(m[2], n.x) + product(m[6], n.y) + product(m[10], n.z)};
  return hit;
}

RAYLIFT_HD inline Hit scene_hit_of(const GeometryView& geometry, const Ray& ray, Site site) {
  return in_world(geometry, hit_of(geometry.bvh, ray, site));
}

RAYLIFT_HD inline Hit any_levels_hit_of(const GeometryView& geometry, const Ray& ray, Site site) {
  return geometry.bvh_levels == 2 ? scene_hit_of(geometry, ray, site) : hit_of(geometry.bvh, ray, site);
}

template <class SomeRay, class Query>
RAYLIFT_HD inline void walk(const GeometryView& geometry, const SomeRay& ray, Query& query) {
  Stack<true> stack;
  if (geometry.bvh_levels == 2)
    traverse<true>(geometry.bvh, ray, stack, query);
  else
    traverse<false>(geometry.bvh, ray, stack, query);
}

template <class Filter>
RAYLIFT_HD inline std::uint32_t all_hits(const GeometryView& geometry, const Ray& ray, Hit* hits, std::uint32_t room,
                                         const Filter& filter) {
  FirstHits<true, Filter> query(ray, filter, hits, room);
  walk(geometry, ray, query);
  query.sort(geometry.bvh);
  for (std::uint32_t i = 0; i < query.held; ++i)
    hits[i] = any_levels_hit_of(geometry, ray, query.place_of(hits[i]).site);
  return query.count;
}

}  // namespace bvh_detail

/// The nearest hit. `triangle` is an index into GeometryView::triangles, `instance` into its instances (0 in a flat
/// scene); u, v and the winding are those of the triangle as the mesh has it; the normal is in the world's frame,
/// outward, not of unit length. What the ray starts on can be left out: triangle `exclude` of instance
/// `exclude_instance`. Instances whose transform has no inverse are not hit.
[[nodiscard]] RAYLIFT_HD inline Hit closest_hit(const GeometryView& geometry, const Ray& ray,
                                                std::uint32_t exclude = kNoTriangle,
                                                std::uint32_t exclude_instance = 0) {
  if (geometry.bvh_levels != 2) return closest_hit(geometry.bvh, ray, exclude);
  return bvh_detail::scene_hit_of(
      geometry, ray, bvh_detail::nearest<true>(geometry.bvh, ray, bvh_detail::OtherThan{exclude, exclude_instance}));
}

/// Whether there is any hit: stops at the first one found.
[[nodiscard]] RAYLIFT_HD inline bool any_hit(const GeometryView& geometry, const Ray& ray,
                                             std::uint32_t exclude = kNoTriangle, std::uint32_t exclude_instance = 0) {
  if (geometry.bvh_levels != 2) return any_hit(geometry.bvh, ray, exclude);
  return bvh_detail::hits_any<true>(geometry.bvh, ray, bvh_detail::OtherThan{exclude, exclude_instance});
}

/// The nearest hit that counts. accept(instance, triangle, from_inside, t) decides whether a crossing does: a pure
/// function, as how often and in what order it is called is not defined. t is the crossing's, before the tie with
/// others is decided.
template <class Accept>
requires std::predicate<const Accept&, std::uint32_t, std::uint32_t, bool, float>
[[nodiscard]] RAYLIFT_HD inline Hit closest_hit(const GeometryView& geometry, const Ray& ray, const Accept& accept) {
  const bvh_detail::AcceptedBy<Accept> filter{accept};
  if (geometry.bvh_levels != 2)
    return bvh_detail::hit_of(geometry.bvh, ray, bvh_detail::nearest<false>(geometry.bvh, ray, filter));
  return bvh_detail::scene_hit_of(geometry, ray, bvh_detail::nearest<true>(geometry.bvh, ray, filter));
}

/// How many triangles the ray meets from tmin on and before tmax, in one walk. A surface counts once wherever the ray
/// goes through it, also at an edge or a vertex; surfaces that coincide count each. So out of a closed solid the count
/// of its triangles is odd. accept(instance, triangle) says which count.
template <class Accept>
requires std::predicate<const Accept&, std::uint32_t, std::uint32_t>
[[nodiscard]] RAYLIFT_HD inline std::uint32_t count_hits(const GeometryView& geometry, const Ray& ray,
                                                         const Accept& accept) {
  const bvh_detail::AcceptedSites<Accept> filter{&accept};
  if (geometry.bvh_levels != 2) return bvh_detail::count_hits<false, false>(geometry.bvh, ray, filter);
  return bvh_detail::count_hits<true, false>(geometry.bvh, ray, filter);
}
[[nodiscard]] RAYLIFT_HD inline std::uint32_t count_hits(const GeometryView& geometry, const Ray& ray) {
  if (geometry.bvh_levels != 2) return bvh_detail::count_hits<false, false>(geometry.bvh, ray, bvh_detail::Any());
  return bvh_detail::count_hits<true, false>(geometry.bvh, ray, bvh_detail::Any());
}

/// All hits from tmin on and before tmax, in their order along the ray, each as closest_hit() gives it. Writes the
/// first `room` of them to `hits`, and returns how many there are, as count_hits(): which may be more. A surface is
/// there once wherever the ray goes through it, also at an edge or a vertex; of surfaces that coincide each is there,
/// the one of the lowest triangle pair first. accept(instance, triangle) says which count. In one walk.
template <class Accept>
requires std::predicate<const Accept&, std::uint32_t, std::uint32_t> RAYLIFT_HD inline std::uint32_t all_hits(
    const GeometryView& geometry, const Ray& ray, Hit* hits, std::uint32_t room, const Accept& accept) {
  return bvh_detail::all_hits(geometry, ray, hits, room, bvh_detail::AcceptedSites<Accept>{&accept});
}
RAYLIFT_HD inline std::uint32_t all_hits(const GeometryView& geometry, const Ray& ray, Hit* hits, std::uint32_t room) {
  return bvh_detail::all_hits(geometry, ray, hits, room, bvh_detail::Any());
}

/// The same hits, one after the other, without room for all of them: visit(hit) is called for each, until it returns
/// false. A walk finds 8; so all_hits() is quicker where there are many.
template <class Visit>
requires std::predicate<Visit&, const Hit&> RAYLIFT_HD inline void for_each_hit(const GeometryView& geometry,
                                                                                const Ray& ray, Visit&& visit) {
  constexpr std::uint32_t kRoom = 8;
  using Query = bvh_detail::FirstHits<false, bvh_detail::Any>;
  Hit hits[kRoom];
  Query query(ray, {}, hits, kRoom);
  while (true) {
    bvh_detail::walk(geometry, ray, query);
    query.sort(geometry.bvh);
    if (query.held == 0) return;
    const auto last = Query::place_of(hits[query.held - 1]);
    for (std::uint32_t i = 0; i < query.held; ++i)
      if (!visit(bvh_detail::any_levels_hit_of(geometry, ray, Query::place_of(hits[i]).site))) return;
    if (query.held < kRoom) return;
    query.go_on_behind(last);
  }
}

/// The nearest hit on a triangle that counts: accept(instance, triangle), called where the ray surely meets one or may.
/// Quicker than the accept() above, which needs the place, and which is used where a function fits both.
template <class Accept>
requires(std::predicate<const Accept&, std::uint32_t, std::uint32_t> &&
         !std::predicate<const Accept&, std::uint32_t, std::uint32_t, bool, float>) [[nodiscard]] RAYLIFT_HD inline Hit
    closest_hit(const GeometryView& geometry, const Ray& ray, const Accept& accept) {
  const bvh_detail::AcceptedSites<Accept> filter{&accept};
  if (geometry.bvh_levels != 2)
    return bvh_detail::hit_of(geometry.bvh, ray, bvh_detail::nearest<false>(geometry.bvh, ray, filter));
  return bvh_detail::scene_hit_of(geometry, ray, bvh_detail::nearest<true>(geometry.bvh, ray, filter));
}

/// A ray that starts where a surface was hit and does not hit it again: for shadow rays, bounces, and samples. Its
/// start is the hit's point in the world, from the triangle's vertices, moved along the normal to the side that
/// `direction` points to. It is moved by 2^-19 of the magnitudes that were summed up for the point, several times what
/// rounding explains: at most about 2 um for triangles within 1 m of the origin, 40 um within 20 m. What lies nearer to
/// the surface than that is passed over, so photons take next_boundary() of <raylift/gpu/rays/boundary.h>, which keeps
/// to its medium. Not for instances whose transform distorts by more than a factor of 10. `hit` must be valid.
[[nodiscard]] RAYLIFT_HD inline Ray spawn(const GeometryView& geometry, const Hit& hit, Float3 direction) {
  const UInt3 t = geometry.triangles[hit.triangle];
  const Float3 a = geometry.vertices[t.x], b = geometry.vertices[t.y], c = geometry.vertices[t.z];
  const float w = 1 - hit.u - hit.v;
  const Float3 in_mesh = w * a + hit.u * b + hit.v * c;
  // What is summed up, without cancellation: a point near the origin may lie on a triangle that reaches far.
  const auto size = [&](float p, float q, float r) { return fabsf(w * p) + fabsf(hit.u * q) + fabsf(hit.v * r); };
  const Float3 sizes{size(a.x, b.x, c.x), size(a.y, b.y, c.y), size(a.z, b.z, c.z)};
  const float* m = geometry.instances[hit.instance].to_world.m;
  using arithmetic_detail::maximum;
  Float3 point{0, 0, 0};
  float magnitude = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const float* row = m + 4 * axis;
    const float x = arithmetic_detail::product(row[0], in_mesh.x), y = arithmetic_detail::product(row[1], in_mesh.y),
                z = arithmetic_detail::product(row[2], in_mesh.z);
    (axis == 0 ? point.x : axis == 1 ? point.y : point.z) = x + y + z + row[3];
    magnitude =
        maximum(magnitude, fabsf(row[0]) * sizes.x + fabsf(row[1]) * sizes.y + fabsf(row[2]) * sizes.z + fabsf(row[3]));
  }
  // Squares of a small triangle's normal would underflow.
  const Float3 n = (1 / maximum(maximum(fabsf(hit.normal.x), fabsf(hit.normal.y)), fabsf(hit.normal.z))) * hit.normal;
  const float side = dot(direction, n) < 0 ? -0x1p-19f : 0x1p-19f;
  Ray ray;
  ray.origin = LocalPoint(point) + arithmetic_detail::product(side, magnitude) * normalized(n);
  ray.direction = direction;
  return ray;
}

}  // namespace raylift
