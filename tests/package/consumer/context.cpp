// SPDX-License-Identifier: Apache-2.0
// Uses raylift::interop: makes a context, or says why there is none.
#include <raylift/geometry/error.h>
#include <raylift/interop/gl_context.h>

#include <cstdio>

int main() {
  try {
    std::printf("OpenGL: %s\n", raylift::GlContext().info().renderer.c_str());
  } catch (const raylift::Error& error) {
    if (error.kind() != raylift::ErrorKind::no_display) throw;
    std::printf("OpenGL: %s\n", error.what());
  }
}
