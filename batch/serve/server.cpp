// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <raylift/client/detail/shared_memory.h>
#include <raylift/geometry/error.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <utility>
#include <zmq.hpp>

#include "base/json.h"
#include "cli/own_folder.h"

namespace raylift::batch {
namespace {

using cli::Json;
using protocol::ErrorCode;
using protocol::Header;
using Kind = protocol::Header::Kind;
using protocol::Layout;
using Carrier = protocol::Header::Carrier;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
namespace fs = std::filesystem;

constexpr std::size_t kMaxHops = 8;                           // of an envelope: proxies in a row
constexpr int kSendHighWater = 16;                            // messages in ZeroMQ's queue of a client
constexpr int kReceiveHighWater = 64;                         // likewise
constexpr std::ptrdiff_t kMaxDeferred = 256;                  // answers without a request that wait for a client
constexpr std::size_t kMaxAllDeferred = 4096;                 // likewise, for all clients
constexpr std::uint64_t kShareFrom = std::uint64_t{1} << 18;  // bytes of a result
constexpr milliseconds kBeat{1000};                           // after which a silent client that waits gets `pending`
constexpr milliseconds kShared{10'000};                       // for which a result waits in shared memory
constexpr milliseconds kConfirm{10'000};                      // for which the server's end waits for `received`
constexpr milliseconds kFlush{1000};                          // the same for RAT, which confirms nothing
constexpr std::uint32_t kRetry = 1000;                        // ms

using Frames = std::vector<zmq::message_t>;

/// A message that a client's socket has not taken yet.
struct Outgoing {
  std::uint64_t request = 0;
  Frames frames;
};

struct OpenRequest {
  Header header;
  photon::Service::RequestId id{};
  std::future<photon::Reply> reply;
};

/// Counts the bytes of a result while it lives, here or in ZeroMQ's queue.
class Held {
 public:
  Held(std::shared_ptr<std::atomic<std::uint64_t>> sum, std::uint64_t bytes) : sum_(std::move(sum)), bytes_(bytes) {
    *sum_ += bytes_;
  }
  ~Held() { *sum_ -= bytes_; }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::shared_ptr<std::atomic<std::uint64_t>> sum_;
  std::uint64_t bytes_;
};

/// An answer without a request that its client's queue had no room for.
struct DeferredAnswer {
  std::size_t socket = 0;
  std::vector<std::string> envelope;
  Frames frames;
  Clock::time_point until;
};

struct SharedResult {
  std::unique_ptr<client::SharedBody> body;
  std::shared_ptr<const Held> held;
  Clock::time_point until;
};

struct Client {
  std::size_t socket = 0;
  std::vector<std::string> envelope;  // routing ids, the last hop's first
  std::uint64_t number = 0;
  photon::Service::ClientId id{};
  Clock::time_point heard, answered;
  std::map<std::uint64_t, OpenRequest> open;
  std::deque<Outgoing> unread;
  std::shared_ptr<std::atomic<std::uint64_t>> held =
      std::make_shared<std::atomic<std::uint64_t>>(0);  // bytes of results
  Clock::time_point read;                               // when it last took a message, or had none to take
  Clock::time_point sent, asked;                        // when its last result, and `ending`, were sent
  bool has_all = true;                                  // by what it said since
  std::map<std::uint64_t, SharedResult> shared;
};

/// A queue of the requests that have ended: threads of the service fill it, and the server's thread is woken.
class Ended {
 public:
  Ended() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (event_.get() < 0) throw Error(ErrorKind::system, std::strerror(errno));
  }
  void add(std::uint64_t client, std::uint64_t request) {
    {
      const std::scoped_lock lock(mutex_);
      ended_.emplace_back(client, request);
    }
    const std::uint64_t one = 1;
    (void)!::write(event_.get(), &one, sizeof one);
  }
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> take() {
    std::uint64_t ignored = 0;
    (void)!::read(event_.get(), &ignored, sizeof ignored);
    const std::scoped_lock lock(mutex_);
    return std::exchange(ended_, {});
  }
  [[nodiscard]] int descriptor() const { return event_.get(); }

 private:
  base::Descriptor event_;
  std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ended_;
};

bool is_tcp(const std::string& address) {
  return address.starts_with("tcp://");
}

/// An address of ipc:// that is this process's while this lives: ZeroMQ takes away whatever is there, and leaves its
/// own behind.
class SocketFile {
 public:
  explicit SocketFile(const std::string& address) : path_(address.substr(std::strlen("ipc://"))) {
    if (!path_.is_absolute() || !path_.has_filename())
      throw Error(ErrorKind::usage, "an address of ipc:// needs an absolute path", {address, ""},
                  "such as ipc:///run/user/1000/raylift/serve.sock");
    const fs::path folder_path = path_.parent_path();
    const base::Descriptor folder = cli::open_own_folder(folder_path, folder_path == cli::runtime_folder(), "servers");
    const std::string name = path_.filename().string() + ".lock";
    lock_ = base::Descriptor(::openat(folder.get(), name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (lock_.get() < 0) throw Error(ErrorKind::io, std::strerror(errno), {(folder_path / name).string(), ""});
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
      throw Error(ErrorKind::io, "another server listens there", {address, ""},
                  "name another address by --listen, or end that server");
    struct stat status {};
    if (::lstat(path_.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode))
      throw Error(ErrorKind::usage, "a file is there that is no socket", {address, ""},
                  "name another address by --listen");
    bound_ = true;
  }
  ~SocketFile() {
    if (bound_) (void)::unlink(path_.c_str());
  }
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

 private:
  fs::path path_;
  base::Descriptor lock_;
  bool bound_ = false;
};

[[noreturn]] void refuse_address(const std::string& address, const std::string& why) {
  throw Error(ErrorKind::io, "can't listen there: " + why, {address, ""},
              "name another address by --listen: ipc://PATH or tcp://ADDRESS:PORT");
}

zmq::message_t message_of(const void* data, std::size_t size) {
  return {data, size};
}
template <class T>
zmq::message_t message_of(const T& value) {
  return {&value, sizeof value};
}

/// Bytes that something owns, without a copy.
zmq::message_t message_of(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  auto* hint = new std::shared_ptr<const void>(std::move(owner));
  const auto release = [](void*, void* kept) { delete static_cast<std::shared_ptr<const void>*>(kept); };
  return {const_cast<std::byte*>(bytes.data()), bytes.size(), release, hint};
}

std::uint64_t microseconds(double seconds) {
  return seconds > 0 ? static_cast<std::uint64_t>(std::llround(seconds * 1e6)) : 0;
}

Json counters_json(const photon::Service::Counters& counters) {
  return {{"accepted", counters.accepted},
          {"busy", counters.busy},
          {"completed", counters.completed},
          {"failed", counters.failed},
          {"cancelled", counters.cancelled},
          {"photons", counters.photons},
          {"steps", counters.steps},
          {"hits", counters.hits},
          {"inconsistent", counters.inconsistent},
          {"lost", counters.lost},
          {"retries", counters.retries},
          {"queue_seconds", counters.queue_seconds},
          {"kernel_seconds", counters.kernel_seconds},
          {"queued_requests", counters.queued_requests},
          {"running_requests", counters.running_requests},
          {"queued_photons", counters.queued_photons},
          {"queue_bytes", counters.queue_bytes}};
}

}  // namespace

struct PhotonServer::State {
  State(photon::Service& service_, ServerOptions options_) : service(service_), options(std::move(options_)) {
    std::random_device random;
    server = (std::uint64_t{random()} << 32) | random();
    began = sampled = Clock::now();
    if (std::ranges::any_of(options.addresses, is_tcp)) {
      if (!options.keys)
        throw Error(ErrorKind::usage, "TCP is for those alone who have keys, and there are none",
                    {*std::ranges::find_if(options.addresses, is_tcp), ""},
                    "make them by 'raylift serve --keygen FOLDER' and give them by --keys FOLDER");
      if (options.keys->clients.empty())
        throw Error(ErrorKind::usage, "no client's key is known, so none could connect", {},
                    "add one by 'raylift serve --keygen FOLDER --client NAME'");
      gate = zmq::socket_t(context, zmq::socket_type::rep);
      gate.set(zmq::sockopt::linger, 0);
      gate.bind("inproc://zeromq.zap.01");  // before any socket that asks it
    }
    for (const std::string& address : options.addresses) listen(address, false);
    if (options.chroma.empty()) return;
    if (is_tcp(options.chroma))
      throw Error(ErrorKind::usage, "RAT's messages have no keys, so there is no TCP for them", {options.chroma, ""},
                  "ipc://PATH");
    listen(options.chroma, true);
  }

  void listen(const std::string& address, bool is_chroma) {
    zmq::socket_t socket(context, zmq::socket_type::router);
    socket.set(zmq::sockopt::router_mandatory, true);
    socket.set(zmq::sockopt::sndhwm, kSendHighWater);
    socket.set(zmq::sockopt::rcvhwm, kReceiveHighWater);
    socket.set(zmq::sockopt::linger, 5000);  // ms, for results that are on their way at the end
    socket.set(zmq::sockopt::maxmsgsize,
               static_cast<std::int64_t>(std::max(options.max_body, protocol::kAlwaysRead) + 4096));
    socket.set(zmq::sockopt::heartbeat_ivl, 2000);
    socket.set(zmq::sockopt::heartbeat_timeout, 10'000);
    if (is_tcp(address)) {
      socket.set(zmq::sockopt::curve_server, true);
      socket.set(zmq::sockopt::curve_secretkey, options.keys->secret_key);
      socket.set(zmq::sockopt::zap_domain, "raylift");
    } else if (address.starts_with("ipc://")) {
      files.emplace_back(address);
    } else {
      throw Error(ErrorKind::usage, "this is no address to listen at", {address, ""},
                  "ipc://PATH, or tcp://ADDRESS:PORT with --keys");
    }
    try {
      socket.bind(address);
    } catch (const zmq::error_t& error) {
      refuse_address(address, error.what());
    }
    addresses.push_back(socket.get(zmq::sockopt::last_endpoint));
    tcp.push_back(is_tcp(address));
    chroma.push_back(is_chroma);
    sockets.push_back(std::move(socket));
  }

  // Messages to clients.

  Header answer_to(const Header& asked, Kind kind) const {
    Header header;
    header.kind = kind;
    header.request = asked.request;
    header.event = asked.event;
    header.seed = asked.seed;
    header.first = asked.first;
    header.photons = 0;
    header.server = server;
    header.max_body = options.max_body;
    std::ranges::copy(options.digest, header.digest);
    return header;
  }

  /// Whether the client's socket took it. ZeroMQ takes all frames or none.
  enum class Sent { yes, later, gone };
  Sent send_now(std::size_t socket, const std::vector<std::string>& envelope, Frames& frames) {
    try {
      for (std::size_t i = 0; i != envelope.size(); ++i)
        if (!sockets[socket].send(message_of(envelope[i].data(), envelope[i].size()),
                                  zmq::send_flags::sndmore | zmq::send_flags::dontwait))
          return Sent::later;
      (void)sockets[socket].send(zmq::message_t(), zmq::send_flags::sndmore | zmq::send_flags::dontwait);
      for (std::size_t i = 0; i != frames.size(); ++i)
        (void)sockets[socket].send(frames[i], i + 1 != frames.size()
                                                  ? zmq::send_flags::sndmore | zmq::send_flags::dontwait
                                                  : zmq::send_flags::dontwait);
      return Sent::yes;
    } catch (const zmq::error_t& error) {
      if (error.num() == EHOSTUNREACH) return Sent::gone;
      throw;
    }
  }

  /// Sends an answer that belongs to no open request: later, where the client's queue is full. A client that reads
  /// nothing loses those beyond `kMaxDeferred`.
  void tell(std::size_t socket, const std::vector<std::string>& envelope, Frames frames) {
    if (send_now(socket, envelope, frames) != Sent::later || deferred.size() >= kMaxAllDeferred) return;
    const auto own = std::ranges::count_if(
        deferred, [&](const DeferredAnswer& other) { return other.socket == socket && other.envelope == envelope; });
    if (own < kMaxDeferred) deferred.push_back({socket, envelope, std::move(frames), Clock::now() + options.silence});
  }

  /// Sends what is open, at once or not at all, since the next such message replaces it.
  Sent send_pending(std::size_t socket, const std::vector<std::string>& envelope, const Client* client) {
    Frames frames = pending(client);
    return send_now(socket, envelope, frames);
  }

  void flush_answers() {
    const Clock::time_point now = Clock::now();
    std::erase_if(deferred, [&](DeferredAnswer& one) {
      return send_now(one.socket, one.envelope, one.frames) != Sent::later || one.until < now;
    });
  }

  void send(Client& client, const Header& asked, Frames frames) {
    client.unread.push_back({asked.request, std::move(frames)});
    flush(client);
  }

  /// Sends a client's results until its socket would block.
  void flush(Client& client) {
    while (!client.unread.empty()) {
      const Sent sent = send_now(client.socket, client.envelope, client.unread.front().frames);
      if (sent == Sent::later) return;
      if (sent == Sent::gone) {
        gone.push_back(client.number);
        return;
      }
      client.unread.pop_front();
      client.read = client.sent = Clock::now();
      client.has_all = false;
    }
  }

  Frames refusal(const Header& asked, const Refusal& why) const {
    Header header = answer_to(asked, Kind::error);
    header.error = why.code;
    header.retry_after = why.retry_after;
    std::string text = why.problem;
    text += '\0';
    text += why.element;
    text += '\0';
    text += why.advice;
    text += '\0';
    Frames frames;
    frames.push_back(message_of(header));
    frames.push_back(message_of(text.data(), text.size()));
    return frames;
  }

  Frames pending(const Client* client) const {
    Header header;
    header.kind = Kind::pending;
    header.server = server;
    header.max_body = options.max_body;
    std::vector<std::uint64_t> requests;
    if (client != nullptr)
      for (const auto& [number, open] : client->open) requests.push_back(number);
    if (client != nullptr)
      for (const Outgoing& out : client->unread) requests.push_back(out.request);
    Frames frames;
    frames.push_back(message_of(header));
    frames.push_back(message_of(requests.data(), requests.size() * sizeof(std::uint64_t)));
    return frames;
  }

  Frames json_answer(const Header& asked, Kind kind, const Json& json) const {
    const std::string text = base::json_text(json);
    Frames frames;
    frames.push_back(message_of(answer_to(asked, kind)));
    frames.push_back(message_of(text.data(), text.size()));
    return frames;
  }

  Frames result(Client& client, const Header& asked, photon::Reply reply) {
    Header header = answer_to(asked, Kind::result);
    header.photons = reply.photons;
    header.rows = reply.hit_count;
    header.body = protocol::Header::Body::hits;
    header.layout = asked.layout;
    header.encoding = asked.wanted_encoding;
    protocol::Counts counts;
    counts.steps = reply.steps;
    std::ranges::copy(reply.births, counts.births);
    std::ranges::copy(reply.ends, counts.ends);
    counts.queue_microseconds = microseconds(reply.queue_seconds);
    counts.kernel_microseconds = microseconds(reply.kernel_seconds);
    const std::string npy = asked.wanted_encoding == protocol::Header::Encoding::npy
                                ? hits_header(asked.layout, reply.hit_count)
                                : std::string();
    const auto owner = std::make_shared<const photon::Reply>(std::move(reply));
    const auto pieces = {std::as_bytes(std::span(npy)), owner->hits(), std::as_bytes(std::span(owner->finals)),
                         std::as_bytes(std::span(owner->sequences)), std::as_bytes(std::span(owner->records))};
    for (const auto& piece : pieces) header.bytes += piece.size();
    const auto held = std::make_shared<const Held>(client.held, header.bytes);
    Frames frames;
    const bool shares = (asked.flags & protocol::kMayShare) != 0 && !tcp[client.socket] && header.bytes >= kShareFrom;
    if (shares) {
      const auto piece = [&](std::size_t i) -> client::SharedBody::Piece {
        return {pieces.begin()[i].data(), pieces.begin()[i].size()};
      };
      if (auto body = client::SharedBody::of({piece(0), piece(1), piece(2), piece(3), piece(4)})) {
        header.place = Carrier::shared;
        frames.push_back(message_of(header));
        frames.push_back(message_of(counts));
        frames.push_back(message_of(body->where()));
        client.shared[asked.request] = {std::move(body), held, Clock::now() + kShared};
        return frames;
      }
    }
    frames.push_back(message_of(header));
    frames.push_back(message_of(counts));
    for (const auto& piece : pieces) {
      if (piece.size() != header.bytes || piece.data() == std::as_bytes(std::span(npy)).data()) continue;
      frames.push_back(
          message_of(piece, std::make_shared<const std::pair<decltype(owner), decltype(held)>>(owner, held)));
      return frames;  // it is all in one array
    }
    const auto all = std::make_shared<std::pair<std::vector<std::byte>, std::shared_ptr<const Held>>>();
    all->second = held;
    all->first.reserve(static_cast<std::size_t>(header.bytes));
    for (const auto& piece : pieces) all->first.insert(all->first.end(), piece.begin(), piece.end());
    frames.push_back(message_of(all->first, all));
    return frames;
  }

  // Clients.

  static std::string key_of(std::size_t socket, const std::vector<std::string>& envelope) {
    std::string key = std::to_string(socket);
    for (const std::string& hop : envelope) key += fmt::format(":{}:", hop.size()) + hop;
    return key;
  }

  Client* known(std::size_t socket, const std::vector<std::string>& envelope) {
    const auto found = numbers.find(key_of(socket, envelope));
    return found == numbers.end() ? nullptr : &clients.at(found->second);
  }

  Client& introduced(std::size_t socket, const std::vector<std::string>& envelope) {
    if (Client* client = known(socket, envelope)) return *client;
    Client client;
    client.socket = socket;
    client.envelope = envelope;
    client.number = ++last_client;
    client.id = service.add_client(std::to_string(client.number));
    client.heard = client.answered = client.read = Clock::now();
    numbers[key_of(socket, envelope)] = client.number;
    return clients.emplace(client.number, std::move(client)).first->second;
  }

  /// Frees all that a client has. With `notify`, it gets an error for each request, in case that it lives.
  void drop(std::uint64_t number, bool notify) {
    const auto found = clients.find(number);
    if (found == clients.end()) return;
    Client& client = found->second;
    if (notify && client.unread.empty() && !chroma[client.socket])
      for (const auto& [request, open] : client.open)
        tell(client.socket, client.envelope,
             refusal(open.header,
                     {ErrorCode::dropped, "the client was silent for too long", "", "send the request again"}));
    service.drop_client(client.id);
    if (!client.open.empty()) ++dropped;
    numbers.erase(key_of(client.socket, client.envelope));
    clients.erase(found);
  }

  // Messages from clients.

  bool receive(std::size_t socket) {
    Frames frames;
    for (bool more = true; more;) {
      zmq::message_t frame;
      if (!sockets[socket].recv(frame, zmq::recv_flags::dontwait)) return false;
      more = frame.more();
      // The rest of a message that is none is read, and not kept.
      if (frames.size() != kMaxHops + 16) frames.push_back(std::move(frame));
    }
    take(socket, std::move(frames));
    return true;
  }

  void take(std::size_t socket, Frames frames) {
    const auto empty = std::ranges::find_if(frames, [](const zmq::message_t& frame) { return frame.size() == 0; });
    const auto hops = static_cast<std::size_t>(empty - frames.begin());
    Header header;
    if (chroma[socket] && hops != 0 && hops <= kMaxHops && hops + 1 < frames.size())
      return take_chroma(socket, std::move(frames), hops);
    if (hops == 0 || hops > kMaxHops || hops + 1 >= frames.size() ||
        !protocol::read_header(frames[hops + 1].data(), frames[hops + 1].size(), header)) {
      ++foreign;  // there is no number to answer
      return;
    }
    std::vector<std::string> envelope;
    for (std::size_t i = 0; i != hops; ++i) envelope.push_back(frames[i].to_string());
    Client* client = known(socket, envelope);
    if (client != nullptr) client->heard = Clock::now();
    if (header.version != protocol::kVersion)
      return tell(
          socket, envelope,
          refusal(header, {ErrorCode::version,
                           fmt::format("the server speaks version {} of the protocol, and the client version {}",
                                       protocol::kVersion, header.version),
                           "version", "use the same version of raylift on both sides"}));
    frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(hops + 2));
    switch (header.kind) {
      case Kind::hello:
        return hello(socket, envelope, header);
      case Kind::status:
        return tell(socket, envelope, json_answer(header, Kind::state, status()));
      case Kind::alive:
        if (client != nullptr) client->answered = Clock::now();
        (void)send_pending(socket, envelope, client);
        return;
      case Kind::cancel:
        if (client != nullptr) cancel(*client, header.request);
        return;
      case Kind::taken:
        if (client != nullptr) client->shared.erase(header.request);
        return;
      case Kind::received:
        if (client != nullptr && header.server == server) client->has_all = true;
        return;
      case Kind::simulate:
        return simulate(socket, envelope, header, std::move(frames));
      default:
        return tell(
            socket, envelope,
            refusal(header, {ErrorCode::malformed,
                             fmt::format("there is no message of kind {} to a server", static_cast<int>(header.kind)),
                             "kind", "docs/service.md lists them"}));
    }
  }

  // ChAR0N's messages. Each request comes from a socket of its own, whose client is forgotten with the answer.

  static Frames messages_of(const std::vector<std::string>& texts) {
    Frames frames;
    for (const std::string& text : texts) frames.push_back(message_of(text.data(), text.size()));
    return frames;
  }

  void take_chroma(std::size_t socket, Frames frames, std::size_t hops) {
    std::vector<std::string> envelope;
    for (std::size_t i = 0; i != hops; ++i) envelope.push_back(frames[i].to_string());
    Char0nFrames parts;
    for (std::size_t i = hops + 1; i != frames.size(); ++i)
      parts.emplace_back(static_cast<const std::byte*>(frames[i].data()), frames[i].size());
    const std::string word = char0n_word(parts);
    if (word != "PHOTONDATA") return tell(socket, envelope, messages_of(char0n_answer(word, options.sensors)));
    photon::Request request;
    const auto refuse = [&](const std::vector<std::string>& answer) {
      ++refused;
      tell(socket, envelope, messages_of(answer));
    };
    if (stopping) return refuse(char0n_busy());
    try {
      std::uint64_t bytes = 0;
      for (const auto& part : parts) bytes += part.size();
      std::string why = bytes > options.max_body ? "more bytes than --max-body" : read_char0n_photons(parts, request);
      if (!why.empty()) return refuse(char0n_failure(request.event, why));
      Client& client = introduced(socket, envelope);
      client.heard = Clock::now();
      if (client.open.size() >= options.max_open || *client.held > options.max_unread) return refuse(char0n_busy());
      Header header;
      header.request = ++chroma_requests;
      header.event = request.event;
      request.when_ready = [ended_ = &ended, number = client.number, asked = header.request] {
        ended_->add(number, asked);
      };
      photon::Service::Submission submission = service.submit(client.id, request);
      if (!submission.accepted()) return refuse(char0n_busy());
      client.open[header.request] = {header, submission.id, std::move(submission.reply)};
    } catch (const Error& error) {
      refuse(char0n_failure(request.event, error.what()));
    } catch (const std::bad_alloc&) {
      refuse(char0n_failure(request.event, "the server's memory ran out"));
    }
  }

  void answer_chroma(Client& client, const Header& asked, std::future<photon::Reply>& reply) {
    Frames frames;
    try {
      frames = messages_of(char0n_result(asked.event, reply.get(), options.sensors));
    } catch (const Error& error) {
      frames = messages_of(char0n_failure(asked.event, error.what()));
    } catch (const std::bad_alloc&) {
      frames = messages_of(char0n_failure(asked.event, "the server has no memory for the result"));
    }
    send(client, asked, std::move(frames));
    answered_chroma = Clock::now();
    if (client.open.empty() && client.unread.empty()) gone.push_back(client.number);
  }

  void hello(std::size_t socket, const std::vector<std::string>& envelope, const Header& header) {
    const bool is_any = std::ranges::all_of(header.digest, [](std::uint8_t byte) { return byte == 0; });
    if (!is_any && !std::ranges::equal(header.digest, options.digest))
      return tell(
          socket, envelope,
          refusal(header, {ErrorCode::digest, "the server has another geometry: " + hex_of(options.digest), "digest",
                           "give both the same scene and options; 'raylift serve --digest SCENE' prints a scene's"}));
    Json json{{"protocol", protocol::kVersion},
              {"digest", hex_of(options.digest)},
              {"max_body_bytes", options.max_body},
              {"max_open_requests", options.max_open},
              {"silence_ms", options.silence.count()}};
    json.update(options.about);
    json.update(options.contents);
    tell(socket, envelope, json_answer(header, Kind::welcome, json));
  }

  void cancel(Client& client, std::uint64_t request) {
    const auto found = client.open.find(request);
    if (found == client.open.end()) return;
    // The service may tell of its end at once, in this thread: it is forgotten before.
    const photon::Service::RequestId id = found->second.id;
    client.open.erase(found);
    (void)service.cancel(id);
  }

  void simulate(std::size_t socket, const std::vector<std::string>& envelope, const Header& header, Frames frames) {
    const auto refuse = [&](const Refusal& why) {
      ++refused;
      tell(socket, envelope, refusal(header, why));
    };
    if (stopping) return refuse({ErrorCode::stopping, "the server ends", "", "try again later, or elsewhere", kRetry});
    try {
      Client& client = introduced(socket, envelope);
      if (client.open.contains(header.request)) return;  // it was sent again
      if (client.open.size() >= options.max_open || *client.held > options.max_unread)
        return refuse({ErrorCode::busy, "the client has too many requests, or results that it has not read", "",
                       "read results before more requests", kRetry});
      std::vector<FrameBytes> bodies;
      for (zmq::message_t& frame : frames) {
        const auto kept = std::make_shared<zmq::message_t>(std::move(frame));
        bodies.push_back({{static_cast<const std::byte*>(kept->data()), kept->size()}, kept});
      }
      photon::Request request;
      const Refusal why = read_request(header, bodies, options.digest, {options.max_body, 4096, !tcp[socket]}, request);
      if (why.code != ErrorCode::none) return refuse(why);
      request.when_ready = [ended_ = &ended, number = client.number, asked = header.request] {
        ended_->add(number, asked);
      };
      photon::Service::Submission submission = service.submit(client.id, request);
      if (!submission.accepted())
        return refuse({ErrorCode::busy, "the queue is full", "", "try again",
                       static_cast<std::uint32_t>(std::max<std::int64_t>(submission.retry_after.count(), 1))});
      client.open[header.request] = {header, submission.id, std::move(submission.reply)};
    } catch (const Error& error) {
      refuse(refusal_of(error));
    } catch (const std::bad_alloc&) {
      refuse({ErrorCode::memory, "the server's memory ran out", "", "try again later"});
    }
  }

  /// A request has its result, or its error.
  void answer(std::uint64_t number, std::uint64_t request) {
    const auto found = clients.find(number);
    if (found == clients.end()) return;
    Client& client = found->second;
    const auto open = client.open.find(request);
    if (open == client.open.end()) return;  // it was cancelled
    OpenRequest ended_request = std::move(open->second);
    client.open.erase(open);
    const Header& asked = ended_request.header;
    if (chroma[client.socket]) return answer_chroma(client, asked, ended_request.reply);
    try {
      photon::Reply reply = ended_request.reply.get();
      const Refusal why = check_count(asked, reply.photons);
      if (why.code != ErrorCode::none) return send(client, asked, refusal(asked, why));
      // It is simulated again for a client that reads what it has.
      if (*client.held > options.max_unread)
        return send(client, asked,
                    refusal(asked, {ErrorCode::busy, "the client has results that it has not read", "",
                                    "read results before more requests", kRetry}));
      send(client, asked, result(client, asked, std::move(reply)));
    } catch (const Error& error) {
      send(client, asked, refusal(asked, refusal_of(error)));
    } catch (const std::bad_alloc&) {
      send(client, asked,
           refusal(asked, {ErrorCode::memory, "the server has no memory for the result", "", "try again later"}));
    }
  }

  /// Answers ZeroMQ's question whether a TCP client with this key may connect (ZAP, RFC 27).
  void open_gate() {
    Frames frames(1);
    if (!gate.recv(frames.back(), zmq::recv_flags::dontwait)) return;
    while (frames.back().more()) {
      frames.emplace_back();
      (void)gate.recv(frames.back());
    }
    bool may = false;
    if (frames.size() == 7 && frames[5].to_string() == "CURVE" && frames[6].size() == 32) {
      char text[41];
      may = zmq_z85_encode(text, static_cast<const std::uint8_t*>(frames[6].data()), 32) != nullptr &&
            std::ranges::find(options.keys->clients, std::string(text)) != options.keys->clients.end();
    }
    if (!may) ++strangers;
    const std::string request = frames.size() > 1 ? frames[1].to_string() : std::string();
    const std::array<std::string, 6> reply{"1.0", request, may ? "200" : "400", may ? "" : "the key is not known",
                                           "",    ""};
    for (std::size_t i = 0; i != reply.size(); ++i)
      (void)gate.send(message_of(reply[i].data(), reply[i].size()),
                      i + 1 != reply.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }

  // Time.

  void beat() {
    const Clock::time_point now = Clock::now();
    std::vector<std::uint64_t> silent;
    for (auto& [number, client] : clients) {
      flush(client);
      if (client.unread.empty()) client.read = now;
      std::erase_if(client.shared, [&](const auto& result) { return result.second.until < now; });
      const bool waits = chroma[client.socket] && !client.open.empty();  // RAT is silent until its answer comes
      if ((now - client.heard > options.silence && !waits) || now - client.read > options.silence) {
        silent.push_back(number);
      } else if (!client.open.empty() && !waits && now - client.answered > kBeat) {
        client.answered = now;
        if (send_pending(client.socket, client.envelope, &client) == Sent::gone) gone.push_back(number);
      }
    }
    for (const std::uint64_t number : silent) drop(number, true);
    const double seconds = std::chrono::duration<double>(now - sampled).count();
    if (seconds >= 1) {
      const std::uint64_t photons = service.counters().photons;
      rate = static_cast<double>(photons - sampled_photons) / seconds;
      sampled_photons = photons;
      sampled = now;
    }
  }

  [[nodiscard]] Json status() const {
    Json json{{"server", fmt::format("{:016x}", server)},
              {"process", ::getpid()},
              {"protocol", protocol::kVersion},
              {"digest", hex_of(options.digest)},
              {"addresses", addresses},
              {"stopping", stopping},
              {"seconds", std::chrono::duration<double>(Clock::now() - began).count()},
              {"photons_per_second", rate},
              {"refused", refused},
              {"dropped_clients", dropped},
              {"foreign_messages", foreign},
              {"unknown_keys", strangers}};
    json.update(options.about);
    json["total"] = counters_json(service.counters());
    json["clients"] = Json::array();
    for (const auto& [number, client] : clients) {
      Json one{{"client", number},
               {"address", addresses[client.socket]},
               {"silent_seconds", std::chrono::duration<double>(Clock::now() - client.heard).count()},
               {"open_requests", client.open.size()},
               {"unread_bytes", client.held->load()}};
      one.update(counters_json(service.counters(client.id)));
      json["clients"].push_back(std::move(one));
    }
    json["devices"] = Json::array();
    for (const photon::Service::DeviceStatus& device : service.devices())
      json["devices"].push_back({{"device", device.id},
                                 {"failure", device.failure.empty() ? Json() : Json(device.failure)},
                                 {"launches", device.launches},
                                 {"photons", device.photons},
                                 {"kernel_seconds", device.kernel_seconds},
                                 {"free_bytes", device.memory.free_bytes},
                                 {"total_bytes", device.memory.total_bytes}});
    return json;
  }

  void turn() {
    std::vector<zmq::pollitem_t> items;
    for (zmq::socket_t& socket : sockets) items.push_back({socket.handle(), 0, ZMQ_POLLIN, 0});
    items.push_back({nullptr, ended.descriptor(), ZMQ_POLLIN, 0});
    if (gate) items.push_back({gate.handle(), 0, ZMQ_POLLIN, 0});
    const bool waits = !deferred.empty() ||
                       std::ranges::any_of(clients, [](const auto& client) { return !client.second.unread.empty(); });
    try {
      (void)zmq::poll(items, waits ? milliseconds(1) : milliseconds(200));
    } catch (const zmq::error_t& error) {
      if (error.num() != EINTR) throw;  // a signal
    }
    if (gate) open_gate();
    flush_answers();
    for (const auto& [number, request] : ended.take()) answer(number, request);
    // Some of each socket: results are not to wait for a client that never ends.
    constexpr int kAtOnce = 64;
    for (std::size_t i = 0; i != sockets.size(); ++i)
      for (int n = 0; n != kAtOnce && receive(i); ++n) {
      }
    if (waits || Clock::now() - beaten > milliseconds(200)) {
      beaten = Clock::now();
      beat();
    }
    for (const std::uint64_t number : std::exchange(gone, {})) drop(number, false);
  }

  /// Whether each client has all of its results, by its own word: ZeroMQ may lose what it was given shortly before its
  /// sockets close, whatever `linger` is (https://github.com/zeromq/libzmq/issues/4660), and shared memory ends with
  /// this process. Asks the clients; those that don't answer are given up after a while, but not before ZeroMQ has sent
  /// their results.
  [[nodiscard]] bool is_over() {
    const Clock::time_point now = Clock::now();
    bool over = now - answered_chroma > kFlush;
    for (auto& [number, client] : clients) {
      if (!client.open.empty() || !client.unread.empty()) {
        over = false;
      } else if (!chroma[client.socket] && !client.has_all && (now - client.sent < kConfirm || *client.held != 0)) {
        over = false;
        if (now - client.asked > kBeat) {
          client.asked = now;
          Header header;
          header.kind = Kind::ending;
          header.server = server;
          header.max_body = options.max_body;
          Frames frames;
          frames.push_back(message_of(header));
          if (send_now(client.socket, client.envelope, frames) == Sent::gone) gone.push_back(number);
        }
      }
    }
    return over;
  }

  photon::Service& service;
  ServerOptions options;
  Ended ended;
  std::uint64_t server = 0;
  std::deque<SocketFile> files;
  zmq::context_t context;
  zmq::socket_t gate;
  std::vector<zmq::socket_t> sockets;
  std::vector<bool> tcp;
  std::vector<bool> chroma;  // sockets of ChAR0N's messages
  std::uint64_t chroma_requests = 0;
  Clock::time_point answered_chroma;
  std::vector<std::string> addresses;
  std::map<std::uint64_t, Client> clients;
  std::unordered_map<std::string, std::uint64_t> numbers;
  std::uint64_t last_client = 0;
  std::vector<std::uint64_t> gone;
  std::vector<DeferredAnswer> deferred;
  bool stopping = false;
  std::uint64_t refused = 0, dropped = 0, foreign = 0, strangers = 0, sampled_photons = 0;
  double rate = 0;
  Clock::time_point began, sampled, beaten;
};

PhotonServer::PhotonServer(photon::Service& service, ServerOptions options)
    : state_(std::make_unique<State>(service, std::move(options))) {}

PhotonServer::~PhotonServer() {
  // The service's threads may name ended requests until its clients are gone.
  while (!state_->clients.empty()) state_->drop(state_->clients.begin()->first, true);
}

const std::vector<std::string>& PhotonServer::addresses() const {
  return state_->addresses;
}

void PhotonServer::run(const std::function<bool()>& stop) {
  for (;;) {
    if (!state_->stopping && stop()) state_->stopping = true;
    if (state_->stopping && state_->is_over()) return;
    state_->turn();
  }
}

void forward(const std::vector<std::string>& front, const std::vector<std::string>& back,
             const std::function<bool()>& stop) {
  std::deque<SocketFile> files;
  zmq::context_t context;
  zmq::socket_t clients(context, zmq::socket_type::router), servers(context, zmq::socket_type::dealer);
  for (zmq::socket_t* socket : {&clients, &servers}) {
    socket->set(zmq::sockopt::linger, 1000);
    socket->set(zmq::sockopt::heartbeat_ivl, 2000);
    socket->set(zmq::sockopt::heartbeat_timeout, 10'000);
  }
  servers.set(zmq::sockopt::immediate, true);  // nothing waits for a server that is gone
  for (const std::string& address : front) {
    if (!address.starts_with("ipc://"))
      throw Error(ErrorKind::usage, "requests are forwarded from ipc:// alone", {address, ""},
                  "clients of other machines name the servers' addresses themselves, with commas");
    files.emplace_back(address);
    try {
      clients.bind(address);
    } catch (const zmq::error_t& error) {
      refuse_address(address, error.what());
    }
  }
  for (const std::string& address : back) {
    if (!address.starts_with("ipc://"))
      throw Error(ErrorKind::usage, "requests are forwarded to ipc:// alone", {address, ""},
                  "clients name servers of other machines themselves, with commas");
    try {
      servers.connect(address);
    } catch (const zmq::error_t& error) {
      throw Error(ErrorKind::usage, std::string("no address of a server: ") + error.what(), {address, ""});
    }
  }
  zmq::socket_t control(context, zmq::socket_type::pair), hand(context, zmq::socket_type::pair);
  control.bind("inproc://control");
  hand.connect("inproc://control");
  std::jthread watcher([&](const std::stop_token& ended) {
    while (!stop() && !ended.stop_requested()) std::this_thread::sleep_for(milliseconds(50));
    (void)hand.send(zmq::str_buffer("TERMINATE"), zmq::send_flags::dontwait);
  });
  for (;;) {
    try {
      zmq::proxy_steerable(clients, servers, zmq::socket_ref(), control);
      return;
    } catch (const zmq::error_t& error) {
      if (error.num() != EINTR) throw;  // a signal
    }
  }
}

}  // namespace raylift::batch
