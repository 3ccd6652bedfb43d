// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>

#include <string>

namespace raylift::test {

#ifndef RAYLIFT_WITH_CUDA
int fill_half_picture_on_gpu(void*, Float3*, std::size_t, float) {
  return -1;
}
int add_to_all_on_gpu(void*, std::uint32_t*, std::size_t, std::uint32_t) {
  return -1;
}
int draw_pattern_on_gpu(void*, ImageView) {
  return -1;
}
int digest_on_gpu(void*, const GeometryView&, unsigned long long*) {
  return -1;
}
#endif

namespace {

void check(int code) {
  if (code != 0) throw Error(ErrorKind::device, "a test's kernel failed: CUDA error " + std::to_string(code));
}

}  // namespace

void fill_half_picture(const Device& device, const Stream& stream, DeviceSpan<Float3> points, float shift) {
  if (!device.info().is_host) return check(fill_half_picture_on_gpu(stream.handle(), points.data, points.size, shift));
  for (std::size_t i = 0; i != points.size; ++i) points.data[i] = half_picture(i, shift);
}

void add_to_all(const Device& device, const Stream& stream, DeviceSpan<std::uint32_t> values, std::uint32_t what) {
  if (!device.info().is_host) return check(add_to_all_on_gpu(stream.handle(), values.data, values.size, what));
  for (std::size_t i = 0; i != values.size; ++i) values.data[i] += what;
}

void draw_pattern(const Device& device, const Stream& stream, ImageView image) {
  if (!device.info().is_host) return check(draw_pattern_on_gpu(stream.handle(), image));
  for (std::uint32_t y = 0; y != image.height; ++y)
    for (std::uint32_t x = 0; x != image.width; ++x) image.at(x, y) = pattern(x, y);
}

unsigned long long digest_of(const Device& device, const Stream& stream, const GeometryView& view) {
  unsigned long long sum = 0;
  if (device.info().is_host) {
    for (std::uint32_t t = 0; t != view.triangle_count; ++t) sum += digest(view, t);
    return sum;
  }
  DeviceBuffer<unsigned long long> on_device(device, 1);
  on_device.copy_from(std::span<const unsigned long long>(&sum, 1), stream);
  check(digest_on_gpu(stream.handle(), view, on_device.device()));
  on_device.copy_to(std::span(&sum, 1), stream);
  stream.synchronize();
  return sum;
}

}  // namespace raylift::test
