// SPDX-License-Identifier: Apache-2.0
// Photons per second from emission to end, and counts of their ends, beside trace() of random rays in the same scene.
// By default that is a tank with sensors, with the optics on which Chroma was measured: docs/performance.md.
#include "bench/best_of.h"
#include "bench/rays/ray_scenes.h"
#include "tank.h"

#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/trace.h>
#include <raylift/photon/load_source.h>
#include <raylift/photon/propagate.h>
#include <raylift/photon/simulation.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace raylift::bench {
namespace {

/// A hash of a photon's end. Two runs with equal sums of these have the same photons.
std::uint64_t digest(const photon::Outcome& outcome) {
  const auto mix = [](std::uint64_t h, std::uint64_t value) {
    h = (h ^ value) * 0x9E3779B97F4A7C15U;
    return h ^ h >> 29;
  };
  std::uint64_t h = mix(outcome.history, outcome.steps);
  for (const float x : {outcome.photon.position.x, outcome.photon.position.y, outcome.photon.position.z,
                        outcome.photon.time, outcome.photon.wavelength})
    h = mix(h, std::bit_cast<std::uint32_t>(x));
  return h;
}

/// The rays of the photons' own steps, from one event to the next: the first ones of all photons, then the second ones.
/// Rays of steps that end in the bulk are as long as the step.
std::vector<Ray> own_rays(const GpuGeometry& geometry, const photon::Source& source, std::size_t most) {
  namespace opticks = photon::opticks;
  const std::size_t photons = std::max<std::size_t>(1, most / 8);
  const std::vector<photon::PhotonRow> rows = photon::record(geometry, source, {.seed = 1}, photons);
  constexpr std::size_t kRows = photon::kSequenceEvents;
  std::vector<Ray> rays;
  for (std::size_t step = 0; step + 1 != kRows; ++step)
    for (std::size_t i = 0; i != photons && rays.size() != most; ++i) {
      const photon::PhotonRow &begin = rows[i * kRows + step], &end = rows[i * kRows + step + 1];
      if (end.flag == 0) continue;
      const LocalPoint from = geometry.view().from_scene(begin.position), to = geometry.view().from_scene(end.position);
      const bool in_bulk = (end.flag & (opticks::kBulkAbsorb | opticks::kBulkReemit | opticks::kBulkScatter)) != 0;
      const float length = std::hypot(to.x - from.x, to.y - from.y, to.z - from.z);
      rays.push_back({from, 0, begin.direction, in_bulk ? length : std::numeric_limits<float>::infinity()});
    }
  return rays;
}

/// Rays per second of trace().
double traced(const GpuGeometry& geometry, const std::vector<Ray>& rays, const Stream& stream) {
  DeviceBuffer<Ray> on_device(geometry.device(), rays.size());
  const DeviceBuffer<Hit> hits(geometry.device(), rays.size());
  on_device.copy_from(std::span(rays), stream);
  stream.synchronize();
  return static_cast<double>(rays.size()) / best_of(3, [&] {
           trace(geometry, on_device.device(), hits.device(), rays.size(), stream);
           stream.synchronize();
         });
}

/// `share`: of the geometry's bytes, on the device.
void measure(const Scene& scene, const Device& device, bool flatten, const std::string& from, double share,
             std::size_t photons) {
  UploadOptions options;
  options.bvh = true;
  options.flatten = flatten;
  options.bvh_builder = UploadOptions::BvhBuilder::host;
  GpuGeometry geometry = upload(scene, device, options);
  if (share < 1) {
    options.reserve = 0;
    options.budget = static_cast<std::uint64_t>(share * static_cast<double>(geometry.report().bytes()));
    geometry = upload(scene, device, options);
  }
  const Stream stream(device);

  const std::size_t most_rays = std::min<std::size_t>(photons, std::size_t{1} << 24);
  const double rays_rate = traced(geometry, random_rays(most_rays, to_eigen(scene.bounds.size()).norm() / 7), stream);
  const photon::LoadedSource loaded(from, geometry, 1);
  const photon::Source& source = loaded.source();
  const double own_rate = traced(geometry, own_rays(geometry, source, most_rays), stream);
  const DeviceBuffer<photon::Outcome> outcomes(device, photons);
  const double time = best_of(3, [&] {
    photon::propagate(geometry, source, {.seed = 1}, outcomes.device(), photons, stream);
    stream.synchronize();
  });
  std::vector<std::uint64_t> kinds(16, 0);
  std::uint64_t steps = 0, digests = 0;
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::vector<photon::Outcome> piece(std::min(kPiece, photons));
  for (std::size_t first = 0; first < photons; first += kPiece) {
    const std::size_t count = std::min(kPiece, photons - first);
    outcomes.copy_to(std::span(piece).first(count), stream, first);
    stream.synchronize();
    for (std::size_t i = 0; i != count; ++i) {
      ++kinds[static_cast<std::size_t>(piece[i].last.kind)];
      steps += piece[i].steps;
      digests += digest(piece[i]);
    }
  }
  const auto of = [&](photon::StepKind kind) {
    return static_cast<double>(kinds[static_cast<std::size_t>(kind)]) / static_cast<double>(photons);
  };
  using photon::StepKind;
  const auto count = static_cast<double>(photons);
  std::printf("%-10s %8.1f %4.0f %9zu %9.1f %9.1f %9.1f %9.1f %7.2f %9.4f %9.4f %9.4f %8.0f %8.0f %8.0f %016llx\n",
              flatten ? "flat" : "two-level", static_cast<double>(geometry.report().bytes()) / 1e6, 100 * share,
              photons, count / time / 1e6, static_cast<double>(steps) / time / 1e6, rays_rate / 1e6, own_rate / 1e6,
              static_cast<double>(steps) / time / own_rate, of(StepKind::detected), of(StepKind::absorbed),
              of(StepKind::absorbed_at_surface), of(StepKind::escaped) * count, of(StepKind::inconsistent) * count,
              of(StepKind::cut) * count, static_cast<unsigned long long>(digests));
}

/// A run in batches, of any length: its hits are copied to the host and counted there.
void stream_hits(const Scene& scene, const Device& device, const std::string& from, std::uint64_t photons) {
  UploadOptions options;
  options.bvh = true;
  const GpuGeometry geometry = upload(scene, device, options);
  const photon::LoadedSource loaded(from, geometry, 1);
  const std::uint64_t free_before = device.memory_info().free_bytes;
  std::uint64_t hits = 0, least_free = free_before;
  photon::Simulation::Results results;
  results.hits = [&](std::span<const photon::PhotonRow> rows) { hits += rows.size(); };
  results.done = [&](std::uint64_t) { least_free = std::min(least_free, device.memory_info().free_bytes); };
  photon::Simulation simulation(geometry);
  (void)simulation.run(loaded.source(), {.seed = 1}, std::min<std::uint64_t>(photons, 1U << 22), results);  // warm
  hits = 0;
  const double time = seconds([&] { (void)simulation.run(loaded.source(), {.seed = 1}, photons, results); });
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%14llu %10.2f %9.1f %14llu %9.3f %10.1f %8.2f\n", static_cast<unsigned long long>(photons), time,
              static_cast<double>(photons) / time / 1e6, static_cast<unsigned long long>(hits),
              static_cast<double>(hits) * sizeof(photon::PhotonRow) / time / 1e9,
              static_cast<double>(free_before - least_free) / 1e6, static_cast<double>(usage.ru_maxrss) / 1e6);
}

}  // namespace
}  // namespace raylift::bench

