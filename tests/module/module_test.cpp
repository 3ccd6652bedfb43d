// SPDX-License-Identifier: Apache-2.0
// Kernels that were compiled at run time, launched: on a CUDA device.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/query.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/module/module.h>

#include <cstring>
#include <numeric>
#include <optional>
#include <thread>

#include "nvrtc.h"
#include "support/paths.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr const char* kSixKernels = R"(
  __global__ void scale(float* p, float by, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= by;
  }
  __global__ void add(const float* a, const float* b, float* sum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
  }
  __global__ void nothing() {}
  __global__ void place(unsigned* at) {
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
    at[i] = i;
  }
  __global__ void reversed(int* p) {
    extern __shared__ int kept[];
    kept[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
  }
  __global__ void is_null(const int* p, int* answer) { *answer = p == nullptr; }
  __global__ void spin(long long clocks) {
    const long long begin = clock64();
    while (clock64() - begin < clocks) {}
  }
)";

class CudaModule : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = Device::cuda(0);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    options_.cache_folder = folder_.path();
    stream_.emplace(*device_);
  }
  [[nodiscard]] Module compile(const char* source = kSixKernels) { return Module::compile(*device_, source, options_); }
  [[nodiscard]] const Stream& stream() const { return *stream_; }
  [[nodiscard]] const Device& device() const { return *device_; }
  template <class Call>
  [[nodiscard]] static std::string usage(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "no error";
  }

  test::TemporaryFolder folder_;
  ModuleOptions options_;
  std::optional<Device> device_;
  std::optional<Stream> stream_;
};

TEST_F(CudaModule, LaunchesOnBuffers) {
  const Function scale = compile().function("scale");
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 0.0F);
  DeviceBuffer<float> buffer(device(), values.size());
  buffer.copy_from(std::span<const float>(values), stream());
  scale.launch(4, 256, 0, stream(), buffer, 2.0F, 1000);
  scale.launch(4, 256, 0, stream(), buffer.device(), 0.5F, 500);
  std::vector<float> result(values.size());
  buffer.copy_to(result, stream());
  stream().synchronize();
  for (std::size_t i = 0; i != result.size(); ++i) EXPECT_EQ(result[i], values[i] * (i < 500 ? 1 : 2)) << i;
}

TEST_F(CudaModule, TakesArraysOfTheHost) {
  const Module module = compile();
  const std::vector<float> a{1, 2, 3}, b{10, 20, 30};
  std::vector<float> sum(3);
  module.function("add").launch(1, 32, 0, stream(), In(a), In(b), Out(sum), 3);
  EXPECT_THAT(sum, ElementsAre(11, 22, 33));
  module.function("scale").launch(1, 32, 0, stream(), InOut(sum), 2.0F, 3);
  EXPECT_THAT(sum, ElementsAre(22, 44, 66));
  int answer = 0;
  const std::vector<int> none;
  module.function("is_null").launch(1, 1, 0, stream(), In(none), Out(std::span(&answer, 1)));
  EXPECT_EQ(answer, 1);
  module.function("is_null").launch(1, 1, 0, stream(), nullptr, InOut(std::span(&answer, 1)));
  EXPECT_EQ(answer, 1);
}

TEST_F(CudaModule, HasThreeDimensions) {
  std::vector<unsigned> at(2 * 3 * 4 * 5 * 6 * 7), expected(at.size());
  std::iota(expected.begin(), expected.end(), 0U);
  compile().function("place").launch({2, 3, 4}, {5, 6, 7}, 0, stream(), Out(at));
  EXPECT_EQ(at, expected);
}

TEST_F(CudaModule, GetsItsSharedMemory) {
  const Function reversed = compile().function("reversed");
  std::vector<int> values(1024), expected(1024);
  std::iota(values.begin(), values.end(), 0);
  std::iota(expected.rbegin(), expected.rend(), 0);
  reversed.launch(1, 1024, 100 << 10, stream(), InOut(values));  // more than a kernel has unasked
  EXPECT_EQ(values, expected);
  EXPECT_THAT(usage([&] { reversed.launch(1, 32, 10 << 20, stream(), InOut(values)); }), HasSubstr("shared memory"));
}

TEST_F(CudaModule, ChecksArguments) {
  const Module module = compile();
  const Function scale = module.function("scale");
  DeviceBuffer<float> buffer(device(), 8);
  EXPECT_THAT(usage([&] { scale.launch(1, 8, 0, stream(), buffer, 2.0F); }), HasSubstr("takes 3 arguments"));
  EXPECT_THAT(usage([&] { scale.launch(1, 8, 0, stream(), buffer, 2.0, 8); }), HasSubstr("argument 2"));
  EXPECT_THAT(usage([&] { (void)scale.prepare<float*, float>(8); }), HasSubstr("takes 3 arguments"));
  EXPECT_THAT(usage([&] { scale.launch(1, 2048, 0, stream(), buffer, 2.0F, 8); }), HasSubstr("1 to 1024 threads"));
  EXPECT_THAT(usage([&] { scale.launch(1, 0, 0, stream(), buffer, 2.0F, 8); }), HasSubstr("1 to 1024 threads"));
  EXPECT_THAT(usage([&] { (void)module.function("scales"); }), HasSubstr("no kernel is called 'scales'"));
  EXPECT_THAT(module.functions(),
              UnorderedElementsAre("scale", "add", "nothing", "place", "reversed", "is_null", "spin"));
  EXPECT_THROW(scale.launch(0, 8, 0, stream(), buffer, 2.0F, 8), Error) << "no blocks";
  scale.launch(1, 8, 0, stream(), buffer, 2.0F, 8);  // nothing is left of the failures
  stream().synchronize();
}

