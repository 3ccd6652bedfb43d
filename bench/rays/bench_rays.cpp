// SPDX-License-Identifier: Apache-2.0
// Rays per second, build rate and bytes per triangle: on the host beside Embree, and on a CUDA device. Rays are
// incoherent (origins uniform in a ball, directions isotropic) and coherent (a camera's pixels, in rows and in tiles of
// 8 x 4). Prints one line per scene, machine and rays.
#include "bench/best_of.h"
#include "bvh_quality.h"
#include "gpu/src/bvh/bvh_build.h"
#include "ray_scenes.h"

#include <raylift/geometry/bvh/bvh.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/trace.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#if defined(RAYLIFT_WITH_EMBREE4)
#include <embree4/rtcore.h>
#elif defined(RAYLIFT_WITH_EMBREE3)
#include <embree3/rtcore.h>
#endif

namespace raylift::bench {
namespace {

/// Rays of three kinds.
struct Bundle {
  const char* name;
  std::vector<Ray> rays;
};
using Bundles = std::array<Bundle, 3>;

Bundles make_bundles(std::size_t count, double radius) {
  return {{{"incoherent", random_rays(count, radius)},
           {"rows", camera_rays(count, PixelOrder::rows)},
           {"tiles", camera_rays(count, PixelOrder::tiles)}}};
}

struct Seconds {
  double build = 0;
  std::array<double, 3> trace{};
};

void print(const RayScene& mesh, const char* what, const Seconds& seconds, const Bundles& bundles,
           const std::array<std::size_t, 3>& lost, double bytes) {
  const auto triangles = static_cast<double>(mesh.triangles.size());
  std::printf("%-10s %9zu triangles  %-14s build %7.2f Mtri/s  Mrays/s:", mesh.name.c_str(), mesh.triangles.size(),
              what, triangles / seconds.build * 1e-6);
  for (std::size_t b = 0; b != bundles.size(); ++b)
    std::printf("  %s %8.2f, %zu lost", bundles[b].name,
                static_cast<double>(bundles[b].rays.size()) / seconds.trace[b] * 1e-6, lost[b]);
  std::printf("  %6.1f bytes/triangle\n", bytes / triangles);
  std::fflush(stdout);
}

#if defined(RAYLIFT_WITH_EMBREE3) || defined(RAYLIFT_WITH_EMBREE4)
void trace_by_embree(RTCScene scene, const std::vector<Ray>& rays, std::vector<std::uint8_t>& missed) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rays.size(), 1024), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      const Ray& r = rays[i];
      RTCRayHit query{};
      query.ray = {r.origin.x, r.origin.y,  r.origin.z, r.tmin, r.direction.x, r.direction.y, r.direction.z, 0,
                   r.tmax,     0xFFFFFFFFu, 0,          0};
      query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
#if defined(RAYLIFT_WITH_EMBREE4)
      rtcIntersect1(scene, &query);
#else
      RTCIntersectContext context;
      rtcInitIntersectContext(&context);
      rtcIntersect1(scene, &context, &query);
#endif
      missed[i] = query.hit.geomID == RTC_INVALID_GEOMETRY_ID;
    }
  });
}

Seconds run_embree(const RayScene& mesh, const Bundles& bundles, int rounds) {
  const RTCDevice device = rtcNewDevice(nullptr);
  RTCScene scene = nullptr;
  const double build = best_of(rounds, [&] {
    if (scene != nullptr) rtcReleaseScene(scene);
    scene = rtcNewScene(device);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    const RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    // Embree reads 16 bytes at a vertex: the vector's spare element is behind the last one.
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, mesh.vertices.data(), 0, 12,
                               mesh.vertices.size() - 1);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, mesh.triangles.data(), 0, 12,
                               mesh.triangles.size());
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(scene);
  });
  Seconds seconds{build};
  std::array<std::size_t, 3> lost{};
  for (std::size_t k = 0; k != bundles.size(); ++k) {
    std::vector<std::uint8_t> missed(bundles[k].rays.size());
    seconds.trace[k] = best_of(rounds, [&] { trace_by_embree(scene, bundles[k].rays, missed); });
    lost[k] = static_cast<std::size_t>(std::count(missed.begin(), missed.end(), 1));
  }
  print(mesh, "Embree robust", seconds, bundles, lost, 0);
  rtcReleaseScene(scene);
  rtcReleaseDevice(device);
  return seconds;
}
#endif

template <class T, class Allocator>
DeviceBuffer<T> on_device(const Device& device, const Stream& stream, const std::vector<T, Allocator>& values) {
  DeviceBuffer<T> buffer(device, values.size());
  buffer.copy_from(std::span<const T>(values), stream);
  return buffer;
}

