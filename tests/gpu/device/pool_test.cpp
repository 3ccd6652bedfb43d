// SPDX-License-Identifier: Apache-2.0
// The rules of the pinned pool, and of device memory from the pool, on every device.
#include <raylift/gpu/device/pool.h>
#include <raylift/gpu/memory/buffer.h>

#include <random>
#include <thread>

#include "gpu/test_backend.h"
#include "support/devices.h"

namespace raylift {
namespace {

using test::TestBackend;

TEST(PinnedPoolBins, WasteAtMostOneSixteenth) {
  std::mt19937_64 random(7);
  for (int round = 0; round != 100'000; ++round) {
    const std::size_t bytes = (random() >> random() % 60) % (std::size_t{1} << 40) + 1;
    const std::size_t given = PinnedPool::block_bytes(PinnedPool::bin_of(bytes));
    ASSERT_GE(given, bytes);
    if (bytes >= 16) {
      ASSERT_LE(static_cast<double>(given - bytes), static_cast<double>(bytes) / 16) << bytes;
    }
    // A block's own size falls into its bin: it comes back to where it was taken from.
    ASSERT_EQ(PinnedPool::bin_of(given), PinnedPool::bin_of(bytes)) << bytes;
  }
}

TEST(PinnedPoolBins, GrowWithSize) {
  for (std::size_t bytes = 1; bytes != 5000; ++bytes)
    ASSERT_LE(PinnedPool::block_bytes(PinnedPool::bin_of(bytes)),
              PinnedPool::block_bytes(PinnedPool::bin_of(bytes + 1)));
}

class PinnedPools : public test::OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    backend_ = std::make_shared<TestBackend>(device().backend());
    pool_ = PinnedPool::make(backend_);
  }
  std::shared_ptr<TestBackend> backend_;
  std::shared_ptr<PinnedPool> pool_;
};
RAYLIFT_ON_BOTH_DEVICES(PinnedPools);

TEST_P(PinnedPools, CountWhatIsHeldAndWhatIsActive) {
  {
    const PinnedPool::Block a = pool_->allocate(1000);
    const PinnedPool::Block b = pool_->allocate(5000);
    EXPECT_EQ(pool_->active_blocks(), 2U);
    EXPECT_EQ(pool_->held_blocks(), 0U);
    EXPECT_EQ(pool_->active_bytes(), 6000U);
    EXPECT_GE(pool_->managed_bytes(), 6000U);
    EXPECT_EQ(a.host().size(), 1000U);
  }
  EXPECT_EQ(pool_->active_blocks(), 0U);
  EXPECT_EQ(pool_->held_blocks(), 2U);
  EXPECT_EQ(pool_->active_bytes(), 0U);
  pool_->free_held();
  EXPECT_EQ(pool_->held_blocks(), 0U);
  EXPECT_EQ(pool_->managed_bytes(), 0U);
  EXPECT_EQ(backend_->alive(), 0);
}

TEST_P(PinnedPools, GiveOutTheBlockThatCameBackLast) {
  PinnedPool::Block a = pool_->allocate(4096);
  PinnedPool::Block b = pool_->allocate(4096);
  const std::byte* last = a.host().data();
  b.reset();
  a.reset();
  EXPECT_EQ(pool_->allocate(4096).host().data(), last);
  EXPECT_EQ(backend_->seen(TestBackend::pinned_allocation), 2);
}

