// SPDX-License-Identifier: Apache-2.0
// NVRTC, found at run time: a program that compiles no kernels does not need it, and it is large. Its C interface,
// which is the same from CUDA 12 on; no header of CUDA's is needed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace raylift::detail {

struct NvrtcProgram;

/// Its functions, with their results as numbers; 0 is success.
struct Nvrtc {
  static constexpr int kInvalidOption = 5;
  static constexpr int kCompilation = 6;

  const char* (*error_string)(int) = nullptr;
  int (*version)(int*, int*) = nullptr;
  int (*count_architectures)(int*) = nullptr;
  int (*architectures)(int*) = nullptr;
  int (*create)(NvrtcProgram**, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*destroy)(NvrtcProgram**) = nullptr;
  int (*compile)(NvrtcProgram*, int, const char* const*) = nullptr;
  int (*log_bytes)(NvrtcProgram*, std::size_t*) = nullptr;
  int (*log)(NvrtcProgram*, char*) = nullptr;
  int (*ptx_bytes)(NvrtcProgram*, std::size_t*) = nullptr;
  int (*ptx)(NvrtcProgram*, char*) = nullptr;
  int (*cubin_bytes)(NvrtcProgram*, std::size_t*) = nullptr;
  int (*cubin)(NvrtcProgram*, char*) = nullptr;

  int major = 0, minor = 0;
  std::vector<int> supported;  ///< compute capabilities, 90 for 9.0, ascending

  /// Loaded once, and kept. Throws Error(device), with what to install, where there is none.
  [[nodiscard]] static const Nvrtc& get();
  /// The first of these that can be loaded. Throws likewise.
  [[nodiscard]] static Nvrtc load(const std::vector<std::string>& paths);
  /// Where it is looked for: $RAYLIFT_NVRTC alone, where that is set; else by its names, the way the loader does, and
  /// in CUDA's folders.
  [[nodiscard]] static std::vector<std::string> usual_paths();
};

}  // namespace raylift::detail
