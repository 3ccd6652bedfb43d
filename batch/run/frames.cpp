// SPDX-License-Identifier: Apache-2.0
#include "frames.h"

#include <poll.h>
#include <raylift/geometry/error.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace raylift::batch {
namespace {

struct Header {
  std::uint32_t type;
  std::uint32_t bytes;
};

constexpr std::uint32_t kMaxBytes = 64U << 20;

}  // namespace

void FrameSocket::close() noexcept {
  (void)descriptor_.close();
  arrived_.clear();
}

bool FrameSocket::send(FrameType type, std::string_view payload) noexcept {
  const Header header{static_cast<std::uint32_t>(type), static_cast<std::uint32_t>(payload.size())};
  for (std::string_view rest : {std::string_view(reinterpret_cast<const char*>(&header), sizeof header), payload}) {
    while (!rest.empty()) {
      const ssize_t sent = ::send(descriptor_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return false;
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  return true;
}

bool FrameSocket::receive() {
  char chunk[65536];
  while (true) {
    const ssize_t got = ::recv(descriptor_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (got > 0) {
      arrived_.append(chunk, static_cast<std::size_t>(got));
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

std::optional<MessageFrame> FrameSocket::next() {
  Header header{};
  if (arrived_.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, arrived_.data(), sizeof header);
  if (header.bytes > kMaxBytes) throw Error(ErrorKind::io, "a worker sends what is no message");
  if (arrived_.size() - sizeof header < header.bytes) return std::nullopt;
  MessageFrame frame{static_cast<FrameType>(header.type), arrived_.substr(sizeof header, header.bytes)};
  arrived_.erase(0, sizeof header + header.bytes);
  return frame;
}

std::optional<MessageFrame> FrameSocket::wait() {
  bool open = true;
  while (true) {
    if (std::optional<MessageFrame> frame = next()) return frame;
    if (!open) return std::nullopt;
    pollfd polled{descriptor_.get(), POLLIN, 0};
    (void)::poll(&polled, 1, -1);
    open = receive();
  }
}

}  // namespace raylift::batch
