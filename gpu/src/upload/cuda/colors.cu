// SPDX-License-Identifier: Apache-2.0
#include "upload/color_kernels.h"

namespace raylift::cuda {
namespace {

constexpr unsigned kThreads = 256;

unsigned blocks(std::uint32_t count) {
  return (count + kThreads - 1) / kThreads;
}

__global__ void color_solids(const __grid_constant__ GeometryView view, std::uint32_t* colors, std::uint32_t count,
                             detail::MarkedSolids marked, std::uint32_t color) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) detail::color_one(view, colors, i, marked, color);
}

__global__ void reset_colors(const __grid_constant__ GeometryView view, std::uint32_t* colors, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) detail::reset_one(view, colors, i);
}

}  // namespace

int launch_color_solids(const GeometryView& view, std::uint32_t* colors, std::uint32_t count,
                        detail::MarkedSolids marked, std::uint32_t color, void* stream) {
  color_solids<<<blocks(count), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(view, colors, count, marked, color);
  return cudaGetLastError();
}

int launch_reset_colors(const GeometryView& view, std::uint32_t* colors, std::uint32_t count, void* stream) {
  reset_colors<<<blocks(count), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(view, colors, count);
  return cudaGetLastError();
}

}  // namespace raylift::cuda
