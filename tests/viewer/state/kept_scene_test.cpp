// SPDX-License-Identifier: Apache-2.0
// Light over a scene that stands still: the scene is drawn once, and the images are those that are drawn anew each
// time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "draw/photon_feed.h"
#include "state/frame_scheduler.h"
#include "support/images.h"
#include "viewer/light/photon_rows.h"
#include "viewer/meshes/round_solids.h"
#include "viewer/with_context.h"

namespace raylift::viewer {
namespace {

using namespace test_photons;
using Eigen::Vector3d;

/// How many pixels differ; all, where the sizes do.
std::ptrdiff_t unlike(const Image& a, const Image& b) {
  if (a.pixels.size() != b.pixels.size() || a.pixels.empty()) return a.width * a.height + 1;
  std::ptrdiff_t count = 0;
  for (std::size_t i = 0; i != a.pixels.size(); ++i) count += a.pixels[i] != b.pixels[i] ? 1 : 0;
  return count;
}

/// Balls in all ways to be drawn, and light among them.
class KeptScene : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    if (IsSkipped()) return;
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto place = [&] { return Vector3d(1000 * Vector3d{uniform(random), uniform(random), uniform(random)}); };
    std::vector<std::pair<Vector3d, double>> balls{{Vector3d::Zero(), 1900}};
    for (int i = 0; i != 40; ++i) balls.emplace_back(place(), 150);
    scene_ = std::make_shared<const Scene>(round_solids(balls, 12));
    looks_.assign(scene_->instances.size(), static_cast<std::uint8_t>(Look::solid));
    for (std::size_t i = 0; i != looks_.size(); ++i)
      looks_[i] = static_cast<std::uint8_t>(
          std::array{Look::faint, Look::solid, Look::solid, Look::glass, Look::lines, Look::edged}[i % 6]);
    camera_.look(StandardView::iso);
    camera_.frame(scene_->bounds, 320.0 / 240);
    const auto at = [&] {
      const Vector3d p = place();
      return Float3{static_cast<float>(p.x()), static_cast<float>(p.y()), static_cast<float>(p.z())};
    };
    std::vector<std::vector<PhotonRow>> paths;
    std::vector<PhotonRow> ends;
    for (std::uint32_t i = 0; i != 300; ++i) {
      const float wavelength = 400.0F + static_cast<float>(i);
      paths.push_back({event(flags::kTorch, at(), 0, i, wavelength), event(flags::kBulkScatter, at(), 5, i, wavelength),
                       event(flags::kBulkAbsorb, at(), 10, i, wavelength)});
      ends.push_back(paths.back().back());
    }
    set_ = std::make_shared<const PhotonSet>(set_of(paths, ends));
    photons_ = Photons(set_, *scene_);
    renderer_->set_scene(*scene_);
    renderer_->set_looks(looks_);
  }
  Image draw() {
    feed_.feed(*renderer_, photons_, settings_, *scene_);
    EXPECT_TRUE(renderer_->draw(camera_, settings_));
    return renderer_->read();
  }
  /// The same, with all of the scene.
  Image draw_anew() {
    renderer_->set_looks(looks_);
    EXPECT_FALSE(renderer_->is_drawn(camera_, settings_));
    return draw();
  }

  std::shared_ptr<const Scene> scene_;
  std::shared_ptr<const PhotonSet> set_;
  std::vector<std::uint8_t> looks_;
  Camera camera_;
  Settings settings_;
  Photons photons_;
  PhotonFeed feed_;
};

TEST_F(KeptScene, IsWhatItWouldBeIfItWereDrawnAnew) {
  const std::vector<std::pair<const char*, std::function<void(Settings&)>>> ways{
      {"all light", [](Settings&) {}},
      {"wide light", [](Settings& s) { s.photons.size = 4; }},
      {"opaque light", [](Settings& s) { s.photons.opacity = 1; }},
      {"thinned light", [](Settings& s) { s.photons.density = 0.02F; }},
      {"cut",
       [](Settings& s) {
         s.clip = ClipPlane{Vector3d(0, 0, 1), 0.0};
       }},
      {"transparent", [](Settings& s) { s.opacity = 0.4F; }},
      {"wireframe", [](Settings& s) { s.wireframe = true; }},
      {"feature edges", [](Settings& s) { s.set_feature_edges(true); }},
      {"none is faint",
       [&](Settings&) { std::replace(looks_.begin(), looks_.end(), std::uint8_t{2}, std::uint8_t{0}); }},
  };
  for (const auto& [name, change] : ways) {
    SCOPED_TRACE(name);
    settings_ = Settings();
    change(settings_);
    for (const std::optional<double> time : {std::optional<double>(), std::optional(3.0), std::optional(8.0)}) {
      settings_.photons.time = time;
      const Image anew = draw_anew();
      EXPECT_FALSE(renderer_->is_kept(camera_, settings_)) << "a camera that turns keeps nothing";
      EXPECT_EQ(unlike(draw(), anew), 0);
      EXPECT_TRUE(renderer_->is_kept(camera_, settings_));
      EXPECT_EQ(unlike(draw(), anew), 0);
    }
    // What is kept at one time is right at any other, and for other light.
    settings_.photons.time = 5.5;
    settings_.photons.trail = 2;
    EXPECT_TRUE(renderer_->is_kept(camera_, settings_));
    const Image late = draw();
    settings_.photons.color = PhotonColor::time;
    const Image colored = draw();
    settings_.photons.points = false;
    const Image lines = draw();
    EXPECT_TRUE(renderer_->is_kept(camera_, settings_));
    EXPECT_EQ(unlike(draw_anew(), lines), 0);
    settings_.photons.points = true;
    EXPECT_EQ(unlike(draw_anew(), colored), 0);
    settings_.photons.color = PhotonColor::wavelength;
    EXPECT_EQ(unlike(draw_anew(), late), 0);
    EXPECT_GT(unlike(colored, late), 0);
  }
}

