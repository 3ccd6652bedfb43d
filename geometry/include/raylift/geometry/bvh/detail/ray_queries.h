// SPDX-License-Identifier: Apache-2.0
// What walks through a tree look for (see ray_walk.h): the nearest hit, any hit, how many there are.
#pragma once

#include <raylift/geometry/bvh/detail/ray_walk.h>

namespace raylift::bvh_detail {

// Filters select triangles: bool accept(bvh, site), and, where kOfCrossings, bool accept(bvh, site, crossing).
struct Any {
  static constexpr bool kOfCrossings = false;
  RAYLIFT_HD bool accept(const BvhView&, Site) const { return true; }
};

struct OtherThan {
  static constexpr bool kOfCrossings = false;
  std::uint32_t triangle, instance;
  RAYLIFT_HD bool accept(const BvhView& bvh, Site site) const {
    return triangle == kNoTriangle || triangle_of(bvh, site) != triangle || instance_of(bvh, site) != instance;
  }
};

// A caller's accept(instance, triangle, from_inside, t).
template <class Accept>
struct AcceptedBy {
  static constexpr bool kOfCrossings = true;
  const Accept& accepts;
  RAYLIFT_HD bool accept(const BvhView& bvh, Site site, const Crossing& crossing) const {
    return accepts(instance_of(bvh, site), triangle_of(bvh, site), crossing.from_inside, crossing.t);
  }
};

// A caller's accept(instance, triangle).
template <class Accept>
struct AcceptedSites {
  static constexpr bool kOfCrossings = false;
  const Accept* accepts;  // not a reference: queries are copied
  RAYLIFT_HD bool accept(const BvhView& bvh, Site site) const {
    return (*accepts)(instance_of(bvh, site) & 0x7FFFFFFFu, triangle_of(bvh, site));
  }
};

template <class Filter>
RAYLIFT_HD inline bool accepts(const Filter& filter, const BvhView& bvh, Site site, const Crossing& crossing) {
  if constexpr (Filter::kOfCrossings)
    return filter.accept(bvh, site, crossing);
  else
    return filter.accept(bvh, site);
}

// Which of two crossings counts where both are at the same place: the one of the lowest pair, so that the order of
// visits is of no consequence; of instances of one mesh the lowest.
RAYLIFT_HD inline bool comes_first(const BvhView& bvh, Site a, Site b) {
  return a.triangle != b.triangle ? a.triangle < b.triangle : instance_of(bvh, a) < instance_of(bvh, b);
}

// The nearest triangle. Its t lies between near and far; far is a member as nodes are compared with it, and what is
// looked at only where a triangle is hit lies in `cold`.
template <class Filter, class SomeCold = Cold>
struct Nearest {
  static constexpr bool kSmall = !Filter::kOfCrossings;
  float tmin;
  float far;
  SomeCold cold;
  Filter filter;

  RAYLIFT_HD Nearest(const Ray& ray, SomeCold memory, const Filter& accepted)
      : tmin(ray.tmin), far(ray.tmax), cold(memory), filter(accepted) {
    set(ray.tmax, ray.tmax, {kNoTriangle, kNoInstance});
  }
  [[nodiscard]] RAYLIFT_HD float farthest() const { return far; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  // That of no triangle: nothing was hit.
  [[nodiscard]] RAYLIFT_HD Site site() const { return cold.site(); }

  RAYLIFT_HD bool offer(const BvhView& bvh, const Impression& seen, Site site) {
    if constexpr (!Filter::kOfCrossings)
      if (seen.near > tmin && seen.far < cold.near()) {
        if (filter.accept(bvh, site)) set(seen.near, seen.far, site);
        return false;
      }
    return !(seen.far < tmin || seen.near > far);
  }

  RAYLIFT_HD void decide(const BvhView& bvh, const Ray& world, Site site) {
    const Crossing crossing = cross(bvh.nodes, bvh.pairs, world, site);
    if (!crossing.hit || crossing.t < tmin || !accepts(filter, bvh, site, crossing)) return;
    if (const Site best = this->site(); best.triangle == kNoTriangle) {
      if (!(crossing.t < far)) return;
    } else {
      const Crossing before = cross(bvh.nodes, bvh.pairs, world, best);
      if (!crossing.before(before) && !(crossing.same_place(before) && comes_first(bvh, site, best))) return;
    }
    const float ulp = fabsf(crossing.t) * 0x1p-23f;
    set(crossing.t - ulp, crossing.t + ulp, site);
  }

 private:
  RAYLIFT_HD void set(float near, float far_end, Site site) {
    far = far_end;
    cold.set(site, near);
  }
};

template <bool kScene, class Filter>
RAYLIFT_HD inline Site nearest(const BvhView& bvh, const Ray& ray, const Filter& filter) {
  Stack<kScene> stack;
  Nearest<Filter> query(ray, stack.cold(), filter);
  traverse<kScene>(bvh, ray, stack, query);
  return query.site();
}

// How many triangles the ray meets. kFirst: one will do.
template <bool kFirst, class Filter>
struct HitCount {
  static constexpr bool kSmall = !Filter::kOfCrossings;
  float tmin, tmax;
  Filter filter;
  std::uint32_t count;

