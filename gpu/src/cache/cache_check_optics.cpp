// SPDX-License-Identifier: Apache-2.0
// The checks of optical arrays: no material, surface or channel leads out of the tables and curves.
#include <raylift/geometry/scene/optics.h>
#include <raylift/gpu/optics.h>

#include <bit>
#include <cmath>

#include "base/atomics.h"
#include "cache_check.h"

namespace raylift::detail {
namespace {

using A = ViewArray;

/// What numbers of tables and curves are compared with.
struct Limits {
  OpticalReach* reach;
  std::uint64_t tables, points;

  [[nodiscard]] bool table(std::uint64_t number, std::uint64_t rows = 0) const {
    if (number >= tables) return false;
    reach->note_rows(number, rows);
    return true;
  }
  [[nodiscard]] bool curve(Curve curve) const { return std::uint64_t{curve.first} + curve.count <= points; }
  [[nodiscard]] bool component(const EmissionComponent& of) const { return curve(of.spectrum); }

  [[nodiscard]] bool material(const MaterialOptics& material, std::uint64_t number) const {
    bool right = table(number, material.losses);
    for (const EmissionComponent& of : material.scintillation) right &= component(of);
    for (const EmissionComponent& of : material.shifting) right &= component(of);
    return right;
  }
  [[nodiscard]] bool surface(const SurfaceOptics& surface) const {
    // Rows for each interval of angles, and for a single angle.
    const std::uint64_t intervals = surface.angles.count < 2 ? surface.angles.count : surface.angles.count - 1;
    return surface.model <= SurfaceModel::wavelength_shifting && surface.type <= SurfaceType::coated &&
           table(surface.table, (2 + intervals) * surface.rows) && curve(surface.angles) &&
           component(surface.reemission);
  }
  [[nodiscard]] bool channel_type(const OpticsView::ChannelType& type) const {
    return table(type.efficiency) && curve(type.angle_efficiency) && curve(type.time) && curve(type.charge);
  }
};

/// An empty slot, or one that is looked at for its pair.
bool is_slot(const OpticsView::BorderBucket::Slot& slot, std::uint64_t bucket, const ArrayCounts& counts) {
  if (slot.from == kNone && slot.to == kNone) return true;
  const auto at =
      optics_detail::border_buckets(slot.from, slot.to, static_cast<std::uint32_t>(counts[A::border_surfaces]));
  return slot.from < counts[A::solids] && slot.to < counts[A::solids] && slot.surface < counts[A::optical_surfaces] &&
         (at.first == bucket || at.second == bucket);
}

}  // namespace

OpticalReach::OpticalReach(std::uint64_t tables) : last_(tables), rows_(tables) {}

void OpticalReach::note_entry(std::uint64_t table, std::uint32_t row) {
  base::atomic_max(last_[table], row);
}

void OpticalReach::note_rows(std::uint64_t table, std::uint64_t rows) {
  base::atomic_max(rows_[table], rows);
}

bool OpticalReach::within(std::uint64_t rows) const {
  for (std::size_t i = 0; i != last_.size(); ++i)
    if (rows_[i] >= rows || std::uint64_t{last_[i]} + 1 + rows_[i] >= rows) return false;
  return true;
}

void check_optical_sizes(const ArrayCounts& counts,
                         const std::function<void(ViewArray array, const std::string& what)>& fail) {
  if (counts[A::optical_materials] != counts[A::material_colors])
    fail(A::optical_materials, "it has not as many elements as 'material_colors'");
  if (counts[A::optical_buckets] % kTableEntries != 0)
    fail(A::optical_buckets, "its entries are not those of whole tables");
  if (counts[A::optical_buckets] / kTableEntries < counts[A::optical_materials])
    fail(A::optical_buckets, "it has no table for each material");
  if (counts[A::optical_surfaces] > kNoSurface) fail(A::optical_surfaces, "it has too many elements");
  if (const std::uint64_t buckets = counts[A::border_surfaces]; buckets != 0 && !std::has_single_bit(buckets))
    fail(A::border_surfaces, "its elements are not a power of two");
  if (const std::uint64_t channels = counts[A::channels]; channels != 0 && channels != counts[A::solids])
    fail(A::channels, "it has not as many elements as 'solids'");
}

std::unique_ptr<ArrayCheck> make_optics_check(ViewArray array, const ArrayCounts& counts, OpticalReach& reach,
                                              const ArrayCheck::Fail& fail) {
  const Limits limits{&reach, counts[A::optical_buckets] / kTableEntries, counts[A::optical_points]};
  const auto each = [&]<class T, class Look>(const T*, const char* wrong, Look look) -> std::unique_ptr<ArrayCheck> {
    return std::make_unique<EachCheck<T, Look>>(counts[array], fail, wrong, std::move(look));
  };
  constexpr const char* kTooLarge = "a number is too large";
  switch (array) {
    case A::optical_rows:
      return each(static_cast<const OpticsView::TableRow*>(nullptr), "a value is not finite",
                  [](const OpticsView::TableRow& row, std::uint64_t) {
                    return std::isfinite(row.wavelength) && std::isfinite(row.rest) && std::isfinite(row.slope) &&
                           row.over_wavelength <= 1 && std::isfinite(row.v[0]) && std::isfinite(row.v[1]) &&
                           std::isfinite(row.v[2]) && std::isfinite(row.v[3]);
                  });
    case A::optical_buckets:
      return each(static_cast<const std::uint32_t*>(nullptr), kTooLarge, [&reach](std::uint32_t row, std::uint64_t i) {
        reach.note_entry(i / kTableEntries, row);
        return true;
      });
    case A::optical_points:
      return each(static_cast<const Curve::Point*>(nullptr), "a value is not finite",
                  [](Curve::Point point, std::uint64_t) { return std::isfinite(point.x) && std::isfinite(point.y); });
    case A::optical_materials:
      return each(static_cast<const MaterialOptics*>(nullptr), kTooLarge,
                  [limits](const MaterialOptics& one, std::uint64_t i) { return limits.material(one, i); });
    case A::optical_surfaces:
      return each(static_cast<const SurfaceOptics*>(nullptr), kTooLarge,
                  [limits](const SurfaceOptics& one, std::uint64_t) { return limits.surface(one); });
    case A::border_surfaces:
      return each(static_cast<const OpticsView::BorderBucket*>(nullptr), "a pair of solids is out of range or place",
                  [counts](const OpticsView::BorderBucket& one, std::uint64_t i) {
                    return is_slot(one.slots[0], i, counts) && is_slot(one.slots[1], i, counts);
                  });
    case A::channels:
      return each(static_cast<const OpticsView::Channel*>(nullptr), kTooLarge,
                  [types = counts[A::channel_types]](OpticsView::Channel one, std::uint64_t) {
                    return one.type < types || one.type == kNone;
                  });
    default:
      return each(static_cast<const OpticsView::ChannelType*>(nullptr), kTooLarge,
                  [limits](const OpticsView::ChannelType& one, std::uint64_t) { return limits.channel_type(one); });
  }
}

}  // namespace raylift::detail
