// SPDX-License-Identifier: Apache-2.0
#include "exact_rays.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <mutex>

#include "exact_rays_kernels.h"

namespace raylift::bench {
namespace {

constexpr std::size_t kGrain = 4096;

template <class Work>
void for_ranges(std::size_t count, const Work& work) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, kGrain),
                    [&](const auto& range) { work(range.begin(), range.end()); });
}

}  // namespace

void make_exact_rays(const Device& device, const ExactShape& shape, Ray* rays, std::uint64_t first, std::size_t count,
                     const Stream& stream) {
  if (!device.info().is_host) return launch_exact_rays(shape, rays, first, count, stream.handle());
  for_ranges(count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i != end; ++i) rays[i] = exact::make_ray(shape, first + i);
  });
}

void trace_by_thread(const Device& device, const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count,
                     const Stream& stream) {
  if (!device.info().is_host) return launch_by_thread(geometry, rays, hits, count, stream.handle());
  for_ranges(count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i != end; ++i) hits[i] = closest_hit(geometry, rays[i]);
  });
}

void count_exact_hits(const Device& device, const ExactShape& shape, const Ray* rays, const Hit* hits,
                      std::size_t count, std::size_t check, ExactCounts* counts, const Stream& stream) {
  if (!device.info().is_host) return launch_count_exact(shape, rays, hits, count, check, counts, stream.handle());
  std::mutex mutex;
  for_ranges(count, [&](std::size_t begin, std::size_t end) {
    ExactCounts own{};
    for (std::size_t i = begin; i != end; ++i) exact::add_hit(shape, rays[i], hits[i], i < check, own);
    const std::lock_guard lock(mutex);
    counts->rays += own.rays;
    counts->lost += own.lost;
    counts->wrong_side += own.wrong_side;
    counts->checked += own.checked;
    counts->undecided += own.undecided;
    counts->differ += own.differ;
    counts->worst_t = std::max(counts->worst_t, own.worst_t);
  });
}

#ifndef RAYLIFT_WITH_CUDA
void launch_exact_rays(const ExactShape&, Ray*, std::uint64_t, std::size_t, void*) {}
void launch_by_thread(const GeometryView&, const Ray*, Hit*, std::size_t, void*) {}
void launch_count_exact(const ExactShape&, const Ray*, const Hit*, std::size_t, std::size_t, ExactCounts*, void*) {}
#endif

}  // namespace raylift::bench
