// SPDX-License-Identifier: Apache-2.0
#include "open_module.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/own_parts.h"

namespace raylift {

ModuleFunction open_module(const std::string& file, const char* variable, const char* function,
                           const std::string& purpose) {
  ModuleFunction module{nullptr, file + ", which " + purpose + ", is not installed"};
  for (const std::filesystem::path& place : base::places_of(file, variable, RAYLIFT_LIBEXEC)) {
    std::error_code error;
    if (!std::filesystem::exists(place, error)) continue;
    void* const opened = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      module.why = ::dlerror();
      continue;
    }
    module.function = ::dlsym(opened, function);
    if (module.function != nullptr) return {module.function, {}};
    module.why = place.string() + " is of another version of raylift";
  }
  return module;
}

}  // namespace raylift
