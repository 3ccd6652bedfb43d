// SPDX-License-Identifier: Apache-2.0
#include "occt_module.h"

#include "import/gdml/shapes/tessellate.h"
#include "import/open_module.h"

namespace raylift::gdml {
namespace {

const ModuleFunction& occt_module() {
  static const ModuleFunction module =
      open_module("raylift-occt.so", "RAYLIFT_OCCT", occt::kMakeOperation, "combines solids by Open CASCADE");
  return module;
}

Surface facets_of(const Shape& shape, double chord) {
  return tessellate(shape, {chord, 0, Fineness::Fit::volume});
}

}  // namespace

void open_occt() noexcept try { (void)occt_module(); } catch (...) {
  // The first boolean says what is wrong.
}

const std::string& why_no_occt() {
  return occt_module().why;
}

std::unique_ptr<occt::Operation> make_operation(const Csg& csg, const occt::Options& options) {
  const auto make = reinterpret_cast<occt::MakeOperation>(occt_module().function);
  return std::unique_ptr<occt::Operation>(make(csg, options, &facets_of));
}

}  // namespace raylift::gdml
