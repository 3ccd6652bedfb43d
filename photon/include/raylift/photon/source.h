// SPDX-License-Identifier: Apache-2.0
// Where photons are born. A photon's birth depends on its number alone.
#pragma once

#include <raylift/photon/step.h>

namespace raylift::photon {

/// Photons from a ball, in all directions or in one, of one wavelength.
struct Source {
  float3 center{0, 0, 0};     ///< millimetres from the view's origin
  float radius = 0;           ///< of the ball in which births are uniform; 0: a point
  float3 direction{0, 0, 0};  ///< of unit length; zero: isotropic
  float wavelength = 420;     ///< nm
  float time = 0;             ///< ns
};

}  // namespace raylift::photon
