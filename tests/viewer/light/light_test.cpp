// SPDX-License-Identifier: Apache-2.0
// Images of photons, drawn without a display on Mesa's software renderer.
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>

#include "draw/photon_feed.h"
#include "light/photon_colors.h"
#include "model/colors/palette.h"
#include "photon_rows.h"
#include "support/images.h"
#include "support/paths.h"
#include "viewer/with_context.h"

namespace raylift::viewer {
namespace {

using namespace test_photons;

/// A cube of 2 m seen from the front along +y, and photons before and behind it, drawn by compute shaders or without.
class DrawnLight : public WithContext, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    if (IsSkipped()) return;
    settings_.axes = settings_.scale_bar = false;
    settings_.photons.color = PhotonColor::wavelength;
    settings_.photons.opacity = 1;
    settings_.photons.density = 0;
    settings_.background = {{0, 0, 0}, {0, 0, 0}, true};
    scene_ = std::make_unique<Scene>(load(test::data("cube.dae")));
    renderer_->set_scene(*scene_);
    compute(GetParam());
    camera_.orthographic = true;
    camera_.look(StandardView::front);
    camera_.frame(scene_->bounds, kAspect);
  }
  void compute(bool computes) {
    renderer_->photons().set_computed_from(computes ? 0 : std::numeric_limits<std::uint64_t>::max());
  }
  void show(PhotonSet set) {
    feed_.forget();
    photons_ = Photons(std::make_shared<const PhotonSet>(std::move(set)), *scene_);
  }
  Image draw() {
    feed_.feed(*renderer_, photons_, settings_, *scene_);
    renderer_->draw(camera_, settings_);
    return renderer_->read();
  }
  /// The pixel that shows a point.
  [[nodiscard]] std::array<int, 2> pixel(const Eigen::Vector3d& point) const {
    const Eigen::Vector3d at = camera_.project(point, kAspect);
    return {static_cast<int>((0.5 + 0.5 * at.x()) * kSize.width),
            static_cast<int>((0.5 - 0.5 * at.y()) * kSize.height)};
  }
  /// Whether a pixel there, or beside it, has this colour.
  [[nodiscard]] bool has(const Image& image, const Eigen::Vector3d& point, const Color& color) const {
    const auto [x, y] = pixel(point);
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const Pixel& there = image.at(std::clamp(x + dx, 0, kSize.width - 1), std::clamp(y + dy, 0, kSize.height - 1));
        bool same = there[3] != 0;
        for (std::size_t c = 0; c != 3; ++c) same &= std::abs(255 * color[c] - there[c]) < 6;
        if (same) return true;
      }
    return false;
  }
  /// From the left to the right before the cube, 0 to 10 ns, through the image's middle.
  static std::vector<PhotonRow> before(float wavelength = 470, float y = -1500) {
    return {event(flags::kTorch, {-900, y, 0}, 0, 1, wavelength),
            event(flags::kBulkScatter, {900, y, 0}, 10, 1, wavelength)};
  }

  static constexpr double kAspect = 320.0 / 240;
  const Ground kGround{};  // black
  std::unique_ptr<Scene> scene_;
  Camera camera_;
  Settings settings_;
  Photons photons_;
  PhotonFeed feed_;
};

TEST_P(DrawnLight, HasTheColourOfItsWavelength) {
  for (const float nm : {300.0F, 420.0F, 470.0F, 532.0F, 640.0F, 900.0F}) {
    show(set_of({before(nm)}));
    const Image image = draw();
    for (const double x : {-800.0, 0.0, 800.0})
      EXPECT_TRUE(has(image, {x, -1500, 0}, legible(wavelength_color(static_cast<double>(nm)), kGround)))
          << nm << ' ' << x;
    EXPECT_FALSE(has(image, {0, -1500, 300}, legible(wavelength_color(static_cast<double>(nm)), kGround)))
        << "only on its way";
  }
}

