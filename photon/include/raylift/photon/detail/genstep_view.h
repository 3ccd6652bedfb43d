// SPDX-License-Identifier: Apache-2.0
// Gensteps at addresses of the device, with what is computed before their photons.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/gpu/rays/containment.h>

namespace raylift::photon {

struct Genstep;

/// The values of a genstep that are computed before its photons.
struct GenstepPlace {
  Containment in;  ///< the solids around its middle: its ends lie on boundaries, within rounding on either side
  float light;     ///< Cerenkov: the largest squared sine of its angle in that material, over the step's range;
                   ///< scintillation: 1 where the material has the spectrum; 0: there is no light
};

/// The gensteps of an event among those of a launch.
struct GenstepRange {
  std::uint32_t first, count;
};

/// Gensteps at addresses of the device: see <raylift/photon/gensteps.h>.
struct GenstepView {
  const Genstep* steps = nullptr;
  const GenstepPlace* places = nullptr;
  const std::uint64_t* ends = nullptr;  ///< of each step, the number of its photons and those of its event before
  std::uint32_t count = 0;
  std::uint64_t photons = 0;             ///< of all
  const GenstepRange* ranges = nullptr;  ///< of each event, where Run::events has several
};

}  // namespace raylift::photon
