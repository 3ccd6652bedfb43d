// SPDX-License-Identifier: Apache-2.0
// The scene of the benchmarks of photons.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>

namespace raylift::bench {

/// The detector of bench_rays within a world, with the optics on which Chroma was measured: docs/performance.md.
[[nodiscard]] Scene tank(std::uint32_t sensors);

}  // namespace raylift::bench
