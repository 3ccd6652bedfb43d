// SPDX-License-Identifier: Apache-2.0
// Reflection and refraction of polarised light where two media meet, by Fresnel's equations.
#pragma once

#include <raylift/photon/detail/scatter.h>

namespace raylift::photon {

/// Incident light in the frame of its plane of incidence.
struct Incidence {
  Vector s;      ///< across the plane; at normal incidence along the polarisation
  Real cosine;   ///< of the angle from the normal, 0 to 1
  Real along_s;  ///< the polarisation's components, across and in the plane
  Real along_p;
};

/// `normal` is of unit length and points against the photon, into the medium that it comes from.
RAYLIFT_HD_INLINE Incidence incidence(const Wave& wave, Vector normal) {
  const Real cosine = smaller(Real(1), magnitude(dot(wave.direction, normal)));
  const Vector across = cross(wave.direction, normal);
  const Real sine2 = dot(across, across);
  // Without a plane of incidence all light is across it.
  if (!(sine2 > Real(1e-12f))) return {wave.polarization, cosine, Real(1), Real(0)};
  const Vector s = (Real(1) / square_root(sine2)) * across;
  return {s, cosine, dot(wave.polarization, s), dot(wave.polarization, cross(s, wave.direction))};
}

/// What happens at a smooth boundary between two dielectrics.
struct Fresnel {
  Incidence in;
  Real transmitted_cosine;  ///< 0 where all is reflected
  Real transmittance;       ///< of the power: 0 to 1
  Real t_s, t_p;            ///< of the amplitudes
  Real r_s, r_p;
};

/// From a medium of index n1 into one of n2. M. Born and E. Wolf, "Principles of Optics", section 1.5.
RAYLIFT_HD_INLINE Fresnel fresnel(const Wave& wave, Vector normal, Real n1, Real n2) {
  Fresnel f{incidence(wave, normal), Real(0), Real(0), Real(0), Real(0), Real(0), Real(0)};
  const Real c1 = f.in.cosine;
  const Real ratio = n1 / n2;
  const Real sine2 = ratio * ratio * (Real(1) - c1) * (Real(1) + c1);
  if (!(sine2 < Real(1))) return f;
  const Real c2 = square_root(Real(1) - sine2);
  f.transmitted_cosine = c2;
  const Real twice = Real(2) * n1 * c1;
  f.t_s = twice / (n1 * c1 + n2 * c2);
  f.t_p = twice / (n2 * c1 + n1 * c2);
  f.r_s = f.t_s - Real(1);
  f.r_p = n2 / n1 * f.t_p - Real(1);
  const Real s = f.t_s * f.in.along_s, p = f.t_p * f.in.along_p;
  const Real power = n2 * c2 * (s * s + p * p) / larger(n1 * c1, Real(1e-20f));
  f.transmittance = c1 > Real(0) ? smaller(Real(1), power) : Real(0);
  return f;
}

/// Mirrored at the plane with this normal.
RAYLIFT_HD_INLINE Vector mirrored(Vector direction, Vector normal) {
  return unit(direction - Real(2) * dot(direction, normal) * normal);
}

/// A polarisation from its two amplitudes, in the frame of the new direction.
RAYLIFT_HD_INLINE Vector polarization_of(Vector s, Vector direction, Real along_s, Real along_p) {
  const Vector p = cross(s, direction);
  const Vector sum = along_s * s + along_p * p;
  return dot(sum, sum) > Real(1e-24f) ? unit_across(sum, direction) : s;
}

/// The reflected wave. In total reflection its polarisation is rotated as in G4OpBoundaryProcess: the phase between the
/// two components, which makes it elliptic, is neglected.
RAYLIFT_HD_INLINE Wave reflected(const Wave& wave, Vector normal, const Fresnel& f) {
  const Vector direction = mirrored(wave.direction, normal);
  if (!(f.transmitted_cosine > Real(0))) {
    const Vector turned = Real(2) * dot(wave.polarization, normal) * normal - wave.polarization;
    return {direction, unit_across(turned, direction)};
  }
  return {direction, polarization_of(f.in.s, direction, f.r_s * f.in.along_s, f.r_p * f.in.along_p)};
}

/// The transmitted wave, if there is one.
RAYLIFT_HD_INLINE Wave refracted(const Wave& wave, Vector normal, Real n1, Real n2, const Fresnel& f) {
  const Real ratio = n1 / n2;
  const Vector direction = unit(ratio * wave.direction + (ratio * f.in.cosine - f.transmitted_cosine) * normal);
  return {direction, polarization_of(f.in.s, direction, f.t_s * f.in.along_s, f.t_p * f.in.along_p)};
}

/// Reflectance of a metal of index n + i k, for light from a medium of index n1 (Born and Wolf, section 14.2): the
/// share of the power that a photon of these amplitudes is reflected with. As G4OpBoundaryProcess::GetReflectivity, in
/// real arithmetic.
RAYLIFT_HD_INLINE Real metal_reflectance(const Incidence& in, Real n1, Real n, Real k) {
  // The index against that of the medium, and u + i v = sqrt((n + i k)^2 - sin^2).
  const Real a = n / n1, b = k / n1;
  const Real c = in.cosine;
  const Real sine2 = (Real(1) - c) * (Real(1) + c);
  const Real real = (a - b) * (a + b) - sine2;
  const Real imaginary = Real(2) * a * b;
  const Real length = square_root(real * real + imaginary * imaginary);
  // The larger of both roots first, and the other by their product: neither is a difference of like numbers.
  const Real big = square_root(Real(0.5f) * (length + magnitude(real)));
  const Real small = big > Real(0) ? Real(0.5f) * imaginary / big : Real(0);
  const Real u = real >= Real(0) ? big : small;
  const Real v = real >= Real(0) ? small : big;
  const auto squared = [](Real x) { return x * x; };
  const Real s = (squared(c - u) + v * v) / (squared(c + u) + v * v);
  // p: ((n+ik)^2 c - (u+iv)) / ((n+ik)^2 c + (u+iv)).
  const Real e = (a - b) * (a + b) * c, i = imaginary * c;
  const Real p = (squared(e - u) + squared(i - v)) / (squared(e + u) + squared(i + v));
  return smaller(Real(1), in.along_s * in.along_s * s + in.along_p * in.along_p * p);
}

}  // namespace raylift::photon
