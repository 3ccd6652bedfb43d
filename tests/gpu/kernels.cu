// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <raylift/gpu/rays/warp_boundary.h>

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

__global__ void find_boundaries(const __grid_constant__ GeometryView view, const FineRay* rays, const Containment* in,
                                Boundary* boundaries, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < count) boundaries[i] = next_boundary(view, rays[i], in[i]);
}

// The same by warps.
__global__ void find_boundaries_together(const __grid_constant__ GeometryView view, const FineRay* rays,
                                         const Containment* in, Boundary* boundaries, std::size_t count) {
  constexpr std::uint32_t kRays = 96;
  const std::size_t first = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) / 32 * kRays;
  if (first >= count) return;
  boundaries_of_warp(
      view, static_cast<std::uint32_t>(count - first < kRays ? count - first : kRays),
      [=](std::uint32_t i) { return rays[first + i]; }, [=](std::uint32_t i) { return in[first + i]; },
      boundaries + first);
}

__device__ bool same(float a, float b) {
  return __float_as_uint(a) == __float_as_uint(b);
}
__device__ bool same(Float3 a, Float3 b) {
  return same(a.x, b.x) && same(a.y, b.y) && same(a.z, b.z);
}

__global__ void compare(const Boundary* a, const Boundary* b, std::size_t count, unsigned* differ) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  const Boundary &x = a[i], &y = b[i];
  if (!same(x.t, y.t) || !same(x.point.point, y.point.point) || !same(x.point.rest, y.point.rest) ||
      !same(x.normal, y.normal) || x.from != y.from || x.to != y.to || x.instance != y.instance ||
      x.triangle != y.triangle || x.material_from != y.material_from || x.material_to != y.material_to ||
      x.from_inside != y.from_inside || x.inconsistent != y.inconsistent || x.after.solid != y.after.solid ||
      x.after.exceptions[0] != y.after.exceptions[0] || x.after.exceptions[1] != y.after.exceptions[1])
    atomicAdd(differ, 1u);
}

__global__ void locate_all(const __grid_constant__ GeometryView view, const Float3* points, const Float3* directions,
                           Containment* in, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  const LocalPoint point(points[i]);
  in[i] = directions == nullptr ? locate(view, point) : locate(view, point, directions[i]);
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

int find_boundaries_on_gpu(const GeometryView& view, const FineRay* rays, const Containment* in, Boundary* boundaries,
                           std::size_t count) {
  const auto blocks = static_cast<unsigned>((count + 127) / 128);
  Boundary* together = nullptr;
  unsigned* differ = nullptr;
  if (cudaMalloc(&together, count * sizeof(Boundary)) != cudaSuccess) return cudaErrorMemoryAllocation;
  if (cudaMallocManaged(&differ, sizeof(unsigned)) != cudaSuccess) return cudaErrorMemoryAllocation;
  *differ = 0;
  find_boundaries<<<blocks, 128>>>(view, rays, in, boundaries, count);
  find_boundaries_together<<<blocks, 128>>>(view, rays, in, together, count);
  compare<<<blocks, 128>>>(boundaries, together, count, differ);
  const cudaError_t launched = cudaGetLastError();
  const cudaError_t ended = cudaDeviceSynchronize();
  const bool equal = *differ == 0;
  cudaFree(together);
  cudaFree(differ);
  if (launched != cudaSuccess || ended != cudaSuccess) return launched != cudaSuccess ? launched : ended;
  return equal ? cudaSuccess : -1;
}

int locate_on_gpu(const GeometryView& view, const Float3* points, const Float3* directions, Containment* in,
                  std::size_t count) {
  locate_all<<<static_cast<unsigned>((count + 127) / 128), 128>>>(view, points, directions, in, count);
  const cudaError_t launched = cudaGetLastError();
  return static_cast<int>(launched != cudaSuccess ? launched : cudaDeviceSynchronize());
}

int ask_on_gpu(const OpticsView& view, const OpticsQuery* queries, OpticsAnswer* answers, std::size_t count) {
  return launch_ask(view, queries, answers, count);
}

int ask_on_gpu(const GeometryView& view, const SurfaceQuery* queries, SurfaceAnswer* answers, std::size_t count) {
  return launch_ask(view, queries, answers, count);
}

int ask_on_gpu(const OneNode& view, const BoxQuery* queries, std::uint32_t* slots, std::size_t count) {
  return launch_ask(view, queries, slots, count);
}

int ask_on_gpu(const GeometryView& view, const Ray* rays, HitsSeen* seen, std::size_t count) {
  return launch_ask(view, rays, seen, count);
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
