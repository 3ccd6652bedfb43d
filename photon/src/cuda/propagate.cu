// SPDX-License-Identifier: Apache-2.0
#include "propagate_kernel.h"

namespace raylift::photon {
namespace {

constexpr unsigned kThreads = 128;

__global__ void locate_center(const __grid_constant__ GeometryView geometry, Source source, Containment* at_center) {
  *at_center = locate(geometry, source.center);
}

__global__ void locate_each(const __grid_constant__ GeometryView geometry, const StartPhoton* photons, Containment* in,
                            std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) in[i] = locate(geometry, photons[i].position);
}

// A thread takes the next photon as soon as its last one has ended: histories differ in length, and a warp would wait
// for the longest.
__global__ void __launch_bounds__(kThreads, 8)
    follow_photons(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                   const Containment* at_center, const __grid_constant__ Run run, Outcome* outcomes,
                   std::size_t count) {
  std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  const Containment in = *at_center;
  Follower follower(geometry, source, in, run);
  bool flying = i < count;
  if (flying) follower.start(run.first + i);
  // The threads of a warp search together, and then do their physics: apart, they would fetch different code.
  while (true) {
    Ray ray{};
    while (flying && !follower.ray(ray)) {
      outcomes[i] = follower.outcome();
      i += gridDim.x * std::size_t{kThreads};
      flying = i < count;
      if (flying) follower.start(run.first + i);
    }
    if (__ballot_sync(0xFFFFFFFFu, flying) == 0) return;
    Boundary boundary;
    if (flying) boundary = next_boundary(geometry, ray, follower.in());
    __syncwarp();
    if (flying) follower.arrive(boundary);
    __syncwarp();
  }
}

}  // namespace

int launch_locate(const GeometryView& geometry, const Source& source, Containment* at_center, void* stream) {
  locate_center<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(geometry, source, at_center);
  return cudaGetLastError();
}

int launch_locate_photons(const GeometryView& geometry, const StartPhoton* photons, Containment* in, std::size_t count,
                          void* stream) {
  if (count == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  locate_each<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, photons, in, count);
  return cudaGetLastError();
}

int launch_propagate(const GeometryView& geometry, const Source& source, const Containment* at_center, const Run& run,
                     Outcome* outcomes, std::size_t count, void* stream) {
  if (count == 0) return cudaSuccess;
  int device = 0, multiprocessors = 0, resident = 0;
  if (const cudaError_t code = cudaGetDevice(&device); code != cudaSuccess) return code;
  if (const cudaError_t code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
      code != cudaSuccess)
    return code;
  if (const cudaError_t code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, follow_photons, kThreads, 0);
      code != cudaSuccess)
    return code;
  const std::size_t wanted = (count + kThreads - 1) / kThreads;
  const std::size_t most = static_cast<std::size_t>(multiprocessors) * static_cast<std::size_t>(resident);
  const auto blocks = static_cast<unsigned>(wanted < most ? wanted : most);
  follow_photons<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, source, at_center, run, outcomes,
                                                                             count);
  return cudaGetLastError();
}

}  // namespace raylift::photon