TEST_P(DrawnLight, HasColoursByTimeFlagNumberAndMaterial) {
  std::vector<PhotonRow> path = before();
  path.push_back(event(flags::kSurfaceAbsorb, {900, -1500, 800}, 20, 1));
  show(set_of({path}));
  settings_.photons.color = PhotonColor::time;
  Image image = draw();
  for (const double x : {-800.0, 0.0, 800.0})
    EXPECT_TRUE(has(image, {x, -1500, 0}, ScaleColors(ColorMap::magma, kGround).at((x + 900) / 1800 * 0.5))) << x;
  settings_.photons.scale_log = true;
  settings_.photons.scale_range = {1, 100};
  EXPECT_TRUE(has(draw(), {900, -1500, 0}, ScaleColors(ColorMap::magma, kGround).at(0.5))) << "10 ns";
  settings_.photons.color = PhotonColor::process;
  image = draw();
  EXPECT_TRUE(has(image, {0, -1500, 0}, event_color(13, kGround))) << "since its birth";
  EXPECT_TRUE(has(image, {900, -1500, 400}, event_color(6, kGround))) << "since it was scattered";
  settings_.photons.color = PhotonColor::photon;
  EXPECT_TRUE(has(draw(), {0, -1500, 0}, photon_color(1, kGround)));
  settings_.photons.color = PhotonColor::material;
  EXPECT_TRUE(has(draw(), {0, -1500, 0}, unpacked(material_palette(*scene_)[material_of(*scene_, 0)])));
}

TEST_P(DrawnLight, IsHiddenBySolidsAndNotCutWithThem) {
  show(set_of({before(470, 500)}));  // within the cube
  EXPECT_FALSE(has(draw(), {0, 500, 0}, legible(wavelength_color(470), kGround)));
  settings_.clip = parse_clip("-y");
  EXPECT_FALSE(has(draw(), {0, 500, 0}, legible(wavelength_color(470), kGround))) << "a cap hides it";
  settings_.caps = false;
  EXPECT_TRUE(has(draw(), {0, 500, 0}, legible(wavelength_color(470), kGround))) << "the cut shows it";
  show(set_of({before(470, -500)}));
  EXPECT_TRUE(has(draw(), {0, -500, 0}, legible(wavelength_color(470), kGround))) << "light before the plane stays";
}

TEST_P(DrawnLight, IsCutWithThemWhereTheSettingSaysSo) {
  show(set_of({before()}, {event(flags::kSurfaceDetect, {-400, -1500, 500}, 6, 2, 470),
                           event(flags::kSurfaceDetect, {400, -1500, 500}, 6, 3, 470)}));
  settings_.photons.clip = true;
  const Color color = legible(wavelength_color(470), kGround);
  EXPECT_TRUE(has(draw(), {800, -1500, 0}, color)) << "without a plane all is seen";
  const auto expect = [&](bool left, bool right, const char* why) {
    for (const float size : {1.0F, 4.0F}) {
      settings_.photons.size = size;
      for (const double time : {-1.0, 20.0}) {
        settings_.photons.time.reset();
        if (time > 0) settings_.photons.time = time;
        const Image image = draw();
        for (const double x : {-800.0, -60.0}) EXPECT_EQ(has(image, {x, -1500, 0}, color), left) << why << x << size;
        for (const double x : {60.0, 800.0}) EXPECT_EQ(has(image, {x, -1500, 0}, color), right) << why << x << size;
        EXPECT_EQ(has(image, {-400, -1500, 500}, color), left) << why << ": a point";
        EXPECT_EQ(has(image, {400, -1500, 500}, color), right) << why << ": a point";
      }
    }
    const auto [x, y] = pixel({500, -1500, 0});
    EXPECT_EQ(renderer_->pick_photon(camera_, settings_, x, y).has_value(), right) << why << ": under a click";
  };
  settings_.clip = parse_clip("x=0");
  expect(true, false, "a plane");
  ClipBox box;
  box.box.add({-2000, -2000, -2000});
  box.box.add({0, 2000, 2000});
  settings_.set_clip_box(box);
  expect(true, false, "a box");
  box.away = true;
  settings_.set_clip_box(box);
  expect(false, true, "a box that is cut away");
  settings_.photons.clip = false;
  expect(true, true, "light is whole");
}

