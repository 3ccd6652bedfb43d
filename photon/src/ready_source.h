// SPDX-License-Identifier: Apache-2.0
// A source, and in the device's memory all that a photon's birth needs.
#pragma once

#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/photon/follow.h>

#include <cstddef>
#include <optional>

namespace raylift::photon {

/// Throws Error(usage) for a direction or normal that is not of unit length, and for numbers out of their range.
void check(const Source& source);

/// Of a source whose photons are given or made along gensteps, those of one run: their media are located, and those of
/// gensteps are made. They take 76 bytes each. Of others the anchor. For work that follows on the
/// stream, which must outlive this.
class ReadySource {
 public:
  /// Throws Error: usage where the source has no such photons, memory, device.
  ReadySource(const GpuGeometry& geometry, const Source& source, const Run& run, std::size_t count,
              const Stream& stream);
  [[nodiscard]] const Source& source() const { return source_; }
  /// At an address of the device. Null where photons are given.
  [[nodiscard]] const Anchor* anchor() const { return anchor_ ? anchor_->device() : nullptr; }

 private:
  void find_anchor(const GpuGeometry& geometry, const Stream& stream);
  void give(const GpuGeometry& geometry, const Run& run, std::size_t count, const Stream& stream);
  void make(const GpuGeometry& geometry, const Run& run, std::size_t count, const Stream& stream);

  Source source_;
  std::optional<PooledBuffer<Anchor>> anchor_;
  std::optional<PooledBuffer<Containment>> in_;
  std::optional<PooledBuffer<StartPhoton>> photons_;
};

}  // namespace raylift::photon
