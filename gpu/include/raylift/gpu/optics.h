// SPDX-License-Identifier: Apache-2.0
// A scene's optics, for kernels and host code: what a photon needs of the materials and the surface at a triangle, and
// of the sensors.
//
//   const raylift::Side side = raylift::side(geometry, hit.instance, hit.triangle, hit.from_inside);
//   const raylift::RasterPlace at = raylift::raster_place(geometry.optics, wavelength);
//   const float n1 = raylift::medium(geometry.optics, side.material_from, at).refractive_index;
//   const float n2 = raylift::medium(geometry.optics, side.material_to, at).refractive_index;
//   if (side.surface != raylift::kNoSurface) ...geometry.optics.surfaces[side.surface]...
//
// No read is out of bounds, for any wavelength, angle or random number: values outside are clamped, and NaN counts as
// the first point. Results are the same bits on host and device. Material and surface numbers must be those of the
// scene: MaterialCode::none and kNoSurface have no tables.
#pragma once

#include <raylift/geometry/detail/arithmetic.h>
#include <raylift/geometry/scene/optics_codes.h>
#include <raylift/gpu/view.h>

namespace raylift {

// ---- tables over wavelength -----------------------------------------------------------------------------------------

/// A wavelength's place on the raster: between rows `row` and `row + 1`, by `part` from 0 to 1.
struct RasterPlace {
  std::uint32_t row;
  float part;
};

/// The properties of a material in the bulk.
struct Medium {
  float refractive_index;
  float group_velocity;     ///< mm/ns
  float absorption_length;  ///< mm; kNever where the material has none
  float rayleigh_length;    ///< likewise
};

/// Its further processes, if MaterialOptics::flags has them.
struct Losses {
  float mie_length;     ///< mm, or kNever
  float wls_length[2];  ///< of absorption by MaterialOptics::shifting, likewise
  float reemission;     ///< probability that an absorbed photon is re-emitted
};

/// The chances at a surface of Geant4's models.
struct Reflection {
  float reflectivity, efficiency, transmittance;
  float gap_index;  ///< of refraction, between a surface and its paint; 0: none
};
/// The chances at a surface of Chroma's models; the rest is transmitted.
struct SurfaceChances {
  float detect, absorb, reflect_diffuse, reflect_specular;
};
/// Shares of reflection; the rest is Lambertian.
struct Lobes {
  float specular_lobe, specular_spike, backscatter;
};
/// The complex index of a metal or a film, 0 if there is none, and a shifting surface's probability of re-emission.
struct SurfaceIndices {
  float n, k, reemission;
};
struct DichroicChances {
  float reflect, transmit;
};

namespace optics_detail {

// Exact at both ends, and where both are equal.
RAYLIFT_HD inline float between(float a, float b, float part) {
  return part >= 1 ? b : a + arithmetic_detail::product(part, b - a);
}

}  // namespace optics_detail

[[nodiscard]] RAYLIFT_HD inline RasterPlace raster_place(const OpticsView& optics, float wavelength) {
  const float last = static_cast<float>(optics.raster.count - 1);
  float x = arithmetic_detail::product(wavelength - optics.raster.start, optics.per_nm);
  x = x > 0 ? x : 0;  // NaN too
  x = x < last ? x : last;
  auto row = static_cast<std::uint32_t>(x);
  row = row < optics.raster.count - 1 ? row : optics.raster.count - 2;
  return {row, x - static_cast<float>(row)};
}

/// A table's four quantities at a place: linear between the raster's wavelengths, so that probabilities that sum to 1
/// there do so everywhere; constant beyond its ends.
[[nodiscard]] RAYLIFT_HD inline TableRow interpolate(const OpticsView& optics, std::uint32_t table, RasterPlace at) {
  using optics_detail::between;
  const TableRow* const rows = optics.tables + (table * optics.raster.count + at.row);
  const TableRow a = rows[0], b = rows[1];
  return {between(a.v[0], b.v[0], at.part), between(a.v[1], b.v[1], at.part), between(a.v[2], b.v[2], at.part),
          between(a.v[3], b.v[3], at.part)};
}
[[nodiscard]] RAYLIFT_HD inline TableRow interpolate(const OpticsView& optics, std::uint32_t table, float wavelength) {
  return interpolate(optics, table, raster_place(optics, wavelength));
}

[[nodiscard]] RAYLIFT_HD inline Medium medium(const OpticsView& optics, std::uint32_t material, RasterPlace at) {
  const TableRow row = interpolate(optics, material, at);
  return {row.v[0], row.v[1], row.v[2], row.v[3]};
}
[[nodiscard]] RAYLIFT_HD inline Losses losses(const OpticsView& optics, const MaterialOptics& material,
                                              RasterPlace at) {
  const TableRow row = interpolate(optics, material.losses, at);
  return {row.v[0], {row.v[1], row.v[2]}, row.v[3]};
}

[[nodiscard]] RAYLIFT_HD inline Reflection reflection(const OpticsView& optics, const SurfaceOptics& surface,
                                                      RasterPlace at) {
  const TableRow row = interpolate(optics, surface.response, at);
  return {row.v[0], row.v[1], row.v[2], row.v[3]};
}
[[nodiscard]] RAYLIFT_HD inline SurfaceChances surface_chances(const OpticsView& optics, const SurfaceOptics& surface,
                                                               RasterPlace at) {
  const TableRow row = interpolate(optics, surface.response, at);
  return {row.v[0], row.v[1], row.v[2], row.v[3]};
}
[[nodiscard]] RAYLIFT_HD inline Lobes surface_lobes(const OpticsView& optics, const SurfaceOptics& surface,
                                                    RasterPlace at) {
  const TableRow row = interpolate(optics, surface.lobes, at);
  return {row.v[0], row.v[1], row.v[2]};
}
[[nodiscard]] RAYLIFT_HD inline SurfaceIndices surface_indices(const OpticsView& optics, const SurfaceOptics& surface,
                                                               RasterPlace at) {
  const TableRow row = interpolate(optics, surface.indices, at);
  return {row.v[0], row.v[1], row.v[2]};
}

// ---- curves ---------------------------------------------------------------------------------------------------------

namespace optics_detail {

// The points low and low + 1 that x lies between, and how far. The curve has a point; with one only, low is 0 and so
// is the part.
RAYLIFT_HD inline RasterPlace curve_place(const CurvePoint* points, std::uint32_t count, float x) {
  std::uint32_t low = 0, high = count - 1;
  if (high == 0 || !(x > points[0].x)) return {0, 0};  // NaN too
  if (!(x < points[high].x)) return {high - 1, 1};
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (points[middle].x < x)
      low = middle;
    else
      high = middle;
  }
  return {low, (x - points[low].x) / (points[high].x - points[low].x)};
}

}  // namespace optics_detail

