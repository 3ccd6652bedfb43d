// SPDX-License-Identifier: Apache-2.0
// Whether rays inside of closed shapes with thin, long and flat triangles are lost, and whether their hits are right:
// by each way that a device traces rays, with its own tree and the host's, in one level and in two. One line for each
// shape and way. Ends with 1 if a ray is lost, or leaves its shape from outside.
#include "exact_rays.h"

#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/trace.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpu/src/bvh/bvh_build.h"
#include "support/exact_shapes.h"
#include "support/inside_rays.h"

namespace raylift::bench {
namespace {

using test::ClosedShape;
using test::Vector3d;

constexpr std::size_t kBatch = std::size_t{1} << 24;
constexpr int kWays = 5;

struct Settings {
  std::uint64_t rays = 0;   // of each shape and way; 0: by the device
  std::uint64_t check = 0;  // of all shapes and ways together; 0: a tenth of `rays`
};

template <class T, class Allocator>
DeviceBuffer<T> on_device(const Device& device, const Stream& stream, const std::vector<T, Allocator>& values) {
  DeviceBuffer<T> buffer(device, values.size());
  buffer.copy_from(std::span<const T>(values), stream);
  stream.synchronize();
  return buffer;
}

// A shape in the device's memory.
struct Uploaded {
  DeviceBuffer<Float3> vertices;
  DeviceBuffer<UInt3> triangles;
  DeviceBuffer<FacePlane> planes;
  ExactShape view{};

