// SPDX-License-Identifier: Apache-2.0
// The set of solids behind the faces at one place. docs/boundaries.md has the rule.
#pragma once

#include <raylift/gpu/rays/detail/boundary_faces.h>

namespace raylift::bvh_detail {

// Solids and the last of their faces in a stretch of the ray: behind it the ray is in a solid if it entered it there.
struct LastFaces {
  static constexpr int kMax = 16;
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
  Last faces[kMax];

  RAYLIFT_HD explicit LastFaces(float at_one_place) : apart(at_one_place) {}
  // The solid's entry; a new one if there is none. Null: there is no room.
  RAYLIFT_HD Last* find(std::uint32_t solid) {
    for (int i = 0; i < count; ++i)
      if (faces[i].solid == solid) return &faces[i];
    if (count == kMax) {
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
      const float later = crossing.behind(last->crossing);
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

}  // namespace raylift::bvh_detail
