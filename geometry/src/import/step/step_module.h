// SPDX-License-Identifier: Apache-2.0
// raylift-step.so: Open CASCADE's reader of STEP, which needs more libraries than its booleans do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model.h"

namespace raylift::step {

/// Whether files ending like this are STEP.
[[nodiscard]] inline bool is_step(std::string_view extension) {
  return extension == "step" || extension == "stp";
}

/// Opens the module: $RAYLIFT_STEP, beside the program, or where it was installed. The second call does nothing. A
/// process that gives up the right to open files calls it before.
void open_step() noexcept;

/// Why the module can't be used; empty where it can.
[[nodiscard]] const std::string& why_no_step();

/// Throws Failure. The module must be there.
[[nodiscard]] std::unique_ptr<Model> read_model(std::string_view text, std::uint64_t most_nodes);

}  // namespace raylift::step