TEST_F(KeptScene, IsDrawnAnewWhereItChanges) {
  const auto keep = [&] {
    (void)draw();
    (void)draw();
    EXPECT_TRUE(renderer_->is_kept(camera_, settings_));
  };
  const auto expect_fresh = [&](const char* what) {
    EXPECT_FALSE(renderer_->is_kept(camera_, settings_)) << what;
    const Image image = draw();
    EXPECT_EQ(unlike(draw_anew(), image), 0) << what;
  };
  keep();
  camera_.orbit(0.1, 0);
  expect_fresh("camera");
  keep();
  settings_.color = ColorBy::normal;
  expect_fresh("colour");
  keep();
  looks_[2] = static_cast<std::uint8_t>(Look::hidden);
  renderer_->set_looks(looks_);
  expect_fresh("looks");
  keep();
  renderer_->set_opacities(std::vector<std::uint8_t>(looks_.size(), 90));
  expect_fresh("opacities");
  settings_.color = ColorBy::hits;
  keep();
  renderer_->set_hit_colors(std::vector<std::uint32_t>(looks_.size(), 0xFF00FF00));
  expect_fresh("hits");
  keep();
  renderer_->resize({200, 150}, 1);
  expect_fresh("size");
  renderer_->resize({200, 150}, 4);
  EXPECT_EQ(renderer_->keeps_scene(settings_), renderer_->samples() == 1);
}

TEST_F(KeptScene, IsMadeInTurnsWhileTimeRuns) {
  settings_.photons.time = 9.0;
  const Image expected = draw_anew();
  settings_.color = ColorBy::normal;
  const Image before = draw_anew();
  settings_.color = ColorBy::material;
  Pace pace(0);
  int turns = 1;
  settings_.photons.time = 1.0;
  feed_.feed(*renderer_, photons_, settings_, *scene_);
  while (!renderer_->draw(camera_, settings_, std::nullopt, std::nullopt, &pace) && turns < 500) {
    EXPECT_EQ(unlike(renderer_->read(), before), 0) << "after turn " << turns;
    if (++turns == 3) settings_.photons.time = 9.0;
  }
  EXPECT_GT(turns, 5);
  EXPECT_EQ(unlike(renderer_->read(), expected), 0);
  EXPECT_TRUE(renderer_->is_kept(camera_, settings_));
}

TEST_F(KeptScene, LightIsSeenInCoarseImagesOfWhichTheRestIsLeftOut) {
  settings_.axes = settings_.scale_bar = false;
  const auto coarse = [&] {
    feed_.feed(*renderer_, photons_, settings_, *scene_);
    Pace pace(0);
    EXPECT_TRUE(renderer_->draw(camera_, settings_, std::nullopt, Coarse{{80, 60}}, &pace));
    return renderer_->read();
  };
  const Image lit = coarse();
  settings_.photons.paths = settings_.photons.points = false;
  EXPECT_GT(compare(coarse(), lit).share, 0.05);
}

TEST_F(KeptScene, IsShownByAWindowWhoseTimeRuns) {
  ViewOptions options;
  options.image.samples = 1;
  options.bookmarks = "/dev/null/bookmarks.json";
  ViewerState state(options, kSize);
  FrameScheduler frames;
  state.show(scene_);
  state.light().set_photons(set_);
  const auto at = [&](double time) {
    state.change_settings([&](Settings& s) { s.photons.time = time; });
    for (int i = 0; i != 100 && frames.busy(state); ++i) frames.draw(state);
    return frames.renderer().read();
  };
  const Image early = at(1), late = at(9);
  EXPECT_TRUE(frames.renderer().is_kept(state.camera(), state.settings()));
  EXPECT_GT(compare(early, late).share, 0.01);
  EXPECT_EQ(unlike(at(1), early), 0);
  state.light().play(true);
  for (int i = 0; i != 5; ++i) {
    state.light().advance(0.2);
    frames.draw(state);
  }
  EXPECT_TRUE(frames.renderer().is_kept(state.camera(), state.settings())) << "time runs, and the scene stays";
  state.light().play(false);
  const Image stopped = at(5);
  state.change_settings([](Settings& s) { s.color = ColorBy::normal; });
  for (int i = 0; i != 100 && frames.busy(state); ++i) frames.draw(state);
  state.change_settings([](Settings& s) { s.color = ColorBy::material; });
  EXPECT_EQ(unlike(at(5), stopped), 0);
}

}  // namespace
}  // namespace raylift::viewer
