// SPDX-License-Identifier: Apache-2.0
// The contract of broadcasts and of helped uploads: every device gets the same bytes, whatever ways there are between
// them, and each byte crosses the host's links once where there are some. On the host alone several host devices stand
// for several GPUs.
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/broadcast.h>

#include <numeric>

#include "gpu/arena.h"
#include "gpu/test_backend.h"
#include "support/devices.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

using test::Kind;
using test::random_scene;
using test::TestBackend;

std::vector<std::uint32_t> counted(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 12345U);
  return values;
}

ArraySource source_of(const std::string& name, ArrayRank rank, const std::vector<std::uint32_t>& values) {
  return array_source(name, rank, std::span<const std::uint32_t>(values));
}

std::vector<std::uint32_t> read(const Memory& array, const Device& device) {
  const Stream stream(device);
  std::vector<std::uint32_t> values(array.bytes() / sizeof(std::uint32_t));
  array.copy_to(std::as_writable_bytes(std::span(values)), stream);
  stream.synchronize();
  return values;
}

UploadOptions small_chunks() {
  UploadOptions options;
  options.reserve = 0;
  options.chunk_bytes = 1U << 20;
  options.chunks = 2;
  return options;
}

/// Two or more devices of a kind; skips, visibly, where there are not that many.
class Broadcasts : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::cuda && cuda_device_count() < 2) GTEST_SKIP() << "needs two CUDA devices";
  }
  [[nodiscard]] static std::vector<Device> devices(std::size_t count) {
    std::vector<Device> result;
    for (std::size_t i = 0; i != count; ++i)
      result.push_back(GetParam() == Kind::host ? Device::host(std::uint64_t{256} << 20)
                                                : Device::cuda(static_cast<int>(i)));
    return result;
  }
  [[nodiscard]] static std::size_t most() {
    return GetParam() == Kind::host ? 4 : static_cast<std::size_t>(cuda_device_count());
  }
};
RAYLIFT_ON_BOTH_DEVICES(Broadcasts);

TEST_P(Broadcasts, BringTheSameBytesToAll) {
  const std::vector<std::uint32_t> large = counted(5'000'003);
  const std::vector<std::uint32_t> small = counted(17);
  const std::vector<ArraySource> sources{source_of("large", ArrayRank::nodes, large),
                                         source_of("none", ArrayRank::nodes, {}),
                                         source_of("small", ArrayRank::attributes, small)};
  for (std::size_t count = 1; count <= most(); ++count) {
    const std::vector<Device> all = devices(count);
    const std::vector<ResidentArrays> resident = broadcast(sources, all, small_chunks());
    ASSERT_EQ(resident.size(), count);
    for (std::size_t i = 0; i != count; ++i) {
      EXPECT_TRUE(read(resident[i].arrays[0], all[i]) == large) << "device " << i << " of " << count;
      EXPECT_TRUE(read(resident[i].arrays[2], all[i]) == small);
      EXPECT_EQ(resident[i].report.arrays[0].where, Residency::device);
    }
  }
}

TEST_P(Broadcasts, TakeWhatIsPinnedFromWhereItIs) {
  const std::vector<std::uint32_t> values = counted(3'000'001);
  const std::vector<Device> all = devices(2);
  const MappedBuffer<std::uint32_t> pinned(all[0], values.size(), {true, true, false});
  std::ranges::copy(values, pinned.host().begin());
  ArraySource source = source_of("pinned", ArrayRank::nodes, values);
  source.pinned = reinterpret_cast<const std::byte*>(pinned.host().data());
  source.fill = [](std::size_t, std::size_t, std::byte*, StoreMode) { FAIL() << "needs no staging"; };
  const std::vector<ResidentArrays> resident = broadcast({&source, 1}, all, small_chunks());
  for (std::size_t i = 0; i != 2; ++i) EXPECT_TRUE(read(resident[i].arrays[0], all[i]) == values);
  const ResidentArrays alone = upload({&source, 1}, all[1], small_chunks());
  EXPECT_TRUE(read(alone.arrays[0], all[1]) == values);
}

