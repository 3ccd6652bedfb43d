// SPDX-License-Identifier: Apache-2.0
// What it costs rays that not everything fits onto the device, and that a scene has two levels; and whether any of very
// many rays gets out of a closed mesh. Every ratio within one run.
#include "bvh_quality.h"
#include "closed_rays.h"
#include "ray_scenes.h"

#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/trace.h>
#include <tbb/parallel_for.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

namespace raylift::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  std::string device = "auto";
  std::string scene = "2236";
  std::string file;
  std::size_t rays = std::size_t{1} << 24;
  int rounds = 3;
  std::uint64_t closed = 0;
  std::vector<int> percent{90, 75, 60, 50, 40, 30, 25, 20, 15, 10, 5};
};

/// Rays and their hits in the device's memory.
class Shots {
 public:
  Shots(const Device& device, const std::vector<Ray>& rays)
      : device_(device), stream_(device), rays_(device, rays.size()), hits_(device, rays.size()) {
    rays_.copy_from(std::span<const Ray>(rays), stream_);
    stream_.synchronize();
  }

  /// Rays per second, the best of some rounds. Slow rays are fewer, so that a round takes half a second.
  template <class Trace>
  double rate(int rounds, const Trace& shoot) {
    std::size_t count = std::min<std::size_t>(rays_.size(), std::size_t{1} << 16);
    double seconds = once(count, shoot);
    for (; count < rays_.size() && seconds < 0.05; seconds = once(count, shoot))
      count = std::min(rays_.size(), 4 * count);
    const double affordable = 0.5 / seconds * static_cast<double>(count);
    if (affordable < static_cast<double>(rays_.size())) rounds = 1;
    count = std::clamp(static_cast<std::size_t>(affordable), std::min(count, rays_.size()), rays_.size());
    seconds = once(count, shoot);
    for (int round = 1; round < rounds; ++round) seconds = std::min(seconds, once(count, shoot));
    return static_cast<double>(count) / seconds;
  }

  /// Keeps the hits of the last rate() as the reference; other_hits() counts hits that differ from it.
  void keep_hits() { kept_ = read_hits(rays_.size()); }
  [[nodiscard]] std::size_t other_hits() const {
    const std::vector<Hit> now = read_hits(last_);
    std::size_t others = 0;
    for (std::size_t i = 0; i != now.size(); ++i) others += same_hit(now[i], kept_[i]) ? 0 : 1;
    return others;
  }

  /// Clears the hits, so that none remains from another run.
  void forget() {
    hits_.copy_from(std::span<const Hit>(std::vector<Hit>(rays_.size())), stream_);
    stream_.synchronize();
  }

  template <class Trace>
  double once(std::size_t count, const Trace& shoot) {
    last_ = count;
    const auto start = Clock::now();
    shoot(rays_.device(), hits_.device(), count, stream_);
    stream_.synchronize();
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

 private:
  [[nodiscard]] std::vector<Hit> read_hits(std::size_t count) const {
    std::vector<Hit> hits(count);
    hits_.copy_to(std::span(hits), stream_);
    stream_.synchronize();
    return hits;
  }
  [[nodiscard]] static bool same_hit(const Hit& a, const Hit& b) {
    return a.triangle == b.triangle && a.t == b.t && a.u == b.u && a.v == b.v && a.from_inside == b.from_inside;
  }

  Device device_;
  Stream stream_;
  DeviceBuffer<Ray> rays_;
  DeviceBuffer<Hit> hits_;
  std::vector<Hit> kept_;
  std::size_t last_ = 0;
};

// Placement ---------------------------------------------------------------------------------------------------------

/// The arrays of a flattened scene with its BVH, ranked as an upload of it ranks them.
struct FlatArrays {
  RayScene mesh;
  Bvh bvh;
  std::vector<std::uint32_t> per_triangle;
  std::vector<ArraySource> sources;

