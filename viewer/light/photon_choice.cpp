// SPDX-License-Identifier: Apache-2.0
#include "light/photon_choice.h"

#include <raylift/geometry/scene/solids.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace raylift::viewer {
namespace {

using photon::PhotonRow;

/// A filter with its pattern parsed.
class Filter {
 public:
  explicit Filter(const PhotonFilter& filter) : filter_(filter), pattern_(filter.history) {}

  [[nodiscard]] bool asks_for_history() const { return !pattern_.matches_all(); }
  [[nodiscard]] bool has(const photon::History& history) const { return pattern_.matches(history); }
  /// Whether a photon whose last row this is has the channel.
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

/// Calls take(i) for each number below `count`, in steps by the golden ratio: any first part of the calls is evenly
/// spread over all numbers.
template <class Take>
void for_each_spread(std::size_t count, const Take& take) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  auto step = std::max<std::size_t>(1, static_cast<std::size_t>(kGoldenRatio * static_cast<double>(count)));
  while (std::gcd(step, count) > 1) ++step;
  for (std::size_t n = 0, i = 0; n != count; ++n, i = (i + step) % count) take(i);
}

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
  for_each_spread(set.paths(), [&](std::size_t i) {
    const std::span<const PhotonRow> path = set.path(i);
    if (path.empty() || !filter.has_channel(path.back())) return;
    if (filter.asks_for_history() && !filter.has(history_of(path))) return;
    const std::size_t before = choice.steps.size();
    for (std::size_t row = set.first[i]; row + 1 < set.first[i] + path.size(); ++row)
      if (filter.has_wavelength(set.rows[row])) choice.steps.push_back(drawn(row, set.media[row]));
    if (choice.steps.size() == before) return;
    ++choice.paths;
    choice.path_ends.push_back(static_cast<std::uint32_t>(choice.steps.size()));
  });
  for_each_spread(set.points.size(), [&](std::size_t i) {
    const PhotonRow& point = set.points[i];
    if (!filter.has_channel(point) || !filter.has_wavelength(point)) return;
    if (filter.asks_for_history()) {
      if (set.histories.empty()) {
        ++choice.without_history;
        return;
      }
      if (!filter.has(set.histories[i])) return;
    }
    choice.points.push_back(drawn(i, point.solid));
  });
  return choice;
}

std::vector<DrawnRow> steps_of(const PhotonSet& set, const Scene& scene, std::size_t path) {
  std::vector<DrawnRow> steps;
  for (std::size_t i = 0; i + 1 < set.path(path).size(); ++i) {
    const auto row = static_cast<std::uint32_t>(set.first[path] + i);
    steps.push_back({row, material_of(scene, set.media[row])});
  }
  return steps;
}

std::vector<std::uint32_t> sensors_of_solids(const Scene& scene) {
  std::vector<std::uint32_t> shown(scene.instances.size());
  std::iota(shown.begin(), shown.end(), 0U);
  if (scene.optics.channels.empty()) return shown;
  const raylift::SolidTree tree = solid_tree(scene);
  std::vector<std::uint32_t> below(shown.size(), 0);  // sensors in a solid, its own self among them
  for (const Optics::Channel& channel : scene.optics.channels)
    for (std::uint32_t solid = channel.solid; solid != kNone; solid = tree.mother[solid]) ++below[solid];
  for (const Optics::Channel& channel : scene.optics.channels)
    for (std::uint32_t solid = channel.solid; solid != kNone && below[solid] == 1; solid = tree.mother[solid])
      shown[solid] = channel.solid;
  return shown;
}

SolidHits count_hits(const PhotonSet& set, const PhotonChoice& choice, std::span<const std::uint32_t> sensors,
                     std::optional<double> until) {
  constexpr float kNever = std::numeric_limits<float>::infinity();
  SolidHits own;
  own.counts.resize(sensors.size());
  own.first_times.resize(sensors.size(), kNever);
  std::vector<std::uint32_t> all_counts(sensors.size());
  std::vector<float> all_first(sensors.size(), kNever);
  const auto add = [&](const PhotonRow& row) {
    if (row.flag != photon::opticks::kSurfaceDetect || row.solid >= sensors.size()) return;
    own.most = std::max(own.most, ++all_counts[row.solid]);
    all_first[row.solid] = std::min(all_first[row.solid], row.time);
    if (until && static_cast<double>(row.time) > *until) return;
    ++own.counts[row.solid];
    own.first_times[row.solid] = std::min(own.first_times[row.solid], row.time);
  };
  if (!set.points.empty()) {
    for (const DrawnRow& point : choice.points) add(set.points[point.row]);
  } else {
    for (const DrawnRow& step : choice.steps) add(set.rows[step.row + 1]);
  }
  std::erase(all_first, kNever);
  for (const float time : all_first) own.times.add(time);
  if (!all_first.empty()) {
    const auto usual =
        all_first.begin() + static_cast<std::ptrdiff_t>(std::ceil(kUsual * static_cast<double>(all_first.size()))) - 1;
    std::nth_element(all_first.begin(), usual, all_first.end());
    own.usual_time = static_cast<double>(*usual);
  }
  SolidHits hits = own;
  for (std::size_t solid = 0; solid != sensors.size(); ++solid) {
    hits.counts[solid] = own.counts[sensors[solid]];
    hits.first_times[solid] = own.first_times[sensors[solid]];
  }
  return hits;
}

}  // namespace raylift::viewer
