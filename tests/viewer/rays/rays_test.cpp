// SPDX-License-Identifier: Apache-2.0
// The ray-cast image: it shows the same solids as the rasterised one, and reference images of every mode of both.
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/find_solids.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "model/solids/solids.h"
#include "support/images.h"
#include "support/paths.h"
#include "viewer/rays/with_rays.h"

namespace raylift::viewer {
namespace {

class Rays : public WithRays {
 protected:
  void show(const char* file, StandardView view = StandardView::iso) {
    WithRays::show(load(test::data(file)));
    solids_ = std::make_unique<Solids>(*scene_);
    looks_ = solids_->visible();
    camera_ = Camera();
    camera_.up = Eigen::Vector3d::Unit(static_cast<int>(scene_->up_axis));
    camera_.look(view);
    frame_scene();
  }
  /// By names: the detector with its outer shells away and cut; the next one stays open, as by default.
  void open_detector(Look buffer = Look::open) {
    show("detector.dae", StandardView::front);
    for (const char* shell : {"top", "Pool*", "Tank*"}) solids_->set_visible(find_solids(*scene_, shell), false);
    looks_ = solids_->visible();
    for (const std::uint32_t i : find_solids(*scene_, "Buffer*")) looks_[i] = static_cast<std::uint8_t>(buffer);
    renderer_->set_looks(looks_);
    settings_.clip = parse_clip("-y");
    camera_.orbit(0.4, -0.3);
    camera_.frame(solids_->bounds(find_solids(*scene_, "Buffer*")), 4.0 / 3);
  }
  Image draw() {
    if (settings_.ray_cast == RayMode::off) {
      renderer_->draw(camera_, settings_);
    } else {
      cast(settings_.ray_cast == RayMode::shaded ? 4 : 1);
      renderer_->draw(camera_, settings_, caster_->image());
    }
    return renderer_->read();
  }