  Uploaded(const Device& device, const Stream& stream, const ClosedShape& shape) {
    std::vector<FacePlane> all;
    for (const UInt3& t : shape.mesh.triangles) {
      const Vector3d a = test::to_double(shape.mesh.vertices[t.x]), b = test::to_double(shape.mesh.vertices[t.y]),
                     c = test::to_double(shape.mesh.vertices[t.z]);
      const Vector3d normal = (b - a).cross(c - a).normalized();
      all.push_back({{normal.x(), normal.y(), normal.z()}, normal.dot(a)});
    }
    vertices = on_device(device, stream, shape.mesh.vertices);
    triangles = on_device(device, stream, shape.mesh.triangles);
    planes = on_device(device, stream, all);
    const Float3 center = test::InsideRays(shape, 1).center();
    view = {vertices.device(),
            triangles.device(),
            planes.device(),
            nullptr,
            static_cast<std::uint32_t>(vertices.size()),
            static_cast<std::uint32_t>(triangles.size()),
            0,
            center,
            test::to_float(shape.axis)};
  }
};

// Instances that don't overlap: rotated, mirrored, sheared, scaled.
Scene placed_scene(const ClosedShape& shape) {
  Scene scene;
  scene.source = "made in a benchmark";
  scene.materials.push_back({"m", {}});
  scene.nodes.push_back({"world", kNone, std::nullopt});
  scene.bindings.push_back({0});
  const auto count = static_cast<std::uint32_t>(shape.mesh.triangles.size());
  scene.meshes.push_back({shape.name, shape.mesh.vertices, shape.mesh.triangles, {{0, count}}});
  double reach = 0;
  for (const Float3& v : shape.mesh.vertices) reach = std::max(reach, test::to_double(v).norm());
  for (int i = 0; i != 8; ++i) {
    EigenTransform transform = EigenTransform::Identity();
    transform.translate(Vector3d(2 * reach * Vector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
    if (i % 4 != 0) transform.rotate(Eigen::AngleAxisd(0.7 * i, Vector3d(1, i, 2).normalized()));
    if (i % 4 == 1) transform.scale(Vector3d(1, -1, 0.5));
    if (i % 4 == 2) {
      Eigen::Matrix3d shear = Eigen::Matrix3d::Identity();
      shear(0, 1) = 0.4;
      shear(2, 0) = -0.3;
      transform.linear() = transform.linear() * shear;
    }
    if (i % 4 == 3) transform.scale(0.3);
    scene.instances.push_back({0, 0, 0, kNone, transform});
  }
  scene.bounds = world_bounds(scene);
  return scene;
}

class Runner {
 public:
  Runner(const Device& device, const Settings& settings, std::size_t shapes)
      : device_(device),
        stream_(device),
        rays_of_way_(settings.rays),
        check_of_way_(settings.check / (shapes * kWays)) {
    const auto batch = static_cast<std::size_t>(std::min<std::uint64_t>(kBatch, rays_of_way_));
    rays_ = DeviceBuffer<Ray>(device, batch);
    hits_ = DeviceBuffer<Hit>(device, batch);
    counts_ = DeviceBuffer<ExactCounts>(device, 1);
  }

  using Trace = std::function<void(const Ray*, Hit*, std::size_t)>;
  struct Way {
    std::string name;
    Trace trace;
  };

  // All methods trace the same rays.
  void run(const std::string& shape, const ExactShape& view, const std::vector<Way>& ways, std::uint64_t seed) {
    std::vector<ExactCounts> sums(ways.size(), ExactCounts{});
    std::vector<double> seconds(ways.size(), 0);
    std::uint64_t to_check = check_of_way_;
    for (std::uint64_t done = 0; done < rays_of_way_;) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(rays_.size(), rays_of_way_ - done));
      const auto check = static_cast<std::size_t>(std::min<std::uint64_t>(count, to_check));
      make_exact_rays(device_, view, rays_.device(), (seed << 44) + done, count, stream_);
      for (std::size_t w = 0; w != ways.size(); ++w) {
        counts_.copy_from(std::span<const ExactCounts>(&sums[w], 1), stream_);
        stream_.synchronize();
        const auto start = std::chrono::steady_clock::now();
        ways[w].trace(rays_.device(), hits_.device(), count);
        stream_.synchronize();
        seconds[w] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        count_exact_hits(device_, view, rays_.device(), hits_.device(), count, check, counts_.device(), stream_);
        counts_.copy_to(std::span(&sums[w], 1), stream_);
        stream_.synchronize();
      }
      done += count;
      to_check -= check;
    }
    for (std::size_t w = 0; w != ways.size(); ++w) {
      const ExactCounts& c = sums[w];
      std::printf("%-10s %-22s %12llu %8llu %8llu %11llu %9llu %8llu %10.4g %9.1f\n", shape.c_str(),
                  ways[w].name.c_str(), c.rays, c.lost, c.wrong_side, c.checked, c.undecided, c.differ,
                  std::bit_cast<double>(c.worst_t), static_cast<double>(rays_of_way_) / seconds[w] * 1e-6);
      bad_ += c.lost + c.wrong_side;
      differ_ += c.differ;
    }
    std::fflush(stdout);
  }

  void run_one_level(const ClosedShape& shape, std::uint64_t seed) {
    const Uploaded uploaded(device_, stream_, shape);
    const Bvh built = build_bvh(shape.mesh.vertices, shape.mesh.triangles);
    DeviceBvh host_tree;
    host_tree.nodes = on_device(device_, stream_, built.nodes);
    host_tree.pairs = on_device(device_, stream_, built.pairs);
    host_tree.ids = on_device(device_, stream_, built.ids);
    const DeviceBvh own_tree = build_bvh(device_, uploaded.vertices.device(), uploaded.vertices.size(),
                                         uploaded.triangles.device(), uploaded.triangles.size(), {}, stream_);
    const auto by_warps = [&](const DeviceBvh& tree) {
      return [this, view = tree.view()](const Ray* rays, Hit* hits, std::size_t count) {
        trace(device_, view, rays, hits, count, stream_);
      };
    };
    GeometryView alone{};
    alone.bvh_levels = 1;
    alone.bvh = host_tree.view();
    run(shape.name, uploaded.view,
        {{"trace, host's tree", by_warps(host_tree)},
         {"trace, device's tree", by_warps(own_tree)},
         {"closest_hit", [&](const Ray* rays, Hit* hits,
                             std::size_t count) { trace_by_thread(device_, alone, rays, hits, count, stream_); }}},
        seed);
  }

  void run_two_levels(const ClosedShape& shape, std::uint64_t seed) {
    UploadOptions options;
    options.bvh = true;
    options.origin = Vector3d(Vector3d::Zero());
    const GpuGeometry geometry = upload(placed_scene(shape), device_, options);
    Uploaded uploaded(device_, stream_, shape);
    uploaded.view.instances = geometry.view().instances;
    uploaded.view.instance_count = geometry.view().instance_count;
    run(shape.name, uploaded.view,
        {{"trace, 2 levels",
          [&](const Ray* rays, Hit* hits, std::size_t count) { trace(geometry, rays, hits, count, stream_); }},
         {"closest_hit, 2 levels",
          [&](const Ray* rays, Hit* hits, std::size_t count) {
            trace_by_thread(device_, geometry.view(), rays, hits, count, stream_);
          }}},
        seed);
  }

  [[nodiscard]] unsigned long long bad() const { return bad_; }
  [[nodiscard]] unsigned long long differ() const { return differ_; }

 private:
  Device device_;
  Stream stream_;
  std::uint64_t rays_of_way_, check_of_way_;
  DeviceBuffer<Ray> rays_;
  DeviceBuffer<Hit> hits_;
  DeviceBuffer<ExactCounts> counts_;
  unsigned long long bad_ = 0, differ_ = 0;
};

}  // namespace
}  // namespace raylift::bench

