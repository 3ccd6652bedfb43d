// SPDX-License-Identifier: Apache-2.0
// The results of photons that have ended: rows in Opticks's layout, histories, and
// counts. For kernels and host code.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/photon/follow.h>

#if !defined(__CUDACC_RTC__)
#include <string_view>
#include <vector>
#endif

namespace raylift::photon {

inline constexpr std::size_t kStepKinds = 16;  ///< as many as 4 bits of a history can name

#if !defined(__CUDACC_RTC__)
/// The kind's name as it stands in reports: "absorbed_at_surface".
[[nodiscard]] std::string_view to_string(StepKind kind) noexcept;
#endif

/// Opticks's flags (sysrap/OpticksPhoton.h).
namespace opticks {
inline constexpr std::uint32_t kCerenkov = flag_of(BirthKind::cerenkov);
inline constexpr std::uint32_t kScintillation = flag_of(BirthKind::scintillation);
inline constexpr std::uint32_t kMiss = 1U << 2;
inline constexpr std::uint32_t kBulkAbsorb = 1U << 3;
inline constexpr std::uint32_t kBulkReemit = 1U << 4;
inline constexpr std::uint32_t kBulkScatter = 1U << 5;
inline constexpr std::uint32_t kSurfaceDetect = 1U << 6;
inline constexpr std::uint32_t kSurfaceAbsorb = 1U << 7;
inline constexpr std::uint32_t kBoundaryReflect = 1U << 10;
inline constexpr std::uint32_t kBoundaryTransmit = 1U << 11;
inline constexpr std::uint32_t kTorch = flag_of(BirthKind::torch);
inline constexpr std::uint32_t kNanAbort = 1U << 13;
inline constexpr std::uint32_t kEfficiencyCull = 1U << 14;  ///< here: cut
}  // namespace opticks

/// The number of the kind's flag: Opticks's flag is 1 << (number - 1), and its histories have the number, in 4 bits. 0
/// for StepKind::none. Kinds that Opticks does not distinguish share a number: Rayleigh and Mie, re-emitted and
/// shifted, and reflections of any kind; no_index and inconsistent are NAN_ABORT. Opticks has no flag for a photon that
/// is cut: it gets EFFICIENCY_CULL, which is otherwise unused.
[[nodiscard]] RAYLIFT_HD constexpr std::uint32_t opticks_number(StepKind kind) {
  // From the lowest bits on: none, rayleigh, mie, reemitted, shifted, transmitted, reflected, absorbed,
  // absorbed_at_surface, detected, escaped, no_index, inconsistent, cut.
  return static_cast<std::uint32_t>(0x00FEE3784BC55660ULL >> (4 * static_cast<unsigned>(kind))) & 15U;
}
[[nodiscard]] RAYLIFT_HD constexpr std::uint32_t opticks_flag(StepKind kind) {
  return (1U << opticks_number(kind)) >> 1;
}
/// How a photon was emitted.
[[nodiscard]] RAYLIFT_HD_INLINE BirthKind birth_kind(const Outcome& outcome) {
  return (outcome.kinds & kBornCerenkov) != 0        ? BirthKind::cerenkov
         : (outcome.kinds & kBornScintillation) != 0 ? BirthKind::scintillation
                                                     : BirthKind::torch;
}

/// A photon at its end, as a row of Opticks's photons and hits, (N, 4, 4) of float32; integer words keep their bits.
struct alignas(16) PhotonRow {
  Float3 position;  ///< mm, in the scene's coordinates
  float time;       ///< ns
  Float3 direction;
  std::uint32_t solid;  ///< that it met, or was in; Opticks: iindex
  Float3 polarization;
  float wavelength;       ///< nm
  std::uint16_t flag;     ///< Opticks's, of its end
  std::uint16_t surface;  ///< that it met, or kNoSurface; Opticks: boundary
  std::uint32_t sensor;   ///< channel + 1; 0: none; Opticks: identity
  std::uint32_t number;   ///< of the photon, its lowest 32 bits; Opticks: idx
  std::uint32_t flags;    ///< Opticks's, of its birth and all of its steps together
};
static_assert(sizeof(PhotonRow) == 64);

/// A photon's first 32 events, 4 bits each from the lowest on: its birth, and then its steps, by opticks_number(). A
/// row of Opticks's seq, (N, 2, 2) of uint64, of which the second half is for boundaries: here 0.
struct Sequence {
  std::uint64_t events[2];
  std::uint64_t boundaries[2];
};
inline constexpr std::uint32_t kSequenceEvents = 32;

/// The solid that a photon met at its end, or was in: the sensor, where it was detected.
[[nodiscard]] RAYLIFT_HD_INLINE std::uint32_t solid_met(const OpticsView& optics, const StepEnd& last) {
  if (last.channel != kNoChannel) return channel(optics, last.to).number == last.channel ? last.to : last.from;
  return last.to != kNoSolid ? last.to : last.from;
}

[[nodiscard]] RAYLIFT_HD_INLINE PhotonRow photon_row(const GeometryView& geometry, const Outcome& outcome,
                                                     std::uint64_t number) {
  const Photon& photon = outcome.photon;
  const Double3 at = geometry.to_scene(photon.position);
  std::uint32_t flags = flag_of(birth_kind(outcome));
  for (unsigned kind = 1; kind != kStepKinds; ++kind)
    if ((outcome.kinds >> kind & 1U) != 0) flags |= opticks_flag(static_cast<StepKind>(kind));
  const StepEnd& last = outcome.last;
  return {{static_cast<float>(at.x), static_cast<float>(at.y), static_cast<float>(at.z)},
          photon.time,
          photon.direction,
          solid_met(geometry.optics, last),
          photon.polarization,
          photon.wavelength,
          static_cast<std::uint16_t>(opticks_flag(last.kind)),
          last.surface,
          static_cast<std::uint32_t>(last.channel + 1),
          static_cast<std::uint32_t>(number),
          flags};
}

/// Counts of photons by their ends.
struct Tally {
  /// The layout of all counts of photons in one array, with which a device counts and a run is resumed.
  struct Layout {
    std::uint32_t materials = 0;  ///< of the scene; one row more is for none
    std::uint32_t surfaces = 0;   ///< likewise
    std::uint32_t channels = 0;
    std::uint32_t time_bins = 0;  ///< for each channel
    float time_from = 0;          ///< ns; the first bin has what comes before too
    float time_to = 0;            ///< ns; the last bin has what comes after too

