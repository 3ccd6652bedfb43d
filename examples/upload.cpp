// SPDX-License-Identifier: Apache-2.0
// The README's example, which stands there as here: a scene onto the device, its residency report, and the kernels' view.
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const raylift::Scene scene = raylift::load(argv[1]);
    const raylift::Device device = raylift::Device::choose();  // a GPU where there is one, else the host device
    raylift::UploadOptions options;
    options.reserve = 500'000'000;  // bytes of device memory for the simulator's own arrays
    const raylift::GpuGeometry geometry = raylift::upload(scene, device, options);
    std::fputs(geometry.report().table().c_str(), stdout);
    const raylift::GeometryView view = geometry.view();  // a kernel's argument, by value: closest_hit(view, ray)
    std::printf("%u triangles in %u instances\n", view.triangle_count, view.instance_count);
  } catch (const raylift::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return raylift::exit_code(error.kind());
  }
}
