// SPDX-License-Identifier: Apache-2.0
// Images row by row, which trace() may take through the tree in tiles: each ray hits what it hits alone.
#include <gtest/gtest.h>
#include <raylift/gpu/rays/query.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <random>
#include <string>

#ifdef RAYLIFT_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

#include "image_rays.h"
#include "rays.h"
#include "rays/host_tiles.h"
#include "rays/image_rows.h"
#include "support/devices.h"

namespace raylift {
namespace {

using test::image_of;
using test::Lens;
using test::trace_all;
using test::with_bvh;

using HitBits = std::array<std::uint32_t, sizeof(Hit) / 4>;

class ImageTrace : public test::OnDevice {
 protected:
  /// So many rows that a GPU looks for them; on the host, so few that it doesn't.
  [[nodiscard]] std::size_t rows_of(std::size_t width) const {
    return device().info().is_host ? std::max<std::size_t>(1, 9'000 / width) : rows::kFewestRays / width + 2;
  }
  /// What single rays hit by the host's code, in two levels and in one, bit for bit.
  void expect_hits_of_single_rays(const std::vector<Ray>& rays) const {
    for (const bool flat : {false, true}) {
      const GpuGeometry alone = upload(scene_, Device::host(), with_bvh(flat));
      std::vector<Hit> wanted(rays.size());
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rays.size(), 4096), [&](const auto& range) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) wanted[i] = closest_hit(alone.view(), rays[i]);
      });
      const std::vector<Hit> hits = trace_all(upload(scene_, device(), with_bvh(flat)), rays);
      std::size_t differ = 0, first = 0, valid = 0;
      for (std::size_t i = rays.size(); i-- != 0;) {
        valid += wanted[i].valid() ? 1 : 0;
        if (std::bit_cast<HitBits>(hits[i]) == std::bit_cast<HitBits>(wanted[i])) continue;
        ++differ;
        first = i;
      }
      EXPECT_EQ(differ, 0U) << "the first is ray " << first << " of " << rays.size() << ", flat " << flat;
      EXPECT_GT(valid, rays.size() / 10'000);
    }
  }
  const Scene scene_ = test::closed_scene(24, 60);
};
RAYLIFT_ON_BOTH_DEVICES(ImageTrace);

TEST_P(ImageTrace, OfAnyWidth) {
  for (const std::size_t width : {32, 77, 640, 1000, 1366, 16'384, 20'000}) {
    SCOPED_TRACE("width " + std::to_string(width));
    expect_hits_of_single_rays(image_of(width, rows_of(width), Lens::unit));
  }
}

