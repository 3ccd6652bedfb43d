// SPDX-License-Identifier: Apache-2.0
// The steps of a photon through a scene, each from its position to its next event.
//
//   raylift::photon::RandomStream random(seed, number);
//   raylift::photon::Photon photon = ...;                       // born, with `in` from locate()
//   raylift::photon::StepEnd end;
//   raylift::Float3 rest{0, 0, 0};                              // of the photon's position
//   do end = raylift::photon::step(geometry, photon, rest, random);
//   while (!raylift::photon::ends(end.kind) && ++steps < most);
//
// The geometry must have been uploaded from a Scene with optics, with its BVH (UploadOptions::bvh).
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/gpu/optics.h>
#include <raylift/gpu/rays/boundary.h>
#include <raylift/photon/detail/film.h>
#include <raylift/photon/detail/surface.h>

namespace raylift::photon {

/// The event at the end of a step; a history has 4 bits for each. The ends of a photon come last.
enum class StepKind : std::uint8_t {
  none,
  rayleigh,     ///< scattered in the bulk
  mie,          ///< likewise
  reemitted,    ///< absorbed in the bulk, and emitted again by the scintillator
  shifted,      ///< absorbed and emitted again by a wavelength shifter, in the bulk or on a surface
  transmitted,  ///< into another solid
  reflected,    ///< at a boundary
  absorbed,     ///< in the bulk
  absorbed_at_surface,
  detected,
  escaped,       ///< out of all solids
  no_index,      ///< at a material without RINDEX
  inconsistent,  ///< the scene is inconsistent: overlaps, or a mesh that is not closed
  cut,           ///< by the most steps, or the latest time, that the caller allows
};
[[nodiscard]] RAYLIFT_HD constexpr bool ends(StepKind kind) {
  return kind >= StepKind::absorbed;
}

/// A photon between two steps. Lengths are in millimetres from the view's origin.
struct Photon {
  LocalPoint position;
  float time;  ///< ns
  Float3 direction;
  float wavelength;  ///< nm
  Float3 polarization;
  Containment in;  ///< the solids that it is in
};

/// The result of a step.
struct StepEnd {
  StepKind kind = StepKind::none;
  std::uint16_t material = MaterialCode::none;  ///< that the photon came through
  std::uint16_t surface = kNoSurface;           ///< at a boundary
  std::uint32_t from = kNoSolid;                ///< solids at a boundary; `from` alone in the bulk
  std::uint32_t to = kNoSolid;
  std::int32_t channel = kNoChannel;  ///< where it was detected
};

/// The time profile of bulk wavelength shifting: Geant4's default is a fixed delay.
enum class ShiftProfile : std::uint8_t { delta, exponential };

namespace detail {

RAYLIFT_HD_INLINE Wave wave_of(const Photon& photon) {
  return {photon.direction, photon.polarization};
}
RAYLIFT_HD_INLINE void set(Photon& photon, const Wave& wave) {
  photon.direction = wave.direction;
  photon.polarization = wave.polarization;
}

/// A delay by a time constant, with a rise time if there is one (as G4Scintillation::sample_time).
RAYLIFT_HD_INLINE Real emission_delay(Real decay, Real rise, RandomStream& random) {
  if (!(decay > Real(0))) return Real(0);
  Real delay = decay * random.exponential();
  if (!(rise > Real(0))) return delay;
  for (int tries = 0; tries != kMaxTries && random.uniform() < exp(-delay / rise); ++tries)
    delay = decay * random.exponential();
  return delay;
}

/// Tries to find a wavelength for shifted light, as in G4OpWLS (Geant4 11.4).
constexpr int kMaxShiftTries = 100;

/// The photon is emitted anew, in any direction. Shifted light has no more energy than before: false, and the photon is
/// as it was, where kMaxShiftTries draws from the spectrum have none. Then Geant4 makes no photon (G4OpWLS, G4OpWLS2).
[[nodiscard]] RAYLIFT_HD_INLINE bool emit(const OpticsView& optics, const EmissionComponent& component, bool shifted,
                                          Real delay, Photon& photon, RandomStream& random) {
  Real wavelength = photon.wavelength;
  if (component.spectrum.count != 0) {
    bool found = false;
    for (int tries = 0; tries != kMaxShiftTries && !found; ++tries) {
      const Real drawn = sample_emission(optics, component, random.uniform());
      if (shifted && drawn < Real(photon.wavelength)) continue;
      wavelength = drawn;
      found = true;
    }
    if (!found) return false;
  }
  photon.wavelength = wavelength;
  photon.time = Real(photon.time) + delay;
  const Vector direction = random.direction();
  set(photon, {direction, random_polarization(direction, random)});
  return true;
}

/// The number of a scintillation component, by its share of the light.
RAYLIFT_HD_INLINE int scintillation_component(const MaterialOptics& material, RandomStream& random) {
  Real share = random.uniform() * (Real(material.scintillation[0].amount) + Real(material.scintillation[1].amount) +
                                   Real(material.scintillation[2].amount));
  int last = 0;
  for (int i = 0; i != 3; ++i) {
    if (material.scintillation[i].spectrum.count == 0) continue;
    last = i;
    share = share - Real(material.scintillation[i].amount);
    if (share < Real(0)) break;
  }
  return last;
}

/// At the end of the free path in the bulk: chooses the process, by its fraction of the rate, and applies it.
RAYLIFT_HD_INLINE StepKind in_bulk(const OpticsView& optics, const MaterialOptics& material, const Medium& medium,
                                   const MaterialOptics::Losses& losses, Real rate, ShiftProfile profile,
                                   Photon& photon, RandomStream& random) {
  Real left = random.uniform() * rate;
  left = left - Real(1) / medium.rayleigh_length;
  if (left < Real(0)) {
    set(photon, rayleigh(wave_of(photon), random));
    return StepKind::rayleigh;
  }
  left = left - Real(1) / losses.mie_length;
  if ((material.flags & material_flags::kMie) != 0 && left < Real(0)) {
    set(photon, mie(wave_of(photon), material.mie_forward, material.mie_backward, material.mie_forward_ratio, random));
    return StepKind::mie;
  }
  // The emission is chosen first, so that a kernel has the code of one.
  const EmissionComponent* component = nullptr;
  bool shifts = false;
  Real rise(0);
  for (int i = 0; i != 2 && (material.flags & material_flags::kShifts) != 0; ++i) {
    left = left - Real(1) / losses.wls_length[i];
    if (!(left < Real(0))) continue;
    component = &material.shifting[i];
    if (component->amount >= 0 && random.uniform() > Real(component->amount)) return StepKind::absorbed;
    shifts = true;
    break;
  }
  if (!shifts) {
    if ((material.flags & material_flags::kReemits) == 0 || !(random.uniform() < Real(losses.reemission)))
      return StepKind::absorbed;
    component = &material.scintillation[scintillation_component(material, random)];
    rise = component->rise_time;
  }
  const Real delay = shifts && profile == ShiftProfile::delta
                         ? Real(component->time_constant)
                         : emission_delay(component->time_constant, rise, random);
  if (!emit(optics, *component, shifts, delay, photon, random)) return StepKind::absorbed;
  return shifts ? StepKind::shifted : StepKind::reemitted;
}

/// A surface of the view at a wavelength, for at_surface().
RAYLIFT_HD_INLINE SurfaceAt surface_at(const OpticsView& optics, const SurfaceOptics& surface, float wavelength) {
  SurfaceAt at;
  at.model = surface.model;
  at.finish = surface.finish;
  at.type = surface.type;
  at.value = surface.value;
  const TableLookup in = look_up(optics, surface, wavelength);
  const raylift::SurfaceOptics::Reflection response = reflection(in);
  at.reflectivity = response.reflectivity;
  at.efficiency = response.efficiency;
  at.transmittance = response.transmittance;
  at.gap_index = response.gap_index;
  if (surface.model == SurfaceModel::unified) {
    const SurfaceOptics::Lobes lobes = surface_lobes(optics, surface, in.place);
    at.lobe = lobes.specular_lobe;
    at.spike = lobes.specular_spike;
    at.backscatter = lobes.backscatter;
  }
  if ((surface.flags & surface_flags::kComplexIndex) != 0) {
    const SurfaceOptics::Indices indices = surface_indices(optics, surface, in.place);
    at.metal_n = indices.n;
    at.metal_k = indices.k;
  }
  at.roughness = Real(surface.roughness) * Real(1e6f) / Real(wavelength);  // mm to wavelengths
  return at;
}

/// A thin film. Of what it absorbs, it detects a share.
RAYLIFT_HD_INLINE SurfaceResult at_film(const OpticsView& optics, const SurfaceOptics& surface, const TableLookup& in,
                                        const Photon& photon, Vector normal, Real n1, Real n2, RandomStream& random) {
  const Wave wave = wave_of(photon);
  const SurfaceOptics::Indices index = surface_indices(optics, surface, in.place);
  const Real wavelengths = Real(surface.film_thickness) * Real(1e6f) / Real(photon.wavelength);  // from mm
  const Film seen = film(wave, normal, n1, index.n, index.k, n2, wavelengths);
  const Real u = random.uniform();
  if (u < seen.reflectance) return {SurfaceFate::reflected, reflected(wave, normal, seen.fresnel)};
  if (u < seen.reflectance + seen.fresnel.transmittance)
    return {SurfaceFate::transmitted, refracted(wave, normal, n1, n2, seen.fresnel)};
  const bool detected = random.uniform() < Real(surface_chances(in).detect);
  return {detected ? SurfaceFate::detected : SurfaceFate::absorbed, wave};
}

/// Chroma's models: simple and wavelength shifting, thin films and dichroic filters. `result` is given as transmitted.
/// False: the photon goes through, by Fresnel's equations.
[[nodiscard]] RAYLIFT_HD_INLINE bool at_chroma_surface(const OpticsView& optics, const SurfaceOptics& surface,
                                                       Photon& photon, Vector normal, Real n1, Real n2, bool& shifted,
                                                       SurfaceResult& result, RandomStream& random) {
  const Wave wave = wave_of(photon);
  const TableLookup in = look_up(optics, surface, photon.wavelength);
  if (surface.model == SurfaceModel::dichroic) {
    const Real angle = arc_cosine(magnitude(dot(wave.direction, normal)));
    const SurfaceOptics::Dichroic chances = dichroic(optics, surface, angle, in.place);
    const Real u = random.uniform();
    if (u < Real(chances.reflect))
      result = {SurfaceFate::reflected, mirrored_at(wave, normal)};
    else if (!(u < Real(chances.reflect) + Real(chances.transmit)))
      result.fate = SurfaceFate::absorbed;
    return true;
  }
  if (surface.model == SurfaceModel::thin_film) {
    result = at_film(optics, surface, in, photon, normal, n1, n2, random);
    return true;
  }
  const SurfaceOptics::Chances chances = surface_chances(in);
  if (!meets_simple_surface({chances.detect, chances.absorb, chances.reflect_diffuse, chances.reflect_specular}, wave,
                            normal, result, random))
    return false;
  if (result.fate != SurfaceFate::absorbed || surface.model != SurfaceModel::wavelength_shifting) return true;
  const Real again = surface_indices(optics, surface, in.place).reemission;
  if (!(random.uniform() < again)) return true;
  const Real delay = emission_delay(surface.reemission.time_constant, Real(0), random);
  if (!emit(optics, surface.reemission, true, delay, photon, random)) return true;
  shifted = true;
  const bool behind = dot(photon.direction, normal) < Real(0);
  result = {behind ? SurfaceFate::transmitted : SurfaceFate::reflected, wave_of(photon)};
  return true;
}

/// A photon that was detected by a surface, with the sensor's own efficiency.
RAYLIFT_HD_INLINE StepKind detect(const OpticsView& optics, StepEnd& end, float wavelength, Real cosine,
                                  RandomStream& random) {
  OpticsView::Channel sensor = channel(optics, end.to);
  if (sensor.number == kNoChannel) sensor = channel(optics, end.from);
  if (sensor.type != kNone &&
      !(random.uniform() < Real(channel_efficiency(optics, sensor.type, wavelength, arc_cosine(cosine)))))
    return StepKind::absorbed_at_surface;
  end.channel = sensor.number;
  return StepKind::detected;
}

/// The photon stands at the boundary between end.from and end.to.
RAYLIFT_HD_INLINE StepKind at_boundary(const GeometryView& geometry, const Boundary& boundary, const Medium& medium,
                                       StepEnd& end, Photon& photon, RandomStream& random) {
  const OpticsView& optics = geometry.optics;
  if (end.to == kNoSolid) return StepKind::escaped;
  end.surface = surface_between(geometry, end.from, end.to);
  const bool bare = end.surface == kNoSurface;
  if (bare && boundary.material_from == boundary.material_to) {
    photon.in = boundary.after;
    return StepKind::transmitted;
  }
  if ((optics.materials[boundary.material_from].flags & material_flags::kIndex) == 0) return StepKind::no_index;
  const bool has_index = boundary.material_to != MaterialCode::none &&
                         (optics.materials[boundary.material_to].flags & material_flags::kIndex) != 0;
  const Real n1 = medium.refractive_index;
  const Real n2 = has_index ? Real(raylift::medium(optics, boundary.material_to, photon.wavelength).refractive_index) : n1;
  Vector normal = boundary.normal;
  if (dot(photon.direction, normal) > Real(0)) normal = -normal;

  bool shifted = false, decided = false;
  SurfaceResult result{SurfaceFate::transmitted, wave_of(photon)};
  SurfaceAt at;  // of a bare face
  if (bare) {
    if (!has_index) return StepKind::no_index;
  } else {
    const SurfaceOptics& surface = optics.surfaces[end.surface];
    if (surface.model == SurfaceModel::lut || surface.model == SurfaceModel::davis) return StepKind::inconsistent;
    if (surface.model >= SurfaceModel::dichroic) {
      decided = at_chroma_surface(optics, surface, photon, normal, n1, n2, shifted, result, random);
    } else {
      if (is_back_painted(surface.finish) && surface.type == SurfaceType::dielectric_dielectric) {
        if ((surface.flags & surface_flags::kGapIndex) == 0) return StepKind::no_index;
      } else if (surface.type != SurfaceType::dielectric_metal && !has_index &&
                 (surface.finish == SurfaceFinish::polished || surface.finish == SurfaceFinish::ground)) {
        return StepKind::no_index;
      }
      at = surface_at(optics, surface, photon.wavelength);
    }
  }
  // Once for all that Fresnel's equations decide, as it is long.
  if (!decided) result = at_surface(at, wave_of(photon), normal, n1, n2, random);
  if (result.fate == SurfaceFate::absorbed) return StepKind::absorbed_at_surface;
  if (result.fate == SurfaceFate::detected)
    return detect(optics, end, photon.wavelength, magnitude(dot(photon.direction, normal)), random);
  set(photon, result.wave);
  if (result.fate == SurfaceFate::transmitted) photon.in = boundary.after;
  if (shifted) return StepKind::shifted;
  return result.fate == SurfaceFate::transmitted ? StepKind::transmitted : StepKind::reflected;
}

/// The bulk properties of a material.
struct Bulk {
  Medium medium;
  MaterialOptics::Losses losses;
  Real rate;  ///< of all processes, per millimetre
};
RAYLIFT_HD_INLINE Bulk bulk_of(const OpticsView& optics, std::uint16_t material, float wavelength) {
  const TableLookup in = look_up(optics, material, wavelength);
  const Medium medium = raylift::medium(in);
  Bulk bulk{medium,
            {kNever, {kNever, kNever}, 0},
            Real(1) / medium.absorption_length + Real(1) / medium.rayleigh_length};
  constexpr std::uint32_t kMore = material_flags::kMie | material_flags::kShifts | material_flags::kReemits;
  if ((optics.materials[material].flags & kMore) != 0) {
    bulk.losses = losses(optics, optics.materials[material], in.place);
    bulk.rate = bulk.rate + Real(1) / bulk.losses.mie_length + Real(1) / bulk.losses.wls_length[0] +
                Real(1) / bulk.losses.wls_length[1];
  }
  return bulk;
}

/// The start of a step: the photon's solid and material. It ends here if there is no solid or no material.
RAYLIFT_HD_INLINE StepEnd begin_step(const GeometryView& geometry, const Photon& photon) {
  StepEnd end;
  end.from = end.to = photon.in.solid;
  if (photon.in.solid == kNoSolid)
    end.kind = StepKind::escaped;
  else if ((end.material = static_cast<std::uint16_t>(geometry.solids[photon.in.solid].material)) == MaterialCode::none)
    end.kind = StepKind::no_index;
  return end;
}

/// The rate of the step before: after a reflection or scattering it is that of the next step too.
struct KnownRate {
  float wavelength = 0;
  std::uint16_t material = MaterialCode::none;
  Real rate = 0;
};

/// The ray of a step: along the photon's direction, as long as its free path.
RAYLIFT_HD_INLINE FineRay step_ray(const GeometryView& geometry, const Photon& photon, Float3 rest,
                                   std::uint16_t material, const KnownRate& known, RandomStream& random) {
  const bool same = known.material == material && known.wavelength == photon.wavelength;
  const Real rate = same ? known.rate : bulk_of(geometry.optics, material, photon.wavelength).rate;
  return {{photon.position, rest}, photon.direction, random.exponential() / rate};
}

/// The end of a step, at a boundary or before it. The bulk properties are read again, as they would occupy registers
/// during the search.
RAYLIFT_HD_INLINE void end_step(const GeometryView& geometry, const Boundary& boundary, ShiftProfile profile,
                                Photon& photon, Float3& rest, StepEnd& end, KnownRate& known, RandomStream& random) {
  const OpticsView& optics = geometry.optics;
  const Bulk bulk = bulk_of(optics, end.material, photon.wavelength);
  known = {photon.wavelength, end.material, bulk.rate};
  photon.position = boundary.point.point;
  rest = boundary.point.rest;
  photon.time = Real(photon.time) + Real(boundary.t) / bulk.medium.group_velocity;
  if (boundary.inconsistent) {
    end.kind = StepKind::inconsistent;
  } else if (!boundary.crosses()) {
    photon.in = boundary.after;
    end.kind =
        in_bulk(optics, optics.materials[end.material], bulk.medium, bulk.losses, bulk.rate, profile, photon, random);
  } else {
    end.to = boundary.to;
    end.kind = at_boundary(geometry, boundary, bulk.medium, end, photon, random);
  }
}

}  // namespace detail

/// Moves the photon to its next event, and applies it. The photon travels at the group velocity. The free path comes
/// from one draw over all processes of the medium: absorption, Rayleigh and Mie scattering, two wavelength shifters. A
/// photon whose solid has no material, or that is in no solid, ends at once. rest: what the photon's position lacks to
/// where it is, kept from step to step; see FinePoint.
[[nodiscard]] RAYLIFT_HD_INLINE StepEnd step(const GeometryView& geometry, Photon& photon, Float3& rest,
                                             RandomStream& random, ShiftProfile profile = ShiftProfile::delta) {
  StepEnd end = detail::begin_step(geometry, photon);
  if (ends(end.kind)) return end;
  detail::KnownRate known;
  const FineRay ray = detail::step_ray(geometry, photon, rest, end.material, known, random);
  detail::end_step(geometry, next_boundary(geometry, ray, photon.in), profile, photon, rest, end, known, random);
  return end;
}

}  // namespace raylift::photon
