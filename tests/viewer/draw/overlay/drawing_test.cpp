// SPDX-License-Identifier: Apache-2.0
// Drawings as SVG: lines lie where the camera sees them, hidden ones are left out, and all is XML.
#include <gtest/gtest.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "draw/overlay/svg.h"
#include "model/settings/settings.h"
#include "support/boxes.h"
#include "viewer/meshes/round_solids.h"
#include "viewer/with_context.h"

namespace raylift::viewer {
namespace {

using Eigen::Vector2d, Eigen::Vector3d;
using Lines = std::vector<std::vector<Vector2d>>;

Lines lines_of(const pugi::xml_document& svg) {
  Lines lines;
  for (const auto& found : svg.select_nodes("//polyline")) {
    std::istringstream points(found.node().attribute("points").value());
    lines.emplace_back();
    for (std::string point; points >> point;) {
      const std::size_t comma = point.find(',');
      lines.back().emplace_back(std::stod(point.substr(0, comma)), std::stod(point.substr(comma + 1)));
    }
  }
  return lines;
}

/// How far a point lies from the nearest line.
double distance(const Lines& lines, const Vector2d& p) {
  double least = 1e9;
  for (const auto& line : lines)
    for (std::size_t i = 1; i < line.size(); ++i) {
      const Vector2d along = line[i] - line[i - 1];
      const double t = std::clamp((p - line[i - 1]).dot(along) / along.squaredNorm(), 0.0, 1.0);
      least = std::min(least, (line[i - 1] + t * along - p).norm());
    }
  return least;
}

class Drawing : public WithContext {
 protected:
  pugi::xml_document draw(const Scene& scene) {
    renderer_->resize(kSmall, 1);
    renderer_->set_scene(scene);
    return again();
  }
  pugi::xml_document again() {
    text_ = renderer_->svg(camera_, settings_);
    pugi::xml_document document;
    EXPECT_TRUE(document.load_string(text_.c_str(), pugi::parse_full)) << text_;
    return document;
  }
  [[nodiscard]] Vector2d pixel(const Vector3d& point) const {
    const Vector3d at = camera_.project(point, static_cast<double>(kSmall.width) / kSmall.height);
    return {0.5 * (1 + at.x()) * kSmall.width, 0.5 * (1 - at.y()) * kSmall.height};
  }

