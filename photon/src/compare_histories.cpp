// SPDX-License-Identifier: Apache-2.0
#include "compare_histories.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace raylift::photon {
namespace {

constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 18;
constexpr std::array<std::uint64_t, 2> kRow{2, 2};

struct HistoryHash {
  std::size_t operator()(const History& history) const {
    std::uint64_t hash = history[0] * 0x9E3779B97F4A7C15U ^ history[1] * 0xC2B2AE3D27D4EB4FU;
    return static_cast<std::size_t>(hash ^ hash >> 32);
  }
};
using Counts = std::unordered_map<History, std::array<std::uint64_t, 2>, HistoryHash>;

/// With SURFACE_DREFLECT (9) and SURFACE_SREFLECT (10) as BOUNDARY_REFLECT (11).
History history_of(const Sequence& sequence) {
  History history{sequence.events[0], sequence.events[1]};
  for (std::uint64_t& word : history)
    for (unsigned bit = 0; bit != 64; bit += 4) {
      const std::uint64_t number = word >> bit & 15;
      if (number == 9 || number == 10) word += (11 - number) << bit;
    }
  return history;
}

/// Calls see(place, history) for each photon of a file.
template <class See>
void for_each_history(const NpyReader& file, const See& see) {
  std::vector<Sequence> rows;
  for (std::uint64_t first = 0; first < file.rows(); first += kAtOnce) {
    rows.resize(static_cast<std::size_t>(std::min(kAtOnce, file.rows() - first)));
    file.read(std::as_writable_bytes(std::span(rows)), first);
    for (std::size_t i = 0; i != rows.size(); ++i) see(first + i, history_of(rows[i]));
  }
}

/// The upper incomplete gamma function over the complete one, by its series (DLMF 8.7.1) or its continued fraction
/// (DLMF 8.9.2).
double upper_gamma(double a, double x) {
  if (!(x > 0)) return 1;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  constexpr double kEnough = 1e-15;
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; term > sum * kEnough; ++n) sum += term *= x / (a + n);
    return 1 - front * sum;
  }
  // Lentz's method.
  double b = x + 1 - a, c = std::numeric_limits<double>::max(), d = 1 / b, value = d;
  for (int i = 1; i != 10'000; ++i) {
    const double numerator = -i * (i - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    value *= c * d;
    if (std::abs(c * d - 1) < kEnough) break;
  }
  return front * value;
}

}  // namespace

double chi_square_probability(double chi_square, double degrees_of_freedom) {
  return upper_gamma(degrees_of_freedom / 2, chi_square / 2);
}

double HistoryCount::chi_square() const {
  const double difference = static_cast<double>(a) - static_cast<double>(b);
  return difference * difference / static_cast<double>(a + b);
}

Comparison compare_histories(const std::string& a, const std::string& b) {
  const NpyReader files[2]{NpyReader(a), NpyReader(b)};
  for (const NpyReader& file : files) file.expect(NpyType::uint64, kRow);
  Comparison result;
  result.photons = files[0].rows();
  if (files[1].rows() != result.photons)
    throw Error(ErrorKind::usage,
                "'" + a + "' has " + std::to_string(result.photons) + " photons, and '" + b + "' " +
                    std::to_string(files[1].rows()) + ": their counts can't be compared",
                {}, "run as many photons in both");
  Counts counts;
  std::vector<Sequence> other;
  for_each_history(files[0], [&](std::uint64_t place, const History& history) {
    ++counts[history][0];
    if (place % kAtOnce == 0) {
      other.resize(static_cast<std::size_t>(std::min(kAtOnce, result.photons - place)));
      files[1].read(std::as_writable_bytes(std::span(other)), place);
    }
    const History there = history_of(other[static_cast<std::size_t>(place % kAtOnce)]);
    ++counts[there][1];
    result.identical += history == there ? 1 : 0;
  });
  for (const auto& [history, count] : counts) {
    const HistoryCount& one = result.histories.emplace_back(HistoryCount{history, count[0], count[1]});
    result.missing += one.missing() ? 1 : 0;
    if (!one.counts()) continue;
    ++result.terms;
    result.chi_square += one.chi_square();
  }
  if (result.terms > 1)
    result.probability = chi_square_probability(result.chi_square, static_cast<double>(result.terms - 1));
  std::sort(result.histories.begin(), result.histories.end(), [](const HistoryCount& x, const HistoryCount& y) {
    return std::tuple(!x.deviates(), -x.chi_square(), y.a + y.b, x.history) <
           std::tuple(!y.deviates(), -y.chi_square(), x.a + x.b, y.history);
  });
  return result;
}

std::vector<std::uint64_t> deviating_photons(const Comparison& comparison, const std::string& file,
                                             std::uint64_t most) {
  std::unordered_map<History, std::uint64_t, HistoryHash> wanted;
  for (const HistoryCount& one : comparison.histories)
    if (one.deviates()) wanted[one.history] = 0;
  std::vector<std::uint64_t> places;
  const NpyReader reader(file);
  reader.expect(NpyType::uint64, kRow);
  for_each_history(reader, [&](std::uint64_t place, const History& history) {
    const auto found = wanted.find(history);
    if (found != wanted.end() && found->second++ < most) places.push_back(place);
  });
  return places;
}

}  // namespace raylift::photon