/// A curve's y at x: linear between its points, constant beyond its ends; 0 where there is no curve.
[[nodiscard]] RAYLIFT_HD inline float evaluate(const CurvePoint* points, std::uint32_t count, float x) {
  if (count == 0) return 0;
  const RasterPlace at = optics_detail::curve_place(points, count, x);
  const CurvePoint* const low = points + at.row;
  if (!(at.part > 0)) return low[0].y;
  return optics_detail::between(low[0].y, low[1].y, at.part);
}
[[nodiscard]] RAYLIFT_HD inline float evaluate(const OpticsView& optics, Curve curve, float x) {
  return evaluate(optics.points + curve.first, curve.count, x);
}

/// The wavelength of emitted light for a random number from 0 to 1, in nm, as Geant4 draws it: the cumulative
/// distribution is linear between its points, in what the spectrum was given over. The component has a spectrum.
[[nodiscard]] RAYLIFT_HD inline float sample_emission(const OpticsView& optics, const EmissionComponent& component,
                                                      float random) {
  const float y = evaluate(optics, component.spectrum, random);
  return component.over_energy != 0 ? static_cast<float>(kEvNm) / y : y;
}

/// What a dichroic surface does at an angle of incidence, linear in the angle too; nothing where it has no angles.
[[nodiscard]] RAYLIFT_HD inline DichroicChances dichroic(const OpticsView& optics, const SurfaceOptics& surface,
                                                         float angle, RasterPlace at) {
  using optics_detail::between;
  if (surface.angles.count == 0) return {0, 0};
  const RasterPlace by_angle =
      optics_detail::curve_place(optics.points + surface.angles.first, surface.angles.count, angle);
  const TableRow row = interpolate(optics, surface.dichroic + by_angle.row, at);
  return {between(row.v[0], row.v[2], by_angle.part), between(row.v[1], row.v[3], by_angle.part)};
}

// ---- which surface --------------------------------------------------------------------------------------------------

