// SPDX-License-Identifier: Apache-2.0
// A source, and in the device's memory all that a photon's birth needs.
#pragma once

#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/photon/follow.h>

#include <cstddef>
#include <functional>
#include <optional>

namespace raylift::photon {

/// Throws Error(usage) for a direction or normal that is not of unit length, and for numbers out of their range.
void check(const Source& source);

/// Where births of a source that makes photons are searched from, written to an address of the device in the stream's
/// order. Null for others, and where each event has its own.
const Anchor* find_anchor(const GpuGeometry& geometry, const Source& source, Anchor* anchor, StreamRef stream);

/// The photons of one run, of a source whose photons are given or made along gensteps: their media are located, those
/// of gensteps are made. They take 76 bytes each. Of others the anchor. For work that follows on the stream, which must
/// outlive this.
class ReadySource {
 public:
  /// `anchor` is find_anchor()'s, where that is known. Throws Error: usage where the source has no such photons,
  /// memory, device.
  ReadySource(const GpuGeometry& geometry, const Source& source, const Run& run, std::size_t count, StreamRef stream,
              const Anchor* anchor = nullptr);
  [[nodiscard]] const Source& source() const { return source_; }
  /// At an address of the device. Null where photons are given.
  [[nodiscard]] const Anchor* anchor() const { return anchor_; }

 private:
  void give(const GpuGeometry& geometry, const Run& run, std::size_t count, StreamRef stream);
  void make(const GpuGeometry& geometry, const Run& run, std::size_t count, StreamRef stream);

  Source source_;
  const Anchor* anchor_;
  std::optional<PooledBuffer<Anchor>> own_anchor_;
  std::optional<PooledBuffer<Containment>> in_;
  std::optional<PooledBuffer<StartPhoton>> photons_;
};

/// As propagate(), of a source and a geometry that were checked. What is made or located beforehand is so piece by
/// piece, in memory that does not grow with the number of photons; after(source, run, first, count) is called when a
/// piece has been launched. after_turn(count), unless empty, is called several times a second while the host device
/// follows photons, with the number of those that ended; what it throws passes through. `anchor` as above.
void propagate_pieces(const GpuGeometry& geometry, const Source& source, const Anchor* anchor, const Run& run,
                      Outcome* outcomes, std::size_t count, StreamRef stream,
                      const std::function<void(const ReadySource&, const Run&, std::size_t, std::size_t)>& after,
                      const std::function<void(std::size_t)>& after_turn);

}  // namespace raylift::photon
