// SPDX-License-Identifier: Apache-2.0
// The contract of uploads, on every device: what is left when memory or the device fails.
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include "gpu/test_backend.h"
#include "support/devices.h"
#include "support/effort.h"
#include "support/random_scenes.h"
#include "uploads.h"

namespace raylift {
namespace {

using test::as_float3;
using test::random_doubles;
using test::random_scene;
using test::read;
using test::same_bytes;
using test::TestBackend;

/// The same uploads on a backend that fails on demand.
class FailingUploads : public test::UploadsOnDevice {
 protected:
  void SetUp() override {
    UploadsOnDevice::SetUp();
    if (IsSkipped()) return;
    backend_ = std::make_shared<TestBackend>(device().backend());
  }
  std::shared_ptr<TestBackend> backend_;
};
RAYLIFT_ON_BOTH_DEVICES(FailingUploads);

TEST_P(FailingUploads, GiveEverythingBackWhateverFailsWhenever) {
  const Scene scene = random_scene(7, 3, test::effort(40'000));
  for (const TestBackend::Call call :
       {TestBackend::device_allocation, TestBackend::pinned_allocation, TestBackend::split_allocation,
        TestBackend::stream, TestBackend::event, TestBackend::copy}) {
    for (const std::uint64_t budget : {UINT64_MAX, test::effort(std::uint64_t{3} << 20)}) {
      int failures = 0;
      for (int nth = 0; nth < 100; nth += test::kStride) {
        const int before = backend_->seen(call);
        {
          const Device wrapped(backend_);
          backend_->fail(call, nth);
          try {
            // Every other one on a stream of the caller's, without synchronization.
            const GpuGeometry geometry = nth % 2 == 0 ? upload(scene, wrapped, options(budget))
                                                      : upload_async(scene, wrapped, nullptr, options(budget));
          } catch (const Error& error) {
            ++failures;
            EXPECT_NE(error.kind(), ErrorKind::cancelled);
          }
        }
        ASSERT_EQ(backend_->alive(), 0) << "call " << call << ", number " << nth;
        if (backend_->seen(call) - before <= nth) break;  // there is no such call any more
      }
      if (call == TestBackend::copy || call == TestBackend::stream) {
        EXPECT_GT(failures, 0);
      }
    }
  }
}

TEST_P(FailingUploads, StepDownWhenPromisedMemoryIsNotThere) {
  const Device wrapped(backend_);
  const std::vector<double> in = random_doubles(1'000'000);
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(in.data(), in.size() / 3));
  backend_->fail(TestBackend::device_allocation, 0);
  backend_->claim_free(std::uint64_t{64} << 20);
  const ResidentArrays resident = upload({&source, 1}, wrapped, options());
  const ResidencyReport::Array& row = resident.report.arrays[0];
  EXPECT_TRUE(row.fell_back);
  EXPECT_EQ(row.where, device().info().splits_arrays ? Residency::split : Residency::mapped);
  EXPECT_EQ(resident.arrays[0].where(), row.where);
  EXPECT_TRUE(same_bytes(read<Float3>(resident.arrays[0], wrapped), as_float3(in)));
  EXPECT_NE(resident.report.table().find("(fallback)"), std::string::npos);
}

TEST_P(FailingUploads, MapWhatNeitherDeviceNorSplitCanHold) {
  const Device wrapped(backend_);
  const std::vector<double> in = random_doubles(1'000'000);
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(in.data(), in.size() / 3));
  backend_->fail(TestBackend::device_allocation, 0);
  backend_->fail(TestBackend::split_allocation, 0);
  const ResidentArrays resident = upload({&source, 1}, wrapped, options());
  EXPECT_EQ(resident.report.arrays[0].where, Residency::mapped);
  EXPECT_TRUE(same_bytes(read<Float3>(resident.arrays[0], wrapped), as_float3(in)));
}

TEST_P(FailingUploads, UnderThePolicyDeviceDoNotStepDown) {
  const Device wrapped(backend_);
  const std::vector<double> in = random_doubles(1000);
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(in.data(), in.size() / 3));
  UploadOptions strict = options();
  strict.policy = PlacementPolicy::device;
  backend_->fail(TestBackend::device_allocation, 0);
  try {
    (void)upload({&source, 1}, wrapped, strict);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_device_memory);
  }
}

TEST_P(FailingUploads, NeverReuseABlockThatIsStillOnTheLink) {
  backend_->defer_copies();
  const Device wrapped(backend_);
  const std::vector<double> in = random_doubles(1'500'000);
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(in.data(), in.size() / 3));
  for (int round = 0; round != 2; ++round) {
    const ResidentArrays resident = upload({&source, 1}, wrapped, options());
    EXPECT_TRUE(same_bytes(read<Float3>(resident.arrays[0], wrapped), as_float3(in)));
  }
}

/// A process that takes the device's memory before the upload, but after it was counted.
TEST_P(FailingUploads, WorkBesideAMemoryHog) {
  const std::uint64_t keep = std::uint64_t{40} << 20;
  const std::uint64_t free = device().memory_info().free_bytes;
  const DeviceBuffer<std::byte> hog(device(), free - keep);
  backend_->claim_free(free);  // the answer from before the hog came
  const Device wrapped(backend_);
  const std::vector<double> in = random_doubles(6'000'000);  // 72 MB as floats
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(in.data(), in.size() / 3));
  const ResidentArrays resident = upload({&source, 1}, wrapped, options());
  EXPECT_TRUE(resident.report.arrays[0].fell_back);
  EXPECT_TRUE(same_bytes(read<Float3>(resident.arrays[0], wrapped), as_float3(in)));
}

}  // namespace
}  // namespace raylift
