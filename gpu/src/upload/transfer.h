// SPDX-License-Identifier: Apache-2.0
// How filled chunks of an upload get to where they belong: over one device's link, over those of all devices that are
// to have them, or over those of idle neighbours.
#pragma once

#include <raylift/gpu/device/device.h>
#include <raylift/gpu/device/pool.h>
#include <raylift/gpu/memory/memory.h>

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "placed_arrays.h"

namespace raylift::detail {

/// Bytes of an array that lie in a chunk.
struct ChunkPiece {
  std::size_t array;
  std::size_t first;  ///< byte of the array
  std::size_t bytes;
  const std::byte* from;  ///< in pinned memory
  std::size_t offset;     ///< in the chunk
};

/// Chunks come out of a ring with a number of slots, and each slot has at most one chunk: send() for the next one in
/// it comes after wait(). Calls for different slots may come from different threads.
class TransferStrategy {
 public:
  virtual ~TransferStrategy() = default;
  /// How many chunks can be on links at the same time.
  [[nodiscard]] virtual std::size_t links() const = 0;
  /// Before all others, once.
  virtual void prepare(std::size_t slots, std::size_t chunk_bytes) = 0;
  /// Sends a chunk on its way.
  virtual void send(std::size_t slot, std::span<const ChunkPiece> pieces) = 0;
  /// Waits until the chunk that was sent last from this slot has been read.
  virtual void wait(std::size_t slot) = 0;
  /// After the last chunk: the upload's stream, where it has one, gets behind all that was sent, and `ring`, which has
  /// the chunks, is not reused before it was read. Otherwise as finish().
  virtual void close(PinnedPool::Block& ring) = 0;
  /// Waits until everything has arrived. Throws what went wrong on the way.
  virtual void finish() = 0;
};

/// One device, and its link, in the order of the upload's stream.
class DirectTransfer : public TransferStrategy {
 public:
  DirectTransfer(std::span<const Destination> arrays, const Device& device, StreamRef stream)
      : arrays_(arrays), device_(device), stream_(stream) {}
  [[nodiscard]] std::size_t links() const override { return 1; }
  void prepare(std::size_t slots, std::size_t chunk_bytes) override;
  void send(std::size_t slot, std::span<const ChunkPiece> pieces) override;
  void wait(std::size_t slot) override { read_[slot].wait(); }
  void close(PinnedPool::Block& ring) override { ring.used_by(stream_); }
  void finish() override { device_.synchronize(stream_); }

 private:
  std::span<const Destination> arrays_;
  Device device_;
  StreamRef stream_;
  std::deque<Event> read_;
};

/// Several devices that all get everything. Each chunk crosses one link, round-robin, and goes from that link's device
/// to the others.
class BroadcastTransfer : public TransferStrategy {
 public:
  BroadcastTransfer(std::span<const std::vector<Destination>> arrays, std::span<const Device> devices);
  [[nodiscard]] std::size_t links() const override { return devices_.size(); }
  void prepare(std::size_t slots, std::size_t chunk_bytes) override;
  void send(std::size_t slot, std::span<const ChunkPiece> pieces) override;
  void wait(std::size_t slot) override;
  void close(PinnedPool::Block&) override { finish(); }
  void finish() override;

 private:
  struct RingSlot {
    std::vector<Event> read;    // of each device: it needs the chunk no more
    std::vector<char> pending;  // of each device: whether that was recorded in this round
    Stream stream;              // of the chunk's device: its copy, then those to the others
  };
  [[nodiscard]] std::size_t bytes_on(std::size_t device, const ChunkPiece& piece) const;

  std::span<const std::vector<Destination>> arrays_;
  std::span<const Device> devices_;
  std::vector<std::vector<char>> reaches_;  // [from][to]
  std::vector<Stream> direct_;              // of each device: copies that don't come from a neighbour
  std::deque<RingSlot> slots_;
};

/// One device, with the links of idle neighbours: a chunk goes to a neighbour's memory and from there to the device, on
/// streams that begin behind the upload's stream and that it gets behind.
class RelayTransfer : public TransferStrategy {
 public:
  /// Devices of `relays` without peer access to the device are left out.
  RelayTransfer(std::span<const Destination> arrays, const Device& device, StreamRef stream,
                std::span<const Device> relays);
  [[nodiscard]] std::size_t links() const override { return devices_.size(); }
  void prepare(std::size_t slots, std::size_t chunk_bytes) override;
  void send(std::size_t slot, std::span<const ChunkPiece> pieces) override;
  void wait(std::size_t slot) override;
  void close(PinnedPool::Block& ring) override;
  void finish() override;

 private:
  struct RingSlot {
    Stream stream;  // of the chunk's device
    Event read;
    Memory stop;     // on a neighbour, of its stream: where the chunk stops over
    Event straight;  // on the device itself: for what can't stop over
    bool went_straight = false;
  };

  std::span<const Destination> arrays_;
  std::vector<Device> devices_;  // the one that is target_backend comes first
  StreamRef stream_;
  std::deque<RingSlot> slots_;
};

}  // namespace raylift::detail
