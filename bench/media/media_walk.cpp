// SPDX-License-Identifier: Apache-2.0
#include "media_walk.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "media_walk_kernels.h"

namespace raylift::bench {
namespace {

template <class Work>
void for_each(std::size_t count, const Work& work) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 4096), [&](const auto& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) work(i);
  });
}

}  // namespace

void walk_photons(const Device& device, const WalkTask& task, std::uint64_t first, std::size_t photons,
                  std::uint32_t steps, WalkCounts* counts, const Stream& stream) {
  if (!device.info().is_host) return launch_walk(task, first, photons, steps, counts, stream.handle());
  std::mutex mutex;
  tbb::parallel_for(std::size_t{0}, photons, [&](std::size_t i) {
    WalkCounts own{};
    media::walk(task, first + i, steps, own);
    const std::lock_guard lock(mutex);
    counts->steps += own.steps;
    counts->boundaries += own.boundaries;
    counts->reflections += own.reflections;
    counts->ended += own.ended;
    counts->checked += own.checked;
    counts->skipped += own.skipped;
    counts->wrong += own.wrong;
    counts->inconsistent += own.inconsistent;
    counts->mismatched += own.mismatched;
    counts->lost += own.lost;
    counts->stuck += own.stuck;
    if (own.first_bad != 0 && (counts->first_bad == 0 || own.first_bad < counts->first_bad))
      counts->first_bad = own.first_bad;
  });
}

void print_bad_steps(const WalkTask& task, std::uint64_t number, std::uint32_t steps, int most) {
  struct Step {
    FineRay ray;
    Containment in;
    Boundary next;
    WalkCounts counts;
  };
  const auto print = [](const Step& s) {
    const FineRay& r = s.ray;
    const Boundary& b = s.next;
    const auto id = [](std::uint32_t solid) { return static_cast<int>(solid); };  // -1: none
    std::printf("step %llu: wrong %llu, inconsistent %llu, mismatched %llu, lost %llu, stuck %llu\n", s.counts.steps,
                s.counts.wrong, s.counts.inconsistent, s.counts.mismatched, s.counts.lost, s.counts.stuck);
    std::printf("  ray {%.9g, %.9g, %.9g} {%.9g, %.9g, %.9g} tmax %.9g in %d (%d %d)\n", r.origin.point.x,
                r.origin.point.y, r.origin.point.z, r.direction.x, r.direction.y, r.direction.z, r.tmax, id(s.in.solid),
                id(s.in.exceptions[0]), id(s.in.exceptions[1]));
    std::printf("  t %.9g normal {%.5f, %.5f, %.5f} from %d to %d (%d %d), triangle %d of instance %u, %s%s\n", b.t,
                b.normal.x, b.normal.y, b.normal.z, id(b.from), id(b.to), id(b.after.exceptions[0]),
                id(b.after.exceptions[1]), id(b.triangle), b.instance, b.from_inside ? "from inside" : "from outside",
                b.inconsistent ? ", inconsistent" : "");
  };
  Step last[2] = {};
  int printed = 0;
  const auto observer = [&](const FineRay& ray, const Containment& in, const Boundary& next, const WalkCounts& counts) {
    const Step step{ray, in, next, counts};
    if (media::bad(counts) != media::bad(last[1].counts) && printed++ < most) {
      for (const Step& before : last)
        if (before.counts.steps != 0) print(before);
      print(step);
      std::printf("\n");
    }
    last[0] = last[1];
    last[1] = step;
  };
  WalkCounts counts{};
  media::walk(task, number, steps, counts, observer);
}

void make_rate_rays(const Device& device, const WalkTask& task, Ray* rays, Containment* in, std::size_t count,
                    const Stream& stream) {
  if (!device.info().is_host) return launch_rate_rays(task, rays, in, count, stream.handle());
  for_each(count, [&](std::size_t i) { media::make_rate_ray(task, i, rays[i], in[i]); });
}

void rate_closest_hit(const Device& device, const GeometryView& geometry, const Ray* rays, RateResult* results,
                      std::size_t count, [[maybe_unused]] int resident, const Stream& stream) {
  if (!device.info().is_host) return launch_rate_closest(geometry, rays, results, count, resident, stream.handle());
  for_each(count, [&](std::size_t i) { results[i] = media::closest_of(geometry, rays[i]); });
}

void rate_next_boundary(const Device& device, const GeometryView& geometry, const Ray* rays, const Containment* in,
                        RateResult* results, std::size_t count, [[maybe_unused]] int resident, const Stream& stream) {
  if (!device.info().is_host)
    return launch_rate_boundary(geometry, rays, in, results, count, resident, stream.handle());
  for_each(count, [&](std::size_t i) { results[i] = media::boundary_of(geometry, rays[i], in[i]); });
}

#ifndef RAYLIFT_WITH_CUDA
void launch_walk(const WalkTask&, std::uint64_t, std::size_t, std::uint32_t, WalkCounts*, void*) {}
void launch_rate_rays(const WalkTask&, Ray*, Containment*, std::size_t, void*) {}
void launch_rate_closest(const GeometryView&, const Ray*, RateResult*, std::size_t, int, void*) {}
void launch_rate_boundary(const GeometryView&, const Ray*, const Containment*, RateResult*, std::size_t, int, void*) {}
#endif

}  // namespace raylift::bench
