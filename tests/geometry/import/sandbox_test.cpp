// SPDX-License-Identifier: Apache-2.0
// What an importer that was taken over can reach: nothing that it does not need. Each attempt is also made without the
// sandbox, where it succeeds: it is the sandbox that refuses it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <raylift/geometry/import/load.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "collada_documents.h"
#include "geometry/src/import/import_process.h"
#include "import/import_protocol.h"
#include "programs/import_faults.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Sandbox : public ::testing::Test {
 protected:
  Sandbox() {
    fs::create_directory(folder_.path() / "input");
    fs::create_directory(folder_.path() / "other");
    (void)folder_.write("other/secret", "secret");
    (void)folder_.write("input/beside", "beside");
    input_ = folder_.write("input/scene.dae", test::cube_document());
    options_.isolate = true;
    options_.import_program = test::program("raylift-import");
  }
  void SetUp() override {
    if (!fs::exists(options_.import_program)) GTEST_SKIP() << "raylift-import is not beside this program";
    if (const ImportSandbox sandbox = import_sandbox(); !sandbox.landlock || !sandbox.seccomp)
      GTEST_SKIP() << "no Landlock or no seccomp: an older kernel, or a build with a sanitizer";
  }
  void TearDown() override { ::unsetenv("RAYLIFT_IMPORT_FAULT"); }

  [[nodiscard]] std::string other(const std::string& name) const { return folder_.path() / "other" / name; }

  /// How an attempt of the import process ends.
  std::string inside(const std::string& fault) {
    ::setenv("RAYLIFT_IMPORT_FAULT", fault.c_str(), 1);
    LoadOptions faulty = options_;
    faulty.import_program = test::program("raylift-import-faulty");
    return test::expect_error(ErrorKind::malformed, [&] { (void)load(input_, faulty); }).problem();
  }

  /// Whether the same attempt succeeds in a process of this program, which has the descriptors of an import's.
  static bool possible_outside(const std::string& fault) {
    ::setenv("RAYLIFT_IMPORT_FAULT", fault.c_str(), 1);
    const pid_t child = ::fork();
    if (child == 0) {
      int ends[2];
      if (::pipe(ends) != 0) ::_exit(2);
      ::dup2(ends[1], 20);
      ::dup2(::memfd_create("result", 0), import::kResult);
      ::dup2(20, import::kProgress);
      try {
        test::commit_import_fault();
      } catch (const Error& error) {
        ::_exit(error.problem().ends_with(" done") ? 0 : 1);
      }
      ::_exit(3);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  void expect_refused(const std::string& fault) {
    EXPECT_THAT(inside(fault), ::testing::StartsWith(fault.substr(0, fault.find(' ')) + " refused: "));
  }

  test::TemporaryFolder folder_;
  LoadOptions options_;
  fs::path input_;
};

TEST_F(Sandbox, ReadsNoFileButTheInput) {
  for (const std::string& fault :
       std::vector<std::string>{"read " + other("secret"), "read /etc/passwd", "read /proc/self/environ",
                                "list " + other("."), "list /", "read " + (folder_.path() / "input/beside").string()}) {
    expect_refused(fault);
    EXPECT_TRUE(possible_outside(fault)) << fault;
  }
  EXPECT_EQ(inside("read " + input_.string()), "read done");
}

TEST_F(Sandbox, ReadsWhatLiesWithTheInputWhereTheFormatHasSeveralFiles) {
  input_ = folder_.write("input/scene.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
  EXPECT_EQ(inside("read " + (folder_.path() / "input/beside").string()), "read done");
  expect_refused("read " + other("secret"));
  fs::create_symlink(other("secret"), folder_.path() / "input/link");
  expect_refused("read " + (folder_.path() / "input/link").string());
}

TEST_F(Sandbox, ReadsOtherDocumentsBeneathTheInputsFolderOnRequest) {
  options_.external = true;
  EXPECT_EQ(inside("read " + (folder_.path() / "input/beside").string()), "read done");
  expect_refused("read " + other("secret"));
  fs::create_symlink(other("secret"), folder_.path() / "input/link");
  expect_refused("read " + (folder_.path() / "input/link").string());
}

TEST_F(Sandbox, FollowsALinkToTheInput) {
  fs::create_symlink(input_, folder_.path() / "link.dae");
  input_ = folder_.path() / "link.dae";
  EXPECT_EQ(load(input_, options_).unique_triangles(), 12U);
}

TEST_F(Sandbox, ChangesNoFile) {
  input_ = folder_.write("input/scene.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
  const fs::path victim = folder_.path() / "input/beside";
  fs::permissions(victim, fs::perms::owner_read | fs::perms::owner_write);
  for (const char* name : {"write", "truncate", "truncating-open", "mode", "rename", "remove"}) {
    const std::string fault = std::string(name) + ' ' + victim.string();
    expect_refused(fault);
    EXPECT_EQ(test::bytes_in(victim), "beside") << name;
    EXPECT_EQ(fs::status(victim).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
  expect_refused("write " + (folder_.path() / "input/new").string());
  EXPECT_FALSE(fs::exists(folder_.path() / "input/new"));
  for (const char* name : {"write", "truncate", "truncating-open", "mode", "rename"}) {
    (void)folder_.write("input/beside", "beside");
    EXPECT_TRUE(possible_outside(std::string(name) + ' ' + victim.string())) << name;
  }
}

TEST_F(Sandbox, ConnectsToNobody) {
  const int port = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(port, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(port, 4), 0);
  ASSERT_EQ(::getsockname(port, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int local = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  const std::string name = folder_.path() / "input/socket";
  name.copy(path.sun_path, sizeof path.sun_path - 1);
  ASSERT_EQ(::bind(local, reinterpret_cast<const sockaddr*>(&path), sizeof path), 0);
  ASSERT_EQ(::listen(local, 4), 0);
  const std::pair<int, std::string> attempts[] = {{port, "connect " + std::to_string(ntohs(address.sin_port))},
                                                  {local, "connect-path " + name}};
  for (const auto& [listener, fault] : attempts) {
    expect_refused(fault);
    EXPECT_LT(::accept(listener, nullptr, nullptr), 0) << fault;
    EXPECT_TRUE(possible_outside(fault)) << fault;
    const int connection = ::accept(listener, nullptr, nullptr);
    EXPECT_GE(connection, 0) << fault;
    ::close(connection);
    ::close(listener);
  }
}

TEST_F(Sandbox, LeavesOtherProcessesAlone) {
  const pid_t victim = ::fork();
  if (victim == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) ::pause();
  }
  for (const char* name : {"read-memory", "own-signal", "trace", "kill"}) {
    const std::string fault = std::string(name) + ' ' + std::to_string(victim);
    expect_refused(fault);
    EXPECT_EQ(::waitpid(victim, nullptr, WNOHANG), 0) << name << " has ended it";
    if (name != std::string("trace")) {  // may be forbidden to all
      EXPECT_TRUE(possible_outside(fault)) << name;
    }
  }
  ::waitpid(victim, nullptr, 0);
}

TEST_F(Sandbox, StartsNothingAndKeepsItsLimits) {
  for (const std::string& fault :
       std::vector<std::string>{"fork", "run /bin/true", "code", "outlive", "ioctl", "grow 1099511627776"}) {
    expect_refused(fault);
    EXPECT_TRUE(possible_outside(fault)) << fault;
  }
  expect_refused("raise-limit");
}

TEST_F(Sandbox, StartsFewThreads) {
  std::string average[3], threads;
  std::ifstream("/proc/loadavg") >> average[0] >> average[1] >> average[2] >> threads;
  // Some may start on the machine in between.
  const auto most = std::stoull(threads.substr(threads.find('/') + 1)) + 1024 + 1000;
  const std::string fault = "start-threads " + std::to_string(most);
  expect_refused(fault);
  rlimit own{};
  ASSERT_EQ(::getrlimit(RLIMIT_NPROC, &own), 0);
  EXPECT_EQ(possible_outside(fault), own.rlim_max > most);
}

TEST_F(Sandbox, KnowsNoVariablesOfItsParents) {
  ::setenv("A_PASSWORD", "secret", 1);
  expect_refused("environment A_PASSWORD");
  EXPECT_TRUE(possible_outside("environment A_PASSWORD"));
  ::unsetenv("A_PASSWORD");
}

// An older kernel: a filter around it says that it has no Landlock. Then seccomp alone holds what it holds.
TEST_F(Sandbox, HoldsWhatItCanWithoutLandlock) {
  const pid_t child = ::fork();
  if (child == 0) {
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    bool good = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(landlock_create_ruleset), 0) == 0 &&
                seccomp_load(filter) == 0;
    good = good && !import_sandbox().landlock && import_sandbox().seccomp;
    good = good && load(input_, options_).unique_triangles() == 12;
    good = good && inside("read " + other("secret")) == "read done";
    for (const char* name : {"write ", "truncating-open ", "remove "})
      good = good && inside(name + other("secret")).find(" refused: ") != std::string::npos;
    ::_exit(good && test::bytes_in(other("secret")) == "secret" ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace raylift
