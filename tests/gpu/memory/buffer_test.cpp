// SPDX-License-Identifier: Apache-2.0
// The contract of buffers, streams and events, on every device.
#include <raylift/gpu/memory/buffer.h>

#include <numeric>
#include <type_traits>

#include "support/devices.h"

namespace raylift {
namespace {

using test::Kind;

class Buffers : public test::OnDevice {};
RAYLIFT_ON_BOTH_DEVICES(Buffers);

std::vector<std::uint32_t> numbers(std::size_t count, std::uint32_t first = 1) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_P(Buffers, BringBackWhatWasCopiedIn) {
  const Stream stream(device());
  const std::vector<std::uint32_t> in = numbers(100'000);
  std::vector<std::uint32_t> out(in.size());
  DeviceBuffer<std::uint32_t> buffer(device(), in.size());
  buffer.copy_from(in, stream);
  buffer.copy_to(out, stream);
  stream.synchronize();
  EXPECT_EQ(in, out);
}

TEST_P(Buffers, CopyPartsOfThemselves) {
  const Stream stream(device());
  const std::vector<std::uint32_t> in = numbers(1000);
  DeviceBuffer<std::uint32_t> buffer(device(), 1000);
  buffer.copy_from(in, stream);
  buffer.copy_from(std::span(in).first(10), stream, 500);
  std::vector<std::uint32_t> out(20);
  buffer.copy_to(out, stream, 495);
  stream.synchronize();
  EXPECT_EQ(out, (std::vector<std::uint32_t>{496, 497, 498, 499, 500, 1,   2,   3,   4,   5,
                                             6,   7,   8,   9,   10,  511, 512, 513, 514, 515}));
}

TEST_P(Buffers, RefuseCopiesThatLeaveThem) {
  const Stream stream(device());
  DeviceBuffer<std::uint32_t> buffer(device(), 10);
  const std::vector<std::uint32_t> in = numbers(10);
  EXPECT_THROW(buffer.copy_from(in, stream, 1), Error);
  EXPECT_THROW(buffer.copy_from(std::span(in).first(1), stream, static_cast<std::size_t>(-1)), Error);
  std::vector<std::uint32_t> out(11);
  EXPECT_THROW(buffer.copy_to(out, stream), Error);
}

TEST_P(Buffers, MayBeEmpty) {
  const Stream stream(device());
  DeviceBuffer<int> none(device(), 0);
  EXPECT_EQ(none.device(), nullptr);
  none.copy_from(std::span<const int>{}, stream);
  EXPECT_EQ(MappedBuffer<int>(device(), 0).device(), nullptr);
}

TEST_P(Buffers, GiveTheirMemoryBackOnce) {
  const std::uint64_t before = device().memory_info().free_bytes;
  {
    DeviceBuffer<std::byte> a(device(), 8U << 20);
    EXPECT_LT(device().memory_info().free_bytes, before);
    DeviceBuffer<std::byte> b = std::move(a);
    a = DeviceBuffer<std::byte>(device(), 4U << 20);
    b = std::move(a);
    EXPECT_EQ(b.size(), 4U << 20);
  }
  EXPECT_EQ(device().memory_info().free_bytes, before);
}

TEST_P(Buffers, SayWhatDidNotFit) {
  const std::size_t too_much = device().info().total_bytes + (std::size_t{1} << 30);
  try {
    DeviceBuffer<std::byte> buffer(device(), too_much);
    FAIL() << "more than all of the device's memory was given";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_device_memory);
    EXPECT_NE(std::string(error.what()).find(std::to_string(too_much)), std::string::npos) << error.what();
  }
  // The device is usable afterwards.
  EXPECT_NE(DeviceBuffer<std::byte>(device(), 1024).device(), nullptr);
}

TEST_P(Buffers, RefuseSizesBeyondTheAddressSpace) {
  EXPECT_THROW(DeviceBuffer<std::uint64_t>(device(), static_cast<std::size_t>(-1) / 2), Error);
}

TEST_P(Buffers, MappedOnesAreWrittenByTheHostAndReadByTheDevice) {
  const Stream stream(device());
  for (const bool write_combined : {true, false}) {
    MappedBuffer<std::uint32_t> buffer(device(), 50'000, {true, true, write_combined});
    const std::vector<std::uint32_t> in = numbers(buffer.size());
    std::copy(in.begin(), in.end(), buffer.host().begin());
    std::vector<std::uint32_t> out(in.size());
    buffer.backend()->copy_to_host(out.data(), buffer.device(), out.size() * sizeof(out[0]), stream.handle());
    stream.synchronize();
    EXPECT_EQ(in, out);
    EXPECT_EQ(buffer.flags().write_combined, write_combined);
  }
}

TEST_P(Buffers, PinnedButNotMappedOnesHaveNoDeviceAddress) {
  const MappedBuffer<int> buffer(device(), 16, {true, false, false});
  EXPECT_EQ(buffer.device(), nullptr);
  EXPECT_NE(buffer.host().data(), nullptr);
}

/// On CUDA the driver decides.
TEST(HostBuffers, HaveTwoAddressesSoThatMixingThemFails) {
  const MappedBuffer<int> buffer(Device::host(), 16);
  EXPECT_NE(buffer.device(), buffer.host().data());
}

TEST_P(Buffers, RegisteredMemoryIsReadInPlace) {
  const Stream stream(device());
  std::vector<std::uint32_t> values = numbers(100'000);
  const Memory registered = register_host_memory(device(), std::span(values));
  EXPECT_EQ(registered.bytes(), values.size() * 4);
  values[7] = 4711;
  std::vector<std::uint32_t> out(values.size());
  device().backend()->copy_to_host(out.data(), registered.device(), registered.bytes(), stream.handle());
  stream.synchronize();
  EXPECT_EQ(values, out);
  EXPECT_THROW((void)register_host_memory(device(), std::span<int>{}), Error);
}

TEST_P(Buffers, SplitOnesAreOneRangeOverBothMemories) {
  if (!device().info().splits_arrays) GTEST_SKIP() << device().info().id << " splits no arrays";
  const Stream stream(device());
  const std::size_t page = device().info().page_bytes;
  const std::size_t count = (5 * page + 12) / 4;
  const std::uint64_t before = device().memory_info().free_bytes;
  {
    SplitBuffer<std::uint32_t> buffer(device(), count, 2 * page + 100);
    EXPECT_EQ(buffer.device_bytes(), 2 * page);
    EXPECT_EQ(buffer.host_part().size(), 3 * page + 12);
    const std::vector<std::uint32_t> in = numbers(count);
    buffer.copy_from(in, stream);
    std::vector<std::uint32_t> out(count);
    buffer.copy_to(out, stream);
    stream.synchronize();
    EXPECT_EQ(in, out);

    // A copy that starts in one memory and ends in the other.
    const std::size_t boundary = 2 * page / 4;
    const std::vector<std::uint32_t> few{91, 92, 93, 94, 95, 96};
    buffer.copy_from(few, stream, boundary - 3);
    std::vector<std::uint32_t> back(8);
    buffer.copy_to(back, stream, boundary - 4);
    stream.synchronize();
    EXPECT_EQ(back, (std::vector<std::uint32_t>{in[boundary - 4], 91, 92, 93, 94, 95, 96, in[boundary + 3]}));

    // The host writes its part in place.
    auto* host = reinterpret_cast<std::uint32_t*>(buffer.host_part().data());
    host[0] = 1234;
    buffer.copy_to(std::span(back).first(1), stream, boundary);
    stream.synchronize();
    EXPECT_EQ(back[0], 1234U);
  }
  EXPECT_EQ(device().memory_info().free_bytes, before);
}

TEST_P(Buffers, SplitOnesRefuseToBeWholeOnOneSide) {
  if (!device().info().splits_arrays) GTEST_SKIP() << device().info().id << " splits no arrays";
  const std::size_t page = device().info().page_bytes;
  EXPECT_THROW(SplitBuffer<std::byte>(device(), 4 * page, page - 1), Error);
  EXPECT_THROW(SplitBuffer<std::byte>(device(), 4 * page, 4 * page), Error);
}

TEST_P(Buffers, EventsPassOnceTheirStreamHas) {
  const Stream stream(device());
  DeviceBuffer<std::byte> buffer(device(), 16U << 20);
  const std::vector<std::byte> in(buffer.size());
  Event event(device());
  buffer.copy_from(in, stream);
  event.record(stream.handle());
  event.wait();
  EXPECT_TRUE(event.passed());
  Event other(device());
  other = std::move(event);
  EXPECT_TRUE(other.passed());
}

static_assert(!std::is_copy_constructible_v<DeviceBuffer<int>>);
static_assert(!std::is_copy_constructible_v<MappedBuffer<int>>);
static_assert(!std::is_copy_constructible_v<SplitBuffer<int>>);
static_assert(!std::is_copy_constructible_v<Stream>);
template <class Source>
concept CanBeCopiedFrom = requires(DeviceBuffer<int> buffer, const Stream& stream, Source source) {
  buffer.copy_from(std::forward<Source>(source), stream);
};
static_assert(CanBeCopiedFrom<std::vector<int>&>);
static_assert(!CanBeCopiedFrom<std::vector<int>>, "nothing copies from a temporary");

}  // namespace
}  // namespace raylift
