// SPDX-License-Identifier: Apache-2.0
#include "trace_rays.h"

#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/trace.h>
#include <raylift/photon/rays.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "geometry/src/stage.h"

namespace raylift::batch {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Sums are made block by block, and batches are whole blocks: so that they do not depend on the batches.
constexpr std::size_t kBlock = 4096;
constexpr std::size_t kMinBatch = 16 * kBlock;
// On a GPU enough to keep it busy, and less than the default reserve; on the host, for progress and interrupts.
constexpr std::size_t kBatch = std::size_t{1} << 22;
constexpr std::size_t kHostBatch = std::size_t{1} << 18;
constexpr std::size_t kWarmUp = 1024;

/// The memory of a batch: pinned on the host's side, so that copies run at the link's speed.
struct Room {
  Room(const Device& device, std::size_t count, bool rays_on_host)
      : rays(device, count),
        hits(device, count),
        host_rays(device, rays_on_host ? count : 1, {true, false, false}),
        host_hits(device, count, {true, false, false}) {}
  DeviceBuffer<Ray> rays;
  DeviceBuffer<Hit> hits;
  MappedBuffer<Ray> host_rays;
  MappedBuffer<Hit> host_hits;
};

std::unique_ptr<Room> make_room(const Device& device, std::uint64_t count, bool rays_on_host) {
  std::size_t batch = device.info().is_host ? kHostBatch : kBatch;
  while (batch > kMinBatch && batch / 2 >= count) batch /= 2;
  while (true) {
    try {
      return std::make_unique<Room>(device, batch, rays_on_host);
    } catch (const Error& error) {
      const bool memory =
          error.kind() == ErrorKind::out_of_device_memory || error.kind() == ErrorKind::out_of_host_memory;
      if (!memory || batch == kMinBatch) throw;
      batch /= 2;
    }
  }
}

TraceFigures figures_of(std::span<const Hit> hits) {
  TraceFigures figures;
  figures.rays = hits.size();
  for (const Hit& hit : hits) {
    if (!hit.valid()) continue;
    ++figures.hits;
    figures.from_inside += hit.from_inside;
    figures.sum += static_cast<double>(hit.t);
    figures.nearest = std::min(figures.nearest, hit.t);
    figures.farthest = std::max(figures.farthest, hit.t);
  }
  return figures;
}

void add(TraceFigures& sum, const TraceFigures& more) {
  sum.rays += more.rays;
  sum.hits += more.hits;
  sum.from_inside += more.from_inside;
  sum.sum += more.sum;
  sum.nearest = std::min(sum.nearest, more.nearest);
  sum.farthest = std::max(sum.farthest, more.farthest);
}

/// Calls work(block, its first element, its size) for all blocks of `count` elements.
template <class Work>
void for_each_block(std::size_t count, const Work& work) {
  tbb::parallel_for(std::size_t{0}, (count + kBlock - 1) / kBlock,
                    [&](std::size_t block) { work(block, block * kBlock, std::min(kBlock, count - block * kBlock)); });
}

}  // namespace

TraceRun trace_rays(const GpuGeometry& geometry, const RayMaker& make, std::uint64_t count, const Progress& progress,
                    const SeeHits& see) {
  TraceRun run;
  if (count == 0) return run;
  const Stage stage(progress, "trace", count);
  const Stream stream(geometry.device());
  const std::unique_ptr<Room> room = make_room(geometry.device(), count, static_cast<bool>(make.on_host));
  run.batch_rays = room->rays.size();
  const std::span<Ray> rays = room->host_rays.host();
  const std::span<Hit> hits = room->host_hits.host();
  std::vector<TraceFigures> blocks;
  for (std::uint64_t first = 0; first < count; first += run.batch_rays) {
    stage.advance(first);
    const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(run.batch_rays, count - first));
    Clock::time_point start = Clock::now();
    if (make.on_host) {
      for_each_block(here, [&](std::size_t, std::size_t begin, std::size_t size) {
        for (std::size_t i = begin; i != begin + size; ++i) rays[i] = make.on_host(first + i);
      });
      run.make_seconds += since(start);
      start = Clock::now();
      room->rays.copy_from(std::span<const Ray>(rays).first(here), stream);
      stream.synchronize();
      run.copy_seconds += since(start);
    } else {
      photon::make_rays(geometry, make.source, make.seed, first, room->rays.device(), here, stream);
      stream.synchronize();
      run.make_seconds += since(start);
    }

    // The first launch of a process loads the kernel.
    if (first == 0) {
      trace(geometry, room->rays.device(), room->hits.device(), std::min(here, kWarmUp), stream);
      stream.synchronize();
    }
    start = Clock::now();
    trace(geometry, room->rays.device(), room->hits.device(), here, stream);
    stream.synchronize();
    run.trace_seconds += since(start);

    start = Clock::now();
    room->hits.copy_to(hits.first(here), stream);
    stream.synchronize();
    run.copy_seconds += since(start);

    blocks.resize((here + kBlock - 1) / kBlock);
    for_each_block(here, [&](std::size_t block, std::size_t begin, std::size_t size) {
      blocks[block] = figures_of(hits.subspan(begin, size));
    });
    for (const TraceFigures& block : blocks) add(run.figures, block);
    if (see) see(first, hits.first(here));
  }
  return run;
}

}  // namespace raylift::batch
