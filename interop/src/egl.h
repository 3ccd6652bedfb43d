// SPDX-License-Identifier: Apache-2.0
// EGL's ways to a context without a display.
#pragma once

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <string>
#include <vector>

namespace raylift::detail {

/// A display to try. EGL initialises it when it is opened.
struct EglCandidate {
  std::string name;       ///< "EGL device 0"
  EGLenum platform = 0;   ///< EGL_PLATFORM_DEVICE_EXT, EGL_PLATFORM_SURFACELESS_MESA
  EGLDeviceEXT device{};  ///< of the device platform
  int cuda_device = -1;   ///< as EGL says
  bool software = false;  ///< EGL says that it is one
};

/// All there are, in the order to try them in: GPUs, software, surfaceless. `why_fewer` gets what kept it from listing
/// some.
[[nodiscard]] std::vector<EglCandidate> egl_candidates(std::vector<std::string>& why_fewer);

/// A context with its display. Contexts of one candidate share a display, which stays initialised until the process
/// ends: terminating it would end the others.
struct EglContext {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;
  EGLSurface surface = EGL_NO_SURFACE;  ///< where it can't do without
};

/// Makes a context of OpenGL 4.5 core and makes it current. On failure returns why; then nothing is left behind.
[[nodiscard]] std::string open_egl(const EglCandidate& candidate, bool debug, EglContext& made);

/// Destroys it. It may be current, on any thread.
void close_egl(const EglContext& context) noexcept;

/// "EGL_BAD_MATCH", of the last call that failed.
[[nodiscard]] std::string egl_error();

}  // namespace raylift::detail
