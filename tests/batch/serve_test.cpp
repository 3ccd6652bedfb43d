// SPDX-License-Identifier: Apache-2.0
// raylift serve as a process: the bytes of `raylift photons`, whatever is killed meanwhile; wrong messages; keys;
// status.
#if defined(RAYLIFT_WITH_ZMQ)
#include <gmock/gmock.h>
#include <raylift/client/client.h>
#include <raylift/client/gensteps.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <thread>

#include "batch/serve/zmq_library.h"
#include "run_program.h"
#include "support/effort.h"

namespace raylift::test {
namespace {

using client::Client;
using client::ErrorCode;
using client::Result;
using nlohmann::json;
using protocol::Header;
using Kind = protocol::Header::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

/// Until it is true, or the time is over.
bool becomes(const std::function<bool()>& condition, milliseconds time = seconds(20)) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

std::string text_of(const client::Bytes& bytes) {
  return {static_cast<const char*>(bytes.data()), bytes.size()};
}

class Serve : public testing::Test {
 protected:
  Serve() {
    ::chmod(folder_.path().c_str(), 0700);
    batch::load_zmq();
  }

  [[nodiscard]] std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] std::string address(const std::string& name = "s") const { return "ipc://" + at(name); }
  [[nodiscard]] RunOptions here(const char* program = "raylift") const {
    return {{"XDG_RUNTIME_DIR=" + folder_.path().string()}, "", program};
  }

  /// A server that listens.
  [[nodiscard]] std::unique_ptr<Running> serve(std::vector<std::string> more = {},
                                               const std::string& name = "s") const {
    std::vector<std::string> all{"serve", data_file("detector.dae"), "--device", "host"};
    if (std::find(more.begin(), more.end(), "--listen") == more.end())
      all.insert(all.end(), {"--listen", address(name)});
    all.insert(all.end(), more.begin(), more.end());
    auto server = std::make_unique<Running>(all, here());
    EXPECT_TRUE(becomes([&] { return server->said().find(" is served ") != std::string::npos; })) << server->said();
    return server;
  }
  [[nodiscard]] client::Options to(const std::string& where) const {
    client::Options options;
    options.addresses = {where};
    options.alive = milliseconds(200);
    options.silence = milliseconds(1000);
    options.patience = seconds(60);
    return options;
  }
  [[nodiscard]] json status(const std::string& where) const { return json::parse(Client(to(where)).status()); }

  /// What `raylift photons` makes of a source.
  [[nodiscard]] std::string hits_of(const std::string& source, std::vector<std::string> more) const {
    const std::string out = at("run" + std::to_string(++runs_));
    std::vector<std::string> all{
        "photons", data_file("detector.dae"), "--device", "host", "--source", source, "--output", out};
    all.insert(all.end(), more.begin(), more.end());
    const Ended ended = raylift(all);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return without_header(bytes_in(out + "/hits.npy"));
  }
  [[nodiscard]] static std::string without_header(const std::string& npy) {
    return npy.size() < 10
               ? ""
               : npy.substr(10 + static_cast<unsigned char>(npy[8]) + 256U * static_cast<unsigned char>(npy[9]));
  }
  void write_npy(const std::string& name, const std::string& shape, const void* data, std::size_t bytes,
                 const std::string& type = "<f4") const {
    std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
    text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 11, ' ');
    text += '\n';
    std::string all("\x93NUMPY\x01\x00", 8);
    all += static_cast<char>(text.size() & 255U);
    all += static_cast<char>(text.size() >> 8U);
    std::ofstream(at(name), std::ios::binary) << all << text << std::string(static_cast<const char*>(data), bytes);
  }

  [[nodiscard]] std::vector<client::Genstep> gensteps(std::size_t count) const {
    client::Collector collector;
    for (std::size_t i = 0; i != count; ++i) {
      client::Step step;
      step.position[0] = static_cast<double>(i % 100) - 50;
      const double along[3]{0, 0.6, 0.8};
      step.go(along, 2);
      step.charge = -1;
      step.beta = 0.99;
      step.track = static_cast<std::uint32_t>(i);
      step.cerenkov_photons = 5;
      collector.add(step);
    }
    return collector.gensteps();
  }
  [[nodiscard]] static std::vector<client::Photon> photons(std::size_t count) {
    std::vector<client::Photon> all(count);
    for (std::size_t i = 0; i != count; ++i) {
      all[i].direction[i % 3] = i % 2 == 0 ? 1 : -1;
      all[i].direction[(i + 1) % 3] = static_cast<float>(i) / static_cast<float>(count);
      all[i].wavelength = 420;
    }
    return all;
  }

 private:
  TemporaryFolder folder_;
  mutable int runs_ = 0;
};

TEST_F(Serve, LoadsZeroMqForItsCommandsAlone) {
  const Ended linked = raylift({}, {{"LD_TRACE_LOADED_OBJECTS=1"}, ""});
  EXPECT_THAT(linked.out, testing::AllOf(HasSubstr("libc.so"), testing::Not(HasSubstr("zmq"))));
  const Ended missing = raylift({"serve", "--status"}, {{"RAYLIFT_ZMQ=/none/raylift-zmq.so"}, ""});
  EXPECT_EQ(missing.code, 5) << missing.err;
  EXPECT_THAT(missing.err, HasSubstr("ZeroMQ can't be used: raylift-zmq.so was not found"));
}

TEST_F(Serve, GivesTheFilesOfTheCommand) {
  const auto server = serve();
  const std::vector<std::string> all{"--photons",      "6000",    "--seed",   "7",       "--source",
                                     "ball:0,0,0,500", "--final", "--seq",    "--times", "20,0,100",
                                     "--first",        "100",     "--record", "50"};
  const auto run = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> words{"photons", data_file("detector.dae"), "--output", at(name)};
    words.insert(words.end(), all.begin(), all.end());
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = raylift(words);
    ASSERT_EQ(ended.code, 0) << ended.err;
  };
  run("here", {"--device", "host"});
  run("there", {"--server=" + address()});
  run("pieces", {"--server=" + address(), "--batch", "700"});
  for (const char* file : {"hits.npy", "final.npy", "seq.npy", "channels.npy", "times.npy", "record.npy"})
    for (const char* folder : {"there/", "pieces/"})
      EXPECT_EQ(bytes_in(at(std::string(folder) + file)), bytes_in(at(std::string("here/") + file))) << folder << file;
  json here = json::parse(bytes_in(at("here/summary.json"))), there = json::parse(bytes_in(at("there/summary.json")));
  EXPECT_EQ(there["server"], true);
  EXPECT_TRUE(there["materials"].is_null() && there["surfaces"].is_null() && there["end_values"].is_null());
  for (const char* member : {"ends", "births", "steps", "photons", "channels", "scene_sha256"})
    EXPECT_EQ(there[member], here[member]) << member;
  run("chroma", {"--device", "host", "--format", "chroma"});
  run("chroma_there", {"--server=" + address(), "--format", "chroma"});
  EXPECT_EQ(bytes_in(at("chroma_there/hits/pos.npy")), bytes_in(at("chroma/hits/pos.npy")));
}

