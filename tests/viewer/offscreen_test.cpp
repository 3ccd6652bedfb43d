// SPDX-License-Identifier: Apache-2.0
// Images drawn by EGL without a display, on Mesa's software renderer so that they are the same everywhere.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/find_solids.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/interop/gl_context.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "draw/overlay/overlay.h"
#include "draw/renderer.h"
#include "model/solids/solids.h"
#include "support/images.h"
#include "support/paths.h"
#include "with_context.h"

namespace raylift::viewer {
namespace {

constexpr double kAspect = 320.0 / 240;

/// A scene on a renderer, with a camera that frames it.
class Offscreen : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    settings_.axes = false;
    settings_.scale_bar = false;
    settings_.background = {{0, 0, 0}, {0, 0, 0}, true};
  }

  void show(const char* file, StandardView view = StandardView::iso) {
    scene_ = std::make_unique<Scene>(load(test::data(file)));
    renderer_->set_scene(*scene_);
    camera_ = Camera();
    camera_.up = Eigen::Vector3d::Unit(static_cast<int>(scene_->up_axis));
    camera_.look(view);
    camera_.frame(scene_->bounds, kAspect);
  }
  Image draw() {
    renderer_->draw(camera_, settings_);
    return renderer_->read();
  }
  static double covered(const Image& image) {
    return static_cast<double>(
               std::count_if(image.pixels.begin(), image.pixels.end(), [](const Pixel& p) { return p[3] != 0; })) /
           static_cast<double>(image.pixels.size());
  }

  std::unique_ptr<Scene> scene_;
  Camera camera_;
  Settings settings_;
};

TEST_F(Offscreen, ACubeFromTheFrontIsASquare) {
  show("cube.dae", StandardView::front);
  camera_.orthographic = true;
  camera_.frame(scene_->bounds, kAspect);
  const Image image = draw();
  // The height is filled but for the margin, and a square of that height takes 3/4 of the width.
  EXPECT_NEAR(covered(image), 1 / (1.06 * 1.06) / kAspect, 0.01);
  EXPECT_EQ(image.at(160, 120)[3], 255);
  EXPECT_EQ(image.at(5, 120)[3], 0);
}

TEST_F(Offscreen, PicksWhatIsUnderAPixel) {
  show("cube.dae", StandardView::front);
  const auto middle = renderer_->pick(camera_, settings_, 160, 120);
  ASSERT_TRUE(middle);
  EXPECT_EQ(middle->instance, 0U);
  EXPECT_LT(middle->triangle, 12U);
  EXPECT_FALSE(renderer_->pick(camera_, settings_, 2, 2));
  EXPECT_FALSE(renderer_->pick(camera_, settings_, -1, 500));
}

TEST_F(Offscreen, IdsNameEverySolidThatIsSeen) {
  show("instances.dae", StandardView::top);
  const IdImage ids = renderer_->ids(camera_, settings_);
  std::set<std::uint32_t> seen;
  for (const auto& id : ids.ids)
    if (id[0] != 0) seen.insert(id[0] - 1);
  EXPECT_EQ(seen.size(), scene_->instances.size());
  for (int y = 0; y < kSize.height; y += 17)
    for (int x = 0; x < kSize.width; x += 13) {
      const auto picked = renderer_->pick(camera_, settings_, x, y);
      const auto& id = ids.ids[static_cast<std::size_t>(y * kSize.width + x)];
      EXPECT_EQ(picked ? picked->instance + 1 : 0, id[0]) << x << ' ' << y;
    }
}

