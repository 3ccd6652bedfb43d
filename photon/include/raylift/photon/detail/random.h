// SPDX-License-Identifier: Apache-2.0
// A counter-based random number generator: a draw depends only on the seed, the photon's number and the number of draws
// before it. So no state is kept in memory, and any photon can be simulated again alone.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/photon/detail/math.h>

namespace raylift::photon {

/// Four numbers of 32 random bits.
struct Bits4 {
  std::uint32_t x, y, z, w;
  RAYLIFT_HD_INLINE friend bool operator==(const Bits4&, const Bits4&) = default;
};

/// Philox 4x32 with 10 rounds (J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011).
// By a call in kernels, as there are many places that draw.
RAYLIFT_SLOW_PATH inline Bits4 philox(Bits4 counter, std::uint64_t key) {
  auto low = static_cast<std::uint32_t>(key);
  auto high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round != 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter.x;
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter.z;
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter.y ^ low, static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter.w ^ high, static_cast<std::uint32_t>(a)};
    low += 0x9E3779B9u;
    high += 0xBB67AE85u;
  }
  return counter;
}

/// The numbers of one photon, in order.
class RandomStream {
 public:
  /// `first` is the number of draws that the photon has made before.
  RAYLIFT_HD_INLINE RandomStream(std::uint64_t seed, std::uint64_t photon, std::uint32_t first = 0)
      : seed_(seed), photon_(photon), drawn_(first) {
    if (first % 4 != 0) fill();
  }

  /// 32 random bits.
  RAYLIFT_HD_INLINE std::uint32_t bits() {
    if (drawn_ % 4 == 0) fill();
    const std::uint32_t which = drawn_++ % 4;
    return which == 0 ? block_.x : which == 1 ? block_.y : which == 2 ? block_.z : block_.w;
  }
  /// Uniform, more than 0 and less than 1, in steps of 2^-23.
  RAYLIFT_HD_INLINE Real uniform() { return (Real(static_cast<float>(bits() >> 9)) + Real(0.5f)) * Real(0x1p-23f); }
  /// Exponentially distributed with mean 1, from 1.2e-10 to 22.9. For a uniform u near 1, where float is too coarse for
  /// the logarithm, it is computed from 1 - u.
  RAYLIFT_HD_INLINE Real exponential() {
    const std::uint32_t x = bits();
    const Real rest = (Real(static_cast<float>(~x)) + Real(0.5f)) * Real(0x1p-32f);
    if (rest < Real(0x1p-8f))
      return rest + rest * rest * (Real(0.5f) + rest * (Real(0.33333334f) + rest * Real(0.25f)));
    return -log((Real(static_cast<float>(x)) + Real(0.5f)) * Real(0x1p-32f));
  }
  /// From the standard normal distribution (Box and Muller). Takes two draws.
  RAYLIFT_HD_INLINE Real normal() {
    const Real radius = square_root(Real(2) * exponential());
    return radius * sine_cosine_of_turns(uniform()).cosine;
  }
  /// An isotropic direction. Takes two draws.
  RAYLIFT_HD_INLINE Vector direction() {
    const Real z = Real(2) * uniform() - Real(1);
    const SineCosine azimuth = sine_cosine_of_turns(uniform());
    const Real across = square_root((Real(1) - z) * (Real(1) + z));
    return {across * azimuth.cosine, across * azimuth.sine, z};
  }
  /// How many draws have been made.
  [[nodiscard]] RAYLIFT_HD std::uint32_t drawn() const { return drawn_; }

 private:
  RAYLIFT_HD_INLINE void fill() {
    block_ =
        philox({drawn_ / 4, 0, static_cast<std::uint32_t>(photon_), static_cast<std::uint32_t>(photon_ >> 32)}, seed_);
  }
  std::uint64_t seed_;
  std::uint64_t photon_;
  std::uint32_t drawn_;
  Bits4 block_{};
};

}  // namespace raylift::photon
