// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/interop/gl_context.h>
#include <raylift/interop/support.h>

#include <algorithm>

#include "context_state.h"
#include "egl.h"

namespace raylift {

using detail::ContextState;
using detail::EglCandidate;
using detail::EglContext;

namespace {

/// The calling thread's current EGL context, put back at the end of a scope.
class KeepCurrent {
 public:
  KeepCurrent()
      : display_(eglGetCurrentDisplay()),
        draw_(eglGetCurrentSurface(EGL_DRAW)),
        read_(eglGetCurrentSurface(EGL_READ)),
        context_(eglGetCurrentContext()) {}
  ~KeepCurrent() {
    if (context_ != EGL_NO_CONTEXT) (void)eglMakeCurrent(display_, draw_, read_, context_);
  }
  KeepCurrent(const KeepCurrent&) = delete;
  KeepCurrent& operator=(const KeepCurrent&) = delete;
  void forget() { context_ = EGL_NO_CONTEXT; }

 private:
  EGLDisplay display_;
  EGLSurface draw_;
  EGLSurface read_;
  EGLContext context_;
};

/// Whether a context that was made is what was asked for; else why not.
std::string unwanted(const GlInfo& info, const GlContextOptions& options) {
  if (options.renderer == GlContextOptions::Renderer::device && info.software)
    return "it draws on the CPU (" + info.renderer + ")";
  if (options.renderer == GlContextOptions::Renderer::software && !info.software)
    return "it draws on a GPU (" + info.renderer + ")";
  return {};
}

/// The candidates, those that can share memory with the wished device first. CUDA's numbers of devices and EGL's need
/// not agree ($CUDA_VISIBLE_DEVICES), so that is tried out where there is a choice.
void prefer_beside(const Device& device, std::vector<EglCandidate>& candidates) {
  const auto on_cuda = std::count_if(candidates.begin(), candidates.end(),
                                     [](const EglCandidate& candidate) { return candidate.cuda_device >= 0; });
  if (device.info().is_host || on_cuda < 2) return;
  std::stable_partition(candidates.begin(), candidates.end(), [&](const EglCandidate& candidate) {
    EglContext context;
    if (candidate.cuda_device < 0 || !detail::open_egl(candidate, false, context).empty()) return false;
    const bool shares = interop_support(device).available;
    detail::close_egl(context);
    return shares;
  });
}

/// What is known of a candidate before it is opened.
std::string unwanted(const EglCandidate& candidate, const GlContextOptions& options) {
  if (options.cuda_device >= 0 && candidate.cuda_device != options.cuda_device)
    return "it is not cuda:" + std::to_string(options.cuda_device);
  if (options.renderer == GlContextOptions::Renderer::device && candidate.software) return "it draws on the CPU";
  if (options.renderer == GlContextOptions::Renderer::software && candidate.cuda_device >= 0)
    return "it draws on a GPU";
  return {};
}

}  // namespace

GlContextOptions::Renderer gl_renderer(std::string_view name) {
  if (name == "auto") return GlContextOptions::Renderer::automatic;
  if (name == "device") return GlContextOptions::Renderer::device;
  if (name == "software") return GlContextOptions::Renderer::software;
  throw Error(ErrorKind::usage, "'" + std::string(name) + "' is no OpenGL renderer", {},
              "use auto, device, or software");
}

struct GlContext::Impl {
  EglContext egl;
  GlInfo info;
  std::shared_ptr<ContextState> state;

  ~Impl() {
    if (egl.context == EGL_NO_CONTEXT) return;
    KeepCurrent before;
    const bool was_current = eglGetCurrentContext() == egl.context;
    if (was_current) before.forget();
    // Fails where another thread has it; then what is shared only forgets it.
    const bool current =
        was_current || (eglBindAPI(EGL_OPENGL_API) == EGL_TRUE &&
                        eglMakeCurrent(egl.display, egl.surface, egl.surface, egl.context) == EGL_TRUE);
    if (state != nullptr) state->end(current);
    detail::close_egl(egl);
  }
};

GlContext::GlContext(const GlContextOptions& options) : impl_(std::make_unique<Impl>()) {
  std::vector<std::string> attempts;
  KeepCurrent before;
  std::vector<EglCandidate> candidates = detail::egl_candidates(attempts);
  if (options.beside && options.cuda_device < 0) prefer_beside(*options.beside, candidates);
  for (const EglCandidate& candidate : candidates) {
    std::string failure = unwanted(candidate, options);
    if (failure.empty()) failure = detail::open_egl(candidate, options.debug, impl_->egl);
    if (failure.empty()) {
      try {
        impl_->info = init_gl();
        failure = unwanted(impl_->info, options);
      } catch (const Error& error) {
        failure = error.problem();
      }
      if (failure.empty()) {
        impl_->info.platform = candidate.name;
        impl_->info.cuda_device = candidate.cuda_device;
        impl_->state = std::make_shared<ContextState>(impl_->egl.context);
        ContextState::add(impl_->state);
        before.forget();
        return;
      }
      detail::close_egl(impl_->egl);
    }
    impl_->egl = {};
    attempts.push_back(candidate.name + ": " + failure);
  }
  std::string list;
  for (const std::string& attempt : attempts) list += (list.empty() ? "" : "; ") + attempt;
  throw Error(ErrorKind::no_display, "no OpenGL 4.5 context could be made without a display: " + list, {},
              options.renderer == GlContextOptions::Renderer::device
                  ? "install the GPU's OpenGL driver with EGL, or draw on the CPU"
                  : "install the GPU's OpenGL driver with EGL, or Mesa (libegl-mesa0, libgl1-mesa-dri)");
}

GlContext::~GlContext() = default;
GlContext::GlContext(GlContext&&) noexcept = default;
GlContext& GlContext::operator=(GlContext&&) noexcept = default;

void GlContext::make_current() const {
  const EglContext& egl = impl_->egl;
  if (is_current()) return;
  if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE ||
      eglMakeCurrent(egl.display, egl.surface, egl.surface, egl.context) != EGL_TRUE) {
    const std::string code = detail::egl_error();
    throw Error(ErrorKind::usage, "the OpenGL context can't be made current on this thread: " + code, {},
                code == "EGL_BAD_ACCESS" ? "another thread has it: release it there first" : "");
  }
}

void GlContext::release() const {
  impl_->state->require_current("releasing an OpenGL context");
  (void)eglMakeCurrent(impl_->egl.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

bool GlContext::is_current() const {
  return impl_ != nullptr && eglGetCurrentContext() == impl_->egl.context;
}

const GlInfo& GlContext::info() const {
  return impl_->info;
}

}  // namespace raylift