TEST_F(Offscreen, IsTheSameWhereFragmentsReadTheirSolids) {
  if (!GLEW_ARB_shader_draw_parameters) GTEST_SKIP() << "no ARB_shader_draw_parameters";
  show("detector.dae", StandardView::iso);
  std::vector<std::uint8_t> looks(scene_->instances.size());
  for (std::size_t i = 0; i != looks.size(); ++i) looks[i] = static_cast<std::uint8_t>(i % 7);
  renderer_->set_looks(looks);
  std::set<std::vector<Pixel>> images;
  for (const ColorBy color : {ColorBy::material, ColorBy::solid, ColorBy::mesh, ColorBy::surface, ColorBy::normal})
    for (const bool smooth : {false, true}) {
      settings_.color = color;
      settings_.smooth = smooth;
      settings_.edges = smooth;
      renderer_->set_fetches(false);
      const Image by_vertices = draw();
      const IdImage ids = renderer_->ids(camera_, settings_);
      renderer_->set_fetches(true);
      EXPECT_EQ(draw().pixels, by_vertices.pixels) << static_cast<int>(color);
      EXPECT_EQ(renderer_->ids(camera_, settings_).ids, ids.ids) << static_cast<int>(color);
      images.insert(by_vertices.pixels);
    }
  EXPECT_GE(images.size(), 5U) << "the colours differ";
}

TEST_F(Offscreen, HidesWhatIsHidden) {
  show("instances.dae", StandardView::top);  // none is above another
  const IdImage all = renderer_->ids(camera_, settings_);
  std::vector<std::uint8_t> visible(scene_->instances.size(), 0);
  for (std::uint32_t i = 0; i != visible.size(); ++i) {
    visible[i] = 1;
    renderer_->set_looks(visible);
    const IdImage one = renderer_->ids(camera_, settings_);
    std::size_t seen = 0, wrong = 0;
    for (std::size_t pixel = 0; pixel != all.ids.size(); ++pixel) {
      const std::uint32_t expected = all.ids[pixel][0] == i + 1 ? i + 1 : 0;
      seen += expected != 0;
      wrong += one.ids[pixel][0] != expected;
    }
    EXPECT_GT(seen, 0U) << i;
    EXPECT_EQ(wrong, 0U) << i;
    EXPECT_GT(covered(draw()), 0) << i;
    visible[i] = 0;
  }
  renderer_->set_looks(visible);
  EXPECT_EQ(covered(draw()), 0);
}

TEST_F(Offscreen, ClipsBeyondThePlane) {
  show("cube.dae", StandardView::front);
  camera_.orthographic = true;
  const double whole = covered(draw());
  settings_.clip = parse_clip("x");
  EXPECT_NEAR(covered(draw()), whole / 2, 0.01);
  settings_.clip = parse_clip("x=-500");
  EXPECT_NEAR(covered(draw()), whole / 4, 0.01);
  settings_.clip = parse_clip("-x=-500");
  EXPECT_NEAR(covered(draw()), whole * 3 / 4, 0.01);
  EXPECT_FALSE(renderer_->pick(camera_, settings_, 90, 120)) << "what is cut away can't be picked";
}

TEST_F(Offscreen, TwoPlanesBothHold) {
  show("cube.dae", StandardView::front);
  camera_.orthographic = true;
  const double whole = covered(draw());
  settings_.clip = parse_clip("x");
  settings_.more_clips = {parse_clip("z")};
  EXPECT_NEAR(covered(draw()), whole / 4, 0.01);
  settings_.more_clips = {parse_clip("z"), parse_clip("-x=-500")};
  EXPECT_NEAR(covered(draw()), whole / 8, 0.01);
  settings_.opacity = 0.5F;
  EXPECT_NEAR(covered(draw()), whole / 8, 0.01);
}

TEST_F(Offscreen, BackFacesAreColoured) {
  show("cube.dae", StandardView::front);
  settings_.back_faces = true;
  const auto red = [&](const Image& image) {
    const Pixel p = image.at(160, 120);
    return p[0] > 2 * p[1];
  };
  EXPECT_FALSE(red(draw()));
  settings_.clip = parse_clip("-y");
  EXPECT_FALSE(red(draw())) << "a cap hides them";
  settings_.caps = false;
  EXPECT_TRUE(red(draw()));
}

