// SPDX-License-Identifier: Apache-2.0
#include "upload/move_kernels.h"

namespace raylift::cuda {
namespace {

constexpr unsigned kThreads = 128;

__global__ void put_instances(const detail::MovedInstance* moved, std::size_t count, InstanceView* instances,
                              Transform* frames) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) moved[i].put(instances, frames);
}

}  // namespace

int launch_put_instances(const detail::MovedInstance* moved, std::size_t count, InstanceView* instances,
                         Transform* frames, void* stream) {
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  put_instances<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(moved, count, instances, frames);
  return cudaGetLastError();
}

}  // namespace raylift::cuda
