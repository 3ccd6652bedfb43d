// SPDX-License-Identifier: Apache-2.0
// Photons from gensteps, for kernels and host code. Models: G4Cerenkov and G4Scintillation of Geant4 11.
#pragma once

#include <raylift/geometry/scene/optics_codes.h>
#include <raylift/photon/detail/birth.h>
#include <raylift/photon/detail/events.h>
#include <raylift/photon/genstep.h>

namespace raylift::photon {

namespace detail {

// Births, flights and the numbers of photons draw from separate ranges of the random stream.
inline constexpr std::uint32_t kBirthDraws = 0x80000000u;
inline constexpr std::uint32_t kNumberDraws = 0xC0000000u;
inline constexpr auto kLight = static_cast<float>(kLightSpeed);
inline constexpr auto kEnergyTimesWavelength = static_cast<float>(kEvNm);
// The limit of the rejection of energies: Cerenkov light may come from a small part of a range.
inline constexpr int kMaxEnergies = 1000;

/// The refractive index; 1 where there is no material.
RAYLIFT_HD_INLINE Real index_at(const OpticsView& optics, std::uint16_t material, Real wavelength) {
  return material == MaterialCode::none ? Real(1) : Real(medium(optics, material, wavelength).refractive_index);
}
/// Squared sine of the Cerenkov angle; 0 below the threshold.
RAYLIFT_HD_INLINE Real sin2_of(Real cosine) {
  return larger(Real(0), (Real(1) - cosine) * (Real(1) + cosine));
}

RAYLIFT_HD_INLINE std::uint16_t material_at(const GeometryView& geometry, const Containment& in) {
  return in.solid == kNoSolid ? MaterialCode::none : geometry.solids[in.solid].material;
}

struct WavelengthRange {
  Real shortest, longest;
};
/// The step's, or that of the material's RINDEX.
RAYLIFT_HD_INLINE WavelengthRange range_of(const OpticsView& optics, std::uint16_t material,
                                           const Genstep::Cerenkov& step) {
  if (step.longest > 0 || material == MaterialCode::none) return {step.shortest, step.longest};
  const MaterialOptics& of = optics.materials[material];
  if ((of.flags & material_flags::kIndex) == 0) return {0, 0};
  const MaterialOptics::Coverage covered = of.covered_by[static_cast<std::size_t>(BulkProperty::index)];
  return {covered.shortest, covered.longest};
}

struct CerenkovSum {
  Real integral;  ///< of the squared sine over energy, eV
  Real max_sin2;
};
/// The part of an interval of energies, with the index n linear between its ends, where 1 / (beta n) is below 1. The
/// integral is exact: that of 1 / n^2 is the interval over the product of both indices.
RAYLIFT_HD_INLINE Real cerenkov_part(Real beta_inverse, Real energy, Real n_low, Real n_high) {
  const Real low = smaller(n_low, n_high), high = larger(n_low, n_high);
  if (!(high > beta_inverse)) return 0;
  Real from = low;
  if (low < beta_inverse) {
    energy = energy * ((high - beta_inverse) / (high - low));
    from = beta_inverse;
  }
  // from * high - beta_inverse^2, without a difference of large numbers.
  const Real above =
      ((from - beta_inverse) * (high + beta_inverse) + (from + beta_inverse) * (high - beta_inverse)) * Real(0.5f);
  return energy * above / (from * high);
}
/// Over the points of the material's table. Where the index is linear in wavelength, over parts that are so short that
/// it is nearly linear in energy too.
RAYLIFT_HD_INLINE CerenkovSum cerenkov_sum(const OpticsView& optics, std::uint16_t material,
                                           const Genstep::Cerenkov& step) {
  const Real hc(kEnergyTimesWavelength);
  const Real beta_inverse(step.beta_inverse);
  const WavelengthRange range = range_of(optics, material, step);
  if (material == MaterialCode::none || !(range.longest > range.shortest)) return {0, 0};
  const std::uint32_t* const entries = optics.buckets + std::size_t{material} * kTableEntries;
  const std::uint32_t last = entries[kTableBuckets] + 1;
  const auto sin2 = [=](Real n) { return sin2_of(smaller(Real(1), beta_inverse / n)); };
  Real a = range.shortest;
  Real n_a = index_at(optics, material, a);
  CerenkovSum sum{0, sin2(n_a)};
  Real lost = 0;  // of the sum, by rounding (Kahan)
  // The next point.
  std::uint32_t row = optics_detail::find_row(optics, material, range.shortest);
  while (row <= last && !(Real(optics.rows[row].wavelength) > a)) ++row;
  while (a < range.longest) {
    const bool is_point = row <= last && !(Real(optics.rows[row].wavelength) > range.longest);
    Real b = is_point ? Real(optics.rows[row].wavelength) : range.longest;
    Real n_b = is_point ? Real(optics.rows[row].v[0]) : index_at(optics, material, b);
    const Real most = Real(1.005f) * a;
    if (row <= last && optics.rows[row].over_wavelength != 0 && b > most && most > a) {
      b = most;
      n_b = index_at(optics, material, b);
    } else if (is_point) {
      ++row;
    }
    // Points at a step of the index are at one wavelength.
    if (b > a) {
      const Real part = cerenkov_part(beta_inverse, hc / a - hc / b, n_a, n_b) - lost;
      const Real more = sum.integral + part;
      lost = (more - sum.integral) - part;
      sum.integral = more;
      a = b;
    }
    sum.max_sin2 = larger(sum.max_sin2, sin2(n_b));
    n_a = n_b;
  }
  return sum;
}

/// Where along a step, from 0 to 1, by a density that goes linearly from `begin` to `end`: a mixture of a uniform
/// density and a triangle.
RAYLIFT_HD_INLINE Real fraction_along(Real begin, Real end, RandomStream& random) {
  const Real low = larger(Real(0), smaller(begin, end)), high = larger(begin, end);
  const Real choice = random.uniform(), a = random.uniform();
  if (!(high > low) || choice * (low + high) < Real(2) * low) return a;
  const Real b = random.uniform();
  return begin < end ? larger(a, b) : smaller(a, b);
}

/// The way from a step's middle to a fraction of it.
RAYLIFT_HD_INLINE BirthPlace way_along(Vector displacement, Real fraction) {
  const Real length = square_root(dot(displacement, displacement));
  if (!(length > Real(0))) return {Vector(0, 0, 1), Real(0)};
  const Real part = fraction - Real(0.5f);
  return {(part < Real(0) ? Real(-1) / length : Real(1) / length) * displacement, magnitude(part) * length};
}

RAYLIFT_HD_INLINE BirthPlace cerenkov_birth(const GeometryView& geometry, const Genstep& genstep,
                                            const GenstepPlace& place, StartPhoton& photon, RandomStream& random) {
  const auto step = details_of<Genstep::Cerenkov>(genstep);
  const std::uint16_t material = material_at(geometry, place.in);
  const WavelengthRange range = range_of(geometry.optics, material, step);
  const Real hc(kEnergyTimesWavelength);
  const Real lowest = hc / range.longest, highest = hc / range.shortest;
  Real wavelength, cosine;
  for (int tries = 0; tries != kMaxEnergies; ++tries) {
    wavelength = hc / (lowest + random.uniform() * (highest - lowest));
    cosine = smaller(Real(1), Real(step.beta_inverse) / index_at(geometry.optics, material, wavelength));
    if (random.uniform() * Real(place.light) <= sin2_of(cosine)) break;
  }
  const Real sine = square_root(sin2_of(cosine));
  const Vector displacement(step.displacement);
  const bool moves = dot(displacement, displacement) > Real(0);
  const Vector axis = moves ? unit(displacement) : Vector(0, 0, 1);
  const Vector radial = random_polarization(axis, random);
  photon.direction = unit(cosine * axis + sine * radial);
  photon.polarization = cosine * radial - sine * axis;
  photon.wavelength = wavelength;
  const Real fraction = fraction_along(step.yield, step.yield_at_end, random);
  const Real begin = step.velocity > 0 ? Real(step.velocity) : Real(kLight) / Real(step.beta_inverse);
  const Real end = step.velocity_at_end > 0 ? Real(step.velocity_at_end) : begin;
  photon.time = Real(genstep.time) + fraction * Real(step.length) / (begin + fraction * (end - begin) * Real(0.5f));
  return way_along(displacement, fraction);
}

RAYLIFT_HD_INLINE BirthPlace scintillation_birth(const GeometryView& geometry, const Genstep& genstep,
                                                 const GenstepPlace& place, StartPhoton& photon, RandomStream& random) {
  const auto step = details_of<Genstep::Scintillation>(genstep);
  const Vector direction = random.direction();
  photon.direction = direction;
  photon.polarization = random_polarization(direction, random);
  const Real fraction = step.charge == 0 ? Real(1) : random.uniform();
  const Real velocity = step.velocity > 0 ? Real(step.velocity) : Real(kLight);
  Real time = Real(genstep.time) + fraction * Real(step.length) / velocity;
  photon.wavelength = 0;
  const std::uint16_t material = material_at(geometry, place.in);
  if (material != MaterialCode::none) {
    const MaterialOptics& optics = geometry.optics.materials[material];
    const EmissionComponent& component =
        optics.scintillation[step.component == 0 ? scintillation_component(optics, random)
                                                 : static_cast<int>(step.component) - 1];
    if (component.spectrum.count != 0)
      photon.wavelength = sample_emission(geometry.optics, component, random.uniform());
    time = time + (step.time_constant > 0 ? Real(step.time_constant) * random.exponential()
                                          : emission_delay(component.time_constant, component.rise_time, random));
  }
  photon.time = time;
  return way_along(step.displacement, fraction);
}

/// The axes that CLHEP's rotateUz() turns x and y into.
struct Axes2 {
  Vector x, y;
};
RAYLIFT_HD_INLINE Axes2 turned_axes(Vector z) {
  const Real across = square_root(z.x * z.x + z.y * z.y);
  if (!(across > Real(0))) return {{z.z < Real(0) ? Real(-1) : Real(1), 0, 0}, {0, 1, 0}};
  return {{z.x * z.z / across, z.y * z.z / across, -across}, {-z.y / across, z.x / across, 0}};
}

/// `index` is that of the photon in its step.
RAYLIFT_HD_INLINE BirthPlace torch_birth(const Genstep& genstep, std::uint32_t index, StartPhoton& photon,
                                         RandomStream& random) {
  const auto step = details_of<Genstep::Torch>(genstep);
  const Vector direction = unit(step.direction);
  const Axes2 axes = turned_axes(direction);
  photon.direction = direction;
  photon.polarization = -axes.y;
  photon.wavelength = step.wavelength;
  photon.time = genstep.time;
  if (step.shape == Genstep::Torch::Shape::disc) {
    const auto within = [&](const float(&range)[2]) {
      return Real(range[0]) + random.uniform() * (Real(range[1]) - Real(range[0]));
    };
    const Real radius = Real(step.radius) * within(step.zenith);
    const SineCosine angle = sine_cosine_of_turns(within(step.azimuth));
    photon.polarization = angle.sine * axes.x - angle.cosine * axes.y;
    return {angle.cosine * axes.x + angle.sine * axes.y, radius};
  }
  if (step.shape == Genstep::Torch::Shape::point) return {axes.x, Real(0)};
  const Real part = Real(static_cast<float>(index)) / Real(static_cast<float>(genstep.photons));
  const Real along = Real(step.radius) * (Real(2) * part - Real(1));
  return {along < Real(0) ? -axes.x : axes.x, magnitude(along)};
}

RAYLIFT_HD_INLINE bool is_cerenkov(Genstep::Type type) {
  return type == Genstep::Type::cerenkov || type == Genstep::Type::g4_cerenkov ||
         type == Genstep::Type::g4_cerenkov_modified;
}

/// The point from which the solids of a step's photons are found.
RAYLIFT_HD_INLINE LocalPoint anchor_of(const Genstep& genstep) {
  if (genstep.type == Genstep::Type::torch) return LocalPoint(genstep.position);
  const float* const displacement = genstep.rows[0];
  return LocalPoint(Vector(genstep.position) + Real(0.5f) * Vector(displacement[0], displacement[1], displacement[2]));
}

RAYLIFT_HD_INLINE std::uint64_t rounded_normal(Real mean, Real width, RandomStream& random) {
  const Real drawn = mean + width * random.normal() + Real(0.5f);
  return drawn > Real(0) ? static_cast<std::uint64_t>(static_cast<float>(drawn)) : 0;
}
/// The number of events at a mean: exact up to 100, and normal above.
RAYLIFT_HD_INLINE std::uint64_t poisson(Real mean, RandomStream& random) {
  if (!(mean > Real(0))) return 0;
  if (mean > Real(100)) return rounded_normal(mean, square_root(mean), random);
  // The intervals between events are exponentially distributed.
  std::uint64_t count = 0;
  for (Real at = random.exponential(); at < mean; at = at + random.exponential()) ++count;
  return count;
}

}  // namespace detail

/// A genstep's place, and the number of photons that it makes.
RAYLIFT_HD_INLINE GenstepPlace place_genstep(const GeometryView& geometry, const Genstep& genstep, std::uint64_t seed,
                                             std::uint64_t number, std::uint64_t& photons) {
  using namespace detail;
  GenstepPlace place{locate(geometry, anchor_of(genstep)), 0};
  const std::uint16_t material = material_at(geometry, place.in);
  photons = genstep.photons;
  const bool counts = genstep.photons == kPhotonsOfPhysics;
  RandomStream random(seed, number, kNumberDraws);
  if (is_cerenkov(genstep.type)) {
    const auto step = details_of<Genstep::Cerenkov>(genstep);
    const CerenkovSum sum = cerenkov_sum(geometry.optics, material, step);
    place.light = sum.max_sin2;
    // alpha / (hbar c), 1/(eV mm)
    if (counts)
      photons =
          poisson(Real(36.98102f) * Real(step.charge) * Real(step.charge) * sum.integral * Real(step.length), random);
  } else if (genstep.type != Genstep::Type::torch && material != MaterialCode::none) {
    const auto step = details_of<Genstep::Scintillation>(genstep);
    const MaterialOptics& optics = geometry.optics.materials[material];
    for (std::uint32_t i = 0; i != 3; ++i)
      if ((step.component == 0 || step.component == i + 1) && optics.scintillation[i].spectrum.count != 0)
        place.light = 1;
    const Real mean = Real(optics.scintillation_yield) * Real(step.deposit);
    if (counts)
      photons = mean > Real(10) ? rounded_normal(mean, Real(optics.resolution_scale) * square_root(mean), random)
                                : poisson(mean, random);
  } else if (counts) {
    photons = 0;
  }
  return place;
}

/// Whether a step gives the places of its photons, which may lie on a face. The others lie on one but by chance.
RAYLIFT_HD_INLINE bool gives_places(const Genstep& genstep) {
  if (genstep.type == Genstep::Type::torch) return true;
  return !detail::is_cerenkov(genstep.type) && details_of<Genstep::Scintillation>(genstep).charge == 0;
}

/// Generates a photon by its number among those of all gensteps, and walks from the middle of its step to its birth.
/// Where there are several events, by its place in the launch; `seed` is then not used.
RAYLIFT_HD_INLINE void generate(const GeometryView& geometry, const GenstepView& gensteps, const EventView& events,
                                std::uint64_t seed, std::uint64_t number, StartPhoton& photon, Containment& in) {
  using namespace detail;
  GenstepRange range{0, gensteps.count};
  if (events.count != 0) {
    const std::uint32_t event = events.find(number);
    range = gensteps.ranges[event];
    seed = events.keys[event].seed;
    number = events.number(number, event);
  }
  // The first step whose photons end after it.
  std::uint32_t low = range.first, high = range.first + range.count - 1;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (gensteps.ends[middle] > number)
      high = middle;
    else
      low = middle + 1;
  }
  const Genstep& genstep = gensteps.steps[low];
  const GenstepPlace& place = gensteps.places[low];
  RandomStream random(seed, number, kBirthDraws);
  const std::uint64_t first = low == range.first ? 0 : gensteps.ends[low - 1];
  const BirthPlace birth = is_cerenkov(genstep.type) ? cerenkov_birth(geometry, genstep, place, photon, random)
                           : genstep.type == Genstep::Type::torch
                               ? torch_birth(genstep, static_cast<std::uint32_t>(number - first), photon, random)
                               : scintillation_birth(geometry, genstep, place, photon, random);
  photon.flags = flag_of(is_cerenkov(genstep.type)              ? BirthKind::cerenkov
                         : genstep.type == Genstep::Type::torch ? BirthKind::torch
                                                                : BirthKind::scintillation);
  FinePoint at = anchor_of(genstep);
  in = place.in;
  Real left = birth.distance;
  // To the birth, across all boundaries between; then, by the photon's direction, across faces that it lies on. One
  // loop, so that a kernel has the search once.
  for (bool there = !(birth.distance > Real(0));;) {
    const FineRay ray = there ? start_ray(geometry, at, photon.direction) : FineRay{at, birth.direction, left};
    const Boundary boundary = next_boundary(geometry, ray, in);
    if (there) {
      if (crosses_at_start(boundary)) in = boundary.after;
      break;
    }
    in = boundary.after;
    at = boundary.point;
    left = larger(left - Real(boundary.t), Real(0));
    if (boundary.inconsistent) {
      if (in.consistent()) in.exceptions[0] = in.solid;  // the first step ends as inconsistent
      break;
    }
    if (boundary.crosses()) continue;
    if (!gives_places(genstep)) break;
    there = true;
  }
  photon.position = at.point;
  photon.rest = at.rest;
}

}  // namespace raylift::photon
