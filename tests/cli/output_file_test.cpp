// SPDX-License-Identifier: Apache-2.0
// Files that users name for results: whole or unchanged; what is no file is written to and stays what it is.
#include "cli/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "cli/image.h"
#include "support/paths.h"

namespace raylift::cli {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

class OutputFiles : public testing::Test {
 protected:
  test::TemporaryFolder root_;
  fs::path path_ = root_.path() / "file";
};

TEST_F(OutputFiles, AreThereWhenTheyAreWhole) {
  {
    OutputFile file(path_);
    file.write("new");
    EXPECT_FALSE(fs::exists(path_));
  }
  EXPECT_EQ(files_in(root_.path()), 0U);
  write_file(path_, "old");
  {
    OutputFile file(path_);
    file.write("new");
    EXPECT_EQ(test::bytes_in(path_), "old");
  }
  EXPECT_EQ(test::bytes_in(path_), "old");
  write_file(path_, "new");
  EXPECT_EQ(test::bytes_in(path_), "new");
  EXPECT_EQ(files_in(root_.path()), 1U);
}

TEST_F(OutputFiles, HaveThePermissionsOfTheUmaskOrOfTheOneBefore) {
  const mode_t before = ::umask(027);
  write_file(path_, "x");
  EXPECT_EQ(fs::status(path_).permissions(), static_cast<fs::perms>(0640));
  fs::permissions(path_, static_cast<fs::perms>(0604));
  write_file(path_, "y");
  EXPECT_EQ(fs::status(path_).permissions(), static_cast<fs::perms>(0604));
  ::umask(before);
}

TEST_F(OutputFiles, KeepLinks) {
  const fs::path link = root_.path() / "link";
  const fs::path second = root_.path() / "second";
  fs::create_symlink("file", link);
  fs::create_symlink(link, second);
  for (const char* text : {"made", "replaced"}) {
    write_file(second, text);
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_TRUE(fs::is_symlink(second));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path_)));
    EXPECT_EQ(test::bytes_in(path_), text);
  }
}

TEST_F(OutputFiles, GoThroughPipes) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = test::bytes_in(path_); });
  write_file(path_, "through");
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_TRUE(fs::is_fifo(path_));
}

TEST_F(OutputFiles, GoToDevices) {
  // A null device of our own: a fault must not cost the system its one.
  if (::mknod(path_.c_str(), S_IFCHR | 0600, ::makedev(1, 3)) != 0) GTEST_SKIP() << "only root makes devices";
  if (std::FILE* const probe = std::fopen(path_.c_str(), "wb"); probe != nullptr)
    std::fclose(probe);
  else
    GTEST_SKIP() << "no devices in the temporary folder";
  write_file(path_, "gone");
  EXPECT_TRUE(fs::is_character_file(path_));
  const fs::path link = root_.path() / "link";
  fs::create_symlink(path_, link);
  write_file(link, "gone");
  EXPECT_TRUE(fs::is_character_file(path_));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(files_in(root_.path()), 2U);
}

TEST_F(OutputFiles, GoToWhatADescriptorHas) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  write_file("/proc/self/fd/" + std::to_string(ends[1]), "through");
  char bytes[7];
  EXPECT_EQ(::read(ends[0], bytes, sizeof bytes), 7);
  EXPECT_EQ(std::string(bytes, 7), "through");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(OutputFiles, CannotBeFolders) {
  for (const fs::path& path : {root_.path(), root_.path() / "none" / "file", fs::path("/dev/full")}) {
    try {
      write_file(path, "x");
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_EQ(error.file(), path.string());
    }
  }
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_EQ(files_in(root_.path()), 0U);
}

TEST_F(OutputFiles, OfImagesLeaveTheUmaskAlone) {
  // Another thread's files would get the wrong permissions.
  const mode_t before = ::umask(022);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread other([&] {
    for (int i = 0; !stop; ++i) {
      const std::string name = (root_.path() / std::to_string(i % 8)).string();
      const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
      struct stat status {};
      if (::fstat(file, &status) == 0 && (status.st_mode & 0022) != 0) ++wrong;
      ::close(file);
      ::unlink(name.c_str());
    }
  });
  Image image;
  image.width = image.height = 1;
  image.pixels.resize(1);
  for (int i = 0; i != 2000; ++i) write_png(image, path_);
  stop = true;
  other.join();
  ::umask(before);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace raylift::cli
