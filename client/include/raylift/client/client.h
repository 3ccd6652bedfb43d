// SPDX-License-Identifier: Apache-2.0
// A client of `raylift serve`: gensteps or photons of events in, hits out, from any number of threads. C++17 and
// libzmq.
//
//   raylift::client::Client client;                                 // the user's server on this machine
//   const auto ticket = client.submit(raylift::client::gensteps(steps, event, seed));
//   ...                                                             // the next event
//   const raylift::client::Result result = client.wait(ticket);
//   for (const raylift::client::Row& hit : result.rows()) ...
//
// A thread of the client's own sends and receives. A request whose server ends, is busy or can't be reached is sent
// again; its result has the same bytes, as photons depend on their event's seed and on their numbers alone.
#pragma once

#include <fcntl.h>
#include <raylift/client/protocol.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace raylift::client {

using protocol::ErrorCode;
using protocol::Hit;
using protocol::kAll;
using protocol::Layout;
using protocol::Row;
using Digest = std::array<std::uint8_t, 32>;

/// What a request, or the client, failed with. what() reads: what is wrong, where, what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& problem, const std::string& element = {}, const std::string& advice = {})
      : std::runtime_error((element.empty() ? "" : element + ": ") + problem + (advice.empty() ? "" : "; " + advice)),
        code_(code),
        problem_(problem),
        element_(element),
        advice_(advice) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] const std::string& element() const noexcept { return element_; }
  [[nodiscard]] const std::string& advice() const noexcept { return advice_; }

 private:
  ErrorCode code_;
  std::string problem_, element_, advice_;
};

/// Bytes that don't change, shared by copies.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::shared_ptr<const void> owner, std::size_t size) : owner_(std::move(owner)), size_(size) {}
  /// Takes a vector or string.
  template <class Container>
  static Bytes of(Container values) {
    const std::size_t size = values.size() * sizeof(*values.data());
    const auto kept = std::make_shared<const Container>(std::move(values));
    return {std::shared_ptr<const void>(kept, kept->data()), size};
  }
  /// Aligned for any row.
  static Bytes copy(const void* data, std::size_t size) {
    const std::shared_ptr<void> room(::operator new(size), [](void* kept) { ::operator delete(kept); });
    if (size != 0) std::memcpy(room.get(), data, size);
    return {room, size};
  }
  [[nodiscard]] const void* data() const { return owner_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  std::shared_ptr<const void> owner_;
  std::size_t size_ = 0;
};

/// What is to be simulated.
struct Request {
  protocol::Header::Body body = protocol::Header::Body::gensteps;
  protocol::Header::Encoding encoding = protocol::Header::Encoding::raw;
  Bytes bytes;                    ///< (G, 6, 4) or (N, 4, 4) of float32, a .npy file of these, or the text of a source
  std::uint64_t event = 0;        ///< returned in the result
  std::uint64_t seed = 0;         ///< of the event: with it, photons depend on their numbers in the body alone
  std::uint64_t first = 0;        ///< the number of the first photon
  std::uint64_t photons = kAll;   ///< how many; a source needs it
  std::uint64_t expected = kAll;  ///< photons of the whole body, where it is known: another number is an error
  std::uint32_t max_steps = 0;    ///< after which a photon is truncated; 0: 10,000
  float max_time = 0;             ///< ns, after which a photon is truncated; 0: none
  Layout layout = Layout::rows;
  protocol::Header::Encoding wanted_encoding = protocol::Header::Encoding::raw;
  bool finals = false;       ///< Result::finals is wanted
  bool sequences = false;    ///< Result::sequences is wanted
  bool records = false;      ///< Result::records is wanted
  std::size_t spectrum = 0;  ///< points of a source's spectrum: source() sets it
};

