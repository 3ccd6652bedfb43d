// SPDX-License-Identifier: Apache-2.0
#include "light/photons.h"

#include <utility>

#include "light/photon_colors.h"

namespace raylift::viewer {
namespace {

double distance(const Float3& a, const Float3& b) {
  const Eigen::Vector3d from(static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z));
  const Eigen::Vector3d to(static_cast<double>(b.x), static_cast<double>(b.y), static_cast<double>(b.z));
  return (to - from).norm();
}

}  // namespace

Photons::Photons(std::shared_ptr<const PhotonSet> set, const Scene& scene) : set_(std::move(set)), scene_(&scene) {}

const PhotonChoice& Photons::choice(const PhotonFilter& filter) const {
  if (set_ == nullptr || chosen_by_ == filter) return choice_;
  choice_ = choose_photons(*set_, *scene_, filter);
  chosen_by_ = filter;
  ++choice_version_;
  return choice_;
}

const LightStatistics& Photons::statistics() const {
  if (!statistics_) statistics_ = set_ == nullptr ? LightStatistics() : LightStatistics(*set_);
  return *statistics_;
}

const LightStatistics* Photons::statistics_of_time(const PhotonSettings& settings) const {
  return set_ != nullptr && shown_color(settings, statistics()) == PhotonColor::time ? &statistics() : nullptr;
}

SolidHits Photons::hits(const PhotonFilter& filter, std::optional<double> until) const {
  if (set_ == nullptr) return {};
  if (sensors_.empty()) sensors_ = sensors_of_solids(*scene_);
  return count_hits(*set_, choice(filter), sensors_, until);
}

PhotonEvent Photons::event_of(const photon::PhotonRow& row) const {
  const std::uint32_t number = photon::event_of_flag(row.flag);
  PhotonEvent event;
  event.event = std::string(photon::event_abbreviation(number)) + ", " + std::string(photon::event_name(number));
  event.position = row.position;
  event.time = row.time;
  event.wavelength = row.wavelength;
  if (row.solid < scene_->instances.size()) event.solid = scene_->solid_name(scene_->instances[row.solid]);
  if (row.surface < scene_->optics.surfaces.size()) event.surface = scene_->optics.surfaces[row.surface].name;
  return event;
}

PhotonSelection Photons::selection_of_path(std::size_t path) const {
  const std::span<const photon::PhotonRow> rows = set_->path(path);
  PhotonSelection selected;
  selected.path = path;
  selected.number = rows.front().number;
  selected.history = photon::history_text(history_of(rows));
  selected.channel = static_cast<std::int64_t>(rows.back().sensor) - 1;
  for (std::size_t i = 0; i != rows.size(); ++i) {
    PhotonEvent event = event_of(rows[i]);
    if (i != 0) event.step = distance(rows[i - 1].position, rows[i].position);
    const std::uint32_t material = material_of(*scene_, set_->media[set_->first[path] + i]);
    if (i + 1 != rows.size())
      event.medium = material < scene_->materials.size() ? scene_->materials[material].name : "none";
    selected.events.push_back(std::move(event));
  }
  return selected;
}

std::optional<PhotonSelection> Photons::selection_of_step(std::uint32_t row) const {
  if (set_ == nullptr || row >= set_->rows.size()) return std::nullopt;
  return selection_of_path(set_->path_of(row));
}

std::optional<PhotonSelection> Photons::selection_of_point(std::uint32_t point) const {
  if (set_ == nullptr || point >= set_->points.size()) return std::nullopt;
  const photon::PhotonRow& row = set_->points[point];
  for (std::size_t path = 0; path != set_->paths(); ++path)
    if (!set_->path(path).empty() && set_->path(path).front().number == row.number) return selection_of_path(path);
  PhotonSelection selected;
  selected.point = point;
  selected.number = row.number;
  if (!set_->histories.empty()) selected.history = photon::history_text(set_->histories[point]);
  selected.channel = static_cast<std::int64_t>(row.sensor) - 1;
  selected.events.push_back(event_of(row));
  return selected;
}

std::vector<DrawnRow> Photons::selected_steps() const {
  if (set_ == nullptr || !selection_ || !selection_->path) return {};
  return steps_of(*set_, *scene_, *selection_->path);
}

}  // namespace raylift::viewer
