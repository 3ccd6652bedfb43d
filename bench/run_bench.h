// SPDX-License-Identifier: Apache-2.0
// The main function of a benchmark.
#pragma once

#include <raylift/geometry/error.h>

#include <cstdio>

namespace raylift {

/// The exit code of `run`; of an error, after its message, that of its kind.
inline int run_bench(const char* name, int (*run)(int, char**), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return exit_code(error.kind());
  }
}

}  // namespace raylift
