// SPDX-License-Identifier: Apache-2.0
// What windows keep: the files that they showed, and how fast they fly.
#include "state/shown/remembered.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "support/paths.h"
#include "viewer/remote/with_outside.h"
#include "window/controls/controls.h"

namespace raylift::viewer {
namespace {

using Files = std::vector<std::string>;

Remembered read_again(const std::filesystem::path& file) {
  Remembered kept;
  kept.open(file);
  return kept;
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(Remembered, HasTheLastTenFilesTheLastOneFirst) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "deeper" / "window.json";
  Remembered kept = read_again(file);
  EXPECT_TRUE(kept.files().empty());
  EXPECT_EQ(kept.fly_speed(), 1);
  for (const char* path : {"/a", "/b", "/a"}) kept.note_file(path);
  EXPECT_EQ(kept.files(), (Files{"/a", "/b"}));
  EXPECT_EQ(read_again(file).files(), kept.files());
  for (int i = 0; i != 12; ++i) kept.note_file("/" + std::to_string(i));
  EXPECT_EQ(read_again(file).files(), (Files{"/11", "/10", "/9", "/8", "/7", "/6", "/5", "/4", "/3", "/2"}));
}

TEST(Remembered, IsOfAllWindows) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "window.json";
  Remembered one = read_again(file), other = read_again(file);
  one.note_file("/a");
  other.note_file("/b");
  one.set_fly_speed(2);
  EXPECT_EQ(read_again(file).files(), (Files{"/b", "/a"}));
  EXPECT_EQ(read_again(file).fly_speed(), 2);
}

TEST(Remembered, AFileThatItCanNotReadStaysAsItIs) {
  const test::TemporaryFolder folder;
  for (const char* text :
       {"{", "[]", R"({"recent": 3})", R"({"recent": [3]})", R"({"fly-speed": "fast"})", R"({"fly-speed": 1e999})"}) {
    const auto file = folder.write("window.json", text);
    Remembered kept;
    EXPECT_THROW(kept.open(file), Error) << text;
    kept.note_file("/a");
    kept.set_fly_speed(3);
    EXPECT_EQ(text_of(file), text);
  }
  // What others keep there stays; a speed is one that can be flown at.
  const auto file = folder.write("window.json", R"({"other": 1, "fly-speed": -5})");
  Remembered kept = read_again(file);
  EXPECT_EQ(kept.fly_speed(), kSlowestFly);
  kept.note_file("/a");
  EXPECT_NE(text_of(file).find("other"), std::string::npos);
}

TEST(Remembered, SaysWhyAFileCanNotBeOpened) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("a.dae", "x").string();
  EXPECT_EQ(why_not_opened(file), "");
  EXPECT_EQ(why_not_opened(folder.path().string()), "it is a folder");
  EXPECT_EQ(why_not_opened(file + "x"), "there is no such file");
  EXPECT_NE(why_not_opened(file + "/x"), "");
  if (::geteuid() == 0) return;  // who may read everything
  std::filesystem::permissions(file, std::filesystem::perms::none);
  EXPECT_EQ(why_not_opened(file), "Permission denied");
}

class KeptState : public Outside {
 protected:
  void wheel(ViewerState& state, double steps) {
    const ControlTarget target{state, nullptr, layout_, loader_, [](const std::string&) {}};
    ControlEvent event;
    event.steps = steps;
    find_control(Control::Kind::wheel, "wheel while flying", false, false)->act(target, event);
  }
  /// How far a second of W goes, in distances of the camera.
  double flown() {
    const Eigen::Vector3d before = state_.camera().eye();
    ControlEvent event;
    event.key = "W";
    event.seconds = 1;
    find_control(Control::Kind::held_key, "W", false, false)->act(target_, event);
    return (state_.camera().eye() - before).norm() / state_.camera().distance;
  }
};

TEST_F(KeptState, FliesFasterByTheWheelAndTellsSo) {
  const double usual = flown();
  wheel(state_, 2);
  EXPECT_NEAR(flown(), 1.25 * 1.25 * usual, 1e-9);
  EXPECT_EQ(state_.messages().text(), "flying at 1.56 times the usual speed");
  wheel(state_, -2);
  EXPECT_EQ(state_.viewpoint().fly_speed(), 1);
  wheel(state_, 1e6);
  EXPECT_EQ(state_.viewpoint().fly_speed(), kFastestFly);
  wheel(state_, -1e6);
  EXPECT_EQ(state_.viewpoint().fly_speed(), kSlowestFly);
}

TEST_F(KeptState, IsThereTheNextTime) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "window.json";
  state_.remember(file);
  wheel(state_, 1);
  EXPECT_FALSE(std::filesystem::exists(file)) << "not with each step";
  state_.keep_fly_speed();
  for (const char* name : {"/a.dae", "/b.dae", "/b.dae"}) {
    state_.open(std::string(name));
    state_.show(three_boxes());
  }
  ViewerState next(without_bookmarks(), {640, 480});
  next.remember(file);
  EXPECT_EQ(next.viewpoint().fly_speed(), 1.25);
  EXPECT_EQ(next.recent_files(), (Files{"/b.dae", "/a.dae"}));
  // A file that could not be read shows in no list; nor does a folder that can't be written end anything.
  ViewerState nowhere(without_bookmarks(), {640, 480});
  nowhere.remember("/dev/null/window.json");
  nowhere.open(std::string("/a.dae"));
  nowhere.show(three_boxes());
  EXPECT_TRUE(nowhere.scene());
}

}  // namespace
}  // namespace raylift::viewer
