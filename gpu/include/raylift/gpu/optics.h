// SPDX-License-Identifier: Apache-2.0
// A scene's optics, for kernels and host code: what a photon needs of the materials and the surface at a triangle, and
// of the sensors.
//
//   const raylift::Side side = raylift::side(geometry, hit.instance, hit.triangle, hit.from_inside);
//   const float n1 = raylift::medium(geometry.optics, side.material_from, wavelength).refractive_index;
//   const float n2 = raylift::medium(geometry.optics, side.material_to, wavelength).refractive_index;
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

/// The properties of a material in the bulk.
struct Medium {
  float refractive_index;
  float group_velocity;     ///< mm/ns
  float absorption_length;  ///< mm; kNever where the material has none
  float rayleigh_length;    ///< likewise
};

/// A wavelength's place in a table, and the quantities of the table's own rows there.
struct TableLookup {
  /// A wavelength's place among the points of a table: between rows `row` and `row + 1`.
  struct Place {
    std::uint32_t row;
    float part;  ///< share of the way from the nearer of both rows, up to a half; negative (-0 too): from row + 1
  };
  /// A row's four quantities between two points.
  struct Values {
    float v[4];
  };

  Place place;
  Values values;
};

namespace optics_detail {

// Exact at both ends, and where both are equal.
RAYLIFT_HD_INLINE float between(float a, float b, float part) {
  return part >= 1 ? b : a + arithmetic_detail::product(part, b - a);
}

constexpr std::uint32_t kFirstBucketBits = 0x42000000;  // of 32.0F
constexpr int kBucketShift = 16;                        // 7 bits of the mantissa

RAYLIFT_HD_INLINE std::uint32_t bucket_of(float wavelength) {
  constexpr float kFirst = 32, kLast = 4095.99976F;     // the float before 4096
  float w = wavelength > kFirst ? wavelength : kFirst;  // NaN too
  w = w < kLast ? w : kLast;
  return (arithmetic_detail::as_bits(w) - kFirstBucketBits) >> kBucketShift;
}

// How far a wavelength is beyond a point, in nm. The first difference is exact where it is small.
RAYLIFT_HD_INLINE float beyond(const OpticsView::TableRow& row, float wavelength) {
  return (wavelength - row.wavelength) - row.rest;
}

// The row of a table that a wavelength follows: a search among the points of its bucket.
RAYLIFT_HD_INLINE std::uint32_t find_row(const OpticsView& optics, std::uint32_t table, float wavelength) {
  const std::uint32_t* const entry = optics.buckets + (std::size_t{table} * kTableEntries + bucket_of(wavelength));
  std::uint32_t low = entry[0], high = entry[1];
  while (low < high) {
    const std::uint32_t middle = low + (high - low + 1) / 2;
    if (beyond(optics.rows[middle], wavelength) >= 0)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

// Four quantities between two rows.
RAYLIFT_HD_INLINE TableLookup::Values between_rows(const float (&a)[4], const float (&b)[4], float part) {
  const bool back = (arithmetic_detail::as_bits(part) >> 31) != 0;
  const auto value = [&](int i) { return (back ? b[i] : a[i]) + arithmetic_detail::product(part, b[i] - a[i]); };
  return {value(0), value(1), value(2), value(3)};
}

}  // namespace optics_detail

/// Looks a wavelength up in a table.
///
/// Between two points at the wavelengths a < b, a quantity that is linear in energy goes by (w - a) b / ((b - a) w) of
/// the way to the second one, and by (b - w) a / ((b - a) w) back from there. Both are computed from the nearer point:
/// so an edge of many orders of magnitude is exact at its foot too.
[[nodiscard]] RAYLIFT_HD_INLINE TableLookup look_up(const OpticsView& optics, std::uint32_t table, float wavelength) {
  using namespace optics_detail;
  const std::uint32_t row = find_row(optics, table, wavelength);
  // Both rows are read as a whole, before the division, so that a kernel waits for memory once.
  const OpticsView::TableRow a = optics.rows[row], b = optics.rows[row + 1];
  const bool in_energy = a.over_wavelength == 0;
  const float forth = arithmetic_detail::product(beyond(a, wavelength), in_energy ? a.slope + 1 : a.slope);
  const float back = arithmetic_detail::product(-beyond(b, wavelength), a.slope);
  const bool nearer_b = back < forth;
  const float way = nearer_b ? back : forth;
  // 0 beyond the ends, and for NaN.
  const float nearer = way > 0 ? way / (in_energy ? wavelength : 1.0F) : 0;
  const float part = nearer_b ? -nearer : nearer;
  return {{row, part}, between_rows(a.v, b.v, part)};
}

/// The four quantities of a row at a place, `shift` rows after those of the table: linear between the points in energy
/// or wavelength, so that probabilities that sum to 1 at the points do so everywhere; constant beyond the ends.
[[nodiscard]] RAYLIFT_HD_INLINE TableLookup::Values values_at(const OpticsView& optics, TableLookup::Place at,
                                                              std::uint32_t shift = 0) {
  const OpticsView::TableRow* const rows = optics.rows + (at.row + shift);
  return optics_detail::between_rows(rows[0].v, rows[1].v, at.part);
}

/// Whether a wavelength is covered, or beyond by a millionth: the same number in eV and in nm differs by its rounding.
[[nodiscard]] RAYLIFT_HD_INLINE bool covers(MaterialOptics::Coverage coverage, float wavelength) {
  return wavelength >= arithmetic_detail::product(coverage.shortest, 0.999999F) &&
         wavelength <= arithmetic_detail::product(coverage.longest, 1.000001F);
}

/// The quantities of a material's table as the properties of its medium.
[[nodiscard]] RAYLIFT_HD_INLINE Medium medium(const TableLookup& in) {
  return {in.values.v[0], in.values.v[1], in.values.v[2], in.values.v[3]};
}
[[nodiscard]] RAYLIFT_HD_INLINE Medium medium(const OpticsView& optics, std::uint32_t material, float wavelength) {
  return medium(look_up(optics, material, wavelength));
}
/// `at` is the place in the table whose number is the material's.
[[nodiscard]] RAYLIFT_HD_INLINE MaterialOptics::Losses losses(const OpticsView& optics, const MaterialOptics& material,
                                                              TableLookup::Place at) {
  const TableLookup::Values row = values_at(optics, at, material.losses);
  return {row.v[0], {row.v[1], row.v[2]}, row.v[3]};
}

/// Looks a wavelength up in a surface's table: for reflection(), surface_chances(), and their places.
[[nodiscard]] RAYLIFT_HD_INLINE TableLookup look_up(const OpticsView& optics, const SurfaceOptics& surface,
                                                    float wavelength) {
  return look_up(optics, surface.table, wavelength);
}
[[nodiscard]] RAYLIFT_HD_INLINE SurfaceOptics::Reflection reflection(const TableLookup& at) {
  return {at.values.v[0], at.values.v[1], at.values.v[2], at.values.v[3]};
}
[[nodiscard]] RAYLIFT_HD_INLINE SurfaceOptics::Chances surface_chances(const TableLookup& at) {
  return {at.values.v[0], at.values.v[1], at.values.v[2], at.values.v[3]};
}
[[nodiscard]] RAYLIFT_HD_INLINE SurfaceOptics::Lobes surface_lobes(const OpticsView& optics,
                                                                   const SurfaceOptics& surface,
                                                                   TableLookup::Place at) {
  const TableLookup::Values row = values_at(optics, at, surface.rows);
  return {row.v[0], row.v[1], row.v[2]};
}
[[nodiscard]] RAYLIFT_HD_INLINE SurfaceOptics::Indices surface_indices(const OpticsView& optics,
                                                                       const SurfaceOptics& surface,
                                                                       TableLookup::Place at) {
  const TableLookup::Values row = values_at(optics, at, 2 * surface.rows);
  return {row.v[0], row.v[1], row.v[2]};
}

// ---- curves ---------------------------------------------------------------------------------------------------------

namespace optics_detail {

// The points row and row + 1 that x lies between, and how far from the first one.
struct CurvePlace {
  std::uint32_t row;
  float part;
};
// The curve has a point; with one only, both are 0.
RAYLIFT_HD_INLINE CurvePlace curve_place(const Curve::Point* points, std::uint32_t count, float x) {
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
[[nodiscard]] RAYLIFT_HD_INLINE float evaluate(const Curve::Point* points, std::uint32_t count, float x) {
  if (count == 0) return 0;
  const optics_detail::CurvePlace at = optics_detail::curve_place(points, count, x);
  const Curve::Point* const low = points + at.row;
  if (!(at.part > 0)) return low[0].y;
  return optics_detail::between(low[0].y, low[1].y, at.part);
}
[[nodiscard]] RAYLIFT_HD_INLINE float evaluate(const OpticsView& optics, Curve curve, float x) {
  return evaluate(optics.points + curve.first, curve.count, x);
}

/// The wavelength of emitted light for a random number from 0 to 1, in nm, as Geant4 draws it: the cumulative
/// distribution is linear between its points, in what the spectrum was given over. The component has a spectrum.
[[nodiscard]] RAYLIFT_HD_INLINE float sample_emission(const OpticsView& optics, const EmissionComponent& component,
                                                      float random) {
  const float y = evaluate(optics, component.spectrum, random);
  return component.over_energy != 0 ? static_cast<float>(kEvNm) / y : y;
}

/// What a dichroic surface does at an angle of incidence, linear in the angle too; nothing where it has no angles.
[[nodiscard]] RAYLIFT_HD_INLINE SurfaceOptics::Dichroic dichroic(const OpticsView& optics, const SurfaceOptics& surface,
                                                                 float angle, TableLookup::Place at) {
  using namespace optics_detail;
  if (surface.angles.count == 0) return {0, 0};
  const CurvePlace by_angle = curve_place(optics.points + surface.angles.first, surface.angles.count, angle);
  const TableLookup::Values row = values_at(optics, at, (3 + by_angle.row) * surface.rows);
  return {between(row.v[0], row.v[2], by_angle.part), between(row.v[1], row.v[3], by_angle.part)};
}

// ---- which surface --------------------------------------------------------------------------------------------------

namespace optics_detail {

struct BorderBuckets {
  std::uint32_t first, second;
};

// A permutation of 64 bits, so that two pairs never have the same hash.
RAYLIFT_HD_INLINE BorderBuckets border_buckets(std::uint32_t from, std::uint32_t to, std::uint32_t bucket_count) {
  std::uint64_t hash = std::uint64_t{from} << 32 | to;
  hash = (hash ^ (hash >> 32)) * 0x9E3779B97F4A7C15U;
  hash = (hash ^ (hash >> 29)) * 0xBF58476D1CE4E5B9U;
  hash ^= hash >> 32;
  return {static_cast<std::uint32_t>(hash) & (bucket_count - 1),
          static_cast<std::uint32_t>(hash >> 32) & (bucket_count - 1)};
}

// At most two buckets are read (cuckoo hashing).
RAYLIFT_HD_INLINE std::uint16_t border_surface(const OpticsView& optics, std::uint32_t from, std::uint32_t to) {
  if (optics.border_bucket_count == 0) return kNoSurface;
  const BorderBuckets at = border_buckets(from, to, optics.border_bucket_count);
  for (int i = 0; i != 4; ++i) {
    const OpticsView::BorderBucket::Slot slot = optics.borders[i < 2 ? at.first : at.second].slots[i % 2];
    if (slot.from == from && slot.to == to) return static_cast<std::uint16_t>(slot.surface);
  }
  return kNoSurface;
}

}  // namespace optics_detail

/// The surface that a photon meets on its way from the solid `from` into the solid `to`, by Geant4's precedence: see
/// surface_between() of <raylift/geometry/optics/surface_between.h>. Constant cost: mother and daughter by one access,
/// others by up to two more and their skins. kNoSurface where one of them is kNone, or the geometry has no solids.
[[nodiscard]] RAYLIFT_HD_INLINE std::uint16_t surface_between(const GeometryView& geometry, std::uint32_t from,
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
[[nodiscard]] RAYLIFT_HD_INLINE Side side(const GeometryView& geometry, std::uint32_t instance, std::uint32_t triangle,
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
[[nodiscard]] RAYLIFT_HD_INLINE OpticsView::Channel channel(const OpticsView& optics, std::uint32_t solid) {
  return optics.channels != nullptr ? optics.channels[solid] : OpticsView::Channel{kNoChannel, kNone};
}

/// The fraction of the surface's detections that a channel detects, by wavelength and angle of incidence. `type` is
/// OpticsView::Channel::type; 1 for channels without a type.
[[nodiscard]] RAYLIFT_HD_INLINE float channel_efficiency(const OpticsView& optics, std::uint32_t type, float wavelength,
                                                         float angle) {
  if (type == kNone) return 1;
  const OpticsView::ChannelType& of = optics.channel_types[type];
  const float by_wavelength = look_up(optics, of.efficiency, wavelength).values.v[0];
  return of.angle_efficiency.count == 0
             ? by_wavelength
             : arithmetic_detail::product(by_wavelength, evaluate(optics, of.angle_efficiency, angle));
}

/// A random delay of the detection, in ns; 0 where the type has no distribution.
[[nodiscard]] RAYLIFT_HD_INLINE float sample_time(const OpticsView& optics, std::uint32_t type, float random) {
  return type == kNone ? 0 : evaluate(optics, optics.channel_types[type].time, random);
}
/// A random charge, in photoelectrons; 1 where the type has no distribution.
[[nodiscard]] RAYLIFT_HD_INLINE float sample_charge(const OpticsView& optics, std::uint32_t type, float random) {
  return type == kNone || optics.channel_types[type].charge.count == 0
             ? 1
             : evaluate(optics, optics.channel_types[type].charge, random);
}

}  // namespace raylift
