// SPDX-License-Identifier: Apache-2.0
#include "photon_choice.h"

#include <algorithm>
#include <limits>

namespace raylift::viewer {
namespace {

using photon::PhotonRow;

/// A filter that is ready to ask.
class Filter {
 public:
  explicit Filter(const PhotonFilter& filter) : filter_(filter), pattern_(filter.history) {}

  [[nodiscard]] bool asks_for_history() const { return !pattern_.matches_all(); }
  [[nodiscard]] bool has(const photon::History& history) const { return pattern_.matches(history); }
  /// Of a photon, by its last row.
  [[nodiscard]] bool has_channel(const PhotonRow& end) const {
    return !filter_.channel || (end.sensor != 0 && filter_.channel->has(static_cast<std::int32_t>(end.sensor - 1)));
  }
  [[nodiscard]] bool has_wavelength(const PhotonRow& row) const {
    return !filter_.wavelength || filter_.wavelength->has(row.wavelength);
  }

 private:
  const PhotonFilter& filter_;
  photon::HistoryPattern pattern_;
};

std::vector<std::uint32_t> materials_of_solids(const Scene& scene) {
  std::vector<std::uint32_t> materials;
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i) materials.push_back(material_of(scene, i));
  return materials;
}

}  // namespace

std::uint32_t material_of(const Scene& scene, std::uint32_t solid) {
  const auto none = static_cast<std::uint32_t>(scene.materials.size());
  if (solid >= scene.instances.size()) return none;
  const Instance& instance = scene.instances[solid];
  if (scene.meshes[instance.mesh].parts.empty()) return none;
  return std::min(scene.material(instance, 0), none);
}

PhotonChoice choose_photons(const PhotonSet& set, const Scene& scene, const PhotonFilter& wanted) {
  const Filter filter(wanted);
  const std::vector<std::uint32_t> materials = materials_of_solids(scene);
  const auto none = static_cast<std::uint32_t>(scene.materials.size());
  const auto drawn = [&](std::size_t row, std::uint32_t solid) {
    return DrawnRow{static_cast<std::uint32_t>(row), solid < materials.size() ? materials[solid] : none};
  };
  PhotonChoice choice;
  for (std::size_t i = 0; i != set.paths(); ++i) {
    const std::span<const PhotonRow> path = set.path(i);
    if (path.empty() || !filter.has_channel(path.back())) continue;
    if (filter.asks_for_history() && !filter.has(history_of(path))) continue;
    const std::size_t before = choice.steps.size();
    for (std::size_t row = set.first[i]; row + 1 < set.first[i + 1]; ++row)
      if (filter.has_wavelength(set.rows[row])) choice.steps.push_back(drawn(row, set.media[row]));
    choice.paths += choice.steps.size() != before ? 1 : 0;
  }
  for (std::size_t i = 0; i != set.points.size(); ++i) {
    const PhotonRow& point = set.points[i];
    if (!filter.has_channel(point) || !filter.has_wavelength(point)) continue;
    if (filter.asks_for_history()) {
      if (set.histories.empty()) {
        ++choice.without_history;
        continue;
      }
      if (!filter.has(set.histories[i])) continue;
    }
    choice.points.push_back(drawn(i, point.solid));
  }
  return choice;
}

std::vector<DrawnRow> steps_of(const PhotonSet& set, const Scene& scene, std::size_t path) {
  std::vector<DrawnRow> steps;
  for (std::uint32_t row = set.first[path]; row + 1 < set.first[path + 1]; ++row)
    steps.push_back({row, material_of(scene, set.media[row])});
  return steps;
}

SolidHits count_hits(const PhotonSet& set, const PhotonChoice& choice, std::size_t solids,
                     std::optional<double> until) {
  SolidHits hits;
  hits.counts.resize(solids);
  hits.first_times.resize(solids, std::numeric_limits<float>::infinity());
  const auto add = [&](const PhotonRow& row) {
    if (row.flag != photon::opticks::kSurfaceDetect || row.solid >= solids) return;
    if (until && static_cast<double>(row.time) > *until) return;
    hits.most = std::max(hits.most, ++hits.counts[row.solid]);
    hits.first_times[row.solid] = std::min(hits.first_times[row.solid], row.time);
  };
  if (!set.points.empty()) {
    for (const DrawnRow& point : choice.points) add(set.points[point.row]);
  } else {
    for (const DrawnRow& step : choice.steps) add(set.rows[step.row + 1]);
  }
  for (const float time : hits.first_times)
    if (time != std::numeric_limits<float>::infinity()) hits.times.add(time);
  return hits;
}

}  // namespace raylift::viewer
