// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

namespace raylift::test {
namespace {

__global__ void sum_scene(GeometryView view, SceneSums* sums) {
  SceneSums own{};
  for (std::uint32_t i = blockIdx.x; i < view.instance_count; i += gridDim.x) {
    const MeshView mesh = view.meshes[view.instances[i].mesh];
    for (std::uint32_t t = threadIdx.x; t < mesh.triangle_count; t += blockDim.x) add_triangle(view, i, t, own);
  }
  for (int k = 0; k != 3; ++k) atomicAdd(&sums->corners[k], own.corners[k]);
  atomicAdd(&sums->inside, own.inside);
  atomicAdd(&sums->outside, own.outside);
  atomicAdd(&sums->solids, own.solids);
}

__global__ void sum_words(const std::uint32_t* words, std::size_t count, unsigned long long* sum) {
  unsigned long long own = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    own += words[i];
  atomicAdd(sum, own);
}

__global__ void find_boundaries(const __grid_constant__ GeometryView view, const Ray* rays, const Containment* in,
                                Boundary* boundaries, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < count) boundaries[i] = next_boundary(view, rays[i], in[i]);
}

__global__ void locate_all(const __grid_constant__ GeometryView view, const float3* points, Containment* in,
                           std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < count) in[i] = locate(view, points[i]);
}

template <class View, class Query, class Answer>
__global__ void ask_all(const __grid_constant__ View view, const Query* queries, Answer* answers, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < count) answers[i] = ask(view, queries[i]);
}

template <class View, class Query, class Answer>
int launch_ask(const View& view, const Query* queries, Answer* answers, std::size_t count) {
  ask_all<<<static_cast<unsigned>((count + 127) / 128), 128>>>(view, queries, answers, count);
  const cudaError_t launched = cudaGetLastError();
  return static_cast<int>(launched != cudaSuccess ? launched : cudaDeviceSynchronize());
}

__global__ void hungry(float* out) {
  extern __shared__ float buffer[];
  buffer[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

/// Runs `launch` with a zeroed result on the device, and brings the result back.
template <class Result, class Launch>
int run(Result* result, const Launch& launch) {
  Result* on_device = nullptr;
  cudaError_t code = cudaMalloc(&on_device, sizeof(Result));
  if (code == cudaSuccess) code = cudaMemset(on_device, 0, sizeof(Result));
  if (code == cudaSuccess) {
    launch(on_device);
    code = cudaGetLastError();
  }
  if (code == cudaSuccess) code = cudaMemcpy(result, on_device, sizeof(Result), cudaMemcpyDeviceToHost);
  const cudaError_t freed = cudaFree(on_device);
  return static_cast<int>(code != cudaSuccess ? code : freed);
}

}  // namespace

int sum_scene_on_gpu(const GeometryView& view, SceneSums* sums) {
  return run(sums, [&](SceneSums* on_device) { sum_scene<<<64, 128>>>(view, on_device); });
}

int sum_words_on_gpu(const std::uint32_t* words, std::size_t count, unsigned long long* sum) {
  return run(sum, [&](unsigned long long* on_device) { sum_words<<<256, 256>>>(words, count, on_device); });
}

int find_boundaries_on_gpu(const GeometryView& view, const Ray* rays, const Containment* in, Boundary* boundaries,
                           std::size_t count) {
  find_boundaries<<<static_cast<unsigned>((count + 127) / 128), 128>>>(view, rays, in, boundaries, count);
  const cudaError_t launched = cudaGetLastError();
  return static_cast<int>(launched != cudaSuccess ? launched : cudaDeviceSynchronize());
}

int locate_on_gpu(const GeometryView& view, const float3* points, Containment* in, std::size_t count) {
  locate_all<<<static_cast<unsigned>((count + 127) / 128), 128>>>(view, points, in, count);
  const cudaError_t launched = cudaGetLastError();
  return static_cast<int>(launched != cudaSuccess ? launched : cudaDeviceSynchronize());
}

int ask_on_gpu(const OpticsView& view, const OpticsQuery* queries, OpticsAnswer* answers, std::size_t count) {
  return launch_ask(view, queries, answers, count);
}

int ask_on_gpu(const GeometryView& view, const SurfaceQuery* queries, SurfaceAnswer* answers, std::size_t count) {
  return launch_ask(view, queries, answers, count);
}

const void* hungry_kernel() {
  return reinterpret_cast<const void*>(&hungry);
}

int last_cuda_error() {
  return static_cast<int>(cudaGetLastError());
}

int current_cuda_device() {
  int device = -1;
  return cudaGetDevice(&device) == cudaSuccess ? device : -1;
}

}  // namespace raylift::test