/// Gensteps of an event: a vector of elements of 96 bytes, such as Genstep of <raylift/client/gensteps.h>.
template <class Step>
[[nodiscard]] Request gensteps(std::vector<Step> steps, std::uint64_t event, std::uint64_t seed) {
  static_assert(sizeof(Step) == protocol::kGenstepBytes, "a genstep has 6 rows of 4 words");
  Request request;
  request.bytes = Bytes::of(std::move(steps));
  request.event = event;
  request.seed = seed;
  return request;
}
/// The same from `count` of them, which are copied.
[[nodiscard]] inline Request gensteps(const void* steps, std::size_t count, std::uint64_t event, std::uint64_t seed) {
  Request request;
  request.bytes = Bytes::copy(steps, count * protocol::kGenstepBytes);
  request.event = event;
  request.seed = seed;
  return request;
}
/// Photons of an event, elements of 64 bytes: primaries that are optical photons, such as Photon of
/// <raylift/client/gensteps.h>.
template <class Photon>
[[nodiscard]] Request photons(std::vector<Photon> start, std::uint64_t event, std::uint64_t seed) {
  static_assert(sizeof(Photon) == protocol::kPhotonBytes, "a photon has 4 rows of 4 words");
  Request request;
  request.body = protocol::Header::Body::photons;
  request.bytes = Bytes::of(std::move(start));
  request.event = event;
  request.seed = seed;
  return request;
}
/// Photons of a source's text, docs/photons.md, which may name no files: those would be the server's. `spectrum`, with
/// up to protocol::kMaxSpectrum points, is that of the wavelengths, in place of the text's.
[[nodiscard]] inline Request source(std::string text, std::uint64_t count, std::uint64_t event, std::uint64_t seed,
                                    const std::vector<protocol::SpectrumPoint>& spectrum = {}) {
  Request request;
  request.spectrum = spectrum.size();
  if (!spectrum.empty()) {
    text += '\0';
    text.append(reinterpret_cast<const char*>(spectrum.data()), spectrum.size() * sizeof spectrum[0]);
  }
  request.body = protocol::Header::Body::source;
  request.bytes = Bytes::of(std::move(text));
  request.photons = count;
  request.event = event;
  request.seed = seed;
  return request;
}

/// The number of a request within its client.
using Ticket = std::uint64_t;

struct Result {
  /// Elements that lie one behind the other.
  template <class T>
  class View {
   public:
    View(const T* data, std::size_t size) : data_(data), size_(size) {}
    [[nodiscard]] const T* begin() const { return data_; }
    [[nodiscard]] const T* end() const { return data_ + size_; }
    [[nodiscard]] const T* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    const T& operator[](std::size_t i) const { return data_[i]; }

   private:
    const T* data_;
    std::size_t size_;
  };

  Ticket ticket = 0;
  std::uint64_t event = 0;
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::uint64_t photons = 0;  ///< that were simulated
  Layout layout = Layout::none;
  std::uint64_t hits = 0;  ///< how many
  Bytes bytes;             ///< of the hits, by number of photon; a .npy file where that was wanted
  protocol::Counts counts;
  Bytes finals;                        ///< all photons at their ends, Row, by number; where they were wanted
  Bytes sequences;                     ///< their histories, 32 bytes each; likewise
  Bytes records;                       ///< their steps, 32 of Row for each photon; likewise
  std::shared_ptr<const Error> error;  ///< of Client::next(): why there is no result

  /// The hits of Layout::rows; empty of another layout or encoding.
  [[nodiscard]] View<Row> rows() const { return as<Row>(Layout::rows); }
  /// The hits of Layout::compact; likewise.
  [[nodiscard]] View<Hit> compact() const { return as<Hit>(Layout::compact); }

 private:
  template <class T>
  [[nodiscard]] View<T> as(Layout wanted) const {
    const bool is = layout == wanted && bytes.size() == hits * sizeof(T);
    return {is ? static_cast<const T*>(bytes.data()) : nullptr, is ? static_cast<std::size_t>(hits) : 0};
  }
};

/// The folder of the user's servers: $XDG_RUNTIME_DIR/raylift, else /tmp/raylift-UID.
[[nodiscard]] inline std::string runtime_folder() {
  const char* set = std::getenv("XDG_RUNTIME_DIR");
  if (set != nullptr && *set == '/') return std::string(set) + "/raylift";
  return "/tmp/raylift-" + std::to_string(::geteuid());
}
/// The default address of `raylift serve`.
[[nodiscard]] inline std::string usual_address() {
  return "ipc://" + runtime_folder() + "/serve.sock";
}

struct Options {
  /// Keys for tcp://, in ZeroMQ's Z85 of 40 characters.
  struct Keys {
    std::string server;  ///< the server's public key
    std::string own_public, own_secret;
  };

  /// The addresses of servers of the same geometry, which get requests by turns; empty: usual_address().
  std::vector<std::string> addresses;
  std::optional<Keys> keys;                       ///< for tcp://
  Digest digest{};                                ///< the geometry's, by `raylift serve --digest`; all 0: any geometry
  bool shared_memory = true;                      ///< large bodies in shared memory, where all addresses are ipc://
  std::size_t share_from = std::size_t{1} << 18;  ///< bytes
  std::size_t max_pending = 4096;                 ///< requests without a result; submit() waits for room
  std::chrono::milliseconds alive{1000};          ///< between heartbeats
  std::chrono::milliseconds silence{5000};        ///< after which a request that no server speaks of is sent again
  std::chrono::milliseconds patience{60000};      ///< without any server; then requests fail as unreachable
};

