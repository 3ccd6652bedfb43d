// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

namespace raylift::test {
namespace {

template <class Work>
__global__ void for_each(std::size_t count, Work work) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < count) work(i);
}

struct FillHalfPicture {
  Float3* points;
  float shift;
  __device__ void operator()(std::size_t i) const { points[i] = half_picture(i, shift); }
};

struct AddToAll {
  std::uint32_t* values;
  std::uint32_t what;
  __device__ void operator()(std::size_t i) const { values[i] += what; }
};

struct DrawPattern {
  ImageView image;
  __device__ void operator()(std::size_t i) const {
    const auto x = static_cast<std::uint32_t>(i % image.width);
    const auto y = static_cast<std::uint32_t>(i / image.width);
    image.at(x, y) = pattern(x, y);
  }
};

struct Digest {
  GeometryView view;
  unsigned long long* sum;
  __device__ void operator()(std::size_t i) const { atomicAdd(sum, digest(view, static_cast<std::uint32_t>(i))); }
};

template <class Work>
int launch(void* stream, std::size_t count, const Work& work) {
  if (count == 0) return 0;
  for_each<<<static_cast<unsigned>((count + 255) / 256), 256, 0, static_cast<cudaStream_t>(stream)>>>(count, work);
  return static_cast<int>(cudaGetLastError());
}

}  // namespace

int fill_half_picture_on_gpu(void* stream, Float3* points, std::size_t count, float shift) {
  return launch(stream, count, FillHalfPicture{points, shift});
}

int add_to_all_on_gpu(void* stream, std::uint32_t* values, std::size_t count, std::uint32_t what) {
  return launch(stream, count, AddToAll{values, what});
}

int draw_pattern_on_gpu(void* stream, ImageView image) {
  return launch(stream, std::size_t{image.width} * image.height, DrawPattern{image});
}

int digest_on_gpu(void* stream, const GeometryView& view, unsigned long long* sum) {
  return launch(stream, view.triangle_count, Digest{view, sum});
}

}  // namespace raylift::test
