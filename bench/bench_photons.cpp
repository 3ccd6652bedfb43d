// SPDX-License-Identifier: Apache-2.0
// Photons per second from birth to end in a tank with sensors, and what became of them, beside trace() of random rays
// in the same scene. The scene and its optics are those on which Chroma was measured: docs/performance.md.
#include "best_of.h"
#include "ray_scenes.h"

#include <raylift/geometry/optics/surface_between.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/trace.h>
#include <raylift/photon/propagate.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace raylift::bench {
namespace {

OpticalTable flat(const std::string& key, double value) {
  return {key, SpectralAxis::wavelength_nm, {200, 800}, {value, value}};
}

void add_surface(Scene& scene, const std::string& solid, double detect, double absorb, double diffuse,
                 double specular) {
  OpticalSurface surface;
  surface.name = solid + " surface";
  surface.model = SurfaceModel::simple;
  surface.properties.tables = {flat("DETECT", detect), flat("ABSORB", absorb), flat("REFLECT_DIFFUSE", diffuse),
                               flat("REFLECT_SPECULAR", specular)};
  const auto number = static_cast<std::uint32_t>(scene.optics.surfaces.size());
  scene.optics.surfaces.push_back(surface);
  SurfaceAssignment skin{SurfaceAssignment::Kind::skin, surface.name, number, {}, {}};
  skin.from.solid = solid;
  scene.optics.assignments.push_back(skin);
}

/// The detector of bench_rays within a world, with Chroma's optics.
Scene tank(std::uint32_t sensors) {
  Scene scene = instanced_detector(sensors);
  scene.materials = {{"vacuum", {}}, {"liquid", {}}};
  scene.bindings = {{0}, {1}};
  scene.nodes = {{"world", kNone, {}, kNone}, {"tank", 0, {}, kNone}, {"sensor", 1, {}, kNone}};
  Instance world = scene.instances.front();
  world.transform.scale(1.05);
  scene.instances.insert(scene.instances.begin(), world);
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i) {
    Instance& instance = scene.instances[i];
    instance.node = std::min(i, 2U);
    instance.binding = i == 1 ? 1 : 0;
    instance.outside = i == 0 ? kNone : i == 1 ? 0 : 1;
  }
  scene.bounds = world_bounds(scene);
  scene.optics.materials = {{{flat("RINDEX", 1)}, {}},
                            {{flat("RINDEX", 1.48), flat("ABSLENGTH", 80'000), flat("RAYLEIGH", 25'000)}, {}}};
  add_surface(scene, "tank", 0, 0.9, 0.1, 0);
  add_surface(scene, "sensor", 0.25, 0.65, 0.05, 0.05);
  resolve_optics(scene);
  return scene;
}

void measure(const Scene& scene, const Device& device, bool flatten, std::size_t photons) {
  UploadOptions options;
  options.bvh = true;
  options.flatten = flatten;
  options.bvh_builder = BvhBuilder::host;
  const GpuGeometry geometry = upload(scene, device, options);
  const Stream stream(device);

  double rays_rate = 0;
  {
    const std::vector<Ray> rays = random_rays(std::min<std::size_t>(photons, std::size_t{1} << 24), 10'000);
    DeviceBuffer<Ray> on_device(device, rays.size());
    const DeviceBuffer<Hit> hits(device, rays.size());
    on_device.copy_from(std::span(rays), stream);
    stream.synchronize();
    rays_rate = static_cast<double>(rays.size()) / best_of(3, [&] {
                  trace(geometry, on_device.device(), hits.device(), rays.size(), stream);
                  stream.synchronize();
                });
  }

  photon::Source source;
  source.radius = 10'000;
  const DeviceBuffer<photon::Outcome> outcomes(device, photons);
  const double time = best_of(3, [&] {
    photon::propagate(geometry, source, {.seed = 1}, outcomes.device(), photons, stream);
    stream.synchronize();
  });
  std::vector<std::uint64_t> kinds(16, 0);
  std::uint64_t steps = 0;
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::vector<photon::Outcome> piece(std::min(kPiece, photons));
  for (std::size_t first = 0; first < photons; first += kPiece) {
    const std::size_t count = std::min(kPiece, photons - first);
    outcomes.copy_to(std::span(piece).first(count), stream, first);
    stream.synchronize();
    for (std::size_t i = 0; i != count; ++i) {
      ++kinds[static_cast<std::size_t>(piece[i].last.kind)];
      steps += piece[i].steps;
    }
  }
  const auto share = [&](photon::StepKind kind) {
    return static_cast<double>(kinds[static_cast<std::size_t>(kind)]) / static_cast<double>(photons);
  };
  using photon::StepKind;
  const auto count = static_cast<double>(photons);
  std::printf("%-10s %9zu %9.1f %9.1f %9.1f %7.2f %9.4f %9.4f %9.4f %8.0f %8.0f %8.0f\n",
              flatten ? "flat" : "two-level", photons, count / time / 1e6, static_cast<double>(steps) / time / 1e6,
              rays_rate / 1e6, static_cast<double>(steps) / time / rays_rate, share(StepKind::detected),
              share(StepKind::absorbed), share(StepKind::absorbed_at_surface), share(StepKind::escaped) * count,
              share(StepKind::inconsistent) * count, share(StepKind::cut) * count);
}

}  // namespace
}  // namespace raylift::bench

int main(int argc, char** argv) {
  using namespace raylift;
  CLI::App app("Photons per second in a tank with sensors");
  std::string device = "auto";
  std::uint32_t sensors = 20'000;
  std::vector<std::size_t> photons{1'000'000};
  app.add_option("--device", device, "auto, host, or cuda:N");
  app.add_option("--sensors", sensors, "How many");
  app.add_option("--photons", photons, "Of each run");
  CLI11_PARSE(app, argc, argv);
  try {
    const Device on = Device::parse(device);
    const Scene scene = bench::tank(sensors);
    std::printf("%s, %llu triangles; Mphotons/s, Msteps/s, Mrays/s of trace(), steps per ray; shares; counts\n",
                on.info().name.c_str(), static_cast<unsigned long long>(scene.expanded_triangles()));
    std::printf("%-10s %9s %9s %9s %9s %7s %9s %9s %9s %8s %8s %8s\n", "scene", "photons", "photons/s", "steps/s",
                "rays/s", "ratio", "detected", "bulk", "surface", "escaped", "inconsis", "cut");
    for (const bool flatten : {true, false})
      for (const std::size_t count : photons) bench::measure(scene, on, flatten, count);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
