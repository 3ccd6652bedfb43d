// SPDX-License-Identifier: Apache-2.0
// The devices that the contract tests run on: each test is written once and instantiated for the host and for CUDA.
#pragma once

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/device.h>

#include <optional>
#include <ostream>

namespace raylift::test {

enum class Kind { host, cuda };

inline void PrintTo(Kind kind, std::ostream* out) {
  *out << (kind == Kind::host ? "host" : "cuda");
}

/// A test on a device of each kind. Skips, visibly, where there is none.
class OnDevice : public testing::TestWithParam<Kind> {
 protected:
  static constexpr std::uint64_t kHostBudget = std::uint64_t{256} << 20;

  void SetUp() override {
    if (GetParam() == Kind::host) {
      device_ = Device::host(kHostBudget);
      return;
    }
    try {
      device_ = Device::cuda(0);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  [[nodiscard]] const Device& device() const { return *device_; }

 private:
  std::optional<Device> device_;
};

}  // namespace raylift::test

/// Instantiates a suite for both kinds. The CUDA instance's name gives its tests the label gpu.
#define RAYLIFT_ON_BOTH_DEVICES(Suite)                                               \
  INSTANTIATE_TEST_SUITE_P(Host, Suite, testing::Values(raylift::test::Kind::host)); \
  INSTANTIATE_TEST_SUITE_P(Cuda, Suite, testing::Values(raylift::test::Kind::cuda))
