// SPDX-License-Identifier: Apache-2.0
// The state's photons, and their time.
#include <raylift/photon/parse_source.h>

#include <algorithm>

#include "state/viewer_state.h"

namespace raylift::viewer {

void ViewerState::set_photons(std::shared_ptr<const PhotonSet> set) {
  if (!scene_) return;
  for (const std::string& note : set->notes) say(note);
  const bool first = !photons_.set();
  photons_ = Photons(std::move(set), *scene_);
  ++revision_;
  if (first && options_.play) play(true);
}

LightOrigin ViewerState::light() const {
  const auto absolute = [](const std::string& path) { return path.empty() ? path : bookmarks_key(path); };
  return {absolute(options_.photons), absolute(options_.photon_compare), options_.source, source_moved_};
}

void ViewerState::open_photons(const std::string& path, const std::string& compare) {
  take_light({path, compare, {}}, options_);
  light_geometry_.reset();
  photons_ = Photons();
  playing_ = false;
  ++photon_requests_;
  ++revision_;
}

void ViewerState::go_to_light(const LightOrigin& light) {
  const LightOrigin now = this->light();
  playing_ = false;
  if (light.source.empty()) {
    // What is shown already is not read again.
    if (light.photons != now.photons || light.compare != now.compare || !now.source.empty())
      open_photons(light.photons, light.compare);
    return;
  }
  if (light.source != now.source || !now.photons.empty()) set_source(light.source);
  source_moved_ = light.moved;
}

std::optional<LightRequest> ViewerState::light_request() const {
  if (!scene_ || options_.source.empty()) return std::nullopt;
  return LightRequest{options_.source,       source_moved_,        options_.source_photons,
                      options_.source_paths, options_.source_seed, !settings_.photons.filter.history.empty()};
}

void ViewerState::set_light_geometry(std::shared_ptr<const GpuGeometry> geometry) {
  light_geometry_ = std::move(geometry);
  ++revision_;
}

void ViewerState::set_source(const std::string& text) {
  if (!text.empty()) {
    photon::check_source_text(text);
    if (!options_.photons.empty()) open_photons({});
  }
  options_.source = text;
  source_moved_.setZero();
  ++revision_;
}

void ViewerState::move_source(double right, double up, const Resolution& window) {
  if (options_.source.empty()) return say("no source of light to move: --photon-source");
  if (options_.source.starts_with("photons:") || options_.source.starts_with("gensteps:"))
    return say("photons of a file stay where they are");
  const Float3 center = photon::parse_source(options_.source).center;
  const Eigen::Vector3d place =
      source_moved_ +
      Eigen::Vector3d(static_cast<double>(center.x), static_cast<double>(center.y), static_cast<double>(center.z));
  // At its distance; of a source behind the eye, at the camera's target.
  const double depth = (place - camera_.eye()).dot(camera_.forward());
  double pixel = camera_.pixel_size(window.height);
  if (!camera_.orthographic && depth > 0) pixel *= depth / camera_.distance;
  source_moved_ += pixel * (right * camera_.right() + up * camera_.above());
  ++revision_;
}

void ViewerState::select_photon(const std::optional<PickedPhoton>& picked) {
  select(std::nullopt);
  if (!picked) return;
  photons_.select(picked->point ? photons_.selection_of_point(picked->row) : photons_.selection_of_step(picked->row));
}

void ViewerState::play(bool playing) {
  const PhotonSet* set = photons_.set().get();
  playing_ = playing && set != nullptr && set->times.low < set->times.high;
  if (playing && !playing_) return say("no photons whose time could run: --photons");
  if (!playing_) return;
  const std::optional<double>& time = settings_.photons.time;
  if (!time || *time >= static_cast<double>(set->times.high))
    change_settings([&](Settings& s) { s.photons.time = static_cast<double>(set->times.low); });
}

void ViewerState::advance(double seconds) {
  if (!playing_ || !photons_.set()) return;
  const ValueRange& times = photons_.set()->times;
  const auto time = played(settings_.photons, static_cast<double>(times.low), static_cast<double>(times.high), seconds);
  playing_ = time.has_value();
  change_settings([&](Settings& s) { s.photons.time = time.value_or(static_cast<double>(times.high)); });
}

void ViewerState::step_time(double share) {
  if (!photons_.set() || photons_.set()->times.empty()) return;
  const auto low = static_cast<double>(photons_.set()->times.low);
  const auto high = static_cast<double>(photons_.set()->times.high);
  playing_ = false;
  change_settings([&](Settings& s) {
    s.photons.time = std::clamp(s.photons.time.value_or(share > 0 ? low : high) + share * (high - low), low, high);
  });
}

}  // namespace raylift::viewer
