// SPDX-License-Identifier: Apache-2.0
// Hit for hit against Embree with its robust flag: more than ten million rays in all.
//
// Both compute in float, so they need not agree to the last bit. What may differ, and how it is told in double:
//   - t of the same triangle: by kRounding of the largest distance that the computation meets, and by what the rounding
//     of edge functions does to the weights of its vertices (see meet);
//   - the triangle, where both triangles are hit at the same t within that bound: a shared edge, or coincident ones;
//   - anything else only at an edge tie: the ray passes the edge of a triangle that one of them hits, and the other
//   does
//     not, nearer than kRounding of that distance, so rounding decides on which side.
// Ties are counted, by kind. In a closed mesh each ray hits, with both.
#include "embree_oracle.h"

#include <gtest/gtest.h>

#if defined(RAYLIFT_WITH_EMBREE)

#include <raylift/geometry/bvh.h>
#include <raylift/geometry/bvh_batch.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/flatten.h>
#include <raylift/geometry/load.h>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <Eigen/Geometry>
#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "support/paths.h"

namespace raylift {
namespace {

using Eigen::Vector3d;
using test::EmbreeScene;
using test::Triangles;

constexpr double kRounding = 0x1p-20;  // 16 roundings of a float

Vector3d point(float3 v) {
  return {v.x, v.y, v.z};
}

// A triangle as a ray meets it, in double.
struct Meeting {
  double scale = 0;  // the largest coordinate of a vertex as seen from the ray's origin
  double t = 0;      // of the plane
  double t_bound = 0;
  double edge = 0;  // least distance between the ray's line and an edge's
};

Meeting meet(const Triangles& mesh, std::uint32_t triangle, const Ray& ray) {
  const uint3 t = mesh.triangles[triangle];
  const Vector3d o = point(ray.origin), d = point(ray.direction);
  const Vector3d v[3] = {point(mesh.vertices[t.x]) - o, point(mesh.vertices[t.y]) - o, point(mesh.vertices[t.z]) - o};
  Meeting result;
  result.edge = 1e300;
  for (int k = 0; k < 3; ++k) {
    const Vector3d &a = v[k], &b = v[(k + 1) % 3];
    result.scale = std::max(result.scale, a.cwiseAbs().maxCoeff());
    const double across = d.cross(b - a).norm();
    // Parallel lines: their distance is that of any of their points.
    const double distance = across > 1e-12 * d.norm() * (b - a).norm() ? std::abs(d.dot(a.cross(b))) / across
                                                                       : d.cross(a).norm() / d.norm();
    result.edge = std::min(result.edge, distance);
  }
  // t is the mean of the vertices' distances, weighted by edge functions. These are rounded at the size of scale * off,
  // off being how far vertices are off the ray; so in a sliver, as seen along the ray, weights are less certain.
  double off = 0, nearest = 1e300, farthest = -1e300;
  for (const Vector3d& a : v) {
    off = std::max(off, d.cross(a).norm() / d.norm());
    nearest = std::min(nearest, d.dot(a) / d.norm());
    farthest = std::max(farthest, d.dot(a) / d.norm());
  }
  const Vector3d normal = (v[1] - v[0]).cross(v[2] - v[0]);
  const double area = std::abs(normal.dot(d)) / d.norm();
  const double weight_bound = std::min(1.0, kRounding * result.scale * off / area);
  result.t = normal.dot(v[0]) / normal.dot(d);
  result.t_bound = (kRounding * result.scale + weight_bound * (farthest - nearest)) / d.norm();
  return result;
}

struct Count {
  std::atomic<std::uint64_t> rays{0}, hits{0}, same{0}, equal_t{0}, ties_nearer{0}, ties_lost{0}, ties_found{0};
};

void compare(const Triangles& mesh, const Ray& ray, const Hit& ours, const Hit& theirs, Count& count) {
  ++count.rays;
  count.hits += theirs.triangle != kNoTriangle ? 1 : 0;
  if (ours.triangle == theirs.triangle && !ours.valid()) return;
  const auto tie = [&](const Hit& hit) {
    const Meeting m = meet(mesh, hit.triangle, ray);
    return m.edge <= kRounding * m.scale;
  };
  if (!ours.valid() || !theirs.valid()) {
    const Hit& only = ours.valid() ? ours : theirs;
    EXPECT_TRUE(tie(only)) << (ours.valid() ? "Embree" : "raylift") << " misses triangle " << only.triangle << " at t "
                           << only.t << ", edge " << meet(mesh, only.triangle, ray).edge;
    ++(ours.valid() ? count.ties_found : count.ties_lost);
    return;
  }
  const Meeting a = meet(mesh, ours.triangle, ray), b = meet(mesh, theirs.triangle, ray);
  if (std::abs(double(ours.t) - double(theirs.t)) <= a.t_bound + b.t_bound) {
    ++(ours.triangle == theirs.triangle ? count.same : count.equal_t);
    return;
  }
  EXPECT_NE(ours.triangle, theirs.triangle)
      << "t " << ours.t << " and " << theirs.t << ", in double " << a.t << ", bound " << a.t_bound;
  // One sees a triangle in front that the other passes by.
  EXPECT_TRUE(tie(ours.t < theirs.t ? ours : theirs))
      << "raylift " << ours.triangle << " at " << ours.t << ", Embree " << theirs.triangle << " at " << theirs.t;
  ++count.ties_nearer;
}

void compare(const Triangles& mesh, const std::vector<Ray>& rays, Count& count) {
  const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles);
  const EmbreeScene embree(mesh);
  std::vector<Hit> hits(rays.size());
  closest_hits(bvh.view(), BvhLevels::mesh, rays, hits);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rays.size(), 4096), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end() && !::testing::Test::HasFailure(); ++i)
      compare(mesh, rays[i], hits[i], embree.closest_hit(rays[i]), count);
  });
}

