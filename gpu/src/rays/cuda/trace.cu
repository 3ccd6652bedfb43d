// SPDX-License-Identifier: Apache-2.0
#include "rays/trace_kernel.h"
#include "trace_kernels.h"

namespace raylift::cuda {
namespace {

template <class Geometry>
int launch(const Geometry& geometry, const Ray* rays, Hit* hits, std::size_t count, void* scratch, void* on) {
  if (count == 0) return cudaSuccess;
  const auto stream = static_cast<cudaStream_t>(on);
  LaunchShape shape{};
  if (const int code = launch_shape(count, shape); code != cudaSuccess) return code;
  // A grid has up to 2^31 - 1 blocks.
  const std::size_t most = std::size_t{0x7FFFFFFF} * (kThreads / 32) * 32;
  for (std::size_t first = 0; first < count; first += most) {
    const std::size_t n = count - first < most ? count - first : most;
    auto* note = static_cast<RowsNote*>(scratch);
    if (const int code = launch_packets(geometry, rays + first, hits + first, n, shape, note, stream);
        code != cudaSuccess)
      return code;
    launch_pending(geometry, rays + first, hits + first, n, shape, note, stream);
  }
  return cudaGetLastError();
}

static_assert(sizeof(RowsNote) <= kTraceScratchBytes);

}  // namespace

int launch_shape(std::size_t count, LaunchShape& shape) {
  int device = 0, multiprocessors = 0;
  if (const cudaError_t code = cudaGetDevice(&device); code != cudaSuccess) return code;
  if (const cudaError_t code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
      code != cudaSuccess)
    return code;
  const std::size_t warps = static_cast<std::size_t>(multiprocessors) * kBlocks * (kThreads / 32);
  const std::size_t share = (count / warps + 31) / 32 * 32;
  shape.rays_per_warp = share < 32 ? 32 : share < kRaysPerWarp ? share : kRaysPerWarp;
  return cudaSuccess;
}

int launch_trace(const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count, void* scratch, void* stream) {
  return launch(bvh, rays, hits, count, scratch, stream);
}

int launch_trace(const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count, void* scratch,
                 void* stream) {
  // One level costs nothing for the second: the smaller kernel.
  if (geometry.bvh_levels != 2) return launch(geometry.bvh, rays, hits, count, scratch, stream);
  return launch(geometry, rays, hits, count, scratch, stream);
}

}  // namespace raylift::cuda