TEST_P(DrawnLight, GoesWithItsTime) {
  show(set_of({before()}, {event(flags::kSurfaceDetect, {0, -1500, 500}, 6, 2, 532)}));
  const auto lit = [&](double x) { return has(draw(), {x, -1500, 0}, legible(wavelength_color(470), kGround)); };
  settings_.photons.time = 5;
  EXPECT_TRUE(lit(-500));
  EXPECT_FALSE(lit(500));
  EXPECT_FALSE(has(draw(), {0, -1500, 500}, legible(wavelength_color(532), kGround))) << "not yet detected";
  settings_.photons.time = 7.5;
  EXPECT_TRUE(lit(400));
  EXPECT_FALSE(lit(600));
  EXPECT_TRUE(has(draw(), {0, -1500, 500}, legible(wavelength_color(532), kGround)));
  settings_.photons.trail = 2;
  EXPECT_TRUE(lit(300));
  EXPECT_FALSE(lit(0)) << "longer ago than the trail";
  settings_.photons.time = -1;
  EXPECT_FALSE(lit(-900)) << "not yet born";
  settings_.photons.time = 100;
  settings_.photons.trail = 0;
  EXPECT_TRUE(lit(800)) << "all of its way";
}

TEST_P(DrawnLight, HasAHeadAtItsTime) {
  show(set_of({before()}));
  settings_.photons.time = 5;
  settings_.photons.trail = 1e-6;  // the head alone
  const Image image = draw();
  EXPECT_TRUE(has(image, {0, -1500, 0}, legible(wavelength_color(470), kGround)));
  int count = 0;
  for (int y = 0; y != kSize.height; ++y)
    for (int x = 0; x != kSize.width; ++x)
      count += image.at(x, y)[2] > 150 && image.at(x, y)[0] < 110 && std::abs(x - 160) < 8;
  EXPECT_GT(count, 4);
  EXPECT_LT(count, 40) << "a point";
}

TEST_P(DrawnLight, CanBeWideTranslucentOrOff) {
  show(set_of({before()}));
  const auto pixels = [&] {
    const Image image = draw();
    settings_.photons.paths = false;
    const Image without = draw();
    settings_.photons.paths = true;
    return compare(image, without).share * kSize.width * kSize.height;
  };
  const double narrow = pixels();
  EXPECT_GT(narrow, 190) << "1800 of 2120 mm in 240 rows and 320 columns";
  settings_.photons.size = 5;
  EXPECT_NEAR(pixels() / narrow, 5, 1.2);
  settings_.photons.opacity = 0.5F;
  EXPECT_FALSE(has(draw(), {0, -1500, 0}, legible(wavelength_color(470), kGround)));
  EXPECT_NEAR(pixels() / narrow, 5, 1.2);
  // The same in perspective, also where a line goes past the eye.
  camera_.orthographic = false;
  settings_.photons.opacity = 1;
  EXPECT_TRUE(has(draw(), {0, -1500, 0}, legible(wavelength_color(470), kGround)));
  show(set_of(
      {{event(flags::kTorch, {0, -100000, 300}, 0, 1, 470), event(flags::kBulkAbsorb, {0, -1010, 300}, 1, 1, 470)}}));
  for (const float size : {1.0F, 5.0F}) {
    settings_.photons.size = size;
    EXPECT_TRUE(has(draw(), {0, -1010, 300}, legible(wavelength_color(470), kGround))) << size;
  }
}

TEST_P(DrawnLight, IsPickedWhereItIsSeen) {
  show(set_of({before(), before(470, 500)}, {event(flags::kSurfaceDetect, {0, -1500, 500}, 6, 2)}));
  (void)draw();
  const auto at = [&](const Eigen::Vector3d& point, int off = 0) {
    const auto [x, y] = pixel(point);
    return renderer_->pick_photon(camera_, settings_, x, y + off);
  };
  ASSERT_TRUE(at({0, -1500, 0}));
  EXPECT_FALSE(at({0, -1500, 0})->point);
  EXPECT_EQ(at({0, -1500, 0})->row, 0U) << "the nearer one, not that within the cube";
  EXPECT_TRUE(at({0, -1500, 0}, 3)) << "near it";
  EXPECT_FALSE(at({0, -1500, 0}, 20));
  ASSERT_TRUE(at({0, -1500, 500}));
  EXPECT_TRUE(at({0, -1500, 500})->point);
  settings_.photons.time = 2;
  EXPECT_FALSE(at({500, -1500, 0})) << "it is not there yet";
  EXPECT_TRUE(at({-700, -1500, 0}));
  EXPECT_EQ(renderer_->pick(camera_, settings_, 160, 120)->instance, 0U) << "solids are picked as before";
}

