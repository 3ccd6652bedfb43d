// SPDX-License-Identifier: Apache-2.0
// The functions of <raylift/client/client.h>.
#pragma once

#include <raylift/client/client.h>
#include <raylift/client/detail/shared_memory.h>

namespace raylift::client {

namespace detail {

/// The folder of a socket must be the user's alone: any other user could be the server there.
inline void check_folder_of(const std::string& address) {
  const std::string path = address.substr(std::strlen("ipc://"));
  if (path.empty() || path[0] != '/')
    throw Error(ErrorCode::usage, "an address of ipc:// needs an absolute path", address);
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  struct stat status {};
  if (::lstat(folder.substr(0, folder.size() - 1).c_str(), &status) != 0) {
    if (errno == ENOENT) return;  // there is no server yet, and it makes the folder
    throw Error(ErrorCode::usage, std::strerror(errno), folder);
  }
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw Error(ErrorCode::usage, "others than this user can reach the folder of the server's socket", folder,
                "give it to the user, with mode 0700");
}

/// "unreachable: no server answered": with the names that the protocol has.
inline std::shared_ptr<const Error> error_of(ErrorCode code, const std::string& problem,
                                             const std::string& element = {}, const std::string& advice = {}) {
  return std::make_shared<const Error>(code, problem, element, advice);
}

}  // namespace detail

inline Options::Keys read_keys(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::usage, "the file of keys can't be read", path);
  Options::Keys keys;
  std::string name, is, value;
  while (file >> name >> is >> value) {
    if (is != "=") break;
    if (name == "server") keys.server = value;
    if (name == "public") keys.own_public = value;
    if (name == "secret") keys.own_secret = value;
  }
  for (const std::string* key : {&keys.server, &keys.own_public, &keys.own_secret})
    if (key->size() != 40)
      throw Error(ErrorCode::usage,
                  "it has no keys of a client: 'server', 'public' and 'secret', of 40 characters each", path,
                  "make it by 'raylift serve --keygen FOLDER', which writes client.key");
  return keys;
}

/// A frame that was received.
class Client::Message {
 public:
  Message() { zmq_msg_init(&message_); }
  ~Message() { zmq_msg_close(&message_); }
  Message(Message&& other) noexcept {
    zmq_msg_init(&message_);
    zmq_msg_move(&message_, &other.message_);
  }
  Message& operator=(Message&&) = delete;
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  bool receive(void* socket) { return zmq_msg_recv(&message_, socket, ZMQ_DONTWAIT) >= 0; }
  [[nodiscard]] bool has_more() { return zmq_msg_more(&message_) != 0; }
  [[nodiscard]] const void* data() const { return zmq_msg_data(const_cast<zmq_msg_t*>(&message_)); }
  [[nodiscard]] std::size_t size() const { return zmq_msg_size(&message_); }

 private:
  zmq_msg_t message_;
};

inline Client::Client(Options options) : options_(std::move(options)) {
  if (options_.addresses.empty()) options_.addresses.push_back(usual_address());
  shares_ = options_.shared_memory;
  for (const std::string& address : options_.addresses) {
    if (address.compare(0, 6, "ipc://") == 0) {
      detail::check_folder_of(address);
    } else if (address.compare(0, 6, "tcp://") == 0) {
      shares_ = false;
      if (!options_.keys)
        throw Error(ErrorCode::usage, "an address of tcp:// needs keys", address,
                    "make them by 'raylift serve --keygen FOLDER'");
    } else {
      throw Error(ErrorCode::usage, "an address begins with ipc:// or tcp://", address);
    }
  }
  heard_ = beaten_ = opened_ = Clock::now();
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  context_ = wake_ < 0 ? nullptr : zmq_ctx_new();
  try {
    if (context_ == nullptr) throw Error(ErrorCode::usage, std::strerror(errno), "a client of raylift");
    open();
    thread_ = std::thread([this] { work(); });
  } catch (...) {
    if (monitor_ != nullptr) zmq_close(monitor_);
    if (socket_ != nullptr) zmq_close(socket_);
    if (context_ != nullptr) zmq_ctx_term(context_);
    if (wake_ >= 0) ::close(wake_);
    throw;
  }
}

