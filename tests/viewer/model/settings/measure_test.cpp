// SPDX-License-Identifier: Apache-2.0
// Measuring between points: numbers of right and known triangles, clicks, keys, the verb, the options, and what is
// drawn.
#include "model/settings/measurement.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "draw/overlay/overlay.h"
#include "remote/arguments.h"
#include "state/options/view_options.h"
#include "viewer/remote/with_outside.h"
#include "viewer/window/typed.h"
#include "viewer/with_context.h"
#include "window/controls/controls.h"
#include "window/controls/solid_menu.h"

namespace raylift::viewer {
namespace {

using Points = std::vector<Eigen::Vector3d>;

TEST(Measurement, OfTwoPointsIsTheirDistance) {
  const Points points{{2.4e6, 1, -2}, {2.4e6 + 2, 4, 4}};
  const Measurement measured = measure(points);
  ASSERT_EQ(measured.distances.size(), 1U);
  EXPECT_EQ(measured.distances[0], 7);
  EXPECT_EQ(measured.steps[0], Eigen::Vector3d(2, 3, 6));
  EXPECT_FALSE(measured.angle);
  EXPECT_EQ(lines_text(measured_lines(points)),
            "point 1: 2400000  1  -2 mm\npoint 2: 2400002  4  4 mm\ndistance 1 to 2: 7 mm\n"
            "along x, y, z 1 to 2: 2  3  6 mm\n");
  EXPECT_EQ(measured_line(points), "7 mm (2  3  6 mm)");
  EXPECT_TRUE(measured_line(Points{{1, 2, 3}}).empty());
  EXPECT_TRUE(measure(Points()).steps.empty());
}

TEST(Measurement, OfThreePointsIsTheAngleAtTheSecond) {
  const auto angle = [](const Eigen::Vector3d& first, const Eigen::Vector3d& last) {
    const Eigen::Vector3d corner(100, -50, 7);
    return measure(Points{corner + first, corner, corner + last}).angle;
  };
  EXPECT_NEAR(*angle({3, 0, 0}, {0, 0, 9}), 90, 1e-12);
  EXPECT_NEAR(*angle({1, 0, 0}, {1, 1, 0}), 45, 1e-12);
  EXPECT_NEAR(*angle({2, 0, 0}, {-5, 0, 0}), 180, 1e-12);
  EXPECT_NEAR(*angle({1, 1, 0}, {0, 1, 1}), 60, 1e-12) << "of a cube's diagonals";
  // Where a cosine is 1 in double.
  EXPECT_NEAR(*angle({1e6, 0, 0}, {1e6, 1e-3, 0}) / (1e-9 * 180 / 3.14159265358979), 1, 1e-4);
  EXPECT_EQ(*angle({1, 0, 0}, {2, 0, 0}), 0);
  EXPECT_FALSE(angle({0, 0, 0}, {1, 0, 0})) << "there is none";
  EXPECT_NE(lines_text(measured_lines(Points{{1, 0, 0}, {0, 0, 0}, {0, 1, 0}})).find("angle at 2: 90 degrees\n"),
            std::string::npos);
}

TEST(Measurement, IsReadWithFiveDigits) {
  for (const auto& [length, text] : std::vector<std::pair<double, const char*>>{{1234.56789, "1.2346 m"},
                                                                                {999.5, "999.5 mm"},
                                                                                {100, "100 mm"},
                                                                                {1000, "1 m"},
                                                                                {12.3456789, "12.346 mm"},
                                                                                {0.0125, "12.5 µm"},
                                                                                {0, "0 mm"},
                                                                                {123456789, "123.46 km"}})
    EXPECT_EQ(measured_length_text(length), text);
  EXPECT_EQ(measured_length_text(1e30).find('e'), std::string::npos);
}

/// What is drawn for the points alone.
Overlay drawn(const Camera& camera, const Points& points, std::optional<Bounds> box = std::nullopt) {
  Settings settings;
  settings.axes = settings.scale_bar = false;
  settings.measured = points;
  settings.box = box;
  return make_overlay(camera, settings, 640, 480);
}

TEST(MeasureOverlay, StaysInNumbersThatPixelsHave) {
  Camera camera;
  camera.look(StandardView::front);  // along y
  camera.distance = 100;
  EXPECT_FALSE(drawn(camera, {{0, 0, 0}}).empty()) << "a single point is seen";
  EXPECT_TRUE(drawn(camera, {}).empty());
  // Behind the eye, through it, beside the image, far away.
  for (const Points& points :
       {Points{{0, -200, 0}, {10, -300, 0}}, Points{{0, 100, 0}, {1, -300, 5}}, Points{{-1e7, 0, 0}, {1e7, 3, 1}},
        Points{{0, -100, 0}, {0, 1e9, 1e8}}, Points{{0, -100, 0}, {1e-9, -100, 0}, {0, -100, 1e-9}},
        Points{{1e30, -1e30, 1e30}, {-1e30, 1e30, 0}, {0, 0, 1e30}}})
    for (const bool orthographic : {false, true}) {
      camera.orthographic = orthographic;
      for (const OverlayItem& item : drawn(camera, points))
        for (const Eigen::Vector2f& corner : {item.box().min(), item.box().max()})
          EXPECT_TRUE(std::abs(corner.x() - 320) < 500 && std::abs(corner.y() - 240) < 500) << corner;
    }
  camera.orthographic = false;
  EXPECT_TRUE(drawn(camera, {{0, -200, 0}, {10, -300, 0}}).empty()) << "all of it is behind the eye";
}

/// Whether a line between two points meets a box, by its points.
bool meets(const OverlayItem& line, const Eigen::AlignedBox2f& box) {
  for (int i = 0; i <= 2000; ++i)
    if (box.contains(Eigen::Vector2f(line.from + static_cast<float>(i) / 2000 * (line.to - line.from)))) return true;
  return false;
}

TEST(MeasureOverlay, LabelsStandBesideTheLines) {
  Camera camera;
  camera.look(StandardView::front);
  camera.orthographic = true;
  camera.distance = 1000;
  const double mm = camera.pixel_size(480);
  for (const Points& points :
       {Points{{-200, 0, 0}, {200, 0, 0}}, Points{{0, 0, -150}, {0, 0, 150}}, Points{{-100, 0, -100}, {100, 0, 100}},
        Points{{-5, 0, 0}, {5, 0, 0}}, Points{{-300, 0, 235}, {300, 0, 235}},
        Points{{-150, 0, 0}, {0, 0, 5}, {150, 0, 0}}, Points{{-200, 0, 0}, {200, 0, 0}, {-200, 0, 30}},
        Points{{200, 0, 0}, {0, 0, 0}, {0, 0, 200}}}) {
    Points scaled;
    for (const Eigen::Vector3d& p : points) scaled.push_back(mm * p);
    const Overlay items = drawn(camera, scaled);
    std::vector<const OverlayItem*> lines;
    std::vector<Eigen::AlignedBox2f> texts;
    for (const OverlayItem& item : items) {
      if (item.kind == OverlayItem::Kind::line && item.paint[0] > 0.9F && item.paint[2] < 0.5F) lines.push_back(&item);
      if (item.kind == OverlayItem::Kind::text) texts.push_back(item.box());
    }
    ASSERT_EQ(lines.size(), points.size() - 1);
    ASSERT_EQ(texts.size(), points.size() == 3 ? 3U : 1U);
    for (std::size_t i = 0; i != texts.size(); ++i) {
      for (const OverlayItem* line : lines) EXPECT_FALSE(meets(*line, texts[i])) << points[1].transpose();
      for (std::size_t k = 0; k != i; ++k) EXPECT_FALSE(texts[i].intersects(texts[k]));
      EXPECT_TRUE(Eigen::AlignedBox2f(Eigen::Vector2f(0, 0), Eigen::Vector2f(640, 480)).contains(texts[i]));
    }
    // Close to what it measures.
    EXPECT_LT(texts[0].exteriorDistance(Eigen::Vector2f(0.5F * (lines[0]->from + lines[0]->to))), 130);
  }
}

TEST(MeasureOverlay, HasABoxOfTwelveEdges) {
  Camera camera;
  camera.look(StandardView::iso);
  camera.orthographic = true;
  Bounds box;
  box.add({-100, -100, -100});
  box.add({100, 100, 100});
  EXPECT_EQ(drawn(camera, {}, box).size(), 12U * 2) << "each edge on its halo";
}

class MeasureState : public Outside {
 protected:
  void press(const char* key) { find_control(Control::Kind::key, key, false, false)->act(target_, {}); }
  /// A click at the middle of the window on a triangle of "pmt_1": its point is on the camera's axis.
  void click(std::uint32_t triangle) {
    state_.measuring().add({{{1, triangle}}, true}, Cursor{320, 240, {640, 480}}, false);
  }
};

TEST_F(MeasureState, ClicksPutPointsAndAFourthBeginsAnew) {
  press("Y");
  EXPECT_TRUE(state_.measuring().active());
  // From the front: triangles 4 and 5 of the box lie in the plane y = -50.
  state_.viewpoint().look(StandardView::front);
  Points expected;
  for (const double x : {-310.0, -290.0, -300.0, -305.0}) {
    state_.viewpoint().move([&](Camera& camera) {
      camera.free_middle = {0, 0};
      camera.target = {x, 0, 20};
    });
    click(4);
    if (expected.size() == 3) expected.clear();
    expected.push_back({x, -50, 20});
    ASSERT_EQ(state_.settings().measured.size(), expected.size());
    EXPECT_LT((state_.settings().measured.back() - expected.back()).norm(), 1e-6);
  }
  EXPECT_FALSE(state_.selection()) << "such a click selects nothing";
  state_.measuring().add({}, Cursor{320, 240, {640, 480}}, true);
  EXPECT_EQ(state_.settings().measured.size(), 1U);
  // The position is that of the selection.
  const Eigen::Vector3d last = state_.settings().measured.back();
  state_.selection().select(Picked{1, 4}, Cursor{320, 240, {640, 480}});
  EXPECT_EQ(state_.selection()->position, last);
  press("Escape");
  EXPECT_FALSE(state_.measuring().active());
  EXPECT_TRUE(state_.settings().measured.empty());
  EXPECT_TRUE(state_.selection()) << "the next Escape deselects";
  press("Escape");
  EXPECT_FALSE(state_.selection());
  press("Y");
  press("Y");
  EXPECT_FALSE(state_.measuring().active());
}

TEST_F(MeasureState, ACapIsASurfaceToo) {
  state_.viewpoint().look(StandardView::front);
  state_.change_settings([](Settings& s) { s.clip = parse_clip("-y=10"); });
  state_.viewpoint().move([&](Camera& camera) {
    camera.free_middle = {0, 0};
    camera.target = {-300, 0, 20};
  });
  state_.measuring().add({{{1, kNone}}, true}, Cursor{320, 240, {640, 480}}, true);
  ASSERT_EQ(state_.settings().measured.size(), 1U);
  EXPECT_LT((state_.settings().measured[0] - Eigen::Vector3d(-300, 10, 20)).norm(), 1e-6);
}

TEST_F(MeasureState, TakesTheCentresOfSolids) {
  state_.viewpoint().look(StandardView::front);
  state_.measuring().add_centre(1);
  EXPECT_NE(state_.messages().text().find("point 1: the centre of pmt_1"), std::string::npos);
  EXPECT_FALSE(state_.measuring().active()) << "a click selects the next solid";
  state_.selection().select(2);
  const std::vector<MenuRow> menu = solid_menu(state_);
  const auto row = std::find_if(menu.begin(), menu.end(),
                                [](const MenuRow& one) { return one.label.find("centre") != std::string_view::npos; });
  ASSERT_NE(row, menu.end());
  row->act(target_);
  EXPECT_EQ(state_.settings().measured, (Points{{-300, 0, 0}, {300, 0, 0}}));
  EXPECT_NE(lines_text(measured_lines(state_.settings().measured)).find("distance 1 to 2: 600 mm\n"),
            std::string::npos);
  // A node with a solid of its own: that solid's; a group without: that of its box.
  state_.measuring().set_points({});
  state_.selection().select_group(0);
  state_.measuring().add_centre(*state_.selection());
  EXPECT_EQ(state_.settings().measured, (Points{{0, 0, 0}}));
  // Solids of a surface, which are no node of the tree: that of their box.
  state_.measuring().set_points({});
  constexpr std::array<std::uint32_t, 2> kBoth{1, 2};
  state_.selection().select_all(kBoth, "both");
  state_.measuring().add_centre(*state_.selection());
  EXPECT_EQ(state_.settings().measured, (Points{{0, 0, 0}}));
}

TEST_F(MeasureState, IsCopiedByAKeyAndEndsWithTheScene) {
  std::string copied;
  ControlTarget target = target_;
  target.copy = [&](const std::string& text) { copied = text; };
  state_.measuring().set_points({{0, 0, 0}, {0, 3, 4}});
  state_.selection().select(1);
  find_control(Control::Kind::key, "C", true, false)->act(target, {});
  EXPECT_EQ(copied, lines_text(measured_lines(state_.settings().measured)));
  // It is no part of a bookmark.
  Bookmark bookmark;
  bookmark.camera = state_.camera();
  state_.go_to(bookmark);
  EXPECT_EQ(state_.settings().measured.size(), 2U);
  ViewerState other(without_bookmarks(), {640, 480});
  for (const char* file : {"/a.dae", "/a.dae", "/b.dae"}) {
    other.open(std::string(file));
    other.show(three_boxes());
    EXPECT_EQ(other.settings().measured.size(), std::string(file) == "/b.dae" ? 0U : other.settings().measured.size());
    other.measuring().set_points({{0, 0, 0}, {0, 3, 4}});
  }
  other.reload();
  other.show(three_boxes());
  EXPECT_EQ(other.settings().measured.size(), 2U) << "the same file, read again";
}

TEST_F(MeasureState, IsAskedByAVerb) {
  const Json two = call("measure", Json::parse(R"({"points": [[0, 0, 0], [0, 3, 4]]})"));
  EXPECT_EQ(two["distances"], Json::parse("[5.0]"));
  EXPECT_EQ(two["steps"], Json::parse("[[0.0, 3.0, 4.0]]"));
  EXPECT_TRUE(two["angle"].is_null());
  EXPECT_EQ(state_.settings().measured, (Points{{0, 0, 0}, {0, 3, 4}}));
  const Json three = call("measure", Json::parse(R"({"points": [[2, 0, 0], [0, 0, 0], [0, 0, 5]]})"));
  EXPECT_NEAR(three["angle"].get<double>(), 90, 1e-12);
  EXPECT_EQ(call("state")["measured"], three);
  for (const char* wrong :
       {R"({"points": [[0, 0, 0]]})", R"({"points": [[0, 0, 0], [0, 0]]})", R"({"points": [1, 2, 3]})",
        R"({"points": [[0,0,0],[0,0,0],[0,0,0],[0,0,0]]})", R"({"points": [[0,0,0],[0,0,1e31]]})"})
    EXPECT_EQ(code(ask(request("measure", Json::parse(wrong)))), kParams) << wrong;
  EXPECT_EQ(state_.settings().measured.size(), 3U);
  EXPECT_TRUE(call("measure").is_null());
  EXPECT_TRUE(call("state")["measured"].is_null());
  const std::vector<std::string> words{"0,0,0", "points=0,3,4"};
  EXPECT_EQ(Arguments::of_words(*find_verb("measure"), words).json(),
            Json::parse(R"({"points": [[0.0, 0.0, 0.0], [0.0, 3.0, 4.0]]})"));
}

TEST_F(MeasureState, IsAskedByNamesOfSolids) {
  const Json two = call("measure", Json::parse(R"({"points": ["pmt_1", "pmt_2"]})"));
  EXPECT_EQ(two["distances"], Json::parse("[600.0]"));
  EXPECT_EQ(state_.settings().measured[0], state_.measurer()->centre(1)) << "as the window has it";
  EXPECT_EQ(call("measure", Json::parse(R"({"points": ["pmt_1", [0, 0, 0], "tank"]})"))["points"].size(), 3U);
  for (const auto& [wrong, says] : {std::pair(R"({"points": ["pmt_*", [0, 0, 0]]})", "matches 2 solids"),
                                    {R"({"points": ["pmt_1", "no such"]})", "matches 'no such'"}}) {
    const Json reply = ask(request("measure", Json::parse(wrong)));
    ASSERT_TRUE(reply.contains("error")) << wrong;
    EXPECT_NE(reply["error"]["message"].get<std::string>().find(says), std::string::npos) << reply;
  }
  EXPECT_EQ(state_.settings().measured.size(), 3U) << "an error changes nothing";
  const std::vector<std::string> words{"0,0,0", "pmt_1"};
  EXPECT_EQ(Arguments::of_words(*find_verb("measure"), words).json(),
            Json::parse(R"({"points": [[0.0, 0.0, 0.0], "pmt_1"]})"));
}

ViewOptions measured_by_options(std::vector<std::string> words) {
  words.insert(words.begin(), {"--no-config", "a.dae"});
  return typed(std::move(words));
}

TEST(MeasureOptions, TakeAPointEach) {
  const auto scene = three_boxes();
  const Solids solids(*scene);
  const auto points = [&](const std::vector<std::string>& words) {
    return open_view(measured_by_options(words), solids, {}, 1).settings.measured;
  };
  EXPECT_EQ(points({"--measure", "0,0,0", "--measure=1,2e3,-3", "b.dae"}), (Points{{0, 0, 0}, {1, 2000, -3}}));
  EXPECT_EQ(points({"--measure", "pmt_1", "--measure", "pmt_2"}), (Points{{-300, 0, 0}, {300, 0, 0}}));
  EXPECT_TRUE(points({}).empty());
  EXPECT_THROW((void)points({"--measure=pmt_*", "--measure=0,0,0"}), Error) << "two solids";
  ViewerState state(measured_by_options({"--measure", "pmt_1", "--measure", "0,0,0"}), {640, 480});
  state.show(scene);
  EXPECT_EQ(state.settings().measured, (Points{{-300, 0, 0}, {0, 0, 0}}));
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--measure", "0,0,0"},
        {"--measure", "0,0", "--measure", "0,0,0"},
        {"--measure=0,0,0", "--measure=1,0,0", "--measure=2,0,0", "--measure=3,0,0"}})
    EXPECT_THROW((void)measured_by_options(wrong), Error);
}

