// SPDX-License-Identifier: Apache-2.0
// Boundaries between media, for kernels and host code: which solids a photon is in, and where it changes them.
//
//   raylift::Containment in = raylift::locate(geometry, start, direction); // once, where the photon is born
//   while (...) {
//     const raylift::Boundary next = raylift::next_boundary(geometry, {position, direction, free_path}, in);
//     position = next.point;
//     if (!next.crosses()) { ...; continue; }                               // absorbed or scattered there
//     if (transmitted) in = next.after;                                     // reflected: `in` stays as it is
//     ...                                                                   // a new direction
//   }
//
// The state of a photon is the set of solids that it is in, not its position: a position that was rounded onto the
// wrong side of a face does no harm. Positions are FinePoints: in a scene with thin layers they are known to 48 bits,
// so that a layer of nanometres acts with its thickness anywhere. docs/boundaries.md has the rule and what it rests on.
//
// The geometry must have been uploaded from a Scene, with its BVH, which is the default: without one
// (UploadOptions::bvh = false) every point is in no solid, and no ray meets a boundary. Meshes are closed, with normals
// outward (raylift check). Points and lengths are in millimetres from the view's origin. Results are the same bits on
// host and device.
#pragma once

#include <raylift/gpu/rays/detail/boundary_search.h>
#include <raylift/gpu/rays/detail/clearance.h>

namespace raylift {

/// A ray from a photon's position: origin + t * direction for 0 <= t < tmax. What Ray says of its members holds.
struct alignas(16) FineRay {
  FinePoint origin;
  Float3 direction;
  float tmax = std::numeric_limits<float>::infinity();
};

/// The part of a ray that begins at its origin.
[[nodiscard]] RAYLIFT_HD inline FineRay fine_ray(const Ray& ray) {
  return {ray.origin, ray.direction, ray.tmax};
}

/// Where a ray changes the solid that it is in.
struct alignas(16) Boundary {
  float t;                 ///< of the ray, not negative; its tmax where it meets none, or one that rounds to it
  FinePoint point;         ///< origin + t * direction, of the t before it is rounded: the origin of the next ray
  Float3 normal;           ///< of the face, of unit length, outward
  std::uint32_t from;      ///< the solid before
  std::uint32_t to;        ///< the solid behind, kNoSolid outside of all
  std::uint32_t instance;  ///< of the face: that of `from` where that is left, else that of the solid entered
  std::uint32_t
      triangle;  ///< the face; kNoTriangle: no boundary, or one at an edge that the ray passes within rounding
  std::uint16_t material_from, material_to;  ///< indices in Scene::materials, or MaterialCode::none
  bool from_inside;                          ///< the ray runs along the face's normal: it leaves the face's solid
  bool inconsistent;  ///< the scene contradicts itself on the way here: overlaps, or a mesh that is not closed
  Containment after;  ///< the solids behind the boundary

