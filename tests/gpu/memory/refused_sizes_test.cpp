// SPDX-License-Identifier: Apache-2.0
// Sizes that are refused, on each device: of the staging ring, and those that no memory has.
#include <raylift/gpu/device/pool.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/broadcast.h>

#include "support/devices.h"
#include "support/expect_error.h"

namespace raylift {
namespace {

class RefusedSizes : public test::OnDevice {};
RAYLIFT_ON_BOTH_DEVICES(RefusedSizes);

TEST_P(RefusedSizes, OfTheStagingRing) {
  const std::vector<int> values(10);
  const ArraySource source = array_source("values", ArrayRank::nodes, values);
  const auto expect_refused = [&](const UploadOptions& options) {
    (void)test::expect_error(ErrorKind::usage, [&] { (void)upload({&source, 1}, device(), options); });
    (void)test::expect_error(ErrorKind::usage, [&] { (void)broadcast({&source, 1}, {{device()}}, options); });
  };
  for (const std::size_t chunk : {std::size_t{0}, std::size_t{1}, std::size_t{256} << 10, (std::size_t{512} << 10) - 1,
                                  std::size_t{768} << 10, std::size_t{2} << 30, ~std::size_t{0}}) {
    UploadOptions options;
    options.chunk_bytes = chunk;
    expect_refused(options);
  }
  for (const std::size_t chunks : {std::size_t{0}, std::size_t{1025}, ~std::size_t{0}}) {
    UploadOptions options;
    options.chunks = chunks;
    expect_refused(options);
  }
}

TEST_P(RefusedSizes, ThatNoMemoryHas) {
  constexpr std::size_t kAll = ~std::size_t{0};
  const Stream stream(device());
  const auto expect_refused = [](const auto& allocate) { (void)test::expect_error(ErrorKind::usage, allocate); };
  // Whole bytes, and elements whose bytes wrap round to few.
  for (const std::size_t bytes : {kAll, kAll / 2 + 2}) {
    expect_refused([&] { (void)DeviceBuffer<std::byte>(device(), bytes); });
    expect_refused([&] { (void)PooledBuffer<std::byte>(device(), stream, bytes); });
    expect_refused([&] { (void)MappedBuffer<std::byte>(device(), bytes); });
    expect_refused([&] { (void)Memory::on_device(device(), bytes); });
    expect_refused([&] { (void)Memory::pooled(device(), stream, bytes); });
    expect_refused([&] { (void)Memory::mapped(device(), bytes, {}); });
    expect_refused([&] { (void)device().pinned_pool().allocate(bytes); });
    if (device().info().splits_arrays) expect_refused([&] { (void)Memory::split(device(), bytes, 4U << 20); });
  }
  for (const std::size_t count : {kAll / 8 + 2, kAll / 16 + 2}) {
    expect_refused([&] { (void)DeviceBuffer<double>(device(), count); });
    expect_refused([&] { (void)PooledBuffer<double>(device(), stream, count); });
    expect_refused([&] { (void)MappedBuffer<double>(device(), count); });
    if (device().info().splits_arrays) expect_refused([&] { (void)SplitBuffer<double>(device(), count, 4U << 20); });
    const ArraySource source{"endless", ArrayRank::nodes, 8, count, {}};
    expect_refused([&] { (void)upload({&source, 1}, device()); });
  }
}

}  // namespace
}  // namespace raylift