// On a CUDA device `builder` selects the BVH's builder; on the host device both are the host's.
void run(const Device& device, const RayScene& mesh, const Bundles& bundles, int rounds, const Bvh::Options& options,
         UploadOptions::BvhBuilder builder, const std::optional<Seconds>& embree) {
  const Stream stream(device);
  Bvh bvh;
  DeviceBvh on;
  Seconds seconds;
  double& build = seconds.build;
  if (builder == UploadOptions::BvhBuilder::device) {
    const auto vertices = on_device(device, stream, mesh.vertices);
    const auto triangles = on_device(device, stream, mesh.triangles);
    stream.synchronize();
    build = best_of(rounds + 1, [&] {
      on = DeviceBvh();
      on = build_bvh(device, vertices.device(), vertices.size(), triangles.device(), triangles.size(), options, stream);
    });
    bvh = on.to_host(stream);
  } else {
    build =
        best_of(device.info().is_host ? rounds : 1, [&] { bvh = build_bvh(mesh.vertices, mesh.triangles, options); });
    on.nodes = on_device(device, stream, bvh.nodes);
    on.pairs = on_device(device, stream, bvh.pairs);
    on.ids = on_device(device, stream, bvh.ids);
  }
  const BvhView view = on.view();
  std::array<std::size_t, 3> lost{};
  for (std::size_t k = 0; k != bundles.size(); ++k) {
    const std::size_t count = bundles[k].rays.size();
    const auto device_rays = on_device(device, stream, bundles[k].rays);
    const DeviceBuffer<Hit> device_hits(device, count);
    const auto once = [&] {
      trace(device, view, device_rays.device(), device_hits.device(), count, stream);
      stream.synchronize();
    };
    once();
    seconds.trace[k] = best_of(rounds, once);
    std::vector<Hit> hits(count);
    device_hits.copy_to(std::span(hits), stream);
    stream.synchronize();
    lost[k] =
        static_cast<std::size_t>(std::count_if(hits.begin(), hits.end(), [](const Hit& hit) { return !hit.valid(); }));
  }
  const std::string what = device.info().id + (builder == UploadOptions::BvhBuilder::host ? " host tree" : " own tree");
  print(mesh, what.c_str(), seconds, bundles, lost, static_cast<double>(bvh.bytes()));
  if (embree && device.info().is_host) {
    std::printf("%-10s   times Embree's rates in the same run: build %.2f", "", embree->build / build);
    for (std::size_t k = 0; k != bundles.size(); ++k)
      std::printf(", %s %.2f", bundles[k].name, embree->trace[k] / seconds.trace[k]);
    std::printf("\n");
  }
  const std::vector<Ray>& rays = bundles[0].rays;
  const BvhQuality q = measure_quality(bvh, std::span(rays).first(std::min<std::size_t>(rays.size(), 1 << 18)));
  std::printf(
      "%-10s   a ray visits %.2f nodes, %.2f pairs; by areas %.2f, %.2f; a node has %.2f nodes, %.2f leaves of "
      "%.2f pairs; %.2f pairs/triangle, depth %zu\n",
      "", q.nodes, q.pairs, q.sah_nodes, q.sah_pairs, q.inner_slots, q.leaf_slots, q.pairs_per_leaf,
      static_cast<double>(bvh.pairs.size()) / static_cast<double>(mesh.triangles.size()), bvh.level_ends.size());
  std::fflush(stdout);
}

}  // namespace
}  // namespace raylift::bench

int main(int argc, char** argv) try {
  using namespace raylift;
  using namespace raylift::bench;
  CLI::App app{"Rays per second, build rate and bytes per triangle"};
  std::vector<std::string> scenes{"707", "2236", "detector"};
  std::vector<std::string> devices{"host"};
  std::vector<std::uint32_t> leaves{Bvh::Options{}.leaf_pairs};
  std::vector<std::string> trees{"host", "own"};
  std::size_t count = std::size_t{1} << 24;
  int rounds = 3;
  bool embree = true, shuffled = false;
  app.add_option("--scenes", scenes, "n of a bumpy n x n sphere, or detector, cube, soup, tubes");
  app.add_option("--devices", devices, "host, cuda:0, ...");
  app.add_option("--leaf", leaves, "triangle pairs per leaf, at most");
  app.add_option("--trees", trees, "on a CUDA device: that of the host's builder, or its own")
      ->check(CLI::IsMember({"host", "own"}));
  app.add_option("--rays", count, "how many");
  app.add_option("--rounds", rounds, "the best of that many counts");
  app.add_flag("--shuffle", shuffled, "put the triangles into random order");
  app.add_flag("!--no-embree", embree, "leave Embree out");
  CLI11_PARSE(app, argc, argv);
  for (const std::string& name : scenes) {
    RayScene mesh = make_ray_scene(name);
    if (shuffled) shuffle(mesh);
    mesh.vertices.push_back({0, 0, 0});
    const Bundles bundles = make_bundles(count, mesh.ray_radius);
    std::optional<Seconds> reference;
#if defined(RAYLIFT_WITH_EMBREE3) || defined(RAYLIFT_WITH_EMBREE4)
    if (embree) reference = run_embree(mesh, bundles, rounds);
#endif
    for (const std::string& id : devices)
      for (const std::uint32_t leaf : leaves)
        for (const std::string& tree : trees) {
          const Device device = Device::parse(id, std::uint64_t{64} << 30);
          if (tree == "host" || !device.info().is_host)
            run(device, mesh, bundles, rounds, {true, leaf},
                tree == "host" ? UploadOptions::BvhBuilder::host : UploadOptions::BvhBuilder::device, reference);
        }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_rays: %s\n", error.what());
  return 1;
}
