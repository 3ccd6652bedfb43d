// SPDX-License-Identifier: Apache-2.0
// A camera's path passes its bookmarks smoothly, with their clipping. Bookmarks have keys.
#include "state/options/camera_path.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include "cli/text.h"
#include "support/paths.h"
#include "viewer/remote/with_outside.h"

namespace raylift::viewer {
namespace {

Bookmark bookmark_of(const std::string& name, StandardView view, const Eigen::Vector3d& target, double distance) {
  Bookmark bookmark;
  bookmark.name = name;
  bookmark.camera.look(view);
  bookmark.camera.target = target;
  bookmark.camera.distance = distance;
  return bookmark;
}

class Paths : public testing::Test {
 protected:
  Paths() : bookmarks_(folder_.path() / "bookmarks.json", "a.dae") {
    Bookmark a = bookmark_of("a", StandardView::front, {0, 0, 0}, 1000);
    a.settings.clip = parse_clip("z=0");
    Bookmark b = bookmark_of("b", StandardView::right, {100, 0, 0}, 10);
    b.settings.clip = parse_clip("z=100");
    bookmarks_.add(a);
    bookmarks_.add(b);
    bookmarks_.add(bookmark_of("c", StandardView::top, {100, 200, 0}, 1000));
    bounds_.add({-1, -1, -1});
    bounds_.add({1, 1, 1});
  }
  [[nodiscard]] CameraPath path(const std::string& names) const {
    return {bookmarks_, cli::split_at_commas(names), bounds_};
  }

  test::TemporaryFolder folder_;
  Bookmarks bookmarks_;
  Bounds bounds_;
};

TEST_F(Paths, PassEachBookmark) {
  const CameraPath path = this->path("a,b,c");
  for (std::size_t i = 0; i != 3; ++i) {
    const CameraPath::Sample place = path.at(0.5 * static_cast<double>(i));
    const Camera& expected = bookmarks_.all()[i].camera;
    EXPECT_EQ(place.bookmark, i);
    EXPECT_LT((place.camera.target - expected.target).norm(), 1e-9);
    EXPECT_NEAR(place.camera.distance, expected.distance, 1e-9 * expected.distance);
    EXPECT_LT(place.camera.orientation().angularDistance(expected.orientation()), 1e-6);
  }
  EXPECT_EQ(path.at(-1).camera, path.at(0).camera);
  EXPECT_EQ(path.at(2).camera, path.at(1).camera);
}

TEST_F(Paths, AreSmooth) {
  const CameraPath path = this->path("a,b,c,a");
  constexpr int kSteps = 3000;
  Eigen::Vector3d before = Eigen::Vector3d::Zero();
  double turn = 0;
  for (int i = 1; i <= kSteps; ++i) {
    const Camera now = path.at(static_cast<double>(i) / kSteps).camera;
    const Camera last = path.at(static_cast<double>(i - 1) / kSteps).camera;
    const Eigen::Vector3d step = now.target - last.target;
    const double angle = now.orientation().angularDistance(last.orientation());
    EXPECT_GT(now.distance, 0);
    if (i > 1) {
      EXPECT_LT((step - before).norm(), 0.01) << i << ": its speed has no jump";
      EXPECT_LT(std::abs(angle - turn), 2e-5) << i;
    }
    before = step;
    turn = angle;
  }
}

TEST_F(Paths, MovePlanesThatBothHave) {
  const CameraPath path = this->path("a,b,c");
  const CameraPath::Sample place = path.at(0.125);
  ASSERT_TRUE(place.clips && place.clip);
  EXPECT_NEAR(*place.clip->offset, 25, 1e-9);
  Settings settings;
  place.set_clip(settings);
  EXPECT_EQ(settings.planes().size(), 1U);
  EXPECT_FALSE(path.at(0.75).clips) << "c has none";
}

TEST_F(Paths, SayWhatIsMissing) {
  EXPECT_THROW((void)path("a,nowhere"), Error);
  EXPECT_THROW((void)path("a"), Error);
}

TEST_F(Paths, BookmarksHaveKeysOfTheirOwn) {
  EXPECT_EQ(bookmarks_.with_key(1)->name, "a");
  EXPECT_EQ(bookmarks_.with_key(3)->name, "c");
  EXPECT_EQ(bookmarks_.with_key(4), nullptr);
  Bookmark d = bookmark_of("d", StandardView::iso, {0, 0, 0}, 1);
  d.key = 1;
  bookmarks_.add(d);
  const Bookmarks again(folder_.path() / "bookmarks.json", "a.dae");
  EXPECT_EQ(again.with_key(1)->name, "d");
  EXPECT_FALSE(again.find("a")->key) << "two bookmarks have no key together";
}

class KeptViews : public Outside {};

TEST_F(KeptViews, AreSavedAndOpenedByKeys) {
  const test::TemporaryFolder folder;
  ViewOptions options;
  options.bookmarks = (folder.path() / "bookmarks.json").string();
  options.files = {"/boxes.dae"};
  ViewerState state(options, {640, 480});
  state.show(three_boxes());
  state.viewpoint().look(StandardView::top);
  const Camera top = state.camera();
  state.bookmark_key(7);
  EXPECT_EQ(state.wants_thumbnail(), "view 7");
  state.set_thumbnail(Image(19, 12));
  EXPECT_TRUE(state.wants_thumbnail().empty());
  const auto image = state.bookmarks().thumbnail_file("view 7");
  EXPECT_EQ(load_png(image, 100).width, 19);
  state.bookmark_key(7);
  state.viewpoint().look(StandardView::front);
  EXPECT_TRUE(state.wants_thumbnail().empty()) << "an image of another view is not its image";
  const Camera front = state.camera();
  state.go_to_key(7);
  EXPECT_LT((state.camera().forward() - top.forward()).norm(), 1e-6);
  state.go_to_key(3);
  EXPECT_NE(state.messages().text().find("Ctrl+3"), std::string::npos) << state.messages().text();
  // The same key again is the same bookmark, with another view.
  state.viewpoint().set(front);
  state.bookmark_key(7);
  ASSERT_EQ(state.bookmarks().all().size(), 1U);
  EXPECT_LT((state.bookmarks().all()[0].camera.forward() - front.forward()).norm(), 1e-9);
  // A path in the window ends at its last bookmark.
  state.viewpoint().set(top);
  state.bookmark_key(8);
  state.play_path({"view 7", "view 8"}, 2);
  EXPECT_TRUE(state.plays_path());
  EXPECT_LT((state.camera().forward() - front.forward()).norm(), 1e-6);
  state.advance_path(1);
  EXPECT_GT((state.camera().forward() - front.forward()).norm(), 0.1);
  state.advance_path(1.5);
  EXPECT_FALSE(state.plays_path());
  EXPECT_LT((state.camera().forward() - top.forward()).norm(), 1e-6);
  state.remove_bookmark(0);
  EXPECT_FALSE(std::filesystem::exists(image));
}

}  // namespace
}  // namespace raylift::viewer
