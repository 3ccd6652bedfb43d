// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/interop/gl_context.h>
#include <raylift/interop/support.h>

#include <algorithm>

#include "context_state.h"
#include "cuda_link.h"

namespace raylift {
namespace {

/// `wanted` is a CUDA device, or -1 for any.
InteropSupport support(int wanted) {
  InteropSupport result;
  if (detail::current_context_handle() == nullptr) {
    result.why_not = "no OpenGL context is current on this thread";
    return result;
  }
  try {
    const GlInfo gl = gl_info();
    result.renderer = gl.renderer;
    // Asked about a context of another driver, CUDA's answer is an error at best.
    if (gl.vendor.find("NVIDIA") == std::string::npos) {
      result.why_not = "OpenGL draws on '" + gl.renderer + "' (" + gl.vendor + "), which CUDA can't share memory with";
      return result;
    }
  } catch (const Error& error) {
    result.why_not = error.problem();
    return result;
  }
  const std::vector<int> devices = detail::cuda_gl_devices(result.why_not);
  if (devices.empty()) return result;
  result.cuda_device = devices.front();
  result.available = wanted < 0 || std::find(devices.begin(), devices.end(), wanted) != devices.end();
  if (result.available && wanted >= 0) result.cuda_device = wanted;
  result.other_gpu = !result.available;
  if (result.other_gpu)
    result.why_not = "OpenGL draws on cuda:" + std::to_string(result.cuda_device) +
                     ", and the geometry is on cuda:" + std::to_string(wanted);
  return result;
}

}  // namespace

InteropSupport interop_support() {
  return support(-1);
}

InteropSupport interop_support(const Device& device) {
  if (device.info().cuda_device >= 0) return support(device.info().cuda_device);
  InteropSupport result = support(-1);
  result.available = false;
  if (result.why_not.empty()) result.why_not = "the geometry is on the host device, and OpenGL draws on a GPU";
  return result;
}

}  // namespace raylift
