// SPDX-License-Identifier: Apache-2.0
// Arrays that the device computed before they are placed: they stay there, or come down and are uploaded like others.
#include "upload/array_on_device.h"

#include <gtest/gtest.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/broadcast.h>

#include <vector>

#include "support/devices.h"

namespace raylift {
namespace {

class ArraysOnDevice : public test::OnDevice {
 protected:
  static constexpr std::size_t kCount = 1'000'003;

  /// 0, 1, 2, ... as pair ids, which the host does not have.
  [[nodiscard]] ArraySource computed() const {
    const std::vector<bvh_detail::PairIds> values = expected();
    DeviceBuffer<bvh_detail::PairIds> buffer(device(), values.size());
    const Stream stream(device());
    buffer.copy_from(std::span(values), stream);
    stream.synchronize();
    return detail::computed_source(ViewArray::pair_ids, sizeof(bvh_detail::PairIds), device(),
                                   std::move(buffer).take());
  }
  [[nodiscard]] static std::vector<bvh_detail::PairIds> expected() {
    std::vector<bvh_detail::PairIds> values(kCount);
    for (std::size_t i = 0; i != values.size(); ++i)
      values[i] = {{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(3 * i + 1)}};
    return values;
  }
  void expect_arrived(const Memory& memory) const {
    std::vector<bvh_detail::PairIds> values(kCount);
    ASSERT_EQ(memory.bytes(), kCount * sizeof(bvh_detail::PairIds));
    const Stream stream(device());
    memory.copy_to(std::as_writable_bytes(std::span(values)), stream);
    stream.synchronize();
    for (std::size_t i = 0; i != kCount; ++i) {
      ASSERT_EQ(values[i].triangle[0], i);
      ASSERT_EQ(values[i].triangle[1], static_cast<std::uint32_t>(3 * i + 1));
    }
  }
};
RAYLIFT_ON_BOTH_DEVICES(ArraysOnDevice);

TEST_P(ArraysOnDevice, StayWhereTheyAreIfPlacementPutsThemThere) {
  const ArraySource source = computed();
  const std::uint64_t bytes = source.on_device->bytes_on(device());
  EXPECT_EQ(bytes, kCount * sizeof(bvh_detail::PairIds));
  UploadOptions options;
  options.reserve = 0;
  options.budget = bytes + 1;
  const ResidentArrays resident = upload({&source, 1}, device(), options);
  const ResidencyReport::Array& row = resident.report.arrays[0];
  EXPECT_TRUE(row.in_place);
  EXPECT_EQ(row.where, Residency::device);
  EXPECT_EQ(row.device_bytes, bytes);
  EXPECT_EQ(resident.report.uploaded_bytes(), 0U);
  EXPECT_EQ(source.on_device->bytes_on(device()), 0U);
  expect_arrived(resident.arrays[0]);
}

TEST_P(ArraysOnDevice, ComeDownWhereTheyDoNotFit) {
  for (const std::uint64_t percent : {0, 40, 100}) {
    const ArraySource source = computed();
    const std::uint64_t bytes = source.on_device->bytes_on(device());
    UploadOptions options;
    options.reserve = 0;
    options.budget = bytes * percent / 100;  // not enough, as what fits has to be less
    const ResidentArrays resident = upload({&source, 1}, device(), options);
    EXPECT_FALSE(resident.report.arrays[0].in_place);
    EXPECT_NE(resident.report.arrays[0].where, Residency::device);
    EXPECT_EQ(source.on_device->bytes_on(device()), 0U);
    EXPECT_EQ(resident.report.uploaded_bytes(), bytes);
    expect_arrived(resident.arrays[0]);
  }
}

// The memory that the array occupies counts as free: the device has hardly any other.
TEST(ArraysOnSmallDevice, StayThere) {
  constexpr std::size_t kCount = 1'000'003;
  const Device small = Device::host(kCount * sizeof(bvh_detail::PairIds) + 4096);
  DeviceBuffer<bvh_detail::PairIds> buffer(small, kCount);
  const ArraySource source =
      detail::computed_source(ViewArray::pair_ids, sizeof(bvh_detail::PairIds), small, std::move(buffer).take());
  UploadOptions options;
  options.reserve = 0;
  const ResidentArrays resident = upload({&source, 1}, small, options);
  EXPECT_TRUE(resident.report.arrays[0].in_place);
  EXPECT_EQ(resident.report.free_before, kCount * sizeof(bvh_detail::PairIds) + 4096);
}

TEST_P(ArraysOnDevice, GoToEveryDeviceOfABroadcast) {
  const ArraySource source = computed();
  const std::vector<Device> devices{device()};
  const std::vector<ResidentArrays> resident = broadcast({&source, 1}, devices);
  EXPECT_FALSE(resident[0].report.arrays[0].in_place);
  expect_arrived(resident[0].arrays[0]);
}

TEST_P(ArraysOnDevice, OfAnotherDeviceComeDown) {
  const ArraySource source = computed();
  const Device other = Device::host(256U << 20);
  const ResidentArrays resident = upload({&source, 1}, other);
  EXPECT_FALSE(resident.report.arrays[0].in_place);
  const Stream stream(other);
  std::vector<bvh_detail::PairIds> values(kCount);
  resident.arrays[0].copy_to(std::as_writable_bytes(std::span(values)), stream);
  stream.synchronize();
  EXPECT_EQ(values.back().triangle[0], kCount - 1);
}

}  // namespace
}  // namespace raylift
