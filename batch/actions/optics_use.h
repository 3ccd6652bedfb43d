// SPDX-License-Identifier: Apache-2.0
// Which solids use which part of a scene's optics.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <string>
#include <vector>

namespace raylift::batch {

/// How many solids or pairs use something, and the names of the first ones, each once.
struct OpticsUse {
  std::uint64_t solids = 0;
  std::uint64_t pairs = 0;
  std::vector<std::string> names;

  /// "12: pvPmt, pvTank, ...".
  [[nodiscard]] std::string text() const;
};

struct OpticsUses {
  std::vector<OpticsUse> materials, surfaces, assignments, channel_types;
};

/// By index. A solid uses a material that is in any of its parts, and a surface whose skin holds on it; a pair uses
/// that of its border.
[[nodiscard]] OpticsUses optics_uses(const Scene& scene);

}  // namespace raylift::batch
