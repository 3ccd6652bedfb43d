// SPDX-License-Identifier: Apache-2.0
#include "sender.h"

#include <algorithm>
#include <exception>

namespace raylift::detail {
namespace {

/// Waits for all of them, also if one fails: others may still read memory that is about to go.
class Finish {
 public:
  void operator()(const Stream& stream) {
    try {
      stream.synchronize();
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

LinkSender::LinkSender(std::span<const Destination> arrays, const Device& device)
    : arrays_(arrays), device_(device), stream_(device) {}

void LinkSender::prepare(std::size_t places, std::size_t) {
  for (std::size_t i = 0; i != places; ++i) read_.emplace_back(device_);
}

void LinkSender::send(std::size_t place, std::span<const ChunkPiece> pieces) {
  for (const ChunkPiece& piece : pieces)
    device_.backend()->copy_to_device(arrays_[piece.array].device + piece.first, piece.from, piece.bytes,
                                      stream_.handle());
  read_[place].record(stream_.handle());
}

BroadcastSender::BroadcastSender(std::span<const std::vector<Destination>> arrays, std::span<const Device> devices)
    : arrays_(arrays), devices_(devices) {
  for (const Device& from : devices_) {
    std::vector<char>& row = reaches_.emplace_back();
    for (const Device& to : devices_)
      row.push_back(static_cast<char>(&from != &to && from.backend()->reaches(*to.backend())));
    direct_.emplace_back(from);
  }
}

void BroadcastSender::prepare(std::size_t places, std::size_t) {
  for (std::size_t i = 0; i != places; ++i) {
    Place& place =
        places_.emplace_back(Place{{}, std::vector<char>(devices_.size()), Stream(devices_[i % devices_.size()])});
    for (const Device& device : devices_) place.read.emplace_back(device);
  }
}

/// How much of a piece lies in a device's memory: the rest of the array is in host memory there.
std::size_t BroadcastSender::bytes_on(std::size_t device, const ChunkPiece& piece) const {
  const std::size_t whole = arrays_[device][piece.array].device_bytes;
  return whole > piece.first ? std::min(whole - piece.first, piece.bytes) : 0;
}

void BroadcastSender::send(std::size_t number, std::span<const ChunkPiece> pieces) {
  Place& place = places_[number];
  const std::size_t turn = number % devices_.size();
  const auto target = [&](std::size_t device, const ChunkPiece& piece) {
    return arrays_[device][piece.array].device + piece.first;
  };
  // How much of a piece comes to a device from the one whose turn it is.
  const auto from_neighbour = [&](std::size_t device, const ChunkPiece& piece) -> std::size_t {
    if (device == turn || reaches_[turn][device] == 0 || !arrays_[turn][piece.array].peers_write ||
        !arrays_[device][piece.array].peers_write)
      return 0;
    return std::min(bytes_on(turn, piece), bytes_on(device, piece));
  };
  for (std::size_t device = 0; device != devices_.size(); ++device) {
    const StreamHandle stream = (device == turn ? place.stream : direct_[device]).handle();
    bool used = false;
    for (const ChunkPiece& piece : pieces) {
      const std::size_t skip = from_neighbour(device, piece);
      const std::size_t end = bytes_on(device, piece);
      if (skip >= end) continue;
      devices_[device].backend()->copy_to_device(target(device, piece) + skip, piece.from + skip, end - skip, stream);
      used = true;
    }
    if (used) place.read[device].record(stream);
    place.pending[device] = static_cast<char>(used);
  }
  for (std::size_t device = 0; device != devices_.size(); ++device)
    for (const ChunkPiece& piece : pieces)
      if (const std::size_t bytes = from_neighbour(device, piece); bytes != 0)
        devices_[turn].backend()->copy_to_peer(*devices_[device].backend(), target(device, piece), target(turn, piece),
                                               bytes, place.stream.handle());
}

void BroadcastSender::wait(std::size_t number) {
  const Place& place = places_[number];
  for (std::size_t device = 0; device != devices_.size(); ++device)
    if (place.pending[device] != 0) place.read[device].wait();
}

void BroadcastSender::finish() {
  Finish finish;
  for (const Place& place : places_) finish(place.stream);
  for (const Stream& stream : direct_) finish(stream);
  finish.rethrow();
}

HelpedSender::HelpedSender(std::span<const Destination> arrays, const Device& device, std::span<const Device> helpers)
    : arrays_(arrays), devices_{device}, straight_(device) {
  for (const Device& helper : helpers)
    if (helper.backend() != device.backend() && helper.backend()->reaches(*device.backend()))
      devices_.push_back(helper);
}

void HelpedSender::prepare(std::size_t places, std::size_t chunk_bytes) {
  for (std::size_t i = 0; i != places; ++i) {
    const std::size_t turn = i % devices_.size();
    const Device& device = devices_[turn];
    places_.push_back({Stream(device), Event(device), DeviceBuffer<std::byte>(device, turn == 0 ? 0 : chunk_bytes),
                       Event(devices_.front())});
  }
}

void HelpedSender::send(std::size_t number, std::span<const ChunkPiece> pieces) {
  Place& place = places_[number];
  const std::size_t turn = number % devices_.size();
  Backend& helped = *devices_.front().backend();
  Backend& backend = *devices_[turn].backend();
  const auto stops_over = [&](const ChunkPiece& piece) { return turn != 0 && arrays_[piece.array].peers_write; };
  place.went_straight = false;
  for (const ChunkPiece& piece : pieces) {
    std::byte* const target = arrays_[piece.array].device + piece.first;
    if (stops_over(piece)) {
      backend.copy_to_device(place.stop.device() + piece.offset, piece.from, piece.bytes, place.stream.handle());
    } else if (turn == 0) {
      helped.copy_to_device(target, piece.from, piece.bytes, place.stream.handle());
    } else {
      helped.copy_to_device(target, piece.from, piece.bytes, straight_.handle());
      place.went_straight = true;
    }
  }
  place.read.record(place.stream.handle());
  if (place.went_straight) place.straight.record(straight_.handle());
  // The next chunk of this place stops over at the same address, but later in the same stream.
  for (const ChunkPiece& piece : pieces)
    if (stops_over(piece))
      backend.copy_to_peer(helped, arrays_[piece.array].device + piece.first, place.stop.device() + piece.offset,
                           piece.bytes, place.stream.handle());
}

void HelpedSender::wait(std::size_t number) {
  const Place& place = places_[number];
  place.read.wait();
  if (place.went_straight) place.straight.wait();
}

void HelpedSender::finish() {
  Finish finish;
  for (const Place& place : places_) finish(place.stream);
  finish(straight_);
  finish.rethrow();
}

}  // namespace raylift::detail
