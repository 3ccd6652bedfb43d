// SPDX-License-Identifier: Apache-2.0
// Whether a device and the current OpenGL context can share memory, and if not, why not.
#pragma once

#include <raylift/gpu/device/device.h>

#include <string>

namespace raylift {

struct InteropSupport {
  bool available = false;  ///< buffers of the context can be mapped for kernels
  int cuda_device = -1;    ///< the CUDA device that the OpenGL context is on; -1 where it is on none
  bool other_gpu = false;  ///< the context is on a CUDA device, but not on the given one
  std::string renderer;    ///< OpenGL's name of what it draws on
  std::string why_not;     ///< empty where it is available
};

/// The support of the calling thread's context with any CUDA device. Lack of support is no error: "no context is
/// current" and "built without CUDA" are results too.
[[nodiscard]] InteropSupport interop_support();

/// The support of the current context with this device.
[[nodiscard]] InteropSupport interop_support(const Device& device);

}  // namespace raylift
