// SPDX-License-Identifier: Apache-2.0
// The viewer's Unix socket and its clients. The window never waits for a client.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <list>
#include <string>

#include "base/descriptor.h"
#include "remote/conversation.h"
#include "remote/view_socket.h"

namespace raylift::viewer {

class ViewServer final : public Server {
 public:
  static constexpr std::size_t kMaxClients = 16;

  /// Listens in a folder, for processes of this user alone. The target's references must outlive the server. Throws
  /// Error.
  explicit ViewServer(const ControlTarget& target, const std::filesystem::path& folder = SocketFolder::usual_path(),
                      uid_t user = ::geteuid());
  ~ViewServer() override;
  ViewServer(const ViewServer&) = delete;
  ViewServer& operator=(const ViewServer&) = delete;

  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / name_; }
  [[nodiscard]] std::string address() const override { return path().string(); }
  [[nodiscard]] int descriptor() const override { return events_.get(); }
  [[nodiscard]] bool busy() const override;
  [[nodiscard]] bool pending() const override;
  bool serve() override;
  [[nodiscard]] std::size_t clients() const { return clients_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Client {
    base::Descriptor socket;
    Conversation talk;
    std::uint32_t awaited = 0;  // events of epoll
  };
  void accept_all();
  void accept_one(base::Descriptor socket);
  static void read(Client& client);
  static void write(Client& client);
  void await(Client& client);

  ControlTarget target_;
  uid_t user_;
  SocketFolder folder_;
  base::Descriptor listening_;
  std::string name_;
  base::Descriptor events_;
  bool listens_ = true;  // false for a while when descriptors ran out
  Clock::time_point listens_again_{};
  std::list<Client> clients_;
};

}  // namespace raylift::viewer
