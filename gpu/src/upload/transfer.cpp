// SPDX-License-Identifier: Apache-2.0
#include "transfer.h"

#include <algorithm>
#include <exception>

namespace raylift::detail {
namespace {

/// Waits for all of them, also if one fails: others may still read memory that is about to go.
class Finish {
 public:
  void operator()(const Device& device, StreamRef stream) {
    try {
      device.synchronize(stream);
    } catch (...) {
      if (!first_) first_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace

void DirectTransfer::prepare(std::size_t slots, std::size_t) {
  for (std::size_t i = 0; i != slots; ++i) read_.emplace_back(device_);
}

void DirectTransfer::send(std::size_t slot, std::span<const ChunkPiece> pieces) {
  for (const ChunkPiece& piece : pieces)
    device_.backend()->copy_to_device(arrays_[piece.array].device + piece.first, piece.from, piece.bytes,
                                      stream_.handle());
  read_[slot].record(stream_);
}

BroadcastTransfer::BroadcastTransfer(std::span<const std::vector<Destination>> arrays, std::span<const Device> devices)
    : arrays_(arrays), devices_(devices) {
  for (const Device& from : devices_) {
    std::vector<char>& row = reaches_.emplace_back();
    for (const Device& to : devices_)
      row.push_back(static_cast<char>(&from != &to && from.backend()->reaches(*to.backend())));
    direct_.emplace_back(from);
  }
}

void BroadcastTransfer::prepare(std::size_t slots, std::size_t) {
  for (std::size_t i = 0; i != slots; ++i) {
    RingSlot& slot =
        slots_.emplace_back(RingSlot{{}, std::vector<char>(devices_.size()), Stream(devices_[i % devices_.size()])});
    for (const Device& device : devices_) slot.read.emplace_back(device);
  }
}

/// How much of a piece lies in a device's memory: the rest of the array is in host memory there.
std::size_t BroadcastTransfer::bytes_on(std::size_t device, const ChunkPiece& piece) const {
  const std::size_t whole = arrays_[device][piece.array].device_bytes;
  return whole > piece.first ? std::min(whole - piece.first, piece.bytes) : 0;
}

void BroadcastTransfer::send(std::size_t number, std::span<const ChunkPiece> pieces) {
  RingSlot& slot = slots_[number];
  const std::size_t turn = number % devices_.size();
  const auto target = [&](std::size_t device, const ChunkPiece& piece) {
    return arrays_[device][piece.array].device + piece.first;
  };
  // How much of a piece a device gets from the chunk's device.
  const auto from_neighbour = [&](std::size_t device, const ChunkPiece& piece) -> std::size_t {
    if (device == turn || reaches_[turn][device] == 0 || !arrays_[turn][piece.array].peers_write ||
        !arrays_[device][piece.array].peers_write)
      return 0;
    return std::min(bytes_on(turn, piece), bytes_on(device, piece));
  };
  for (std::size_t device = 0; device != devices_.size(); ++device) {
    const StreamHandle stream = (device == turn ? slot.stream : direct_[device]).handle();
    bool used = false;
    for (const ChunkPiece& piece : pieces) {
      const std::size_t skip = from_neighbour(device, piece);
      const std::size_t end = bytes_on(device, piece);
      if (skip >= end) continue;
      devices_[device].backend()->copy_to_device(target(device, piece) + skip, piece.from + skip, end - skip, stream);
      used = true;
    }
    if (used) slot.read[device].record(stream);
    slot.pending[device] = static_cast<char>(used);
  }
  for (std::size_t device = 0; device != devices_.size(); ++device)
    for (const ChunkPiece& piece : pieces)
      if (const std::size_t bytes = from_neighbour(device, piece); bytes != 0)
        devices_[turn].backend()->copy_to_peer(*devices_[device].backend(), target(device, piece), target(turn, piece),
                                               bytes, slot.stream.handle());
}

void BroadcastTransfer::wait(std::size_t number) {
  const RingSlot& slot = slots_[number];
  for (std::size_t device = 0; device != devices_.size(); ++device)
    if (slot.pending[device] != 0) slot.read[device].wait();
}

void BroadcastTransfer::finish() {
  Finish finish;
  for (std::size_t i = 0; i != slots_.size(); ++i) finish(devices_[i % devices_.size()], slots_[i].stream);
  for (std::size_t i = 0; i != direct_.size(); ++i) finish(devices_[i], direct_[i]);
  finish.rethrow();
}

RelayTransfer::RelayTransfer(std::span<const Destination> arrays, const Device& device, StreamRef stream,
                             std::span<const Device> relays)
    : arrays_(arrays), devices_{device}, stream_(stream) {
  for (const Device& relay : relays)
    if (relay.backend() != device.backend() && relay.backend()->reaches(*device.backend())) devices_.push_back(relay);
}

void RelayTransfer::prepare(std::size_t slots, std::size_t chunk_bytes) {
  Event begin(devices_.front());
  begin.record(stream_);
  for (std::size_t i = 0; i != slots; ++i) {
    const std::size_t turn = i % devices_.size();
    const Device& device = devices_[turn];
    RingSlot& slot = slots_.emplace_back(RingSlot{Stream(device), Event(device), {}, Event(devices_.front())});
    device.backend()->wait_on(slot.stream.handle(), begin.handle());
    slot.stop = Memory::pooled(device, slot.stream, turn == 0 ? 0 : chunk_bytes);
  }
}

void RelayTransfer::send(std::size_t number, std::span<const ChunkPiece> pieces) {
  RingSlot& slot = slots_[number];
  const std::size_t turn = number % devices_.size();
  detail::Backend& target_backend = *devices_.front().backend();
  detail::Backend& backend = *devices_[turn].backend();
  const auto stops_over = [&](const ChunkPiece& piece) { return turn != 0 && arrays_[piece.array].peers_write; };
  slot.went_straight = false;
  for (const ChunkPiece& piece : pieces) {
    std::byte* const target = arrays_[piece.array].device + piece.first;
    if (stops_over(piece)) {
      backend.copy_to_device(slot.stop.device() + piece.offset, piece.from, piece.bytes, slot.stream.handle());
    } else if (turn == 0) {
      target_backend.copy_to_device(target, piece.from, piece.bytes, slot.stream.handle());
    } else {
      target_backend.copy_to_device(target, piece.from, piece.bytes, stream_.handle());
      slot.went_straight = true;
    }
  }
  slot.read.record(slot.stream.handle());
  if (slot.went_straight) slot.straight.record(stream_.handle());
  // The next chunk of this slot stops over at the same address, but later in the same stream.
  for (const ChunkPiece& piece : pieces)
    if (stops_over(piece))
      backend.copy_to_peer(target_backend, arrays_[piece.array].device + piece.first, slot.stop.device() + piece.offset,
                           piece.bytes, slot.stream.handle());
}

void RelayTransfer::wait(std::size_t number) {
  const RingSlot& slot = slots_[number];
  slot.read.wait();
  if (slot.went_straight) slot.straight.wait();
}

void RelayTransfer::close(PinnedPool::Block& ring) {
  for (RingSlot& slot : slots_) {
    slot.read.record(slot.stream);
    devices_.front().backend()->wait_on(stream_.handle(), slot.read.handle());
  }
  ring.used_by(stream_);
}

void RelayTransfer::finish() {
  Finish finish;
  for (std::size_t i = 0; i != slots_.size(); ++i) finish(devices_[i % devices_.size()], slots_[i].stream);
  finish(devices_.front(), stream_);
  finish.rethrow();
}

}  // namespace raylift::detail
