// SPDX-License-Identifier: Apache-2.0
// Light that is followed while it is watched: the same photons as in a run, from a source that moves.
#include "light/live_light.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "light/photon_choice.h"
#include "rays/device_scene.h"
#include "support/paths.h"
#include "viewer/with_context.h"
#include "window/controls/controls.h"

namespace raylift::viewer {
namespace {

class LiveLightTest : public WithContext {
 protected:
  void show(const char* file) {
    scene_ = std::make_unique<Scene>(load(test::data(file)));
    UploadOptions options;
    options.bvh = true;
    geometry_ = std::make_unique<GpuGeometry>(upload(*scene_, choose_device(device_), options));
    live_ = std::make_unique<LiveLight>(*geometry_);
  }
  void TearDown() override {
    live_.reset();
    WithContext::TearDown();
  }
  void follow(const LightRequest& request) {
    live_->start(request);
    int rounds = 0;
    while (!live_->advance(0.01)) ASSERT_LT(++rounds, 10'000);
  }
  [[nodiscard]] std::vector<photon::PhotonRow> hits(const char* text, std::uint64_t count) const {
    std::vector<photon::PhotonRow> rows;
    photon::Simulation::Results results;
    results.hits = [&](auto some) { rows.insert(rows.end(), some.begin(), some.end()); };
    photon::Simulation simulation(*geometry_);
    const photon::LoadedSource source(text, *geometry_, 3);
    photon::Run run;
    run.seed = 3;
    (void)simulation.run(source.source(), run, count, results);
    return rows;
  }
  static bool same(const std::vector<photon::PhotonRow>& a, const std::vector<photon::PhotonRow>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
  }

  /// What the tests below ask for on each device.
  void follows_the_photons_of_a_run() {
    show("integrating_sphere.dae");
    const LightRequest request{"ball:0,0,0,100:wavelength=400-500", {0, 0, 0}, 1500, 300, 3, true};
    follow(request);
    const PhotonSet& set = *live_->photons();
    EXPECT_EQ(live_->followed(), 1500U);
    const auto expected = hits(request.source.c_str(), 1500);
    EXPECT_GT(expected.size(), 60U);
    EXPECT_TRUE(same(set.points, expected));
    const photon::LoadedSource source(request.source, *geometry_, 3);
    photon::Run run;
    run.seed = 3;
    EXPECT_TRUE(same(set.rows, photon::record(*geometry_, source.source(), run, 300)));
    ASSERT_EQ(set.paths(), 300U);
    EXPECT_EQ(set.rows_buffer != 0, true);
    // OpenGL's buffer has the same bytes.
    std::vector<photon::PhotonRow> drawn(set.rows.size());
    glGetNamedBufferSubData(set.rows_buffer, 0, static_cast<GLsizeiptr>(drawn.size() * sizeof(drawn[0])), drawn.data());
    EXPECT_TRUE(same(drawn, set.rows));
    // A hit that is also among the paths has its history, up to the events that both have.
    ASSERT_EQ(set.histories.size(), set.points.size());
    int compared = 0;
    for (std::size_t i = 0; i != set.points.size() && set.points[i].number < 300; ++i, ++compared)
      EXPECT_EQ(set.histories[i], history_of(set.path(set.points[i].number))) << i;
    EXPECT_GT(compared, 10);
  }
  void goes_with_its_source() {
    show("water_sphere.dae");
    LightRequest request{"point:0,0,0", {100, -50, 25}, 200, 200, 3, false};
    follow(request);
    EXPECT_EQ(live_->photons()->rows[0].position.x, 100);
    EXPECT_EQ(live_->photons()->rows[0].position.y, -50);
    EXPECT_EQ(live_->photons()->rows[0].position.z, 25);
    const photon::LoadedSource moved("point:100,-50,25", *geometry_, 3);
    photon::Run run;
    run.seed = 3;
    EXPECT_TRUE(same(live_->photons()->rows, photon::record(*geometry_, moved.source(), run, 200)));
  }

  std::string device_ = "host";
  std::unique_ptr<Scene> scene_;
  std::unique_ptr<GpuGeometry> geometry_;
  std::unique_ptr<LiveLight> live_;
};

TEST_F(LiveLightTest, FollowsThePhotonsOfARun) {
  follows_the_photons_of_a_run();
  EXPECT_TRUE(live_->shares()) << "Mesa and the host device have one memory";
}
TEST_F(LiveLightTest, GoesWithItsSource) {
  goes_with_its_source();
}

TEST_F(LiveLightTest, ComesInSlicesAndBeginsAnew) {
  show("integrating_sphere.dae");
  const LightRequest request{"point:0,0,0", {0, 0, 0}, 2000, 10, 0, false};
  live_->start(request);
  EXPECT_FALSE(live_->photons());
  EXPECT_FALSE(live_->advance(0));
  EXPECT_EQ(live_->followed(), 512U);
  const std::size_t first = live_->photons()->points.size();
  EXPECT_FALSE(live_->advance(0));
  EXPECT_GT(live_->photons()->points.size(), first);
  live_->start({"point:0,0,0", {0, 0, 100}, 600, 10, 0, false});
  EXPECT_EQ(live_->followed(), 0U);
  EXPECT_FALSE(live_->advance(0));
  EXPECT_TRUE(live_->advance(0));
  EXPECT_EQ(live_->followed(), 600U);
  EXPECT_GT(live_->photons_per_second(), 0);
  EXPECT_THROW(live_->start({"point:0,0", {0, 0, 0}, 1, 1, 0, false}), Error);
  EXPECT_TRUE(live_->done());
}

/// In the window's state: by the loader, the scheduler and the mouse.
TEST_F(LiveLightTest, IsMovedByTheMouse) {
  ViewOptions options;
  options.files = {test::data("integrating_sphere.dae").string()};
  options.device = "host";
  options.light.origin.source = "point:0,0,0";
  options.light.count = 600;
  options.light.record = 5;
  options.settings.photons.filter.history = "*";
  ViewerState state(options, {320, 240});
  SceneLoader loader;
  FrameScheduler frames;
  const auto settle = [&] {
    for (int i = 0; i != 3000; ++i) {
      loader.poll(state);
      frames.draw(state);
      if (!loader.busy() && !frames.busy(state) && state.photons().set()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "it does not come to rest: " << state.messages().error();
  };
  settle();
  ASSERT_EQ(state.messages().error(), "");
  EXPECT_EQ(frames.live_light()->followed(), 600U);
  EXPECT_EQ(state.photons().set()->paths(), 5U);
  EXPECT_EQ(state.photons().set()->rows[0].position.x, 0);

  state.viewpoint().move([](Camera& camera) {
    camera.target = {50, 20, 0};
    camera.distance = 1500;
  });
  WindowLayout layout;
  const ControlTarget target{state, &frames, layout, loader, [](const std::string&) {}};
  ControlEvent event;
  event.cursor.window = {320, 240};
  event.dx = 30;
  event.dy = -12;
  find_control(Control::Kind::drag, "right drag", true, false)->act(target, event);
  EXPECT_TRUE(frames.busy(state));
  settle();
  const Float3 born = state.photons().set()->rows[0].position;
  // So many pixels to the right and upward, in the camera's plane.
  const Camera& camera = state.camera();
  ASSERT_EQ(state.messages().error(), "");
  const Eigen::Vector3d place(static_cast<double>(born.x), static_cast<double>(born.y), static_cast<double>(born.z));
  const Eigen::Vector3d at = camera.project(place, 320.0 / 240), before = camera.project({0, 0, 0}, 320.0 / 240);
  EXPECT_NEAR((at - before).x() * 160, 30, 0.5);
  EXPECT_NEAR((at - before).y() * 120, 12, 0.5);
  // Another one from the panel; what is no source is an error, and changes nothing.
  EXPECT_THROW(state.light().set_source("nowhere"), Error);
  state.light().set_source("point:0,0,50");
  settle();
  EXPECT_EQ(state.photons().set()->rows[0].position.z, 50);
  state.light().set_source("");
  EXPECT_FALSE(frames.busy(state) && state.light().request());
}

/// On a GPU: OpenGL and CUDA both.
class CudaLiveLight : public LiveLightTest {
 protected:
  static void SetUpTestSuite() { make_cuda_context(); }
  void SetUp() override {
    device_ = "cuda:0";
    LiveLightTest::SetUp();
  }
};
TEST_F(CudaLiveLight, FollowsThePhotonsOfARun) {
  follows_the_photons_of_a_run();
  EXPECT_TRUE(live_->shares()) << "a kernel writes into OpenGL's memory";
}
TEST_F(CudaLiveLight, GoesWithItsSource) {
  goes_with_its_source();
}

}  // namespace
}  // namespace raylift::viewer
