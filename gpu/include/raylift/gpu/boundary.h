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
  Site site{kNoTriangle, kNoInstance};  // no triangle: the start is near an edge, and the ray passes by its faces
  Face face{};
  Containment after;
};

// The face of the solid that is left, else of the one that is entered.
RAYLIFT_HD inline void choose_face(const GeometryView& geometry, const Ray& ray, const Containment& in,
                                   const LastFaces& last, Place& place) {
  for (int pass = 0; pass < 2; ++pass) {
    const std::uint32_t solid = pass == 0 ? place.after.solid : in.solid;  // the second one wins
    for (int i = 0; i < last.count; ++i)
      if (last.faces[i].solid == solid && last.faces[i].inside == (pass == 0)) place.site = last.faces[i].site;
  }
  if (place.site.triangle != kNoTriangle) {
    place.face = face_at(geometry, ray, place.site);
  } else {
    const float3 d = ray.direction;
    const float inverse = 1.0f / sqrtf(product(d.x, d.x) + product(d.y, d.y) + product(d.z, d.z));
    place.face.normal = {product(d.x, inverse), product(d.y, inverse), product(d.z, inverse)};
    place.face.crossing.from_inside = true;
  }
}

// What the faces at the start change, where rounding has moved it across them.
RAYLIFT_SLOW_PATH inline Place start_place(const GeometryView& geometry, Ray ray, Containment in, float across) {
  Place place;
  const float stretch = across / largest_component(ray.direction);
  StartFaces start(geometry, {ray.origin, -kBack * stretch, ray.direction, kBack * stretch}, across);
  walk(geometry, {ray.origin, start.tmin, ray.direction, start.end}, start);
  const auto look_ahead = [&](std::uint32_t solid, float skipped) {
    FirstOfSolid next{geometry, solid, 0, 0x1.fffffep127f, skipped};
    walk(geometry, {ray.origin, 0, ray.direction, next.far}, next);
    return next;
  };
  // A solid that the ray enters and leaves at the start: the next of its faces tells whether the ray is in it.
  for (int i = 0; i < start.last.count; ++i) {
    if (!start.last.faces[i].open) continue;
    const FirstOfSolid next = look_ahead(start.last.faces[i].solid, across);
    start.last.set(next.solid, next.found && next.first.crossing.from_inside);
  }
  // Likewise one that the ray passes by, unless rounding explains that face.
  for (int i = 0; i < start.passed_count; ++i) {
    const FirstOfSolid next = look_ahead(start.passed[i], 0);
    if (!next.found || !explained(next.first, kAtStart * across))
      start.last.set(next.solid, next.found && next.first.crossing.from_inside);
  }
  // What a face ahead changes is left to the search ahead, unless it is the other side of a face behind: of two solids
  // that touch, the ray leaves one and enters the other there.
  bool overflow = false;
  LastFaces behind = start.last;
  for (int i = 0; i < behind.count; ++i) behind.faces[i].open = behind.faces[i].open || behind.faces[i].ahead;
  place.after = set_behind(geometry.solids, in, behind, overflow);
  if (!place.after.consistent()) {
    bool too_many = false;
    const Containment all = set_behind(geometry.solids, in, start.last, too_many);
    if (all.consistent()) {
      overflow = false;
      place.after = all;
      behind = start.last;
    }
  }
  overflow = overflow || start.last.overflow;
  place.inconsistent = overflow || !place.after.consistent();
  place.found = place.after.solid != in.solid || place.after.exceptions[0] != in.exceptions[0] ||
                place.after.exceptions[1] != in.exceptions[1];
  if (!place.found) return place;
  choose_face(geometry, ray, in, behind, place);
  return place;
}

// Whether a face between tmin and end contradicts the set.
RAYLIFT_SLOW_PATH inline bool contradicted(const GeometryView& geometry, Ray ray, Containment in, float tmin, float end,
                                           float across) {
  Contradiction query{geometry, in, tmin, end, across};
  walk(geometry, {ray.origin, tmin, ray.direction, end}, query);
  return query.found;
}

// A place with the faces at it and what lies behind them. place.site and place.face are those of the first face.
RAYLIFT_SLOW_PATH inline Place crowded_place(const GeometryView& geometry, Ray ray, Containment in, Place place,
                                             float across) {
  const Crossing crossing = place.face.crossing;
  const float longest = largest_component(ray.direction), speed = place.face.speed;
  PlaceFaces here(geometry, place.face, across, across * 0x1p-10f / longest);
  const float most = kBack * across / longest;
  here.end = crossing.t + (across < speed * most ? across / speed : most);
  walk(geometry, {ray.origin, crossing.t, ray.direction, here.end}, here);
  place.end = here.last_t;
  bool overflow = here.last.overflow;
  place.after = set_behind(geometry.solids, in, here.last, overflow);
  place.inconsistent = place.inconsistent || overflow || !place.after.consistent();
  choose_face(geometry, ray, in, here.last, place);
  return place;
}

