// SPDX-License-Identifier: Apache-2.0
// Which steps and points of photons are drawn, and their facts about the solids that detected them. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "light/photon_set.h"
#include "model/settings/photon_settings.h"

namespace raylift::viewer {

/// What is drawn of a row: a step from it to the next row, or a point. Shaders read it so.
struct DrawnRow {
  std::uint32_t row;
  std::uint32_t material;  ///< that light goes through, an index in Scene::materials, or their number for none
  friend bool operator==(const DrawnRow&, const DrawnRow&) = default;
};

/// The order is such that the first of them are evenly spread over all.
struct PhotonChoice {
  std::vector<DrawnRow> steps;           ///< rows of PhotonSet::rows
  std::vector<std::uint32_t> path_ends;  ///< of each path, how many steps it and those before it have
  std::vector<DrawnRow> points;          ///< rows of PhotonSet::points
  std::uint64_t paths = 0;               ///< that have any step drawn
  /// Points that were left out because the filter is a pattern of histories, and theirs are unknown.
  std::uint64_t without_history = 0;
};

/// Throws Error(usage) for a pattern that can't be read.
[[nodiscard]] PhotonChoice choose_photons(const PhotonSet& set, const Scene& scene, const PhotonFilter& filter);
/// All steps of one path.
[[nodiscard]] std::vector<DrawnRow> steps_of(const PhotonSet& set, const Scene& scene, std::size_t path);

/// The material of a solid: an index in Scene::materials; their number for none.
[[nodiscard]] std::uint32_t material_of(const Scene& scene, std::uint32_t solid);

/// The part of all times that a scale of time spans by itself.
inline constexpr double kUsual = 0.98;

/// The hits of chosen photons in each solid.
struct SolidHits {
  std::vector<std::uint32_t> counts;  ///< of photons that it detected
  std::vector<float> first_times;     ///< ns; infinite where there is none
  /// At all times, so that a scale doesn't change while light plays.
  std::uint32_t most = 0;  ///< photons of a solid
  ValueRange times;        ///< of the sensors' first hits
  double usual_time = 0;   ///< by which kUsual of them are hit
};
/// The solid whose hits each solid shows. A solid that encloses a single sensor shows that sensor's hits, such as
/// the glass around a photocathode; all others show their own.
[[nodiscard]] std::vector<std::uint32_t> sensors_of_solids(const Scene& scene);
/// Counts the hits of the points, or where there are none of the paths' ends; with `until`, of those that ended by
/// then, ns. `sensors` is sensors_of_solids().
[[nodiscard]] SolidHits count_hits(const PhotonSet& set, const PhotonChoice& choice,
                                   std::span<const std::uint32_t> sensors, std::optional<double> until);

}  // namespace raylift::viewer
