// SPDX-License-Identifier: Apache-2.0
#include "state/frame_scheduler.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/image.h"

namespace raylift::viewer {
namespace {

constexpr double kSlow = 0.045;                // seconds: slower images are drawn with fewer pixels during a move
constexpr double kFluent = 0.012;              // seconds: for slower images it is worth finding what need not be drawn
constexpr double kTurnSeconds = 0.02;          // of drawing: between turns the window answers
constexpr double kMoveSeconds = 0.05;          // of the one turn that draws an image during a move
constexpr double kSoftwareMoveSeconds = 0.03;  // where panels and the window's image are drawn slowly too
constexpr double kSoftwareRate = 2e6;          // triangles per second that OpenGL draws on a CPU, before it is measured
constexpr double kLightSlice = 0.03;           // seconds of following photons in one frame
constexpr double kRaySlice = 0.03;             // seconds of casting rays in one frame
constexpr int kWindowRaySamples = 64;

}  // namespace

bool FrameScheduler::busy(const ViewerState& state) const {
  const bool follows =
      state.light().geometry() && (light_ != state.light().request() || (live_ != nullptr && !live_->done()));
  return drawn_ != state.revision() || coarse_ || pace_ || follows || state.light().playing() ||
         ray_progress(state).has_value();
}

std::optional<float> FrameScheduler::ray_progress(const ViewerState& state) const {
  if (!casts(state) || caster_->done()) return std::nullopt;
  return static_cast<float>(caster_->progress());
}

void FrameScheduler::take_scene(ViewerState& state) {
  if (scene_ == state.scene() && device_scene_ == state.device_scene()) return;
  const bool fresh = scene_ != state.scene();
  caster_.reset();
  const auto old_scene = std::exchange(scene_, state.scene());  // the renderer has it until set_scene()
  const auto old_device_scene = std::exchange(device_scene_, state.device_scene());
  looks_.reset();
  opacities_.reset();
  if (fresh) detail_.reset();
  pace_.reset();
  state.messages().attempt([&] {
    // Buffers that rays use are OpenGL's too: one copy.
    const auto buffers = device_scene_ ? device_scene_->buffers() : std::nullopt;
    if (fresh || buffers) {
      renderer_.set_scene(*scene_, buffers);
      if (fresh) expect_time();
      photons_.forget();
    }
    if (!device_scene_) return;
    renderer_.set_device_triangles(device_scene_->device_triangles());
    caster_ = std::make_unique<RayCaster>(*scene_, *device_scene_);
  });
}

void FrameScheduler::follow_light(ViewerState& state) {
  if (light_geometry_ != state.light().geometry()) {
    light_.reset();
    live_.reset();
    light_geometry_ = state.light().geometry();
  }
  const std::optional<LightRequest> request = state.light().request();
  if (!light_geometry_ || !request) return;
  const bool fresh = light_ != request;
  light_ = request;  // what fails is not tried again
  state.messages().attempt([&] {
    if (fresh && live_ == nullptr) live_ = std::make_unique<LiveLight>(*light_geometry_);
    if (fresh) live_->start(*request);
    if (live_ == nullptr || live_->done()) return;
    live_->advance(kLightSlice);
    state.light().set_photons(live_->photons());
  });
}

Resolution FrameScheduler::coarser(const Resolution& size, bool rays) const {
  // Rays: a quarter of the pixels. Rasterised: as many as the time allows.
  const double factor = rays ? 0.5 : std::clamp(std::sqrt(kSlow / full_seconds_), 0.2, 1.0);
  return {std::max(1, static_cast<int>(size.width * factor)), std::max(1, static_cast<int>(size.height * factor))};
}

void FrameScheduler::expect_time() {
  full_seconds_ = renderer_.software() ? static_cast<double>(renderer_.shown_triangles()) / kSoftwareRate : 0;
  first_ = true;
}

void FrameScheduler::feed(ViewerState& state) {
  if (scene_ && looks_ != state.appearance().version()) {
    renderer_.set_looks(state.appearance().looks());
    looks_ = state.appearance().version();
  }
  if (scene_ && opacities_ != state.solids()->opacity_version()) {
    renderer_.set_opacities(state.solids()->opacities());
    opacities_ = state.solids()->opacity_version();
  }
  if (detail_ != state.detail()) {
    detail_ = state.detail();
    if (detail_) renderer_.set_detail(*detail_);
  }
  if (scene_) photons_.feed(renderer_, state.photons(), state.settings(), *scene_);
  const bool one_selected = state.selection() && state.selection()->instance != kNone;
  renderer_.set_selected(one_selected ? std::optional(state.selection()->instance) : std::nullopt);
}

void FrameScheduler::draw(ViewerState& state, bool at_once) {
  take_scene(state);
  follow_light(state);
  const bool rays = casts(state);
  const bool fresh = drawn_ != state.revision() || at_once;
  if (fresh) state.messages().attempt([&] { feed(state); });
  // Light that changes over a scene that stands still: the scene is drawn once, in turns where that takes long.
  const bool apart = !rays && !state.viewpoint().moving() && renderer_.keeps_scene(state.settings()) &&
                     !(state.light().playing() && state.settings().colors_hits());
  const bool same =
      apart && renderer_.resolution() == state.framebuffer() && renderer_.is_drawn(state.camera(), state.settings());
  const bool quick = same && renderer_.is_kept(state.camera(), state.settings());
  const bool moving = !at_once && (state.viewpoint().moving() || (state.light().playing() && !apart));
  if (at_once || moving || (fresh && !(same && pace_keeps_))) {
    pace_.reset();
    turn_seconds_ = 0;
  }
  const bool changed = fresh || (coarse_ && !moving);
  if (!changed && !pace_ && !(rays && !caster_->done())) return;
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  // The first image of a scene that takes long is coarse too: something is seen at once.
  const bool slow = full_seconds_ > kSlow && !quick;
  coarse_ = !at_once && (rays ? moving : slow && (moving || first_));
  first_ = false;
  const Resolution size = coarse_ ? coarser(state.framebuffer(), rays) : state.framebuffer();
  if (!pace_ && slow && !rays && !at_once) {
    pace_.emplace(!coarse_ ? kTurnSeconds : renderer_.software() ? kSoftwareMoveSeconds : kMoveSeconds);
    pace_keeps_ = apart && !coarse_;
  }
  bool complete = true;
  state.messages().attempt([&] {
    renderer_.resize(state.framebuffer(), coarse_ || rays ? 1 : state.options().samples);
    std::optional<ForeignImage> image;
    if (rays) {
      if (changed)
        caster_->start(state.camera(), state.settings(), size, state.appearance().looks(),
                       coarse_ ? 1 : kWindowRaySamples);
      caster_->advance(kRaySlice);
      image = caster_->image();
    }
    complete = renderer_.draw(state.camera(), state.settings(), image, coarse_ ? std::optional(size) : std::nullopt,
                              pace_ ? &*pace_ : nullptr);
    renderer_.finish();
  });
  drawn_ = state.revision();
  note_time(std::chrono::duration<double>(Clock::now() - start).count(), rays || quick, complete);
  if (complete) pace_.reset();
  if (full_seconds_ > kFluent) state.want_detail();
}

void FrameScheduler::note_time(double seconds, bool without_solids, bool complete) {
  draw_seconds_ = seconds;
  turn_seconds_ += seconds;  // of the turns of one image
  if (!coarse_ && !without_solids && complete) full_seconds_ = turn_seconds_;
  if (coarse_ || complete) turn_seconds_ = 0;
  draw_times_.push_back(static_cast<float>(1000 * seconds));
  if (draw_times_.size() > kTimes) draw_times_.erase(draw_times_.begin());
}

std::array<int, 2> FrameScheduler::pixel_under(const Cursor& cursor) const {
  const Resolution& drawn = renderer_.resolution();
  return {static_cast<int>(cursor.x * drawn.width / cursor.window.width),
          static_cast<int>(cursor.y * drawn.height / cursor.window.height)};
}

std::optional<Picked> FrameScheduler::pick(const ViewerState& state, const Cursor& cursor) {
  if (!scene_ || scene_ != state.scene()) return std::nullopt;  // drawn is another scene, or none
  const auto [x, y] = pixel_under(cursor);
  return renderer_.pick(state.camera(), state.settings(), x, y);
}

std::optional<PickedPhoton> FrameScheduler::pick_photon(const ViewerState& state, const Cursor& cursor) {
  if (!scene_ || scene_ != state.scene() || casts(state)) return std::nullopt;
  const auto [x, y] = pixel_under(cursor);
  return renderer_.pick_photon(state.camera(), state.settings(), x, y);
}

void FrameScheduler::save_image(ViewerState& state) {
  const std::string stem = state.file().empty() ? "raylift" : output_name("{name}", state.file(), 1);
  std::string path;
  std::error_code ignored;
  do {
    path = stem + "_" + std::to_string(++saved_) + ".png";
  } while (std::filesystem::exists(path, ignored));
  state.messages().attempt([&] { save_image(state, path); });
}

void FrameScheduler::save_image(ViewerState& state, const std::filesystem::path& file) {
  // Neither at the resolution of a move, nor as the image was before the last change.
  if (coarse_ || pace_ || drawn_ != state.revision()) draw(state, true);
  write_png(renderer_.read(), file);
  state.messages().say("saved " + file.string());
}

}  // namespace raylift::viewer
