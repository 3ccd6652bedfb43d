// SPDX-License-Identifier: Apache-2.0
// Bookmarks come back from their file, and leave those of other scenes alone.
#include "state/options/bookmarks.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "state/viewer_state.h"
#include "support/paths.h"
#include "viewer/remote/outside_scene.h"

namespace raylift::viewer {
namespace {

Bookmark some(const std::string& name) {
  Bookmark bookmark;
  bookmark.name = name;
  bookmark.camera.target = {2.4e6 + 1.0 / 3, -802110, 1e-3};
  bookmark.camera.distance = 123.456;
  bookmark.camera.orthographic = true;
  bookmark.camera.look(StandardView::iso);
  bookmark.settings.clip = parse_clip("1,2,3=0.1");
  bookmark.settings.color = ColorBy::mesh;
  bookmark.settings.shells = Shells::hidden;
  bookmark.settings.opacity = 0.5F;
  bookmark.settings.edges = true;
  bookmark.settings.feature_edges = true;
  bookmark.settings.detail = 0.3F;
  bookmark.light.photons = "/run";
  bookmark.hidden = {"/a/b[2]", "/c/"};
  return bookmark;
}

TEST(Bookmarks, ComeBackExactly) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "deeper" / "bookmarks.json";
  Bookmarks(file, "a.dae").add(some("here"));
  const Bookmarks again(file, "a.dae");
  ASSERT_EQ(again.all().size(), 1U);
  const Bookmark& bookmark = again.all()[0];
  const Bookmark expected = some("here");
  EXPECT_EQ(bookmark.name, "here");
  EXPECT_EQ(bookmark.camera.target, expected.camera.target);
  EXPECT_EQ(bookmark.camera.distance, expected.camera.distance);
  EXPECT_TRUE(bookmark.camera.orthographic);
  EXPECT_LT(bookmark.camera.orientation().angularDistance(expected.camera.orientation()), 1e-9);
  ASSERT_TRUE(bookmark.settings.clip);
  EXPECT_EQ(bookmark.settings.clip->offset, 0.1);
  EXPECT_TRUE(bookmark.whole);
  EXPECT_EQ(bookmark.settings.color, ColorBy::mesh);
  EXPECT_EQ(bookmark.settings.shells, Shells::hidden);
  EXPECT_EQ(bookmark.settings.opacity, 0.5F);
  EXPECT_TRUE(bookmark.settings.edges);
  EXPECT_TRUE(bookmark.settings.feature_edges);
  EXPECT_EQ(bookmark.settings.detail, 0.3F);
  EXPECT_EQ(bookmark.light.photons, "/run");
  EXPECT_EQ(bookmark.hidden, expected.hidden);
}

TEST(Bookmarks, GetAnotherNameWithTheirImageAndKey) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "bookmarks.json";
  Bookmarks bookmarks(file, "a.dae");
  bookmarks.add(some("here"));
  bookmarks.add(some("there"));
  std::filesystem::create_directories(bookmarks.thumbnail_file("here").parent_path());
  std::ofstream(bookmarks.thumbnail_file("here")) << "image";
  bookmarks.rename(0, "inside the tank");
  for (const Bookmarks& one : {bookmarks, Bookmarks(file, "a.dae")}) {
    ASSERT_NE(one.find("inside the tank"), nullptr);
    EXPECT_EQ(one.find("inside the tank")->key, 1);
    EXPECT_EQ(one.find("here"), nullptr);
    EXPECT_TRUE(std::filesystem::exists(one.thumbnail_file("inside the tank")));
    EXPECT_FALSE(std::filesystem::exists(one.thumbnail_file("here")));
  }
  EXPECT_THROW(bookmarks.rename(0, "there"), Error) << "it would be lost";
  EXPECT_THROW(bookmarks.rename(0, ""), Error);
  EXPECT_NO_THROW(bookmarks.rename(0, "inside the tank"));
  EXPECT_EQ(bookmarks.all().size(), 2U);
}

TEST(Bookmarks, HaveTheNumberOfTheirKeyInTheirName) {
  Bookmarks bookmarks;
  const auto add = [&](std::optional<int> key) {
    const auto [name, own] = bookmarks.fresh_name(key);
    Bookmark bookmark = some(name);
    bookmark.key = own;
    bookmarks.add(bookmark);
    EXPECT_EQ(bookmarks.find(name)->key, own);
    return name + (own ? ", key " + std::to_string(*own) : "");
  };
  EXPECT_EQ(add({}), "view 1, key 1");
  bookmarks.add(some("inside"));
  ASSERT_EQ(bookmarks.find("inside")->key, 2);
  EXPECT_EQ(add({}), "view 3, key 3") << "the second key is that of another name";
  EXPECT_EQ(add(7), "view 7, key 7");
  EXPECT_EQ(add(0), "view 10, key 0");
  bookmarks.rename(1, "view 4");
  EXPECT_EQ(add({}), "view 5, key 5") << "that name is taken";
  EXPECT_EQ(add(4), "view 11, key 4");
  for (const char* expected : {"view 6, key 6", "view 8, key 8", "view 9, key 9", "view 12"})
    EXPECT_EQ(add({}), expected);
}

TEST(Bookmarks, AreKeptByScene) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "bookmarks.json";
  Bookmarks a(file, "a.dae"), b(file, "b.dae");
  a.add(some("one"));
  b.add(some("two"));
  a.add(some("three"));
  a.add(some("three"));
  EXPECT_EQ(Bookmarks(file, "a.dae").all().size(), 2U);
  EXPECT_EQ(Bookmarks(file, "b.dae").all().size(), 1U);
  a.remove(0);
  a.remove(17);
  EXPECT_EQ(Bookmarks(file, "a.dae").all()[0].name, "three");
}