  [[nodiscard]] RAYLIFT_HD float farthest() const { return tmax; }
  [[nodiscard]] RAYLIFT_HD bool done() const { return kFirst && count != 0; }
  RAYLIFT_HD bool offer(const BvhView& bvh, const Impression& seen, Site site) {
    if constexpr (!Filter::kOfCrossings)
      if (seen.near > tmin && seen.far < tmax) {
        if (filter.accept(bvh, site)) ++count;
        return false;
      }
    return !(seen.far < tmin || seen.near > tmax);
  }
  RAYLIFT_HD void decide(const BvhView& bvh, const Ray& world, Site site) {
    const Crossing crossing = cross(bvh.nodes, bvh.pairs, world, site);
    if (crossing.hit && crossing.t >= tmin && crossing.t < tmax && accepts(filter, bvh, site, crossing)) ++count;
  }
};

template <bool kScene, bool kFirst, class Filter>
RAYLIFT_HD inline std::uint32_t count_hits(const BvhView& bvh, const Ray& ray, const Filter& filter) {
  Stack<kScene> stack;
  HitCount<kFirst, Filter> query{ray.tmin, ray.tmax, filter, 0};
  traverse<kScene>(bvh, ray, stack, query);
  return query.count;
}

// The first hits of a ray, as many as there is room for, behind those that are known. kCountsAll: the walk goes on
// behind them, and counts.
template <bool kCountsAll, class Filter>
struct FirstHits {
  static constexpr bool kSmall = false;
  // What the memory of a hit holds until the walk has ended.
  struct HitPlace {
    float t, t_low;
    Site site;
  };
  static RAYLIFT_HD HitPlace place_of(const Hit& hit) { return {hit.t, hit.u, {hit.triangle, as_bits(hit.v)}}; }
  static RAYLIFT_HD void keep(Hit& hit, const HitPlace& place) {
    hit.t = place.t;
    hit.u = place.t_low;
    hit.triangle = place.site.triangle;
    hit.v = as_float(place.site.placed);
  }

  float tmin, tmax;
  Filter filter;
  Hit* hits;  // a heap: the last one first
  std::uint32_t room;
  HitPlace known;  // no triangle: none is
  std::uint32_t held, count;

  RAYLIFT_HD FirstHits(const Ray& ray, const Filter& accepted, Hit* memory, std::uint32_t capacity)
      : tmin(ray.tmin),
        tmax(ray.tmax),
        filter(accepted),
        hits(memory),
        room(capacity),
        known{0, 0, {kNoTriangle, kNoInstance}},
        held(0),
        count(0) {}
  // The next walk finds hits behind that place, which is the last one that was held.
  RAYLIFT_HD void go_on_behind(const HitPlace& place) {
    known = place;
    tmin = place.t;
    held = count = 0;
  }
  [[nodiscard]] RAYLIFT_HD float farthest() const {
    return kCountsAll || held < room ? tmax : hits[0].t + fabsf(hits[0].t) * 0x1p-23f;
  }
  [[nodiscard]] RAYLIFT_HD bool done() const { return false; }
  RAYLIFT_HD bool offer(const BvhView&, const Impression& seen, Site) {
    return !(seen.far < tmin || seen.near > farthest());
  }
  RAYLIFT_HD void decide(const BvhView& bvh, const Ray& world, Site site) {
    const Crossing crossing = cross(bvh.nodes, bvh.pairs, world, site);
    if (!crossing.hit || crossing.t < tmin || !(crossing.t < tmax) || !accepts(filter, bvh, site, crossing)) return;
    const HitPlace place{crossing.t, crossing.t_low, site};
    if (known.site.triangle != kNoTriangle && !before(bvh, known, place)) return;
    ++count;
    if (held < room) {
      rise(bvh, place, held++);
    } else if (room != 0 && before(bvh, place, place_of(hits[0]))) {
      sink(bvh, place, room);
    }
  }
  // In their order along the ray.
  RAYLIFT_HD void sort(const BvhView& bvh) {
    for (std::uint32_t left = held; left > 1;) {
      const HitPlace last = place_of(hits[--left]);
      keep(hits[left], place_of(hits[0]));
      sink(bvh, last, left);
    }
  }

