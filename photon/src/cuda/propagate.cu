// SPDX-License-Identifier: Apache-2.0
#include "propagate_kernel.h"

namespace raylift::photon {
namespace {

constexpr unsigned kThreads = 128;

__global__ void locate_center(const __grid_constant__ GeometryView geometry, Source source, Containment* at_center) {
  *at_center = locate(geometry, source.center);
}

__global__ void __launch_bounds__(kThreads)
    follow_photons(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                   const Containment* at_center, const __grid_constant__ Run run, Outcome* outcomes, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) outcomes[i] = follow(geometry, source, *at_center, run, run.first + i);
}

}  // namespace

int launch_locate(const GeometryView& geometry, const Source& source, Containment* at_center, void* stream) {
  locate_center<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(geometry, source, at_center);
  return cudaGetLastError();
}

int launch_propagate(const GeometryView& geometry, const Source& source, const Containment* at_center, const Run& run,
                     Outcome* outcomes, std::size_t count, void* stream) {
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  if (blocks != 0)
    follow_photons<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, source, at_center, run, outcomes,
                                                                              count);
  return cudaGetLastError();
}

}  // namespace raylift::photon
