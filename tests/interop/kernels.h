// SPDX-License-Identifier: Apache-2.0
// Kernels for the tests: each is one function that the host runs in a loop, and CUDA as a kernel.
#pragma once

#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/view.h>
#include <raylift/interop/image_view.h>

#include <cstddef>
#include <cstdint>

namespace raylift::test {

/// A triangle of two over the left half of the picture, moved to the right by `shift` halves.
RAYLIFT_HD inline Float3 half_picture(std::size_t i, float shift) {
  const float x[6] = {-1, 0, 0, -1, 0, -1};
  const float y[6] = {-1, -1, 1, -1, 1, 1};
  return {x[i % 6] + shift, y[i % 6], 0};
}

RAYLIFT_HD inline std::uint32_t pattern(std::uint32_t x, std::uint32_t y) {
  return 0xFF000000U | ((x * 7U) & 0xFFU) | (((y * 5U) & 0xFFU) << 8) | (((x ^ y) & 0xFFU) << 16);
}

/// A corner of a triangle, as a number that changes with every bit.
RAYLIFT_HD inline unsigned long long digest(const GeometryView& view, std::uint32_t triangle) {
  const UInt3 t = view.triangles[triangle];
  const Float3 a = view.vertices[t.x];
  return static_cast<unsigned long long>(static_cast<long long>(a.x * 1000.0F)) * 31U + t.y * 7ULL + t.z;
}

// On the device that the stream belongs to, in its order. Throw Error(device).
void fill_half_picture(const Device& device, const Stream& stream, DeviceSpan<Float3> points, float shift);
void add_to_all(const Device& device, const Stream& stream, DeviceSpan<std::uint32_t> values, std::uint32_t what);
void draw_pattern(const Device& device, const Stream& stream, ImageView image);
/// Waits for the result.
unsigned long long digest_of(const Device& device, const Stream& stream, const GeometryView& view);

// CUDA's part; each returns a cudaError_t, as int.
int fill_half_picture_on_gpu(void* stream, Float3* points, std::size_t count, float shift);
int add_to_all_on_gpu(void* stream, std::uint32_t* values, std::size_t count, std::uint32_t what);
int draw_pattern_on_gpu(void* stream, ImageView image);
int digest_on_gpu(void* stream, const GeometryView& view, unsigned long long* sum);

}  // namespace raylift::test
