// SPDX-License-Identifier: Apache-2.0
// Compares the histories of two simulations by the chi-square of how often each one
// occurs, as Opticks compares with Geant4 (sysrap/sqc, ana/qcf.py).
#pragma once

#include <raylift/photon/npy.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "histories.h"

namespace raylift::photon {

/// How likely a chi-square of at least `chi_square` is, by chance.
[[nodiscard]] double chi_square_probability(double chi_square, double degrees_of_freedom);

/// A history, how often it occurs in A and in B, and its part of the chi-square.
struct HistoryCount {
  History history;
  std::uint64_t a, b;
  [[nodiscard]] double chi_square() const;
  /// Whether it is in the sum: a + b > 30.
  [[nodiscard]] bool counts() const { return a + b > 30; }
  /// More than 10 in one and none in the other.
  [[nodiscard]] bool missing() const { return (a > 10 && b == 0) || (b > 10 && a == 0); }
  /// Worth a look: missing, or more than 3 standard deviations off.
  [[nodiscard]] bool deviates() const { return missing() || (counts() && chi_square() > 9); }
};

struct Comparison {
  std::uint64_t photons = 0;    ///< of each
  std::uint64_t identical = 0;  ///< that have the same history under the same number
  double chi_square = 0;
  std::uint64_t terms = 0;  ///< of its sum
  double probability = 1;
  std::uint64_t missing = 0;            ///< histories, by HistoryCount::missing()
  std::vector<HistoryCount> histories;  ///< all, the largest parts of the chi-square first

  [[nodiscard]] bool passes() const { return probability > 0.05 && missing == 0; }
};

/// Compares two files of (N, 2, 2), uint64. Reflections at surfaces count as those at boundaries, which raylift's
/// histories don't distinguish. Throws Error: usage where they have different numbers of photons; malformed; io.
[[nodiscard]] Comparison compare_histories(const std::string& a, const std::string& b);

/// The photons of a file that have deviating histories, by their places in it: the first `most` of each.
[[nodiscard]] std::vector<std::uint64_t> deviating_photons(const Comparison& comparison, const std::string& file,
                                                           std::uint64_t most);

}  // namespace raylift::photon
