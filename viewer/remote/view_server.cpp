// SPDX-License-Identifier: Apache-2.0
#include "remote/view_server.h"

#include <poll.h>
#include <raylift/geometry/error.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>
#include <utility>

#include "geometry/src/process.h"

namespace raylift::viewer {
namespace {

constexpr auto kSlice = std::chrono::milliseconds(4);  // of answering one client, before the window draws
constexpr auto kBreath = std::chrono::seconds(1);      // after which a connection is accepted again
constexpr std::size_t kPiece = std::size_t{64} << 10;  // bytes read at a time

bool try_again(int code) {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

/// Whether the client has closed its socket, and not only its end for writing.
bool has_left(const base::Descriptor& socket) {
  pollfd seen{socket.get(), 0, 0};
  return ::poll(&seen, 1, 0) > 0;  // POLLHUP and POLLERR alone
}

void control(const base::Descriptor& events, int operation, const base::Descriptor& socket, std::uint32_t awaited) {
  epoll_event event{};
  event.events = awaited;
  event.data.fd = socket.get();
  (void)::epoll_ctl(events.get(), operation, socket.get(), &event);
}

}  // namespace

ViewServer::ViewServer(const ControlTarget& target, const std::filesystem::path& folder, uid_t user)
    : target_(target),
      user_(user),
      folder_(folder, true),
      events_(detail::opened(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
  folder_.remove_stale();
  std::tie(listening_, name_) = folder_.listen();
  control(events_, EPOLL_CTL_ADD, listening_, EPOLLIN);
}

ViewServer::~ViewServer() {
  folder_.remove(name_);
}

bool ViewServer::busy() const {
  return std::any_of(clients_.begin(), clients_.end(), [](const Client& client) { return client.talk.has_work(); });
}

bool ViewServer::pending() const {
  return std::any_of(clients_.begin(), clients_.end(), [](const Client& client) { return client.talk.pending(); });
}

bool ViewServer::serve() {
  // All sockets are tried, ready or not: none of them blocks.
  std::array<epoll_event, kMaxClients + 1> ready{};
  const int count = ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  if (!listens_ && Clock::now() >= listens_again_) {
    control(events_, EPOLL_CTL_ADD, listening_, EPOLLIN);
    listens_ = true;
  }
  if (count > 0) accept_all();
  bool answered = false;
  for (Client& client : clients_) {
    if (count > 0) read(client);
    answered |= client.talk.work(Clock::now() + kSlice);
    client.talk.notify();
    write(client);
    if (!client.talk.wants_input() && has_left(client.socket)) client.talk.close_output();
    await(client);
  }
  clients_.remove_if([](const Client& client) { return client.talk.finished(); });
  // Round-robin: the next call begins with another client.
  if (clients_.size() > 1) clients_.splice(clients_.end(), clients_, clients_.begin());
  return answered;
}

void ViewServer::accept_all() {
  while (listens_) {
    base::Descriptor socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.get() >= 0) {
      accept_one(std::move(socket));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // The socket stays readable, which would keep the window awake.
      control(events_, EPOLL_CTL_DEL, listening_, 0);
      listens_ = false;
      listens_again_ = Clock::now() + kBreath;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

void ViewServer::accept_one(base::Descriptor socket) {
  if (peer_of(socket) != user_) return;  // closed without an answer
  if (clients_.size() >= kMaxClients) {
    const Error full(ErrorKind::limit, "this viewer has " + std::to_string(kMaxClients) + " clients already");
    const std::string text = rpc::line(rpc::error(nullptr, rpc::Code::raylift_error, full));
    (void)!::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  clients_.push_back({std::move(socket), Conversation(target_), 0});
  control(events_, EPOLL_CTL_ADD, clients_.back().socket, 0);
}

void ViewServer::read(Client& client) {
  if (!client.talk.wants_input()) return;
  std::array<char, kPiece> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): recv() fills it
  const ssize_t count = ::recv(client.socket.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (count > 0)
    client.talk.receive({piece.data(), static_cast<std::size_t>(count)});
  else if (count == 0 || !try_again(errno))
    client.talk.end_input();
}

void ViewServer::write(Client& client) {
  while (!client.talk.output().empty()) {
    const std::string_view text = client.talk.output();
    const ssize_t count = ::send(client.socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0)
      client.talk.sent(static_cast<std::size_t>(count));
    else if (errno != EINTR) {
      if (!try_again(errno)) client.talk.close_output();
      return;
    }
  }
}

/// Awaits only events that are handled: input that is not read would wake the window again and again.
void ViewServer::await(Client& client) {
  const std::uint32_t awaited =
      (client.talk.wants_input() ? EPOLLIN : 0U) | (client.talk.output().empty() ? 0U : EPOLLOUT);
  if (awaited == client.awaited) return;
  client.awaited = awaited;
  control(events_, EPOLL_CTL_MOD, client.socket, awaited);
}

}  // namespace raylift::viewer
