// SPDX-License-Identifier: Apache-2.0
// The dialog that opens files: what it lists, how keys and text go through it, and what it says of what can't be read.
#include "window/controls/file_browser.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/paths.h"

namespace raylift::viewer {
namespace {

class Browsing : public testing::Test {
 protected:
  Browsing() {
    for (const char* name : {"b", "A"}) std::filesystem::create_directory(folder_.path() / name);
    for (const char* name : {"z.dae", "Y.STL", "x.dae.gz", "notes.txt", ".hidden.dae", "dae", "A/inner.obj"})
      std::ofstream(folder_.path() / name) << "12345";
    browser_.open(folder_.path());
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const FileEntry& one : browser_.shown()) all.push_back(one.name + (one.folder ? "/" : ""));
    return all;
  }
  using Names = std::vector<std::string>;

  test::TemporaryFolder folder_;
  FileBrowser browser_;
};

TEST_F(Browsing, ListsFoldersAndScenes) {
  EXPECT_EQ(names(), (Names{"A/", "b/", "x.dae.gz", "Y.STL", "z.dae"}));
  EXPECT_EQ(browser_.shown().back().bytes, 5U);
  browser_.set_all_files(true);
  EXPECT_EQ(names(), (Names{"A/", "b/", "dae", "notes.txt", "x.dae.gz", "Y.STL", "z.dae"}));
  EXPECT_TRUE(is_scene_name("a.gltf") && is_scene_name("A.DAE.GZ") && !is_scene_name("a.gz") && !is_scene_name("dae"));
}

TEST_F(Browsing, TypedTextFilters) {
  browser_.move(3);
  EXPECT_EQ(browser_.shown()[browser_.chosen()].name, "Y.STL");
  browser_.set_text("st");
  EXPECT_EQ(names(), Names{"Y.STL"});
  EXPECT_EQ(browser_.enter(), folder_.path() / "Y.STL");
  browser_.set_text("nothing");
  EXPECT_TRUE(names().empty());
  EXPECT_FALSE(browser_.enter());
  browser_.set_text("");
  EXPECT_EQ(names().size(), 5U);
}

TEST_F(Browsing, ArrowsStayInTheList) {
  browser_.move(-5);
  EXPECT_EQ(browser_.chosen(), 0U);
  browser_.move(100);
  EXPECT_EQ(browser_.chosen(), 4U);
  EXPECT_EQ(browser_.enter(), folder_.path() / "z.dae");
  browser_.choose(17);
  EXPECT_EQ(browser_.chosen(), 4U);
}

TEST_F(Browsing, GoesIntoFoldersAndBack) {
  browser_.move(1);
  EXPECT_FALSE(browser_.enter());
  EXPECT_EQ(browser_.folder(), folder_.path() / "b");
  EXPECT_TRUE(names().empty());
  browser_.up();
  EXPECT_EQ(browser_.folder(), folder_.path());
  EXPECT_EQ(browser_.chosen(), 1U) << "the folder that was left";
  browser_.open("/");
  browser_.up();
  EXPECT_EQ(browser_.folder(), "/");
  EXPECT_FALSE(names().empty());
}

TEST_F(Browsing, TypedPathsAreGoneTo) {
  browser_.set_text("A/inner.obj");
  EXPECT_EQ(names().size(), 5U) << "a path filters nothing";
  EXPECT_EQ(browser_.enter(), folder_.path() / "A/inner.obj");
  browser_.set_text((folder_.path() / "A/").string());
  EXPECT_FALSE(browser_.enter());
  EXPECT_EQ(names(), Names{"inner.obj"});
  browser_.set_text("..");
  EXPECT_FALSE(browser_.enter());
  EXPECT_EQ(browser_.folder(), folder_.path());
  browser_.set_text("A/gone.dae");
  EXPECT_FALSE(browser_.enter());
  EXPECT_NE(browser_.error().find("there is no such file"), std::string::npos) << browser_.error();
  const char* home = std::getenv("HOME");
  if (home == nullptr) return;
  browser_.set_text("~");
  EXPECT_FALSE(browser_.enter());
  EXPECT_EQ(browser_.folder().lexically_normal(), std::filesystem::path(home).lexically_normal());
}

TEST_F(Browsing, SaysWhatCanNotBeRead) {
  browser_.open(folder_.path() / "gone");
  EXPECT_FALSE(browser_.error().empty());
  EXPECT_TRUE(names().empty());
  browser_.up();
  EXPECT_TRUE(browser_.error().empty());
  EXPECT_EQ(names().size(), 5U);
  browser_.open(folder_.path() / "z.dae");
  EXPECT_FALSE(browser_.error().empty()) << "no folder";
  // A link that leads nowhere is an entry that says so.
  browser_.open(folder_.path());
  std::filesystem::create_symlink("/nowhere.dae", folder_.path() / "link.dae");
  browser_.open(folder_.path());
  browser_.set_text("link");
  EXPECT_EQ(names(), Names{"link.dae"});
  EXPECT_FALSE(browser_.enter());
  EXPECT_NE(browser_.error().find("there is no such file"), std::string::npos) << browser_.error();
  if (::geteuid() == 0) return;  // who may read everything
  std::filesystem::permissions(folder_.path() / "b", std::filesystem::perms::none);
  browser_.open(folder_.path() / "b");
  EXPECT_NE(browser_.error().find("ermission denied"), std::string::npos) << browser_.error();
  std::filesystem::permissions(folder_.path() / "b", std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace raylift::viewer
