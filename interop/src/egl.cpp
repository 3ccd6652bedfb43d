// SPDX-License-Identifier: Apache-2.0
#include "egl.h"

#include <algorithm>
#include <string_view>

namespace raylift::detail {
namespace {

template <class Function>
Function find(const char* name) {
  return reinterpret_cast<Function>(eglGetProcAddress(name));
}

/// Whether a list of extensions, separated by blanks, has one.
bool has(const char* extensions, std::string_view name) {
  std::string_view list = extensions == nullptr ? "" : extensions;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

void add_devices(std::vector<EglCandidate>& candidates, std::vector<std::string>& why_fewer) {
  const auto query_devices = find<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
  const auto query_string = find<PFNEGLQUERYDEVICESTRINGEXTPROC>("eglQueryDeviceStringEXT");
  const auto query_attribute = find<PFNEGLQUERYDEVICEATTRIBEXTPROC>("eglQueryDeviceAttribEXT");
  EGLint count = 0;
  if (query_devices == nullptr || query_string == nullptr || query_attribute == nullptr) {
    why_fewer.emplace_back("EGL devices: this EGL lists none");
    return;
  }
  if (query_devices(0, nullptr, &count) != EGL_TRUE || count <= 0) {
    why_fewer.emplace_back("EGL devices: there are none");
    return;
  }
  std::vector<EGLDeviceEXT> devices(static_cast<std::size_t>(count));
  if (query_devices(count, devices.data(), &count) != EGL_TRUE) {
    why_fewer.push_back("EGL devices: " + egl_error());
    return;
  }
  for (EGLint i = 0; i != count; ++i) {
    EglCandidate candidate{"EGL device " + std::to_string(i), EGL_PLATFORM_DEVICE_EXT, devices[i], -1, false};
    const char* extensions = query_string(devices[i], EGL_EXTENSIONS);
    EGLAttrib ordinal = -1;
    if (has(extensions, "EGL_NV_device_cuda") &&
        query_attribute(devices[i], EGL_CUDA_DEVICE_NV, &ordinal) == EGL_TRUE) {
      candidate.cuda_device = static_cast<int>(ordinal);
      candidate.name += " (cuda:" + std::to_string(ordinal) + ")";
    }
    candidate.software = has(extensions, "EGL_MESA_device_software");
    if (candidate.software) candidate.name += " (software)";
    candidates.push_back(std::move(candidate));
  }
}

}  // namespace

std::string egl_error() {
  switch (const EGLint code = eglGetError()) {
    case EGL_NOT_INITIALIZED:
      return "EGL_NOT_INITIALIZED";
    case EGL_BAD_ACCESS:
      return "EGL_BAD_ACCESS";
    case EGL_BAD_ALLOC:
      return "EGL_BAD_ALLOC";
    case EGL_BAD_ATTRIBUTE:
      return "EGL_BAD_ATTRIBUTE";
    case EGL_BAD_CONTEXT:
      return "EGL_BAD_CONTEXT";
    case EGL_BAD_CONFIG:
      return "EGL_BAD_CONFIG";
    case EGL_BAD_MATCH:
      return "EGL_BAD_MATCH";
    case EGL_BAD_PARAMETER:
      return "EGL_BAD_PARAMETER";
    case EGL_BAD_SURFACE:
      return "EGL_BAD_SURFACE";
    case EGL_BAD_DISPLAY:
      return "EGL_BAD_DISPLAY";
    case EGL_CONTEXT_LOST:
      return "EGL_CONTEXT_LOST";
    default:
      return "EGL error " + std::to_string(code);
  }
}

std::vector<EglCandidate> egl_candidates(std::vector<std::string>& why_fewer) {
  std::vector<EglCandidate> candidates;
  const char* extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  if (has(extensions, "EGL_EXT_platform_device"))
    add_devices(candidates, why_fewer);
  else
    why_fewer.emplace_back("EGL devices: this EGL has no device platform");
  // A CUDA device's GL first, since only that one can share; then other GPUs; what draws on the CPU last.
  std::stable_sort(candidates.begin(), candidates.end(), [](const EglCandidate& a, const EglCandidate& b) {
    const auto rank = [](const EglCandidate& c) { return c.cuda_device >= 0 ? 0 : c.software ? 2 : 1; };
    return rank(a) < rank(b);
  });
  if (has(extensions, "EGL_MESA_platform_surfaceless"))
    candidates.push_back({"EGL surfaceless", EGL_PLATFORM_SURFACELESS_MESA, {}, -1, false});
  else
    why_fewer.emplace_back("EGL surfaceless: this EGL has no such platform (Mesa has it)");
  return candidates;
}

std::string open_egl(const EglCandidate& candidate, bool debug, EglContext& made) {
  const auto get_display = find<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
  if (get_display == nullptr) return "this EGL has no platforms";
  made = {};
  made.display = get_display(candidate.platform, candidate.device, nullptr);
  if (made.display == EGL_NO_DISPLAY) return "eglGetPlatformDisplay: " + egl_error();
  if (eglInitialize(made.display, nullptr, nullptr) != EGL_TRUE) return "eglInitialize: " + egl_error();
  if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE) return "it has no OpenGL, only OpenGL ES";

  const char* extensions = eglQueryString(made.display, EGL_EXTENSIONS);
  const bool surfaceless = has(extensions, "EGL_KHR_surfaceless_context");
  EGLConfig config = nullptr;  // EGL_NO_CONFIG_KHR
  if (!surfaceless || !has(extensions, "EGL_KHR_no_config_context")) {
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLint count = 0;
    if (eglChooseConfig(made.display, wanted, &config, 1, &count) != EGL_TRUE) return "eglChooseConfig: " + egl_error();
    if (count == 0) return "it has no configuration for OpenGL without a window";
  }
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                            4,
                            EGL_CONTEXT_MINOR_VERSION,
                            5,
                            EGL_CONTEXT_OPENGL_PROFILE_MASK,
                            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                            EGL_CONTEXT_OPENGL_DEBUG,
                            debug ? EGL_TRUE : EGL_FALSE,
                            EGL_NONE};
  made.context = eglCreateContext(made.display, config, EGL_NO_CONTEXT, version);
  if (made.context == EGL_NO_CONTEXT) return "no context of OpenGL 4.5 core: " + egl_error();
  if (!surfaceless) {
    const EGLint size[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
    made.surface = eglCreatePbufferSurface(made.display, config, size);
    if (made.surface == EGL_NO_SURFACE) {
      const std::string why = "eglCreatePbufferSurface: " + egl_error();
      close_egl(made);
      return why;
    }
  }
  if (eglMakeCurrent(made.display, made.surface, made.surface, made.context) != EGL_TRUE) {
    const std::string why = "eglMakeCurrent: " + egl_error();
    close_egl(made);
    return why;
  }
  return {};
}

void close_egl(const EglContext& context) noexcept {
  if (context.context == EGL_NO_CONTEXT) return;
  if (eglGetCurrentContext() == context.context)
    (void)eglMakeCurrent(context.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  if (context.surface != EGL_NO_SURFACE) (void)eglDestroySurface(context.display, context.surface);
  (void)eglDestroyContext(context.display, context.context);
}

}  // namespace raylift::detail
