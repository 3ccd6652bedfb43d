// SPDX-License-Identifier: Apache-2.0
// The kernel, a ray a thread, and its launch.
#include "path_length.h"

__global__ void path_lengths(Task task) {
  const std::size_t ray = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (ray < task.rays)
    follow(task, ray, [&](std::uint32_t solid, unsigned long long units) { atomicAdd(task.lengths + solid, units); });
}

const char* launch_path_lengths(const Task& task, void* stream) {
  const auto blocks = static_cast<unsigned>((task.rays + 127) / 128);
  path_lengths<<<blocks, 128, 0, static_cast<cudaStream_t>(stream)>>>(task);
  const cudaError_t code = cudaGetLastError();
  return code == cudaSuccess ? nullptr : cudaGetErrorString(code);
}
