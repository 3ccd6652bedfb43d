// SPDX-License-Identifier: Apache-2.0
#include "nvrtc.h"

#include <dlfcn.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <cstdlib>

namespace raylift::detail {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Nvrtc& nvrtc) {
  return find(library, "nvrtcGetErrorString", nvrtc.error_string) && find(library, "nvrtcVersion", nvrtc.version) &&
         find(library, "nvrtcGetNumSupportedArchs", nvrtc.count_architectures) &&
         find(library, "nvrtcGetSupportedArchs", nvrtc.architectures) &&
         find(library, "nvrtcCreateProgram", nvrtc.create) && find(library, "nvrtcDestroyProgram", nvrtc.destroy) &&
         find(library, "nvrtcCompileProgram", nvrtc.compile) &&
         find(library, "nvrtcGetProgramLogSize", nvrtc.log_bytes) && find(library, "nvrtcGetProgramLog", nvrtc.log) &&
         find(library, "nvrtcGetPTXSize", nvrtc.ptx_bytes) && find(library, "nvrtcGetPTX", nvrtc.ptx) &&
         find(library, "nvrtcGetCUBINSize", nvrtc.cubin_bytes) && find(library, "nvrtcGetCUBIN", nvrtc.cubin);
}

/// Asks it what it is. False where it does not answer.
bool ask(Nvrtc& nvrtc) {
  int count = 0;
  if (nvrtc.version(&nvrtc.major, &nvrtc.minor) != 0 || nvrtc.count_architectures(&count) != 0 || count <= 0)
    return false;
  nvrtc.supported.resize(static_cast<std::size_t>(count));
  if (nvrtc.architectures(nvrtc.supported.data()) != 0) return false;
  std::sort(nvrtc.supported.begin(), nvrtc.supported.end());
  return true;
}

}  // namespace

std::vector<std::string> Nvrtc::usual_paths() {
  if (const char* path = std::getenv("RAYLIFT_NVRTC"); path != nullptr && *path != '\0') return {path};
  std::vector<std::string> folders{""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable); home != nullptr && *home != '\0') {
      folders.push_back(std::string(home) + "/lib64/");
      folders.push_back(std::string(home) + "/lib/");
    }
  folders.emplace_back("/usr/local/cuda/lib64/");
  std::vector<std::string> paths;
  for (const std::string& folder : folders)
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) paths.push_back(folder + name);
  return paths;
}

Nvrtc Nvrtc::load(const std::vector<std::string>& paths) {
  std::string first_failure;
  for (const std::string& path : paths) {
    // It stays loaded: what it made may be in use until the end.
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    Nvrtc nvrtc;
    if (library != nullptr && find_all(library, nvrtc) && ask(nvrtc)) return nvrtc;
    if (!first_failure.empty()) continue;
    const char* why = library == nullptr ? ::dlerror() : nullptr;
    first_failure = why != nullptr ? why : path + ": this is no NVRTC of CUDA 12 or later";
  }
  throw Error(
      ErrorKind::device, "kernels can't be compiled: NVRTC was not found (" + first_failure + ")", {},
      "install cuda-nvrtc-13-0 of NVIDIA's packages or libnvrtc12 of Ubuntu's, or set RAYLIFT_NVRTC to the path "
      "of libnvrtc.so");
}

const Nvrtc& Nvrtc::get() {
  static const Nvrtc nvrtc = load(usual_paths());
  return nvrtc;
}

}  // namespace raylift::detail
