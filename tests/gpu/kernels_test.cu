// SPDX-License-Identifier: Apache-2.0
// What kernels see: the view of a scene by value, arrays in each residency through one pointer, occupancy.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/occupancy.h>
#include <raylift/gpu/upload.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "scenes.h"

namespace raylift {
namespace {

void check(cudaError_t code) {
  ASSERT_EQ(code, cudaSuccess) << cudaGetErrorString(code);
}

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

RAYLIFT_HD inline void add_triangle(const GeometryView& view, std::uint32_t i, std::uint32_t t, double* corner_sum,
                                    unsigned long long* codes) {
  const InstanceView& instance = view.instances[i];
  const std::uint32_t triangle = view.meshes[instance.mesh].first_triangle + t;
  const uint3 corners = view.triangles[triangle];
  const float3 a = instance.to_world.point(view.vertices[corners.x]);
  const float3 b = instance.to_world.point(view.vertices[corners.y]);
  const float3 c = instance.to_world.point(view.vertices[corners.z]);
  corner_sum[0] += double{a.x} + double{b.x} + double{c.x};
  corner_sum[1] += double{a.y} + double{b.y} + double{c.y};
  corner_sum[2] += double{a.z} + double{b.z} + double{c.z};
  const MaterialCode code = view.material_code(i, triangle);
  codes[0] += code.inside;
  codes[1] += code.outside;
  codes[2] += view.solid_id(i, triangle);
}

__global__ void sum_scene(GeometryView view, double* corner_sum, unsigned long long* codes) {
  for (std::uint32_t i = blockIdx.x; i < view.instance_count; i += gridDim.x) {
    const MeshView mesh = view.meshes[view.instances[i].mesh];
    for (std::uint32_t t = threadIdx.x; t < mesh.triangle_count; t += blockDim.x) {
      double sum[3] = {};
      unsigned long long code[3] = {};
      add_triangle(view, i, t, sum, code);
      for (int k = 0; k != 3; ++k) {
        atomicAdd(&corner_sum[k], sum[k]);
        atomicAdd(&codes[k], code[k]);
      }
    }
  }
}

TEST_F(CudaKernels, SeeTheSceneAsTheHostDoes) {
  const Scene scene = test::random_scene(11, 4, 3000);
  for (const bool flat : {false, true}) {
    for (const PlacementPolicy policy : {PlacementPolicy::automatic, PlacementPolicy::mapped}) {
      UploadOptions options;
      options.flatten = flat;
      options.policy = policy;
      const GpuGeometry on_host = upload(scene, Device::host(), options);
      double host_sum[3] = {};
      unsigned long long host_codes[3] = {};
      const GeometryView& host_view = on_host.view();
      for (std::uint32_t i = 0; i != host_view.instance_count; ++i)
        for (std::uint32_t t = 0; t != host_view.meshes[host_view.instances[i].mesh].triangle_count; ++t)
          add_triangle(host_view, i, t, host_sum, host_codes);

      const GpuGeometry geometry = upload(scene, *device_, options);
      double* sum = nullptr;
      unsigned long long* codes = nullptr;
      check(cudaMallocManaged(&sum, 3 * sizeof *sum));
      check(cudaMallocManaged(&codes, 3 * sizeof *codes));
      for (int k = 0; k != 3; ++k) sum[k] = 0, codes[k] = 0;
      sum_scene<<<64, 128>>>(geometry.view(), sum, codes);
      check(cudaGetLastError());
      check(cudaDeviceSynchronize());
      for (int k = 0; k != 3; ++k) {
        EXPECT_NEAR(sum[k], host_sum[k], 1e-6 * std::abs(host_sum[k]) + 1);
        EXPECT_EQ(codes[k], host_codes[k]);
      }
      check(cudaFree(sum));
      check(cudaFree(codes));
    }
  }
}

__global__ void sum_words(const std::uint32_t* words, std::size_t count, unsigned long long* sum) {
  unsigned long long own = 0;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += std::size_t{gridDim.x} * blockDim.x)
    own += words[i];
  atomicAdd(sum, own);
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
    unsigned long long* sum = nullptr;
    check(cudaMalloc(&sum, sizeof *sum));
    check(cudaMemset(sum, 0, sizeof *sum));
    sum_words<<<256, 256>>>(resident.arrays[0].as<const std::uint32_t>(), words.size(), sum);
    unsigned long long got = 0;
    check(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT_EQ(got, expected) << percent << " %: " << name(resident.arrays[0].where());
    check(cudaFree(sum));
  }
}

__global__ void hungry(float* out) {
  extern __shared__ float buffer[];
  buffer[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

TEST_F(CudaKernels, HaveAnOccupancyAndALimit) {
  const auto* const kernel = reinterpret_cast<const void*>(&hungry);
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
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the error came back at an unrelated call";
}

TEST_F(CudaKernels, LeaveTheCallersCurrentDeviceAlone) {
  check(cudaSetDevice(0));
  (void)Device::cuda(0).memory_info();
  int current = -1;
  check(cudaGetDevice(&current));
  EXPECT_EQ(current, 0);
}

}  // namespace
}  // namespace raylift