using MeasuredImage = WithContext;

TEST_F(MeasuredImage, ShowsPointsLinesAndLabelsOnAnyGround) {
  Settings settings;
  settings.axes = settings.scale_bar = false;
  Camera camera;
  camera.look(StandardView::front);
  camera.orthographic = true;
  camera.distance = 1000;
  renderer_->resize({640, 480}, 1);
  const double pixel = camera.pixel_size(480);
  // A line 400 pixels long through the image's middle.
  settings.measured = {{-200 * pixel, 0, 0}, {200 * pixel, 0, 0}};
  for (const char* ground : {"white", "black", "#c8c8c8", "#ffc740"}) {
    settings.background = parse_background(ground);
    renderer_->draw(camera, settings);
    const Image image = renderer_->read();
    const auto brightness = [&](int x, int y) {
      return 0.3 * image.at(x, y)[0] + 0.6 * image.at(x, y)[1] + 0.1 * image.at(x, y)[2];
    };
    for (const int x : {120, 180, 460, 520}) {
      // The line lies between two rows of pixels, and its edges are faded.
      EXPECT_NEAR(image.at(x, 240)[0], 255, 40) << ground << x;
      EXPECT_NEAR(image.at(x, 240)[2], 64, 40) << ground << x;
    }
    // The label: light letters within a dark plate, above the line's middle.
    double darkest = 255, lightest = 0;
    for (int y = 215; y != 232; ++y)
      for (int x = 300; x != 340; ++x) {
        darkest = std::min(darkest, brightness(x, y));
        lightest = std::max(lightest, brightness(x, y));
      }
    EXPECT_LT(darkest, 80) << ground;
    EXPECT_GT(lightest, 200) << ground;
  }
}

}  // namespace
}  // namespace raylift::viewer
