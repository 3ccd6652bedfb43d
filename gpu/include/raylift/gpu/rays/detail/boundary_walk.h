// SPDX-License-Identifier: Apache-2.0
// The walks that find the faces of a boundary. docs/boundaries.md has the rule.
#pragma once

#include <raylift/gpu/rays/detail/boundary_set.h>

namespace raylift::bvh_detail {

// How many counting faces lie so close to the start that rounding may have moved it across them.
enum class AtStart : std::uint8_t {
  none,
  one,      // it is the best face
  several,  // or their number is not known: StartFaces has to examine them together
};

// How far from a ray's start, along the ray, as t, faces are looked at one by one: more than what rounds in the walk.
template <class SomeRay>
RAYLIFT_HD inline float near_start_of(const GeometryView& geometry, const SomeRay& ray) {
  return kNearStart * (float_across(geometry, ray) / largest_component(ray.direction));
}

// What is one place across the ray's largest axis, as t.
template <class SomeRay>
RAYLIFT_HD inline float stretch_of(float near_start) {
  return near_start * ((kIsFine<SomeRay> ? kFineAcross / kAcross : 1) / kNearStart);
}
// Faces up to this far behind the best one matter.
template <class SomeRay>
RAYLIFT_HD inline float margin_of(float near_start) {
  return kCrowd * stretch_of<SomeRay>(near_start);
}

// The nearest face that counts: the ray leaves a solid of the set, or enters one that is not in it.
template <class SomeRay>
struct NearestFaces {
  float tmin;
  float near_start;  // near_start_of() the ray
  Site best;
  float best_near, best_far;
  float other;      // lower bound on t of all other faces, except non-counting ones near the start
  float last_near;  // upper bound on t of these exceptions
  bool from_start;  // false: only what lies behind tmin
  AtStart start_counts;
  bool start_passed;  // the ray passes a triangle that comes near to the start

  [[nodiscard]] RAYLIFT_HD float stretch() const { return stretch_of<SomeRay>(near_start); }
  [[nodiscard]] RAYLIFT_HD float margin() const { return margin_of<SomeRay>(near_start); }
};

// What the walk for a ray's boundary has found: NearestFaces, less what follows from the ray.
struct alignas(16) FoundFaces {
  Site best;
  float best_near, best_far;  // without a face, the ray's tmax
  float other, last_near;
  AtStart start_counts;
  bool start_passed;

  FoundFaces() = default;
  template <class SomeRay>
  RAYLIFT_HD explicit FoundFaces(const NearestFaces<SomeRay>& nearest)
      : best(nearest.best),
        best_near(nearest.best_near),
        best_far(nearest.best_far),
        other(nearest.other),
        last_near(nearest.last_near),
        start_counts(nearest.start_counts),
        start_passed(nearest.start_passed) {}
  // way: the ray of the walk.
  template <class SomeRay>
  [[nodiscard]] RAYLIFT_HD NearestFaces<SomeRay> of(const GeometryView& geometry, const SomeRay& way) const {
    return {way.tmin,    near_start_of(geometry, way), best, best_near, best_far, other, last_near, true, start_counts,
            start_passed};
  }
};
static_assert(sizeof(FoundFaces) == 32);

// What a walk rarely reads or writes: the best face so far, a lower bound of its t, and the set that the ray starts in.
// Threads on their own have it in registers.
struct OwnNotes {
  Containment in;
  Site best{kNoTriangle, kNoInstance};
  float best_near = 0;

  [[nodiscard]] RAYLIFT_HD const Containment& set() const { return in; }
  [[nodiscard]] RAYLIFT_HD Site site() const { return best; }
  [[nodiscard]] RAYLIFT_HD float near() const { return best_near; }
  RAYLIFT_HD void note(Site site, float near) {
    best = site;
    best_near = near;
  }
};

// The walk that finds them. It carries little state, as all of it takes registers from the traversal. kTrusting: away
// from the start every face is taken to count, as it does where scene and set are right. This saves reading each
// candidate's solid; the caller checks the face that was found. kStopsAtStart: a counting face at the start can be the
// best face; otherwise the walk ignores such faces. Notes: OwnNotes, or what has its functions.
template <class SomeRay, bool kTrusting, bool kStopsAtStart, class Notes = OwnNotes>
struct NearestCounting {
  static constexpr bool kSmall = true;
  static constexpr bool kFine = kIsFine<SomeRay>;
  float tmin, near_start, best_far;
  float other = 0x1.fffffep127f, last_near = -0x1.fffffep127f;
  bool from_start;
  AtStart start_counts = AtStart::none;
  bool start_passed = false;
  Notes notes;
  const GeometryView* geometry;

