// SPDX-License-Identifier: Apache-2.0
// Streams of a program's own, on each device: work in their order, events between them, and uploads that don't block.
#include <raylift/gpu/device/pool.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/trace.h>
#include <raylift/gpu/upload/colors.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <concepts>
#include <numeric>
#include <type_traits>

#include "gpu/test_backend.h"
#include "support/devices.h"
#include "support/random_scenes.h"
#include "support/triangles_and_rays.h"

namespace raylift {
namespace {

using test::TestBackend;

static_assert(std::convertible_to<const Stream&, StreamRef> && std::convertible_to<CUstream_st*, StreamRef> &&
              std::convertible_to<std::nullptr_t, StreamRef>);
static_assert(!std::convertible_to<void*, StreamRef> && !std::convertible_to<int, StreamRef>);
static_assert(std::is_trivially_copyable_v<StreamRef> && sizeof(StreamRef) == sizeof(void*));

std::vector<std::uint32_t> numbers_from(std::size_t count, std::uint32_t first) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

UploadOptions small_ring() {
  UploadOptions options;
  options.reserve = 0;
  options.chunk_bytes = 1U << 20;
  return options;
}

class Streams : public test::OnDevice {
 protected:
  /// A stream as a program has it that does not know raylift, and CUDA's null stream.
  void for_each_stream(const auto& use) {
    const StreamHandle foreign = device().backend()->create_stream();
    for (const StreamRef stream : {StreamRef(foreign), StreamRef(nullptr)}) use(stream);
    device().synchronize(foreign);
    device().backend()->release_stream(foreign);
  }
  std::vector<std::uint32_t> read(const Memory& array, StreamRef stream) {
    std::vector<std::uint32_t> values(array.bytes() / sizeof(std::uint32_t));
    array.copy_to(std::as_writable_bytes(std::span(values)), stream);
    device().synchronize(stream);
    return values;
  }
};
RAYLIFT_ON_BOTH_DEVICES(Streams);

TEST_P(Streams, OfAnybodyCarryCopiesAndKernels) {
  const Scene scene = test::random_scene(2);
  GpuGeometry geometry = upload(scene, device());
  test::RandomRays random(3000, 1);
  std::vector<Ray> rays(5000);
  for (Ray& ray : rays) ray = random();
  std::vector<std::vector<Hit>> all;
  for_each_stream([&](StreamRef stream) {
    PooledBuffer<Ray> on_device(device(), stream, rays.size());
    const PooledBuffer<Hit> hits(device(), stream, rays.size());
    on_device.copy_from(std::span<const Ray>(rays), stream);
    trace(geometry, on_device.device(), hits.device(), rays.size(), stream);
    all.emplace_back(rays.size());
    hits.copy_to(std::span(all.back()), stream);
    device().synchronize(stream);
    color_solids(geometry, std::vector<std::uint32_t>{1}, 0x123456, stream);
    EXPECT_EQ(read(geometry.array(ViewArray::solid_colors), stream)[1], 0x123456U);
    PinnedPool::Block block = device().pinned_pool().allocate(100);
    block.used_by(stream);
    block.wait();
  });
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(std::memcmp(all[0].data(), all[1].data(), rays.size() * sizeof(Hit)), 0);
  EXPECT_TRUE(std::any_of(all[0].begin(), all[0].end(), [](const Hit& hit) { return hit.valid(); }));
}

TEST_P(Streams, WaitForEventsOfOthers) {
  const std::vector<std::uint32_t> values = numbers_from(4'000'000, 7);
  DeviceBuffer<std::uint32_t> buffer(device(), values.size());
  const MappedBuffer<std::uint32_t> pinned(device(), values.size(), {true, true, false});
  std::copy(values.begin(), values.end(), pinned.host().begin());
  const Stream first(device());
  const Stream second(device());
  Event copied(device());
  std::vector<std::uint32_t> back(values.size());
  buffer.copy_from(std::span<const std::uint32_t>(pinned.host()), first);
  copied.record(first);
  copied.wait(second);
  buffer.copy_to(std::span(back), second);
  second.synchronize();
  EXPECT_EQ(back, values);
  EXPECT_TRUE(copied.passed());
}

TEST_P(Streams, SeeWhatIsUploadedInTheirOrder) {
  for (const std::uint64_t budget : {UINT64_MAX, std::uint64_t{8} << 20, std::uint64_t{0}}) {
    for_each_stream([&](StreamRef stream) {
      UploadOptions options = small_ring();
      options.budget = budget;
      std::optional<std::vector<std::uint32_t>> values(numbers_from(5'000'003, 7));
      const ArraySource source = array_source("values", ArrayRank::nodes, *values);
      const ResidentArrays resident = upload_async({&source, 1}, device(), stream, options);
      std::fill(values->begin(), values->end(), 0);  // the caller's array may go
      values.reset();
      EXPECT_TRUE(read(resident.arrays[0], stream) == numbers_from(5'000'003, 7)) << "budget " << budget;
      EXPECT_EQ(device().pinned_pool().active_blocks(), 0U);
    });
  }
}

TEST_P(Streams, SeeAnUploadOfAnotherOneAfterAnEvent) {
  const Stream copies(device());
  const Stream other(device());
  const ArraySource source = array_source("values", ArrayRank::nodes, numbers_from(3'000'001, 5));
  const ResidentArrays resident = upload_async({&source, 1}, device(), copies, small_ring());
  Event uploaded(device());
  uploaded.record(copies);
  uploaded.wait(other);
  EXPECT_TRUE(read(resident.arrays[0], other) == numbers_from(3'000'001, 5));
}

TEST_P(Streams, TakeScenes) {
  std::optional<Scene> scene(test::random_scene(5));
  const GpuGeometry plain = upload(*scene, device());
  const GpuGeometry plain_flat = upload(flatten(*scene), {}, device());
  for_each_stream([&](StreamRef stream) {
    std::optional<Scene> gone(*scene);
    const GpuGeometry geometry = upload_async(*gone, device(), stream);
    gone.reset();
    std::optional<FlatScene> flat(flatten(*scene));
    const GpuGeometry geometry_flat = upload_async(*flat, {}, device(), stream);
    flat.reset();
    for (const auto& [a, b] : {std::pair(&geometry, &plain), std::pair(&geometry_flat, &plain_flat)}) {
      ASSERT_EQ(a->report().arrays.size(), b->report().arrays.size());
      for (const ResidencyReport::Array& row : a->report().arrays) {
        if (row.bytes == 0) continue;
        std::vector<std::byte> got(row.bytes);
        std::vector<std::byte> wanted(row.bytes);
        a->array(row.name).copy_to(got, stream);
        b->array(row.name).copy_to(wanted, stream);
        device().synchronize(stream);
        EXPECT_EQ(got, wanted) << row.name;
      }
      EXPECT_EQ(a->view().bvh_levels, b->view().bvh_levels);
      EXPECT_EQ(a->view().reach, b->view().reach);
    }
  });
}

/// Copies that are executed by the next synchronization, as on a slow link.
class SlowStreams : public Streams {
 protected:
  void SetUp() override {
    Streams::SetUp();
    if (IsSkipped()) return;
    backend_ = std::make_shared<TestBackend>(device().backend());
    backend_->defer_copies();
    slow_.emplace(backend_);
  }
  std::shared_ptr<TestBackend> backend_;
  std::optional<Device> slow_;
};
RAYLIFT_ON_BOTH_DEVICES(SlowStreams);

TEST_P(SlowStreams, AreNotWaitedFor) {
  const Stream stream(*slow_);
  std::optional<std::vector<std::uint32_t>> values(numbers_from(500'000, 3));
  const ArraySource source = array_source("values", ArrayRank::nodes, *values);
  const ResidentArrays resident = upload_async({&source, 1}, *slow_, stream, small_ring());
  EXPECT_GT(backend_->waiting(), 0U) << "the upload waited";
  std::fill(values->begin(), values->end(), 0);
  values.reset();
  std::vector<std::uint32_t> back(500'000);
  resident.arrays[0].copy_to(std::as_writable_bytes(std::span(back)), stream);
  EXPECT_GT(backend_->waiting(), 0U);
  stream.synchronize();
  EXPECT_TRUE(back == numbers_from(500'000, 3));

  const ArraySource again = array_source("values", ArrayRank::nodes, back);
  const ResidentArrays blocking = upload({&again, 1}, *slow_, small_ring());
  EXPECT_EQ(backend_->waiting(), 0U) << "a blocking upload did not wait";
}

TEST_P(SlowStreams, KeepTheRingUntilItIsRead) {
  const Stream stream(*slow_);
  std::vector<ResidentArrays> resident;
  for (std::uint32_t round = 0; round != 4; ++round) {
    const ArraySource source = array_source("values", ArrayRank::nodes, numbers_from(500'000, 1000 * round));
    resident.push_back(upload_async({&source, 1}, *slow_, stream, small_ring()));
  }
  stream.synchronize();
  for (std::uint32_t round = 0; round != 4; ++round) {
    std::vector<std::uint32_t> back(500'000);
    resident[round].arrays[0].copy_to(std::as_writable_bytes(std::span(back)), stream);
    stream.synchronize();
    EXPECT_TRUE(back == numbers_from(500'000, 1000 * round)) << "round " << round;
  }
}

TEST_P(SlowStreams, AreWaitedForWhenAnUploadFails) {
  const Stream stream(*slow_);
  const std::uint64_t before = device().memory_info().free_bytes;
  const ArraySource source = array_source("values", ArrayRank::nodes, numbers_from(2'000'000, 3));
  const Progress cancel([&](std::string_view stage, std::uint64_t done, std::uint64_t) {
    return stage != "upload" || done < (2U << 20);
  });
  EXPECT_THROW((void)upload_async({&source, 1}, *slow_, stream, small_ring(), cancel), Error);
  EXPECT_EQ(backend_->waiting(), 0U);
  EXPECT_EQ(device().memory_info().free_bytes, before);
  EXPECT_EQ(slow_->pinned_pool().active_blocks(), 0U);
}

}  // namespace
}  // namespace raylift