TEST_F(CudaModule, IsPrepared) {
  const auto scale = compile().function("scale").prepare<float*, float, int>(128);
  std::vector<float> values(300, 1);
  DeviceBuffer<float> buffer(device(), values.size());
  buffer.copy_from(std::span<const float>(values), stream());
  for (int i = 0; i != 5; ++i) scale.launch(3, stream(), buffer.device(), 2.0F, 300);
  EXPECT_GT(scale.timed_launch(3, stream(), buffer.device(), 0.5F, 300), 0);
  buffer.copy_to(values, stream());
  stream().synchronize();
  EXPECT_THAT(values, Each(16));
}

TEST_F(CudaModule, IsTimed) {
  const Function spin = compile().function("spin");
  const double little = spin.timed_launch(1, 1, 0, stream(), 1'000'000LL);
  const double much = spin.timed_launch(1, 1, 0, stream(), 20'000'000LL);
  EXPECT_GT(little, 1e-4);
  EXPECT_GT(much, 5 * little);
  EXPECT_LT(much, 1);
}

TEST_F(CudaModule, HasAnOccupancy) {
  const Function nothing = compile().function("nothing");
  const Occupancy full = nothing.occupancy(1024);
  EXPECT_EQ(full.warps, full.blocks * 32);
  EXPECT_EQ(full.fraction, 1);
  EXPECT_EQ(nothing.occupancy(32, 100 << 10).limited_by, Occupancy::Limit::shared_memory);
  EXPECT_THAT(usage([&] { (void)nothing.occupancy(2048); }), HasSubstr("threads"));
}

TEST_F(CudaModule, LivesInItsFunctions) {
  std::optional<Function> scale;
  {
    const Module module = compile();
    scale = module.function("scale");
  }
  std::vector<float> values{3};
  scale->launch(1, 1, 0, stream(), InOut(values), 2.0F, 1);
  EXPECT_THAT(values, ElementsAre(6));
}

TEST_F(CudaModule, ComesFromTheCache) {
  EXPECT_FALSE(compile().cached());
  const Module again = compile();
  EXPECT_TRUE(again.cached());
  std::vector<float> values{3};
  again.function("scale").launch(1, 1, 0, stream(), InOut(values), 2.0F, 1);
  EXPECT_THAT(values, ElementsAre(6));
}

TEST_F(CudaModule, LaunchesFromAnyThread) {
  const Function scale = compile().function("scale");
  std::vector<float> values{1};
  std::thread([&] { scale.launch(1, 1, 0, stream(), InOut(values), 7.0F, 1); }).join();
  EXPECT_THAT(values, ElementsAre(7));
}

/// The view by value: the same bits as on the host.
TEST_F(CudaModule, TracesRaysThroughAScene) {
  const Scene scene = test::random_scene(3);
  UploadOptions options;
  options.bvh = true;
  const GpuGeometry geometry = upload(scene, device(), options);
  const GpuGeometry at_host = upload(scene, Device::host(), options);
  const Function trace = compile(R"(
    #include <raylift/gpu/rays/query.h>
    __global__ void trace(raylift::GeometryView geometry, const raylift::Ray* rays, raylift::Hit* hits,
                           raylift::Float3* points, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      hits[i] = raylift::closest_hit(geometry, rays[i]);
      points[i] = rays[i].origin + hits[i].t * rays[i].direction;
    })")
                             .function("trace");
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<Ray> rays(5000);
  for (Ray& ray : rays) {
    ray.origin = LocalPoint(3000 * number(random), 1000 * number(random), 100 * number(random));
    ray.direction = {number(random), number(random), number(random)};
  }
  std::vector<Hit> hits(rays.size());
  std::vector<Float3> points(rays.size());
  const int n = static_cast<int>(rays.size());
  trace.launch((n + 127) / 128, 128, 0, stream(), geometry.view(), In(rays), Out(hits), Out(points), n);
  int met = 0;
  for (std::size_t i = 0; i != rays.size(); ++i) {
    const Hit expected = closest_hit(at_host.view(), rays[i]);
    EXPECT_EQ(std::memcmp(&hits[i], &expected, sizeof expected), 0) << i;
    const Float3 point = rays[i].origin + expected.t * rays[i].direction;
    EXPECT_EQ(std::memcmp(&points[i], &point, sizeof point), 0) << i;
    met += expected.valid() ? 1 : 0;
  }
  EXPECT_GT(met, 100);
}

}  // namespace
}  // namespace raylift
