// SPDX-License-Identifier: Apache-2.0
// Enumerations of optical surfaces, and constants of light: the part of
// <raylift/geometry/scene/optics.h> that kernels need.
#pragma once

#include <raylift/geometry/detail/standard.h>

namespace raylift {

/// Energy times wavelength of a photon, h c, in eV nm: exact in SI since 2019.
inline constexpr double kEvNm = 1239.8419843320026;
/// The speed of light in vacuum, mm/ns.
inline constexpr double kLightSpeed = 299.792458;

/// The model of a surface. The first five have Geant4's numbers.
enum class SurfaceModel : std::uint8_t {
  glisur,
  unified,
  lut,    ///< Geant4's look-up tables: read, but not honoured
  davis,  ///< likewise
  dichroic,
  simple,               ///< Chroma's: DETECT, ABSORB, REFLECT_DIFFUSE, REFLECT_SPECULAR; the rest is transmitted
  thin_film,            ///< Chroma's complex index: FILM_RINDEX, FILM_KINDEX, FILM_THICKNESS
  wavelength_shifting,  ///< Chroma's: as `simple`, and re-emission
};

/// Geant4's numbers; 6 and above belong to look-up tables.
enum class SurfaceFinish : std::uint8_t {
  polished,
  polished_front_painted,
  polished_back_painted,
  ground,
  ground_front_painted,
  ground_back_painted,
};

/// Geant4's numbers.
enum class SurfaceType : std::uint8_t {
  dielectric_metal,
  dielectric_dielectric,
  dielectric_lut,
  dielectric_lut_davis,
  dielectric_dichroic,
  firsov,
  x_ray,
  coated,
};

}  // namespace raylift