TEST_F(Offscreen, MirroredSolidsAreNotInsideOut) {
  show("nested_transforms.dae");
  settings_.back_faces = true;
  const Image image = draw();
  const auto red = std::count_if(image.pixels.begin(), image.pixels.end(),
                                 [](const Pixel& p) { return p[3] == 255 && p[0] > 2 * p[1]; });
  EXPECT_EQ(red, 0) << "closed solids from outside show no back faces";
}

TEST_F(Offscreen, ColoursAsAsked) {
  show("cube.dae", StandardView::front);
  settings_.color = ColorBy::normal;
  const Pixel normal = draw().at(160, 120);  // towards -y
  EXPECT_NEAR(normal[0], 128, 2);
  EXPECT_NEAR(normal[1], 0, 2);
  EXPECT_NEAR(normal[2], 128, 2);
  settings_.color = ColorBy::residency;
  const Pixel host = draw().at(160, 120);
  renderer_->set_device_triangles(12);
  const Pixel device = draw().at(160, 120);
  EXPECT_GT(host[0], host[1]) << "orange";
  EXPECT_GT(device[2], device[0]) << "blue";
}

TEST_F(Offscreen, TheSelectionHasAnOutlineAlsoThroughWalls) {
  show("detector.dae");  // with all shells solid: only the world's box is seen
  const std::uint32_t inner = find_solids(*scene_, "Vessel*").at(0);
  const Image before = draw();
  renderer_->set_selected(inner);
  const Image outlined = draw();
  std::vector<std::uint8_t> alone(scene_->instances.size(), 0);
  alone[inner] = 1;
  renderer_->set_looks(alone);
  const IdImage where = renderer_->ids(camera_, settings_);
  int inside = 0, changed_inside = 0, changed_around = 0;
  for (int y = 0; y < kSize.height; ++y)
    for (int x = 0; x < kSize.width; ++x) {
      const bool within = where.ids[static_cast<std::size_t>(y * kSize.width + x)][0] != 0;
      const bool changed = outlined.at(x, y) != before.at(x, y);
      inside += within;
      changed_inside += within && changed;
      changed_around += !within && changed;
    }
  EXPECT_GT(inside, 30);
  EXPECT_EQ(changed_inside, 0) << "no tint: its colour is what the legend says";
  EXPECT_GT(changed_around, 20);
  // Over an image of other makers too, and none without a selection.
  renderer_->set_looks({});
  renderer_->set_selected(std::nullopt);
  EXPECT_EQ(compare(before, draw(), 0).share, 0);
}

TEST_F(Offscreen, BackFacesAreToldApartByMoreThanHue) {
  show("cube.dae", StandardView::front);
  settings_.back_faces = true;
  settings_.caps = false;
  settings_.clip = parse_clip("-y");
  const Image image = draw();
  int darkest = 255, lightest = 0;
  for (int x = 150; x < 170; ++x) {
    darkest = std::min(darkest, int{image.at(x, 120)[0]});
    lightest = std::max(lightest, int{image.at(x, 120)[0]});
  }
  EXPECT_GT(lightest - darkest, 50) << "stripes";
}

TEST_F(Offscreen, TransparencyShowsWhatIsBehind) {
  show("instances.dae", StandardView::front);
  settings_.opacity = 0.3F;
  const Image image = draw();
  const auto half =
      std::count_if(image.pixels.begin(), image.pixels.end(), [](const Pixel& p) { return p[3] > 20 && p[3] < 250; });
  EXPECT_GT(half, 500);
  for (const int samples : {4, 1}) {  // and it survives a change of the image
    renderer_->resize({200, 100}, samples);
    EXPECT_GT(covered(draw()), 0.02);
  }
}

TEST_F(Offscreen, WireframeAndEdgesDrawLines) {
  show("cube.dae");
  const Image surface = draw();
  settings_.edges = true;
  const Difference edges = compare(surface, draw());
  EXPECT_GT(edges.share, 0.005);
  EXPECT_LT(edges.share, 0.1);
  settings_.wireframe = true;
  const Image lines = draw();
  EXPECT_GT(covered(lines), 0.005);
  EXPECT_LT(covered(lines), 0.1);
}

