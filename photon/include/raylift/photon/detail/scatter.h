// SPDX-License-Identifier: Apache-2.0
// Scattering in a medium: new directions and polarisations.
#pragma once

#include <raylift/photon/detail/random.h>

namespace raylift::photon {

/// Direction and linear polarisation of a photon: unit vectors, perpendicular to each other.
struct Wave {
  Vector direction;
  Vector polarization;
};

/// A unit vector perpendicular to `direction`, at a random angle about it. Takes one draw.
RAYLIFT_HD_INLINE Vector random_polarization(Vector direction, RandomStream& random) {
  const Vector a = perpendicular(direction);
  const Vector b = cross(direction, a);
  const SineCosine angle = sine_cosine_of_turns(random.uniform());
  return angle.cosine * a + angle.sine * b;
}

/// The part of a vector that is perpendicular to a unit vector, of unit length. Precondition: it is not 0. The
/// second pass takes away what the first one's rounding has left along it.
RAYLIFT_HD_INLINE Vector unit_across(Vector v, Vector axis) {
  const Vector first = unit(v - dot(v, axis) * axis);
  return unit(first - dot(first, axis) * axis);
}

/// The part of `polarization` that is perpendicular to `direction`, of unit length; along both, at random.
RAYLIFT_HD_INLINE Vector polarization_across(Vector polarization, Vector direction, RandomStream& random) {
  const Real along = dot(polarization, direction);
  return Real(1) - along * along > Real(1e-6f) ? unit_across(polarization, direction)
                                               : random_polarization(direction, random);
}

/// The direction at a given cosine from `axis`, at a random angle about it. Takes one draw.
RAYLIFT_HD_INLINE Vector direction_about(Vector axis, Real cosine, RandomStream& random) {
  const Real sine = square_root(larger(Real(0), (Real(1) - cosine) * (Real(1) + cosine)));
  return unit(cosine * axis + sine * random_polarization(axis, random));
}

/// Rayleigh scattering: the intensity goes by the squared sine of the angle between the new direction and the old
/// polarisation, as a dipole's; the new polarisation is the old one's component perpendicular to the new direction.
/// This is the distribution of G4OpRayleigh, which draws it by rejection. The cosine c to the old polarisation has the
/// density 3/4 (1 - c^2): that of 2 m - 1, where m is the median of three uniform numbers. Takes four draws, and one
/// more where the new direction lies along the old polarisation.
RAYLIFT_HD_INLINE Wave rayleigh(const Wave& wave, RandomStream& random) {
  const Real a = random.uniform(), b = random.uniform(), c = random.uniform();
  const Real median = larger(smaller(a, b), smaller(larger(a, b), c));
  const Vector direction = direction_about(wave.polarization, Real(2) * median - Real(1), random);
  return {direction, polarization_across(wave.polarization, direction, random)};
}

/// The cosine of a scattering angle by Henyey and Greenstein, of mean g: "Diffuse radiation in the galaxy", ApJ 93
/// (1941). Takes one draw.
RAYLIFT_HD_INLINE Real henyey_greenstein(Real g, RandomStream& random) {
  const Real u = random.uniform();
  if (magnitude(g) < Real(1e-3f)) {
    // To first order in g: the formula below divides by it.
    const Real c = Real(2) * u - Real(1);
    return c + Real(1.5f) * g * (Real(1) - c * c);
  }
  const Real s = (Real(1) - g * g) / (Real(1) - g + Real(2) * g * u);
  const Real c = (Real(1) + g * g - s * s) / (Real(2) * g);
  return larger(Real(-1), smaller(Real(1), c));
}

/// Mie scattering as in G4OpMieHG: with probability `ratio` forwards by `forward`, or else backwards by `backward`.
/// Takes three draws.
RAYLIFT_HD_INLINE Wave mie(const Wave& wave, Real forward, Real backward, Real ratio, RandomStream& random) {
  const bool ahead = random.uniform() <= ratio;
  const Real cosine = henyey_greenstein(ahead ? forward : backward, random);
  const Vector direction = direction_about(ahead ? wave.direction : -wave.direction, cosine, random);
  return {direction, polarization_across(wave.polarization, direction, random)};
}

}  // namespace raylift::photon
