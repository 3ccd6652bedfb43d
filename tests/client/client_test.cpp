// SPDX-License-Identifier: Apache-2.0
// A client whose server does not answer, or answers wrongly: a server of the test's own, frame by frame.
#include <gmock/gmock.h>
#include <raylift/client/client.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/paths.h"

namespace raylift::client {
namespace {

using protocol::Header;
using Kind = protocol::Header::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Frames = std::vector<std::string>;

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// Answers each `simulate` by what `answer` makes of its header: the frames behind the empty one.
class Server {
 public:
  explicit Server(const std::string& address, std::function<Frames(const Header&)> answer)
      : answer_(std::move(answer)), context_(zmq_ctx_new()), socket_(zmq_socket(context_, ZMQ_ROUTER)) {
    const int none = 0, tick = 20;
    zmq_setsockopt(socket_, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(socket_, ZMQ_RCVTIMEO, &tick, sizeof tick);
    zmq_bind(socket_, address.c_str());
    thread_ = std::thread([this] { work(); });
  }
  ~Server() {
    stop_ = true;
    thread_.join();
    zmq_close(socket_);
    zmq_ctx_term(context_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  std::atomic<int> simulated{0}, cancelled{0};
  std::atomic<std::uint64_t> received_of{0};  ///< the server that the last `received` names

 private:
  void work() {
    while (!stop_) {
      Frames frames;
      for (int more = 1; more != 0;) {
        zmq_msg_t message;
        zmq_msg_init(&message);
        if (zmq_msg_recv(&message, socket_, 0) < 0) break;
        frames.emplace_back(static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message));
        more = zmq_msg_more(&message);
        zmq_msg_close(&message);
      }
      Header header;
      if (frames.size() < 3 || !protocol::read_header(frames[2].data(), frames[2].size(), header)) continue;
      if (header.kind == Kind::cancel) ++cancelled;
      if (header.kind == Kind::received) received_of = header.server;
      if (header.kind != Kind::simulate) continue;
      ++simulated;
      Frames answer = answer_(header);
      if (answer.empty()) continue;
      answer.insert(answer.begin(), {frames[0], ""});
      for (std::size_t i = 0; i != answer.size(); ++i)
        zmq_send(socket_, answer[i].data(), answer[i].size(), i + 1 != answer.size() ? ZMQ_SNDMORE : 0);
    }
  }

  std::function<Frames(const Header&)> answer_;
  void* context_;
  void* socket_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class Answers : public testing::Test {
 protected:
  Answers() {
    options_.addresses = {"ipc://" + (folder_.path() / "s").string()};
    options_.alive = milliseconds(50);
    options_.silence = milliseconds(200);
    options_.patience = milliseconds(1500);
    options_.shared_memory = false;
  }
  [[nodiscard]] const std::string& address() const { return options_.addresses[0]; }
  /// A result that is whole.
  static Frames result(const Header& asked, std::size_t hits = 2) {
    Header header;
    header.kind = Kind::result;
    header.request = asked.request;
    header.event = asked.event;
    header.photons = 10;
    header.rows = hits;
    header.bytes = hits * sizeof(Row);
    header.layout = asked.layout;
    return {bytes_of(header), bytes_of(protocol::Counts()), std::string(hits * sizeof(Row), 'h')};
  }
  static Frames error(const Header& asked, ErrorCode code, std::uint32_t retry_after = 0) {
    Header header;
    header.kind = Kind::error;
    header.request = asked.request;
    header.error = code;
    header.retry_after = retry_after;
    return {bytes_of(header), std::string("what\0where\0do\0", 14)};
  }
  static Request request() { return source("point:0,0,0", 10, 4, 1); }
  /// The error of a request.
  static ErrorCode fails(Client& client) {
    try {
      (void)client.wait(client.submit(request()), seconds(20));
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::none;
  }

  Options options_;

 private:
  test::TemporaryFolder folder_;
};

TEST_F(Answers, AreReadAsTheyAre) {
  const Server server(address(), [](const Header& header) { return result(header); });
  Client client(options_);
  const Result got = client.wait(client.submit(request()));
  EXPECT_EQ(got.hits, 2U);
  EXPECT_EQ(got.rows().size(), 2U);
  EXPECT_TRUE(got.compact().empty());
  EXPECT_EQ(got.event, 4U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got.rows().data()) % alignof(std::uint64_t), 0U);
}

TEST_F(Answers, AreConfirmedToAServerThatEnds) {
  const Server server(address(), [](const Header&) {
    Header ending;
    ending.kind = Kind::ending;
    ending.server = 77;
    return Frames{bytes_of(ending)};
  });
  Client client(options_);
  (void)client.submit(request());
  for (int i = 0; i != 500 && server.received_of == 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(server.received_of, 77U);
}

TEST_F(Answers, AreRefusedWhereTheyAreBroken) {
  Frames answer;
  const Server server(address(), [&](const Header& header) {
    Frames frames = result(header);
    if (answer.empty()) return frames;
    Header changed;
    std::memcpy(static_cast<void*>(&changed), answer[0].data(), sizeof changed);
    changed.request = header.request;
    frames = answer;
    frames[0] = bytes_of(changed);
    return frames;
  });
  Client client(options_);
  Header asked;
  asked.layout = Layout::rows;
  const auto broken = [&](const std::function<void(Header&, Frames&)>& change) {
    Frames frames = result(asked);
    Header header;
    std::memcpy(static_cast<void*>(&header), frames[0].data(), sizeof header);
    change(header, frames);
    frames[0] = bytes_of(header);
    answer = frames;
    return fails(client);
  };
  EXPECT_EQ(broken([](Header&, Frames&) {}), ErrorCode::none);
  EXPECT_EQ(broken([](Header& h, Frames&) { h.rows = 3; }), ErrorCode::malformed);
  EXPECT_EQ(broken([](Header& h, Frames&) { h.rows = (std::uint64_t{1} << 58) + 2; }), ErrorCode::malformed);
  EXPECT_EQ(broken([](Header& h, Frames&) { h.bytes = 127; }), ErrorCode::malformed);
  EXPECT_EQ(broken([](Header& h, Frames&) { h.layout = Layout::compact; }), ErrorCode::malformed);
  EXPECT_EQ(broken([](Header&, Frames& f) { f.pop_back(); }), ErrorCode::malformed);
  EXPECT_EQ(broken([](Header&, Frames& f) { f.pop_back(), f.pop_back(); }), ErrorCode::malformed);
  EXPECT_EQ(broken([](Header&, Frames& f) { f[1] += 'x'; }), ErrorCode::malformed);
  EXPECT_EQ(broken([](Header&, Frames& f) { f.emplace_back("x"); }), ErrorCode::malformed);
  EXPECT_EQ(broken([](Header& h, Frames& f) { h.place = protocol::Header::Carrier::shared, f[2] = "short"; }),
            ErrorCode::malformed);
  EXPECT_EQ(broken([](Header& h, Frames&) { h.version = 9; }), ErrorCode::version);
}

TEST_F(Answers, OfOtherRequestsAreIgnored) {
  const Server server(address(), [first = true](const Header& header) mutable {
    Header other = header;
    other.request += 1000;
    return result(std::exchange(first, false) ? other : header);
  });
  Client client(options_);
  EXPECT_EQ(fails(client), ErrorCode::none) << "it is sent again";
  EXPECT_EQ(server.simulated, 2);
}

TEST_F(Answers, ThatAskForItAreFollowedByTheRequestAgain) {
  for (const ErrorCode code : {ErrorCode::busy, ErrorCode::dropped, ErrorCode::stopping}) {
    const Server server(address(), [count = 0, code](const Header& header) mutable {
      return ++count == 3 ? result(header) : error(header, code, 30);
    });
    Client client(options_);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(fails(client), ErrorCode::none);
    EXPECT_EQ(server.simulated, 3);
    EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(60));
  }
}

TEST_F(Answers, ThatAreErrorsAreThrownAsTheyCame) {
  const Server server(address(), [](const Header& header) { return error(header, ErrorCode::count); });
  Client client(options_);
  try {
    (void)client.wait(client.submit(request()));
    ADD_FAILURE();
  } catch (const Error& thrown) {
    EXPECT_EQ(thrown.problem(), "what");
    EXPECT_EQ(thrown.element(), "where");
    EXPECT_EQ(thrown.advice(), "do");
    EXPECT_STREQ(thrown.what(), "where: what; do");
  }
  (void)client.submit(request());
  const std::optional<Result> next = client.next();
  ASSERT_TRUE(next && next->error);
  EXPECT_EQ(next->error->code(), ErrorCode::count);
  EXPECT_FALSE(client.next());
}

TEST_F(Answers, ThatDoNotComeAreWaitedForAsLongAsIsSaid) {
  Client client(options_);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(fails(client), ErrorCode::unreachable);
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(1400));
  EXPECT_THROW((void)client.status(milliseconds(100)), Error);
}

TEST_F(Answers, MayComeFromAServerThatStartsLater) {
  Client client(options_);
  const Ticket ticket = client.submit(request());
  EXPECT_FALSE(client.poll(ticket));
  const Server server(address(), [](const Header& header) { return result(header); });
  EXPECT_EQ(client.wait(ticket, seconds(20)).hits, 2U);
}

TEST_F(Answers, MayComeFromTheNextServer) {
  options_.silence = options_.patience = seconds(60);
  std::optional<Server> server;
  server.emplace(address(), [](const Header&) { return Frames(); });
  Client client(options_);
  const Ticket ticket = client.submit(request());
  for (int i = 0; i != 500 && server->simulated < 1; ++i) std::this_thread::sleep_for(milliseconds(10));
  server.reset();
  server.emplace(address(), [](const Header& header) { return result(header); });
  EXPECT_EQ(client.wait(ticket, seconds(20)).hits, 2U) << "the lost connection is noticed";
}

TEST_F(Answers, AreAskedForInFramesWhereSharedMemoryIsRefused) {
  options_.shared_memory = true;
  options_.share_from = 1;
  options_.silence = options_.patience = seconds(60);
  Client client(options_);
  const Ticket tickets[]{client.submit(request()), client.submit(request()), client.submit(request())};
  const Server server(address(), [](const Header& header) {
    return header.place == protocol::Header::Carrier::shared ? error(header, ErrorCode::shared_memory) : result(header);
  });
  for (const Ticket ticket : tickets) EXPECT_EQ(client.wait(ticket, seconds(20)).hits, 2U);
}

TEST_F(Answers, LimitHowMuchIsSubmitted) {
  std::atomic<bool> answers{false};
  const Server server(address(), [&](const Header& header) { return answers ? result(header) : Frames(); });
  options_.max_pending = 2;
  options_.patience = seconds(30);
  Client client(options_);
  (void)client.submit(request());
  (void)client.submit(request());
  std::atomic<bool> submitted{false};
  std::thread third([&] {
    (void)client.submit(request());
    submitted = true;
  });
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_FALSE(submitted);
  answers = true;
  third.join();
  for (int i = 0; i != 3; ++i) EXPECT_TRUE(client.next());
}

TEST_F(Answers, OfWhatIsNotWantedAnyMoreAreTakenBack) {
  const Server server(address(), [](const Header&) { return Frames(); });
  {
    Client client(options_);
    const Ticket ticket = client.submit(request());
    (void)client.submit(request());
    for (int i = 0; i != 500 && server.simulated < 2; ++i) std::this_thread::sleep_for(milliseconds(10));
    client.cancel(ticket);
    for (int i = 0; i != 500 && server.cancelled < 1; ++i) std::this_thread::sleep_for(milliseconds(10));
    EXPECT_EQ(server.cancelled, 1);
  }
  for (int i = 0; i != 500 && server.cancelled < 2; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(server.cancelled, 2) << "by the client's end";
}

TEST(ClientKeys, AreReadFromTheirFile) {
  const test::TemporaryFolder folder;
  const std::string key(40, 'k');
  const auto file = folder.write("client.key", "server = " + key + "\npublic = " + key + "\nsecret = " + key + "\n");
  EXPECT_EQ(read_keys(file).own_secret, key);
  EXPECT_THROW((void)read_keys(folder.write("short", "server = abc\n")), Error);
  EXPECT_THROW((void)read_keys(folder.path() / "none"), Error);
  Options options;
  options.addresses = {"tcp://127.0.0.1:1"};
  EXPECT_THROW(Client{options}, Error);
  options.keys = Options::Keys{std::string(40, '\x01'), key, key};
  EXPECT_THROW(Client{options}, Error);
  options.addresses = {"inproc://x"};
  EXPECT_THROW(Client{options}, Error);
}

}  // namespace
}  // namespace raylift::client
