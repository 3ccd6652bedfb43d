// SPDX-License-Identifier: Apache-2.0
// What kernels see of a scene's optics: plain values, and the arrays that hold them. <raylift/gpu/optics.h> has the
// functions that read them; docs/optics.md, "On the device", says what each table has where a file gives nothing.
//
// Lengths are in mm, times in ns, wavelengths in nm, energies in eV, angles in radians.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/geometry/index.h>
#include <raylift/geometry/scene/optics_codes.h>
#include <raylift/geometry/vector_types.h>

namespace raylift {

/// No surface: only the two refractive indices matter.
inline constexpr std::uint16_t kNoSurface = 0xFFFF;
/// A solid that is no channel.
inline constexpr std::int32_t kNoChannel = -1;
/// Stands for "never" in tables of lengths.
inline constexpr float kNever = 1e30F;

/// Equally spaced wavelengths in nm, at which tables are sampled. No wavelengths: tables keep their own points.
struct Raster {
  float start;
  float step;
  std::uint32_t count;
  /// The longest wavelength.
  [[nodiscard]] RAYLIFT_HD float last() const { return start + step * static_cast<float>(count - 1); }
  RAYLIFT_HD friend bool operator==(const Raster&, const Raster&) = default;
};
inline constexpr Raster kOwnPoints{0, 0, 0};
/// Chroma's: 60 to 995 nm.
inline constexpr Raster kChromaRaster{60, 5, 188};

/// A table's buckets divide the wavelengths from 32 to 4096 nm, 128 in each octave; the first and the last one have
/// what lies beyond.
inline constexpr std::uint32_t kTableBuckets = 7 * 128;
/// Entries of each table in OpticsView::buckets: for each bucket the last row at or below its first wavelength (the
/// table's first row where there is none), and then the row before the table's last one.
inline constexpr std::uint32_t kTableEntries = kTableBuckets + 1;

/// The properties of a material in the bulk that are tables.
enum class BulkProperty : std::uint8_t {
  index,
  velocity,
  absorption,
  rayleigh,
  mie,
  shifting,
  shifting2,
  reemission,
};
inline constexpr std::size_t kBulkProperties = 8;

/// Where a curve lies in OpticsView::points.
struct alignas(8) Curve {
  /// A point of it; x ascends.
  struct alignas(8) Point {
    float x, y;
  };

  std::uint32_t first;
  std::uint32_t count;  ///< 0: there is none
};

/// The spectrum and the time of emitted light.
struct EmissionComponent {
  Curve spectrum;             ///< the cumulative distribution over energy or wavelength
  std::uint32_t over_energy;  ///< 1: the spectrum's y is in eV; 0: in nm
  float amount;               ///< scintillation: its share of the photons; shifting: their mean number, or -1: one
  float time_constant;        ///< 0: at once
  float rise_time;            ///< 0: none
  std::uint32_t reserved[2];
};

/// Bits of MaterialOptics::flags: which properties the material has.
namespace material_flags {
inline constexpr std::uint32_t kIndex = 1;  ///< RINDEX; without it, Geant4 kills photons that enter
inline constexpr std::uint32_t kMie = 2;
inline constexpr std::uint32_t kReemits = 4;
inline constexpr std::uint32_t kShifts = 8;
inline constexpr std::uint32_t kScintillates = 16;
}  // namespace material_flags

/// A material, beyond what medium() gives.
struct alignas(16) MaterialOptics {
  /// Wavelengths in nm that a property's own points cover, both ends included.
  struct alignas(8) Coverage {
    float shortest, longest;
  };
  /// Its further processes than those of Medium, where `flags` has them.
  struct Losses {
    float mie_length;     ///< mm, or kNever
    float wls_length[2];  ///< of absorption by `shifting`, likewise
    float reemission;     ///< probability that an absorbed photon is re-emitted
  };

