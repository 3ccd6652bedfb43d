// SPDX-License-Identifier: Apache-2.0
// Looking for an image's rows on the host, by one thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rays/image_rows.h"

namespace raylift::rows {

/// What find_width takes for the threads that look together: one thread, with kSamples samples.
template <std::uint32_t kSamples>
struct OneThread {
  [[nodiscard]] static std::uint32_t size() { return kSamples; }
  template <class Is>
  [[nodiscard]] std::uint32_t count(std::uint32_t n, const Is& is) const {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i != n; ++i) count += is(i) ? 1 : 0;
    return count;
  }
  template <class Is>
  [[nodiscard]] std::uint32_t first(std::uint32_t n, const Is& is) const {
    for (std::uint32_t i = 0; i != n; ++i)
      if (is(i)) return i;
    return kNone;
  }
  template <class Value>
  [[nodiscard]] std::uint32_t least(std::uint32_t n, const Value& value) const {
    std::uint32_t least = kNone;
    for (std::uint32_t i = 0; i != n; ++i) least = std::min(least, value(i));
    return least;
  }
  template <class Of>
  [[nodiscard]] Sums sum(std::uint32_t n, const Of& of) const {
    Sums all;
    for (std::uint32_t i = 0; i != n; ++i) {
      const Sums one = of(i);
      all.tile_direction += one.tile_direction;
      all.tile_origin += one.tile_origin;
      all.line_direction += one.line_direction;
      all.line_origin += one.line_origin;
    }
    return all;
  }
};

}  // namespace raylift::rows
