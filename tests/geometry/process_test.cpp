// SPDX-License-Identifier: Apache-2.0
// What child processes start with, and the memory there is.
#include "process.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support/expect_error.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;

TEST(Process, ThatDoesNotStartIsAnIoError) {
  const Error error =
      test::expect_error(ErrorKind::io, [] { (void)detail::spawn("/nowhere/program", {"program"}, {}, {}); });
  EXPECT_NE(std::string(error.what()).find("/nowhere/program"), std::string::npos);
}

TEST(Process, HasTheDescriptorsThatItIsGivenAndNoOther) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);                                      // without close-on-exec
  const int descriptors[] = {ends[0], ends[1], ends[1], ends[1]};  // among the targets, where 0 to 3 are closed
  const int process = detail::spawn("/bin/ls", {"ls", "/proc/self/fd"}, {}, descriptors);
  ::close(ends[1]);
  int status = 0;
  ::waitpid(process, &status, 0);
  EXPECT_EQ(status, 0);
  char text[256];
  const ssize_t bytes = ::read(ends[0], text, sizeof text);
  ::close(ends[0]);
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))),
            "0\n1\n2\n3\n4\n");  // 4: the folder
}

// The limit of a control group that is created here: of version 1, else of version 2.
TEST(UsableMemory, IsTheLimitOfTheControlGroup) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 30;
  ASSERT_GT(detail::usable_memory(), kLimit) << "too small a machine for this test";
  const std::string name = "raylift-test-" + std::to_string(::getpid());
  for (const auto& [root, file] :
       {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, std::pair{"/sys/fs/cgroup", "memory.max"}}) {
    const fs::path group = fs::path(root) / name;
    std::error_code error;
    if (!fs::create_directory(group, error)) continue;
    const bool limited =
        fs::exists(group / file) && static_cast<bool>(std::ofstream(group / file) << kLimit << std::flush);
    const pid_t child = limited ? ::fork() : -1;
    if (child == 0) {
      const bool inside = static_cast<bool>(std::ofstream(group / "cgroup.procs") << 0 << std::flush);
      ::_exit(!inside ? 2 : detail::usable_memory() == kLimit ? 0 : 1);
    }
    int status = 0;
    if (child > 0) ::waitpid(child, &status, 0);
    fs::remove(group, error);
    if (child <= 0 || status == 2 << 8) continue;
    EXPECT_EQ(status, 0);
    return;
  }
  GTEST_SKIP() << "no control group can be made here";
}

}  // namespace
}  // namespace raylift
