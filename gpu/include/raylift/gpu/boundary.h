// SPDX-License-Identifier: Apache-2.0
// Boundaries between media, for kernels and host code: which solids a photon is in, and where it changes them.
//
//   raylift::Containment in = raylift::locate(geometry, start);            // once, where the photon is born
//   while (...) {
//     const raylift::Boundary next = raylift::next_boundary(geometry, {position, 0, direction, free_path}, in);
//     if (!next.crosses()) { position = position + free_path * direction; ...; continue; }   // absorbed or scattered
//     position = next.point;
//     if (transmitted) in = next.after;                                     // reflected: `in` stays as it is
//     ...                                                                   // a new direction
//   }
//
// The state of a photon is the set of solids that it is in, not its position: a position that was rounded onto the
// wrong side of a face does no harm. docs/boundaries.md has the rule and what it rests on.
//
// The geometry must have been uploaded from a Scene, with UploadOptions::bvh. Meshes are closed, with normals outward
// (raylift check). Points and lengths are in millimetres from the view's origin. Results are the same bits on host and
// device.
#pragma once

#include <raylift/gpu/detail/boundary_walk.h>

namespace raylift {

/// Where a ray changes the solid that it is in.
struct Boundary {
  float t;                 ///< of the ray, not negative; its tmax where it meets no boundary before
  float end;               ///< where the ray goes straight on, its next tmin: all faces at this place lie before it
  float3 point;            ///< origin + t * direction
  float3 normal;           ///< of the face, of unit length, outward
  std::uint32_t from;      ///< the solid before
  std::uint32_t to;        ///< the solid behind, kNoSolid outside of all
  std::uint32_t instance;  ///< of the face: that of `from` where that is left, else that of the solid entered
  std::uint32_t triangle;  ///< the face; kNoTriangle: no boundary
  std::uint16_t material_from, material_to;  ///< indices in Scene::materials, or MaterialCode::none
  bool from_inside;                          ///< the ray runs along the face's normal: it leaves the face's solid
  bool inconsistent;  ///< the scene contradicts itself on the way here: overlaps, or a mesh that is not closed
  Containment after;  ///< the solids behind the boundary