inline Client::~Client() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake();
  thread_.join();
  if (monitor_ != nullptr) zmq_close(monitor_);
  zmq_close(socket_);
  zmq_ctx_term(context_);
  ::close(wake_);
}

inline void Client::open() {
  socket_ = zmq_socket(context_, ZMQ_DEALER);
  if (socket_ == nullptr) throw Error(ErrorCode::usage, zmq_strerror(zmq_errno()), "a socket");
  const auto set = [this](int option, int value) { (void)zmq_setsockopt(socket_, option, &value, sizeof value); };
  set(ZMQ_LINGER, 200);   // ms, for what takes requests back
  set(ZMQ_IMMEDIATE, 1);  // what can't be sent yet stays here
  set(ZMQ_RECONNECT_IVL, 20);
  set(ZMQ_RECONNECT_IVL_MAX, 1000);
  set(ZMQ_HEARTBEAT_IVL, 2000);
  set(ZMQ_HEARTBEAT_TIMEOUT, 10000);
  if (options_.keys) {
    const Options::Keys& keys = *options_.keys;
    if (zmq_setsockopt(socket_, ZMQ_CURVE_SERVERKEY, keys.server.c_str(), 41) != 0 ||
        zmq_setsockopt(socket_, ZMQ_CURVE_PUBLICKEY, keys.own_public.c_str(), 41) != 0 ||
        zmq_setsockopt(socket_, ZMQ_CURVE_SECRETKEY, keys.own_secret.c_str(), 41) != 0)
      throw Error(ErrorCode::usage, "the keys are not valid, or this libzmq has no CURVE", "keys");
  }
  // What was sent over a lost connection has no answer. Of several addresses it is not known which one had it.
  constexpr const char* kMonitor = "inproc://monitor";
  if (options_.addresses.size() == 1 && zmq_socket_monitor(socket_, kMonitor, ZMQ_EVENT_DISCONNECTED) == 0) {
    monitor_ = zmq_socket(context_, ZMQ_PAIR);
    if (monitor_ == nullptr || zmq_connect(monitor_, kMonitor) != 0)
      throw Error(ErrorCode::usage, zmq_strerror(zmq_errno()), "a socket");
  }
  for (const std::string& address : options_.addresses)
    if (zmq_connect(socket_, address.c_str()) != 0)
      throw Error(ErrorCode::usage, zmq_strerror(zmq_errno()), address, "such as ipc:///PATH or tcp://HOST:PORT");
}

inline void Client::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

inline Ticket Client::submit(Request request) {
  using Body = protocol::Header::Body;
  using Encoding = protocol::Header::Encoding;
  const std::size_t row = protocol::row_bytes(request.body);
  const bool has_rows = row != 0 && request.encoding == Encoding::raw;
  if (request.body == Body::none || request.body == Body::hits)
    throw Error(ErrorCode::usage, "a request has gensteps, photons or a source");
  if (has_rows && request.bytes.size() % row != 0)
    throw Error(ErrorCode::usage,
                std::to_string(request.bytes.size()) + " bytes are no whole number of rows of " + std::to_string(row));
  Entry entry;
  protocol::Header& header = entry.header;
  header.kind = protocol::Header::Kind::simulate;
  std::copy(options_.digest.begin(), options_.digest.end(), header.digest);
  header.event = request.event;
  header.seed = request.seed;
  header.first = request.first;
  header.photons = request.photons;
  header.expected = request.expected;
  header.rows = has_rows ? request.bytes.size() / row : request.spectrum;
  header.bytes = request.bytes.size();
  header.max_steps = request.max_steps;
  header.max_time = request.max_time;
  header.body = request.body;
  header.encoding = request.encoding;
  header.layout = request.layout;
  header.wanted_encoding = request.wanted_encoding;
  if (request.finals) header.flags |= protocol::kWantsFinals;
  if (request.sequences) header.flags |= protocol::kWantsSequences;
  if (request.records) header.flags |= protocol::kWantsRecords;
  entry.bytes = std::move(request.bytes);
  if (shares_) {
    header.flags |= protocol::kMayShare;
    if (entry.bytes.size() >= options_.share_from) {
      // Where there is none left, the body goes through the socket.
      if (auto shared = SharedBody::of(entry.bytes.data(), entry.bytes.size())) {
        header.place = protocol::Header::Carrier::shared;
        entry.shared = shared->where();
        entry.bytes = Bytes(shared->mapped(), entry.bytes.size());
        entry.memory = std::move(shared);
      }
    }
  }
  return add(std::move(entry));
}

