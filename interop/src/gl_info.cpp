// SPDX-License-Identifier: Apache-2.0
// GLEW, and what the current context is.
#include <EGL/egl.h>
#include <GL/glew.h>
#include <raylift/geometry/error.h>
#include <raylift/interop/gl_context.h>

#include <mutex>

#include "context_state.h"

namespace raylift {
namespace {

std::string text(GLenum name) {
  const GLubyte* value = glGetString(name);
  return value == nullptr ? "" : reinterpret_cast<const char*>(value);
}

/// GLEW keeps its functions in global variables, the same for every context of a process.
void init_glew() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  glewExperimental = GL_TRUE;
  const GLenum code = glewInit();
  // GLEW 2.2 looks for a GLX display after it has loaded all of OpenGL, and under EGL there is none.
  if (code != GLEW_OK && !(code == GLEW_ERROR_NO_GLX_DISPLAY && eglGetCurrentContext() != EGL_NO_CONTEXT))
    throw Error(ErrorKind::no_display, "OpenGL's functions can't be loaded: GLEW says '" +
                                           std::string(reinterpret_cast<const char*>(glewGetErrorString(code))) + "'");
  while (glGetError() != GL_NO_ERROR) {
    // GLEW itself causes errors in core contexts.
  }
}

}  // namespace

GlInfo gl_info() {
  if (detail::current_context_handle() == nullptr)
    throw Error(ErrorKind::no_display, "no OpenGL context is current on this thread", {},
                "make one current, or make a GlContext");
  GlInfo info;
  info.vendor = text(GL_VENDOR);
  info.renderer = text(GL_RENDERER);
  info.version = text(GL_VERSION);
  info.platform = eglGetCurrentContext() != EGL_NO_CONTEXT ? "EGL" : "GLX";
  glGetIntegerv(GL_MAJOR_VERSION, &info.major);
  glGetIntegerv(GL_MINOR_VERSION, &info.minor);
  for (const char* name : {"llvmpipe", "softpipe", "swrast", "Software Rasterizer", "SWR"})
    info.software = info.software || info.renderer.find(name) != std::string::npos;
  return info;
}

GlInfo init_gl() {
  GlInfo info = gl_info();
  init_glew();
  if (info.major * 10 + info.minor < 45)
    throw Error(ErrorKind::no_display,
                "OpenGL 4.5 is needed, and this context has '" + info.version + "' (" + info.renderer + ")", {},
                "update the OpenGL driver");
  return info;
}

}  // namespace raylift
