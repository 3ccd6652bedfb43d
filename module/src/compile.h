// SPDX-License-Identifier: Apache-2.0
// From source to what a device loads. Needs no device and no driver.
#pragma once

#include <raylift/module/module.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nvrtc.h"

namespace raylift::detail {

/// A kernel in what was compiled.
struct Kernel {
  std::string name;                     ///< in the source
  std::string symbol;                   ///< in the image
  std::vector<std::size_t> parameters;  ///< the size of each in bytes
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

/// What was compiled.
struct Compiled {
  std::string image;  ///< a cubin; or PTX, of an architecture that NVRTC is too old for
  std::vector<Kernel> kernels;
  bool cached = false;
};

/// Compiles for a compute capability: 90 for 9.0. By way of the cache, where options say so. Throws what
/// Module::compile does.
[[nodiscard]] Compiled compile(const Nvrtc& nvrtc, std::string_view source, int capability,
                               const ModuleOptions& options);

/// The kernels of a PTX text.
[[nodiscard]] std::vector<Kernel> kernels_of_ptx(std::string_view ptx);

/// Throws Error(usage) where arguments of these sizes are not the kernel's.
void check_arguments(const Kernel& kernel, std::span<const std::size_t> bytes);

/// A header that is built in.
struct BuiltInHeader {
  const char* name;  ///< as kernels include it
  const char* text;
};
extern const BuiltInHeader kBuiltInHeaders[];
extern const std::size_t kBuiltInHeaderCount;

}  // namespace raylift::detail