int main(int argc, char** argv) try {
  using namespace raylift;
  using namespace raylift::bench;
  CLI::App app{"Rays inside of closed shapes with thin triangles: lost ones, wrong ones, and the worst error of t"};
  std::vector<std::string> devices{"host"}, only;
  Settings settings;
  double rays = 0, check = 0;
  app.add_option("--devices", devices, "host, cuda:0, ...");
  app.add_option("--shapes", only, "names of shapes; all by default");
  app.add_option("--rays", rays, "of each shape and way; 1e9 by default, and 1e6 on the host");
  app.add_option("--check", check,
                 "by brute force, of all shapes and ways together; 1e8 by default, and 1e7 on the host");
  CLI11_PARSE(app, argc, argv);
  std::vector<test::ShapeModel> models = test::shape_zoo();
  std::erase_if(models, [&](const test::ShapeModel& model) {
    return !model.convex || (!only.empty() && std::find(only.begin(), only.end(), model.name) == only.end());
  });
  if (models.empty()) throw std::invalid_argument("no such shape");
  unsigned long long bad = 0;
  for (const std::string& id : devices) {
    const auto start = std::chrono::steady_clock::now();
    const Device device = Device::parse(id, std::uint64_t{8} << 30);
    settings.rays = static_cast<std::uint64_t>(rays > 0 ? rays : device.info().is_host ? 1e6 : 1e9);
    settings.check = static_cast<std::uint64_t>(check > 0 ? check : device.info().is_host ? 1e7 : 1e8);
    Runner runner(device, settings, models.size());
    std::printf("%-10s %-22s %12s %8s %8s %11s %9s %8s %10s %9s\n", device.info().id.c_str(), "way", "rays", "lost",
                "outside", "checked", "undecided", "differ", "worst t", "Mrays/s");
    std::uint64_t seed = 0;
    for (const test::ShapeModel& model : models) {
      runner.run_one_level(test::place(model, {1, {0, 0, 0}, 7}), ++seed);
      runner.run_two_levels(test::place(model), ++seed);
    }
    std::printf("%s: %llu lost or from outside, %llu differ from brute force; %.0f s\n", device.info().id.c_str(),
                runner.bad(), runner.differ(),
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    bad += runner.bad();
  }
  return bad == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_exact: %s\n", error.what());
  return 1;
}
