// SPDX-License-Identifier: Apache-2.0
// How raylift ends when something is in its way: broken files, full disks, readers that go, signals, odd names.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "run_program.h"

namespace raylift::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kBroken = "<COLLADA><asset>";

TEST(Failures, AreOneLineEachWithKindAndFile) {
  TemporaryFolder folder;
  const std::string broken = folder.write("broken.dae", kBroken);
  const Ended ended = raylift({"info", broken});
  EXPECT_EQ(ended.code, 4);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, AllOf(StartsWith("raylift: error: malformed: "), HasSubstr(broken), EndsWith("\n")));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1);
}

TEST(Failures, OfOneFileDoNotStopTheOthers) {
  TemporaryFolder folder;
  const std::string broken = folder.write("broken.dae", kBroken);
  const Ended ended = raylift({"info", "/does/not/exist.dae", broken, data_file("cube.dae")});
  EXPECT_EQ(ended.code, 3);  // the first one's
  EXPECT_THAT(ended.out, HasSubstr("cube.dae"));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 2) << ended.err;
}

TEST(Failures, StandInTheJsonDocument) {
  const Ended one = raylift({"info", "--json", "/does/not/exist.dae"});
  EXPECT_EQ(one.code, 3);
  EXPECT_EQ(one.one()["file"], "/does/not/exist.dae");
  EXPECT_EQ(one.one()["error"]["kind"], "io");
  const json several = raylift({"info", "--json", data_file("cube.dae"), "/does/not/exist.dae"}).json();
  ASSERT_EQ(several.size(), 2U);
  EXPECT_FALSE(several[0].contains("error"));
  EXPECT_TRUE(several[1].contains("error"));
}

TEST(Failures, DoNotBlameTheFileForTheLimitOfFiles) {
  const TemporaryFolder folder;
  const std::string command = "/bin/bash -c 'ulimit -f 4; exec " + program("raylift").string() + " info " +
                              data_file("detector.dae") + "' 2>&1 >/dev/null | cat >" +
                              (folder.path() / "said").string();
  (void)!std::system(command.c_str());
  const std::string text = bytes_in(folder.path() / "said");
  EXPECT_THAT(text, testing::AllOf(HasSubstr("limit: "), HasSubstr("ulimit -f")));
}

TEST(Failures, AreSilentWhenQuiet) {
  const Ended ended = raylift({"-q", "info", "/does/not/exist.dae"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, IsEmpty());
}

TEST(Failures, NameTheLimitThatWasReached) {
  const Ended ended = raylift({"info", "--max-file-size", "100", data_file("cube.dae")});
  EXPECT_EQ(ended.code, 6);
  EXPECT_THAT(ended.err, AllOf(StartsWith("raylift: error: limit: "), HasSubstr("--max-file-size")));
}

TEST(Failures, OfAnImporterAreThoseOfItsFile) {
  const Ended crashed = raylift({"info", data_file("cube.dae")}, import_fault("abort"));
  EXPECT_EQ(crashed.code, 4);
  EXPECT_THAT(crashed.err, HasSubstr("SIGABRT"));
  const Ended hanging = raylift({"info", "--import-timeout", "0.3", data_file("cube.dae")}, import_fault("hang"));
  EXPECT_EQ(hanging.code, 6);
  EXPECT_THAT(hanging.err, HasSubstr("--import-timeout"));
  EXPECT_EQ(raylift({"info", "--no-isolate", data_file("cube.dae")}, import_fault("abort")).code, 0);
}

TEST(OddNames, AreEscapedInTextAndReplacedInJson) {
  TemporaryFolder folder;
  const std::string text =
      "solid \x1b[31mred\xff\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
      "endfacet\nendsolid\n";
  const std::string file = folder.write("a\nb\x1b[1m\xe9.stl", text);
  const Ended info = raylift({"info", "--tree", "--meshes", file});
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_THAT(info.out, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xff")), HasSubstr("a\\nb\\x1b[1m\\xe9.stl")));
  EXPECT_THAT(raylift({"info", "--json", "--tree", file}).one()["file"], HasSubstr("a\nb\x1b[1m\uFFFD.stl"));
  const Ended missing = raylift({"check", folder.path() / "x\ny\x1b.dae"});
  EXPECT_EQ(missing.code, 3);
  EXPECT_EQ(std::count(missing.err.begin(), missing.err.end(), '\n'), 1);
  EXPECT_THAT(missing.err, Not(HasSubstr("\x1b")));
  EXPECT_EQ(raylift({"info", "--\x1bx", "y"}).code, 2);
}

TEST(StandardOutput, ThatIsFullIsAnIoError) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"info", data_file("cube.dae"), data_file("cube.dae")},
        {"devices"},
        {"--help"},
        {"check", "--json", data_file("cube.dae")}}) {
    const Ended ended = raylift(arguments, {{}, "/dev/full"});
    EXPECT_EQ(ended.code, 3) << arguments.front();
    EXPECT_EQ(ended.err, "raylift: error: io: can't write to standard output: No space left on device\n");
  }
}