inline Ticket Client::add(Entry entry) {
  Ticket ticket = 0;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!entry.is_question) changed_.wait(lock, [this] { return open_ < options_.max_pending; });
    ticket = ++last_;
    entry.header.request = ticket;
    entry.heard = Clock::now();
    entry.result.ticket = ticket;
    queue(ticket, entries_.emplace(ticket, std::move(entry)).first->second, Clock::now());
    ++open_;
  }
  wake();
  return ticket;
}

inline bool Client::ready(Ticket ticket) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(ticket);
  return found == entries_.end() || found->second.state == State::done;
}

inline Result Client::take_out(std::map<Ticket, Entry>::iterator entry) {
  Result result = std::move(entry->second.result);
  const auto finished = std::find(finished_.begin(), finished_.end(), entry->first);
  if (finished != finished_.end()) finished_.erase(finished);
  queued_.erase({entry->second.since, entry->first});
  entries_.erase(entry);
  return result;
}

inline std::optional<Result> Client::poll(Ticket ticket) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto found = entries_.find(ticket);
  if (found == entries_.end())
    throw Error(ErrorCode::usage, "there is no request of this ticket, or its result was taken");
  if (found->second.state != State::done) return std::nullopt;
  Result result = take_out(found);
  lock.unlock();
  if (result.error) throw Error(*result.error);
  return result;
}

inline Result Client::wait(Ticket ticket, std::chrono::milliseconds timeout) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto is_over = [&] {
      const auto found = entries_.find(ticket);
      return found == entries_.end() || found->second.state == State::done;
    };
    if (timeout == std::chrono::milliseconds::max())
      changed_.wait(lock, is_over);
    else if (!changed_.wait_for(lock, timeout, is_over))
      throw Error(ErrorCode::timeout, "no result came in time", "request " + std::to_string(ticket),
                  "wait longer, or cancel it");
  }
  return std::move(*poll(ticket));
}

inline std::optional<Result> Client::next(std::chrono::milliseconds timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto is_over = [this] { return !finished_.empty() || open_ == 0; };
  if (timeout == std::chrono::milliseconds::max())
    changed_.wait(lock, is_over);
  else
    (void)changed_.wait_for(lock, timeout, is_over);
  if (finished_.empty()) return std::nullopt;
  return take_out(entries_.find(finished_.front()));
}

inline void Client::cancel(Ticket ticket) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(ticket);
    if (found == entries_.end()) return;
    if (found->second.state != State::done) {
      --open_;
      if (found->second.state == State::sent) cancelled_.push_back(ticket);
    }
    (void)take_out(found);
  }
  changed_.notify_all();
  wake();
}

inline std::size_t Client::pending() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return open_;
}

