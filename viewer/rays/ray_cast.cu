// SPDX-License-Identifier: Apache-2.0
#include "rays/ray_launch.h"

namespace raylift::viewer {
namespace {

constexpr unsigned kThreads = 128;

__global__ void cast_kernel(const RayFrame frame, const RayPass pass, std::uint32_t first, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) cast_cell(frame, pass, first + i);
}

}  // namespace

std::string launch_cells(int device, const RayFrame& frame, const RayPass& pass, std::uint32_t first,
                         std::uint32_t count, void* stream) {
  int before = device;
  (void)cudaGetDevice(&before);
  cudaError_t code = cudaSetDevice(device);
  if (code == cudaSuccess && count > 0) {
    cast_kernel<<<(count + kThreads - 1) / kThreads, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(frame, pass,
                                                                                                       first, count);
    code = cudaGetLastError();
  }
  if (before != device) (void)cudaSetDevice(before);
  return code == cudaSuccess ? std::string() : cudaGetErrorName(code);
}

}  // namespace raylift::viewer
