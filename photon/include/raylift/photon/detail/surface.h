// SPDX-License-Identifier: Apache-2.0
// What an optical surface does to a photon: Geant4's glisur and unified models between two dielectrics or on a metal
// (G4OpBoundaryProcess of Geant4 11), and Chroma's simple surface.
//
// Differences from Geant4: the search for a microfacet ends after 64 tries, and the surface then counts as smooth; and
// light that a rough metal reflects by its complex index keeps its mirrored polarisation.
#pragma once

#include <raylift/geometry/scene/optics_codes.h>
#include <raylift/photon/detail/fresnel.h>

namespace raylift::photon {

/// A surface's properties at one wavelength. The defaults are those of absent properties.
struct SurfaceAt {
  SurfaceModel model = SurfaceModel::glisur;
  SurfaceFinish finish = SurfaceFinish::polished;
  SurfaceType type = SurfaceType::dielectric_dielectric;
  float value = 1;          ///< glisur: polish; unified: sigma_alpha, radians
  float reflectivity = 1;   ///< REFLECTIVITY
  float transmittance = 0;  ///< TRANSMITTANCE
  float efficiency = 0;     ///< EFFICIENCY: of what is absorbed, the share that is detected
  float lobe = 0;           ///< SPECULARLOBECONSTANT
  float spike = 0;          ///< SPECULARSPIKECONSTANT
  float backscatter = 0;    ///< BACKSCATTERCONSTANT
  float gap_index = 0;      ///< RINDEX of the gap before a painted back; 0: none
  float roughness = 0;      ///< SURFACEROUGHNESS, in wavelengths
  float metal_n = 0;        ///< REALRINDEX; 0: there is no complex index, or REFLECTIVITY is given
  float metal_k = 0;        ///< IMAGINARYRINDEX
};

enum class SurfaceFate : std::uint8_t { reflected, transmitted, absorbed, detected };

/// The result of a photon at a surface.
struct SurfaceResult {
  SurfaceFate fate;
  Wave wave;  ///< afterwards; as it came where it ends
};

namespace detail {

enum class Reflection : std::uint8_t { spike, lobe, backscatter, lambertian };

constexpr int kMaxTries = 64;  // of a loop over microfacets

RAYLIFT_HD_INLINE bool is_back_painted(SurfaceFinish finish) {
  return finish == SurfaceFinish::polished_back_painted || finish == SurfaceFinish::ground_back_painted;
}

/// A microfacet's normal that faces the photon. glisur: the normal, smeared by a vector within a ball of radius
/// 1 - polish. unified: at an angle alpha from the normal, by a Gauss function of alpha times its sine.
RAYLIFT_HD_INLINE Vector facet_normal(const SurfaceAt& surface, Vector direction, Vector normal, RandomStream& random) {
  const Real value = surface.value;
  if (surface.model == SurfaceModel::unified) {
    if (!(value > Real(0))) return normal;
    const Real most = smaller(Real(1), Real(4) * value);
    for (int tries = 0; tries != kMaxTries; ++tries) {
      const Real alpha = value * random.normal();
      const SineCosine angle = sine_cosine(alpha);
      if (random.uniform() * most > angle.sine || alpha >= Real(1.57079633f)) continue;
      const Vector facet = angle.cosine * normal + angle.sine * random_polarization(normal, random);
      if (dot(direction, facet) < Real(0)) return unit(facet);
    }
    return normal;
  }
  if (!(value < Real(1))) return normal;
  for (int tries = 0; tries != kMaxTries; ++tries) {
    const auto side = [&] { return Real(2) * random.uniform() - Real(1); };
    const Real x = side(), y = side(), z = side();
    const Vector smear(x, y, z);
    if (dot(smear, smear) > Real(1)) continue;
    const Vector facet = normal + (Real(1) - value) * smear;
    if (dot(direction, facet) < Real(0)) return unit(facet);
  }
  return normal;
}

/// By the cosine from the normal, as Lambert's law says.
RAYLIFT_HD_INLINE Vector lambertian(Vector normal, RandomStream& random) {
  return direction_about(normal, square_root(random.uniform()), random);
}

/// Mirrored at a facet; the polarisation is turned with it.
RAYLIFT_HD_INLINE Wave mirrored_at(const Wave& wave, Vector facet) {
  const Vector direction = mirrored(wave.direction, facet);
  const Vector turned = Real(2) * dot(wave.polarization, facet) * facet - wave.polarization;
  return {direction, unit_across(turned, direction)};
}

/// In a direction that does not depend on where the photon came from.
RAYLIFT_HD_INLINE Wave diffused(const Wave& wave, Vector normal, RandomStream& random) {
  const Vector direction = lambertian(normal, random);
  const Vector between = direction - wave.direction;
  const Vector facet = unit(between);
  const Vector turned = Real(2) * dot(wave.polarization, facet) * facet - wave.polarization;
  return {direction, polarization_across(turned, direction, random)};
}

/// G4OpBoundaryProcess::ChooseReflection.
RAYLIFT_HD_INLINE Reflection choose_reflection(const SurfaceAt& surface, RandomStream& random) {
  const Real u = random.uniform();
  Real sum = surface.spike;
  if (u < sum) return Reflection::spike;
  sum = sum + surface.lobe;
  if (u < sum) return Reflection::lobe;
  sum = sum + surface.backscatter;
  return u < sum ? Reflection::backscatter : Reflection::lambertian;
}

RAYLIFT_HD_INLINE SurfaceResult absorb(const SurfaceAt& surface, const Wave& wave, RandomStream& random) {
  return {random.uniform() < Real(surface.efficiency) ? SurfaceFate::detected : SurfaceFate::absorbed, wave};
}

/// G4OpBoundaryProcess::DielectricMetal. A photon that a facet sends into the metal meets the next facet.
RAYLIFT_HD_INLINE SurfaceResult at_metal(const SurfaceAt& surface, const Wave& in, Vector normal, Real n1,
                                         RandomStream& random) {
  const bool complex_index = surface.metal_n > 0;
  const bool smooth = surface.model != SurfaceModel::unified || surface.finish == SurfaceFinish::polished;
  Wave wave = in;
  Vector facet = normal;
  const auto reflectivity = [&] {
    if (!complex_index) return Real(surface.reflectivity);
    if (surface.finish == SurfaceFinish::ground) facet = facet_normal(surface, wave.direction, normal, random);
    return metal_reflectance(incidence(wave, facet), n1, surface.metal_n, surface.metal_k);
  };
  const Real u = random.uniform();
  const Real first = reflectivity();
  if (u > first)
    return u > first + Real(surface.transmittance) ? absorb(surface, in, random)
                                                   : SurfaceResult{SurfaceFate::transmitted, in};
  // Without the unified model's choice, a facet reflects: the surface itself where it is polished.
  const Reflection kind = smooth ? Reflection::lobe : choose_reflection(surface, random);
  for (int tries = 0; tries != kMaxTries; ++tries) {
    if (tries != 0 && complex_index) {
      const Real again = reflectivity();  // it may draw: before the next number, on any machine
      if (random.uniform() > again) return absorb(surface, wave, random);
    }
    const bool drawn = kind == Reflection::lobe && (!smooth || surface.finish == SurfaceFinish::ground);
    if (drawn && !complex_index) facet = facet_normal(surface, wave.direction, normal, random);
    if (kind == Reflection::lambertian)
      wave = diffused(wave, normal, random);
    else if (kind == Reflection::backscatter)
      wave = {-wave.direction, -wave.polarization};
    else
      wave = mirrored_at(wave, kind == Reflection::spike ? normal : facet);
    if (dot(wave.direction, normal) >= Real(0)) return {SurfaceFate::reflected, wave};
  }
  return {SurfaceFate::reflected, mirrored_at(in, normal)};
}

/// A photon between the two sides of a dielectric boundary: G4OpBoundaryProcess::DielectricDielectric's variables.
struct Crossing {
  Wave wave;
  Vector normal;  ///< against the photon's way at first; turned around with the sides
  Real n1, n2;
  bool inside;   ///< behind the boundary
  bool swapped;  ///< Geant4's: n1 is that behind the boundary, since the last refraction
  bool diffuse;  ///< what is reflected is so by roughness

