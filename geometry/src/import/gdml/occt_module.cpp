// SPDX-License-Identifier: Apache-2.0
#include "occt_module.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/own_parts.h"
#include "tessellate.h"

namespace raylift::gdml {
namespace {

namespace fs = std::filesystem;

struct OcctModule {
  occt::MakeOperation make = nullptr;
  std::string why = "raylift-occt.so, which combines solids by Open CASCADE, is not installed";
};

OcctModule find_occt() {
  OcctModule module;
  for (const fs::path& place : base::places_of("raylift-occt.so", "RAYLIFT_OCCT", RAYLIFT_LIBEXEC)) {
    std::error_code error;
    if (!fs::exists(place, error)) continue;
    void* const opened = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      module.why = ::dlerror();
      continue;
    }
    module.make = reinterpret_cast<occt::MakeOperation>(::dlsym(opened, occt::kMakeOperation));
    if (module.make != nullptr) return {module.make, {}};
    module.why = place.string() + " is of another version of raylift";
  }
  return module;
}

const OcctModule& occt_module() {
  static const OcctModule module = find_occt();
  return module;
}

Surface facets_of(const Shape& shape, double chord) {
  return tessellate(shape, {chord, 0, Fit::volume});
}

}  // namespace

void open_occt() noexcept try { (void)occt_module(); } catch (...) {
  // The first boolean says what is wrong.
}

const std::string& why_no_occt() {
  return occt_module().why;
}

std::unique_ptr<occt::Operation> make_operation(const Csg& csg, const occt::Options& options) {
  return std::unique_ptr<occt::Operation>(occt_module().make(csg, options, &facets_of));
}

}  // namespace raylift::gdml
