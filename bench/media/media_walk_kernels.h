// SPDX-License-Identifier: Apache-2.0
// What host and device do alike for each photon, and the launches.
#pragma once

#include "bench/rays/random_ray.h"
#include "media_oracle.h"

namespace raylift::bench {

void launch_walk(const WalkTask& task, std::uint64_t first, std::size_t photons, std::uint32_t steps,
                 WalkCounts* counts, void* stream);
void launch_rate_rays(const WalkTask& task, Ray* rays, Containment* in, std::size_t count, void* stream);
void launch_rate_closest(const GeometryView& geometry, const Ray* rays, RateResult* results, std::size_t count,
                         int resident, void* stream);
void launch_rate_boundary(const GeometryView& geometry, const Ray* rays, const Containment* in, RateResult* results,
                          std::size_t count, int resident, void* stream);

namespace media {

RAYLIFT_HD inline float infinity() {
  return arithmetic_detail::as_float(0x7F800000u);
}

// splitmix64 over a counter; numbers in (0, 1).
class Random {
 public:
  RAYLIFT_HD explicit Random(std::uint64_t number) : state_((number + 1) * 0xD1342543DE82EF95u) {}
  RAYLIFT_HD float operator()() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (static_cast<float>((z ^ z >> 31) >> 41) + 0.5f) * 0x1p-23f;
  }

