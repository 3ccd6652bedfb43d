// SPDX-License-Identifier: Apache-2.0
// The programs use no network: a filter around them ends whoever makes a socket for one.
#include <gtest/gtest.h>
#include <seccomp.h>
#include <sys/socket.h>

#include "run_program.h"

namespace raylift::test {
namespace {

/// The exit code of raylift under that filter; of this process's own attempt without arguments.
int without_network(const std::vector<std::string>& arguments) {
  const pid_t child = ::fork();
  if (child == 0) {
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    for (const int family : {AF_INET, AF_INET6})
      if (seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(socket), 1,
                           scmp_arg_cmp{0, SCMP_CMP_EQ, static_cast<scmp_datum_t>(family), 0}) != 0)
        ::_exit(99);
    if (seccomp_load(filter) != 0) ::_exit(99);
    ::_exit(arguments.empty() ? ::socket(AF_INET, SOCK_STREAM, 0) : raylift(arguments).code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Network, IsUsedByNoCommand) {
  ASSERT_EQ(without_network({}), 128 + SIGSYS);
  TemporaryFolder folder;
  const std::string scene = data_file("cube.dae");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"info", scene},
        {"check", scene},
        {"upload", "--device", "host", scene},
        {"trace", "--device", "host", "--rays", "1000", scene},
        {"batch", "--jobs", "2", "--report", folder.path() / "report.jsonl", scene, data_file("detector.dae")}})
    EXPECT_EQ(without_network(arguments), 0) << arguments.front();
}

}  // namespace
}  // namespace raylift::test