// from_start: ray.tmin lies behind the start, at which rounding counts; false: the ray goes straight on behind tmin.
RAYLIFT_HD inline Place next_place(const GeometryView& geometry, const Ray& ray, const Containment& in,
                                   bool from_start) {
  NearestCounting query(geometry, ray, in, from_start);
  walk(geometry, ray, query);
  Place place;
  if (query.start_counts || query.start_passed) {
    const Place start = start_place(geometry, ray, in, query.across);
    if (start.found) return start;
    place.inconsistent = start.inconsistent;
  }
  if (query.best.triangle == kNoTriangle) {
    // Nobody leaves a solid other than through its surface.
    place.inconsistent = place.inconsistent || (!(ray.tmax < 0x1.fffffep127f) && in.solid != kNoSolid);
    return place;
  }
  place.found = true;
  place.site = query.best;
  place.face = face_at(geometry, ray, query.best);
  const Crossing& crossing = place.face.crossing;
  const float across = across_at(ray, crossing.t);
  place.t = place.end = crossing.t;
  // Not before tmin: what lies there was crossed when the set was another one.
  if (query.other < query.best_near)
    place.inconsistent =
        place.inconsistent ||
        contradicted(geometry, ray, in, maximum(kNearStart * query.stretch, ray.tmin), crossing.t, across);
  // Faces behind the ray's end were not looked for.
  const bool alone = crossing.t > 2 * kNearStart * query.stretch && query.other > query.best_far + query.margin &&
                     query.best_far + query.margin < ray.tmax &&
                     place.face.speed * kCrowd > 2 * largest_component(ray.direction);
  if (!alone) return crowded_place(geometry, ray, in, place, across);
  // Most of the time: out of the innermost solid, or into a daughter.
  const std::uint32_t solid = solid_of(geometry, place.site);
  if (in.consistent() && crossing.from_inside && solid == in.solid) {
    place.after.solid = geometry.solids[solid].mother;
  } else if (in.consistent() && !crossing.from_inside && geometry.solids[solid].mother == in.solid) {
    place.after.solid = solid;
  } else {
    bool overflow = false;
    LastFaces one(0);
    one.add(solid, place.site, crossing);
    place.after = set_behind(geometry.solids, in, one, overflow);
    place.inconsistent = place.inconsistent || overflow || !place.after.consistent();
  }
  return place;
}

}  // namespace bvh_detail

RAYLIFT_HD inline Boundary next_boundary(const GeometryView& geometry, const Ray& ray, const Containment& in) {
  using namespace bvh_detail;
  Boundary boundary{ray.tmax,    ray.tmax,           {0, 0, 0},          {0, 0, 0}, in.solid,         in.solid, 0,
                    kNoTriangle, MaterialCode::none, MaterialCode::none, false,     !in.consistent(), in};
  if (geometry.bvh.node_count == 0) return boundary;
  Ray rest = ray;
  bool from_start = !(ray.tmin > 0);
  rest.tmin = from_start ? -kBack * across_at(ray, 0) / largest_component(ray.direction) : next_after(ray.tmin);
  for (int places = 0;; ++places) {
    const Place place = next_place(geometry, rest, boundary.after, from_start);
    boundary.inconsistent = boundary.inconsistent || place.inconsistent;
    if (!place.found) break;
    boundary.after = place.after;
    boundary.end = place.end;
    if (place.after.solid != in.solid) {
      boundary.t = place.t;
      boundary.to = place.after.solid;
      boundary.normal = place.face.normal;
      boundary.from_inside = place.face.crossing.from_inside;
      if (place.site.triangle != kNoTriangle) {
        boundary.instance = instance_of(geometry.bvh, place.site);
        boundary.triangle = triangle_of(geometry.bvh, place.site);
      }
      break;
    }
    if (places == kMostPlaces) {
      boundary.inconsistent = true;
      break;
    }
    // What lies at the start has been seen.
    rest.tmin = next_after(place.end);
    from_start = false;
  }
  const float t = boundary.t;
  boundary.point = {ray.origin.x + product(t, ray.direction.x), ray.origin.y + product(t, ray.direction.y),
                    ray.origin.z + product(t, ray.direction.z)};
  boundary.material_from = material_of(geometry, boundary.from);
  boundary.material_to = material_of(geometry, boundary.to);
  if (boundary.triangle != kNoTriangle) {
    // Where a mesh has several materials, the face knows which.
    const std::uint32_t solid = boundary.from_inside ? boundary.from : boundary.to;
    if (solid != kNoSolid && geometry.solids[solid].parts > 1 &&
        geometry.solid_id(boundary.instance, boundary.triangle) == solid)
      (boundary.from_inside ? boundary.material_from : boundary.material_to) =
          geometry.material_code(boundary.instance, boundary.triangle).inside;
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
    const Place place = next_place(geometry, ray, in, false);
    if (!place.found) break;
    in = place.after;
    ray.tmin = next_after(place.end);
  }
  return in;
}

}  // namespace raylift
