// SPDX-License-Identifier: Apache-2.0
#include <raylift/photon/rays.h>

#include "blocks.h"
#include "rays_kernel.h"

namespace raylift::photon {
namespace {

constexpr unsigned kThreads = 256;

__global__ void make_each(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                          std::uint64_t seed, std::uint64_t first, Ray* rays, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) rays[i] = birth_ray(geometry, source, seed, first + i);
}

}  // namespace

int launch_make_rays(const GeometryView& geometry, const Source& source, std::uint64_t seed, std::uint64_t first,
                     Ray* rays, std::size_t count, void* stream) {
  if (count == 0) return cudaSuccess;
  make_each<<<blocks_of(count, kThreads), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, source, seed,
                                                                                            first, rays, count);
  return cudaGetLastError();
}

}  // namespace raylift::photon