TEST(Bookmarks, ThoseOfOlderFilesAreReadByTheScenesName) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("bookmarks.json", R"({"a.dae": [{"name": "old", "target": [1, 2, 3], "up": [0, 0, 1],
      "orientation": [0, 0, 0, 1], "distance": 5, "fov": 40, "orthographic": false, "clip": "x"}]})");
  const Bookmarks bookmarks(file, "/data/a.dae");
  ASSERT_EQ(bookmarks.all().size(), 1U);
  EXPECT_FALSE(bookmarks.all()[0].whole);
  EXPECT_TRUE(bookmarks.all()[0].settings.clip);
  EXPECT_TRUE(Bookmarks(file, "/data/b.dae").all().empty());
}

TEST(Bookmarks, HiddenSolidsComeBackByTheirPaths) {
  // Two nodes of one path below one that has three solids.
  Scene scene;
  scene.meshes.resize(1);
  scene.nodes = {{"top", kNone, {}, kNone}, {"pmt", 0, {}, kNone}, {"pmt", 0, {}, kNone}, {"glass", 2, {}, kNone}};
  for (const std::uint32_t node : {0U, 1U, 2U, 3U, kNone}) {
    scene.instances.emplace_back();
    scene.instances.back().node = node;
  }
  for (unsigned bits = 0; bits < 32; ++bits) {
    Solids solids(scene);
    std::vector<std::uint8_t> visible;
    for (unsigned i = 0; i < 5; ++i) visible.push_back(bits >> i & 1);
    solids.set_all(visible);
    EXPECT_EQ(visibility(solids, hidden_solids(solids)), visible) << bits;
  }
  Solids solids(scene);
  solids.set_visible(std::vector<std::uint32_t>{2, 3}, false);
  EXPECT_EQ(hidden_solids(solids), std::vector<std::string>{"/top/pmt[2]/"});
  ASSERT_TRUE(solids.undo());
  EXPECT_EQ(solids.visible(), std::vector<std::uint8_t>(5, 1));
  EXPECT_FALSE(solids.undo());
}

TEST(Bookmarks, PutSolidsBackAsOneChange) {
  const auto scene = three_boxes();
  Solids solids(*scene);
  const std::vector<std::uint8_t> visible{1, 0, 1}, styles{2, 1, 4}, opacities{20, 0, 0};
  solids.set_all(visible, styles, opacities);
  Bookmark bookmark;
  save_solids(solids, bookmark);
  Solids others(*scene);
  bookmark.whole = false;
  restore_solids(bookmark, others);
  EXPECT_FALSE(others.undo()) << "an older bookmark has none";
  bookmark.whole = true;
  restore_solids(bookmark, others);
  EXPECT_EQ(others.visible(), visible);
  EXPECT_EQ(others.styles(), styles);
  EXPECT_EQ(others.opacities(), opacities);
  EXPECT_TRUE(others.undo());
  EXPECT_EQ(others.visible(), (std::vector<std::uint8_t>{1, 1, 1}));
  EXPECT_FALSE(others.has_styles());
}

TEST(Bookmarks, ABrokenFileIsNamedAndLeftAlone) {
  const test::TemporaryFolder folder;
  for (const char* text : {"{", "[]", R"({"a.dae": [{"name": "x"}]})", R"({"a.dae": 3})"}) {
    const auto file = folder.write("bookmarks.json", text);
    try {
      (void)Bookmarks(file, "a.dae");
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::malformed);
      EXPECT_EQ(error.file(), file.string());
    }
    Bookmarks bookmarks;
    EXPECT_THROW(bookmarks.open(file, "a.dae"), Error);
    EXPECT_THROW(bookmarks.add(some("y")), Error) << "what is in the file would be lost";
    EXPECT_EQ(std::filesystem::file_size(file), std::string(text).size());
  }
}

TEST(Bookmarks, ThoseOfTheSceneBeforeGoInAnyCase) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "bookmarks.json";
  Bookmarks bookmarks(file, "a.dae");
  bookmarks.add(some("one"));
  EXPECT_THROW(bookmarks.open(folder.write("broken.json", "{"), "b.dae"), Error);
  EXPECT_TRUE(bookmarks.all().empty());
  bookmarks.open(file, "a.dae");
  EXPECT_EQ(bookmarks.all().size(), 1U);
}

TEST(Bookmarks, ErrorOfAFileEndsOnceTheFileIsMended) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("bookmarks.json", "{");
  ViewOptions options;
  options.bookmarks = file.string();
  ViewerState state(options, {160, 120});
  state.open("scene.dae");
  EXPECT_NE(state.messages().error(), "");
  state.add_bookmark("one");
  const std::string error = state.messages().error();
  EXPECT_NE(error.find("can't be saved"), std::string::npos) << error;
  state.reread_bookmarks();
  EXPECT_EQ(state.messages().error(), error) << "the file is as it was";
  (void)folder.write("bookmarks.json", "{}");
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) + std::chrono::seconds(2));
  state.reread_bookmarks();
  EXPECT_EQ(state.messages().error(), "");
  EXPECT_TRUE(state.bookmarks().readable());
  // Another error stays.
  (void)folder.write("bookmarks.json", "{");
  state.open("scene.dae");
  state.messages().attempt([] { throw Error(ErrorKind::io, "another"); });
  std::filesystem::remove(file);
  state.reread_bookmarks();
  EXPECT_TRUE(state.bookmarks().readable());
  EXPECT_NE(state.messages().error().find("another"), std::string::npos);
}

}  // namespace
}  // namespace raylift::viewer
