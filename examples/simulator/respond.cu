// SPDX-License-Identifier: Apache-2.0
// The kernels, a photon a thread, and their launch. photon::propagate() is about twice as fast, as its threads share
// the search for boundaries: for a response to outcomes that it has left in the device's memory.
#include "respond.h"

static __global__ void find_anchor(const __grid_constant__ Task task, photon::Anchor* anchor) {
  *anchor = photon::anchor_of(task.geometry, task.source);
}

static __global__ void __launch_bounds__(128) follow_photons(const __grid_constant__ Task task) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= task.photons) return;
  simulate(task, i, [](Channel& channel, const Pulse& pulse, bool counts) {
    atomicAdd(&channel.photons, 1ULL);
    if (!counts) return;
    atomicAdd(&channel.pulses, 1ULL);
    atomicAdd(&channel.charge, pulse.charge);
    atomicMin(&channel.first, pulse.time);
  });
}

static const char* failure() {
  const cudaError_t code = cudaGetLastError();
  return code == cudaSuccess ? nullptr : cudaGetErrorString(code);
}

const char* launch_anchor(const Task& task, photon::Anchor* anchor, void* stream) {
  find_anchor<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(task, anchor);
  return failure();
}

const char* launch_photons(const Task& task, void* stream) {
  follow_photons<<<static_cast<unsigned>((task.photons + 127) / 128), 128, 0, static_cast<cudaStream_t>(stream)>>>(
      task);
  return failure();
}
