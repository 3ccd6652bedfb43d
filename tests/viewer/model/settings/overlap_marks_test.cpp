// SPDX-License-Identifier: Apache-2.0
// Overlaps are marked where they are: found by the viewer, or read from a report of raylift check.
#include "model/settings/overlap_marks.h"

#include <gtest/gtest.h>
#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <string>

#include "draw/overlay/overlay.h"
#include "support/boxes.h"
#include "support/paths.h"
#include "viewer/remote/with_outside.h"
#include "viewer/window/typed.h"

namespace raylift::viewer {
namespace {

/// Two boxes of 100 mm that share 10 mm along x, and one far away.
Scene crossing_boxes() {
  Scene scene = test::drawn_boxes({{{0, 0, 0}, 100}, {{90, 0, 0}, 100}, {{1000, 0, 0}, 100}});
  scene.source = "/somewhere/boxes.dae";
  for (const char* name : {"left", "right", "other"}) {
    Node node;
    node.name = name;
    scene.instances[scene.nodes.size()].node = static_cast<std::uint32_t>(scene.nodes.size());
    scene.nodes.push_back(node);
  }
  return scene;
}

TEST(OverlapMarks, AreWhereSolidsOverlap) {
  const Scene scene = crossing_boxes();
  const OverlapMarks marks = overlap_marks(scene, find_overlaps(scene, check(scene)));
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_NEAR(marks[0].depth, 10, 1e-3);
  EXPECT_NEAR(marks[0].place.x(), 45, 5.001);
  EXPECT_EQ(marks[0].first + marks[0].second, 1U);
  EXPECT_NE(marks[0].words.find("left"), std::string::npos) << marks[0].words;
  EXPECT_NE(marks[0].words.find("right"), std::string::npos) << marks[0].words;
}

TEST(OverlapMarks, ComeFromAReport) {
  const Scene scene = crossing_boxes();
  const test::TemporaryFolder folder;
  const auto report = [&](const std::string& file, const std::string& overlaps) {
    return folder.write("report.json", R"([{"file": ")" + file + R"(", "overlaps": )" + overlaps + "}]");
  };
  const std::string one = R"({"kind": "siblings_cross", "first": ")" + scene.path(scene.instances[0]) +
                          R"(", "second": ")" + scene.path(scene.instances[1]) +
                          R"(", "place_mm": [45, 1, 2], "depth_mm": 10, "pairs": 3})";
  const OverlapMarks marks = read_overlap_marks(report("/elsewhere/boxes.dae", R"({"found": [)" + one + "]}"), scene);
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].place, Eigen::Vector3d(45, 1, 2));
  EXPECT_EQ(marks[0].pairs, 3U);
  EXPECT_EQ(marks[0].second, 1U);
  const auto refused = [&](const std::string& file) -> std::string {
    try {
      (void)read_overlap_marks(file, scene);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused(report("/elsewhere/other.dae", "{}")).find("not of this scene"), std::string::npos);
  EXPECT_NE(refused(report("boxes.dae", "null")).find("no overlaps"), std::string::npos);
  EXPECT_NE(refused(report("boxes.dae", R"({"found": [{"kind": 3}]})")).find("not a report"), std::string::npos);
  std::string unknown = one;
  unknown.replace(unknown.find("siblings_cross"), 14, "touching");
  EXPECT_NE(refused(report("boxes.dae", R"({"found": [)" + unknown + "]}")).find("no kind of overlap 'touching'"),
            std::string::npos);
  EXPECT_NE(refused(folder.write("text.json", "nothing")).find("not a report"), std::string::npos);
  EXPECT_NE(refused("/nowhere.json").find("can't be opened"), std::string::npos);
}

TEST(OverlapMarks, CloseToEachOtherHaveLabelsThatAreRead) {
  Camera camera;
  camera.look(StandardView::front);
  camera.distance = 1000;
  Settings settings;
  settings.axes = settings.scale_bar = false;
  OverlapMarks marks(3);
  for (std::size_t i = 0; i != marks.size(); ++i) marks[i].place = {10 * static_cast<double>(i), 0, 0};
  settings.overlaps = std::make_shared<const OverlapMarks>(marks);
  std::vector<Eigen::AlignedBox2f> texts;
  for (const OverlayItem& item : make_overlay(camera, settings, 640, 480))
    if (item.kind == OverlayItem::Kind::text) texts.push_back(item.box());
  ASSERT_EQ(texts.size(), 3U);
  for (std::size_t i = 0; i != texts.size(); ++i)
    for (std::size_t k = 0; k != i; ++k) EXPECT_FALSE(texts[i].intersects(texts[k])) << i << k;
}