 private:
  std::uint64_t state_;
};

RAYLIFT_HD inline float dot(Float3 a, Float3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
RAYLIFT_HD inline Float3 along(Float3 a, float s, Float3 b) {
  return {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
RAYLIFT_HD inline Float3 unit(Float3 a) {
  const float scale = 1 / sqrtf(dot(a, a));
  return {scale * a.x, scale * a.y, scale * a.z};
}
RAYLIFT_HD inline Float3 isotropic(Random& random) {
  const float z = 2 * random() - 1, r = sqrtf(fmaxf(0, 1 - z * z)), a = 6.2831853f * random();
  return unit({r * cosf(a), r * sinf(a), z});
}
// By the cosine about a unit vector: the sum with a point of the unit sphere.
RAYLIFT_HD inline Float3 lambertian(Float3 normal, Random& random) {
  const Float3 sum = along(isotropic(random), 1, normal);
  return dot(sum, sum) > 1e-8f ? unit(sum) : normal;
}

// By material, so that neighbours differ.
RAYLIFT_HD inline float index_of(std::uint16_t material) {
  const float indices[5] = {1.33f, 1.0f, 1.5f, 1.2f, 1.7f};
  return material == MaterialCode::none ? 1.0f : indices[material % 5];
}

// What the documentation advised before next_boundary was there: closest_hit without the triangle that the photon is
// on, the solid before it by the hit's side.
RAYLIFT_HD inline Boundary by_exclusion(const GeometryView& geometry, Ray ray, const Containment& in,
                                        std::uint32_t triangle, std::uint32_t instance) {
  const float tmax = ray.tmax;
  ray.tmax = infinity();
  const Hit hit = closest_hit(geometry, ray, triangle, instance);
  Boundary boundary{tmax,        ray.origin,         {0, 0, 0},          in.solid, in.solid, 0,
                    kNoTriangle, MaterialCode::none, MaterialCode::none, false,    false,    in};
  if (!hit.valid()) return boundary;
  const std::uint32_t solid = geometry.solid_id(hit.instance, hit.triangle), mother = geometry.solids[solid].mother;
  const MaterialCode code = geometry.material_code(hit.instance, hit.triangle);
  const bool leaves = hit.from_inside != 0;
  boundary.from = leaves ? solid : mother;
  boundary.material_from = leaves ? code.inside : code.outside;
  boundary.to = boundary.from;
  if (!(hit.t < tmax)) return boundary;
  boundary.t = hit.t;
  boundary.point = LocalPoint(along(ray.origin, hit.t, ray.direction));
  boundary.normal = unit(hit.normal);
  boundary.to = leaves ? mother : solid;
  boundary.material_to = leaves ? code.outside : code.inside;
  boundary.instance = hit.instance;
  boundary.triangle = hit.triangle;
  boundary.from_inside = leaves;
  boundary.after.solid = boundary.to;
  return boundary;
}

/// Sees each step, the photon's solids before it, and the counts after it: nothing to do in a benchmark.
struct NoObserver {
  RAYLIFT_HD void operator()(const FineRay&, const Containment&, const Boundary&, const WalkCounts&) const {}
};

template <class Observer = NoObserver>
class Walker {
 public:
  RAYLIFT_HD Walker(const WalkTask& task, std::uint64_t number, WalkCounts& counts, const Observer& observer = {})
      : task_(task), counts_(counts), observer_(observer), random_(number) {
    start();
  }

  RAYLIFT_HD void step() {
    ++counts_.steps;
    if (in_.solid == kNoSolid || age_ >= kLife) {
      ++counts_.ended;
      start();
      return;
    }
    const bool scatters = met_ && age_ + 8 < kLife && mean_free_path_ < infinity();
    ++age_;
    const float reach = scatters ? -mean_free_path_ * logf(random_()) : infinity();
    const FineRay ray{origin_, direction_, reach};
    const Boundary next =
        task_.stepping == Stepping::boundaries
            ? next_boundary(task_.geometry, ray, in_)
            : by_exclusion(task_.geometry, {origin_.point, 0, direction_, reach}, in_, last_triangle_, last_instance_);
    last_triangle_ = kNoTriangle;
    if (next.inconsistent) ++counts_.inconsistent;
    if (!next.crosses() && !(next.t < infinity())) {
      ++counts_.lost;
      observer_(ray, in_, next, counts_);
      in_.solid = kNoSolid;
      return;
    }
    check(ray, next);
    const Containment before = in_;
    if (next.crosses()) {
      cross(ray, next);
    } else {
      still_ = 0;
      move_to(next.point, isotropic(random_));
    }
    observer_(ray, before, next, counts_);
  }

 private:
  RAYLIFT_HD void start() {
    const Float3 a = task_.start_min, b = task_.start_max;
    const LocalPoint born(a.x + random_() * (b.x - a.x), a.y + random_() * (b.y - a.y), a.z + random_() * (b.z - a.z));
    move_to(born, isotropic(random_));
    in_ = locate(task_.geometry, origin_);
    if (is_checked()) count(medium_at(task_.oracle, to_double(origin_)), in_.solid);
    const float u = random_(), v = random_();
    mean_free_path_ = u < 0.25f ? infinity() : 1e-3f * expf(v * 13.815511f);  // 1 um to 1 m
    met_ = false;
    age_ = still_ = 0;
    last_triangle_ = kNoTriangle;
  }

  RAYLIFT_HD void move_to(const FinePoint& point, Float3 direction) {
    origin_ = point;
    direction_ = direction;
  }

  // The medium at the middle of the piece of path.
  RAYLIFT_HD void check(const FineRay& ray, const Boundary& next) {
    if (!is_checked()) return;
    const double middle = 0.5 * static_cast<double>(next.t);
    const MediumAt medium = medium_at(task_.oracle, to_double(ray.origin) + middle * to_double(ray.direction));
    count(medium, task_.stepping == Stepping::boundaries ? in_.solid : next.from);
  }

  RAYLIFT_HD bool is_checked() const { return task_.check_every != 0 && counts_.steps % task_.check_every == 0; }

  RAYLIFT_HD void count(const MediumAt& medium, std::uint32_t claimed) {
    if (medium.near) {
      ++counts_.skipped;
      return;
    }
    ++counts_.checked;
    if (medium.solid != claimed) ++counts_.wrong;
  }

  RAYLIFT_HD void cross(const FineRay& ray, const Boundary& next) {
    ++counts_.boundaries;
    if (task_.stepping == Stepping::boundaries && !is_sound(ray, next)) ++counts_.mismatched;
    met_ = true;
    last_triangle_ = next.triangle;
    last_instance_ = next.instance;
    const float length = next.t;
    still_ = static_cast<double>(length) <= task_.oracle.tolerance ? still_ + 1 : 0;
    if (still_ > kStuckAfter) {
      ++counts_.stuck;
      in_.solid = kNoSolid;
      return;
    }
    // Against the ray.
    const Float3 normal = next.from_inside ? Float3{-next.normal.x, -next.normal.y, -next.normal.z} : next.normal;
    const float choice = random_();
    const Float3 d = direction_;
    if (choice < 0.2f) return reflect(next, along(d, -2 * dot(d, normal), normal));
    if (choice < 0.4f) return reflect(next, lambertian(normal, random_));
    Float3 onward = d;  // straight on
    if (choice >= 0.55f && choice < 0.85f) {
      const float ratio = index_of(next.material_from) / index_of(next.material_to);
      const float cosine = fminf(1, fmaxf(0, -dot(d, normal))), square = 1 - ratio * ratio * (1 - cosine * cosine);
      if (square < 0) return reflect(next, along(d, -2 * dot(d, normal), normal));
      const float s = ratio * cosine - sqrtf(square);
      onward = unit({ratio * d.x + s * normal.x, ratio * d.y + s * normal.y, ratio * d.z + s * normal.z});
    }
    in_ = next.after;
    move_to(next.point, onward);
  }

  RAYLIFT_HD void reflect(const Boundary& next, Float3 direction) {
    ++counts_.reflections;
    move_to(next.point, unit(direction));
  }

  RAYLIFT_HD bool is_sound(const FineRay& ray, const Boundary& next) const {
    const Vec p =
        to_double(next.point) - to_double(ray.origin) - static_cast<double>(next.t) * to_double(ray.direction);
    return next.from == in_.solid && next.to == next.after.solid && next.to != next.from &&
           fabsf(dot(next.normal, next.normal) - 1) < 1e-5f && next.t <= ray.tmax &&
           fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) <= task_.oracle.tolerance;
  }

  const WalkTask& task_;
  WalkCounts& counts_;
  const Observer& observer_;
  Random random_;
  Containment in_;
  FinePoint origin_ = LocalPoint(0, 0, 0);
  Float3 direction_{0, 0, 1};
  float mean_free_path_ = 0;
  bool met_ = false;  // a boundary: before that, photons don't scatter, so that short paths begin at surfaces
  std::uint32_t age_ = 0, still_ = 0, last_triangle_ = kNoTriangle, last_instance_ = 0;
};

RAYLIFT_HD inline unsigned long long bad(const WalkCounts& counts) {
  return counts.wrong + counts.inconsistent + counts.mismatched + counts.lost + counts.stuck;
}

template <class Observer = NoObserver>
RAYLIFT_HD inline void walk(const WalkTask& task, std::uint64_t number, std::uint32_t steps, WalkCounts& counts,
                            const Observer& observer = {}) {
  const unsigned long long bad_before = bad(counts);
  Walker<Observer> walker(task, number, counts, observer);
  for (std::uint32_t i = 0; i < steps; ++i) walker.step();
  if (bad(counts) != bad_before && (counts.first_bad == 0 || number + 1 < counts.first_bad))
    counts.first_bad = number + 1;
}

RAYLIFT_HD inline void make_rate_ray(const WalkTask& task, std::uint64_t number, Ray& ray, Containment& in) {
  Random random(number);
  const Float3 a = task.start_min, b = task.start_max;
  const Float3 origin = {a.x + random() * (b.x - a.x), a.y + random() * (b.y - a.y), a.z + random() * (b.z - a.z)};
  in = locate(task.geometry, LocalPoint(origin));
  ray = Ray{LocalPoint(origin), 0, isotropic(random), in.solid == kNoSolid ? 0 : infinity()};
}

RAYLIFT_HD inline RateResult closest_of(const GeometryView& geometry, const Ray& ray) {
  const Hit hit = closest_hit(geometry, ray);
  return {hit.t, hit.valid() ? geometry.solid_id(hit.instance, hit.triangle) : kNoSolid};
}

RAYLIFT_HD inline RateResult boundary_of(const GeometryView& geometry, const Ray& ray, const Containment& in) {
  const Boundary next = next_boundary(geometry, fine_ray(ray), in);
  return {next.t, next.to};
}

}  // namespace media
}  // namespace raylift::bench