TEST(StandardOutput, ThatIsClosedIsAnIoError) {
  const Ended ended = raylift({"info", data_file("cube.dae")}, {{}, "closed"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("can't write to standard output"));
}

TEST(StandardOutput, WhoseReaderHasGoneIsSilent) {
  TemporaryFolder folder;
  const std::string fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  std::vector<std::string> arguments{"info"};
  for (int i = 0; i != 60; ++i) arguments.push_back(data_file("cube.dae"));
  Running running(arguments, {{}, fifo});
  char byte = 0;
  while (::read(reader, &byte, 1) != 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::close(reader);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.code, 128 + SIGPIPE);
  EXPECT_THAT(ended.err, IsEmpty());
}

TEST(Interrupt, CancelsAndEndsWithTheSignalsCode) {
  for (const int number : {SIGINT, SIGTERM}) {
    Running running({"info", "--json", data_file("cube.dae"), data_file("cube.dae")}, import_fault("hang"));
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    running.signal(number);
    const Ended ended = running.wait();
    EXPECT_EQ(ended.code, 128 + number);
    EXPECT_THAT(ended.err, StartsWith("raylift: error: cancelled: "));
    const json document = ended.json();  // still valid
    ASSERT_EQ(document.size(), 1U);
    EXPECT_EQ(document[0]["error"]["kind"], "cancelled");
  }
}

/// What a run writes to a terminal on its standard error.
std::string on_terminal(std::vector<std::string> arguments, bool no_color = false) {
  arguments.insert(arguments.begin(), program("raylift").string());
  std::vector<char*> pointers;
  for (std::string& one : arguments) pointers.push_back(one.data());
  pointers.push_back(nullptr);
  int terminal = -1;
  winsize size{24, 80, 0, 0};
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (pid == 0) {
    ::setenv("TERM", "xterm-256color", 1);
    ::setenv("RAYLIFT_IMPORT_FAULT", "hang", 1);
    ::setenv("RAYLIFT_IMPORT", program("raylift-import-faulty").c_str(), 1);
    no_color ? ::setenv("NO_COLOR", "1", 1) : ::unsetenv("NO_COLOR");
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  std::string text;
  char chunk[4096];
  for (ssize_t got = 0; (got = ::read(terminal, chunk, sizeof chunk)) > 0;)
    text.append(chunk, static_cast<std::size_t>(got));
  ::waitpid(pid, nullptr, 0);
  ::close(terminal);
  return text;
}

class Terminal : public testing::Test {
 protected:
  void SetUp() override {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0) GTEST_SKIP() << "this machine gives no pseudo-terminal";
    ::close(terminal);
  }
};

TEST_F(Terminal, ShowsProgressAndTakesItAwayBeforeMessages) {
  const std::string text = on_terminal({"info", "--import-timeout", "1.5", data_file("cube.dae")});
  EXPECT_THAT(text, StartsWith("\rimport"));
  EXPECT_THAT(text, HasSubstr("\r\x1b[Kraylift: "));
}

TEST_F(Terminal, ShowsNoProgressWhenAskedNotTo) {
  const std::string text = on_terminal({"info", "--no-progress", "--import-timeout", "1", data_file("cube.dae")}, true);
  EXPECT_THAT(text, AllOf(StartsWith("raylift: error: limit: "), Not(HasSubstr("\x1b"))));
}

TEST_F(Terminal, GetsColoursUnlessNoColorIsSet) {
  EXPECT_THAT(on_terminal({"info", "--no-progress", "/does/not/exist.dae"}), HasSubstr("\x1b["));
  EXPECT_THAT(on_terminal({"info", "--no-progress", "/does/not/exist.dae"}, true), Not(HasSubstr("\x1b[")));
}

}  // namespace
}  // namespace raylift::test
