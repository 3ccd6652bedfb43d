// SPDX-License-Identifier: Apache-2.0
// Running a program of the project as a child, with what it wrote and how it ended.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/paths.h"

namespace raylift::test {

struct Ended {
  int code = -1;  ///< exit code, or 128 + the signal that ended it
  std::string out;
  std::string err;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
  /// The only element of a document that is an array.
  [[nodiscard]] nlohmann::json one() const {
    const nlohmann::json all = json();
    if (!all.is_array() || all.size() != 1) throw std::runtime_error("no array of one element: " + out);
    return all.front();
  }
};

struct RunOptions {
  std::vector<std::string> environment;  ///< "NAME=value", over a bare one
  std::string out{};                     ///< a file for standard output instead; "closed": closed
  const char* program = "raylift";
};

/// raylift-faulty, with a failure that tests/programs/raylift_faulty.cpp lists: "NAME=value".
inline RunOptions faulty(std::vector<std::string> faults) {
  return {std::move(faults), "", "raylift-faulty"};
}

/// An import with a fault of tests/programs/import_faults.h.
inline RunOptions import_fault(const std::string& fault, std::vector<std::string> environment = {}) {
  environment.push_back("RAYLIFT_IMPORT_FAULT=" + fault);
  environment.push_back("RAYLIFT_IMPORT=" + program("raylift-import-faulty").string());
  return {std::move(environment), ""};
}

/// A child that is running. Its output goes to files, so that it never waits for its reader.
class Running {
 public:
  explicit Running(std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.begin(), program(options.program).string());
    std::vector<std::string> environment{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=" + folder_.path().string()};
    // Before the others of the same name, which do not count then.
    environment.insert(environment.begin(), options.environment.begin(), options.environment.end());
    for (const char* kept : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"})
      if (const char* value = std::getenv(kept)) environment.push_back(std::string(kept) + '=' + value);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (options.out == "closed")
      posix_spawn_file_actions_addclose(&actions, STDOUT_FILENO);
    else
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
                                       options.out.empty() ? file("out").c_str() : options.out.c_str(),
                                       O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, file("err").c_str(), O_WRONLY | O_CREAT, 0600);
    const int failed = posix_spawn(&pid_, arguments.front().c_str(), &actions, nullptr, pointers(arguments).data(),
                                   pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw std::runtime_error("can't start " + arguments.front());
  }
  ~Running() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void signal(int number) const { ::kill(pid_, number); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// What it has written on standard error so far.
  [[nodiscard]] std::string said() const { return read("err"); }
  [[nodiscard]] Ended wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read("out"), read("err")};
  }

 private:
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] std::string read(const std::string& name) const { return bytes_in(file(name)); }
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  }

  TemporaryFolder folder_;
  pid_t pid_ = -1;
};

/// Runs `raylift` to its end.
inline Ended raylift(std::vector<std::string> arguments, const RunOptions& options = {}) {
  return Running(std::move(arguments), options).wait();
}

inline std::string data_file(const std::string& name) {
  return data(name).string();
}

}  // namespace raylift::test