TEST_P(DrawnLight, ThatIsSelectedIsSeenThroughWalls) {
  show(set_of({before(470, 500)}));
  const Image hidden = draw();
  photons_.select(photons_.selection_of_step(0));
  const Image marked = draw();
  EXPECT_GT(compare(hidden, marked).share * kSize.width * kSize.height, 400);
  EXPECT_TRUE(has(marked, {0, 500, 0}, {1, 1, 1}));
  photons_.select(std::nullopt);
  EXPECT_EQ(compare(hidden, draw()).share, 0);
}

TEST_P(DrawnLight, IsExactFarFromTheOrigin) {
  const Eigen::Vector3d offset(2.4e6, -8e5, 0);
  const auto there = [&](float x, float y, float z) {
    return Float3{static_cast<float>(x + offset.x()), static_cast<float>(y + offset.y()), z};
  };
  scene_->instances[0].transform = to_eigen(scene_->instances[0].transform).pretranslate(offset);
  scene_->bounds = world_bounds(*scene_);
  renderer_->set_scene(*scene_);
  camera_.target += offset;
  show(set_of({{event(flags::kTorch, there(-900, -1500, 0), 0, 1, 470),
                event(flags::kBulkAbsorb, there(900, -1500, 0), 1, 1, 470)}}));
  const Image image = draw();
  for (const double x : {-850.0, 0.0, 850.0})
    EXPECT_TRUE(has(image, offset + Eigen::Vector3d(x, -1500, 0), legible(wavelength_color(470), kGround)));
}

TEST_P(DrawnLight, ColoursSolidsByTheirHits) {
  settings_.color = ColorBy::hits;
  const Pixel none = draw().at(160, 60);
  show(set_of({}, {event(flags::kSurfaceDetect, {0, -1000, 0}, 6, 2)}));
  const Pixel one = draw().at(160, 60);
  EXPECT_LT(std::abs(none[0] - none[2]), 20) << "grey";
  EXPECT_GT(one[0], one[2] + 80) << "the most: yellow";
  settings_.photons.time = 5;
  EXPECT_EQ(draw().at(160, 60), none) << "before the hit";
}

TEST_P(DrawnLight, LeavesSolidsTheirOwnColors) {
  renderer_->set_own_colors(std::vector<std::uint32_t>(scene_->instances.size(), 0xFF0000FF));
  const Pixel red = draw().at(160, 60);
  EXPECT_GT(red[0], red[1] + 60);
  settings_.color = ColorBy::hits;
  const Pixel none = draw().at(160, 60);
  EXPECT_LT(std::abs(none[0] - none[2]), 20) << "data goes before";
  settings_.color = ColorBy::material;
  renderer_->set_own_colors({});
  EXPECT_NE(draw().at(160, 60), red);
}

TEST_P(DrawnLight, OfSomePhotonsIsDrawnWhileTheImageIsCoarse) {
  std::vector<std::vector<PhotonRow>> paths;
  for (int i = 0; i != 8; ++i) {
    const float z = 800 - 200 * static_cast<float>(i);
    paths.push_back(
        {event(flags::kTorch, {-900, -1500, z}, 0, 1, 470), event(flags::kBulkAbsorb, {900, -1500, z}, 1, 1, 470)});
  }
  show(set_of(paths));
  settings_.photons.size = 4;
  const auto lit = [&](const Image& image, int i) {
    return has(image, {0, -1500, 800.0 - 200 * i}, legible(wavelength_color(470), kGround));
  };
  const Image fine = draw();
  renderer_->draw(camera_, settings_, std::nullopt, Coarse{{kSize.width / 2, kSize.height / 2}});
  const Image coarse = renderer_->read();
  EXPECT_TRUE(lit(fine, 0) && lit(fine, 1) && lit(fine, 2) && lit(fine, 7));
  EXPECT_TRUE(lit(coarse, 0) && lit(coarse, 5)) << "a quarter, evenly spread";
  EXPECT_FALSE(lit(coarse, 1) || lit(coarse, 7));
}

TEST_P(DrawnLight, WithoutPhotonsChangesNothing) {
  const Image before_light = draw();
  show(PhotonSet());
  EXPECT_EQ(compare(before_light, draw(), 0).share, 0);
  EXPECT_FALSE(renderer_->pick_photon(camera_, settings_, 160, 120));
}

