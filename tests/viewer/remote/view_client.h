// SPDX-License-Identifier: Apache-2.0
// A client of the viewer's socket, made of system calls alone.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "cli/output.h"

namespace raylift::viewer {

using cli::Json;

class ViewClient {
 public:
  explicit ViewClient(const std::filesystem::path& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    EXPECT_LT(path.string().size(), sizeof address.sun_path);
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const int connected = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    EXPECT_EQ(connected, 0) << path << ": " << std::strerror(errno);
    if (connected != 0) close();
  }
  ~ViewClient() { close(); }
  ViewClient(const ViewClient&) = delete;
  ViewClient& operator=(const ViewClient&) = delete;

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  [[nodiscard]] bool open() const { return socket_ >= 0; }
  /// What the socket takes at once; where the other side has gone, it closes.
  std::size_t try_send(std::string_view text) {
    const ssize_t count = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EAGAIN && errno != EINTR) close();
    return 0;
  }
  /// All of it, which has to fit.
  void send(std::string_view text) { EXPECT_EQ(try_send(text), text.size()); }
  void end() { EXPECT_EQ(::shutdown(socket_, SHUT_WR), 0); }

  /// The next line if it is there; else null.
  Json try_next() {
    std::array<char, 65536> piece{};
    std::size_t end = 0;
    while ((end = text_.find('\n')) == std::string::npos) {
      const ssize_t count = ::recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
      if (count <= 0) return nullptr;
      text_.append(piece.data(), static_cast<std::size_t>(count));
    }
    const Json line = Json::parse(text_.substr(0, end), nullptr, false);
    text_.erase(0, end + 1);
    return line;
  }
  /// The next line, if it comes within 25 s; else an empty object.
  Json next() {
    for (int i = 0; i != 250; ++i) {
      const Json line = try_next();
      if (!line.is_null()) return line;
      pollfd awaited{socket_, POLLIN, 0};
      (void)::poll(&awaited, 1, 100);
    }
    ADD_FAILURE() << "no answer";
    return Json::object();
  }
  void read_all() {
    while (!try_next().is_null()) continue;
  }
  /// Whether the other side has closed, and nothing is left to be read.
  [[nodiscard]] bool ended() const {
    char one = 0;
    const ssize_t count = ::recv(socket_, &one, 1, MSG_PEEK | MSG_DONTWAIT);
    return text_.empty() && (count == 0 || (count < 0 && errno == ECONNRESET));
  }

 private:
  int socket_;
  std::string text_;
};

}  // namespace raylift::viewer