TEST_P(PinnedPools, ServeEverySizeOfABinWithItsBlocks) {
  const PinnedPool::Bin bin = PinnedPool::bin_of(100'000);
  pool_->allocate(100'000).reset();
  const PinnedPool::Block again = pool_->allocate(PinnedPool::block_bytes(bin));
  EXPECT_EQ(backend_->seen(TestBackend::pinned_allocation), 1);
}

TEST_P(PinnedPools, HoldNothingOnceTheyWereToldToStop) {
  PinnedPool::Block active = pool_->allocate(1000);
  pool_->allocate(2000).reset();
  pool_->stop_holding();
  EXPECT_EQ(pool_->held_blocks(), 0U);
  active.reset();
  EXPECT_EQ(pool_->held_blocks(), 0U);
  EXPECT_EQ(backend_->alive(), 0);
}

TEST_P(PinnedPools, GiveHeldBlocksBackLargestFirstWhenMemoryRunsOut) {
  {
    const PinnedPool::Block small = pool_->allocate(1 << 12);
    const PinnedPool::Block large = pool_->allocate(1 << 20);
    const PinnedPool::Block middle = pool_->allocate(1 << 16);
  }
  // Fails once, and succeeds after one block went back: the largest.
  backend_->fail(TestBackend::pinned_allocation, 0, 0);
  const PinnedPool::Block block = pool_->allocate(1 << 24);
  EXPECT_EQ(pool_->held_blocks(), 2U);
  const std::size_t left = pool_->managed_bytes() - PinnedPool::block_bytes(PinnedPool::bin_of(1 << 24));
  EXPECT_LT(left, std::size_t{1} << 20) << "the largest block is still there";
}

TEST_P(PinnedPools, SayWhatWasAskedHeldAndActiveWhenNothingHelps) {
  const PinnedPool::Block active = pool_->allocate(3000);
  pool_->allocate(1 << 16).reset();
  backend_->fail(TestBackend::pinned_allocation, 0, 1000);
  try {
    (void)pool_->allocate(123'456);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_host_memory);
    for (const char* part : {"123456 bytes", "3000 bytes in 1 blocks are in use", "in 0 blocks"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
  EXPECT_EQ(pool_->held_blocks(), 0U) << "all that was held went back first";
  EXPECT_EQ(pool_->active_blocks(), 1U);
}

TEST_P(PinnedPools, DoNotLendABlockThatACopyStillReads) {
  backend_->defer_copies();
  const Device wrapped(backend_);
  const Stream stream(wrapped);
  DeviceBuffer<std::byte> target(wrapped, 4096);
  std::byte* busy_address = nullptr;
  {
    PinnedPool::Block busy = pool_->allocate(4096);
    busy_address = busy.host().data();
    std::fill(busy.host().begin(), busy.host().end(), std::byte{1});
    target.copy_from(std::span<const std::byte>(busy.host()), stream);
    busy.used_by(stream);
  }
  // Another block of the bin is free: it goes first, although the busy one came back last.
  PinnedPool::Block idle = pool_->allocate(8192);
  idle.reset();
  // None is free: the pool waits for the copy, and only then lends the block again.
  PinnedPool::Block again = pool_->allocate(4096);
  EXPECT_EQ(again.host().data(), busy_address);
  std::fill(again.host().begin(), again.host().end(), std::byte{2});
  std::vector<std::byte> out(4096);
  target.copy_to(out, stream);
  stream.synchronize();
  EXPECT_EQ(out, std::vector<std::byte>(4096, std::byte{1})) << "the block was overwritten while it was copied";
}

TEST_P(PinnedPools, PreferAnIdleBlockToABusyOne) {
  backend_->defer_copies();
  const Device wrapped(backend_);
  const Stream stream(wrapped);
  DeviceBuffer<std::byte> target(wrapped, 4096);
  PinnedPool::Block idle = pool_->allocate(4096);
  PinnedPool::Block busy = pool_->allocate(4096);
  const std::byte* idle_address = idle.host().data();
  target.copy_from(std::span<const std::byte>(busy.host()), stream);
  busy.used_by(stream);
  idle.reset();
  busy.reset();
  EXPECT_EQ(pool_->allocate(4096).host().data(), idle_address);
  stream.synchronize();
}

TEST_P(PinnedPools, RefuseBlocksOfNoBytes) {
  EXPECT_THROW((void)pool_->allocate(0), Error);
}

TEST_P(PinnedPools, SurviveTheirLastOwnerWhileABlockIsOnLoan) {
  PinnedPool::Block block = pool_->allocate(100);
  pool_.reset();
  block.host()[99] = std::byte{1};
  block.reset();
  EXPECT_EQ(backend_->alive(), 0);
}

TEST_P(PinnedPools, MayBeUsedFromManyThreads) {
  const std::shared_ptr<PinnedPool> pool = PinnedPool::make(device().backend());
  std::vector<std::thread> threads;
  for (unsigned t = 0; t != 8; ++t)
    threads.emplace_back([&pool, t] {
      std::mt19937 random(t);
      for (int round = 0; round != 300; ++round) {
        PinnedPool::Block block = pool->allocate(1 + random() % 60'000);
        block.host().front() = block.host().back() = static_cast<std::byte>(t);
        if (round % 50 == 0) pool->free_held();
        ASSERT_EQ(block.host().back(), static_cast<std::byte>(t));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->active_blocks(), 0U);
  EXPECT_EQ(pool->active_bytes(), 0U);
}

class PooledMemory : public test::OnDevice {};
RAYLIFT_ON_BOTH_DEVICES(PooledMemory);

TEST_P(PooledMemory, IsUsableInTheOrderOfItsStream) {
  const Stream stream(device());
  std::vector<int> out(1000);
  {
    const std::vector<int> in(1000, 5);
    const PooledBuffer<int> buffer(device(), stream, in.size());
    device().backend()->copy_to_device(buffer.device(), in.data(), 4000, stream.handle());
    device().backend()->copy_to_host(out.data(), buffer.device(), 4000, stream.handle());
    stream.synchronize();
  }
  EXPECT_EQ(out, std::vector<int>(1000, 5));
  stream.synchronize();
  EXPECT_EQ(device().backend()->pool_bytes().active, 0U);
}

TEST_P(PooledMemory, TrimsThePoolAndTriesAgainBeforeItGivesUp) {
  const auto backend = std::make_shared<TestBackend>(device().backend());
  const Device wrapped(backend);
  const Stream stream(wrapped);
  backend->fail(TestBackend::device_allocation, 0);
  EXPECT_NO_THROW((PooledBuffer<int>(wrapped, stream, 100)));
  EXPECT_EQ(backend->trims(), 1);
  backend->fail(TestBackend::device_allocation, 0, 1);
  try {
    const PooledBuffer<int> buffer(wrapped, stream, 777);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_device_memory);
    for (const char* part : {"3108 bytes", "free", "held by the pool", "in use"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST_P(PooledMemory, HeldByThePoolCountsAsFree) {
  const Stream stream(device());
  const std::uint64_t before = device().memory_info().free_bytes;
  { const PooledBuffer<std::byte> buffer(device(), stream, 64U << 20); }
  stream.synchronize();
  EXPECT_EQ(device().memory_info().free_bytes, before);
}

}  // namespace
}  // namespace raylift