namespace optics_detail {

struct BorderBuckets {
  std::uint32_t first, second;
};

// A permutation of 64 bits, so that two pairs never have the same hash.
RAYLIFT_HD inline BorderBuckets border_buckets(std::uint32_t from, std::uint32_t to, std::uint32_t bucket_count) {
  std::uint64_t hash = std::uint64_t{from} << 32 | to;
  hash = (hash ^ (hash >> 32)) * 0x9E3779B97F4A7C15U;
  hash = (hash ^ (hash >> 29)) * 0xBF58476D1CE4E5B9U;
  hash ^= hash >> 32;
  return {static_cast<std::uint32_t>(hash) & (bucket_count - 1),
          static_cast<std::uint32_t>(hash >> 32) & (bucket_count - 1)};
}

// At most two buckets are read (cuckoo hashing).
RAYLIFT_HD inline std::uint16_t border_surface(const OpticsView& optics, std::uint32_t from, std::uint32_t to) {
  if (optics.border_bucket_count == 0) return kNoSurface;
  const BorderBuckets at = border_buckets(from, to, optics.border_bucket_count);
  for (int i = 0; i != 4; ++i) {
    const BorderSlot slot = optics.borders[i < 2 ? at.first : at.second].slots[i % 2];
    if (slot.from == from && slot.to == to) return static_cast<std::uint16_t>(slot.surface);
  }
  return kNoSurface;
}

}  // namespace optics_detail

/// The surface that a photon meets on its way from the solid `from` into the solid `to`, by Geant4's precedence: see
/// surface_between() of <raylift/geometry/optics/surface_between.h>. Constant cost: mother and daughter by one access,
/// others by up to two more and their skins. kNoSurface where one of them is kNone, or the geometry has no solids.
[[nodiscard]] RAYLIFT_HD inline std::uint16_t surface_between(const GeometryView& geometry, std::uint32_t from,
                                                              std::uint32_t to) {
  using namespace optics_detail;
  if (from == kNone || to == kNone || geometry.optics.surface_count == 0) return kNoSurface;
  const SolidView& entered = geometry.solids[to];
  if (entered.mother == from) return entered.surface_in;
  const SolidView& left = geometry.solids[from];
  if (left.mother == to) return left.surface_out;
  if (const std::uint16_t border = border_surface(geometry.optics, from, to); border != kNoSurface) return border;
  // A daughter of another placement of what is left is a daughter too.
  const bool daughter =
      entered.mother != kNone && left.volume != kNone && geometry.solids[entered.mother].volume == left.volume;
  if (daughter && entered.skin != kNoSurface) return entered.skin;
  return left.skin != kNoSurface ? left.skin : entered.skin;
}

/// The materials and the surface at a triangle. MaterialCode::none and kNoSurface if there is none.
struct Side {
  std::uint16_t material_from, material_to;
  std::uint16_t surface;
};

/// The same on the way from a triangle's solid into its mother (from_inside), or from its mother into it. Constant
/// cost, in two-level and flat scenes. Where siblings touch, use surface_between(): see Boundary of
/// <raylift/gpu/rays/boundary.h>.
[[nodiscard]] RAYLIFT_HD inline Side side(const GeometryView& geometry, std::uint32_t instance, std::uint32_t triangle,
                                          bool from_inside) {
  const MaterialCode code = geometry.material_code(instance, triangle);
  std::uint16_t surface = kNoSurface;
  if (geometry.optics.surface_count != 0) {
    const SolidView& solid = geometry.solids[geometry.solid_id(instance, triangle)];
    surface = from_inside ? solid.surface_out : solid.surface_in;
  }
  return from_inside ? Side{code.inside, code.outside, surface} : Side{code.outside, code.inside, surface};
}

// ---- sensors --------------------------------------------------------------------------------------------------------

/// The channel of a solid; kNoChannel where it has none.
[[nodiscard]] RAYLIFT_HD inline ChannelView channel(const OpticsView& optics, std::uint32_t solid) {
  return optics.channels != nullptr ? optics.channels[solid] : ChannelView{kNoChannel, kNone};
}

/// The fraction of the surface's detections that a channel detects, by wavelength and angle of incidence. `type` is
/// ChannelView::type; 1 for channels without a type.
[[nodiscard]] RAYLIFT_HD inline float channel_efficiency(const OpticsView& optics, std::uint32_t type, RasterPlace at,
                                                         float angle) {
  if (type == kNone) return 1;
  const ChannelTypeView& of = optics.channel_types[type];
  const float by_wavelength = interpolate(optics, of.efficiency, at).v[0];
  return of.angle_efficiency.count == 0
             ? by_wavelength
             : arithmetic_detail::product(by_wavelength, evaluate(optics, of.angle_efficiency, angle));
}

/// A random delay of the detection, in ns; 0 where the type has no distribution.
[[nodiscard]] RAYLIFT_HD inline float sample_time(const OpticsView& optics, std::uint32_t type, float random) {
  return type == kNone ? 0 : evaluate(optics, optics.channel_types[type].time, random);
}
/// A random charge, in photoelectrons; 1 where the type has no distribution.
[[nodiscard]] RAYLIFT_HD inline float sample_charge(const OpticsView& optics, std::uint32_t type, float random) {
  return type == kNone || optics.channel_types[type].charge.count == 0
             ? 1
             : evaluate(optics, optics.channel_types[type].charge, random);
}

}  // namespace raylift
