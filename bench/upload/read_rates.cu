// SPDX-License-Identifier: Apache-2.0
#include "read_rates.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace raylift::bench {
namespace {

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "bench: %s\n", cudaGetErrorString(code));
  std::exit(9);
}

// The sums are not used, which the compiler can not see.
__global__ void stream_all(const uint4* data, std::size_t count, unsigned* sink) {
  unsigned sum = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const uint4 v = data[i];
    sum ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0x12345678U) *sink = sum;
}

__device__ std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

__global__ void gather(const float* data, std::size_t triples, std::size_t gathers, unsigned* sink) {
  float sum = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < gathers;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const std::size_t at = 3 * (mix(i * 0x9E3779B97F4A7C15ULL) % triples);
    sum += data[at] + data[at + 1] + data[at + 2];
  }
  if (sum == 0.12345F) *sink = 1;
}

template <class Launch>
double best(int rounds, const Launch& launch) {
  unsigned* sink = nullptr;
  cudaEvent_t start{};
  cudaEvent_t stop{};
  check(cudaMalloc(&sink, sizeof *sink));
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  double seconds = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= rounds; ++round) {
    check(cudaEventRecord(start));
    launch(sink);
    check(cudaGetLastError());
    check(cudaEventRecord(stop));
    check(cudaEventSynchronize(stop));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop));
    if (round != 0) seconds = std::min(seconds, milliseconds / 1e3);  // the first one warms up
  }
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  check(cudaFree(sink));
  return seconds;
}

constexpr int kBlocks = 132 * 8;
constexpr int kThreads = 256;

}  // namespace

double seconds_streaming(const void* data, std::size_t bytes, int rounds) {
  return best(rounds, [&](unsigned* sink) {
    stream_all<<<kBlocks, kThreads>>>(static_cast<const uint4*>(data), bytes / 16, sink);
  });
}

double seconds_random(const void* data, std::size_t bytes, std::size_t gathers, int rounds) {
  return best(rounds, [&](unsigned* sink) {
    gather<<<kBlocks, kThreads>>>(static_cast<const float*>(data), bytes / 12, gathers, sink);
  });
}

}  // namespace raylift::bench