TEST_P(Broadcasts, HelpAnUpload) {
  const std::vector<std::uint32_t> large = counted(5'000'003);
  const std::vector<std::uint32_t> small = counted(17);
  const std::vector<ArraySource> sources{source_of("large", ArrayRank::nodes, large),
                                         source_of("small", ArrayRank::attributes, small)};
  const std::vector<Device> all = devices(most());
  UploadOptions options = small_chunks();
  options.relay_devices.assign(all.begin(), all.end());  // the device itself is no help, and no harm
  for (const double share : {1.0, 0.4, 0.0}) {
    options.budget = static_cast<std::uint64_t>(share * 5'000'020 * sizeof(std::uint32_t));
    const ResidentArrays resident = upload(sources, all[0], options);
    EXPECT_TRUE(read(resident.arrays[0], all[0]) == large) << share;
    EXPECT_TRUE(read(resident.arrays[1], all[0]) == small) << share;
    // The stream gets behind what the others pass on.
    const Stream stream(all[0]);
    const ResidentArrays async = upload_async(sources, all[0], stream, options);
    std::vector<std::uint32_t> back(large.size());
    async.arrays[0].copy_to(std::as_writable_bytes(std::span(back)), stream);
    stream.synchronize();
    EXPECT_TRUE(back == large) << share;
  }
}

TEST_P(Broadcasts, GiveEachDeviceItsView) {
  const Scene scene = random_scene(7);
  const std::vector<Device> all = devices(2);
  const std::vector<std::uint32_t> own = counted(1000);
  UploadOptions options = small_chunks();
  options.arrays = {source_of("own", ArrayRank::nodes, own)};
  const std::vector<GpuGeometry> geometries = broadcast(scene, all, options);
  const GpuGeometry alone = upload(scene, all[0], small_chunks());
  ASSERT_EQ(geometries.size(), 2U);
  for (std::size_t i = 0; i != 2; ++i) {
    EXPECT_EQ(geometries[i].device().backend(), all[i].backend());
    EXPECT_EQ(geometries[i].view().triangle_count, alone.view().triangle_count);
    EXPECT_TRUE(read(geometries[i].array("own"), all[i]) == own);
    for (const ViewArray array : {ViewArray::triangles, ViewArray::vertices, ViewArray::instances})
      EXPECT_TRUE(read(geometries[i].array(array), all[i]) == read(alone.array(array), all[0])) << info(array).name;
  }
}

/// Host devices whose ways, failures and budgets a test decides on.
class BroadcastWays : public testing::Test {
 protected:
  explicit BroadcastWays(std::vector<std::uint64_t> budgets = {64U << 20, 64U << 20, 64U << 20}) {
    for (const std::uint64_t budget : budgets) {
      backends_.push_back(std::make_shared<TestBackend>(detail::make_host_backend(budget)));
      devices_.emplace_back(backends_.back());
    }
  }
  void expect_all_there(const std::vector<ResidentArrays>& resident) const {
    for (std::size_t i = 0; i != devices_.size(); ++i)
      EXPECT_TRUE(read(resident[i].arrays[0], devices_[i]) == values_) << "device " << i;
  }
  [[nodiscard]] std::uint64_t link_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& backend : backends_) sum += backend->link_bytes();
    return sum;
  }

  std::vector<std::shared_ptr<TestBackend>> backends_;
  std::vector<Device> devices_;
  std::vector<std::uint32_t> values_ = counted(3'000'001);
  ArraySource source_ = source_of("array", ArrayRank::nodes, values_);
  const std::uint64_t bytes_ = values_.size() * sizeof(std::uint32_t);
};

TEST_F(BroadcastWays, SendEachByteOverOneLink) {
  const std::vector<ResidentArrays> resident = broadcast({&source_, 1}, devices_, small_chunks());
  expect_all_there(resident);
  EXPECT_EQ(link_bytes(), bytes_);
  // The links share the work, the last chunks aside.
  for (const auto& backend : backends_) {
    EXPECT_GT(backend->link_bytes(), bytes_ / 5);
    EXPECT_EQ(backend->peer_bytes(), 2 * backend->link_bytes());
  }
}

