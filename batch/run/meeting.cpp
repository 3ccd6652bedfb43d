// SPDX-License-Identifier: Apache-2.0
#include "meeting.h"

#include <dlfcn.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "mpi_module.h"

namespace raylift::batch {
namespace {

namespace fs = std::filesystem;

int number(const char* variable) {
  const char* set = std::getenv(variable);
  return set != nullptr ? std::atoi(set) : 0;
}

/// The module: $RAYLIFT_MPI, beside the program, or where it was installed.
void* open_module() {
  std::vector<fs::path> places;
  if (const char* set = std::getenv("RAYLIFT_MPI"); set != nullptr && *set != '\0') {
    places.emplace_back(set);
  } else {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
    places = {own / "raylift-mpi.so", own / "../libexec/raylift/raylift-mpi.so",
              fs::path(RAYLIFT_LIBEXEC) / "raylift-mpi.so"};
  }
  std::string why = "raylift was built without MPI";
  for (const fs::path& place : places) {
    std::error_code error;
    if (!fs::exists(place, error)) continue;
    // MPI's own modules look for its symbols among those that all see.
    if (void* module = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL)) return module;
    why = ::dlerror();
  }
  throw Error(ErrorKind::unsupported, "this is one of several processes, but MPI can't be used: " + why, {},
              "start one process alone, or install raylift's MPI module");
}

template <class Function>
Function function(void* module, const char* name) {
  void* const found = ::dlsym(module, name);
  if (found == nullptr)
    throw Error(ErrorKind::unsupported, std::string("raylift-mpi.so is of another version: ") + name);
  return reinterpret_cast<Function>(found);
}

void check(int code, const char* what) {
  if (code != 0) throw Error(ErrorKind::io, std::string(what) + " failed with MPI's code " + std::to_string(code));
}

}  // namespace

bool started_in_parallel() {
  if (number("OMPI_COMM_WORLD_SIZE") > 1 || number("PMI_SIZE") > 1) return true;
  return std::getenv("PMIX_RANK") != nullptr && number("SLURM_STEP_NUM_TASKS") > 1;
}

Meeting meet(const std::function<std::string()>& message) {
  void* const module = open_module();
  const auto start = function<MpiStart>(module, kMpiStart);
  const auto tell = function<MpiTell>(module, kMpiTell);
  MpiPlace place{0, 1, 0, 1};
  check(start(&place), "starting MPI");
  std::vector<char> text(kMpiMessageBytes, '\0');
  if (place.rank == 0) {
    std::string said;
    try {
      said = message();
    } catch (const Error& error) {
      // The others wait for it: they are told that there is none.
      check(tell(text.data()), "a broadcast over MPI");
      throw;
    }
    std::copy_n(said.begin(), std::min<std::size_t>(said.size(), kMpiMessageBytes - 1), text.begin());
  }
  check(tell(text.data()), "a broadcast over MPI");
  return {place.rank, place.ranks, place.local_rank, place.local_ranks, text.data()};
}

}  // namespace raylift::batch
