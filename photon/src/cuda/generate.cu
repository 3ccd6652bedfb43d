// SPDX-License-Identifier: Apache-2.0
#include <raylift/photon/generate.h>

#include "blocks.h"
#include "generate_kernel.h"

namespace raylift::photon {
namespace {

constexpr unsigned kThreads = 128;

__global__ void place_each(const __grid_constant__ GeometryView geometry, const Genstep* steps, std::uint64_t seed,
                           GenstepPlace* places, std::uint64_t* photons, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) places[i] = place_genstep(geometry, steps[i], seed, i, photons[i]);
}

__global__ void generate_each(const __grid_constant__ GeometryView geometry,
                              const __grid_constant__ GenstepView gensteps, std::uint64_t seed, std::uint64_t first,
                              StartPhoton* photons, Containment* in, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) generate(geometry, gensteps, seed, first + i, photons[i], in[i]);
}

}  // namespace

int launch_place_gensteps(const GeometryView& geometry, const Genstep* steps, std::uint64_t seed, GenstepPlace* places,
                          std::uint64_t* photons, std::size_t count, void* stream) {
  place_each<<<blocks_of(count, kThreads), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, steps, seed,
                                                                                             places, photons, count);
  return cudaGetLastError();
}

int launch_generate(const GeometryView& geometry, const GenstepView& gensteps, std::uint64_t seed, std::uint64_t first,
                    StartPhoton* photons, Containment* in, std::size_t count, void* stream) {
  generate_each<<<blocks_of(count, kThreads), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      geometry, gensteps, seed, first, photons, in, count);
  return cudaGetLastError();
}

}  // namespace raylift::photon
