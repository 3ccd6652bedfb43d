// SPDX-License-Identifier: Apache-2.0
#include "ranks.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <raylift/geometry/error.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "cli/interrupt.h"

namespace raylift::batch {
using namespace cli;
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what, int code) {
  throw Error(ErrorKind::io, what + ": " + std::strerror(code));
}

/// A machine that has gone says nothing: that it does not answer is noticed within half a minute.
void keep_watch(int socket) {
  const auto set = [&](int level, int option, int value) {
    (void)::setsockopt(socket, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

std::string make_password() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) fail("getrandom", errno);
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// This machine's IPv4 addresses, the loopback's last: for the ranks that run on it too.
std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {"127.0.0.1"};
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_LOOPBACK) != 0 ||
        (one->ifa_flags & IFF_UP) == 0)
      continue;
    sockaddr_in address{};
    std::memcpy(&address, one->ifa_addr, sizeof address);
    std::array<char, INET_ADDRSTRLEN> text{};
    if (::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size()) != nullptr)
      addresses.emplace_back(text.data());
  }
  ::freeifaddrs(all);
  addresses.emplace_back("127.0.0.1");
  return addresses;
}

/// A connection, or -1.
int connect_to(const std::string& address, int port) {
  sockaddr_in target{};
  target.sin_family = AF_INET;
  target.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, address.c_str(), &target.sin_addr) != 1) return -1;
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  int error = 0;
  if (::connect(made, reinterpret_cast<const sockaddr*>(&target), sizeof target) != 0) {
    error = errno;
    pollfd polled{made, POLLOUT, 0};
    if (error == EINPROGRESS && ::poll(&polled, 1, 5000) == 1) {
      socklen_t size = sizeof error;
      (void)::getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &size);
    }
  }
  if (error != 0) {
    ::close(made);
    return -1;
  }
  (void)::fcntl(made, F_SETFL, 0);
  keep_watch(made);
  return made;
}

std::string scene_text(std::size_t scene, const std::string& text) {
  const std::uint64_t number = scene;
  std::string result(sizeof number, '\0');
  std::memcpy(result.data(), &number, sizeof number);
  return result + text;
}

/// The number in front, which is taken off.
std::size_t take_scene(std::string& text) {
  std::uint64_t number = 0;
  if (text.size() < sizeof number) throw Error(ErrorKind::io, "another process of the batch sends nonsense");
  std::memcpy(&number, text.data(), sizeof number);
  text.erase(0, sizeof number);
  return number;
}

}  // namespace

Ranks::Ranks() : password_(make_password()) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      ::listen(listener_, 1024) != 0) {
    const int code = errno;
    if (listener_ >= 0) ::close(listener_);
    fail("can't listen for the other ranks", code);
  }
}

Ranks::~Ranks() {
  ::close(listener_);
}

std::string Ranks::invitation() const {
  sockaddr_in own{};
  socklen_t size = sizeof own;
  if (::getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &size) != 0) fail("getsockname", errno);
  std::string text = password_ + ' ' + host_name() + ' ' + std::to_string(ntohs(own.sin_port));
  for (const std::string& address : own_addresses()) text += ' ' + address;
  return text;
}

std::size_t Ranks::busy() const {
  std::size_t count = 0;
  for (const Rank& rank : ranks_) count += rank.scenes.size();
  return count;
}

std::size_t Ranks::idle() const {
  std::size_t count = 0;
  for (const Rank& rank : ranks_) count += rank.room();
  return count;
}

void Ranks::start(std::size_t scene, const std::string& path) {
  // The one that has most to offer.
  const auto rank =
      std::max_element(ranks_.begin(), ranks_.end(), [](const Rank& a, const Rank& b) { return a.room() < b.room(); });
  rank->scenes.insert(scene);
  // Where it is gone, reading from it will tell.
  (void)rank->socket.send(FrameType::remote_job, scene_text(scene, path));
}

void Ranks::poll_for(std::vector<pollfd>& polled) const {
  polled.push_back({listener_, POLLIN, 0});
  for (const Rank& rank : ranks_) polled.push_back({rank.socket.descriptor(), POLLIN, 0});
}

void Ranks::welcome() {
  while (true) {
    const int made = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (made < 0) return;
    keep_watch(made);
    ranks_.emplace_back().socket = FrameSocket(made);
  }
}

