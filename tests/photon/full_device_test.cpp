// SPDX-License-Identifier: Apache-2.0
// Photons on a device whose memory others hold.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/memory.h>
#include <raylift/photon/simulation.h>

#include <optional>
#include <span>
#include <vector>

#include "shells.h"

namespace raylift::photon {
namespace {

// Batches, photons on their way and the local memory of kernels share the memory that is left. The ballast is all that
// is free but 2 GB, so no other test may run beside this one.
TEST(CudaBallast, PhotonsHaveTheSameRowsBesideIt) {
  std::optional<Device> device;
  try {
    device = Device::cuda(0);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  using test::flat;
  const Scene scene = test::shells(
      {{3000, {flat("RINDEX", 1), flat("ABSLENGTH", 3000)}}, {1000, {flat("RINDEX", 1.4), flat("RAYLEIGH", 500)}}});
  UploadOptions options;
  options.bvh = true;
  const GpuGeometry geometry = upload(scene, *device, options);
  Source source;
  source.radius = 500;
  constexpr std::uint64_t kPhotons = 8'000'000;
  const auto rows = [&](std::size_t& batch) {
    std::vector<PhotonRow> all;
    all.reserve(kPhotons);
    Simulation simulation(geometry);
    Simulation::Results results;
    results.finals = [&](std::span<const PhotonRow> some) { all.insert(all.end(), some.begin(), some.end()); };
    simulation.run(source, {5}, kPhotons, results);
    batch = simulation.batch();
    return all;
  };
  // The first run here would leave its local memory to the second.
  std::size_t batch = 0;
  std::vector<PhotonRow> beside;
  {
    constexpr std::uint64_t kLeft = 2'000'000'000;
    const std::uint64_t free = device->memory_info().free_bytes;
    if (free <= kLeft) GTEST_SKIP() << "cuda:0 has too little free";
    const Memory ballast = Memory::on_device(*device, static_cast<std::size_t>(free - kLeft));
    beside = rows(batch);
    EXPECT_LT(batch, kPhotons / 4);
  }
  const std::vector<PhotonRow> alone = rows(batch);
  ASSERT_EQ(beside.size(), kPhotons);
  EXPECT_TRUE(test::same_bytes(beside, alone));
}

}  // namespace
}  // namespace raylift::photon
