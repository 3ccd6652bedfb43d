// SPDX-License-Identifier: Apache-2.0
// Means with their standard errors, for tests of distributions.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace raylift::test {

/// The mean of what was added, and its standard error.
class Mean {
 public:
  void add(double value) {
    ++count_;
    const double before = mean_;
    mean_ += (value - mean_) / static_cast<double>(count_);
    squares_ += (value - before) * (value - mean_);
  }
  [[nodiscard]] double value() const { return mean_; }
  [[nodiscard]] double error() const {
    return std::sqrt(squares_ / static_cast<double>(count_ - 1) / static_cast<double>(count_));
  }
  /// How many standard errors it is off.
  [[nodiscard]] double off(double truth) const { return std::abs(mean_ - truth) / error(); }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

/// The mean is the truth within 4 standard errors, and precise enough to tell a truth that is 2 % of `scale` off.
inline void expect_mean(const Mean& mean, double truth, double scale) {
  EXPECT_LT(mean.off(truth), 4) << mean.value() << " +- " << mean.error() << ", and not " << truth;
  EXPECT_GT(mean.off(truth + 0.02 * scale), 4);
  EXPECT_GT(mean.off(truth - 0.02 * scale), 4);
}

}  // namespace raylift::test

namespace raylift::photon {
using test::expect_mean;
using test::Mean;
}  // namespace raylift::photon