  RAYLIFT_HD void swap_sides() {
    const Real n = n1;
    n1 = n2;
    n2 = n;
    swapped = !swapped;
  }
};

/// One facet: refracts or reflects. Returns whether the photon was refracted.
RAYLIFT_HD_INLINE bool at_facet(const SurfaceAt& surface, Crossing& c, RandomStream& random) {
  const bool polished = surface.finish == SurfaceFinish::polished;
  const Vector facet = polished ? c.normal : facet_normal(surface, c.wave.direction, c.normal, random);
  const Fresnel f = fresnel(c.wave, facet, c.n1, c.n2);
  const Real through =
      f.transmitted_cosine > Real(0) && surface.transmittance > 0 ? Real(surface.transmittance) : f.transmittance;
  if (f.transmitted_cosine > Real(0) && random.uniform() < through) {
    c.wave = refracted(c.wave, facet, c.n1, c.n2, f);
    c.inside = !c.inside;
    return true;
  }
  c.swapped = false;
  Reflection kind = c.diffuse ? Reflection::lambertian : Reflection::lobe;
  if (surface.model == SurfaceModel::unified && !polished) kind = choose_reflection(surface, random);
  if (kind == Reflection::lambertian)
    c.wave = diffused(c.wave, c.normal, random);
  else if (kind == Reflection::backscatter)
    c.wave = {-c.wave.direction, -c.wave.polarization};
  else
    c.wave = reflected(c.wave, kind == Reflection::spike ? c.normal : facet, f);
  return false;
}

/// From facet to facet until the photon goes away from the boundary. Returns whether it was refracted last.
RAYLIFT_HD_INLINE bool cross_facets(const SurfaceAt& surface, Crossing& c, RandomStream& random) {
  bool refracted_last = false;
  for (int tries = 0; tries != kMaxTries; ++tries) {
    if (refracted_last) {  // it met another facet from behind
      c.swap_sides();
      c.normal = -c.normal;
    }
    refracted_last = at_facet(surface, c, random);
    const Real away = dot(c.wave.direction, c.normal);
    if (refracted_last ? away <= Real(0) : away >= Real(0)) return refracted_last;
  }
  return refracted_last;
}

}  // namespace detail

/// `normal` is of unit length and points against the photon. n1 and n2 are the refractive indices before and behind.
/// Types other than dielectric_metal act as dielectric_dielectric; models other than unified as glisur.
RAYLIFT_HD_INLINE SurfaceResult at_surface(const SurfaceAt& surface, const Wave& wave, Vector normal, Real n1, Real n2,
                                           RandomStream& random) {
  using namespace detail;
  if (surface.type == SurfaceType::dielectric_metal) return at_metal(surface, wave, normal, n1, random);
  const bool back_painted = is_back_painted(surface.finish);
  if (!back_painted) {
    const Real u = random.uniform();
    if (u > Real(surface.reflectivity) + Real(surface.transmittance)) return absorb(surface, wave, random);
    if (u > Real(surface.reflectivity)) return {SurfaceFate::transmitted, wave};
    if (surface.finish == SurfaceFinish::polished_front_painted)
      return {SurfaceFate::reflected, mirrored_at(wave, normal)};
    if (surface.finish == SurfaceFinish::ground_front_painted)
      return {SurfaceFate::reflected, diffused(wave, normal, random)};
  }
  Crossing c{wave, normal, n1, back_painted ? Real(surface.gap_index) : n2, false, false, false};
  if (surface.roughness > 0 && n1 > n2) {
    const Real phase = Real(12.5663706f) * Real(surface.roughness) * n1 * magnitude(dot(wave.direction, normal));
    c.diffuse = random.uniform() > exp(-phase * phase);
  }
  for (int tries = 0; tries != kMaxTries; ++tries) {
    const bool refracted_last = cross_facets(surface, c, random);
    if (!back_painted || !c.inside || c.swapped) break;
    // In the gap before the paint.
    const Real u = random.uniform();
    if (u > Real(surface.reflectivity) + Real(surface.transmittance)) return absorb(surface, c.wave, random);
    if (u > Real(surface.reflectivity)) return {SurfaceFate::transmitted, c.wave};
    if (refracted_last)
      c.swap_sides();
    else
      c.normal = -c.normal;
    c.wave = surface.finish == SurfaceFinish::ground_back_painted ? diffused(c.wave, c.normal, random)
                                                                  : mirrored_at(c.wave, c.normal);
    c.normal = -c.normal;
  }
  return {dot(c.wave.direction, normal) < Real(0) ? SurfaceFate::transmitted : SurfaceFate::reflected, c.wave};
}

/// Chroma's simple surface: probabilities that exclude each other. Diffuse light is unpolarised, as in Chroma. The rest
/// is transmitted, by Fresnel's equations.
struct SimpleSurfaceAt {
  float detect = 0;    ///< DETECT
  float absorb = 0;    ///< ABSORB
  float diffuse = 0;   ///< REFLECT_DIFFUSE
  float specular = 0;  ///< REFLECT_SPECULAR
};

/// False: the photon goes through it.
[[nodiscard]] RAYLIFT_HD_INLINE bool meets_simple_surface(const SimpleSurfaceAt& surface, const Wave& wave,
                                                          Vector normal, SurfaceResult& result, RandomStream& random) {
  result = {SurfaceFate::reflected, wave};
  const Real u = random.uniform();
  Real sum = surface.detect;
  if (u < sum) {
    result.fate = SurfaceFate::detected;
    return true;
  }
  sum = sum + surface.absorb;
  if (u < sum) {
    result.fate = SurfaceFate::absorbed;
    return true;
  }
  sum = sum + surface.diffuse;
  if (u < sum) {
    const Vector direction = detail::lambertian(normal, random);
    result.wave = {direction, random_polarization(direction, random)};
    return true;
  }
  sum = sum + surface.specular;
  if (!(u < sum)) return false;
  result.wave = detail::mirrored_at(wave, normal);
  return true;
}

RAYLIFT_HD_INLINE SurfaceResult at_simple_surface(const SimpleSurfaceAt& surface, const Wave& wave, Vector normal,
                                                  Real n1, Real n2, RandomStream& random) {
  SurfaceResult result{SurfaceFate::transmitted, wave};
  if (meets_simple_surface(surface, wave, normal, result, random)) return result;
  return at_surface({}, wave, normal, n1, n2, random);
}

}  // namespace raylift::photon
