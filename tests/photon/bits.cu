// SPDX-License-Identifier: Apache-2.0
#include "bits.h"

namespace raylift::test {
namespace {

__global__ void compute(std::uint64_t count, std::uint32_t* bits) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < count) bits_of_physics(i, bits + i * kBitsCount);
}

}  // namespace

int bits_on_gpu(std::uint64_t count, std::uint32_t* bits) {
  std::uint32_t* on_device = nullptr;
  const std::size_t bytes = count * kBitsCount * sizeof *bits;
  cudaError_t code = cudaMalloc(&on_device, bytes);
  if (code == cudaSuccess) {
    compute<<<static_cast<unsigned>((count + 127) / 128), 128>>>(count, on_device);
    code = cudaGetLastError();
  }
  if (code == cudaSuccess) code = cudaMemcpy(bits, on_device, bytes, cudaMemcpyDeviceToHost);
  const cudaError_t freed = cudaFree(on_device);
  return static_cast<int>(code != cudaSuccess ? code : freed);
}

}  // namespace raylift::test
