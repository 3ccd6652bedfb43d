// SPDX-License-Identifier: Apache-2.0
#include "blocks.h"
#include "generate_kernel.h"

namespace raylift::photon {
namespace {

constexpr unsigned kThreads = 128;

__global__ void place_each(const __grid_constant__ GeometryView geometry, const Genstep* steps,
                           const __grid_constant__ EventView events, std::uint64_t seed, GenstepPlace* places,
                           std::uint64_t* photons, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) places[i] = place_of(geometry, steps, events, seed, i, photons[i]);
}

__global__ void generate_each(const __grid_constant__ GeometryView geometry,
                              const __grid_constant__ GenstepView gensteps, const __grid_constant__ EventView events,
                              std::uint64_t seed, std::uint64_t first, StartPhoton* photons, Containment* in,
                              std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) generate(geometry, gensteps, events, seed, first + i, photons[i], in[i]);
}

__global__ void anchor_each(const __grid_constant__ GeometryView geometry, EventSource* sources, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) sources[i].anchor = anchor_of(geometry, sources[i].source);
}

}  // namespace

int launch_place_gensteps(const GeometryView& geometry, const Genstep* steps, const EventView& events,
                          std::uint64_t seed, GenstepPlace* places, std::uint64_t* photons, std::size_t count,
                          void* stream) {
  if (count == 0) return cudaSuccess;
  place_each<<<blocks_of(count, kThreads), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      geometry, steps, events, seed, places, photons, count);
  return cudaGetLastError();
}

int launch_generate(const GeometryView& geometry, const GenstepView& gensteps, const EventView& events,
                    std::uint64_t seed, std::uint64_t first, StartPhoton* photons, Containment* in, std::size_t count,
                    void* stream) {
  if (count == 0) return cudaSuccess;
  generate_each<<<blocks_of(count, kThreads), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      geometry, gensteps, events, seed, first, photons, in, count);
  return cudaGetLastError();
}

int launch_event_anchors(const GeometryView& geometry, EventSource* sources, std::size_t count, void* stream) {
  if (count == 0) return cudaSuccess;
  anchor_each<<<blocks_of(count, kThreads), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, sources, count);
  return cudaGetLastError();
}

}  // namespace raylift::photon