  std::unique_ptr<Solids> solids_;
};

TEST_F(Rays, ShowTheSameSolidsAsTheRasterisedImage) {
  for (const char* file : {"instances.dae", "nested_transforms.dae", "materials.dae", "detector.dae"})
    for (const StandardView view : {StandardView::iso, StandardView::top, StandardView::left}) {
      show(file, view);
      EXPECT_GE(agreement(), 0.995) << file << ' ' << static_cast<int>(view);
      camera_.orthographic = true;
      EXPECT_GE(agreement(), 0.995) << file << ' ' << static_cast<int>(view) << " orthographic";
    }
}

TEST_F(Rays, AgreeAboutWhatIsHiddenAndCutAway) {
  open_detector();
  EXPECT_GE(agreement(), 0.995);
  settings_.clip = parse_clip("1,-2,0.5=300");
  EXPECT_GE(agreement(), 0.995);
  settings_.more_clips = {parse_clip("x=700"), parse_clip("-z")};
  EXPECT_GE(agreement(), 0.995) << "several planes";
  camera_.distance *= 0.3;
  camera_.orbit(2, 0.5);
  EXPECT_GE(agreement(), 0.995);
}

TEST_F(Rays, AgreeAboutCaps) {
  for (const bool caps : {true, false}) {
    settings_.caps = caps;
    open_detector(Look::solid);
    EXPECT_GE(agreement(), 0.995);
    // Through sensors, obliquely.
    for (const char* plane : {"1,-2,0.5=300", "-1,-2,0.3=1700", "y=1100", "-y=-1500"}) {
      settings_.clip = parse_clip(plane);
      EXPECT_GE(agreement(), 0.995) << plane;
    }
    settings_.more_clips = {parse_clip("x=700"), parse_clip("-z")};
    EXPECT_GE(agreement(), 0.995) << "several planes";
    camera_.orthographic = true;
    EXPECT_GE(agreement(), 0.995) << "orthographic";
    camera_.orthographic = false;
    settings_.more_clips.clear();
  }
}

TEST_F(Rays, CapsHaveTheirPlanesDepthAndNormal) {
  show("cube.dae", StandardView::front);
  settings_.axes = settings_.scale_bar = false;
  settings_.clip = parse_clip("-1,-1,0");
  for (const RayMode mode : {RayMode::normal, RayMode::off}) {
    settings_.ray_cast = mode;
    settings_.color = ColorBy::normal;
    const Pixel normal = draw().at(160, 120);
    EXPECT_NEAR(normal[0], 255 * (0.5 - 0.5 * std::sqrt(0.5)), 2);
    EXPECT_NEAR(normal[1], 255 * (0.5 - 0.5 * std::sqrt(0.5)), 2);
    EXPECT_NEAR(normal[2], 255 * 0.5, 2);
  }
  // As near as the side of a cube that ends there.
  settings_.ray_cast = RayMode::depth;
  settings_.clip = parse_clip("-y=0");
  const Pixel cut = draw().at(160, 120);
  settings_.caps = false;
  EXPECT_NE(draw().at(160, 120), cut) << "the far side";
}

TEST_F(Rays, ACoarseImageIsCompleteAndBecomesFine) {
  show("cube.dae");
  settings_.ray_cast = RayMode::normal;
  // In steps as small as they get: later ones have more rays, where those before were quick.
  caster_->start(camera_, settings_, kSize, {}, 1);
  int steps = 0;
  double before = 0;
  while (!caster_->advance(0)) {
    EXPECT_GE(caster_->progress(), before);
    before = caster_->progress();
    ASSERT_LT(++steps, 100000);
  }
  EXPECT_GT(steps, 4);
  const auto in_steps = caster_->solids();
  cast();
  EXPECT_EQ(in_steps, caster_->solids()) << "the image is the same in the end";
}

TEST_F(Rays, CountCrossings) {
  show("cube.dae", StandardView::front);
  settings_.ray_cast = RayMode::crossings;
  settings_.axes = settings_.scale_bar = false;
  const Pixel two = draw().at(160, 120);
  settings_.clip = parse_clip("-y");
  const Pixel one = draw().at(160, 120);
  EXPECT_NE(two, one);
  EXPECT_EQ(draw().at(2, 120)[2] < 60, true) << "no surface shows the background";
}

/// On a GPU: OpenGL and CUDA both.
class CudaRays : public Rays {
 protected:
  static void SetUpTestSuite() { make_cuda_context(); }
};

TEST_F(CudaRays, ShowTheSameSolidsAsTheRasterisedImage) {
  device_ = "cuda:0";
  for (const StandardView view : {StandardView::iso, StandardView::top, StandardView::left}) {
    show("detector.dae", view);
    EXPECT_GE(agreement(), 0.995) << static_cast<int>(view);
    camera_.orthographic = true;
    EXPECT_GE(agreement(), 0.995) << static_cast<int>(view) << " orthographic";
  }
  for (const Look buffer : {Look::open, Look::solid}) {
    open_detector(buffer);
    EXPECT_GE(agreement(), 0.995);
    settings_.clip = parse_clip("1,-2,0.5=300");
    EXPECT_GE(agreement(), 0.995);
  }
}

/// A way to draw, which has an image in references/.
struct Way {
  const char* name;
  std::function<void(Settings&)> change;
  Look buffer = Look::open;
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}
const std::vector<Way> kWays{
    {"material", [](Settings&) {}},
    {"solid_edges", [](Settings& s) { s.color = ColorBy::solid, s.edges = true; }},
    {"mesh_flat", [](Settings& s) { s.color = ColorBy::mesh, s.smooth = false; }},
    {"residency", [](Settings& s) { s.color = ColorBy::residency; }},
    {"normal", [](Settings& s) { s.color = ColorBy::normal; }},
    {"wireframe", [](Settings& s) { s.wireframe = true; }},
    {"transparent", [](Settings& s) { s.opacity = 0.3F, s.clip.reset(); }},
    {"back_faces", [](Settings& s) { s.back_faces = true, s.caps = false; }},
    {"caps", [](Settings&) {}, Look::solid},
    {"ray_caps", [](Settings& s) { s.ray_cast = RayMode::shaded; }, Look::solid},
    {"no_caps_light", [](Settings& s) { s.caps = false, s.background = parse_background("light"); }},
    {"ray_shaded", [](Settings& s) { s.ray_cast = RayMode::shaded; }},
    {"ray_depth", [](Settings& s) { s.ray_cast = RayMode::depth; }},
    {"ray_normal", [](Settings& s) { s.ray_cast = RayMode::normal; }},
    {"ray_solid", [](Settings& s) { s.ray_cast = RayMode::solid; }},
    {"ray_crossings", [](Settings& s) { s.ray_cast = RayMode::crossings; }}};

class References : public Rays, public testing::WithParamInterface<Way> {};

/// RAYLIFT_UPDATE_REFERENCES=1 makes the images anew: look at them.
TEST_P(References, ImageIsAsItsReference) {
  open_detector(GetParam().buffer);
  renderer_->resize(kSize, 4);
  renderer_->set_device_triangles(5000);
  GetParam().change(settings_);
  const Image image = draw();
  const auto file = test::source_dir() / "tests/viewer/references" / (std::string(GetParam().name) + ".png");
  if (std::getenv("RAYLIFT_UPDATE_REFERENCES") != nullptr) write_png(image, file);
  const Difference difference = compare(image, read_png(file), 24);
  EXPECT_LT(difference.share, 0.02);
  EXPECT_LT(difference.mean, 0.01);
}
INSTANTIATE_TEST_SUITE_P(Ways, References, testing::ValuesIn(kWays),
                         [](const auto& way) { return std::string(way.param.name); });

}  // namespace
}  // namespace raylift::viewer
