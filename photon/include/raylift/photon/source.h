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

/// The photon of a random stream. `at_center` is locate(geometry, source.center): a photon elsewhere in the ball is
/// taken there from the centre, across the boundaries on the way. Polarisation is random. Takes at most seven draws.
[[nodiscard]] RAYLIFT_HD inline Photon born(const GeometryView& geometry, const Source& source,
                                            const Containment& at_center, RandomStream& random) {
  Photon photon{source.center, source.time, source.direction, source.wavelength, {0, 0, 0}, at_center};
  if (source.radius > 0) {
    // The largest of three uniform numbers has the density of a radius in a ball.
    const Real a = random.uniform(), b = random.uniform(), c = random.uniform();
    const Vector way = random.direction();
    Ray ray{source.center, 0, way, Real(source.radius) * larger(a, larger(b, c))};
    while (true) {
      const Boundary boundary = next_boundary(geometry, ray, photon.in);
      photon.in = boundary.after;
      photon.position = boundary.point;
      if (!boundary.crosses() || boundary.inconsistent) break;
      ray.tmin = boundary.end;
    }
  }
  const Vector given = source.direction;
  const Vector direction = dot(given, given) > Real(0) ? given : random.direction();
  photon.direction = direction;
  photon.polarization = random_polarization(direction, random);
  return photon;
}

}  // namespace raylift::photon