TEST_F(BroadcastWays, CopyPlainlyWhereThereIsNoWayBetween) {
  for (const auto& backend : backends_) backend->claim_reach(false);
  expect_all_there(broadcast({&source_, 1}, devices_, small_chunks()));
  EXPECT_EQ(link_bytes(), 3 * bytes_);
}

TEST_F(BroadcastWays, MixBoth) {
  backends_[1]->claim_reach(false);
  expect_all_there(broadcast({&source_, 1}, devices_, small_chunks()));
  EXPECT_GT(link_bytes(), bytes_);
  EXPECT_LT(link_bytes(), 3 * bytes_);
}

TEST_F(BroadcastWays, UseNoBlockAgainBeforeItHasBeenRead) {
  for (const bool reach : {true, false}) {
    for (const auto& backend : backends_) {
      backend->claim_reach(reach);
      backend->defer_copies();
    }
    expect_all_there(broadcast({&source_, 1}, devices_, small_chunks()));
  }
}

TEST_F(BroadcastWays, GiveEverythingBackWhenACopyFails) {
  for (int device = 0; device != 3; ++device) {
    for (const int nth : {0, 3, 7}) {
      backends_[static_cast<std::size_t>(device)]->fail(TestBackend::copy, nth);
      EXPECT_THROW((void)broadcast({&source_, 1}, devices_, small_chunks()), Error);
      for (const Device& one : devices_) one.trim();
      for (const auto& backend : backends_) EXPECT_EQ(backend->alive(), 0);
    }
  }
}

TEST_F(BroadcastWays, RefuseWhatMakesNoSense) {
  const std::vector<Device> twice{devices_[0], devices_[0]};
  EXPECT_THROW((void)broadcast({&source_, 1}, twice), Error);
  EXPECT_THROW((void)broadcast({&source_, 1}, std::span<const Device>()), Error);
  UploadOptions external;
  external.external = [](const std::string&, std::size_t) { return UploadOptions::ExternalMemory{}; };
  EXPECT_THROW((void)broadcast({&source_, 1}, devices_, external), Error);
  UploadOptions lent;
  lent.memory = std::make_shared<test::Arena>(devices_[0], 1U << 20);
  EXPECT_THROW((void)broadcast({&source_, 1}, devices_, lent), Error);
}

TEST_F(BroadcastWays, HelpOverAllLinks) {
  UploadOptions options = small_chunks();
  options.relay_devices = {devices_[1], devices_[2]};
  const ResidentArrays resident = upload({&source_, 1}, devices_[0], options);
  EXPECT_TRUE(read(resident.arrays[0], devices_[0]) == values_);
  EXPECT_EQ(link_bytes(), bytes_);
  for (const auto& backend : backends_) EXPECT_GT(backend->link_bytes(), bytes_ / 5);
  EXPECT_EQ(backends_[1]->peer_bytes(), backends_[1]->link_bytes());
  backends_[1]->claim_reach(false);
  const std::uint64_t before = backends_[1]->link_bytes();
  const ResidentArrays again = upload({&source_, 1}, devices_[0], options);
  EXPECT_TRUE(read(again.arrays[0], devices_[0]) == values_);
  EXPECT_EQ(backends_[1]->link_bytes(), before);
}

/// Devices on which different shares of an array fit.
class BroadcastPlacements : public BroadcastWays {
 protected:
  BroadcastPlacements() : BroadcastWays({64U << 20, 6U << 20, 0}) {}
};

TEST_F(BroadcastPlacements, MayDifferFromDeviceToDevice) {
  const std::vector<ResidentArrays> resident = broadcast({&source_, 1}, devices_, small_chunks());
  EXPECT_EQ(resident[0].report.arrays[0].where, Residency::device);
  EXPECT_EQ(resident[1].report.arrays[0].where, Residency::split);
  EXPECT_EQ(resident[2].report.arrays[0].where, Residency::mapped);
  expect_all_there(resident);
}

}  // namespace
}  // namespace raylift