TEST(OverlapMarks, AreDiscsInTheImageWithTheirDepths) {
  Camera camera;
  camera.look(StandardView::front);
  camera.distance = 1000;
  Settings settings;
  settings.axes = settings.scale_bar = false;
  OverlapMarks marks(20);
  for (std::size_t i = 0; i != marks.size(); ++i) {
    marks[i].place = {static_cast<double>(i), 0, 0};
    marks[i].depth = 2.5;
  }
  settings.overlaps = std::make_shared<const OverlapMarks>(marks);
  const Overlay overlay = make_overlay(camera, settings, 640, 480);
  const auto count = [&](OverlayItem::Kind kind) {
    return std::count_if(overlay.begin(), overlay.end(), [&](const OverlayItem& item) { return item.kind == kind; });
  };
  EXPECT_EQ(count(OverlayItem::Kind::disc), 3 * 20);
  EXPECT_EQ(count(OverlayItem::Kind::text), 12);
  EXPECT_TRUE(std::any_of(overlay.begin(), overlay.end(), [](const auto& item) { return item.words == "1: 2.5 mm"; }));
  const OverlayItem& first = overlay[3 * 19];  // the deepest is drawn last
  EXPECT_NEAR(first.from.x(), 320, 0.01);
  EXPECT_NEAR(first.from.y(), 240, 0.01);
}

/// The pmts of three_boxes() as an overlap at pmt_1's side, and one at pmt_2's.
std::shared_ptr<const OverlapMarks> two_marks() {
  OverlapMarks marks(2);
  marks[0].place = {-250, 0, 0};
  marks[0].depth = 12.5;
  marks[0].first = 1;
  marks[0].second = 0;
  marks[0].words = "pmt_1 crosses tank";
  marks[1] = marks[0];
  marks[1].place = {300, 50, 0};
  marks[1].depth = 1;
  marks[1].first = 2;
  marks[1].words = "pmt_2 crosses tank";
  return std::make_shared<const OverlapMarks>(std::move(marks));
}

class OverlapState : public Outside {};

TEST_F(OverlapState, AClickOnARowShowsTheOverlapAndSelectsItsFirstSolid) {
  state_.want_overlaps();
  EXPECT_TRUE(state_.wants_overlaps());
  state_.set_overlaps(two_marks());
  EXPECT_FALSE(state_.wants_overlaps());
  EXPECT_EQ(state_.messages().text(), "2 overlaps, the deepest of 12.5 mm");
  for (const std::size_t number : {std::size_t{1}, std::size_t{0}}) {
    state_.show_overlap(number);
    const OverlapMark& mark = (*state_.overlaps())[number];
    ASSERT_TRUE(state_.selection());
    EXPECT_EQ(state_.selection()->instance, mark.first);
    EXPECT_EQ(state_.messages().text(), mark.words);
    const Camera& camera = state_.camera();
    const Eigen::Vector3d at = camera.project(mark.place, 640.0 / 480);
    EXPECT_LT((at.head<2>() - camera.free_middle).norm(), 0.25) << "near the middle of what panels leave free";
    // As large as the smaller solid's surroundings: 62 mm or more at each side of it, and not the whole tank.
    const double across = camera.pixel_size(480, camera.depth(mark.place)) * 480;
    EXPECT_GT(across, 80);
    EXPECT_LT(across, 500);
  }
  const Camera before = state_.camera();
  state_.show_overlap(2);
  EXPECT_EQ(state_.camera(), before) << "there is none";
  state_.set_overlaps(std::make_shared<const OverlapMarks>());
  EXPECT_EQ(state_.messages().text(), "no solids overlap");
  state_.set_overlaps(nullptr);
  state_.show_overlap(0);
  EXPECT_EQ(state_.camera(), before);
  state_.set_overlaps(two_marks());
  state_.show(three_boxes());
  EXPECT_FALSE(state_.overlaps()) << "of another scene";
}

TEST_F(OverlapState, AReportIsReadByTheVerbAndByTheOption) {
  const test::TemporaryFolder folder;
  const auto file = folder.write(
      "report.json",
      R"([{"file": "/elsewhere/boxes.dae", "overlaps": {"found": [{"kind": "crosses_mother", "first": "/tank/pmt_1",
          "second": "/tank", "place_mm": [-250, 0, 0], "depth_mm": 12.5, "pairs": 1}]}}])");
  const Json answer = call("overlaps", {{"file", file.string()}});
  EXPECT_EQ(answer["overlaps"], 1) << answer;
  EXPECT_EQ(answer["found"][0]["depth"], 12.5);
  EXPECT_EQ(answer["found"][0]["first"], "/tank/pmt_1");
  ViewOptions options = typed({"--no-config", "/boxes.dae", "--overlaps", file.string()});
  options.bookmarks = "/dev/null/bookmarks.json";
  ViewerState opened(options, {640, 480});
  opened.show(three_boxes());
  ASSERT_TRUE(opened.overlaps()) << opened.messages().error();
  EXPECT_EQ(opened.overlaps()->front().first, 1U);
  options.overlaps = "/nowhere.json";
  ViewerState failed(options, {640, 480});
  failed.show(three_boxes());
  EXPECT_NE(failed.messages().error().find("/nowhere.json"), std::string::npos) << failed.messages().error();
}

}  // namespace
}  // namespace raylift::viewer