/// RAT's side of ChAR0N's messages: a REQ socket for each request.
class Rat {
 public:
  explicit Rat(std::string address) : address_(std::move(address)), context_(zmq_ctx_new()) {}
  ~Rat() { zmq_ctx_term(context_); }
  Rat(const Rat&) = delete;
  Rat& operator=(const Rat&) = delete;

  [[nodiscard]] std::vector<std::string> ask(const std::vector<std::string>& frames) const {
    void* const socket = zmq_socket(context_, ZMQ_REQ);
    const int none = 0, wait = 20'000;
    zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait, sizeof wait);
    zmq_connect(socket, address_.c_str());
    for (std::size_t i = 0; i != frames.size(); ++i)
      zmq_send(socket, frames[i].data(), frames[i].size(), i + 1 != frames.size() ? ZMQ_SNDMORE : 0);
    std::vector<std::string> answer;
    for (int more = 1; more != 0;) {
      zmq_msg_t message;
      zmq_msg_init(&message);
      if (zmq_msg_recv(&message, socket, 0) < 0) break;
      answer.emplace_back(static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message));
      more = zmq_msg_more(&message);
      zmq_msg_close(&message);
    }
    zmq_close(socket);
    return answer;
  }

 private:
  std::string address_;
  void* context_;
};

