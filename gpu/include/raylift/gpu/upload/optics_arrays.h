// SPDX-License-Identifier: Apache-2.0
// Converts a scene's optics to the arrays that kernels read. upload() does this
// itself; call it to get the same numbers on the host.
#pragma once

#include <raylift/geometry/scene/scene.h>
#include <raylift/geometry/scene/solids.h>
#include <raylift/gpu/view.h>

#include <string_view>
#include <vector>

namespace raylift {

/// The arrays of an OpticsView. All are empty for a scene without optics.
struct OpticsArrays {
  std::vector<OpticsView::TableRow> rows;
  std::vector<std::uint32_t> buckets;
  std::vector<MaterialOptics> materials;
  std::vector<SurfaceOptics> surfaces;
  std::vector<Curve::Point> points;
  std::vector<OpticsView::BorderBucket> borders;
  std::vector<OpticsView::Channel> channels;
  std::vector<OpticsView::ChannelType> channel_types;
  Raster raster = kOwnPoints;

  /// For host code; valid as long as this lives and does not change.
  [[nodiscard]] OpticsView view() const;
};

/// Converts all tables, in double. Without a raster they keep their own points, linear in energy or in wavelength as
/// OpticalTable has them; with one they are sampled at its wavelengths. `tree` is solid_tree(scene). Errors: usage (a
/// raster that is not valid(), optics that do not fit their scene), limit (more than 65535 surfaces, 2^32 table rows or
/// curve points, 2^26 rows of one material or surface, or a channel number that is negative or needs more than 31
/// bits).
[[nodiscard]] OpticsArrays optics_arrays(const Scene& scene, const SolidTree& tree, const Raster& raster = kOwnPoints);

/// The tree of solids as kernels see it, with the surfaces between mothers and daughters. For a scene that
/// optics_arrays() takes. Errors: limit (more than 65535 surfaces).
[[nodiscard]] std::vector<SolidView> solid_views(const Scene& scene, const SolidTree& tree);

/// The property's key: "ABSLENGTH".
[[nodiscard]] std::string_view name_of(BulkProperty property);

/// Whether a raster is kOwnPoints, or has from 2 to 65536 wavelengths, positive, ascending and finite.
[[nodiscard]] bool valid(const Raster& raster);

}  // namespace raylift
