// SPDX-License-Identifier: Apache-2.0
#include "state/shown/light_state.h"

#include <fmt/format.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/photon/parse_source.h>

#include <algorithm>
#include <utility>

#include "cli/text.h"
#include "state/options/bookmarks.h"

namespace raylift::viewer {

LightOrigin LightState::origin() const {
  const auto absolute = [](const std::string& path) { return path.empty() ? path : bookmarks_key(path); };
  return {absolute(options_.light.origin.photons), absolute(options_.light.origin.compare),
          options_.light.origin.source, source_moved_, options_.light.origin.event};
}

void LightState::go_to(const LightOrigin& origin) {
  const LightOrigin now = this->origin();
  playing_ = false;
  if (origin.source.empty()) {
    if (origin.photons != now.photons || origin.compare != now.compare || !now.source.empty()) {
      open_photons(origin.photons, origin.compare);
      options_.light.origin.event = origin.event;
    } else if (origin.event != now.event) {
      set_event(origin.event);
    }
    return;
  }
  if (origin.source != now.source || !now.photons.empty()) set_source(origin.source);
  source_moved_ = origin.moved;
  mark_source();
}

void LightState::open_photons(const std::string& path, const std::string& compare) {
  options_.light.origin = {path, compare, {}};
  mark_source();
  geometry_.reset();
  shown_.photons = Photons();
  playing_ = false;
  ++photon_requests_;
  ++shown_.revision;
}

void LightState::set_photons(std::shared_ptr<const PhotonSet> set) {
  if (!shown_.scene) return;
  for (const std::string& note : set->notes) shown_.messages.show(note);
  const bool first = !shown_.photons.set();
  if (!set->events.empty() && set->notes.empty())
    shown_.messages.show(
        fmt::format("event {} of {}: {}", set->event + 1, set->events.size(), cli::printable(set->events[set->event])));
  shown_.photons = Photons(std::move(set), *shown_.scene);
  ++shown_.revision;
  if (first && options_.light.play) play(true);
}

void LightState::set_event(const std::string& event) {
  options_.light.origin.event = event;
  ++photon_requests_;
  ++shown_.revision;
}

void LightState::step_event(int places) {
  const PhotonSet* set = shown_.photons.set().get();
  if (set == nullptr || set->events.empty())
    return shown_.messages.show("the photons have no events: --photons takes a folder with a run for each");
  // From the event that was asked for last: several presses of the key may come before one is read.
  shown_.messages.attempt([&] {
    const std::string& asked = options_.light.origin.event;
    const auto from = static_cast<std::ptrdiff_t>(asked.empty() ? set->event : find_event(set->events, asked));
    const std::ptrdiff_t next = from + places;
    if (next < 0 || next >= static_cast<std::ptrdiff_t>(set->events.size()))
      return shown_.messages.show(places < 0 ? "this is the first event" : "this is the last event");
    set_event(set->events[static_cast<std::size_t>(next)]);
  });
}

std::optional<LightRequest> LightState::request() const {
  if (!shown_.scene || options_.light.origin.source.empty()) return std::nullopt;
  return LightRequest{options_.light.origin.source, source_moved_,
                      options_.light.count,         options_.light.record,
                      options_.light.seed,          !shown_.settings.photons.filter.history.empty()};
}

void LightState::set_geometry(std::shared_ptr<const GpuGeometry> geometry) {
  geometry_ = std::move(geometry);
  ++shown_.revision;
}

void LightState::set_source(const std::string& text) {
  if (!text.empty()) {
    photon::check_source_text(text);
    if (!options_.light.origin.photons.empty()) open_photons({});
  }
  options_.light.origin.source = text;
  source_moved_.setZero();
  mark_source();
  ++shown_.revision;
}

std::optional<Eigen::Vector3d> LightState::source_position() const {
  const std::string& text = options_.light.origin.source;
  if (text.empty() || text.starts_with("photons:") || text.starts_with("gensteps:")) return std::nullopt;
  return source_moved_ + to_eigen(photon::parse_source(text).center);
}

std::string LightState::source_text() const {
  const std::string& text = options_.light.origin.source;
  if (!source_position() || source_moved_.isZero()) return text;
  return photon::moved_source(text, {source_moved_.x(), source_moved_.y(), source_moved_.z()});
}

void LightState::move_source(double right, double up, const Resolution& window) {
  if (options_.light.origin.source.empty()) return shown_.messages.show("no source of light to move: --photon-source");
  const std::optional<Eigen::Vector3d> at = source_position();
  if (!at) return shown_.messages.show("photons of a file stay where they are");
  const Eigen::Vector3d& place = *at;
  // At its distance; of a source behind the eye, at the camera's target.
  const Camera& camera = shown_.camera;
  const double depth = camera.depth(place);
  const double pixel = camera.pixel_size(window.height, depth > 0 ? depth : camera.distance);
  source_moved_ += pixel * (right * camera.right() + up * camera.above());
  mark_source();
  ++shown_.revision;
}

void LightState::play(bool playing) {
  const PhotonSet* set = shown_.photons.set().get();
  playing_ = playing && set != nullptr && set->times.low < set->times.high;
  if (playing && !playing_) return shown_.messages.show("no photons whose time could run: --photons");
  if (!playing_) return;
  const Between<double> times = play_times(shown_.settings.photons, shown_.photons.statistics());
  const std::optional<double>& time = shown_.settings.photons.time;
  if (!time || *time < times.low || *time >= times.high) set_time(times.low);
}

void LightState::advance(double seconds) {
  if (!playing_ || !shown_.photons.set()) return;
  const LightStatistics& light = shown_.photons.statistics();
  const auto time = played(shown_.settings.photons, light, seconds);
  playing_ = time.has_value();
  set_time(time.value_or(play_times(shown_.settings.photons, light).high));
}

void LightState::step_time(double share) {
  if (!shown_.photons.set() || shown_.photons.set()->times.empty()) return;
  const LightStatistics& light = shown_.photons.statistics();
  playing_ = false;
  const double now = shown_.settings.photons.time.value_or(share > 0 ? light.first() : light.last());
  set_time(light.time_at(std::clamp(light.position(now) + share, 0.0, 1.0)));
}

void LightState::set_time(double time) {
  shown_.settings.photons.time = time;
  ++shown_.revision;
}

}  // namespace raylift::viewer
