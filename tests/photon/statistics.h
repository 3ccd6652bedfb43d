// SPDX-License-Identifier: Apache-2.0
// Means with their standard errors, for tests of distributions.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "support/effort.h"

namespace raylift::test {

inline constexpr double kDegree = std::numbers::pi / 180;

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

/// The mean is the truth within 4 standard errors, and precise enough to tell a truth that is 2 % of `scale` off; with
/// the fewer photons under sanitizers, 5 %.
inline void expect_mean(const Mean& mean, double truth, double scale) {
  const double wrong = (kSanitized ? 0.05 : 0.02) * scale;
  EXPECT_LT(mean.off(truth), 4) << mean.value() << " +- " << mean.error() << ", and not " << truth;
  EXPECT_GT(mean.off(truth + wrong), 4);
  EXPECT_GT(mean.off(truth - wrong), 4);
}

/// Shares of many samples against a formula, and against the same formula with a constant that is 2 % off.
class Shares {
 public:
  /// So many of `of`, where the formula says `truth`, and `wrong` with the planted fault.
  void add(std::uint64_t count, std::uint64_t of, double truth, double wrong, const char* what) {
    const double n = static_cast<double>(of), share = static_cast<double>(count) / n;
    // A share that is 0 or 1 has no error of its own; of any one, a count of 1 is within it.
    const auto error = [n](double p) { return std::sqrt(std::max(p * (1 - p), 1 / n) / n); };
    EXPECT_LE(std::abs(share - truth), 4 * error(truth)) << what << ": " << share << ", and not " << truth;
    if (truth > 0 && truth < 1) {
      chi_square_ += std::pow((share - truth) / error(truth), 2);
      wrong_ += std::pow((share - wrong) / error(wrong), 2);
      ++terms_;
    }
  }
  /// The chi-square of all of them is within 4 standard errors; that of the fault is far beyond, but not with the fewer
  /// photons under sanitizers.
  void expect(const char* what) const {
    const double error = std::sqrt(2 * terms_);
    EXPECT_LT(chi_square_, terms_ + 4 * error) << what;
    if (!kSanitized) {
      EXPECT_GT(wrong_, terms_ + 8 * error) << what << ": too few photons to see 2 %";
    }
  }

 private:
  double chi_square_ = 0, wrong_ = 0, terms_ = 0;
};

}  // namespace raylift::test

namespace raylift::photon {
using test::expect_mean;
using test::Mean;
}  // namespace raylift::photon
