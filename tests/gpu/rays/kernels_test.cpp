// SPDX-License-Identifier: Apache-2.0
// What kernels see: the view of a scene by value, arrays in each residency through one pointer, occupancy.
#ifdef RAYLIFT_WITH_CUDA
#include "gpu/kernels.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/occupancy.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "support/random_scenes.h"

namespace raylift {
namespace {

using test::SceneSums;

class CudaKernels : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = Device::cuda(0);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::optional<Device> device_;
};

TEST_F(CudaKernels, SeeTheSceneAsTheHostDoes) {
  const Scene scene = test::random_scene(11, 4, 3000);
  for (const bool flat : {false, true}) {
    for (const PlacementPolicy policy : {PlacementPolicy::automatic, PlacementPolicy::mapped}) {
      UploadOptions options;
      options.flatten = flat;
      options.policy = policy;
      const GpuGeometry on_host = upload(scene, Device::host(), options);
      const GeometryView& view = on_host.view();
      SceneSums expected{};
      for (std::uint32_t i = 0; i != view.instance_count; ++i)
        for (std::uint32_t t = 0; t != view.meshes[view.instances[i].mesh].triangle_count; ++t)
          test::add_triangle(view, i, t, expected);

      const GpuGeometry geometry = upload(scene, *device_, options);
      SceneSums got{};
      ASSERT_EQ(test::sum_scene_on_gpu(geometry.view(), &got), 0);
      for (int k = 0; k != 3; ++k)
        EXPECT_NEAR(got.corners[k], expected.corners[k], 1e-6 * std::abs(expected.corners[k]) + 10);
      EXPECT_EQ(got.inside, expected.inside);
      EXPECT_EQ(got.outside, expected.outside);
      EXPECT_EQ(got.solids, expected.solids);
    }
  }
}

TEST_F(CudaKernels, ReadASplitArrayThroughOnePointer) {
  if (!device_->info().splits_arrays) GTEST_SKIP() << "this device splits no arrays";
  std::vector<std::uint32_t> words(10'000'001);
  std::iota(words.begin(), words.end(), 1U);
  const unsigned long long expected = std::accumulate(words.begin(), words.end(), 0ULL);
  const ArraySource source = array_source("words", ArrayRank::nodes, std::span<const std::uint32_t>(words));
  for (const std::uint64_t percent : {0, 10, 50, 90, 101}) {
    UploadOptions options;
    options.reserve = 0;
    options.budget = words.size() * 4 * percent / 100;
    const ResidentArrays resident = upload({&source, 1}, *device_, options);
    EXPECT_EQ(resident.arrays[0].where(), percent == 0    ? Residency::mapped
                                          : percent < 100 ? Residency::split
                                                          : Residency::device);
    unsigned long long got = 0;
    ASSERT_EQ(test::sum_words_on_gpu(resident.arrays[0].as<const std::uint32_t>(), words.size(), &got), 0);
    EXPECT_EQ(got, expected) << percent << " %: " << to_string(resident.arrays[0].where());
  }
}

TEST_F(CudaKernels, HaveAnOccupancyAndALimit) {
  const void* const kernel = test::hungry_kernel();
  const Occupancy full = occupancy(*device_, kernel, 256, 1024);
  EXPECT_EQ(full.limited_by, Occupancy::Limit::threads);
  EXPECT_DOUBLE_EQ(full.fraction, 1.0);
  const Occupancy shared = occupancy(*device_, kernel, 64, 40'000);
  EXPECT_EQ(shared.limited_by, Occupancy::Limit::shared_memory);
  EXPECT_LT(shared.fraction, 0.5);
  const Occupancy tiny = occupancy(*device_, kernel, 32, 128);
  EXPECT_EQ(tiny.limited_by, Occupancy::Limit::blocks);
  EXPECT_THROW((void)occupancy(*device_, kernel, 5000), Error);
  EXPECT_THROW((void)occupancy(*device_, kernel, 32, std::size_t{1} << 30), Error);
}

TEST_F(CudaKernels, AreUnaffectedByAnErrorThatWasReported) {
  EXPECT_THROW((DeviceBuffer<std::byte>(*device_, device_->info().total_bytes * 2)), Error);
  EXPECT_EQ(test::last_cuda_error(), 0) << "the error came back at an unrelated call";
}

TEST_F(CudaKernels, LeaveTheCallersCurrentDeviceAlone) {
  const int before = test::current_cuda_device();
  (void)device_->memory_info();
  EXPECT_EQ(test::current_cuda_device(), before);
}

}  // namespace
}  // namespace raylift
#endif
