// SPDX-License-Identifier: Apache-2.0
// Copies, in device memory, of arrays that photons would read over the link.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>

#include <cstdint>
#include <string>
#include <vector>

namespace raylift::photon {

/// Working copies of arrays that lie in host memory, whole or in part: photons come back to the same elements again and
/// again, and no cache keeps what is read over the link. Smaller arrays come first, as they save more by byte. Copies
/// that there is no memory for are left out.
class WorkingCopies {
 public:
  /// Allocates memory in the stream's order, for copy(). An array is left out where more of it lies in host memory than
  /// `worthwhile` bytes, or where the copies would exceed `most` bytes. Throws Error(device).
  WorkingCopies(const GpuGeometry& geometry, StreamRef stream, std::uint64_t worthwhile, std::uint64_t most);

  /// Copies in the stream's order; the geometry must stay until the stream is past it.
  void copy(const GpuGeometry& geometry, StreamRef stream);

  /// The geometry's view, with the copies in place of their originals.
  [[nodiscard]] const GeometryView& view() const { return view_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Copy {
    std::string name;
    Memory memory;
  };
  GeometryView view_;
  std::vector<Copy> copies_;
  std::uint64_t bytes_ = 0;
};

}  // namespace raylift::photon