  RAYLIFT_HD NearestCounting(const GeometryView& of, const SomeRay& ray, const Notes& memory, bool start)
      : tmin(ray.tmin),
        near_start(near_start_of(of, ray)),
        best_far(ray.tmax),
        from_start(start),
        notes(memory),
        geometry(&of) {
    notes.note({kNoTriangle, kNoInstance}, ray.tmax);
  }
  [[nodiscard]] RAYLIFT_HD NearestFaces<SomeRay> faces() const {
    return {tmin,  near_start, notes.site(), notes.near(), best_far,
            other, last_near,  from_start,   start_counts, start_passed};
  }
  // After a call that got a copy: what it may have changed.
  RAYLIFT_HD void take(const NearestCounting& changed) {
    best_far = changed.best_far;
    other = changed.other;
    last_near = changed.last_near;
    start_counts = changed.start_counts;
    start_passed = changed.start_passed;
    if constexpr (std::is_same_v<Notes, OwnNotes>) notes = changed.notes;
  }
  [[nodiscard]] RAYLIFT_HD float stretch() const { return stretch_of<SomeRay>(near_start); }
  // Faces at the start matter even if the best face lies behind it.
  [[nodiscard]] RAYLIFT_HD float farthest() const {
    return (kStopsAtStart ? maximum(best_far, 0.0f) : best_far) + margin_of<SomeRay>(near_start);
  }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  [[nodiscard]] RAYLIFT_HD float around() const {
    return from_start ? 2 * kAtStart / kNearStart * near_start : kFine ? 2 / kNearStart * near_start : 0;
  }
  RAYLIFT_HD void see_behind_best(float near) { other = minimum(other, near); }
  // The face may lie before or behind the best one.
  RAYLIFT_HD void see_not_counting(float near, float far) {
    if (near <= near_start)
      last_near = maximum(last_near, far);
    else
      other = minimum(other, near);
  }
  RAYLIFT_HD void set(float near, float far, Site site) {
    if (notes.site().triangle != kNoTriangle) see_behind_best(notes.near());
    best_far = far;
    notes.note(site, near);
  }

  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site site) {
    if (seen.far < tmin || seen.near > farthest()) return false;
    if (seen.near > best_far) {  // whether a face behind the best counts does not matter
      see_behind_best(seen.near);
      return false;
    }
    // The face that the ray starts on, most of the time.
    if (from_start && seen.far <= near_start && !counts(*geometry, notes.set(), site, seen.from_inside)) {
      see_not_counting(seen.near, seen.far);
      return false;
    }
    if (seen.near <= (from_start ? near_start : tmin) || seen.far >= notes.near()) return true;
    if (kTrusting || counts(*geometry, notes.set(), site, seen.from_inside))
      set(seen.near, seen.far, site);
    else
      see_not_counting(seen.near, seen.far);
    return false;
  }

  RAYLIFT_HD void decide(const BvhView& bvh, const SomeRay& world, Site site) {
    const float across = across_of(*geometry, world);
    const Face face = face_at(*geometry, world, site);
    const Crossing& crossing = face.crossing;
    if (!crossing.hit) {
      start_passed = start_passed || (from_start && near_origin(*geometry, world, site, stretch()));
      return;
    }
    if (!begins_before(world, crossing)) return;
    if (!counts(*geometry, notes.set(), site, crossing.from_inside)) return see_not_counting(crossing.t, crossing.t);
    // Rounding has not moved the start across it: a later face of its solid agrees with the set.
    if (from_start && -crossing.t * face.speed > kAtStart * across) return;
    const bool starts = from_start && at_start(face, across, stretch());
    if (starts && (!kStopsAtStart || start_counts != AtStart::none)) {
      start_counts = AtStart::several;
      return;
    }
    if (!ends_behind(world, crossing) && !starts) return see_behind_best(crossing.t);
    if (const Site best = notes.site(); best.triangle != kNoTriangle) {
      const Crossing before = crossing_at(*geometry, world, best);
      const bool first = crossing.before(before) || (crossing.same_place(before) && comes_first(bvh, site, best));
      // One of them is at the start, and the other one, which is not, comes before it.
      if (starts ? !first : first && start_counts == AtStart::one) {
        start_counts = AtStart::several;
        return;
      }
      if (!first) return see_behind_best(crossing.t);
    }
    const float ulp = fabsf(crossing.t) * 0x1p-23f;
    set(crossing.t - ulp, crossing.t + ulp, site);
    if (starts) start_counts = AtStart::one;
  }
};

// The faces at one place: those that the place of the first one lies on.
template <class SomeRay>
struct PlaceFaces {
  static constexpr bool kSmall = false;
  static constexpr bool kFine = kIsFine<SomeRay>;
  const GeometryView& geometry;
  float blur;
  float tmin, end;
  Crossing first;
  float first_speed;
  float across;
  bool along;  // what lies within `across` of one of the two faces will do: at a low angle that is far along the ray
  Crossing farthest_one;
  LastFaces last;

