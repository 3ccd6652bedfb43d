// SPDX-License-Identifier: Apache-2.0
// Whether photons keep to their medium: random walks through solids that touch in all ways, with refraction, reflection
// and short paths, each step's medium held against an oracle. One line for each scene, in two levels, with fine
// positions, and flat. Then next_boundary's rate against closest_hit's. Ends with 1 if a medium is wrong, or a scene
// without overlaps is said to have some.
#include <raylift/gpu/memory/buffer.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "media_scenes.h"
#include "media_walk.h"

namespace raylift::bench {
namespace {

constexpr std::uint32_t kStepsOfSeries = 4096;

struct Settings {
  double steps = 0;
  double detector_checks = 0;
  std::uint32_t sensors = 0;
  std::vector<std::string> only, ways;
  Stepping stepping = Stepping::boundaries;
  double rays = 0;
  std::int64_t series = -1;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Runner {
 public:
  Runner(const Device& device, const Settings& settings)
      : device_(device), stream_(device), settings_(settings), counts_(device, 1) {}

  void run(const MediaScene& scene, MediaLevels levels) {
    const MediaOnDevice uploaded(scene, device_, levels);
    WalkTask task = uploaded.task();
    task.stepping = settings_.stepping;
    const bool detector = scene.name == "detector";
    if (detector)
      task.check_every = std::max(1U, static_cast<std::uint32_t>(settings_.steps / settings_.detector_checks));
    if (!scene.consistent) task.check_every = 0;  // which medium is right there is not defined
    if (settings_.series >= 0)
      return print_bad_steps(task, static_cast<std::uint64_t>(settings_.series), kStepsOfSeries, 5);
    const auto series = static_cast<std::uint64_t>(std::ceil(settings_.steps / kStepsOfSeries));
    // A launch takes about a second on a GPU, in any scene.
    const std::uint64_t most = device_.info().is_host ? series : std::uint64_t{132} * 2048;
    WalkCounts sum{};
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t done = 0; done < series;) {
      const std::uint64_t count = std::min(most, series - done);
      counts_.copy_from(std::span<const WalkCounts>(&sum, 1), stream_);
      walk_photons(device_, task, done, count, kStepsOfSeries, counts_.device(), stream_);
      counts_.copy_to(std::span(&sum, 1), stream_);
      stream_.synchronize();
      done += count;
    }
    const double seconds = seconds_since(start);
    std::printf("%-20s %-9s %11llu %11llu %11llu %11llu %10llu %9llu %9llu %9llu %6llu %6llu %9.1f", scene.name.c_str(),
                name_of(levels), sum.steps, sum.boundaries, sum.reflections, sum.checked, sum.skipped, sum.wrong,
                sum.inconsistent, sum.mismatched, sum.lost, sum.stuck, static_cast<double>(sum.steps) / seconds * 1e-6);
    if (sum.first_bad != 0) std::printf("  series %llu", sum.first_bad - 1);
    std::printf("\n");
    std::fflush(stdout);
    if (scene.consistent)
      bad_ += sum.wrong + sum.inconsistent + sum.mismatched + sum.lost + sum.stuck;
    else if (settings_.stepping == Stepping::boundaries)
      bad_ += sum.inconsistent == 0 ? 1 : 0;
  }

  void rates(const MediaScene& scene, MediaLevels levels) {
    const MediaOnDevice uploaded(scene, device_, levels);
    const GeometryView view = uploaded.geometry().view();
    const auto count = static_cast<std::size_t>(settings_.rays);
    const DeviceBuffer<Ray> rays(device_, count);
    const DeviceBuffer<Containment> in(device_, count);
    const DeviceBuffer<RateResult> results(device_, count);
    make_rate_rays(device_, uploaded.task(), rays.device(), in.device(), count, stream_);
    stream_.synchronize();
    const auto time = [&](const std::function<void()>& work) {
      const auto start = std::chrono::steady_clock::now();
      work();
      stream_.synchronize();
      return seconds_since(start);
    };
    // Alternates between both, after a warm-up; takes the best of each, also over the number of blocks per
    // multiprocessor.
    struct Best {
      double seconds = 1e300;
      int resident = 0;
      void see(double taken, int blocks) {
        if (taken < seconds) *this = {taken, blocks};
      }
    } closest, boundary;
    for (const int resident : {2, 4, 6, 8})
      for (int round = 0; round != 4; ++round) {
        const double a =
            time([&] { rate_closest_hit(device_, view, rays.device(), results.device(), count, resident, stream_); });
        const double b = time([&] {
          rate_next_boundary(device_, view, rays.device(), in.device(), results.device(), count, resident, stream_);
        });
        if (round == 0) continue;
        closest.see(a, resident);
        boundary.see(b, resident);
      }
    const double millions = static_cast<double>(count) * 1e-6;
    std::printf("%-20s %-9s closest_hit %8.1f Mrays/s (%d blocks), next_boundary %8.1f Mrays/s (%d), ratio %.3f\n",
                scene.name.c_str(), name_of(levels), millions / closest.seconds, closest.resident,
                millions / boundary.seconds, boundary.resident, closest.seconds / boundary.seconds);
    std::fflush(stdout);
  }

