// SPDX-License-Identifier: Apache-2.0
// Images that are drawn in turns are those that are drawn at once, and until they are complete the one before shows.
#include "draw/scene/pace.h"

#include <gtest/gtest.h>
#include <raylift/geometry/checks/check.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "cli/image.h"
#include "support/effort.h"
#include "viewer/meshes/round_solids.h"
#include "viewer/with_context.h"

namespace raylift::viewer {
namespace {

using Eigen::Vector3d;

class Paced : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    if (IsSkipped()) return;
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<std::pair<Vector3d, double>> places;
    for (int i = 0; i != 60; ++i)
      places.emplace_back(1000 * Vector3d{uniform(random), uniform(random), uniform(random)}, 160);
    scene_ = round_solids(places, 32);
    camera_.look(StandardView::iso);
    camera_.frame(scene_.bounds, 320.0 / 240);
    settings_.detail = 0;
    renderer_->resize({160, 120}, 1);
    renderer_->set_scene(scene_);
  }
  Image at_once() {
    EXPECT_TRUE(renderer_->draw(camera_, settings_));
    return renderer_->read();
  }
  /// Each turn draws one piece.
  Image in_turns(
      const Image& before, const std::function<void()>& between = [] {}) {
    Pace pace(0);
    turns_ = 1;
    while (!renderer_->draw(camera_, settings_, std::nullopt, std::nullopt, &pace)) {
      ++turns_;
      EXPECT_EQ(renderer_->read().pixels, before.pixels) << "after turn " << turns_;
      between();
      if (turns_ > 500) break;
    }
    return renderer_->read();
  }

  Scene scene_;
  Camera camera_;
  Settings settings_;
  int turns_ = 0;
};

TEST_F(Paced, ImagesAreThoseThatAreDrawnAtOnce) {
  const std::vector<std::pair<const char*, std::function<void(Settings&)>>> ways{
      {"surfaces", [](Settings&) {}},
      {"edges", [](Settings& s) { s.edges = true; }},
      {"wireframe", [](Settings& s) { s.wireframe = true; }},
      {"feature edges", [](Settings& s) { s.set_feature_edges(true); }},
      {"transparent", [](Settings& s) { s.opacity = 0.4F; }},
      {"transparent, edges", [](Settings& s) { s.opacity = 0.4F, s.edges = true; }},
      {"cut",
       [](Settings& s) {
         s.clip = ClipPlane{Vector3d(0, 0, 1), 0.0};
       }},
      {"cut, transparent",
       [](Settings& s) {
         s.clip = ClipPlane{Vector3d(0, 0, 1), 0.0}, s.opacity = 0.4F;
       }},
      {"simplified", [](Settings& s) { s.detail = 0.75F; }},
  };
  std::vector<std::uint8_t> looks(scene_.instances.size(), static_cast<std::uint8_t>(Look::solid));
  for (std::size_t i = 0; i != looks.size(); ++i)
    looks[i] = static_cast<std::uint8_t>(
        std::array{Look::solid, Look::solid, Look::faint, Look::glass, Look::lines, Look::edged}[i % 6]);
  int tried = 0;
  for (const bool mixed : {false, true}) {
    renderer_->set_looks(mixed ? std::span<const std::uint8_t>(looks) : std::span<const std::uint8_t>());
    renderer_->set_selected(mixed ? std::optional<std::uint32_t>(5) : std::nullopt);
    for (const auto& [name, change] : ways) {
      if (tried++ % test::kStride != 0) continue;
      SCOPED_TRACE(name);
      settings_ = Settings();
      settings_.detail = 0;
      change(settings_);
      const Image expected = at_once();
      Settings other = settings_;
      std::swap(other, settings_);
      settings_.color = ColorBy::solid;
      const Image before = at_once();
      settings_ = other;
      ASSERT_NE(expected.pixels, before.pixels);
      EXPECT_EQ(in_turns(before).pixels, expected.pixels);
      EXPECT_GT(turns_, settings_.detail > 0 ? 2 : 4);
      // Picking draws too, and looks at other solids.
      settings_.color = ColorBy::solid;
      const Image again = at_once();
      settings_ = other;
      EXPECT_EQ(in_turns(again, [&] { (void)renderer_->pick(camera_, settings_, 80, 60); }).pixels, expected.pixels);
    }
  }
}

TEST_F(Paced, TurnsEndBeforeAPieceThatWouldTakeTooLong) {
  using std::chrono::milliseconds;
  for (const auto& [seconds, of_piece] : {std::pair(0.05, milliseconds(30)), {0.01, milliseconds(20)}}) {
    Pace pace(seconds);
    for (int turn = 1; turn != 4; ++turn) {
      int drawn = 0;
      pace.begin_turn();
      for (int piece = 0; piece != 3; ++piece)
        pace.piece([&, time = of_piece] {
          ++drawn;
          std::this_thread::sleep_for(time);
        });
      EXPECT_EQ(drawn, 1) << "two would take too long, and one is drawn however long it takes";
      EXPECT_EQ(pace.stopped(), turn < 3);
    }
  }
}

TEST_F(Paced, CoarseImagesAreDoneAfterATurn) {
  const Image whole = at_once();
  Pace pace(0);
  EXPECT_TRUE(renderer_->draw(camera_, settings_, std::nullopt, Coarse{{40, 30}}, &pace));
  const Image begun = renderer_->read();
  EXPECT_NE(begun.pixels, whole.pixels) << "what is left is left out";
  Pace patient(1e9);
  EXPECT_TRUE(renderer_->draw(camera_, settings_, std::nullopt, Coarse{{40, 30}}, &patient));
  EXPECT_NE(renderer_->read().pixels, begun.pixels);
}

}  // namespace
}  // namespace raylift::viewer
