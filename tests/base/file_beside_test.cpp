// SPDX-License-Identifier: Apache-2.0
#include "base/file_beside.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/paths.h"

namespace raylift::base {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

class FileBesideTest : public ::testing::TestWithParam<bool> {
 protected:
  int open(FileBeside& beside) const {
    const fs::path target = folder_.path() / "out";
    return GetParam() ? beside.open_unnamed(AT_FDCWD, target, 0640) : beside.open(AT_FDCWD, target, 0640);
  }
  test::TemporaryFolder folder_;
};

TEST_P(FileBesideTest, ReplacesTheTargetAtTheEndAlone) {
  std::ofstream(folder_.path() / "out") << "old";
  FileBeside beside;
  ASSERT_EQ(open(beside), 0);
  ASSERT_EQ(write_all(beside.file().get(), "new"), 0);
  EXPECT_EQ(test::bytes_in(folder_.path() / "out"), "old");
  ASSERT_EQ(beside.rename(), 0);
  EXPECT_EQ(test::bytes_in(folder_.path() / "out"), "new");
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("out"));
}

TEST_P(FileBesideTest, LeavesNothingWithoutARename) {
  {
    FileBeside beside;
    ASSERT_EQ(open(beside), 0);
    ASSERT_EQ(beside.link(), 0);
    EXPECT_EQ(names_in(folder_.path()).size(), 1U);
  }
  EXPECT_THAT(names_in(folder_.path()), IsEmpty());
}

TEST_P(FileBesideTest, ReplacesALinkAndNotItsTarget) {
  std::ofstream(folder_.path() / "other") << "kept";
  fs::create_symlink("other", folder_.path() / "out");
  FileBeside beside;
  ASSERT_EQ(open(beside), 0);
  ASSERT_EQ(write_all(beside.file().get(), "new"), 0);
  ASSERT_EQ(beside.rename(), 0);
  EXPECT_EQ(test::bytes_in(folder_.path() / "other"), "kept");
  EXPECT_EQ(test::bytes_in(folder_.path() / "out"), "new");
  EXPECT_THAT(names_in(folder_.path()), UnorderedElementsAre("other", "out"));
}

TEST_P(FileBesideTest, HasItsPermissionsAndReportsAMissingFolder) {
  FileBeside beside;
  ASSERT_EQ(open(beside), 0);
  struct stat status {};
  ASSERT_EQ(::fstat(beside.file().get(), &status), 0);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(status.st_mode & 0777U, 0640U & ~mask);
  FileBeside missing;
  EXPECT_EQ(missing.open(AT_FDCWD, folder_.path() / "none/out", 0600), ENOENT);
}

INSTANTIATE_TEST_SUITE_P(NamedAndNot, FileBesideTest, ::testing::Bool());

}  // namespace
}  // namespace raylift::base
