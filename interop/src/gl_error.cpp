// SPDX-License-Identifier: Apache-2.0
#include "gl_error.h"

#include <GL/glew.h>
#include <raylift/geometry/error.h>

namespace raylift::detail {

void clear_gl_errors() noexcept {
  // At most as many as there are flags: a context that was lost reports its loss for ever.
  for (int i = 0; i != 16 && glGetError() != GL_NO_ERROR; ++i) {
  }
}

void check_gl(const std::string& what) {
  const GLenum code = glGetError();
  if (code == GL_NO_ERROR) return;
  clear_gl_errors();
  if (code == GL_OUT_OF_MEMORY) throw Error(ErrorKind::out_of_device_memory, what + " failed: OpenGL is out of memory");
  const char* name = code == GL_INVALID_ENUM        ? "GL_INVALID_ENUM"
                     : code == GL_INVALID_VALUE     ? "GL_INVALID_VALUE"
                     : code == GL_INVALID_OPERATION ? "GL_INVALID_OPERATION"
                     : code == GL_CONTEXT_LOST      ? "GL_CONTEXT_LOST"
                                                    : nullptr;
  throw Error(ErrorKind::device,
              what + " failed: " + (name != nullptr ? name : "OpenGL error " + std::to_string(code)));
}

}  // namespace raylift::detail