TEST(ImageTraceOnHost, InTiles) {
  const Scene scene = test::closed_scene(24, 60);
  const GpuGeometry geometry = upload(scene, Device::host(), with_bvh(false));
  for (const std::size_t width : {77, 1000, 16'384}) {
    SCOPED_TRACE("width " + std::to_string(width));
    std::vector<Ray> rays = image_of(width, rows::kFewestOnHost / width + 2, Lens::unit);
    rays.resize(rays.size() - 5);
    for (std::size_t i = 500; i < rays.size(); i += 10'007) rays[i].origin.x = std::numeric_limits<float>::quiet_NaN();
    const std::vector<Hit> hits = trace_all(geometry, rays);
    std::size_t differ = 0, valid = 0;
    for (std::size_t i = 0; i < rays.size(); i += i % 5 == 0 ? 1 : 7) {
      const Hit wanted = closest_hit(geometry.view(), rays[i]);
      differ += std::bit_cast<HitBits>(hits[i]) == std::bit_cast<HitBits>(wanted) ? 0 : 1;
      valid += wanted.valid() ? 1 : 0;
    }
    EXPECT_EQ(differ, 0U);
    EXPECT_GT(valid, 0U);
  }
}

TEST_P(ImageTrace, OfAnyNumberOfRays) {
  std::vector<Ray> rays = image_of(1000, rows_of(1000), Lens::perspective);
  for (const std::size_t fewer : {1, 2, 3, 5, 6, 400, 555}) {
    rays.resize(rays.size() - fewer);
    expect_hits_of_single_rays(rays);
  }
  expect_hits_of_single_rays(image_of(1000 * rows_of(1000), 1, Lens::perspective));
}

TEST_P(ImageTrace, OfOtherLensesAndOrders) {
  expect_hits_of_single_rays(image_of(900, rows_of(900), Lens::parallel));
  expect_hits_of_single_rays(image_of(900, rows_of(900), Lens::thick));
  std::vector<Ray> rays = image_of(900, rows_of(900), Lens::unit);
  std::reverse(rays.begin(), rays.end());
  expect_hits_of_single_rays(rays);
  std::shuffle(rays.begin(), rays.end(), std::mt19937(1));
  expect_hits_of_single_rays(rays);
}

// Where no packets are tried, and where that is found although there are some.
TEST_P(ImageTrace, OfRaysThatPart) {
  std::vector<Ray> rays = image_of(900, rows_of(900), Lens::unit);
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for (Ray& ray : rays) ray.direction = {normal(random), normal(random), normal(random)};
  expect_hits_of_single_rays(rays);
  for (std::size_t i = 64; i != 96; ++i) rays[i].direction = {1, 2, -3};
  rays.resize(rays.size() - 7);
  expect_hits_of_single_rays(rays);
}

TEST_P(ImageTrace, OfTwoImages) {
  std::vector<Ray> rays = image_of(800, rows_of(800) * 2 / 3, Lens::unit);
  const std::vector<Ray> other = image_of(640, rows_of(640) / 3 + 20, Lens::unit, 0.2);
  rays.insert(rays.end(), other.begin(), other.end());
  expect_hits_of_single_rays(rays);
}

// Some that are none at the start, where the kernels keep what they tell each other, and here and there; and lengths so
// different that groups part.
TEST_P(ImageTrace, WithRaysThatAreNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<Ray> rays = image_of(1366, rows_of(1366), Lens::unit);
  for (std::size_t i = 5000; i < rays.size(); i += i % 7 == 0 ? 9001 : 777) rays[i].origin.y = nan;
  for (std::size_t i = 4000; i < rays.size(); i += 1001) rays[i].tmin = i % 2 == 0 ? -10 : 2400;
  expect_hits_of_single_rays(rays);
  rays[0].tmin = -1;  // which packets leave to others
  expect_hits_of_single_rays(rays);
  for (std::size_t i = 0; i != 4000; ++i) rays[i].direction.x = nan;
  expect_hits_of_single_rays(rays);
}

// Into the middle of the sphere that is nearest: its triangles are as small as pixels, and groups cost too much.
TEST_P(ImageTrace, WithGroupsThatAreGivenUp) {
  Scene scene = test::closed_scene(device().info().is_host ? 60 : 700, 3);
  std::vector<Ray> rays = image_of(1280, rows_of(1280), Lens::unit, 3);
  const std::vector<Hit> wanted = trace_all(upload(scene, Device::host(), with_bvh(true)), rays);
  const std::vector<Hit> hits = trace_all(upload(scene, device(), with_bvh(true)), rays);
  std::size_t differ = 0;
  for (std::size_t i = 0; i != rays.size(); ++i)
    differ += std::bit_cast<HitBits>(hits[i]) == std::bit_cast<HitBits>(wanted[i]) ? 0 : 1;
  EXPECT_EQ(differ, 0U);
}

#ifdef RAYLIFT_WITH_CUDA
// What graphs hold looks for rows each time they run: they find other rays.
TEST_P(ImageTrace, FromAGraph) {
  if (device().info().is_host) return;
  const std::vector<Ray> image = image_of(1000, rows_of(1000), Lens::unit);
  std::vector<Ray> rays = image_of(800, image.size() / 800, Lens::unit, 0.3);
  rays.resize(image.size(), rays.back());
  const GpuGeometry geometry = upload(scene_, device(), with_bvh(true));
  const Stream stream(device());
  DeviceBuffer<Ray> device_rays(device(), image.size());
  const DeviceBuffer<Hit> device_hits(device(), image.size());
  const auto of_stream = static_cast<cudaStream_t>(stream.handle());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t runnable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(of_stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  trace(geometry, device_rays.device(), device_hits.device(), image.size(), stream);
  ASSERT_EQ(cudaStreamEndCapture(of_stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&runnable, graph, 0), cudaSuccess);
  for (const bool second : {false, true, false}) {
    const std::vector<Ray>& some = second ? rays : image;
    device_rays.copy_from(std::span<const Ray>(some), stream);
    ASSERT_EQ(cudaGraphLaunch(runnable, of_stream), cudaSuccess);
    std::vector<Hit> hits(some.size());
    device_hits.copy_to(std::span(hits), stream);
    stream.synchronize();
    const std::vector<Hit> wanted = trace_all(upload(scene_, Device::host(), with_bvh(true)), some);
    std::size_t differ = 0;
    for (std::size_t i = 0; i != hits.size(); ++i)
      differ += std::bit_cast<HitBits>(hits[i]) == std::bit_cast<HitBits>(wanted[i]) ? 0 : 1;
    EXPECT_EQ(differ, 0U);
  }
  EXPECT_EQ(cudaGraphExecDestroy(runnable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}
#endif

}  // namespace
}  // namespace raylift