    [[nodiscard]] static RAYLIFT_HD std::size_t birth(BirthKind kind) {
      return kind == BirthKind::torch ? 3 : static_cast<std::size_t>(kind);
    }
    [[nodiscard]] RAYLIFT_HD std::size_t material(std::uint32_t material, std::uint32_t kind) const {
      return 4 + std::size_t{material < materials ? material : materials} * kStepKinds + kind;
    }
    [[nodiscard]] RAYLIFT_HD std::size_t surface(std::uint32_t surface, std::uint32_t kind) const {
      return material(materials, kStepKinds) + std::size_t{surface < surfaces ? surface : surfaces} * kStepKinds + kind;
    }
    [[nodiscard]] RAYLIFT_HD std::size_t channel(std::uint32_t channel) const {
      return surface(surfaces, kStepKinds) + channel;
    }
    [[nodiscard]] RAYLIFT_HD std::size_t time(std::uint32_t channel_, float time) const {
      const float place = (time - time_from) / (time_to - time_from) * static_cast<float>(time_bins);
      const auto last = static_cast<float>(time_bins - 1);
      const float bin = place > 0 ? (place < last ? place : last) : 0;
      return channel(channels) + std::size_t{channel_} * time_bins + static_cast<std::uint32_t>(bin);
    }
    /// The place of a number of steps, by material and BulkProperty: see Run::end_values.
    [[nodiscard]] RAYLIFT_HD std::size_t end_value(std::uint32_t material, std::size_t property) const {
      return channel(channels) + std::size_t{channels} * time_bins + std::size_t{material} * kBulkProperties + property;
    }
    [[nodiscard]] RAYLIFT_HD std::size_t size() const { return end_value(materials, 0); }
  };

#if !defined(__CUDACC_RTC__)
  Layout layout;
  std::vector<std::int32_t> channels;  ///< the numbers of the scene's channels, ascending
  std::vector<std::uint64_t> counts;   ///< in the layout's order

  [[nodiscard]] std::uint64_t photons() const;
  [[nodiscard]] std::uint64_t steps() const {
    return counts.front();
  }
  [[nodiscard]] std::uint64_t of(StepKind kind) const;
  [[nodiscard]] std::uint64_t born(BirthKind kind) const {
    return counts[Layout::birth(kind)];
  }
  /// Counts of the photons that came through a material of the scene, or through none: layout.materials.
  [[nodiscard]] std::uint64_t in_material(std::uint32_t material, StepKind kind) const {
    return counts[layout.material(material, static_cast<std::uint32_t>(kind))];
  }
  /// Counts of the photons that ended at a surface of the scene, or at none: layout.surfaces.
  [[nodiscard]] std::uint64_t at_surface(std::uint32_t surface, StepKind kind) const {
    return counts[layout.surface(surface, static_cast<std::uint32_t>(kind))];
  }
  /// Detected, by the index of a channel in `channels`.
  [[nodiscard]] std::uint64_t in_channel(std::size_t index) const {
    return counts[layout.channel(0) + index];
  }
  /// Steps of photons through a material at a wavelength that a property's table does not cover.
  [[nodiscard]] std::uint64_t end_values(std::uint32_t material, BulkProperty property) const {
    return counts[layout.end_value(material, static_cast<std::size_t>(property))];
  }
  /// Adds the counts of the same scene and layout.
  void add(const Tally& more);
#endif
};

}  // namespace raylift::photon