  [[nodiscard]] unsigned long long bad() const { return bad_; }

 private:
  Device device_;
  Stream stream_;
  Settings settings_;
  DeviceBuffer<WalkCounts> counts_;
  unsigned long long bad_ = 0;
};

}  // namespace
}  // namespace raylift::bench

int main(int argc, char** argv) try {
  using namespace raylift;
  using namespace raylift::bench;
  CLI::App app{"Photons that walk through solids that touch: wrong media, and what next_boundary costs"};
  std::string id = "host";
  Settings settings;
  bool exclusion = false, no_rates = false, rounded = false;
  app.add_option("--device", id, "host, cuda:0, ...");
  app.add_option("--steps", settings.steps, "of each scene and way; 1e9 by default, and 1e6 on the host");
  app.add_option("--scenes", settings.only, "names; all by default");
  app.add_option("--ways", settings.ways, "2 levels, fine, flat; all by default");
  app.add_option("--sensors", settings.sensors, "of the detector; 20000 by default, and 300 on the host");
  app.add_option("--detector-checks", settings.detector_checks, "steps whose medium is checked there; 1e7 by default");
  app.add_option("--rays", settings.rays, "for the rates; 2^24 by default, and 2^18 on the host");
  app.add_option("--series", settings.series, "print what is wrong in that series of photons, on the host");
  app.add_flag("--exclusion", exclusion, "by closest_hit without the last triangle, in place of next_boundary");
  app.add_flag("--rounded", rounded, "vertices are floats alone, as of files without more digits");
  app.add_flag("--no-rates", no_rates, "only the walks");
  CLI11_PARSE(app, argc, argv);
  const auto start = std::chrono::steady_clock::now();
  const Device device = Device::parse(id, std::uint64_t{8} << 30);
  const bool host = device.info().is_host;
  if (settings.steps <= 0) settings.steps = host ? 1e6 : 1e9;
  if (settings.sensors == 0) settings.sensors = host ? 300 : 20000;
  if (settings.rays <= 0) settings.rays = host ? 0x1p18 : 0x1p24;
  if (settings.detector_checks <= 0) settings.detector_checks = host ? 2e5 : 1e7;
  if (exclusion) settings.stepping = Stepping::exclusion;
  std::vector<MediaScene> scenes = media_scenes();
  scenes.push_back(detector_scene(settings.sensors));
  if (rounded)
    for (MediaScene& scene : scenes)
      for (Mesh& mesh : scene.scene.meshes) mesh.rests.clear();
  Runner runner(device, settings);
  std::printf("%-20s %-9s %11s %11s %11s %11s %10s %9s %9s %9s %6s %6s %9s\n", device.info().id.c_str(), "way", "steps",
              "boundaries", "reflected", "checked", "skipped", "wrong", "inconsist", "mismatch", "lost", "stuck",
              "Msteps/s");
  const auto asked = [](const std::vector<std::string>& only, const std::string& name) {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  };
  bool found = false;
  for (const MediaScene& scene : scenes)
    for (const MediaLevels levels : kMediaLevels) {
      if (!asked(settings.only, scene.name) || !asked(settings.ways, name_of(levels))) continue;
      found = true;
      runner.run(scene, levels);
    }
  if (!found) throw std::invalid_argument("no such scene, or no such way");
  if (!no_rates)
    for (const MediaLevels levels : kMediaLevels) runner.rates(scenes.back(), levels);
  std::printf("%s: %llu bad; %.0f s\n", device.info().id.c_str(), runner.bad(), seconds_since(start));
  return runner.bad() == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_media: %s\n", error.what());
  return 1;
}
