// SPDX-License-Identifier: Apache-2.0
// Traces the rays of a NumPy file, (N, 8) float32, and prints the seconds of the best round: the C++ side of
// bench_python.py. usage: bench_ray_file scene.dae rays.npy device rounds
#include "bench/best_of.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/trace.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/photon/npy.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  using namespace raylift;
  if (argc != 5) return 2;
  try {
    const Device device = Device::parse(argv[3]);
    const GpuGeometry geometry = upload(load(argv[1]), device);
    const std::uint64_t row[] = {8};
    const auto host = photon::read_npy<Ray>(argv[2], photon::NpyType::float32, row);
    const Stream stream(device);
    DeviceBuffer<Ray> rays(device, host.size());
    const DeviceBuffer<Hit> hits(device, host.size());
    rays.copy_from(std::span<const Ray>(host), stream);
    stream.synchronize();
    const double seconds = bench::best_of(std::atoi(argv[4]), [&] {
      trace(geometry, rays.device(), hits.device(), host.size(), stream);
      stream.synchronize();
    });
    std::printf("%.9f\n", seconds);
  } catch (const Error& error) {
    std::fprintf(stderr, "bench_ray_file: %s\n", error.what());
    return exit_code(error.kind());
  }
}
