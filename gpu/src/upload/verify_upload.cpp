// SPDX-License-Identifier: Apache-2.0
#include "verify_upload.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <string>
#include <vector>

#include "geometry_arrays.h"

namespace raylift {
namespace {

// Arrays are compared in chunks, so that the host needs no second copy of them.
constexpr std::size_t kVerifiedAtOnce = std::size_t{16} << 20;

[[noreturn]] void fail_verify(const std::string& array, const std::string& what) {
  throw Error(ErrorKind::device, "what lies on the device is not what was uploaded: " + what,
              {"", "array '" + array + "'"}, "the device's memory or driver is at fault, or raylift: report it");
}

std::uint64_t verify_array(const ArraySource& expected, const Memory& memory, const Stream& stream) {
  const std::size_t size = expected.element_bytes;
  if (memory.bytes() != expected.count * size)
    fail_verify(expected.name,
                std::to_string(memory.bytes()) + " bytes instead of " + std::to_string(expected.count * size));
  const std::size_t most = std::min(expected.count, kVerifiedAtOnce / size);
  std::vector<std::byte> wanted(most * size);
  std::vector<std::byte> found(most * size);
  for (std::size_t first = 0; first != expected.count;) {
    const std::size_t here = std::min(most, expected.count - first);
    memory.copy_to(std::span(found.data(), here * size), stream, first * size);
    expected.fill(first, here, wanted.data(), StoreMode::cached);
    stream.synchronize();
    const auto end = wanted.begin() + static_cast<std::ptrdiff_t>(here * size);
    if (const auto at = std::mismatch(wanted.begin(), end, found.begin()).first; at != end)
      fail_verify(
          expected.name,
          "element " + std::to_string(first + static_cast<std::size_t>(at - wanted.begin()) / size) + " differs");
    first += here;
  }
  return expected.count * size;
}

}  // namespace

std::uint64_t verify_upload(const Scene& scene, const GpuGeometry& geometry) {
  const GeometryView& view = geometry.view();
  UploadOptions options;
  options.flatten = geometry.has(ViewArray::solid_ids);
  options.origin = Double3{view.origin[0], view.origin[1], view.origin[2]};
  options.raster = view.optics.raster;
  options.positions = view.is_fine() ? UploadOptions::Positions::fine : UploadOptions::Positions::floats;
  options.bvh = false;
  const detail::GeometryArrays expected = detail::geometry_arrays(scene, options, {});
  const Stream stream(geometry.device());
  std::uint64_t bytes = 0;
  for (const ArraySource& array : expected.arrays) {
    if (!geometry.has(array.name)) fail_verify(array.name, "it is not there");
    bytes += verify_array(array, geometry.array(array.name), stream);
  }
  return bytes;
}

}  // namespace raylift
