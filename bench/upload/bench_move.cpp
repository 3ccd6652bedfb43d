// SPDX-License-Identifier: Apache-2.0
// Scenes that move: new transforms on the device beside a full upload, and rays through the level that was built anew
// beside the uploaded one. Every ratio within one run.
#include "bench/best_of.h"
#include "bench/rays/ray_scenes.h"

#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/trace.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace raylift::bench {
namespace {

struct Settings {
  std::string device = "auto";
  std::string file;
  std::uint32_t sensors = 20'000;
  std::size_t rays = std::size_t{1} << 23;
  int rounds = 10;
};

double trace_seconds(const GpuGeometry& geometry, const DeviceBuffer<Ray>& rays, const DeviceBuffer<Hit>& hits,
                     const Settings& settings, const Stream& stream) {
  return best_of(settings.rounds, [&] {
    trace(geometry, rays.device(), hits.device(), rays.size(), stream);
    stream.synchronize();
  });
}

void move(const char* name, const Scene& scene, double radius, const Device& device, const Settings& settings) {
  UploadOptions options;
  options.reserve = 0;
  GpuGeometry geometry = upload(scene, device, options);
  const double whole = best_of(3, [&] { return upload(scene, device, options); });
  const Stream stream(device);
  const std::vector<Ray> host_rays = random_rays(settings.rays, radius);
  DeviceBuffer<Ray> rays(device, host_rays.size());
  const DeviceBuffer<Hit> hits(device, host_rays.size());
  rays.copy_from(host_rays, stream);
  const double before = trace_seconds(geometry, rays, hits, settings, stream);

  std::vector<std::uint32_t> all(scene.instances.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<Transform> transforms;
  for (const Instance& instance : scene.instances) transforms.emplace_back(instance.transform);
  geometry.set_transforms(all, transforms, stream);  // what the first call finds out once
  const double of_all = best_of(settings.rounds, [&] { geometry.set_transforms(all, transforms, stream); });
  const std::span<const std::uint32_t> one(all.data() + all.size() / 2, 1);
  const std::span<const Transform> its(transforms.data() + all.size() / 2, 1);
  const double of_one = best_of(settings.rounds, [&] { geometry.set_transforms(one, its, stream); });
  const double after = trace_seconds(geometry, rays, hits, settings, stream);
  std::printf("| %s | %zu | %.2f | %.3f | %.3f | %.0f | %.3f |\n", name, all.size(), whole * 1e3, of_all * 1e3,
              of_one * 1e3, whole / of_all, before / after);
  std::fflush(stdout);
}

}  // namespace
}  // namespace raylift::bench

int main(int argc, char** argv) try {
  using namespace raylift;
  using namespace raylift::bench;
  CLI::App app{"Scenes that move"};
  Settings settings;
  app.add_option("--device", settings.device, "auto, host or cuda:N");
  app.add_option("--sensors", settings.sensors, "of the scene made here");
  app.add_option("--rays", settings.rays, "of each rate");
  app.add_option("--rounds", settings.rounds, "the best of that many counts");
  app.add_option("file", settings.file, "a scene, beside the one made here");
  CLI11_PARSE(app, argc, argv);
  const Device device = Device::parse(settings.device, std::uint64_t{16} << 30);
  std::printf("device %s (%s)\n\n", device.info().id.c_str(), device.info().name.c_str());
  std::printf(
      "| scene | solids | upload, ms | set_transforms of all, ms | of one, ms | upload / of all | rays/s after / "
      "before "
      "|\n|---|---|---|---|---|---|---|\n");
  if (!settings.file.empty()) {
    const Scene scene = load(settings.file);
    move("file", scene, 0.25 * to_eigen(scene.bounds.size()).maxCoeff(), device, settings);
  }
  move("sensors in a sphere", instanced_detector(settings.sensors), 15'000, device, settings);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_move: %s\n", error.what());
  return 1;
}