  [[nodiscard]] RAYLIFT_HD bool crosses() const { return from != to; }
};

/// The next place at which a ray, being in the solids `in`, changes the innermost one: it leaves a solid that it is in,
/// or enters one that it is not in. All faces at one place, within rounding, are one boundary. Faces that contradict
/// `in` are passed over; away from rounding they set `inconsistent`.
///
/// The origin may be off by rounding: faces that the ray should have crossed before it still count.
[[nodiscard]] RAYLIFT_HD inline Boundary next_boundary(const GeometryView& geometry, const FineRay& ray,
                                                       const Containment& in);

/// Whether no face is nearer to a point than that many millimetres. Where none is the answer may be no all the same:
/// boxes are looked at, not faces.
[[nodiscard]] RAYLIFT_HD inline bool is_clear(const GeometryView& geometry, LocalPoint point, float distance);

/// The solids that contain a point. Within rounding of a face, either side of it.
[[nodiscard]] RAYLIFT_HD inline Containment locate(const GeometryView& geometry, FinePoint point);

/// The solids that a ray from a point is in. Where the point lies on faces, within rounding, its direction decides: the
/// ray is in the solids behind them, as in Geant4's navigation. The direction's length does not matter.
[[nodiscard]] RAYLIFT_HD inline Containment locate(const GeometryView& geometry, FinePoint point, Float3 direction);

/// The search that is behind locate() of a direction, for those who ask for the boundaries of many rays together: a
/// short ray, whose boundary crosses_at_start() where the ray from that point leaves or enters solids at once.
[[nodiscard]] RAYLIFT_HD inline FineRay start_ray(const GeometryView& geometry, FinePoint point, Float3 direction);
/// Whether a boundary of start_ray() lies at the start. Then its `after` are the solids that the ray is in.
[[nodiscard]] RAYLIFT_HD inline bool crosses_at_start(const Boundary& boundary) {
  return boundary.crosses() && boundary.t == 0 && !boundary.inconsistent;
}

namespace bvh_detail {

// From a point, along a line.
template <class SomeRay>
RAYLIFT_HD inline SomeRay walk_ray(const FinePoint& from, float tmin, Float3 direction, float tmax) {
  if constexpr (kIsFine<SomeRay>)
    return {{from.point, tmin, direction, tmax}, from.rest, -0x1.fffffep127f};
  else
    return {from.point, tmin, direction, tmax};
}

// The ray of the walk: from a little behind its origin.
template <class SomeRay>
RAYLIFT_HD inline SomeRay ray_of_walk(const GeometryView& geometry, const FineRay& ray) {
  auto walk = walk_ray<SomeRay>(ray.origin, 0, ray.direction, ray.tmax);
  walk.tmin = -kBack * across_of(geometry, walk) / largest_component(ray.direction);
  return walk;
}

// The result of next_boundary for a ray whose place is known.
template <class SomeRay>
RAYLIFT_HD inline Boundary boundary_at(const GeometryView& geometry, const FineRay& ray, const Containment& in,
                                       const BoundaryPlace& place) {
  Boundary boundary{ray.tmax,    LocalPoint(0, 0, 0), {0, 0, 0},          in.solid, in.solid,         0,
                    kNoTriangle, MaterialCode::none,  MaterialCode::none, false,    !in.consistent(), in};
  if (has_nan(ray.origin.point) || has_nan(ray.origin.rest) || has_nan(ray.direction) || ray.tmax != ray.tmax) {
    boundary.inconsistent = true;
    return boundary;
  }
  boundary.inconsistent = boundary.inconsistent || place.inconsistent;
  boundary.after = place.after;
  if (place.found) {
    boundary.t = place.t;
    boundary.to = place.after.solid;
    boundary.normal = place.face.normal;
    boundary.from_inside = place.face.crossing.from_inside;
    if (place.site.triangle != kNoTriangle) {
      boundary.instance = instance_of(geometry.bvh, place.site);
      boundary.triangle = triangle_of(geometry.bvh, place.site);
    }
  }
  if constexpr (kIsFine<SomeRay>) {
    const double t_low = place.found ? static_cast<double>(place.t_low) : 0;
    boundary.point = geometry.along(ray.origin, static_cast<double>(boundary.t) + t_low, ray.direction);
  } else {
    const float t = boundary.t;
    boundary.point = ray.origin.point + t * ray.direction;
  }
  boundary.material_from = material_of(geometry, boundary.from);
  boundary.material_to = material_of(geometry, boundary.to);
  if (boundary.triangle != kNoTriangle) {
    // Where a mesh has several materials, the face determines which.
    const std::uint32_t solid = boundary.from_inside ? boundary.from : boundary.to;
    if (solid != kNoSolid && geometry.solids[solid].parts > 1 &&
        geometry.solid_id(boundary.instance, boundary.triangle) == solid)
      (boundary.from_inside ? boundary.material_from : boundary.material_to) =
          geometry.material_code(boundary.instance, boundary.triangle).inside;
  }
  return boundary;
}

template <class SomeRay>
RAYLIFT_HD inline Boundary next_boundary(const GeometryView& geometry, const FineRay& ray, const Containment& in) {
  const auto way = ray_of_walk<SomeRay>(geometry, ray);
  NearestCounting<SomeRay, true, true> nearest(geometry, way, {in}, true);
  walk(geometry, way, nearest);
  BoundaryPlace place;
  const NearestFaces<SomeRay> faces = nearest.faces();
  if (!plain_change(geometry, way, in, faces, place)) place = next_change(geometry, way, in, faces);
  return boundary_at<SomeRay>(geometry, ray, in, place);
}

template <class SomeRay>
RAYLIFT_HD inline Containment locate(const GeometryView& geometry, const FinePoint& point) {
  // From outside of all, along a line through the point that no scene's axis has.
  Containment in;
  auto ray = walk_ray<SomeRay>(point, -4 * maximum(geometry.reach, largest_component(point.point)),
                               {0.8017837f, 0.2672612f, 0.5345225f}, 0);
  for (int places = 0; places < (1 << 20); ++places) {
    const BoundaryPlace place = next_place(geometry, ray, in);
    if (!place.found) break;
    in = place.after;
    ray = behind(ray, place.end, place.end_low);
  }
  return in;
}

}  // namespace bvh_detail

RAYLIFT_HD inline Boundary next_boundary(const GeometryView& geometry, const FineRay& ray, const Containment& in) {
  return geometry.is_fine() ? bvh_detail::next_boundary<bvh_detail::FineWalkRay>(geometry, ray, in)
                            : bvh_detail::next_boundary<Ray>(geometry, ray, in);
}

RAYLIFT_HD inline bool is_clear(const GeometryView& geometry, LocalPoint point, float distance) {
  if (geometry.bvh.node_count == 0) return true;
  // By a thousandth more: what rounds here is less.
  const float reach = 1.001f * distance + 4 * bvh_detail::float_across(geometry, {point, 0, {1, 0, 0}, 0});
  return geometry.bvh_levels == 2 ? !bvh_detail::any_near<true>(geometry.bvh, 0, point, reach)
                                  : !bvh_detail::any_near<false>(geometry.bvh, 0, point, reach);
}

RAYLIFT_HD inline Containment locate(const GeometryView& geometry, FinePoint point) {
  if (geometry.bvh.node_count == 0) return {};
  return geometry.is_fine() ? bvh_detail::locate<bvh_detail::FineWalkRay>(geometry, point)
                            : bvh_detail::locate<Ray>(geometry, point);
}

RAYLIFT_HD inline FineRay start_ray(const GeometryView& geometry, FinePoint point, Float3 direction) {
  using namespace bvh_detail;
  // As far as faces are at the start.
  const Ray ray{point.point, 0, direction, 0};
  const float across = float_across(geometry, ray) * (geometry.is_fine() ? kFineAcross / kAcross : 1.0f);
  return {point, direction, kAheadAtStart * across / largest_component(direction)};
}

RAYLIFT_HD inline Containment locate(const GeometryView& geometry, FinePoint point, Float3 direction) {
  const Containment in = locate(geometry, point);
  const Boundary boundary = next_boundary(geometry, start_ray(geometry, point, direction), in);
  return crosses_at_start(boundary) ? boundary.after : in;
}

}  // namespace raylift