std::vector<Ray> rays_from(Vector3d center, double radius, std::size_t count, std::uint32_t seed) {
  constexpr std::size_t kBlock = 1 << 16;
  std::vector<Ray> rays(count);
  tbb::parallel_for(std::size_t{0}, (count + kBlock - 1) / kBlock, [&](std::size_t block) {
    test::RandomRays random(radius, seed + static_cast<std::uint32_t>(block) * 7919u);
    for (std::size_t i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) {
      rays[i] = random();
      const Vector3d o = point(rays[i].origin) + center;
      rays[i].origin = {static_cast<float>(o.x()), static_cast<float>(o.y()), static_cast<float>(o.z())};
    }
  });
  return rays;
}

void report(const Count& count) {
  std::printf(
      "%llu rays, %llu hits: %llu of the same triangle, %llu of another at the same t; edge ties: %llu nearer in "
      "one, %llu missed by raylift, %llu by Embree\n",
      static_cast<unsigned long long>(count.rays), static_cast<unsigned long long>(count.hits),
      static_cast<unsigned long long>(count.same), static_cast<unsigned long long>(count.equal_t),
      static_cast<unsigned long long>(count.ties_nearer), static_cast<unsigned long long>(count.ties_lost),
      static_cast<unsigned long long>(count.ties_found));
  const auto ties = count.ties_nearer + count.ties_lost + count.ties_found;
  EXPECT_LE(ties, count.rays / 1000) << "an edge tie is a rare thing";
}

// Millimetres, in the scene's own place. The ball of rays reaches as far as the scene does.
void compare_scene(const Scene& scene, std::size_t rays, std::uint32_t seed, Count& count) {
  const FlatScene flat = flatten(scene);
  const Triangles mesh{flat.vertices, flat.triangles};
  Eigen::AlignedBox3d box;
  for (const float3& v : mesh.vertices) box.extend(point(v));
  if (mesh.triangles.empty() || !(box.diagonal().norm() > 0)) return;
  compare(mesh, rays_from(box.center(), 0.6 * box.diagonal().norm(), rays, seed), count);
}

TEST(SlowEmbree, AgreesInsideAClosedMesh) {
  Count count;
  compare(test::bumpy_sphere(300), rays_from({0, 0, 0}, 800, 2'000'000, 31), count);
  report(count);
  EXPECT_EQ(count.hits, count.rays);
  EXPECT_EQ(count.ties_lost + count.ties_found, 0u);
}

TEST(SlowEmbree, AgreesOnTheDetector) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "detector.dae").string();
  const std::string command =
      "'" + test::program("raylift-make-detector").string() + "' --triangles 1000000 -o " + path;
  ASSERT_EQ(std::system(command.c_str()), 0);
  Count count;
  compare_scene(load(path), 4'500'000, 32, count);
  report(count);
}

TEST(SlowEmbree, AgreesOnSoups) {
  Count count;
  for (const float size : {0.005f, 0.05f, 0.5f})
    compare(test::soup(20000, size, 33), rays_from({0, 0, 0}, 2, 1'000'000, 34), count);
  report(count);
}

TEST(SlowEmbree, AgreesOnTestModels) {
  namespace fs = std::filesystem;
  const fs::path root = "/usr/share/assimp/models";
  if (!fs::exists(root)) GTEST_SKIP() << "the package assimp-testmodels is not installed";
  std::vector<fs::path> files;
  for (const char* folder : {"Collada", "OBJ", "PLY", "STL", "OFF", "3DS"})
    if (fs::exists(root / folder))
      for (const auto& entry : fs::directory_iterator(root / folder))
        if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  LoadOptions options;
  options.isolate = true;
  options.limits.isolate_seconds = 60;
  options.limits.isolate_bytes = std::uint64_t{4} << 30;
  Count count;
  int scenes = 0;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    try {
      compare_scene(load(file, options), 20'000, 40, count);
      ++scenes;
    } catch (const Error&) {
      // Many of these files are broken on purpose; what becomes of them is tested elsewhere.
    }
  }
  std::printf("%d scenes\n", scenes);
  report(count);
  EXPECT_GT(scenes, 40);
}

}  // namespace
}  // namespace raylift

#else

TEST(SlowEmbree, IsNotInstalled) {
  GTEST_SKIP() << "built without Embree: hits are compared with nothing (Debian: libembree-dev)";
}

#endif