  explicit FlatArrays(const std::string& name)
      : mesh(make_ray_scene(name)), bvh(build_bvh(mesh.vertices, mesh.triangles)), per_triangle(mesh.triangles.size()) {
    const auto add = [&]<class T, class A>(const char* title, ArrayRank rank, const std::vector<T, A>& values) {
      sources.push_back(array_source(title, rank, std::span<const T>(values)));
    };
    add("nodes", ArrayRank::nodes, bvh.nodes);
    add("pairs", ArrayRank::triangles, bvh.pairs);
    add("pair_ids", ArrayRank::triangles, bvh.ids);
    add("triangles", ArrayRank::triangles, mesh.triangles);
    add("vertices", ArrayRank::vertices, mesh.vertices);
    for (const char* title : {"material_codes", "solid_ids", "colors"}) add(title, ArrayRank::attributes, per_triangle);
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return std::accumulate(sources.begin(), sources.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const ArraySource& s) { return sum + s.count * s.element_bytes; });
  }
};

struct Rates {
  double coherent = 0, incoherent = 0;
};

void placement(const Device& device, const Settings& settings) {
  const FlatArrays scene(settings.scene);
  Shots coherent(device, camera_rays(settings.rays));
  Shots incoherent(device, random_rays(settings.rays, scene.mesh.ray_radius));
  const std::uint64_t bytes = scene.bytes();
  std::printf("%s, %zu triangles, %.1f MB in all; Mrays/s, of the rate with everything on the device\n\n",
              scene.mesh.name.c_str(), scene.mesh.triangles.size(), static_cast<double>(bytes) * 1e-6);
  std::printf(
      "| allowed | policy | on the device: nodes, pairs, pair_ids | coherent | | unsorted | incoherent | | unsorted "
      "| other hits |\n|---|---|---|---|---|---|---|---|---|---|\n");
  Rates whole;
  std::vector<int> budgets{100};
  std::copy_if(settings.percent.begin(), settings.percent.end(), std::back_inserter(budgets),
               [](int percent) { return percent != 100; });
  for (const int percent : budgets)
    for (const PlacementPolicy policy : {PlacementPolicy::automatic, PlacementPolicy::chroma}) {
      if (policy != PlacementPolicy::automatic && percent != 50 && percent != 25) continue;
      UploadOptions options;
      options.policy = policy;
      options.reserve = 0;
      // By Chroma's rule, an array that fits exactly is too large.
      options.budget = percent == 100 ? UINT64_MAX : bytes / 100 * static_cast<unsigned>(percent);
      const ResidentArrays resident = upload(scene.sources, device, options);
      BvhView view = scene.bvh.view();
      view.nodes = resident.arrays[0].as<const bvh_detail::BvhNode>();
      view.pairs = resident.arrays[1].as<const bvh_detail::TrianglePair>();
      view.ids = resident.arrays[2].as<const bvh_detail::PairIds>();
      const auto on_host = [&](std::size_t i) {
        const std::size_t each = scene.sources[i].element_bytes;
        return static_cast<std::uint32_t>((resident.report.arrays[i].host_bytes + each - 1) / each);
      };
      const BvhView unsorted = view;
      view.host_nodes = on_host(0);
      view.host_pairs = on_host(1);
      view.host_ids = on_host(2);
      const auto rates_of = [&](const BvhView& bvh) {
        const auto shoot = [&](const Ray* rays, Hit* hits, std::size_t count, const Stream& stream) {
          trace(device, bvh, rays, hits, count, stream);
        };
        return Rates{coherent.rate(settings.rounds, shoot), incoherent.rate(settings.rounds, shoot)};
      };
      const Rates direct = rates_of(unsorted);
      coherent.forget();
      incoherent.forget();
      const Rates rates = rates_of(view);
      if (percent == 100) {
        whole = rates;
        coherent.keep_hits();
        incoherent.keep_hits();
      }
      const auto share = [&](std::size_t i) {
        const ResidencyReport::Array& row = resident.report.arrays[i];
        return 100 * static_cast<double>(row.device_bytes) / static_cast<double>(row.bytes);
      };
      std::printf("| %d %% | %s | %.0f, %.0f, %.0f %% | %.2f | %.3f | %.3f | %.2f | %.3f | %.3f | %zu |\n", percent,
                  std::string(to_string(policy)).c_str(), share(0), share(1), share(2), rates.coherent * 1e-6,
                  rates.coherent / whole.coherent, direct.coherent / whole.coherent, rates.incoherent * 1e-6,
                  rates.incoherent / whole.incoherent, direct.incoherent / whole.incoherent,
                  coherent.other_hits() + incoherent.other_hits());
      std::fflush(stdout);
    }
}