  static constexpr Resolution kSmall{400, 300};
  Camera camera_;
  Settings settings_;
  std::string text_;
};

TEST_F(Drawing, HasTheNineEdgesOfACubeThatAreSeen) {
  const Scene scene = test::drawn_boxes({{{0, 0, 0}, 100}});
  settings_.axes = settings_.scale_bar = false;
  settings_.background = parse_background("white");
  for (const bool orthographic : {false, true}) {
    camera_.orthographic = orthographic;
    camera_.look({0.45, 0.75, -0.55}, {0, 0, 1});
    camera_.frame(scene.bounds, 4.0 / 3);
    const Lines lines = lines_of(draw(scene));
    const auto corners = box_corners(scene.bounds);
    // The corner farthest from the eye is hidden, and its three edges.
    const auto depth = [&](const Vector3d& p) { return (p - camera_.eye()).dot(camera_.forward()); };
    const auto hidden =
        static_cast<std::size_t>(std::max_element(corners.begin(), corners.end(),
                                                  [&](const auto& a, const auto& b) { return depth(a) < depth(b); }) -
                                 corners.begin());
    int seen = 0;
    for (std::size_t i = 0; i != 8; ++i)
      for (const std::size_t bit : {1U, 2U, 4U}) {
        if ((i & bit) != 0) continue;
        const bool is_hidden = i == hidden || (i | bit) == hidden;
        seen += is_hidden ? 0 : 1;
        // Lines that are seen may cross a hidden one.
        int drawn = 0;
        constexpr int kPlaces = 19;
        for (int k = 1; k <= kPlaces; ++k) {
          const double t = k / (kPlaces + 1.0);
          drawn += distance(lines, pixel((1 - t) * corners[i] + t * corners[i | bit])) < 0.3 ? 1 : 0;
        }
        if (is_hidden) {
          EXPECT_LE(drawn, 2) << i << ' ' << bit;
        } else {
          EXPECT_EQ(drawn, kPlaces) << i << ' ' << bit;
        }
      }
    EXPECT_EQ(seen, 9);
    std::size_t points = 0;
    for (const auto& line : lines) points += line.size();
    EXPECT_LE(points, 18U) << "straight lines have no points between";
  }
}

TEST_F(Drawing, HasTheColorsThatSolidsHaveOfTheirOwn) {
  const Scene scene = test::drawn_boxes({{{0, 0, 0}, 100}, {{300, 0, 0}, 100}});
  settings_.axes = settings_.scale_bar = false;
  camera_.look({0.45, 0.75, -0.55}, {0, 0, 1});
  camera_.frame(scene.bounds, 4.0 / 3);
  (void)draw(scene);
  EXPECT_EQ(text_.find("stroke=\"#88ccff\""), std::string::npos);
  renderer_->set_own_colors(std::vector<std::uint32_t>{0, 0xFFFFCC88U});
  (void)again();
  EXPECT_NE(text_.find("stroke=\"#88ccff\""), std::string::npos);
}

TEST_F(Drawing, LeavesOutWhatIsBehindAnother) {
  // Along y: the small box is behind the large one, and seen beside it.
  const Scene scene = test::drawn_boxes({{{0, 0, 0}, 100}, {{50, 500, 0}, 30}});
  settings_.axes = settings_.scale_bar = false;
  camera_.orthographic = true;
  camera_.look(StandardView::front);
  camera_.frame(scene.bounds, 4.0 / 3);
  const Lines lines = lines_of(draw(scene));
  const auto box_of = [&](std::size_t solid) {
    Bounds box;
    const Instance& placed = scene.instances[solid];
    for (const Float3& v : scene.meshes[placed.mesh].vertices)
      box.add(Vector3d(to_eigen(placed.transform) * to_eigen(v)));
    return box;
  };
  const Bounds large = box_of(0), small = box_of(1);
  ASSERT_LT(small.min.x, large.max.x);
  ASSERT_GT(small.max.x, large.max.x);
  const double behind = 0.5 * (small.min.x + large.max.x), beside = 0.5 * (small.max.x + large.max.x);
  EXPECT_LT(distance(lines, pixel({beside, small.min.y, small.max.z})), 0.2);
  EXPECT_GT(distance(lines, pixel({behind, small.min.y, small.max.z})), 3);
  EXPECT_GT(distance(lines, pixel({small.min.x, small.min.y, 0})), 3);
  EXPECT_LT(distance(lines, pixel({large.max.x, large.min.y, 0})), 0.2) << "the border of the large one";
}

TEST_F(Drawing, HasTheSilhouettesOfRoundSolidsAndTheSectionsOfPlanes) {
  const Scene scene = round_solids({{{0, 0, 0}, 100}}, 24);
  settings_.axes = settings_.scale_bar = false;
  camera_.orthographic = true;
  camera_.look(StandardView::front);
  camera_.frame(scene.bounds, 4.0 / 3);
  const Lines round = lines_of(draw(scene));
  EXPECT_GT(distance(round, pixel({0, 0, 0})), 20) << "no line across the face";
  EXPECT_LT(distance(round, pixel({100, 0, 0})), 2.5);
  EXPECT_LT(distance(round, pixel({0, 0, 100})), 2.5);
  settings_.set_planes(std::vector<ClipPlane>{parse_clip("1,0,0=50")});
  const Lines cut = lines_of(again());
  EXPECT_LT(distance(cut, pixel({50, 0, 0})), 0.3) << "the section, seen from its edge";
  EXPECT_GT(distance(cut, pixel({100, 0, 0})), 10) << "what is cut away";
}

TEST_F(Drawing, HasShapesAndTextsOfTheOverlay) {
  const Scene scene = test::drawn_boxes({{{0, 0, 0}, 100}});
  camera_.look(StandardView::front);
  camera_.frame(scene.bounds, 4.0 / 3);
  settings_.background = parse_background("white");
  settings_.measured = {{0, -50, 0}, {50, -50, 0}};
  Legend legend;
  legend.title = "materials";
  legend.entries = {{{0, 0, 1}, "Glass <&> \"Water\"", 2}};
  renderer_->set_legends({legend});
  const pugi::xml_document svg = draw(scene);
  std::vector<std::string> texts;
  for (const auto& found : svg.select_nodes("//text")) texts.emplace_back(found.node().text().get());
  const auto has = [&](const std::string& text) { return std::find(texts.begin(), texts.end(), text) != texts.end(); };
  EXPECT_TRUE(has("50 mm"));
  EXPECT_TRUE(has("X") && has("Y") && has("Z"));
  EXPECT_TRUE(has("materials"));
  EXPECT_TRUE(has("Glass <&> \"Water\" (2)")) << text_;
  EXPECT_FALSE(svg.select_nodes("//rect[@fill='#0000ff']").empty());
  EXPECT_TRUE(
      std::string(svg.select_node("//g[@id='overlay']").node().attribute("font-family").value()).find("DejaVu") !=
      std::string::npos);
  EXPECT_EQ(std::string(svg.child("svg").attribute("width").value()), "400");
  settings_.background = parse_background("none");
  EXPECT_TRUE(again().select_nodes("//rect[@id='background']").empty());
}

}  // namespace
}  // namespace raylift::viewer