  std::uint32_t flags;   ///< material_flags
  std::uint32_t losses;  ///< offset in rows from a row of the material's table to the row with the Mie length, both
                         ///< lengths of wavelength shifting and the re-emission probability
  Coverage covered;      ///< by all of its tables; where it has none, from 0 to kNever
  float mie_forward, mie_backward;  ///< asymmetry of the two parts of Henyey and Greenstein's distribution
  float mie_forward_ratio;          ///< share of the forward part
  float scintillation_yield;        ///< photons per MeV
  float resolution_scale;           ///< of the fluctuation of their number
  std::uint32_t reserved[3];
  EmissionComponent scintillation[3];  ///< the first one's spectrum and time are those of re-emission too
  EmissionComponent shifting[2];
  Coverage covered_by[kBulkProperties];  ///< by BulkProperty; likewise where there is no table, or it is derived
};
static_assert(sizeof(MaterialOptics) == 272);

/// Bits of SurfaceOptics::flags: which properties the surface has.
namespace surface_flags {
inline constexpr std::uint8_t kReflectivity = 1;   ///< REFLECTIVITY
inline constexpr std::uint8_t kTransmittance = 2;  ///< TRANSMITTANCE
inline constexpr std::uint8_t kComplexIndex = 4;   ///< FILM_RINDEX; or REALRINDEX, IMAGINARYRINDEX and no REFLECTIVITY
inline constexpr std::uint8_t kGapIndex = 8;       ///< RINDEX, of the gap before the paint
inline constexpr std::uint8_t kDetects = 16;       ///< EFFICIENCY or DETECT
}  // namespace surface_flags

/// An optical surface.
struct alignas(16) SurfaceOptics {
  /// The chances at a surface of Geant4's models.
  struct Reflection {
    float reflectivity, efficiency, transmittance;
    float gap_index;  ///< of refraction, between a surface and its paint; 0: none
  };
  /// The chances at a surface of Chroma's models; the rest is transmitted.
  struct Chances {
    float detect, absorb, reflect_diffuse, reflect_specular;
  };
  /// Shares of reflection; the rest is Lambertian.
  struct Lobes {
    float specular_lobe, specular_spike, backscatter;
  };
  /// The complex index of a metal or a film, 0 if there is none, and a shifting surface's probability of re-emission.
  struct Indices {
    float n, k, reemission;
  };
  /// The chances at a dichroic filter.
  struct Dichroic {
    float reflect, transmit;
  };

  SurfaceModel model;
  SurfaceFinish finish;
  SurfaceType type;
  std::uint8_t flags;   ///< surface_flags
  float value;          ///< glisur: polish; unified: sigma_alpha
  std::uint32_t table;  ///< whose rows have Reflection, or Chances under Chroma's models
  std::uint32_t rows;   ///< of that table. Its further blocks follow, of as many rows each: Lobes; n and k of the metal
                        ///< or film and the probability of re-emission; for each interval of angles of a dichroic
                        ///< filter, R and T at both of its ends
  float film_thickness;
  float roughness;  ///< SURFACEROUGHNESS
  Curve angles;     ///< of the dichroic filter; x is the angle of incidence
  std::uint32_t reserved[4];
  EmissionComponent reemission;
};
static_assert(sizeof(SurfaceOptics) == 80);

/// All of it. Null where a scene has no optics. Table number t has its entries at buckets[t * kTableEntries] and after;
/// its first row is the first of these, its last row the one after the last of these. The first tables are those of the
/// materials, in their order: index, group velocity, lengths of absorption and of Rayleigh scattering.
struct OpticsView {
  /// Four quantities at one point of a table, and their slope towards the next point. Points ascend in wavelength. The
  /// slope of a table's last point is not read.
  struct alignas(16) TableRow {
    float wavelength;               ///< nm, rounded
    float rest;                     ///< nm: the exact wavelength is wavelength + rest
    float slope;                    ///< see look_up(): linear in energy this / (next - this), by their
                                    ///< wavelengths; linear in wavelength 1 / (next - this)
    std::uint32_t over_wavelength;  ///< 1: values are linear in wavelength; 0: in energy
    float v[4];
  };
  /// Surfaces of ordered pairs of solids. A pair is in one of the two buckets that border_buckets() returns for it.
  struct alignas(32) BorderBucket {
    /// In an empty one, both solids are kNone.
    struct alignas(16) Slot {
      std::uint32_t from, to;
      std::uint32_t surface;
      std::uint32_t reserved;
    };
    Slot slots[2];
  };
  /// The channel of a solid.
  struct alignas(8) Channel {
    std::int32_t number;  ///< or kNoChannel
    std::uint32_t type;   ///< index in OpticsView::channel_types, or kNone
  };
  /// Properties shared by the channels of one type.
  struct ChannelType {
    std::uint32_t efficiency;  ///< table: by wavelength, in the first column of its rows
    std::uint32_t reserved;
    Curve angle_efficiency;  ///< x: angle of incidence; no curve: 1
    Curve time;              ///< x: cumulative probability, y: ns after the arrival
    Curve charge;            ///< likewise, photoelectrons
  };

  const TableRow* rows;
  const std::uint32_t* buckets;     ///< rows, by table and bucket
  const MaterialOptics* materials;  ///< GeometryView::material_count
  const SurfaceOptics* surfaces;    ///< surface_count
  const Curve::Point* points;
  const BorderBucket* borders;       ///< between solids that are not mother and daughter; null: there are none
  const Channel* channels;           ///< by solid; null: there are none
  const ChannelType* channel_types;  ///< channel_type_count
  std::uint32_t surface_count;
  std::uint32_t border_bucket_count;  ///< a power of two, or 0
  std::uint32_t channel_type_count;
  Raster raster;  ///< that tables were sampled at, or kOwnPoints
};
static_assert(sizeof(OpticsView::TableRow) == 32);
static_assert(std::is_trivially_copyable_v<OpticsView> && std::is_standard_layout_v<OpticsView>);

}  // namespace raylift
