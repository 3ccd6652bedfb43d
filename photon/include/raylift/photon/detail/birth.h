// SPDX-License-Identifier: Apache-2.0
// The birth of a photon, for kernels and host code: its position, time, direction,
// wavelength and polarisation.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/photon/source.h>
#include <raylift/photon/step.h>

namespace raylift::photon {

/// The centre of a source, from which the solid of each birth is found.
struct Anchor {
  Containment in;      ///< the solids around it
  bool clear = false;  ///< no face is closer than the farthest birth: no search is needed
};
/// Null for a source whose photons are given.
[[nodiscard]] RAYLIFT_HD_INLINE Anchor anchor_at(const Anchor* anchor) {
  return anchor != nullptr ? *anchor : Anchor{};
}
[[nodiscard]] RAYLIFT_HD_INLINE Anchor anchor_of(const GeometryView& geometry, const Source& source) {
  const Vector half(source.extent);
  const Real reach = source.shape == Source::Shape::line ? square_root(dot(half, half)) : Real(source.radius);
  const FinePoint center = geometry.fine_from_scene(source.center);
  return {locate(geometry, center), is_clear(geometry, center.point, reach)};
}

/// The source of an event in a launch with several.
struct alignas(16) EventSource {
  Source source;
  Anchor anchor;  ///< anchor_of() it
};

/// Whether photons are born in a volume, where none lies on a face but by chance.
[[nodiscard]] RAYLIFT_HD_INLINE bool fills_volume(const Source& source) {
  return source.shape == Source::Shape::ball && source.radius > 0;
}

/// The path from a source's centre to a birth: a unit direction and a distance. A negative distance: the birth is at
/// the centre.
struct BirthPlace {
  Vector direction;
  Real distance;
};
[[nodiscard]] RAYLIFT_HD_INLINE BirthPlace birth_place(const Source& source, RandomStream& random) {
  if (source.shape == Source::Shape::line) {
    const Vector half(source.extent);
    const Real length = square_root(dot(half, half));
    if (!(length > Real(0))) return {half, Real(-1)};
    const Real part = Real(2) * random.uniform() - Real(1);
    return {(part < Real(0) ? Real(-1) / length : Real(1) / length) * half, magnitude(part) * length};
  }
  if (!(source.radius > 0)) return {Vector(source.extent), Real(-1)};
  // The larger of two uniform numbers has the density of a radius in a disc, the largest of three that in a ball.
  const Real a = random.uniform(), b = random.uniform();
  if (source.shape == Source::Shape::disc) {
    const Vector direction = random_polarization(source.extent, random);
    return {direction, Real(source.radius) * larger(a, b)};
  }
  const Real c = random.uniform();
  const Vector direction = random.direction();
  return {direction, Real(source.radius) * larger(a, larger(b, c))};
}

/// The direction of a photon at its birth.
[[nodiscard]] RAYLIFT_HD_INLINE Vector birth_direction(const Source& source, RandomStream& random) {
  if (source.aim == Source::Aim::isotropic) return random.direction();
  const Vector axis(source.direction);
  Real cosine, sine;
  if (source.aim == Source::Aim::lambertian) {
    // The squared sine of the angle is uniform.
    const Real u = random.uniform();
    cosine = square_root(Real(1) - u);
    sine = square_root(u);
  } else {
    if (!(source.half_angle > 0)) return axis;
    // What the cosine lacks to 1 is uniform up to 2 sin^2(half_angle / 2): so that narrow cones keep their precision.
    const Real s = sine_cosine(Real(0.5f) * Real(source.half_angle)).sine;
    const Real lack = random.uniform() * (Real(2) * s * s);
    cosine = Real(1) - lack;
    sine = square_root(lack * (Real(2) - lack));
  }
  return unit(cosine * axis + sine * random_polarization(axis, random));
}

namespace detail {

/// What a photon has from its birth on, but for its position; and the random numbers that are left.
struct Birth {
  Float3 direction, polarization;
  float wavelength, time;
  RandomStream random;
};
/// A call of a kernel's, by values alone: a reference to the photon would keep all of it in memory.
RAYLIFT_SLOW_PATH inline Birth birth_of(const Source& source, RandomStream random) {
  const Vector direction = birth_direction(source, random);
  const Vector polarization(source.polarization);
  const Vector across = dot(polarization, polarization) > Real(0)
                            ? polarization_across(unit(polarization), direction, random)
                            : random_polarization(direction, random);
  const float wavelength = source.spectrum.count == 0
                               ? source.wavelength
                               : evaluate(source.spectrum.points, source.spectrum.count, random.uniform());
  Real time(source.time);
  if (source.time_width > 0) time = time + Real(source.time_width) * random.uniform();
  if (source.time_constant > 0) time = time + Real(source.time_constant) * random.exponential();
  return {direction, across, wavelength, time, random};
}

}  // namespace detail

/// All but the position: the photon's direction, polarisation, wavelength and time.
RAYLIFT_HD_INLINE void give_birth(const Source& source, Photon& photon, RandomStream& random) {
  const detail::Birth birth = detail::birth_of(source, random);
  photon.direction = birth.direction;
  photon.polarization = birth.polarization;
  photon.wavelength = birth.wavelength;
  photon.time = birth.time;
  random = birth.random;
}

/// Flags may be those of a photon's whole history.
[[nodiscard]] RAYLIFT_HD_INLINE BirthKind birth_kind(std::uint32_t flags) {
  if ((flags & flag_of(BirthKind::cerenkov)) != 0) return BirthKind::cerenkov;
  return (flags & flag_of(BirthKind::scintillation)) != 0 ? BirthKind::scintillation : BirthKind::torch;
}

/// The position of a photon that is given, rounded once.
[[nodiscard]] RAYLIFT_HD_INLINE FinePoint start_of(const GeometryView& geometry, const Source& source,
                                                   const StartPhoton& start) {
  const Double3& from = source.photons_origin;
  Double3 at(start.position);
  if (source.photon_rests) {
    at.x += static_cast<double>(start.rest.x);
    at.y += static_cast<double>(start.rest.y);
    at.z += static_cast<double>(start.rest.z);
  }
  return geometry.fine_point({at.x - (geometry.origin[0] - from.x), at.y - (geometry.origin[1] - from.y),
                              at.z - (geometry.origin[2] - from.z)});
}
/// The solids around a photon that is given.
[[nodiscard]] RAYLIFT_HD_INLINE Containment start_in(const GeometryView& geometry, const Source& source,
                                                     const StartPhoton& start) {
  return locate(geometry, start_of(geometry, source, start), start.direction);
}

/// A photon that is given, at its position and in the solids around it.
[[nodiscard]] RAYLIFT_HD_INLINE Photon born(const StartPhoton& start, LocalPoint position, const Containment& in,
                                            RandomStream& random) {
  const Vector direction = unit(start.direction);
  const Vector polarization(start.polarization);
  const Vector across = dot(polarization, polarization) > Real(0)
                            ? polarization_across(unit(polarization), direction, random)
                            : random_polarization(direction, random);
  return {position, start.time, direction, start.wavelength, across, in};
}

}  // namespace raylift::photon