int main(int argc, char** argv) {
  using namespace raylift;
  CLI::App app("Photons per second in a tank with sensors, or in a scene");
  std::string file, source = "ball:0,0,0,10m";
  std::string device = "auto";
  std::uint32_t sensors = 20'000;
  std::vector<std::size_t> photons{1'000'000};
  std::vector<double> percents{100};
  std::vector<std::uint64_t> streams;
  app.add_option("--device", device, "auto, host, or cuda:N");
  app.add_option("--sensors", sensors, "How many");
  app.add_option("--scene", file, "A scene with optics, instead of the tank");
  app.add_option("--source", source, "Where photons are born: docs/photons.md");
  app.add_option("--photons", photons, "Of each run");
  app.add_option("--stream", streams, "Photons of runs in batches, in two levels, whose hits come to the host");
  app.add_option("--percent", percents, "Of the geometry's bytes, that may be on the device");
  CLI11_PARSE(app, argc, argv);
  try {
    const Device on = Device::parse(device);
    const Scene scene = file.empty() ? bench::tank(sensors) : load(file);
    if (!streams.empty()) {
      std::printf("%14s %10s %9s %14s %9s %10s %8s\n", "photons", "seconds", "million/s", "hits", "GB/s", "device MB",
                  "RSS GB");
      for (const std::uint64_t count : streams) bench::stream_hits(scene, on, source, count);
      return 0;
    }
    std::printf(
        "%s, %llu triangles; Mphotons/s, Msteps/s, Mrays/s of trace(): of random\n"
        "rays, and of those of the photons' own steps; steps per own ray; shares; counts\n",
        on.info().name.c_str(), static_cast<unsigned long long>(scene.expanded_triangles()));
    std::printf("%-10s %8s %4s %9s %9s %9s %9s %9s %7s %9s %9s %9s %8s %8s %8s %16s\n", "scene", "MB", "%", "photons",
                "photons/s", "steps/s", "rays/s", "own/s", "ratio", "detected", "bulk", "surface", "escaped",
                "inconsis", "cut", "digest");
    for (const bool flatten : {true, false})
      for (const double percent : percents)
        for (const std::size_t count : photons) bench::measure(scene, on, flatten, source, percent / 100, count);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
