// SPDX-License-Identifier: Apache-2.0
// The solids around a source's centre, and around given photons.
#include "blocks.h"
#include "launches.h"

namespace raylift::photon {
namespace {

__global__ void find_anchor(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                            Anchor* anchor) {
  *anchor = anchor_of(geometry, source);
}

__global__ void locate_each(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                            Containment* in, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) in[i] = start_in(geometry, source, source.photons[i]);
}

}  // namespace

int launch_anchor(const GeometryView& geometry, const Source& source, Anchor* anchor, void* stream) {
  find_anchor<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(geometry, source, anchor);
  return cudaGetLastError();
}

int launch_locate_photons(const GeometryView& geometry, const Source& source, Containment* in, std::size_t count,
                          void* stream) {
  if (count == 0) return cudaSuccess;
  const auto blocks = blocks_of(count, kThreads);
  locate_each<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, source, in, count);
  return cudaGetLastError();
}

}  // namespace raylift::photon