/// Reads a client's file of `raylift serve --keygen`. Throws Error(usage).
[[nodiscard]] inline Options::Keys read_keys(const std::string& path);

/// A connection to one or more servers. All functions may be called from any thread. A process that forks must make its
/// own after that.
class Client {
 public:
  /// Returns before there is a connection. Throws Error(usage): an address, a folder of others, keys.
  explicit Client(Options options = {});
  /// Takes back what has no result yet.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Sends it, now or once a server can be reached; waits while max_pending requests have no result. Throws
  /// Error(usage) for a body that is no whole number of rows.
  Ticket submit(Request request);
  /// Whether wait() would return at once.
  [[nodiscard]] bool ready(Ticket ticket) const;
  /// The result, once; nothing before it has come. Throws what the request failed with; Error(usage) for an unknown
  /// ticket, or one whose result has been taken.
  [[nodiscard]] std::optional<Result> poll(Ticket ticket);
  /// Waits for the result. Throws as poll(), and Error(timeout), after which the request is still pending.
  [[nodiscard]] Result wait(Ticket ticket, std::chrono::milliseconds timeout = std::chrono::milliseconds::max());
  /// Any result that has come, the earliest first; Result::error says where there is none. Nothing after the time, or
  /// where there are no requests.
  [[nodiscard]] std::optional<Result> next(std::chrono::milliseconds timeout = std::chrono::milliseconds::max());
  /// Takes a request back; its ticket is unknown then.
  void cancel(Ticket ticket);
  /// Requests without a result.
  [[nodiscard]] std::size_t pending() const;

  /// What the server says of itself, and of its clients: JSON, docs/service.md. Throws Error(timeout), and
  /// Error(digest) where the geometry is another.
  [[nodiscard]] std::string welcome(std::chrono::milliseconds timeout = std::chrono::seconds(10));
  [[nodiscard]] std::string status(std::chrono::milliseconds timeout = std::chrono::seconds(10));

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { queued, sent, done };
  struct Entry {
    protocol::Header header;
    Bytes bytes;
    protocol::SharedMemory shared;  // where header.place says so
    std::shared_ptr<void> memory;
    State state = State::queued;
    Clock::time_point since;  // it was sent or heard of; queued: when it is to be sent
    Clock::time_point heard;  // of any server, or submitted
    bool is_question = false;
    Result result;
    std::string text;  // a question's answer
  };
  class Message;

  Ticket add(Entry entry);
  [[nodiscard]] std::string ask(protocol::Header::Kind kind, std::chrono::milliseconds timeout);
  void open();
  void wake() const;
  void work();
  [[nodiscard]] bool is_connecting(Clock::time_point now) const;
  bool send_queued(Clock::time_point now);
  bool send(const Entry& entry);
  bool send_header(const protocol::Header& header);
  void send_to_all(const protocol::Header& header);
  bool receive();
  [[nodiscard]] bool has_lost_connection();
  void take(std::vector<Message>& frames);
  [[nodiscard]] static Bytes bytes_of(Message message);
  void take_result(Entry& entry, const protocol::Header& header, std::vector<Message>& frames, std::size_t body);
  void take_error(Entry& entry, const protocol::Header& header, const Message* text);
  void finish(Entry& entry, std::shared_ptr<const Error> error);
  void queue(Ticket ticket, Entry& entry, Clock::time_point when);
  void beat(Clock::time_point now);
  [[nodiscard]] Result take_out(std::map<Ticket, Entry>::iterator entry);

  Options options_;
  bool shares_ = false;
  void* context_ = nullptr;
  void* socket_ = nullptr;
  void* monitor_ = nullptr;  // its events are lost connections; null with several addresses
  int wake_ = -1;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Ticket, Entry> entries_;
  std::set<std::pair<Clock::time_point, Ticket>> queued_;  // when each is to be sent
  std::deque<Ticket> finished_;
  std::deque<Ticket> cancelled_;
  std::size_t open_ = 0;  // entries without a result
  Ticket last_ = 0;
  bool stop_ = false;
  std::map<std::uint64_t, Clock::time_point> servers_;  // and when they were heard last
  std::uint64_t max_body_ = 0;                          // of a server; 0: none was heard
  Clock::time_point heard_, beaten_, opened_, resumes_;
  std::thread thread_;
};

}  // namespace raylift::client

#include <raylift/client/detail/client_impl.h>