inline std::string Client::ask(protocol::Header::Kind kind, std::chrono::milliseconds timeout) {
  Entry entry;
  entry.header.kind = kind;
  entry.is_question = true;
  std::copy(options_.digest.begin(), options_.digest.end(), entry.header.digest);
  const Ticket ticket = add(std::move(entry));
  std::unique_lock<std::mutex> lock(mutex_);
  const auto found = entries_.find(ticket);
  const bool answered = changed_.wait_for(lock, timeout, [&] { return found->second.state == State::done; });
  if (!answered) --open_;
  std::string text = std::move(found->second.text);
  const Result result = take_out(found);
  lock.unlock();
  changed_.notify_all();
  if (!answered)
    throw Error(ErrorCode::timeout, "no server answers", options_.addresses.front(),
                "start one by 'raylift serve SCENE', or name its address");
  if (result.error) throw Error(*result.error);
  return text;
}
inline std::string Client::welcome(std::chrono::milliseconds timeout) {
  return ask(protocol::Header::Kind::hello, timeout);
}
inline std::string Client::status(std::chrono::milliseconds timeout) {
  return ask(protocol::Header::Kind::status, timeout);
}

// What follows runs on the client's own thread, most of it with the lock.

inline void Client::work() {
  bool blocked = false;  // there is something to send, and no server that takes it
  for (;;) {
    auto tick = std::min(options_.alive / 4, std::chrono::milliseconds(100));
    if (!blocked) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!queued_.empty() && !is_connecting(Clock::now()))
        tick = std::min(tick, std::chrono::ceil<std::chrono::milliseconds>(queued_.begin()->first - Clock::now()));
    }
    zmq_pollitem_t items[3] = {{socket_, 0, static_cast<short>(blocked ? ZMQ_POLLIN | ZMQ_POLLOUT : ZMQ_POLLIN), 0},
                               {nullptr, wake_, ZMQ_POLLIN, 0},
                               {monitor_, 0, ZMQ_POLLIN, 0}};
    (void)zmq_poll(items, monitor_ != nullptr ? 3 : 2, std::max<long>(static_cast<long>(tick.count()), 0));
    std::uint64_t ignored = 0;
    (void)!::read(wake_, &ignored, sizeof ignored);
    const std::lock_guard<std::mutex> lock(mutex_);
    while (receive()) {
    }
    const Clock::time_point now = Clock::now();
    if (has_lost_connection()) {
      resumes_ = now + std::chrono::milliseconds(50);
      for (auto& [ticket, entry] : entries_)
        if (entry.state == State::sent) queue(ticket, entry, resumes_);
    }
    for (const Ticket ticket : cancelled_) {
      protocol::Header header;
      header.kind = protocol::Header::Kind::cancel;
      header.request = ticket;
      send_to_all(header);
    }
    cancelled_.clear();
    if (stop_) {
      for (const auto& [ticket, entry] : entries_) {
        if (entry.state != State::sent || entry.is_question) continue;
        protocol::Header header;
        header.kind = protocol::Header::Kind::cancel;
        header.request = ticket;
        send_to_all(header);
      }
      return;
    }
    beat(now);
    blocked = !send_queued(now);
  }
}

