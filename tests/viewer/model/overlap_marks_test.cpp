// SPDX-License-Identifier: Apache-2.0
// Overlaps are marked where they are: found by the viewer, or read from a report of raylift check.
#include "model/overlap_marks.h"

#include <gtest/gtest.h>
#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <string>

#include "draw/overlay.h"
#include "support/boxes.h"
#include "support/paths.h"

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

}  // namespace
}  // namespace raylift::viewer
