// SPDX-License-Identifier: Apache-2.0
#include "step_module.h"

#include "import/open_module.h"

namespace raylift::step {
namespace {

const ModuleFunction& step_module() {
  static const ModuleFunction module =
      open_module("raylift-step.so", "RAYLIFT_STEP", kReadModel, "reads STEP by Open CASCADE");
  return module;
}

}  // namespace

void open_step() noexcept try { (void)step_module(); } catch (...) {
  // Reading says what is wrong.
}

const std::string& why_no_step() {
  return step_module().why;
}

std::unique_ptr<Model> read_model(std::string_view text, std::uint64_t most_nodes) {
  return std::unique_ptr<Model>(reinterpret_cast<ReadModel>(step_module().function)(text, most_nodes));
}

}  // namespace raylift::step
