// SPDX-License-Identifier: Apache-2.0
#include "state/frame_scheduler.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cli/image.h"
#include "cli/output_file.h"
#include "cli/quantity.h"
#include "cli/text.h"

namespace raylift::viewer {
namespace {

constexpr double kSlow = 0.045;                // seconds: slower images are drawn with fewer pixels during a move
constexpr double kFluent = 0.012;              // seconds: for slower images it is worth finding what need not be drawn
constexpr double kTurnSeconds = 0.02;          // of drawing: between turns the window answers
constexpr double kMoveSeconds = 0.05;          // an image during a move
constexpr double kSoftwareMoveSeconds = 0.03;  // where panels and the window's image are drawn slowly too
constexpr double kLongestMove = 8;             // times as long: an image that lasts longer lacks what is left
constexpr double kSoftwareRate = 2e6;          // triangles per second that OpenGL draws on a CPU, before it is measured
constexpr double kDeviceRate = 5e8;            // likewise, on a GPU
constexpr double kMinTriangles = 10000;        // of an image during a move
constexpr double kLightSlice = 0.03;           // seconds of simulating photons in one frame
constexpr double kRaySlice = 0.03;             // seconds of casting rays in one frame
constexpr Resolution kThumbnail{192, 120};     // of bookmarks, at most
constexpr double kRefineSeconds = 0.25;        // between images that differ in the noise of rays alone

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

}  // namespace

bool FrameScheduler::busy(const ViewerState& state) const {
  const bool follows =
      state.light().geometry() && (light_ != state.light().request() || (live_ != nullptr && !live_->done()));
  return drawn_ != state.revision() || phases_.coarse() || phases_.in_turns() || follows || state.light().playing() ||
         ray_progress(state).has_value() || !state.wants_thumbnail().empty();
}

std::optional<float> FrameScheduler::ray_progress(const ViewerState& state) const {
  if (!casts(state) || caster_->done()) return std::nullopt;
  return static_cast<float>(caster_->progress());
}

void FrameScheduler::update_scene(ViewerState& state) {
  if (scene_ == state.scene() && device_scene_ == state.device_scene()) return;
  const bool fresh = scene_ != state.scene();
  caster_.reset();
  const auto old_scene = std::exchange(scene_, state.scene());  // the renderer has it until set_scene()
  const auto old_device_scene = std::exchange(device_scene_, state.device_scene());
  looks_.reset();
  opacities_.reset();
  if (fresh) detail_.reset();
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

void FrameScheduler::simulate_light(ViewerState& state) {
  if (light_geometry_ != state.light().geometry()) {
    light_.reset();
    live_.reset();
    light_geometry_ = state.light().geometry();
  }
  const std::optional<LightRequest> request = state.light().request();
  if (!light_geometry_ || !request) return;
  const bool fresh = light_ != request;
  light_ = request;  // a request that fails is not repeated
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
  move_triangles_ = renderer_.software() ? kSoftwareRate * kSoftwareMoveSeconds : kDeviceRate * kMoveSeconds;
  phases_.set_blank();
}

double FrameScheduler::move_seconds() const {
  return renderer_.software() ? kSoftwareMoveSeconds : kMoveSeconds;
}

void FrameScheduler::adapt_triangles(double seconds) {
  const double factor = std::clamp(move_seconds() / seconds, 0.5, 2.0);
  const bool thinned = renderer_.drawn_share() < 1;
  // An image that is not thinned out says nothing of larger limits.
  if (factor < 0.8 || (factor > 1.2 && thinned)) move_triangles_ = std::max(kMinTriangles, factor * move_triangles_);
}

std::optional<double> FrameScheduler::drawn_share() const {
  if (phases_.in_turns()) return pace_ ? pace_->share() : 0;
  if (phases_.coarse() && thinned_ && renderer_.drawn_share() < 1) return renderer_.drawn_share();
  return std::nullopt;
}

void FrameScheduler::update_renderer(ViewerState& state) {
  if (scene_ && looks_ != state.appearance().version()) {
    renderer_.set_looks(state.appearance().looks());
    looks_ = state.appearance().version();
  }
  if (scene_ && opacities_ != state.solids()->opacity_version()) {
    renderer_.set_opacities(state.solids()->opacities());
    renderer_.set_own_colors(state.solids()->colors());
    opacities_ = state.solids()->opacity_version();
  }
  if (detail_ != state.detail()) {
    detail_ = state.detail();
    if (detail_) renderer_.set_detail(*detail_);
  }
  if (scene_) photons_.feed(renderer_, state.photons(), state.settings(), *scene_);
  mark_found(state);
  const bool one_selected = state.selection() && state.selection()->instance != kNone;
  renderer_.set_selected(one_selected ? std::optional(state.selection()->instance) : std::nullopt);
}

/// Marks what a search finds, where it is shown.
void FrameScheduler::mark_found(const ViewerState& state) {
  std::vector<std::uint32_t> marked = state.selection().found();
  if (!marked.empty()) {
    const std::vector<std::uint8_t>& looks = state.appearance().looks();
    std::erase_if(marked, [&](std::uint32_t i) { return looks[i] == static_cast<std::uint8_t>(Look::hidden); });
  }
  renderer_.set_marked(Mark::found, marked);
}

Image FrameScheduler::read_image(const ViewerState& state) {
  if (state.selection().found().empty()) return renderer_.read();
  const auto draw = [&] {
    renderer_.draw(state.camera(), state.settings(), casts(state) ? std::optional(caster_->image()) : std::nullopt);
  };
  renderer_.set_marked(Mark::found, {});
  draw();
  Image image = renderer_.read();
  mark_found(state);
  draw();
  return image;
}

/// Writes the image of a new bookmark, once there is one of the present state.
void FrameScheduler::save_thumbnail(ViewerState& state) {
  if (complete_ != state.revision() || state.wants_thumbnail().empty()) return;
  state.set_thumbnail(reduced(read_image(state), kThumbnail.width, kThumbnail.height));
}

void FrameScheduler::draw(ViewerState& state, bool at_once) {
  using Step = FramePhases::Step;
  update_scene(state);
  simulate_light(state);
  FrameRequest request;
  request.at_once = at_once;
  request.changed = drawn_ != state.revision();
  if (request.changed || at_once) state.messages().attempt([&] { update_renderer(state); });
  const Camera& camera = state.camera();
  const Settings& settings = state.settings();
  const bool playing = state.light().playing(), moving = state.viewpoint().moving();
  request.rays = casts(state);
  request.rays_left = request.rays && !caster_->done();
  request.keeps_scene =
      !request.rays && !moving && renderer_.keeps_scene(settings) && !(playing && settings.colors_hits());
  request.same_scene =
      request.keeps_scene && renderer_.resolution() == state.framebuffer() && renderer_.is_drawn(camera, settings);
  request.moving = moving || (playing && !request.keeps_scene);
  const bool light_alone = request.same_scene && renderer_.is_kept(camera, settings);
  request.slow = full_seconds_ > kSlow && !light_alone;
  const Step step = phases_.begin_frame(request);
  redrawn_ = false;
  if (step == Step::none) return save_thumbnail(state);
  const auto start = Clock::now();
  const bool coarse = phases_.coarse();
  const Resolution size = coarse ? coarser(state.framebuffer(), request.rays) : state.framebuffer();
  if (step != Step::next_turn) turn_seconds_ = 0;
  if (step == Step::first_turn)
    pace_.emplace(kTurnSeconds);
  else if (step == Step::coarse)
    pace_.emplace(kLongestMove * move_seconds());
  else if (step != Step::next_turn)
    pace_.reset();
  bool complete = true;
  state.messages().attempt([&] {
    renderer_.resize(state.framebuffer(), coarse || request.rays ? 1 : state.options().image.samples);
    std::optional<ForeignImage> image;
    if (request.rays) {
      if (step != Step::cast_on)
        caster_->start(camera, settings, size, state.appearance().looks(),
                       coarse ? 1 : state.options().image.ray_samples, state.solids()->colors());
      caster_->advance(kRaySlice);
      image = caster_->image();
      // To draw each slice takes as long as to cast it.
      if (step == Step::cast_on && caster_->refines() && !caster_->done() && !at_once &&
          seconds_since(drawn_at_) < kRefineSeconds)
        return;
    }
    const Coarse quick{size, static_cast<std::uint64_t>(move_triangles_)};
    complete = renderer_.draw(camera, settings, image, coarse ? std::optional(quick) : std::nullopt,
                              pace_ ? &*pace_ : nullptr);
    renderer_.finish();
    redrawn_ = complete;
    drawn_at_ = Clock::now();
  });
  drawn_ = state.revision();
  if (complete) complete_ = drawn_;
  phases_.end_frame(complete);
  note_time(seconds_since(start));
  thinned_ = step == Step::coarse;
  if (thinned_) adapt_triangles(draw_seconds_);
  if (phases_.phase() == FramePhases::Phase::whole && !light_alone) full_seconds_ = turn_seconds_;
  if (full_seconds_ > kFluent) state.want_detail();
  save_thumbnail(state);
}

void FrameScheduler::note_time(double seconds) {
  draw_seconds_ = seconds;
  turn_seconds_ += seconds;
  draw_times_.push_back(static_cast<float>(1000 * seconds));
  if (draw_times_.size() > kTimes) draw_times_.erase(draw_times_.begin());
}

std::array<int, 2> FrameScheduler::pixel_under(const Cursor& cursor) const {
  const Resolution& drawn = renderer_.resolution();
  return {static_cast<int>(cursor.x * drawn.width / cursor.window.width),
          static_cast<int>(cursor.y * drawn.height / cursor.window.height)};
}

std::optional<Picked> FrameScheduler::pick(const ViewerState& state, const Cursor& cursor) {
  if (!scene_ || scene_ != state.scene()) return std::nullopt;  // the image shows another scene, or none
  const auto [x, y] = pixel_under(cursor);
  return renderer_.pick(state.camera(), state.settings(), x, y);
}

PickedAround FrameScheduler::pick_around(const ViewerState& state, const Cursor& cursor) {
  PickedAround found;
  const auto add = [&](double right, double down) {
    const auto one = pick(state, {cursor.x + right, cursor.y + down, cursor.window});
    if (one) found.all.push_back(*one);
    return one.has_value();
  };
  found.at_cursor = add(0, 0);
  // A solid's vertex may be beside the solid's pixels, where the cursor aims at it from outside.
  constexpr double kAround = 0.6 * Snapping::kReach;
  constexpr int kPlaces = 8;
  for (int i = 0; i != kPlaces && state.settings().snap; ++i) {
    const double angle = 2 * std::numbers::pi * i / kPlaces;
    (void)add(kAround * std::cos(angle), kAround * std::sin(angle));
  }
  return found;
}

std::optional<PickedPhoton> FrameScheduler::pick_photon(const ViewerState& state, const Cursor& cursor) {
  if (!scene_ || scene_ != state.scene() || casts(state)) return std::nullopt;
  const auto [x, y] = pixel_under(cursor);
  return renderer_.pick_photon(state.camera(), state.settings(), x, y);
}

void FrameScheduler::save_new_image(ViewerState& state, const std::string& extension, int scale) {
  const std::string stem = state.file().empty() ? "raylift" : output_name("{name}", state.file(), 1);
  std::string path;
  std::error_code ignored;
  do {
    path = stem + "_" + std::to_string(++saved_) + extension;
  } while (std::filesystem::exists(path, ignored));
  state.messages().attempt([&] { save_image(state, path, scale); });
}

/// Draws the image at another size, and the window's again.
Image FrameScheduler::read_scaled(ViewerState& state, int scale) {
  const Resolution window = state.framebuffer();
  const auto draw_at = [&](const Resolution& size) {
    state.viewpoint().set_framebuffer(size);
    draw(state, true);
    if (renderer_.resolution() != size)
      throw state.messages().failure() ? Error(*state.messages().failure())
                                       : Error(ErrorKind::system, "the image could not be drawn at this size");
    while (casts(state) && busy(state)) draw(state, true);
  };
  try {
    draw_at({window.width * scale, window.height * scale});
    Image image = read_image(state);
    draw_at(window);
    return image;
  } catch (const Error&) {
    state.viewpoint().set_framebuffer(window);
    throw;
  }
}

void FrameScheduler::save_image(ViewerState& state, const std::filesystem::path& file, int scale) {
  // Neither at the resolution of a move, nor as the image was before the last change.
  if (phases_.coarse() || phases_.in_turns() || drawn_ != state.revision()) draw(state, true);
  if (cli::is_svg_name(file.string()))
    cli::write_file(file, renderer_.svg(state.camera(), state.settings()), "the drawing");
  else
    write_png(scale == 1 ? read_image(state) : read_scaled(state, scale), file);
  std::error_code ignored;
  state.messages().show("saved " + cli::printable(std::filesystem::absolute(file, ignored).string()));
}

}  // namespace raylift::viewer