 private:
  static RAYLIFT_HD bool before(const BvhView& bvh, const HitPlace& a, const HitPlace& b) {
    if (a.t != b.t) return a.t < b.t;
    return a.t_low != b.t_low ? a.t_low < b.t_low : comes_first(bvh, a.site, b.site);
  }
  // Puts a place into the heap, for its last element.
  RAYLIFT_HD void rise(const BvhView& bvh, const HitPlace& place, std::uint32_t at) {
    while (at != 0) {
      const std::uint32_t parent = (at - 1) / 2;
      if (!before(bvh, place_of(hits[parent]), place)) break;
      keep(hits[at], place_of(hits[parent]));
      at = parent;
    }
    keep(hits[at], place);
  }
  // Puts a place into a heap of so many, for its top.
  RAYLIFT_HD void sink(const BvhView& bvh, const HitPlace& place, std::uint32_t size) {
    std::uint32_t at = 0;
    while (2 * at + 1 < size) {
      std::uint32_t child = 2 * at + 1;
      if (child + 1 < size && before(bvh, place_of(hits[child]), place_of(hits[child + 1]))) ++child;
      if (!before(bvh, place, place_of(hits[child]))) break;
      keep(hits[at], place_of(hits[child]));
      at = child;
    }
    keep(hits[at], place);
  }
};

template <bool kScene, class Filter>
RAYLIFT_HD inline bool hits_any(const BvhView& bvh, const Ray& ray, const Filter& filter) {
  return count_hits<kScene, true>(bvh, ray, filter) != 0;
}

// (b - a) x (c - a), rounded from double: exact to a float's precision in triangles of any shape.
RAYLIFT_HD inline Float3 normal_of(Float3 a, Float3 b, Float3 c) {
  const auto d = [](float x, float y) { return static_cast<double>(x) - static_cast<double>(y); };
  const double ex = d(b.x, a.x), ey = d(b.y, a.y), ez = d(b.z, a.z), fx = d(c.x, a.x), fy = d(c.y, a.y),
               fz = d(c.z, a.z);
  return {static_cast<float>(product(ey, fz) - product(ez, fy)), static_cast<float>(product(ez, fx) - product(ex, fz)),
          static_cast<float>(product(ex, fy) - product(ey, fx))};
}

// The hit at a site that a walk has found, in the terms of the triangle's own vertices and in its mesh's frame.
template <class Bvh>
RAYLIFT_HD inline Hit hit_of(const Bvh& bvh, const Ray& world, Site site) {
  Hit hit{world.tmax, kNoTriangle, 0, 0, {0, 0, 0}, 0, 0};
  if (site.triangle == kNoTriangle) return hit;
  const BvhNode* const placed = site.placed == kNoInstance ? nullptr : bvh.node(site.placed);
  const RayAndTriangle in = at_elements(placed, bvh.pair(site.triangle >> 1), world, site);
  std::uint32_t id = id_of(bvh, site);
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(id));  // the compiler would read it where it is used, and wait once more
#endif
  const std::uint32_t rotation = id & 3u;
  const Crossing crossing = cross(in, true);
  hit.t = crossing.t;
  hit.normal = normal_of(in.a, in.b, in.c);
  // Stored vertex k is the triangle's (k + r) % 3, so its own vertex j is stored at (j + 3 - r) % 3.
  hit.triangle = id >> 2;
  const float first = 1.0f - crossing.u - crossing.v;
  hit.u = rotation == 0 ? crossing.u : rotation == 1 ? first : crossing.v;
  hit.v = rotation == 0 ? crossing.v : rotation == 1 ? crossing.u : first;
  hit.instance = instance_of(bvh, site) & 0x7FFFFFFFu;
  hit.from_inside = crossing.from_inside ? 1 : 0;
  return hit;
}

}  // namespace raylift::bvh_detail
