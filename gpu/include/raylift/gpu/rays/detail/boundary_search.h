// SPDX-License-Identifier: Apache-2.0
// The search for the place at which the set of solids changes: what next_boundary and locate repeat.
// docs/boundaries.md has the rule.
#pragma once

#include <raylift/gpu/rays/detail/boundary_walk.h>

namespace raylift {

namespace bvh_detail {

// More places in a row at which nothing changes, or only solids that are not the innermost one, than any scene has.
inline constexpr int kMaxPlaces = 64;

RAYLIFT_HD inline std::uint16_t material_of(const GeometryView& geometry, std::uint32_t solid) {
  return solid == kNoSolid ? MaterialCode::none : geometry.solids[solid].material;
}

// One place at which the set of solids changes, or may change.
struct BoundaryPlace {
  bool found = false;
  bool inconsistent = false;
  float t = 0, t_low = 0, end = 0, end_low = 0;
  Site site{kNoTriangle, kNoInstance};  // no triangle: the start is near an edge, and the ray passes by its faces
  Face face{};
  Containment after;
};

// The face of the solid that is left, else of the one that is entered.
template <class SomeRay>
RAYLIFT_HD inline void choose_face(const GeometryView& geometry, const SomeRay& ray, const Containment& in,
                                   const LastFaces& last, BoundaryPlace& place) {
  for (int pass = 0; pass < 2; ++pass) {
    const std::uint32_t solid = pass == 0 ? place.after.solid : in.solid;  // the second one wins
    for (int i = 0; i < last.count; ++i)
      if (last.faces[i].solid == solid && last.faces[i].inside == (pass == 0)) place.site = last.faces[i].site;
  }
  if (place.site.triangle != kNoTriangle) {
    place.face = face_at(geometry, ray, place.site);
  } else {
    const Float3 d = ray.direction;
    const float inverse = 1.0f / sqrtf(product(d.x, d.x) + product(d.y, d.y) + product(d.z, d.z));
    place.face.normal = {product(d.x, inverse), product(d.y, inverse), product(d.z, inverse)};
    place.face.crossing.from_inside = true;
  }
}

// What the faces at the start change, where rounding has moved it across them. back: how far faces behind it count, in
// terms of `across`.
template <class SomeRay>
RAYLIFT_SLOW_PATH inline BoundaryPlace start_place_within(const GeometryView& geometry, SomeRay ray, Containment in,
                                                          float across, float back) {
  const float stretch = across / largest_component(ray.direction);
  const SomeRay near = between(ray, -back * stretch, kBack * stretch);
  StartFaces<SomeRay> start(geometry, near, across);
  walk(geometry, near, start);
  const auto first_behind = [&](std::uint32_t solid, const Crossing& place) {
    SomeRay rest = between(ray, 0, 0x1.fffffep127f);
    if (place.t > 0) rest = behind(rest, place.t, place.t_low);
    FirstOfSolid<SomeRay> next(geometry, rest, solid);
    walk(geometry, rest, next);
    return next;
  };
  const auto set_by_faces_ahead = [&](LastFaces& last) {
    // A solid that the ray enters and leaves at the start: the next of its faces shows whether the ray is in it.
    for (int i = 0; i < last.count; ++i) {
      if (!last.faces[i].open) continue;
      const FirstOfSolid<SomeRay> next = first_behind(last.faces[i].solid, last.faces[i].crossing);
      last.set(next.solid, next.found && next.first.crossing.from_inside);
    }
    // Likewise one that the ray passes by, unless rounding explains that face.
    for (int i = 0; i < start.passed_count; ++i) {
      const FirstOfSolid<SomeRay> next = first_behind(start.passed[i], Crossing{});
      if (!next.found || !explained(next.first, kAtStart * across))
        last.set(next.solid, next.found && next.first.crossing.from_inside);
    }
  };
  // What a face ahead changes is left to the search ahead, unless it is the other side of a face behind: of two solids
  // that touch, the ray leaves one and enters the other there.
  const auto place_behind = [&](LastFaces& last) {
    set_by_faces_ahead(last);
    BoundaryPlace place;
    bool overflow = start.overflow || last.overflow;
    place.after = set_behind(geometry.solids, in, last, overflow);
    place.inconsistent = overflow || !place.after.consistent();
    place.found = place.after.solid != in.solid || place.after.exceptions[0] != in.exceptions[0] ||
                  place.after.exceptions[1] != in.exceptions[1];
    if (place.found) choose_face(geometry, ray, in, last, place);
    return place;
  };
  const BoundaryPlace place = place_behind(start.here);
  return place.inconsistent ? place_behind(start.here_and_ahead) : place;
}

// The same with wider tolerances, from the given one on, as long as the faces contradict each other: whatever the
// tolerance, some face lies just beyond it that coincides with one that does not.
template <class SomeRay>
RAYLIFT_SLOW_PATH inline BoundaryPlace start_place(const GeometryView& geometry, SomeRay ray, Containment in,
                                                   int width) {
  BoundaryPlace first;
  float back = kBack;
  for (int w = 1; w < width; ++w) back *= kBackGrowth;
  for (int w = width; w <= kWidths<SomeRay>; ++w, back *= kBackGrowth) {
    if (w == kWidest + 1) back = kBack;
    const BoundaryPlace place = start_place_within(geometry, ray, in, across_of(geometry, ray, w), back);
    if (!place.inconsistent || !in.consistent()) return place;
    if (w == width) first = place;
  }
  return first;
}

// Whether a face between tmin and end contradicts the set, and rounding at the start does not explain it: a ray that
// begins within rounding of a solid's face, and runs along it, may meet the solid's next face far ahead.
template <class SomeRay>
RAYLIFT_SLOW_PATH inline bool contradicted(const GeometryView& geometry, SomeRay ray, Containment in, float tmin,
                                           float end) {
  const float across = float_across(geometry, ray);
  Contradictions<SomeRay> query{geometry, in, blur_of(geometry, ray), tmin, end, across};
  walk(geometry, between(ray, tmin, end), query);
  SomeRay back = between(ray, 0, 0x1.fffffep127f);
  back.direction = {-ray.direction.x, -ray.direction.y, -ray.direction.z};
  for (int i = 0; i < query.count; ++i) {
    FirstOfSolid<SomeRay> behind(geometry, back, query.solids[i]);
    walk(geometry, back, behind);
    if (!behind.found || !explained(behind.first, kAtStart * across)) return true;
  }
  return query.overflow;
}

// A place with the faces at it and what lies behind them. place.site and place.face are those of the first face.
//
// Of faces that coincide, rounding may put one within `across` of the first face and the other beyond. Then the set is
// no chain of mothers, and faces some more `across` away belong to the place too, if that makes it one. So do those
// that are near across a face seen at a low angle, but not along the ray: where a daughter's end is flush with its
// sister's, a ray along both enters the sister just before both end. The place then is that of the face that is named.
template <class SomeRay>
RAYLIFT_SLOW_PATH inline BoundaryPlace crowded_place(const GeometryView& geometry, SomeRay ray, Containment in,
                                                     BoundaryPlace place) {
  const float longest = largest_component(ray.direction), speed = place.face.speed;
  const bool inconsistent = place.inconsistent;
  BoundaryPlace first;
  for (int width = 1; width <= kWidths<SomeRay>; ++width) {
    const float tolerance = across_of(geometry, ray, width);
    const float across = width <= kWidest ? across_of(geometry, ray) : float_across(geometry, ray);
    PlaceFaces<SomeRay> here(geometry, ray, place.face, tolerance, across * 0x1p-10f / longest, width > 1);
    const float most = kBack * tolerance / longest;
    here.end = here.tmin + (tolerance < speed * most ? tolerance / speed : most);
    if (kIsFine<SomeRay>) here.end = next_after(here.end);  // less than a float step of t
    walk(geometry, between(ray, here.tmin, here.end), here);
    BoundaryPlace wide = place;
    wide.end = here.farthest_one.t;
    wide.end_low = here.farthest_one.t_low;
    bool overflow = here.last.overflow;
    wide.after = set_behind(geometry.solids, in, here.last, overflow);
    const bool contradicts = overflow || !wide.after.consistent();
    wide.inconsistent = inconsistent || contradicts;
    choose_face(geometry, ray, in, here.last, wide);
    if (width > 1 && wide.site.triangle != kNoTriangle && ends_behind(ray, wide.face.crossing)) {
      wide.t = wide.face.crossing.t;
      wide.t_low = wide.face.crossing.t_low;
    }
    if (!contradicts) return wide;
    if (width == 1) first = wide;
  }
  return first;
}

template <bool kTrusting, class SomeRay>
RAYLIFT_SLOW_PATH inline NearestFaces<SomeRay> nearest_faces(const GeometryView& geometry, SomeRay ray, Containment in,
                                                             bool from_start) {
  NearestCounting<SomeRay, kTrusting, false> query(geometry, ray, {in}, from_start);
  walk(geometry, ray, query);
  return query.faces();
}

// Whether the place of the nearest face is that face alone: none lies before it that could contradict it, and none
// behind it that could be at the same place, with a factor of two for what rounds here.
template <class SomeRay>
RAYLIFT_HD inline bool lone(const NearestFaces<SomeRay>& nearest, const Face& face, const SomeRay& ray) {
  const float at_one_place = 2 * nearest.stretch() * largest_component(ray.direction) / face.speed;
  return nearest.last_near < nearest.best_near && at_one_place <= nearest.margin() &&
         nearest.other > nearest.best_far + at_one_place;
}

// Whether the nearest face is at the start, and alone there: the other faces there, which don't count, lie behind it by
// more than what is one place, and none lies ahead.
template <class SomeRay>
RAYLIFT_HD inline bool lone_at_start(const NearestFaces<SomeRay>& nearest) {
  return nearest.last_near < nearest.best_near - 2 * nearest.stretch() &&
         nearest.other > 2 * kAheadAtStart * nearest.stretch();
}

// The innermost solid behind a lone face, most of the time: the ray leaves the innermost solid, or enters a daughter.
// False: neither.
RAYLIFT_HD inline bool step_across(const SolidView* solids, const Containment& in, std::uint32_t solid,
                                   bool from_inside, Containment& after) {
  if (!in.consistent() || (from_inside ? solid : solids[solid].mother) != in.solid) return false;
  after.solid = from_inside ? solids[solid].mother : solid;
  return true;
}

// The search in full, behind the walk for the nearest face.
template <class SomeRay>
RAYLIFT_HD inline BoundaryPlace searched_place(const GeometryView& geometry, SomeRay ray, Containment in,
                                               NearestFaces<SomeRay> nearest) {
  const bool from_start = nearest.from_start;
  BoundaryPlace place;
  std::uint32_t solid = kNoSolid;
  const auto look_at_best = [&] {
    if (nearest.best.triangle == kNoTriangle) return;
    solid = solid_of(geometry, nearest.best);
    place.face = face_at(geometry, ray, nearest.best);
  };
  look_at_best();
  if (solid != kNoSolid && contains(geometry.solids, in, solid) != place.face.crossing.from_inside) {
    nearest = nearest_faces<false>(geometry, ray, in, from_start);
    look_at_best();
  }
  if (nearest.start_counts != AtStart::none || nearest.start_passed) {
    const BoundaryPlace start = start_place(geometry, ray, in, 1);
    if (start.found) return start;
    place.inconsistent = start.inconsistent;
  }
  if (nearest.best.triangle == kNoTriangle) {
    // A ray leaves a solid only through its surface.
    place.inconsistent = place.inconsistent || (!(ray.tmax < 0x1.fffffep127f) && in.solid != kNoSolid);
    return place;
  }
  place.found = true;
  place.site = nearest.best;
  const Crossing& crossing = place.face.crossing;
  place.t = place.end = crossing.t;
  place.t_low = place.end_low = crossing.t_low;
  // Not before tmin: what lies there was crossed when the set was another one.
  if (nearest.other < nearest.best_near)
    place.inconsistent =
        place.inconsistent || contradicted(geometry, ray, in, maximum(nearest.near_start, ray.tmin), crossing.t);
  const bool plain =
      lone(nearest, place.face, ray) && step_across(geometry.solids, in, solid, crossing.from_inside, place.after);
  return plain ? place : crowded_place(geometry, ray, in, place);
}

// A place that contradicts the set gives way to the place at the start, if that explains it: at a low angle the ray may
// have passed a face far behind, and be within rounding of it still.
template <class SomeRay>
RAYLIFT_SLOW_PATH inline BoundaryPlace careful_place(const GeometryView& geometry, SomeRay ray, Containment in,
                                                     NearestFaces<SomeRay> nearest) {
  const BoundaryPlace place = searched_place(geometry, ray, in, nearest);
  if (!place.inconsistent || !nearest.from_start || !in.consistent()) return place;
  const BoundaryPlace start = start_place(geometry, ray, in, 2);
  return start.found && !start.inconsistent ? start : place;
}

// The next place of a ray that goes straight on behind tmin.
template <class SomeRay>
RAYLIFT_HD inline BoundaryPlace next_place(const GeometryView& geometry, const SomeRay& ray, const Containment& in) {
  return careful_place(geometry, ray, in, nearest_faces<true>(geometry, ray, in, false));
}

// The first place at which the innermost solid changes, as next_change has it, where that is plain: the nearest face is
// lone and the innermost solid changes there, at the start or ahead, or there is no face. False: it is not, and
// next_change is to be asked.
template <class SomeRay>
RAYLIFT_HD inline bool plain_change(const GeometryView& geometry, const SomeRay& ray, const Containment& in,
                                    const NearestFaces<SomeRay>& nearest, BoundaryPlace& place) {
  if (nearest.start_counts == AtStart::several || nearest.start_passed) return false;
  if (nearest.best.triangle == kNoTriangle) {
    place.after = in;
    place.end = ray.tmax;
    return ray.tmax < 0x1.fffffep127f || in.solid == kNoSolid;
  }
  const std::uint32_t solid = solid_of(geometry, nearest.best);  // first: it is read while the face is computed
  place.site = nearest.best;
  place.face = face_at(geometry, ray, place.site);
  const bool at_start = nearest.start_counts == AtStart::one;
  place.t = place.end = at_start ? 0 : place.face.crossing.t;
  place.t_low = at_start ? 0 : place.face.crossing.t_low;
  place.found = (at_start ? lone_at_start(nearest) : lone(nearest, place.face, ray)) &&
                step_across(geometry.solids, in, solid, place.face.crossing.from_inside, place.after);
  return place.found;
}

// The first place at which the innermost solid changes. nearest: what the walk from ray.tmin on has found. Not found:
// `after`, `end` and `inconsistent` are those of the way there.
template <class SomeRay>
RAYLIFT_SLOW_PATH inline BoundaryPlace next_change(const GeometryView& geometry, SomeRay ray, Containment in,
                                                   NearestFaces<SomeRay> nearest) {
  // Its best face may be one of those, which start_place() examines: the search ahead wants the next one.
  if (nearest.start_counts != AtStart::none) nearest = nearest_faces<true>(geometry, ray, in, true);
  BoundaryPlace way;
  way.after = in;
  way.end = ray.tmax;
  for (int places = 0;; ++places) {
    BoundaryPlace place = careful_place(geometry, ray, way.after, nearest);
    way.inconsistent = place.inconsistent = place.inconsistent || way.inconsistent;
    if (!place.found) return way;
    if (place.after.solid != in.solid) return place;
    way.after = place.after;
    way.end = place.end;
    way.end_low = place.end_low;
    if (places == kMaxPlaces) {
      way.inconsistent = true;
      return way;
    }
    // What lies at the start has been seen.
    ray = behind(ray, place.end, place.end_low);
    nearest = nearest_faces<true>(geometry, ray, way.after, false);
  }
}

}  // namespace bvh_detail
}  // namespace raylift
