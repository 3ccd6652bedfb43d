// SPDX-License-Identifier: Apache-2.0
// A load in a process of its own, and what may not be left behind by it.
#pragma once

#include <gmock/gmock.h>
#include <raylift/geometry/import/load.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "collada_documents.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/processes.h"

namespace raylift::test {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

inline std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

/// Waits up to ten seconds for something to become true.
template <class Condition>
inline bool eventually(const Condition& condition) {
  const auto start = Clock::now();
  while (!condition()) {
    if (seconds_since(start) > 10) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// A document, options that isolate, and a check that nothing was left behind.
class IsolatedLoad : public testing::Test {
 protected:
  IsolatedLoad() {
    if (!fs::exists(program("raylift-import"))) return;
    options_.isolate = true;
    options_.import_program = program("raylift-import");
    path_ = folder_.write("scene.dae", cube_document());
    descriptors_ = open_descriptors();
  }
  void SetUp() override {
    if (!options_.isolate) GTEST_SKIP() << "raylift-import is not beside this program";
  }
  void TearDown() override {
    ::unsetenv("RAYLIFT_IMPORT_FAULT");
    if (!options_.isolate) return;
    EXPECT_EQ(open_descriptors(), descriptors_) << "descriptors leaked";
    EXPECT_TRUE(children_of(::getpid()).empty()) << "a process was left behind";
  }

  /// Imports by raylift-import-faulty from here on, with a fault of tests/programs/import_faults.h.
  void fault(const char* name) {
    ::setenv("RAYLIFT_IMPORT_FAULT", name, 1);
    options_.import_program = program("raylift-import-faulty");
  }
  Error error_of(ErrorKind kind, const Progress& progress = {}) {
    Error error = expect_error(kind, [&] { (void)load(path_, options_, progress); });
    EXPECT_EQ(error.file(), path_.string()) << error.what();
    return error;
  }

  TemporaryFolder folder_;
  LoadOptions options_;
  fs::path path_;
  std::size_t descriptors_ = 0;
};

}  // namespace raylift::test
