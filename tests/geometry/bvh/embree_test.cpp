// SPDX-License-Identifier: Apache-2.0
// Hit for hit against Embree with its robust flag: more than ten million rays in all.
//
// Embree computes in float, and in a thin triangle, or at an edge, it may be wrong. So each difference is decided by
// exact arithmetic (exact_oracle.h):
//   - raylift's own hit must be exact in any case: a triangle that the ray passes or touches, its side, and t, u and v
//     within bounds that don't depend on the triangle;
//   - where Embree names a nearer triangle, or one where raylift names none, the ray must not pass it: that is Embree's
//     error, and counted as such. A ray that exactly touches an edge of it is a tie, and counted too;
//   - where Embree names a farther triangle or none, it missed the one that raylift was shown to hit.
// In a closed mesh each ray hits.
#include "embree_oracle.h"

#include <gtest/gtest.h>

#if defined(RAYLIFT_WITH_EMBREE)

#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/flatten.h>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <Eigen/Geometry>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>

#include "geometry/src/bvh/bvh_batch.h"
#include "support/exact_oracle.h"
#include "support/paths.h"

namespace raylift {
namespace {

using Eigen::Vector3d;
using test::EmbreeScene;
using test::Triangles;

constexpr long double kWeightBound = 0x1p-22L;

Vector3d point(Float3 v) {
  return {v.x, v.y, v.z};
}

struct Count {
  std::atomic<std::uint64_t> rays{0}, hits{0};
  std::atomic<std::uint64_t> same{0}, equal_t{0};  // the same triangle; another one at the same t
  std::atomic<std::uint64_t> ties{0};              // a touched edge
  std::atomic<std::uint64_t> embree_nearer{0}, embree_missed{0}, embree_t{0};  // Embree's errors
};

// That raylift's hit is exact.
void expect_exact(const Triangles& mesh, const Ray& ray, const Hit& hit) {
  const test::Crossing crossing = test::crossing_of(mesh, hit.triangle, ray);
  ASSERT_NE(crossing.facing, 0) << "the ray does not touch triangle " << hit.triangle << ", hit at t " << hit.t;
  EXPECT_EQ(hit.from_inside != 0, crossing.facing > 0) << "triangle " << hit.triangle;
  EXPECT_LE(std::abs(hit.t - crossing.t), test::t_bound(ray, crossing.t))
      << "triangle " << hit.triangle << ": t " << hit.t << " instead of " << crossing.t;
  const test::Corners v = test::corners(mesh, hit.triangle);
  EXPECT_LE(std::abs(hit.u - test::weight(v, ray, v.c, v.a)), kWeightBound) << "triangle " << hit.triangle;
  EXPECT_LE(std::abs(hit.v - test::weight(v, ray, v.a, v.b)), kWeightBound) << "triangle " << hit.triangle;
}

void compare(const Triangles& mesh, const Ray& ray, const Hit& ours, const Hit& theirs, Count& count) {
  ++count.rays;
  count.hits += theirs.triangle != kNoTriangle ? 1 : 0;
  if (ours.valid()) expect_exact(mesh, ray, ours);
  if (ours.triangle == theirs.triangle) {
    ++count.same;
    if (ours.valid() && test::ulps_between(theirs.t, ours.t) > 16) ++count.embree_t;
    return;
  }
  if (!theirs.valid()) {
    ++count.embree_missed;
    return;
  }
  const test::Crossing other = test::crossing_of(mesh, theirs.triangle, ray);
  const long double bound = test::t_bound(ray, other.t);
  if (other.passing == test::Passing::outside || other.t < 0) {
    ++count.embree_nearer;
  } else if (other.passing != test::Passing::inside) {
    ++count.ties;
  } else {
    // The ray passes Embree's triangle: so it must not be the nearer one.
    EXPECT_TRUE(ours.valid()) << "raylift misses triangle " << theirs.triangle << " at t " << other.t;
    EXPECT_LE(ours.t, other.t + 2 * bound)
        << "raylift takes triangle " << ours.triangle << " before " << theirs.triangle << " at t " << other.t;
    ++(ours.t >= other.t - 2 * bound ? count.equal_t : count.embree_missed);
  }
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
      rays[i].origin = LocalPoint(static_cast<float>(o.x()), static_cast<float>(o.y()), static_cast<float>(o.z()));
    }
  });
  return rays;
}

void report(const Count& count) {
  const auto number = [](const std::atomic<std::uint64_t>& n) { return static_cast<unsigned long long>(n); };
  std::printf(
      "%llu rays, Embree hits %llu: %llu agree, %llu are of another triangle at the same t, %llu touch an edge. Embree "
      "misses %llu, hits %llu that the ray does not pass, and has t wrong by more than 16 steps in %llu\n",
      number(count.rays), number(count.hits), number(count.same), number(count.equal_t), number(count.ties),
      number(count.embree_missed), number(count.embree_nearer), number(count.embree_t));
  // Were it otherwise, this would test little.
  EXPECT_LE(count.ties + count.embree_missed + count.embree_nearer, count.rays / 1000);
}

// Millimetres, in the scene's own place. The ball of rays reaches as far as the scene does.
void compare_scene(const Scene& scene, std::size_t rays, std::uint32_t seed, Count& count) {
  const FlatScene flat = flatten(scene);
  const Triangles mesh{flat.vertices, flat.triangles};
  Eigen::AlignedBox3d box;
  for (const Float3& v : mesh.vertices) box.extend(point(v));
  if (mesh.triangles.empty() || !(box.diagonal().norm() > 0)) return;
  compare(mesh, rays_from(box.center(), 0.6 * box.diagonal().norm(), rays, seed), count);
}

TEST(SlowEmbree, AgreesInsideAClosedMesh) {
  Count count;
  compare(test::bumpy_sphere(300), rays_from({0, 0, 0}, 800, 2'000'000, 31), count);
  report(count);
  EXPECT_EQ(count.hits, count.rays);
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