inline void Client::beat(Clock::time_point now) {
  if (now - beaten_ < options_.alive) return;
  beaten_ = now;
  for (auto server = servers_.begin(); server != servers_.end();)
    server = now - server->second > 2 * options_.silence ? servers_.erase(server) : std::next(server);
  protocol::Header header;
  header.kind = protocol::Header::Kind::alive;
  send_to_all(header);
  for (auto& [ticket, entry] : entries_) {
    if (entry.state == State::done) continue;
    // A large body may be on its way for long.
    const auto allowed = options_.silence +
                         std::chrono::milliseconds(
                             entry.header.place == protocol::Header::Carrier::frame ? entry.header.bytes / 10'000 : 0);
    if (entry.state == State::sent && now - entry.since > allowed) queue(ticket, entry, now);
    if (now - std::max(entry.heard, heard_) > options_.patience && !entry.is_question)
      finish(entry, detail::error_of(ErrorCode::unreachable, "no server answered", options_.addresses.front(),
                                     "start one by 'raylift serve SCENE'; see 'raylift serve --status'"));
  }
}

inline void Client::queue(Ticket ticket, Entry& entry, Clock::time_point when) {
  entry.state = State::queued;
  entry.since = when;
  queued_.emplace(when, ticket);
}

/// To several servers, whose connections come one after another; or again: shortly after the event, ZeroMQ still
/// accepts messages for the connection that was lost.
inline bool Client::is_connecting(Clock::time_point now) const {
  if (now < resumes_) return true;
  return options_.addresses.size() > 1 && now - opened_ < std::chrono::milliseconds(200);
}

/// Sends the requests that are due. False: the socket would block.
inline bool Client::send_queued(Clock::time_point now) {
  // Requests wait until all servers had time to connect: the first one would get all of them.
  if (is_connecting(now)) return true;
  while (!queued_.empty() && queued_.begin()->first <= now) {
    Entry& entry = entries_.find(queued_.begin()->second)->second;
    // A server's ZeroMQ closes the connection on a frame that is too large, so its limit is asked for first.
    if (entry.header.place == protocol::Header::Carrier::frame && entry.header.bytes > protocol::kAlwaysRead) {
      if (max_body_ == 0) {
        protocol::Header header;
        header.kind = protocol::Header::Kind::alive;
        if (!send_header(header)) return false;
        const Ticket ticket = queued_.begin()->second;
        queued_.erase(queued_.begin());
        queue(ticket, entry, now + std::chrono::milliseconds(20));
        continue;
      }
      if (entry.header.bytes > max_body_) {
        finish(entry, detail::error_of(ErrorCode::limit,
                                       "the body has " + std::to_string(entry.header.bytes) +
                                           " bytes, and the server accepts at most " + std::to_string(max_body_),
                                       "body", "divide the event, or raise --max-body of the server"));
        continue;
      }
    }
    if (!send(entry)) return false;
    queued_.erase(queued_.begin());
    entry.state = State::sent;
    entry.since = now;
  }
  return true;
}

inline bool Client::send_header(const protocol::Header& header) {
  // No frame can fail but the first: ZeroMQ takes messages as a whole.
  if (zmq_send(socket_, "", 0, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) return false;
  return zmq_send(socket_, &header, sizeof header,
                  header.body == protocol::Header::Body::none ? ZMQ_DONTWAIT : ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0;
}

/// To each server that is known: a DEALER takes them by turns. Where one gets it twice and another not at all, the
/// times of both ends are long enough for the next beat.
inline void Client::send_to_all(const protocol::Header& header) {
  for (std::size_t i = 0; i != std::max<std::size_t>(servers_.size(), 1); ++i) (void)send_header(header);
}

inline bool Client::send(const Entry& entry) {
  if (!send_header(entry.header)) return false;
  if (entry.header.body == protocol::Header::Body::none) return true;
  if (entry.header.place == protocol::Header::Carrier::shared)
    return zmq_send(socket_, &entry.shared, sizeof entry.shared, ZMQ_DONTWAIT) >= 0;
  zmq_msg_t message;
  auto* owner = new std::shared_ptr<const void>(entry.bytes.owner());
  const auto release = [](void*, void* hint) { delete static_cast<std::shared_ptr<const void>*>(hint); };
  if (zmq_msg_init_data(&message, const_cast<void*>(entry.bytes.data()), entry.bytes.size(), release, owner) != 0) {
    delete owner;
    return false;
  }
  if (zmq_msg_send(&message, socket_, ZMQ_DONTWAIT) >= 0) return true;
  zmq_msg_close(&message);
  return false;
}

inline bool Client::receive() {
  std::vector<Message> frames(1);
  if (!frames.back().receive(socket_)) return false;
  while (frames.back().has_more()) {
    frames.emplace_back();
    if (!frames.back().receive(socket_)) return false;
  }
  take(frames);
  return true;
}

inline bool Client::has_lost_connection() {
  bool has = false;
  if (monitor_ == nullptr) return has;
  for (Message frame; frame.receive(monitor_);) has = true;  // that event alone is asked for
  return has;
}

inline void Client::take(std::vector<Message>& frames) {
  using Kind = protocol::Header::Kind;
  const auto empty = std::find_if(frames.begin(), frames.end(), [](const Message& frame) { return frame.size() == 0; });
  const auto at = static_cast<std::size_t>(empty - frames.begin()) + 1;
  protocol::Header header;
  if (at >= frames.size() || !protocol::read_header(frames[at].data(), frames[at].size(), header)) return;
  const Clock::time_point now = Clock::now();
  heard_ = now;
  const Message* body = at + 1 < frames.size() ? &frames[at + 1] : nullptr;
  if (header.version == protocol::kVersion) {
    servers_[header.server] = now;
    max_body_ = header.max_body;
  }
  if (header.kind == Kind::pending && body != nullptr) {
    for (std::size_t i = 0; i + sizeof(Ticket) <= body->size(); i += sizeof(Ticket)) {
      Ticket ticket = 0;
      std::memcpy(&ticket, static_cast<const char*>(body->data()) + i, sizeof ticket);
      const auto found = entries_.find(ticket);
      if (found != entries_.end() && found->second.state == State::sent)
        found->second.since = found->second.heard = now;
    }
    return;
  }
  if (header.kind == Kind::ending) {
    protocol::Header received;
    received.kind = Kind::received;
    received.server = header.server;
    return send_to_all(received);
  }
  const auto found = entries_.find(header.request);
  const bool is_open = found != entries_.end() && found->second.state != State::done;
  if (header.kind == Kind::result && header.place == protocol::Header::Carrier::shared && !is_open) {
    protocol::Header unwanted;
    unwanted.kind = Kind::taken;
    unwanted.request = header.request;
    send_to_all(unwanted);
  }
  if (!is_open) return;  // it was cancelled, or two servers had it
  Entry& entry = found->second;
  entry.heard = now;
  if (header.version != protocol::kVersion)
    return finish(
        entry, detail::error_of(ErrorCode::version,
                                "the server speaks version " + std::to_string(header.version) +
                                    " of the protocol, and this client version " + std::to_string(protocol::kVersion),
                                {}, "use the same version of raylift on both sides"));
  if (header.kind == Kind::error) return take_error(entry, header, body);
  if (header.kind == Kind::welcome || header.kind == Kind::state) {
    if (body != nullptr) entry.text.assign(static_cast<const char*>(body->data()), body->size());
    return finish(entry, nullptr);
  }
  if (header.kind == Kind::result) take_result(entry, header, frames, at + 1);
}

inline void Client::take_error(Entry& entry, const protocol::Header& header, const Message* text) {
  const auto again = [&] {
    queue(header.request, entry, Clock::now() + std::chrono::milliseconds(header.retry_after));
  };
  switch (header.error) {
    case ErrorCode::shared_memory:
      if (entry.memory == nullptr) break;
      entry.memory = nullptr;
      // The other end is in another container, or another user's.
      shares_ = false;
      for (auto& [ticket, other] : entries_) {
        other.header.place = protocol::Header::Carrier::frame;
        other.header.flags &= static_cast<std::uint8_t>(~protocol::kMayShare);
      }
      return again();
    case ErrorCode::busy:
    case ErrorCode::dropped:
    case ErrorCode::stopping:
      return again();
    default:
      break;
  }
  std::string parts[3];
  if (text != nullptr) {
    const char* begin = static_cast<const char*>(text->data());
    const char* const end = begin + text->size();
    for (std::string& part : parts) {
      const char* stop = std::find(begin, end, '\0');
      part.assign(begin, stop);
      begin = stop == end ? end : stop + 1;
    }
  }
  finish(entry, detail::error_of(header.error, parts[0], parts[1], parts[2]));
}

/// The bytes of a message, which are copied only where they are not aligned for rows: a small message lies anywhere in
/// what ZeroMQ has read at once.
inline Bytes Client::bytes_of(Message message) {
  if (reinterpret_cast<std::uintptr_t>(message.data()) % alignof(std::uint64_t) != 0)
    return Bytes::copy(message.data(), message.size());
  const auto kept = std::make_shared<const Message>(std::move(message));
  return {std::shared_ptr<const void>(kept, kept->data()), kept->size()};
}

inline void Client::take_result(Entry& entry, const protocol::Header& header, std::vector<Message>& frames,
                                std::size_t body) {
  const auto broken = [&](const char* what) {
    finish(entry, detail::error_of(ErrorCode::malformed, std::string("the server's answer is broken: ") + what));
  };
  if (frames.size() != body + 2 || frames[body].size() != sizeof(protocol::Counts)) return broken("frames are missing");
  Result& result = entry.result;
  std::memcpy(&result.counts, frames[body].data(), sizeof result.counts);
  Message& last = frames[body + 1];
  Bytes bytes;
  if (header.place == protocol::Header::Carrier::shared) {
    protocol::SharedMemory shared;
    if (last.size() != sizeof shared) return broken("the shared memory is not described");
    std::memcpy(&shared, last.data(), sizeof shared);
    std::string why;
    const std::shared_ptr<const void> mapped = shared.bytes == header.bytes ? SharedBody::open(shared, why) : nullptr;
    protocol::Header taken;
    taken.kind = protocol::Header::Kind::taken;
    taken.request = header.request;
    send_to_all(taken);
    if (mapped == nullptr) {
      // It was given up meanwhile, or the server is in another container.
      entry.header.flags &= static_cast<std::uint8_t>(~protocol::kMayShare);
      return queue(header.request, entry, Clock::now());
    }
    bytes = Bytes(mapped, static_cast<std::size_t>(header.bytes));
  } else {
    bytes = bytes_of(std::move(last));
  }
  if (bytes.size() != header.bytes) return broken("its size is not that of its header");
  const bool is_npy = header.encoding == protocol::Header::Encoding::npy;
  const std::uint64_t finals = (entry.header.flags & protocol::kWantsFinals) != 0 ? protocol::kPhotonBytes : 0;
  const std::uint64_t sequences = (entry.header.flags & protocol::kWantsSequences) != 0 ? protocol::kSequenceBytes : 0;
  const std::uint64_t records = (entry.header.flags & protocol::kWantsRecords) != 0 ? protocol::kRecordBytes : 0;
  const std::size_t hit = protocol::hit_bytes(header.layout);
  constexpr std::uint64_t kMax = std::uint64_t{1} << 48;  // rows: products stay numbers
  if (header.layout != entry.header.layout || header.rows > kMax || header.photons > kMax ||
      (!is_npy && bytes.size() != header.rows * hit + header.photons * (finals + sequences + records)))
    return broken("its rows are not those of its header");
  result.event = header.event;
  result.seed = header.seed;
  result.first = header.first;
  result.photons = header.photons;
  result.layout = header.layout;
  result.hits = header.rows;
  const auto part = [&bytes](std::size_t from, std::size_t size) {
    return Bytes(std::shared_ptr<const void>(bytes.owner(), static_cast<const char*>(bytes.data()) + from), size);
  };
  const std::size_t hits = is_npy ? bytes.size() : static_cast<std::size_t>(header.rows) * hit;
  const std::size_t ends = is_npy ? 0 : static_cast<std::size_t>(header.photons * finals);
  result.bytes = part(0, hits);
  result.finals = part(hits, ends);
  const std::size_t histories = is_npy ? 0 : static_cast<std::size_t>(header.photons * sequences);
  result.sequences = part(hits + ends, histories);
  result.records = part(hits + ends + histories, bytes.size() - hits - ends - histories);
  finish(entry, nullptr);
}

inline void Client::finish(Entry& entry, std::shared_ptr<const Error> error) {
  queued_.erase({entry.since, entry.result.ticket});
  entry.state = State::done;
  entry.result.event = entry.header.event;
  entry.result.error = std::move(error);
  entry.bytes = {};
  entry.memory = nullptr;
  --open_;
  if (!entry.is_question) finished_.push_back(entry.result.ticket);
  changed_.notify_all();
}

}  // namespace raylift::client
