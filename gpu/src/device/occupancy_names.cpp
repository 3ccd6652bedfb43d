// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/device/occupancy.h>

namespace raylift {

std::string_view to_string(Occupancy::Limit limit) noexcept {
  switch (limit) {
    case Occupancy::Limit::threads:
      return "threads";
    case Occupancy::Limit::registers:
      return "registers";
    case Occupancy::Limit::shared_memory:
      return "shared memory";
    case Occupancy::Limit::blocks:
      break;
  }
  return "blocks";
}

}  // namespace raylift