  RAYLIFT_HD PlaceFaces(const GeometryView& of, const SomeRay& ray, const Face& face, float tolerance, float apart,
                        bool far_along)
      : geometry(of),
        blur(blur_of(of, ray)),
        tmin(face.crossing.t),
        end(face.crossing.t),
        first(face.crossing),
        first_speed(face.speed),
        across(tolerance),
        along(far_along),
        farthest_one(face.crossing),
        last(apart) {}
  [[nodiscard]] RAYLIFT_HD float farthest() const { return end; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  [[nodiscard]] RAYLIFT_HD float around() const { return blur; }
  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site) { return !(seen.far < tmin || seen.near > end); }
  RAYLIFT_HD void decide(const BvhView&, const SomeRay& world, Site site) {
    const Face face = face_at(geometry, world, site);
    const Crossing& crossing = face.crossing;
    if (!crossing.hit || crossing.t < tmin || crossing.t > end || crossing.before(first)) return;
    const float apart = crossing.behind(first);
    const float speed = along ? minimum(face.speed, first_speed) : maximum(face.speed, first_speed);
    if (apart * speed > across) return;
    if (farthest_one.before(crossing)) farthest_one = crossing;
    last.add(solid_of(geometry, site), site, crossing);
  }
};

// The faces at the start, and the solids that the ray passes by there.
template <class SomeRay>
struct StartFaces {
  static constexpr bool kSmall = false;
  static constexpr bool kFine = kIsFine<SomeRay>;
  static constexpr int kMaxPassed = 8;
  const GeometryView& geometry;
  float blur;
  float tmin, end;
  float across, stretch;
  LastFaces here, here_and_ahead;
  bool overflow = false;
  int passed_count = 0;
  std::uint32_t passed[kMaxPassed];

  RAYLIFT_HD StartFaces(const GeometryView& of, const SomeRay& ray, float tolerance)
      : geometry(of),
        blur(blur_of(of, ray)),
        tmin(ray.tmin),
        end(ray.tmax),
        across(tolerance),
        stretch(tolerance / largest_component(ray.direction)),
        here(stretch),
        here_and_ahead(stretch) {}
  [[nodiscard]] RAYLIFT_HD float farthest() const { return end; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  [[nodiscard]] RAYLIFT_HD float around() const { return 2 * kAtStart * stretch + blur; }
  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site) { return !(seen.far < tmin || seen.near > end); }
  RAYLIFT_HD void decide(const BvhView&, const SomeRay& world, Site site) {
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
    if (passed_count == kMaxPassed)
      overflow = true;
    else
      passed[passed_count++] = solid;
  }
};

// The first face of one solid ahead, behind where the ray begins.
template <class SomeRay>
struct FirstOfSolid {
  static constexpr bool kSmall = false;
  static constexpr bool kFine = kIsFine<SomeRay>;
  const GeometryView& geometry;
  std::uint32_t solid;
  float blur;
  float tmin, far;
  bool found = false;
  Face first{};

  RAYLIFT_HD FirstOfSolid(const GeometryView& of, const SomeRay& ray, std::uint32_t wanted)
      : geometry(of), solid(wanted), blur(blur_of(of, ray)), tmin(ray.tmin), far(ray.tmax) {}
  [[nodiscard]] RAYLIFT_HD float around() const { return blur; }
  [[nodiscard]] RAYLIFT_HD float farthest() const { return far; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site site) {
    return !(seen.far < tmin || seen.near > far) && solid_of(geometry, site) == solid;
  }
  RAYLIFT_HD void decide(const BvhView& bvh, const SomeRay& world, Site site) {
    if (id_of(bvh, site) == kNoTriangle || solid_of(geometry, site) != solid) return;
    const Face face = face_at(geometry, world, site);
    if (!face.crossing.hit || face.crossing.t <= 0 || !begins_before(world, face.crossing) ||
        (found && !face.crossing.before(first.crossing)))
      return;
    found = true;
    first = face;
    far = face.crossing.t;
  }
};

// The solids whose faces contradict the set, but for faces near to either end of the stretch.
template <class SomeRay>
struct Contradictions {
  static constexpr bool kSmall = false;
  static constexpr bool kFine = kIsFine<SomeRay>;
  static constexpr int kMax = 8;
  const GeometryView& geometry;
  Containment in;
  float blur;
  float tmin, end;
  float across;
  int count = 0;
  bool overflow = false;
  std::uint32_t solids[kMax] = {};

  [[nodiscard]] RAYLIFT_HD float farthest() const { return end; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return overflow; }
  [[nodiscard]] RAYLIFT_HD float around() const { return blur; }
  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site) { return !(seen.far < tmin || seen.near > end); }
  RAYLIFT_HD void decide(const BvhView&, const SomeRay& world, Site site) {
    const Face face = face_at(geometry, world, site);
    const float t = face.crossing.t;
    if (!face.crossing.hit || t < tmin || t >= end) return;
    const std::uint32_t solid = solid_of(geometry, site);
    if (contains(geometry.solids, in, solid) == face.crossing.from_inside) return;
    if (t * face.speed <= (kAtStart + 1) * across || (end - t) * face.speed <= across) return;
    for (int i = 0; i < count; ++i)
      if (solids[i] == solid) return;
    if (count == kMax)
      overflow = true;
    else
      solids[count++] = solid;
  }
};

}  // namespace raylift::bvh_detail