// Order within arrays -----------------------------------------------------------------------------------------------

/// How much of what rays touch lies in the first part of an array; beside it, how much would if the elements stood in
/// the order of their touches.
void order_of(const char* what, std::vector<std::uint32_t> touches, std::size_t element_bytes) {
  const auto all = static_cast<double>(std::accumulate(touches.begin(), touches.end(), std::uint64_t{0}));
  std::vector<std::uint32_t> sorted = touches;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const auto share = [&](const std::vector<std::uint32_t>& values, int percent) {
    const auto end =
        values.begin() + static_cast<std::ptrdiff_t>(values.size() * static_cast<std::size_t>(percent) / 100);
    return 100 * static_cast<double>(std::accumulate(values.begin(), end, std::uint64_t{0})) / all;
  };
  std::printf("| %s | %.1f MB |", what, static_cast<double>(touches.size() * element_bytes) * 1e-6);
  for (const int percent : {1, 10, 25, 50, 75})
    std::printf(" %.1f (%.1f) |", share(touches, percent), share(sorted, percent));
  std::printf("\n");
}

void order(const Settings& settings) {
  const RayScene mesh = make_ray_scene(settings.scene);
  const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles);
  const Touches touches =
      count_touches(bvh, random_rays(std::min<std::size_t>(settings.rays, 1 << 21), mesh.ray_radius));
  std::printf(
      "\n%s: percent of touches that lie in the first part of the array (at best, sorted by touches)\n\n"
      "| | size | 1 %% | 10 %% | 25 %% | 50 %% | 75 %% |\n|---|---|---|---|---|---|---|\n",
      mesh.name.c_str());
  order_of("nodes", touches.nodes, sizeof(bvh_detail::BvhNode));
  order_of("pairs", touches.pairs, sizeof(bvh_detail::TrianglePair));
}

// Two levels --------------------------------------------------------------------------------------------------------

void levels(const char* what, const Scene& scene, double radius, const Device& device, const Settings& settings) {
  std::printf(
      "\n%s, %llu triangles, %llu of them unique\n\n"
      "| | bytes | Mrays/s, incoherent | | coherent | |\n|---|---|---|---|---|---|\n",
      what, static_cast<unsigned long long>(scene.expanded_triangles()),
      static_cast<unsigned long long>(scene.unique_triangles()));
  Shots incoherent(device, random_rays(settings.rays, radius));
  Shots coherent(device, camera_rays(settings.rays));
  Rates flat;
  for (const bool flatten : {true, false}) {
    UploadOptions options;
    options.bvh = true;
    options.flatten = flatten;
    options.reserve = 0;
    const GpuGeometry geometry = upload(scene, device, options);
    const auto shoot = [&](const Ray* rays, Hit* hits, std::size_t count, const Stream& stream) {
      trace(geometry, rays, hits, count, stream);
    };
    const Rates rates{coherent.rate(settings.rounds, shoot), incoherent.rate(settings.rounds, shoot)};
    if (flatten) flat = rates;
    std::printf("| %s | %s | %.1f | %.3f | %.1f | %.3f |\n", flatten ? "flattened" : "two levels",
                human_bytes(geometry.report().bytes()).c_str(), rates.incoherent * 1e-6,
                rates.incoherent / flat.incoherent, rates.coherent * 1e-6, rates.coherent / flat.coherent);
    std::fflush(stdout);
  }
}

// Closed meshes -----------------------------------------------------------------------------------------------------

