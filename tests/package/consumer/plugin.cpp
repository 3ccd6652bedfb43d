// SPDX-License-Identifier: Apache-2.0
// A shared library over raylift, whose symbols the test counts.
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#ifdef HIDDEN
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

extern "C" EXPORTED int triangles_of(const char* path) {
  try {
    const raylift::Scene scene = raylift::load(path);
    const raylift::GpuGeometry geometry = raylift::upload(scene, raylift::Device::host());
    return static_cast<int>(geometry.view().triangle_count);
  } catch (const raylift::Error&) {
    return -1;
  }
}