/// Rays of all hues from a point into the open detector: an image of references/, looked at when it was made.
TEST_P(DrawnLight, ImageIsAsItsReference) {
  scene_ = std::make_unique<Scene>(load(test::data("instances.dae")));
  renderer_->set_scene(*scene_);
  renderer_->resize(kSize, 4);
  camera_ = Camera();
  camera_.look(StandardView::iso);
  camera_.frame(scene_->bounds, kAspect);
  settings_.background = parse_background("dark");
  std::vector<std::vector<PhotonRow>> paths;
  std::vector<PhotonRow> ends;
  for (std::uint32_t i = 0; i != 48; ++i) {
    const float turn = 6.2831853F * static_cast<float>(i) / 48, nm = 360 + 8 * static_cast<float>(i);
    const auto out = [&](float r, float z) { return Float3{20 + r * std::cos(turn), 15 + r * std::sin(turn), z}; };
    paths.push_back({event(flags::kTorch, out(0, 6), 0, i, nm), event(flags::kBulkScatter, out(10, 10), 10, i, nm),
                     event(flags::kSurfaceDetect, out(24, 3), 24, i, nm)});
    ends.push_back(paths.back().back());
    ends.back().time = 16 + static_cast<float>(i % 3);
  }
  show(set_of(paths, ends));
  settings_.photons.size = 2;
  settings_.photons.time = 17;
  settings_.photons.trail = 9;
  const Image image = draw();
  const auto file = test::source_dir() / "tests/viewer/references/light.png";
  if (std::getenv("RAYLIFT_UPDATE_REFERENCES") != nullptr) write_png(image, file);
  const Difference difference = compare(image, read_png(file), 24);
  EXPECT_LT(difference.share, 0.02);
  EXPECT_LT(difference.mean, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Ways, DrawnLight, testing::Bool(),
                         [](const auto& way) { return way.param ? "Computed" : "Rasterised"; });

/// Lines of any length and place, the eye's surroundings included, and points.
class BothWays : public DrawnLight {
 protected:
  static PhotonSet much_light(unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> place(0, 1500), way(0, 400);
    std::vector<std::vector<PhotonRow>> paths;
    std::vector<PhotonRow> ends;
    for (std::uint32_t i = 0; i != 300; ++i) {
      Float3 at{place(random), place(random), place(random)};
      std::vector<PhotonRow> path;
      for (int step = 0; step != 8; ++step) {
        path.push_back(event(flags::kBulkScatter, at, static_cast<float>(2 * step), i, 400 + static_cast<float>(i)));
        at = {at.x + way(random), at.y + way(random), at.z + way(random)};
      }
      ends.push_back(path.back());
      paths.push_back(std::move(path));
    }
    return set_of(paths, ends);
  }
};

TEST_P(BothWays, LookTheSame) {
  camera_.orthographic = GetParam();
  camera_.look(StandardView::iso);
  const double distance = camera_.distance;
  unsigned seed = 0;
  double lit_in_all = 0;
  for (const int samples : {1, 4}) {
    renderer_->resize(kSize, samples);
    for (const float size : {1.0F, 3.0F})
      for (const bool in_time : {false, true}) {
        settings_.photons.size = size;
        settings_.photons.color = in_time ? PhotonColor::time : PhotonColor::wavelength;
        if (in_time) settings_.photons.time = 7;
        settings_.photons.trail = in_time ? 3 : 0;
        if (!in_time) settings_.photons.time.reset();
        show(much_light(++seed));
        camera_.distance = seed % 3 == 0 ? 0.6 * distance : 2 * distance;  // in the midst of the light, or outside
        compute(false);
        const Image rasterised = draw();
        compute(true);
        const Image computed = draw();
        const Difference difference = compare(rasterised, computed, 48);
        settings_.photons.paths = settings_.photons.points = false;
        const double lit = compare(rasterised, draw(), 48).share;
        lit_in_all += lit;
        // With several samples, computed discs have smooth edges.
        EXPECT_LE(difference.share, (samples == 1 ? 0.02 : 0.08) * lit)
            << samples << " samples, size " << size << (in_time ? ", at a time" : "");
        settings_.photons.paths = settings_.photons.points = true;
      }
  }
  EXPECT_GT(lit_in_all, 0.5) << "of eight images";
}

INSTANTIATE_TEST_SUITE_P(Cameras, BothWays, testing::Bool(),
                         [](const auto& camera) { return camera.param ? "orthographic" : "perspective"; });

}  // namespace
}  // namespace raylift::viewer