bool Ranks::read(Rank& rank, std::vector<Finished>& finished) {
  const bool open = rank.socket.receive();
  while (std::optional<Frame> frame = rank.socket.next()) {
    if (rank.jobs == 0) {
      const Json hello = Json::parse(frame->payload, nullptr, false);
      if (frame->type != FrameType::hello || !hello.is_object() || hello.value("password", "") != password_)
        return false;
      rank.jobs = hello.value("jobs", std::size_t{1});
      ++arrived_;
    } else if (frame->type == FrameType::leaving) {
      rank.leaving = true;
    } else if (frame->type == FrameType::remote_row) {
      const std::size_t scene = take_scene(frame->payload);
      Json answer = Json::parse(frame->payload, nullptr, false);
      if (!answer.is_object() || !answer.contains("row") || rank.scenes.erase(scene) == 0) return false;
      finished.push_back(
          {scene, std::move(answer["row"]), answer.value("refused", false), answer.value("cancelled", false)});
    }
  }
  return open;
}

void Ranks::handle(std::vector<Finished>& finished, std::vector<std::size_t>& lost) {
  welcome();
  for (auto rank = ranks_.begin(); rank != ranks_.end();) {
    bool open = false;
    try {
      open = read(*rank, finished);
    } catch (const Error&) {
      // What sends nonsense is as good as lost.
    }
    if (open) {
      ++rank;
      continue;
    }
    if (rank->jobs != 0 && !(rank->leaving && rank->scenes.empty())) ++lost_ranks_;
    lost.insert(lost.end(), rank->scenes.begin(), rank->scenes.end());
    rank = ranks_.erase(rank);
  }
}

void Ranks::dismiss() {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(10);
  std::vector<Finished> finished;
  std::vector<std::size_t> lost;
  while (arrived_ < expected_ && Clock::now() < deadline && interrupted_by() == 0) {
    std::vector<pollfd> polled;
    poll_for(polled);
    (void)::poll(polled.data(), polled.size(), 100);
    handle(finished, lost);
  }
  for (Rank& rank : ranks_) (void)rank.socket.send(FrameType::dismissal, "");
  ranks_.clear();
}

int serve_rank(const std::string& invitation, CrewOptions options) {
  std::istringstream text(invitation);
  std::string password;
  std::string host;
  int port = 0;
  if (!(text >> password >> host >> port)) throw Error(ErrorKind::cancelled, "the first rank could not start");
  std::vector<std::string> addresses;
  for (std::string address; text >> address;) addresses.push_back(address);
  // On another machine, the loopback would be somebody else.
  if (host != host_name() && addresses.size() > 1) addresses.pop_back();
  int connection = -1;
  for (const std::string& address : addresses)
    if (connection < 0) connection = connect_to(address, port);
  if (connection < 0)
    throw Error(ErrorKind::io, "can't reach the first rank on " + host, {},
                "see to it that the machines may open connections to each other");
  FrameSocket first(connection);
  const Json hello = {{"password", password}, {"jobs", options.devices.size()}};
  bool open = first.send(FrameType::hello, hello.dump());
  Crew crew(std::move(options));
  bool leaving = false;
  std::vector<Finished> finished;
  while (open) {
    std::vector<pollfd> polled{{first.descriptor(), POLLIN, 0}};
    crew.poll_for(polled);
    (void)::poll(polled.data(), polled.size(), static_cast<int>(Crew::kTick.count()));
    if (interrupted_by() != 0 && !leaving) {
      leaving = true;
      open = first.send(FrameType::leaving, "");
    }
    if (leaving && crew.busy() == 0) throw Error(ErrorKind::cancelled, "interrupted");
    open = first.receive() && open;
    while (std::optional<Frame> frame = first.next()) {
      if (frame->type == FrameType::dismissal) return 0;
      if (frame->type != FrameType::remote_job) continue;
      const std::size_t scene = take_scene(frame->payload);
      crew.start(scene, frame->payload);
    }
    finished.clear();
    crew.handle(finished);
    for (const Finished& one : finished) {
      const Json answer = {{"row", one.row}, {"refused", one.refused}, {"cancelled", one.cancelled}};
      open = first.send(FrameType::remote_row,
                        scene_text(one.scene, answer.dump(-1, ' ', false, Json::error_handler_t::replace))) &&
             open;
    }
  }
  throw Error(ErrorKind::io, "the first rank is gone", {}, "go on with its report by --resume");
}

}  // namespace raylift::batch
