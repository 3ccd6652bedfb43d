// SPDX-License-Identifier: Apache-2.0
// A short program that puts a scene where a kernel can reach it, and traces a ray there.
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/trace.h>
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
    const raylift::GeometryView view = geometry.view();  // a kernel's argument: kernel<<<...>>>(view, ...)
    std::printf("%u triangles in %u instances\n", view.triangle_count, view.instance_count);

    // A kernel calls closest_hit(view, ray). The host has many rays traced at once: here one, along z.
    const raylift::Stream stream(device);
    const raylift::Ray ray[] = {{{0, 0, 0}, 0, {0, 0, 1}}};
    raylift::Hit hit[1];
    raylift::DeviceBuffer<raylift::Ray> rays(device, 1);
    const raylift::DeviceBuffer<raylift::Hit> hits(device, 1);
    rays.copy_from(ray, stream);
    raylift::trace(geometry, rays.device(), hits.device(), 1, stream);
    hits.copy_to(hit, stream);
    stream.synchronize();
    if (hit[0].valid()) std::printf("instance %u is %g mm away\n", unsigned{hit[0].instance}, hit[0].t);
  } catch (const raylift::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return raylift::exit_code(error.kind());
  }
}