  [[nodiscard]] RAYLIFT_HD bool crosses() const { return triangle != kNoTriangle; }
};

/// The next place at which a ray, being in the solids `in`, changes the innermost one: it leaves a solid that it is in,
/// or enters one that it is not in. All faces at one place, within rounding, are one boundary. Faces that contradict
/// `in` are passed over; away from rounding they set `inconsistent`.
///
/// ray.tmin is 0 where the origin is a new point, at which the photon was born, reflected, refracted or scattered: it
/// may be off by rounding, and faces that the ray should have crossed before it still count. Straight on, with the
/// origin of the ray before, tmin is the last Boundary's `end`.
[[nodiscard]] RAYLIFT_HD inline Boundary next_boundary(const GeometryView& geometry, const Ray& ray,
                                                       const Containment& in);

/// The solids that contain a point. Within rounding of a face, either side of it.
[[nodiscard]] RAYLIFT_HD inline Containment locate(const GeometryView& geometry, float3 point);

namespace bvh_detail {

// More places in a row at which nothing changes, or only solids that are not the innermost one, than any scene has.
inline constexpr int kMostPlaces = 64;

RAYLIFT_HD inline std::uint16_t material_of(const GeometryView& geometry, std::uint32_t solid) {
  return solid == kNoSolid ? MaterialCode::none : static_cast<std::uint16_t>(geometry.solids[solid].material);
}

RAYLIFT_HD inline float next_after(float t) {
  const std::uint32_t bits = as_bits(t);
  return t == 0 ? as_float(1) : as_float(t > 0 ? bits + 1 : bits - 1);
}

// One place at which the set of solids changes, or may change.
struct Place {
  bool found = false;
  bool inconsistent = false;
  float t = 0, end = 0;
  Site site{kNoTriangle, kNoInstance};
  Face face{};
  Containment after;
};

RAYLIFT_HD inline Place next_place(const GeometryView& geometry, const Ray& ray, const Containment& in) {
  Place place;
  NearestCounting query(geometry, ray, in);
  walk(geometry, ray, query);
  if (query.best.triangle == kNoTriangle) {
    // Nobody leaves a solid other than through its surface.
    place.inconsistent = !(ray.tmax < 0x1.fffffep127f) && in.solid != kNoSolid;
    return place;
  }
  place.found = true;
  place.site = query.best;
  place.face = face_at(geometry, ray, query.best);
  const Crossing& crossing = place.face.crossing;
  const float across = across_at(ray, crossing.t), speed = place.face.speed;
  place.t = place.end = crossing.t;
  if (query.other < query.best_near) {
    Contradiction contradiction{geometry, in, kNearStart * query.across, crossing.t, across};
    walk(geometry, {ray.origin, contradiction.tmin, ray.direction, crossing.t}, contradiction);
    place.inconsistent = contradiction.found;
  }
  const bool alone = crossing.t > 2 * kNearStart * query.across && query.other > query.best_far + query.margin &&
                     speed * kCrowd > 2 * largest_component(ray.direction);
  LastFaces behind(geometry, crossing, speed, across);
  if (alone) {
    behind.add(solid_of(geometry, place.site), place.site, crossing);
  } else {
    const float most = kBack * across, window = 2 * across < speed * most ? 2 * across / speed : most;
    behind.end = maximum(crossing.t + window, 0.0f);
    walk(geometry, {ray.origin, crossing.t, ray.direction, behind.end}, behind);
    place.end = behind.last_t;
  }
  bool overflow = behind.overflow;
  place.after = set_behind(geometry.solids, in, behind, overflow);
  place.inconsistent = place.inconsistent || overflow || !place.after.consistent();
  // The face of the solid that is left, else of the one that is entered.
  for (int pass = 0; pass < 2; ++pass) {
    const std::uint32_t solid = pass == 0 ? place.after.solid : in.solid;  // the second one wins
    for (int i = 0; i < behind.count; ++i) {
      const LastFaces::Last& last = behind.faces[i];
      if (last.solid == solid && last.crossing.from_inside == (pass == 1) && !alone) place.site = last.site;
    }
  }
  if (!alone) place.face = face_at(geometry, ray, place.site);
  return place;
}

}  // namespace bvh_detail

RAYLIFT_HD inline Boundary next_boundary(const GeometryView& geometry, const Ray& ray, const Containment& in) {
  using namespace bvh_detail;
  Boundary boundary{ray.tmax,    ray.tmax,           {0, 0, 0},          {0, 0, 0}, in.solid,         in.solid, 0,
                    kNoTriangle, MaterialCode::none, MaterialCode::none, false,     !in.consistent(), in};
  Ray rest = ray;
  if (ray.tmin > 0)
    rest.tmin = next_after(ray.tmin);
  else
    rest.tmin = -kBack * across_at(ray, 0) / largest_component(ray.direction);
  for (int places = 0;; ++places) {
    const Place place = next_place(geometry, rest, boundary.after);
    boundary.inconsistent = boundary.inconsistent || place.inconsistent;
    if (!place.found) break;
    boundary.after = place.after;
    boundary.end = place.end;
    if (place.after.solid != in.solid) {
      boundary.t = maximum(place.t, 0.0f);
      boundary.to = place.after.solid;
      boundary.normal = place.face.normal;
      boundary.from_inside = place.face.crossing.from_inside;
      boundary.instance = instance_of(geometry.bvh, place.site);
      boundary.triangle = triangle_of(geometry.bvh, place.site);
      break;
    }
    if (places == kMostPlaces) {
      boundary.inconsistent = true;
      break;
    }
    rest.tmin = next_after(place.end);
  }
  const float t = boundary.t;
  boundary.point = {ray.origin.x + product(t, ray.direction.x), ray.origin.y + product(t, ray.direction.y),
                    ray.origin.z + product(t, ray.direction.z)};
  boundary.material_from = material_of(geometry, boundary.from);
  boundary.material_to = material_of(geometry, boundary.to);
  if (boundary.crosses()) {
    // Where a mesh has several materials, the face knows which.
    const std::uint16_t inside = geometry.material_code(boundary.instance, boundary.triangle).inside;
    const std::uint32_t solid = geometry.solid_id(boundary.instance, boundary.triangle);
    if (boundary.from_inside && solid == boundary.from) boundary.material_from = inside;
    if (!boundary.from_inside && solid == boundary.to) boundary.material_to = inside;
  }
  return boundary;
}

RAYLIFT_HD inline Containment locate(const GeometryView& geometry, float3 point) {
  using namespace bvh_detail;
  // From outside of all, along a line through the point that no scene's axis has.
  Containment in;
  if (geometry.bvh.node_count == 0) return in;
  const BvhNode& root = geometry.bvh.nodes[0];
  float reach = largest_component(point);
  for (int a = 0; a < 3; ++a)
    reach = maximum(reach, fabsf(root.origin[a]) + as_float(std::uint32_t{root.exponent[a]} << 23) * 256);
  Ray ray{point, -4 * reach, {0.8017837f, 0.2672612f, 0.5345225f}, 0};
  for (int places = 0; places < (1 << 20); ++places) {
    const Place place = next_place(geometry, ray, in);
    if (!place.found) break;
    in = place.after;
    ray.tmin = next_after(place.end);
  }
  return in;
}

}  // namespace raylift
