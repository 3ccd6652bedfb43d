// SPDX-License-Identifier: Apache-2.0
// What the command line of `raylift batch` asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batch/actions/actions.h"
#include "batch_hooks.h"
#include "shard.h"

namespace raylift::batch {

/// What --retry calls rows whose files have changed since.
inline constexpr const char* kChanged = "changed";

struct BatchOptions {
  std::vector<std::string> inputs;
  std::vector<const Action*> actions;
  ActionOptions action;
  std::string device = "all";  ///< all, auto, host, or several of cuda:N and host
  unsigned jobs = 0;           ///< 0: one for each device; without devices, one for two cores
  std::string report;
  bool resume = false;
  std::vector<std::string> retry;  ///< kinds of errors whose rows are done again, and kChanged
  std::optional<Shard> shard;
  bool merge = false;  ///< the inputs are reports
  bool keep_going = false;
  bool fail_fast = false;
  bool sort = false;
  double seconds = 3600;    ///< for a scene
  std::uint64_t bytes = 0;  ///< of memory for a scene; 0: what its share of the machine's is
  BatchHooks hooks;
};

}  // namespace raylift::batch