TEST_F(Offscreen, LargeCoordinatesLoseNothing) {
  show("instances.dae");
  settings_.color = ColorBy::solid;
  const Image here = draw();
  Scene far = *scene_;
  const Eigen::Vector3d offset(2.4e6 + 0.37, -802110.123, 12345.678);
  for (Instance& instance : far.instances) instance.transform = to_eigen(instance.transform).pretranslate(offset);
  far.bounds = world_bounds(far);
  renderer_->set_scene(far);
  camera_.target += offset;
  EXPECT_LT(compare(here, draw()).share, 0.002);
}

TEST_F(Offscreen, AnEmptySceneIsAnEmptyImage) {
  Scene empty;
  renderer_->set_scene(empty);
  EXPECT_EQ(covered(draw()), 0);
  EXPECT_FALSE(renderer_->pick(camera_, settings_, 3, 3));
}

TEST_F(Offscreen, ImagesThatAreTooLargeAreRefused) {
  try {
    renderer_->resize({1000000, 4}, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
  }
}

TEST_F(Offscreen, TheOverlayIsTheSameWhileTheSceneIsCoarse) {
  show("cube.dae");
  settings_.axes = settings_.scale_bar = true;
  settings_.background = parse_background("dark");
  renderer_->resize({640, 480}, 1);
  renderer_->draw(camera_, settings_);
  const Image fine = renderer_->read();
  renderer_->draw(camera_, settings_, std::nullopt, Coarse{{160, 120}});
  const Image coarse = renderer_->read();
  ASSERT_EQ(coarse.width, 640);
  int different_scene = 0, different_overlay = 0, overlay = 0;
  for (int y = 0; y < 480; ++y)
    for (int x = 0; x < 640; ++x) {
      const bool corner = y > 410 && (x < 80 || x > 440);
      const bool same = std::abs(fine.at(x, y)[1] - coarse.at(x, y)[1]) < 3;
      (corner ? different_overlay : different_scene) += !same;
      overlay += corner && fine.at(x, y)[1] > 120;
    }
  EXPECT_GT(overlay, 200);
  EXPECT_EQ(different_overlay, 0);
  EXPECT_GT(different_scene, 100) << "the scene is coarse";
  EXPECT_LT(compare(fine, coarse, 40).share, 0.05) << "and the same scene";
  // Transparency too, whose sums have the size of what is drawn.
  settings_.opacity = 0.4F;
  renderer_->draw(camera_, settings_);
  const Image clear = renderer_->read();
  renderer_->draw(camera_, settings_, std::nullopt, Coarse{{160, 120}});
  EXPECT_LT(compare(clear, renderer_->read(), 40).share, 0.05);
}

TEST_F(Offscreen, TheScaleBarIsReadableOnAnyGround) {
  show("cube.dae", StandardView::front);
  settings_.scale_bar = true;
  renderer_->resize({640, 480}, 1);
  for (const char* ground : {"#ffffff", "#000000", "#808080", "#e0e3ea", "#d9a441", "#202020,#f0f0f0"})
    for (const char* ink_of : {"dark", "light"}) {
      // The ground as if a solid of that colour stood behind the bar, whose ink follows from another background.
      settings_.background = parse_background(ground);
      Overlay bar;
      {
        Settings of = settings_;
        of.background = parse_background(ink_of);
        bar = make_overlay(camera_, of, 640, 480);
      }
      std::set<int> levels;
      for (const OverlayItem& item : bar) levels.insert(static_cast<int>(255 * item.paint[1]));
      const int behind = static_cast<int>(255 * settings_.background.bottom[1]);
      EXPECT_GT(std::max(std::abs(*levels.begin() - behind), std::abs(*levels.rbegin() - behind)), 90)
          << ground << ' ' << ink_of;
      EXPECT_GT(*levels.rbegin() - *levels.begin(), 150) << "ink and halo";
    }
}

}  // namespace
}  // namespace raylift::viewer