template <class T>
std::vector<T> values_of(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST_F(Serve, AnswersRatInPlaceOfChroma) {
  const auto server = serve({"--chroma", address("chroma")});
  const Rat rat(address("chroma"));
  const std::vector<std::string> ack{"ACK"};
  EXPECT_EQ(rat.ask({"PING"}), ack);
  EXPECT_EQ(rat.ask({"RUN_BEGIN", "out.root"}), ack);
  const std::vector<std::string> sensors = rat.ask({"DETECTOR_INFO"});
  ASSERT_EQ(sensors.size(), 5U);
  const std::size_t channels = values_of<float>(sensors[1]).size();
  EXPECT_GT(channels, 1U);
  for (std::size_t i = 2; i != 5; ++i) EXPECT_EQ(sensors[i].size(), channels * 4);

  // By columns, and the same photons as the command reads them.
  constexpr std::uint32_t kCount = 3000, kEvent = 5;
  std::vector<client::Photon> start = photons(kCount);
  std::vector<std::vector<float>> columns(11);
  std::vector<std::uint32_t> flags;
  for (std::uint32_t i = 0; i != kCount; ++i) {
    client::Photon& photon = start[i];
    photon.time = 0.5F * static_cast<float>(i % 7);
    photon.flags = i % 2 == 0 ? 1U : 2U;
    for (std::size_t axis = 0; axis != 3; ++axis) {
      columns[axis].push_back(photon.position[axis]);
      columns[3 + axis].push_back(photon.direction[axis]);
      columns[6 + axis].push_back(photon.polarization[axis]);
    }
    columns[9].push_back(photon.wavelength);
    columns[10].push_back(photon.time);
    flags.push_back(i % 2 == 0 ? 1U << 10 : 1U << 11);
  }
  const auto bytes = [](const auto& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  };
  std::vector<std::string> message{"PHOTONDATA", bytes(std::vector<std::uint32_t>{kEvent, kCount})};
  for (const auto& column : columns) message.push_back(bytes(column));
  message.push_back(bytes(flags));
  const std::vector<std::string> result = rat.ask(message);
  ASSERT_EQ(result.size(), 12U) << (result.empty() ? "" : result.back());
  EXPECT_EQ(result[0], "SIM_COMPLETE");
  EXPECT_EQ(result[1], bytes(std::vector<std::uint32_t>{kEvent}));
  EXPECT_EQ(rat.ask(message), result) << "an event that is sent again";

  write_npy("start.npy", "(3000, 4, 4)", start.data(), start.size() * sizeof start[0]);
  const Ended ended = raylift({"photons", data_file("detector.dae"), "--device", "host", "--source",
                               "photons:" + at("start.npy"), "--seed", std::to_string(client::event_seed(0, kEvent)),
                               "--format", "chroma", "--output", at("chroma_run")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto file = [&](const char* name) { return without_header(bytes_in(at("chroma_run/hits/") + name)); };
  EXPECT_GT(result[10].size(), 100U);
  EXPECT_EQ(result[9], file("wavelengths.npy"));
  EXPECT_EQ(result[10], file("t.npy"));
  EXPECT_EQ(result[11], file("flags.npy"));
  const auto direction = values_of<float>(file("dir.npy")), x = values_of<float>(result[3]);
  ASSERT_EQ(direction.size(), 3 * x.size());
  for (std::size_t i = 0; i != x.size(); ++i) ASSERT_EQ(x[i], direction[3 * i]);
  for (const std::uint32_t channel : values_of<std::uint32_t>(result[2])) ASSERT_LT(channel, channels);

  // What is wrong is said, and the server goes on.
  message[4].pop_back();
  const std::vector<std::string> refused_message = rat.ask(message);
  ASSERT_EQ(refused_message.size(), 3U);
  EXPECT_EQ(refused_message[0], "SIM_FAILED");
  EXPECT_THAT(refused_message[2], HasSubstr("frame 4 has 11999 bytes, and 3000 photons have 12000"));
  message.resize(13);
  EXPECT_EQ(rat.ask(message)[0], "SIM_FAILED");
  EXPECT_EQ(rat.ask({"PHOTONDATA"})[0], "SIM_FAILED");
  EXPECT_EQ(rat.ask({"SOMETHING"}), std::vector<std::string>{"UNKNOWN_REQUEST"});
  EXPECT_EQ(rat.ask({"RUN_END"}), ack);
  EXPECT_TRUE(status(address())["clients"].empty()) << "each request's client is forgotten with its answer";
  const Ended by_tcp = raylift({"serve", data_file("detector.dae"), "--listen", address("other"), "--device", "host",
                                "--chroma", "tcp://*:5555"});
  EXPECT_EQ(by_tcp.code, 2);
  EXPECT_THAT(by_tcp.err, HasSubstr("no TCP"));
}

TEST_F(Serve, RecordsListedPhotonsOfASpectrumInAFile) {
  const auto server = serve();
  std::ofstream(at("led.csv")) << "# nm, intensity\n380, 0\n420, 3\n440, 1\n500, 0\n";
  constexpr std::uint64_t kNumbers[]{70'000, 3, 4, 5, 900};
  write_npy("numbers.npy", "(5,)", kNumbers, sizeof kNumbers, "<u8");
  const auto run = [&](const std::string& name, const std::string& where) {
    const Ended ended =
        raylift({"photons", data_file("detector.dae"), "--photons", "2000", "--record", at("numbers.npy"), "--source",
                 "ball:0,0,0,500:time=0-3:wavelength=" + at("led.csv") + ":decay=2", where, "--output", at(name)});
    ASSERT_EQ(ended.code, 0) << ended.err;
  };
  run("here", "--device=host");
  run("there", "--server=" + address());
  for (const std::string file : {"/hits.npy", "/record.npy"})
    EXPECT_EQ(bytes_in(at("there" + file)), bytes_in(at("here" + file))) << file;
  EXPECT_EQ(without_header(bytes_in(at("there/record.npy"))).size(), 5 * protocol::kRecordBytes);
  EXPECT_GT(bytes_in(at("there/hits.npy")).size(), 5'000U);
  const json there = json::parse(bytes_in(at("there/summary.json")));
  EXPECT_EQ(there["source"], json::parse(bytes_in(at("here/summary.json")))["source"]);
}

TEST_F(Serve, GivesTheBytesOfTheCommandForAnyBody) {
  const auto server = serve();
  constexpr std::size_t kSteps = test::effort(4000U), kPhotons = test::effort(6000U);
  const auto steps = gensteps(kSteps);
  const auto start = photons(kPhotons);
  write_npy("steps.npy", "(" + std::to_string(kSteps) + ", 6, 4)", steps.data(), steps.size() * 96);
  write_npy("start.npy", "(" + std::to_string(kPhotons) + ", 4, 4)", start.data(), start.size() * 64);
  const std::string of_steps = hits_of("gensteps:" + at("steps.npy"), {"--seed", "11"});
  const std::string of_photons = hits_of("photons:" + at("start.npy"), {"--seed", "12"});
  ASSERT_GT(of_steps.size(), 64U * 20);
  ASSERT_GT(of_photons.size(), 64U * 20);
  for (const bool shares : {false, true}) {
    client::Options options = to(address());
    options.shared_memory = shares;
    options.share_from = 1000;
    Client client(options);
    EXPECT_EQ(text_of(client.wait(client.submit(client::gensteps(steps, 5, 11))).bytes), of_steps) << shares;
    EXPECT_EQ(text_of(client.wait(client.submit(client::photons(start, 5, 12))).bytes), of_photons) << shares;
    client::Request npy = client::gensteps(steps, 6, 11);
    npy.bytes = client::Bytes::of(bytes_in(at("steps.npy")));
    npy.encoding = npy.wanted_encoding = protocol::Header::Encoding::npy;
    npy.expected = 5 * kSteps;
    const Result result = client.wait(client.submit(npy));
    EXPECT_EQ(without_header(text_of(result.bytes)), of_steps);
    EXPECT_THAT(text_of(result.bytes).substr(0, 128), HasSubstr("(" + std::to_string(result.hits) + ", 4, 4)"));
    EXPECT_EQ(result.event, 6U);
    EXPECT_EQ(result.photons, 5 * kSteps);
  }
}

TEST_F(Serve, GivesCompactHitsAndPartsOfAnEvent) {
  const auto server = serve();
  Client client(to(address()));
  client::Request request = client::source("ball:0,0,0,500", 5000, 1, 7);
  const Result rows = client.wait(client.submit(request));
  request.layout = client::Layout::compact;
  request.finals = request.sequences = true;
  const Result compact = client.wait(client.submit(request));
  ASSERT_EQ(compact.hits, rows.hits);
  ASSERT_GT(rows.hits, 50U);
  for (std::size_t i = 0; i != rows.hits; ++i) {
    EXPECT_EQ(compact.compact()[i].channel, static_cast<std::int32_t>(rows.rows()[i].sensor - 1));
    EXPECT_EQ(compact.compact()[i].time, rows.rows()[i].time);
    EXPECT_EQ(compact.compact()[i].wavelength, rows.rows()[i].wavelength);
    EXPECT_EQ(compact.compact()[i].flags, rows.rows()[i].flags);
  }
  EXPECT_EQ(compact.finals.size(), 5000U * 64);
  EXPECT_EQ(compact.sequences.size(), 5000U * 32);
  std::uint64_t ends = 0;
  for (const std::uint64_t end : compact.counts.ends) ends += end;
  EXPECT_EQ(ends, 5000U);
  request.layout = client::Layout::none;
  request.finals = request.sequences = false;
  const Result none = client.wait(client.submit(request));
  EXPECT_EQ(none.bytes.size(), 0U);
  EXPECT_EQ(none.counts.steps, rows.counts.steps);
  std::string parts;
  request.layout = client::Layout::rows;
  for (request.first = 0; request.first != 5000; request.first += 1000) {
    request.photons = 1000;
    parts += text_of(client.wait(client.submit(request)).bytes);
  }
  EXPECT_EQ(parts, text_of(rows.bytes));
}

TEST_F(Serve, KeepsEventsOfManyThreadsApart) {
  const auto server = serve();
  std::map<std::uint64_t, std::string> expected;
  constexpr std::uint64_t kEvents = 5;
  for (std::uint64_t event = 0; event != kEvents; ++event)
    expected[event] = hits_of("ball:0,0,0,500", {"--photons", "1000", "--seed", std::to_string(event)});
  Client client(to(address()));
  std::vector<std::thread> threads;
  std::mutex mutex;
  for (std::uint64_t thread = 0; thread != 4; ++thread)
    threads.emplace_back([&, thread] {
      std::vector<std::pair<std::uint64_t, client::Ticket>> tickets;
      for (std::uint64_t i = 0; i != 2 * kEvents; ++i) {
        const std::uint64_t event = (i + thread) % kEvents;
        tickets.emplace_back(event, client.submit(client::source("ball:0,0,0,500", 1000, event, event)));
      }
      for (const auto& [event, ticket] : tickets) {
        const Result result = client.wait(ticket);
        const std::lock_guard<std::mutex> lock(mutex);
        EXPECT_EQ(result.event, event);
        EXPECT_EQ(text_of(result.bytes), expected[event]);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(client.pending(), 0U);
  EXPECT_FALSE(client.next(milliseconds(0))) << "each was taken by its ticket";
}

/// A client without the library's care.
class Raw {
 public:
  explicit Raw(const std::string& address) : context_(zmq_ctx_new()), socket_(zmq_socket(context_, ZMQ_DEALER)) {
    const int none = 0, wait = 10'000;
    zmq_setsockopt(socket_, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(socket_, ZMQ_RCVTIMEO, &wait, sizeof wait);
    zmq_connect(socket_, address.c_str());
  }
  ~Raw() {
    zmq_close(socket_);
    zmq_ctx_term(context_);
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  void send(const std::vector<std::string>& frames) const {
    for (std::size_t i = 0; i != frames.size(); ++i)
      zmq_send(socket_, frames[i].data(), frames[i].size(), i + 1 != frames.size() ? ZMQ_SNDMORE : 0);
  }
  /// The next message that is not `pending`: its header, and the frame behind it.
  [[nodiscard]] std::pair<Header, std::string> receive() const {
    const auto [header, frames] = receive_all();
    return {header, frames.empty() ? "" : frames.front()};
  }
  /// Likewise, with all frames behind the header.
  [[nodiscard]] std::pair<Header, std::vector<std::string>> receive_all() const {
    for (;;) {
      std::vector<std::string> frames;
      int more = 1;
      while (more != 0) {
        zmq_msg_t message;
        zmq_msg_init(&message);
        if (zmq_msg_recv(&message, socket_, 0) < 0) return {};
        frames.emplace_back(static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message));
        more = zmq_msg_more(&message);
        zmq_msg_close(&message);
      }
      Header header;
      if (frames.size() < 2 || !protocol::read_header(frames[1].data(), frames[1].size(), header)) return {};
      if (header.kind != Kind::pending) return {header, {frames.begin() + 2, frames.end()}};
    }
  }

 private:
  void* context_;
  void* socket_;
};

std::string bytes_of(const Header& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

/// The header of a connection's first request, whose body is the source.
Header request_of(const std::string& source, std::uint64_t photons) {
  Header header;
  header.kind = Kind::simulate;
  header.request = 1;
  header.body = Header::Body::source;
  header.bytes = source.size();
  header.photons = photons;
  return header;
}

/// The answer to `ending` of that server.
std::string received(std::uint64_t server) {
  Header header;
  header.kind = Kind::received;
  header.server = server;
  return bytes_of(header);
}

TEST_F(Serve, AnswersAllWrongMessagesThatCameAtOnce) {
  const auto server = serve();
  const Raw raw(address());
  constexpr std::uint64_t kMessages = 200;  // more than ZeroMQ's queue of a client
  Header wrong;
  wrong.kind = static_cast<Kind>(77);
  for (wrong.request = 1; wrong.request <= kMessages; ++wrong.request) raw.send({"", bytes_of(wrong), ""});
  std::set<std::uint64_t> answered;
  for (std::uint64_t i = 0; i != kMessages; ++i) {
    const Header answer = raw.receive().first;
    if (answer.kind != Kind::error) break;
    answered.insert(answer.request);
  }
  EXPECT_EQ(answered.size(), kMessages);
}

TEST_F(Serve, AnswersWrongMessagesAndGoesOn) {
  const auto server = serve({"--max-body", "1MB"});
  const auto steps = gensteps(10);
  const std::string body(reinterpret_cast<const char*>(steps.data()), steps.size() * 96);
  Header good;
  good.kind = Kind::simulate;
  good.body = protocol::Header::Body::gensteps;
  good.layout = protocol::Layout::rows;
  good.rows = 10;
  good.bytes = body.size();
  const double wide[24]{};
  write_npy("wide.npy", "(1, 6, 4)", wide, sizeof wide, "<f8");
  write_npy("flat.npy", "(10, 24)", body.data(), body.size());
  using Change = std::function<void(Header&, std::string&)>;
  struct Wrong {
    const char* what;
    ErrorCode code;
    Change change;
  };
  const auto npy = [](const std::string& file, std::uint64_t rows) -> Change {
    return [=](Header& h, std::string& b) {
      b = file;
      h.bytes = b.size();
      h.rows = rows;
      h.encoding = protocol::Header::Encoding::npy;
    };
  };
  const auto source = [](const std::string& text, std::uint64_t rows = 0, std::uint64_t photons = 5) -> Change {
    return [=](Header& h, std::string& b) {
      b = text;
      h.body = protocol::Header::Body::source;
      h.bytes = b.size();
      h.rows = rows;
      h.photons = photons;
    };
  };
  constexpr protocol::SpectrumPoint kFalling[]{{0, 500}, {1, 400}};
  const std::vector<Wrong> all{
      {"version", ErrorCode::version, [](Header& h, std::string&) { h.version = 2; }},
      {"digest", ErrorCode::digest, [](Header& h, std::string&) { h.digest[5] = 1; }},
      {"kind", ErrorCode::malformed, [](Header& h, std::string&) { h.kind = static_cast<Kind>(77); }},
      {"an answer", ErrorCode::malformed, [](Header& h, std::string&) { h.kind = Kind::result; }},
      {"body", ErrorCode::malformed, [](Header& h, std::string&) { h.body = static_cast<protocol::Header::Body>(9); }},
      {"no body", ErrorCode::malformed, [](Header& h, std::string&) { h.body = protocol::Header::Body::none; }},
      {"encoding", ErrorCode::malformed,
       [](Header& h, std::string&) { h.encoding = static_cast<protocol::Header::Encoding>(2); }},
      {"place", ErrorCode::malformed,
       [](Header& h, std::string&) { h.place = static_cast<protocol::Header::Carrier>(2); }},
      {"layout", ErrorCode::malformed, [](Header& h, std::string&) { h.layout = static_cast<protocol::Layout>(3); }},
      {"flags", ErrorCode::malformed, [](Header& h, std::string&) { h.flags = 128; }},
      {"reserved", ErrorCode::malformed, [](Header& h, std::string&) { h.reserved = 1; }},
      {"rows", ErrorCode::malformed, [](Header& h, std::string&) { h.rows = 11; }},
      {"rows that overflow", ErrorCode::malformed,
       [](Header& h, std::string&) { h.rows = 10 + (std::uint64_t{1} << 59); }},
      {"bytes", ErrorCode::malformed, [](Header& h, std::string&) { h.bytes = 959; }},
      {"size", ErrorCode::malformed, [](Header&, std::string& b) { b += 'x'; }},
      {"a part of a row", ErrorCode::malformed,
       [](Header& h, std::string& b) {
         b.resize(950);
         h.bytes = 950;
         h.rows = 9;
       }},
      {"too large", ErrorCode::limit, [](Header& h, std::string&) { h.bytes = 2'000'000; }},
      {"another count", ErrorCode::count, [](Header& h, std::string&) { h.expected = 51; }},
      {"max_time", ErrorCode::malformed, [](Header& h, std::string&) { h.max_time = -1; }},
      {"max_steps", ErrorCode::malformed, [](Header& h, std::string&) { h.max_steps = 0xFFFFFFFF; }},
      {"range", ErrorCode::malformed,
       [](Header& h, std::string&) {
         h.first = 2;
         h.photons = ~std::uint64_t{0} - 1;
       }},
      {"a range beyond", ErrorCode::malformed,
       [](Header& h, std::string&) {
         h.first = 40;
         h.photons = 20;
       }},
      {"a type of genstep", ErrorCode::unsupported, [](Header&, std::string& b) { b[0] = 99; }},
      {"a number that is none", ErrorCode::malformed,
       [](Header&, std::string& b) { b.replace(16, 4, "\xff\xff\xff\xff"); }},
      {"dtype", ErrorCode::unsupported, npy(bytes_in(at("wide.npy")), 1)},
      {"shape", ErrorCode::malformed, npy(bytes_in(at("flat.npy")), 10)},
      {"no .npy", ErrorCode::malformed, [](Header& h, std::string&) { h.encoding = protocol::Header::Encoding::npy; }},
      {"shared memory that is none", ErrorCode::malformed,
       [](Header& h, std::string&) { h.place = protocol::Header::Carrier::shared; }},
      {"shared memory of no process", ErrorCode::shared_memory,
       [](Header& h, std::string& b) {
         h.place = protocol::Header::Carrier::shared;
         protocol::SharedMemory m;
         m.bytes = h.bytes;
         m.process = 1;
         std::memset(m.token, 'a', 16);
         b.assign(reinterpret_cast<const char*>(&m), sizeof m);
       }},
      {"a source that names a file", ErrorCode::unsupported, source("gensteps:/etc/hostname")},
      {"a spectrum of a file", ErrorCode::unsupported, source("point:0,0,0:wavelength=/etc/hostname")},
      {"a spectrum that falls", ErrorCode::malformed,
       source(std::string("point:0,0,0") + '\0' + std::string(reinterpret_cast<const char*>(kFalling), sizeof kFalling),
              2)},
      {"a spectrum that is missing", ErrorCode::malformed, source("point:0,0,0", 2)},
      {"a spectrum of too many points", ErrorCode::limit,
       source(std::string("point:0,0,0") + '\0' + std::string(257 * 8, '\1'), 257)},
      {"a source without an end", ErrorCode::malformed, source("point:0,0,0", 0, protocol::kAll)},
      {"no source", ErrorCode::malformed, source("nonsense")},
      {"a long source", ErrorCode::limit, source(std::string(5000, 'x'))},
      {"a file of two arrays", ErrorCode::unsupported,
       [](Header& h, std::string&) {
         h.wanted_encoding = protocol::Header::Encoding::npy;
         h.flags = protocol::kWantsFinals;
       }},
  };
  const Raw raw(address());
  std::uint64_t number = 0;
  for (const Wrong& wrong : all) {
    Header header = good;
    std::string bytes = body;
    header.request = ++number;
    wrong.change(header, bytes);
    raw.send({"", bytes_of(header), bytes});
    const auto [answer, text] = raw.receive();
    EXPECT_EQ(answer.kind, Kind::error) << wrong.what;
    EXPECT_EQ(answer.request, number) << wrong.what;
    EXPECT_EQ(answer.error, wrong.code) << wrong.what << ": " << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\0'), 3) << wrong.what;
    EXPECT_NE(text[0], '\0') << wrong.what;
  }
  // These have no header to answer.
  raw.send({"", "short"});
  raw.send({"", std::string(144, 'x'), body});
  raw.send({"no empty frame"});
  raw.send({""});
  raw.send(std::vector<std::string>(1000, "x"));
  Header two = good;
  two.request = ++number;
  raw.send({"", bytes_of(two), body, body});
  EXPECT_EQ(raw.receive().first.error, ErrorCode::malformed) << "two bodies";
  std::vector<std::string> long_one{"", bytes_of(two)};
  long_one.resize(1000, "x");
  raw.send(long_one);
  EXPECT_EQ(raw.receive().first.error, ErrorCode::malformed) << "a thousand bodies";
  Header last = good;
  last.request = ++number;
  raw.send({"", bytes_of(last), body});
  EXPECT_EQ(raw.receive().first.kind, Kind::result) << "the server goes on";
  EXPECT_EQ(status(address())["foreign_messages"], 5);
}

TEST_F(Serve, SaysAtOnceWhatIsWrong) {
  const auto server = serve({"--max-body", "100kB"});
  client::Options options = to(address());
  options.shared_memory = false;
  options.digest[0] = 1;
  Client other(options);
  EXPECT_THROW((void)other.welcome(), client::Error);
  options.digest = {};
  Client client(options);
  const auto fails = [&](client::Request request) {
    const client::Ticket ticket = client.submit(std::move(request));
    try {
      (void)client.wait(ticket, seconds(20));
    } catch (const client::Error& error) {
      return std::string(protocol::name_of(error.code())) + ": " + error.what();
    }
    return std::string();
  };
  EXPECT_THAT(fails(client::gensteps(gensteps(1100), 0, 0)), HasSubstr("limit: body: the body has 105600 bytes"));
  EXPECT_THAT(fails(client::source("bal:0,0,0", 1, 0, 0)), HasSubstr("did you mean 'ball'?"));
  client::Request counted = client::gensteps(gensteps(10), 0, 0);
  counted.expected = 40;
  EXPECT_THAT(fails(counted), HasSubstr("count: expected: the body makes 50 photons, and 40 were expected"));
  // The simulation alone finds a number that physics gives.
  auto drawn = gensteps(10);
  for (client::Genstep& step : drawn) step.photons = client::kPhotonsOfPhysics;
  client::Request physics = client::gensteps(drawn, 0, 0);
  physics.expected = 1;
  EXPECT_THAT(fails(physics), HasSubstr("and 1 were expected"));
  client::Request part = client::gensteps(std::vector<client::Genstep>(gensteps(10)), 0, 0);
  part.bytes = client::Bytes::copy(part.bytes.data(), 95);
  EXPECT_THROW((void)client.submit(part), client::Error);
  EXPECT_THROW((void)client.poll(12345), client::Error);
  const auto ended = raylift({"photons", data_file("cube.dae"), "--server=" + address(), "--output", at("none")});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("another geometry"));
}

TEST_F(Serve, FreesWhatAKilledClientHad) {
  const auto server = serve({"--silence", "2s"});
  Running client({"photons", data_file("detector.dae"), "--server=" + address(), "--photons", "100M", "--output",
                  at("big"), "--batch", "20M"});
  ASSERT_TRUE(becomes([&] {
    const json now = status(address());
    return now["clients"].size() == 1 && now["clients"][0]["open_requests"] == 4;
  }));
  client.signal(SIGKILL);
  EXPECT_TRUE(becomes([&] {
    const json now = status(address());
    return now["clients"].empty() && now["total"]["queued_requests"] == 0 && now["total"]["running_requests"] == 0;
  })) << status(address());
  EXPECT_EQ(status(address())["dropped_clients"], 1);
  Client next(to(address()));
  EXPECT_EQ(next.wait(next.submit(client::source("point:0,0,0", 10, 1, 1)), seconds(60)).photons, 10U);
}

TEST_F(Serve, TakesBackWhatAClientCancelsOrLeaves) {
  const auto server = serve();
  {
    Client client(to(address()));
    const client::Ticket large = client.submit(client::source("ball:0,0,0,500", 100'000'000, 1, 1));
    const client::Ticket small = client.submit(client::source("ball:0,0,0,500", 100, 1, 1));
    EXPECT_FALSE(client.ready(large));
    EXPECT_THROW((void)client.wait(large, milliseconds(50)), client::Error);
    client.cancel(large);
    EXPECT_THROW((void)client.poll(large), client::Error);
    EXPECT_EQ(client.wait(small, seconds(60)).photons, 100U);
    (void)client.submit(client::source("ball:0,0,0,500", 100'000'000, 2, 2));
    ASSERT_TRUE(becomes([&] { return status(address())["total"]["running_requests"] == 1; }));
  }
  EXPECT_TRUE(becomes([&] { return status(address())["total"]["running_requests"] == 0; }, seconds(5)))
      << "long before the server takes it for silent";
}

TEST_F(Serve, GivesTheSameBytesAfterTheServerWasKilled) {
  auto server = serve();
  client::Options options = to(address());
  options.silence = seconds(60);  // the lost connection is noticed
  Client client(options);
  std::map<client::Ticket, std::uint64_t> tickets;
  for (std::uint64_t seed = 0; seed != 12; ++seed)
    tickets[client.submit(client::source("ball:0,0,0,500", 3000, seed, seed % 3))] = seed % 3;
  const std::string first = text_of(client.wait(tickets.begin()->first).bytes);
  server->signal(SIGKILL);
  EXPECT_EQ(server->wait().code, 128 + SIGKILL);
  server = serve();
  std::map<std::uint64_t, std::string> bytes{{0, first}};
  for (const auto& [ticket, seed] : tickets) {
    if (ticket == tickets.begin()->first) continue;
    const Result result = client.wait(ticket, seconds(50));
    const auto [at, is_new] = bytes.try_emplace(seed, text_of(result.bytes));
    EXPECT_EQ(text_of(result.bytes), at->second);
  }
  for (std::uint64_t seed = 0; seed != 3; ++seed)
    EXPECT_EQ(bytes[seed], hits_of("ball:0,0,0,500", {"--photons", "3000", "--seed", std::to_string(seed)}));
}

TEST_F(Serve, FinishesWhatItHasAfterSigterm) {
  constexpr std::uint32_t kPhotons = test::effort(60'000U);  // for as long as it takes to see that they run
  const auto server = serve();
  Client client(to(address()));
  const client::Ticket ticket = client.submit(client::source("ball:0,0,0,500", kPhotons, 1, 1));
  ASSERT_TRUE(becomes([&] { return status(address())["total"]["running_requests"] == 1; }));
  server->signal(SIGTERM);
  ASSERT_TRUE(becomes([&] { return client.ready(ticket) || status(address())["stopping"] == true; }));
  client::Options options = to(address());
  options.patience = milliseconds(3000);
  options.silence = milliseconds(500);
  Client late(options);
  const client::Ticket refused = late.submit(client::source("point:0,0,0", 10, 1, 1));
  EXPECT_EQ(client.wait(ticket, seconds(60)).photons, kPhotons);
  EXPECT_EQ(server->wait().code, 0);
  EXPECT_FALSE(std::filesystem::exists(at("s"))) << "the socket is gone";
  try {
    (void)late.wait(refused, seconds(60));
    ADD_FAILURE() << "a server that ends takes no new request";
  } catch (const client::Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unreachable) << error.what();
  }
}

TEST_F(Serve, EndsAfterSigtermOnceItsClientsHaveTheirResults) {
  const auto server = serve();
  const Raw raw(address());
  const std::string source = "point:0,0,0";
  raw.send({"", bytes_of(request_of(source, 10)), source});
  ASSERT_TRUE(becomes([&] { return status(address())["total"]["completed"] == 1; }));
  server->signal(SIGTERM);
  EXPECT_EQ(raw.receive().first.kind, Kind::result);
  const Header ending = raw.receive().first;
  EXPECT_EQ(ending.kind, Kind::ending);
  raw.send({"", received(ending.server + 1)});
  EXPECT_EQ(raw.receive().first.kind, Kind::ending) << "that was meant for another server, so it asks again";
  EXPECT_EQ(status(address())["stopping"], true) << "it still waits";
  raw.send({"", received(ending.server)});
  const auto answered = std::chrono::steady_clock::now();
  EXPECT_EQ(server->wait().code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - answered, seconds(5)) << "there is nothing to wait for";
}

TEST_F(Serve, KeepsASharedResultAfterSigtermUntilItHasCome) {
  const auto server = serve();
  const Raw raw(address());
  const std::string source = "ball:0,0,0,500";
  Header header = request_of(source, 5000);
  header.flags = protocol::kMayShare | protocol::kWantsFinals;
  raw.send({"", bytes_of(header), source});
  const auto [answer, frames] = raw.receive_all();
  ASSERT_EQ(answer.kind, Kind::result) << (frames.empty() ? "" : frames.front());
  ASSERT_EQ(answer.place, Header::Carrier::shared);
  protocol::SharedMemory shared;
  ASSERT_EQ(frames.back().size(), sizeof shared);
  std::memcpy(&shared, frames.back().data(), sizeof shared);
  server->signal(SIGTERM);
  ASSERT_TRUE(becomes([&] { return status(address())["stopping"] == true; }));
  std::this_thread::sleep_for(milliseconds(500));  // a client that other processes hold up
  std::string why;
  const auto bytes = client::SharedBody::open(shared, why);
  ASSERT_NE(bytes, nullptr) << why;
  EXPECT_GE(shared.bytes, 5000 * protocol::kPhotonBytes);
  EXPECT_GE(status(address())["clients"][0]["unread_bytes"], shared.bytes);
  header = {};
  header.kind = Kind::taken;
  header.request = 1;
  raw.send({"", bytes_of(header)});
  EXPECT_TRUE(becomes([&] { return status(address())["clients"][0]["unread_bytes"] == 0; }, seconds(8)))
      << "it is freed";
  raw.send({"", received(answer.server)});
  const auto answered = std::chrono::steady_clock::now();
  EXPECT_EQ(server->wait().code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - answered, seconds(8)) << "it has come, so nothing is to be waited for";
}

TEST_F(Serve, OutlivesAClientThatIsStopped) {
  const auto server = serve({"--silence", "1s"});
  Running client({"photons", data_file("detector.dae"), "--server=" + address(), "--photons", "20k", "--source",
                  "ball:0,0,0,500", "--output", at("stopped"), "--batch", "2k"});
  ASSERT_TRUE(becomes([&] { return status(address())["total"]["completed"] >= 1; }));
  client.signal(SIGSTOP);
  ASSERT_TRUE(becomes([&] { return status(address())["clients"].empty(); }));
  client.signal(SIGCONT);
  const Ended ended = client.wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(without_header(bytes_in(at("stopped/hits.npy"))), hits_of("ball:0,0,0,500", {"--photons", "20k"}));
}

TEST_F(Serve, ListensWhereNobodyElseCanReachIt) {
  const auto server = serve();
  const auto refused = [&](const std::string& where, std::vector<std::string> more = {}) {
    std::vector<std::string> all{"serve", data_file("detector.dae"), "--device", "host", "--listen", where};
    all.insert(all.end(), more.begin(), more.end());
    Running other(all, here());
    // One that is not refused would serve for ever.
    if (becomes([&] { return other.said().find("is served") != std::string::npos || ::kill(other.pid(), 0) != 0; },
                milliseconds(1)))
      other.signal(SIGKILL);
    return other.wait().err;
  };
  EXPECT_THAT(refused(address()), HasSubstr("another server listens there"));
  std::filesystem::create_directory(at("open"));
  ::chmod(at("open").c_str(), 0755);
  EXPECT_THAT(refused("ipc://" + at("open/s")), HasSubstr("others have access to this folder"));
  EXPECT_THAT(refused("ipc://@abstract"), HasSubstr("absolute path"));
  EXPECT_THAT(refused("ipc://relative/s"), HasSubstr("absolute path"));
  EXPECT_THAT(refused("tcp://127.0.0.1:*"), HasSubstr("TCP is for those alone who have keys"));
  EXPECT_THAT(refused("udp://127.0.0.1:9"), HasSubstr("no address"));
  std::filesystem::create_directory(at("private"));
  ::chmod(at("private").c_str(), 0700);
  std::ofstream(at("private/file")) << "mine";
  EXPECT_THAT(refused("ipc://" + at("private/file")), HasSubstr("no socket"));
  EXPECT_EQ(bytes_in(at("private/file")), "mine");
  // A client does not talk to who may be another user.
  EXPECT_THROW(Client(to("ipc://" + at("open/s"))), client::Error);
  // The usual place is made for the user alone.
  Running usual({"serve", data_file("detector.dae"), "--device", "host"}, here());
  ASSERT_TRUE(becomes([&] { return usual.said().find("is served") != std::string::npos; })) << usual.said();
  struct stat status_of {};
  ASSERT_EQ(::stat(at("raylift").c_str(), &status_of), 0);
  EXPECT_EQ(status_of.st_mode & 0777U, 0700U);
  const Ended shown = raylift({"serve", "--status", "--json"}, here());
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(shown.json()["device"], "host");
}

TEST_F(Serve, TalksOverTcpToKnownKeysAlone) {
  ASSERT_EQ(raylift({"serve", "--keygen", at("keys")}).code, 0);
  ASSERT_EQ(raylift({"serve", "--keygen", at("keys"), "--client", "second"}).code, 0);
  ASSERT_EQ(raylift({"serve", "--keygen", at("other")}).code, 0);
  for (const char* file : {"server.key", "client.key", "second.key"}) {
    struct stat of {};
    ASSERT_EQ(::stat(at(std::string("keys/") + file).c_str(), &of), 0);
    EXPECT_EQ(of.st_mode & 0777U, 0600U) << file;
  }
  const std::string before = bytes_in(at("keys/server.key"));
  EXPECT_THAT(raylift({"serve", "--keygen", at("keys")}).err, HasSubstr("there are keys already"));
  EXPECT_EQ(bytes_in(at("keys/server.key")), before);
  const auto server = serve({"--listen", "tcp://127.0.0.1:*", "--keys", at("keys")});
  const std::string said = server->said();
  const std::string where = said.substr(said.find("tcp://"), said.find('\n') - said.find("tcp://"));
  const auto hits_by = [&](const client::Options::Keys& keys) -> std::string {
    client::Options options = to(where);
    options.keys = keys;
    options.patience = milliseconds(1500);
    Client client(options);
    try {
      return text_of(client.wait(client.submit(client::source("ball:0,0,0,500", 2000, 1, 1)), seconds(30)).bytes);
    } catch (const client::Error& error) {
      return protocol::name_of(error.code());
    }
  };
  const std::string expected = hits_of("ball:0,0,0,500", {"--photons", "2000", "--seed", "1"});
  const client::Options::Keys first = client::read_keys(at("keys/client.key"));
  EXPECT_EQ(hits_by(first), expected);
  EXPECT_EQ(hits_by(client::read_keys(at("keys/second.key"))), expected);
  client::Options::Keys stranger = client::read_keys(at("other/client.key"));
  EXPECT_EQ(hits_by(stranger), "unreachable") << "another server's key";
  stranger.server = first.server;
  EXPECT_EQ(hits_by(stranger), "unreachable") << "a client's key that the server does not know";
  client::Options without = to(where);
  EXPECT_THROW(Client{without}, client::Error);
  const Ended shown = raylift({"serve", "--status=" + where, "--keys", at("keys"), "--json"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_GE(shown.json()["unknown_keys"], 1);
  ::chmod(at("keys/server.key").c_str(), 0640);
  EXPECT_THAT(raylift({"serve", data_file("detector.dae"), "--device", "host", "--listen", "tcp://127.0.0.1:*",
                       "--keys", at("keys")})
                  .err,
              HasSubstr("can be read by others"));
}

TEST_F(Serve, SpreadsOverServersBehindOneAddress) {
  auto a = serve({}, "a");
  const auto b = serve({}, "b");
  const Running proxy({"serve", "--forward", address("a") + "," + address("b"), "--listen", address("front")}, here());
  ASSERT_TRUE(becomes([&] { return std::filesystem::exists(at("front")); })) << proxy.said();
  const std::string both = address("a") + "," + address("b");
  std::map<std::uint64_t, std::string> expected;
  for (std::uint64_t seed = 0; seed != 2; ++seed)
    expected[seed] = hits_of("ball:0,0,0,500", {"--photons", "2000", "--seed", std::to_string(seed)});
  const auto completed = [&](const std::string& where) {
    return status(where)["total"]["completed"].get<std::uint64_t>();
  };
  client::Options straight = to(address("a"));
  straight.addresses.push_back(address("b"));
  for (const client::Options& options : {to(address("front")), straight}) {
    const std::uint64_t before_a = completed(address("a")), before_b = completed(address("b"));
    Client client(options);
    std::vector<std::pair<client::Ticket, std::uint64_t>> tickets;
    for (std::uint64_t i = 0; i != 10; ++i)
      tickets.emplace_back(client.submit(client::source("ball:0,0,0,500", 2000, i, i % 2)), i % 2);
    for (const auto& [ticket, seed] : tickets)
      EXPECT_EQ(text_of(client.wait(ticket, seconds(60)).bytes), expected[seed]);
    EXPECT_GT(completed(address("a")), before_a);
    EXPECT_GT(completed(address("b")), before_b);
  }
  // One of them is killed with requests.
  Client client(to(address("front")));
  std::vector<std::pair<client::Ticket, std::uint64_t>> tickets;
  for (std::uint64_t i = 0; i != 20; ++i)
    tickets.emplace_back(client.submit(client::source("ball:0,0,0,500", 2000, i, i % 2)), i % 2);
  a->signal(SIGKILL);
  (void)a->wait();
  for (const auto& [ticket, seed] : tickets)
    EXPECT_EQ(text_of(client.wait(ticket, seconds(120)).bytes), expected[seed]);
}

TEST_F(Serve, SaysWhatItDoes) {
  const auto server = serve();
  Client client(to(address()));
  (void)client.wait(client.submit(client::source("ball:0,0,0,500", 1234, 1, 1)));
  const json now = status(address());
  EXPECT_EQ(now["total"]["photons"], 1234);
  ASSERT_EQ(now["clients"].size(), 1U);
  EXPECT_EQ(now["clients"][0]["photons"], 1234);
  EXPECT_EQ(now["devices"][0]["device"], "host");
  EXPECT_EQ(now["digest"], json::parse(client.welcome())["digest"]);
  const Ended digest = raylift({"serve", "--digest", data_file("detector.dae")});
  EXPECT_EQ(digest.out, now["digest"].get<std::string>() + '\n');
  EXPECT_NE(raylift({"serve", "--digest", data_file("detector.dae"), "--unit", "cm"}).out, digest.out);
  const Ended shown = raylift({"serve", "--status=" + address()});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("1,234 photons"));
  const Ended none = raylift({"serve", "--status=" + address("none")});
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, HasSubstr("no server answers"));
}

TEST_F(Serve, MakesClientsWaitWhileItIsFull) {
  const auto server = serve({"--queue", "200kB"});
  client::Options options = to(address());
  options.max_pending = kSanitized ? 10 : 30;
  Client client(options);
  const auto steps = gensteps(500);  // 48 kB: four of them fill the queue
  std::vector<client::Ticket> tickets;
  for (std::uint64_t i = 0; i != (kSanitized ? 14 : 40); ++i)
    tickets.push_back(client.submit(client::gensteps(steps, i, 3)));
  std::string first;
  for (const client::Ticket ticket : tickets) {
    const Result result = client.wait(ticket, seconds(120));
    if (first.empty()) first = text_of(result.bytes);
    EXPECT_EQ(text_of(result.bytes), first);
  }
  EXPECT_FALSE(first.empty());
}

TEST_F(Serve, RefusesOptionsThatAreNot) {
  const auto refused = [&](std::vector<std::string> words) { return raylift(std::move(words), here()).err; };
  const std::string scene = data_file("detector.dae");
  EXPECT_THAT(refused({"serve"}), HasSubstr("0 scenes were given, and a server has one"));
  EXPECT_THAT(refused({"serve", scene, "--client", "x"}), HasSubstr("--keygen FOLDER"));
  EXPECT_THAT(refused({"photons", scene, "--server", "--device", "host", "--output", at("x")}),
              HasSubstr("--device is the server's"));
  EXPECT_THAT(refused({"photons", scene, "--server=http://x", "--output", at("x")}), HasSubstr("ipc:// or tcp://"));
  EXPECT_FALSE(std::filesystem::exists(at("x/summary.json")));
}

}  // namespace
}  // namespace raylift::test
#endif
