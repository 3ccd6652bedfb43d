// SPDX-License-Identifier: Apache-2.0
#include "mpi_messages.h"

#include <dlfcn.h>
#include <raylift/geometry/error.h>

#include <cstdlib>
#include <filesystem>

#include "base/own_parts.h"
#include "base/parse_number.h"

namespace raylift::batch {
namespace {

namespace fs = std::filesystem;

int number(const char* variable) {
  const char* set = std::getenv(variable);
  return set != nullptr ? base::parse_number<int>(set).value_or(0) : 0;
}

/// The module: $RAYLIFT_MPI, beside the program, or where it was installed.
void* open_module() {
  std::string why = "raylift was built without MPI";
  for (const fs::path& place : base::places_of("raylift-mpi.so", "RAYLIFT_MPI", RAYLIFT_LIBEXEC)) {
    std::error_code error;
    if (!fs::exists(place, error)) continue;
    // MPI's own modules look for its symbols among those that all see.
    if (void* module = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL)) return module;
    why = ::dlerror();
  }
  throw Error(ErrorKind::unsupported, "this process is one of several ranks, but MPI can't be used: " + why, {},
              "install raylift's MPI module, or start processes of their own with --shard");
}

}  // namespace

bool started_in_parallel() {
  if (number("OMPI_COMM_WORLD_SIZE") > 1 || number("PMI_SIZE") > 1) return true;
  return std::getenv("PMIX_RANK") != nullptr && number("SLURM_STEP_NUM_TASKS") > 1;
}

std::unique_ptr<Mpi> start_mpi() {
  void* const make = ::dlsym(open_module(), kMakeMpi);
  if (make == nullptr) throw Error(ErrorKind::unsupported, "raylift-mpi.so is of another version of raylift");
  return std::unique_ptr<Mpi>(reinterpret_cast<MakeMpi>(make)());
}

}  // namespace raylift::batch