template <class Trace>
void shoot_closed(const Device& device, const char* what, std::uint64_t count, double radius, const Trace& shoot) {
  const Stream stream(device);
  const std::size_t batch = std::min<std::uint64_t>(count, device.info().is_host ? 1 << 20 : 1 << 24);
  const DeviceBuffer<Ray> rays(device, batch);
  const DeviceBuffer<Hit> hits(device, batch);
  DeviceBuffer<HitCounts> counts(device, 1);
  HitCounts found{};
  counts.copy_from(std::span<const HitCounts>(&found, 1), stream);
  const auto start = Clock::now();
  for (std::uint64_t first = 0; first < count; first += batch) {
    const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(batch, count - first));
    make_random_rays(device, rays.device(), first, here, radius, stream);
    shoot(rays.device(), hits.device(), here, stream);
    count_hits(device, hits.device(), here, counts.device(), stream);
  }
  counts.copy_to(std::span<HitCounts>(&found, 1), stream);
  stream.synchronize();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("| %s | %llu | %llu | %llu | %.2f |\n", what, static_cast<unsigned long long>(count), found.missed,
              found.from_outside, seconds);
  std::fflush(stdout);
}

void closed(const Device& device, const Settings& settings) {
  std::printf(
      "\nrays from inside closed meshes\n\n"
      "| | rays | lost | hit from outside | s, with making and counting them |\n|---|---|---|---|---|\n");
  UploadOptions options;
  options.bvh = true;
  options.reserve = 0;
  for (const char* name : {"707", "2236"}) {
    const RayScene mesh = make_ray_scene(name);
    FlatScene flat;
    flat.vertices = mesh.vertices;
    flat.triangles = mesh.triangles;
    flat.solid_ids.resize(mesh.triangles.size());
    flat.material_codes.resize(mesh.triangles.size());
    flat.colors.resize(mesh.triangles.size());
    const GpuGeometry geometry = upload(flat, {}, device, options);
    shoot_closed(device, mesh.name.c_str(), settings.closed, mesh.ray_radius,
                 [&](const Ray* rays, Hit* hits, std::size_t count, const Stream& stream) {
                   trace(geometry, rays, hits, count, stream);
                 });
  }
  const GpuGeometry geometry = upload(instanced_detector(20000), device, options);
  shoot_closed(device, "20,000 sensors in a sphere, two levels", settings.closed, 15000,
               [&](const Ray* rays, Hit* hits, std::size_t count, const Stream& stream) {
                 trace(geometry, rays, hits, count, stream);
               });
}

}  // namespace
}  // namespace raylift::bench

int main(int argc, char** argv) try {
  using namespace raylift;
  using namespace raylift::bench;
  CLI::App app{"Rays under placement, over two levels, and in closed meshes"};
  Settings settings;
  bool with_placement = true, with_levels = true, with_order = true;
  app.add_option("--device", settings.device, "auto, host or cuda:N");
  app.add_option("--scene", settings.scene, "of the placement and the order: n of a bumpy n x n sphere, or detector");
  app.add_option("--rays", settings.rays, "how many, at most");
  app.add_option("--rounds", settings.rounds, "the best of that many counts");
  app.add_option("--closed", settings.closed, "rays to shoot in each of three closed scenes");
  app.add_option("--percent", settings.percent, "the budgets, of all bytes, after 100");
  app.add_flag("!--no-placement", with_placement, "leave out the table of budgets");
  app.add_flag("!--no-levels", with_levels, "leave out two levels against one");
  app.add_option("file", settings.file, "a scene to trace in two levels, beside the one made here");
  app.add_flag("!--no-order", with_order, "leave out the order within arrays");
  CLI11_PARSE(app, argc, argv);
  const Device device = Device::parse(settings.device, std::uint64_t{64} << 30);
  std::printf("device %s (%s)\n\n", device.info().id.c_str(), device.info().name.c_str());
  if (with_placement) placement(device, settings);
  if (with_order) order(settings);
  if (with_levels) {
    levels("20,000 sensors of one mesh in a closed sphere", instanced_detector(20000), 15000, device, settings);
    levels("the same, each sensor turned towards the centre", instanced_detector(20000, Sensors::turned), 15000, device,
           settings);
  }
  if (!settings.file.empty()) {
    const Scene scene = load(settings.file);
    levels(settings.file.c_str(), scene, 0.25 * to_eigen(scene.bounds.size()).maxCoeff(), device, settings);
  }
  if (settings.closed != 0) closed(device, settings);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_residency: %s\n", error.what());
  return 1;
}
