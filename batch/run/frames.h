// SPDX-License-Identifier: Apache-2.0
// Messages between a batch and its workers, over a pair of sockets: a type, a length, and that many bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace raylift::batch {

enum class FrameType : std::uint32_t {
  job = 1,  ///< to a worker: the scene's path
  stage,    ///< from a worker: what it is at
  leaving,  ///< from a worker: it ends after the row that follows
  row,      ///< from a worker: the scene's row, as JSON
  refused   ///< from a worker: a row whose error is not the scene's: there is no device, for instance
};

struct MessageFrame {
  FrameType type{};
  std::string payload;
};

/// One end of a socket. Owns the descriptor.
class FrameSocket {
 public:
  explicit FrameSocket(int descriptor = -1) : descriptor_(descriptor) {}

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  void close() noexcept;

  /// Whether the frame went out whole; false where the other end is gone.
  [[nodiscard]] bool send(FrameType type, std::string_view payload) noexcept;
  /// Takes what has arrived, without waiting; false once the other end is gone.
  [[nodiscard]] bool receive();
  /// The next frame that has arrived whole. Throws Error(io) for what is no frame.
  [[nodiscard]] std::optional<MessageFrame> next();
  /// Waits for a frame; nothing once the other end is gone.
  [[nodiscard]] std::optional<MessageFrame> wait();

 private:
  base::Descriptor descriptor_;
  std::string arrived_;
};

}  // namespace raylift::batch
