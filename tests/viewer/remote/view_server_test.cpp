// SPDX-License-Identifier: Apache-2.0
// The viewer's socket without a window: whom it answers, and what clients can't do to it.
#include "remote/view_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <raylift/geometry/error.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/effort.h"
#include "support/paths.h"
#include "view_client.h"
#include "with_outside.h"

namespace raylift::viewer {
namespace {

class ViewerSocket : public Outside {
 protected:
  [[nodiscard]] std::filesystem::path folder() const { return place_.path() / "raylift"; }
  [[nodiscard]] std::unique_ptr<ViewServer> make_server(uid_t user = ::geteuid()) const {
    return std::make_unique<ViewServer>(target_, folder(), user);
  }
  static bool readable(const ViewServer& server) {
    pollfd seen{server.descriptor(), POLLIN, 0};
    return ::poll(&seen, 1, 0) > 0;
  }
  /// Until nothing is left to do.
  static void serve_all(ViewServer& server) {
    for (int i = 0; i != 100000 && (readable(server) || server.busy()); ++i) (void)server.serve();
    EXPECT_FALSE(readable(server) || server.busy()) << "an idle viewer would not rest";
  }
  static mode_t mode_of(const std::filesystem::path& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
  }

  /// The descriptors of this process's sockets.
  static std::set<int> open_sockets() {
    std::set<int> numbers;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
      if (target.starts_with("socket:")) numbers.insert(std::atoi(entry.path().filename().c_str()));
    }
    return numbers;
  }

  test::TemporaryFolder place_;
};

TEST_F(ViewerSocket, LiesInAFolderOfItsUserAlone) {
  const mode_t before = ::umask(0);
  const std::set<int> others = open_sockets();
  {
    const auto server = make_server();
    EXPECT_EQ(mode_of(folder()), 0700U);
    EXPECT_EQ(mode_of(server->path()), 0600U);
    EXPECT_EQ(server->path().filename(), "view-" + std::to_string(::getpid()) + ".sock");
    const auto second = make_server();
    EXPECT_NE(second->path(), server->path()) << "another container may have this process number";
    // Programs that the viewer starts do not have it.
    int sockets = 0;
    for (const int number : open_sockets()) {
      if (others.contains(number)) continue;
      ++sockets;
      EXPECT_NE(::fcntl(number, F_GETFD) & FD_CLOEXEC, 0) << number;
    }
    EXPECT_GE(sockets, 2);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 0) << "nothing is left over";
  ::umask(before);
}

TEST_F(ViewerSocket, LiesWhereTheEnvironmentSays) {
  const char* set = std::getenv("XDG_RUNTIME_DIR");
  const std::string before = set != nullptr ? set : "";
  ::setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  EXPECT_EQ(SocketFolder::usual_path(), "/run/user/7/raylift");
  for (const char* ignored : {"", "relative"}) {
    ::setenv("XDG_RUNTIME_DIR", ignored, 1);
    EXPECT_EQ(SocketFolder::usual_path(), "/tmp/raylift-" + std::to_string(::geteuid()));
  }
  set != nullptr ? ::setenv("XDG_RUNTIME_DIR", before.c_str(), 1) : ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_F(ViewerSocket, TrustsNoFolderThatOthersCanReach) {
  const auto problem = [&](const std::filesystem::path& path) -> std::string {
    try {
      const ViewServer server(target_, path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      return error.problem();
    }
    return "";
  };
  EXPECT_EQ(problem(folder()), "");
  for (const mode_t open : {0750U, 0701U, 0777U, 01777U}) {
    ASSERT_EQ(::chmod(folder().c_str(), open), 0);
    EXPECT_NE(problem(folder()).find("others have access"), std::string::npos) << std::oct << open;
  }
  ASSERT_EQ(::chmod(folder().c_str(), 0700), 0);
  std::filesystem::create_directory_symlink(folder(), place_.path() / "link");
  EXPECT_NE(problem(place_.path() / "link").find("not a folder"), std::string::npos);
  (void)place_.write("file", "");
  EXPECT_NE(problem(place_.path() / "file").find("not a folder"), std::string::npos);
  EXPECT_NE(problem(place_.path() / "none" / "raylift"), "") << "the folder above is not made";
  // Whoever can rename the folder can put another one in its place.
  ASSERT_EQ(::chmod(place_.path().c_str(), 0777), 0);
  EXPECT_NE(problem(folder()).find("others can write"), std::string::npos);
  ASSERT_EQ(::chmod(place_.path().c_str(), 01777), 0);
  EXPECT_EQ(problem(folder()), "") << "as in /tmp";
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder().c_str(), 65534, 65534), 0);
    EXPECT_NE(problem(folder()).find("another user's"), std::string::npos);
  }
}

TEST_F(ViewerSocket, AnswersItsUserAlone) {
  // The kernel says who asks; here the server is another user's.
  const auto server = make_server(::geteuid() + 1);
  ViewClient client(server->path());
  client.send(request("hide", {{"solids", "pmt_1"}}) + '\n');
  serve_all(*server);
  EXPECT_TRUE(client.ended()) << "without a word";
  EXPECT_EQ(state_.solids()->visible()[1], 1);
  EXPECT_EQ(server->clients(), 0U);
  if (::geteuid() != 0) return;
  const auto mine = make_server();
  const std::string path = mine->path().string();
  const pid_t other = ::fork();
  if (other == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    try {
      (void)connect_to(path);
      ::_exit(1);
    } catch (const Error&) {
      ::_exit(0);
    }
  }
  int status = -1;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0) << "no other user can connect";
}

TEST_F(ViewerSocket, RemovesSocketsOfViewersThatHaveEnded) {
  const auto live = make_server();
  {
    const SocketFolder sockets(folder(), false);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the clock of files has some milliseconds
    const auto [socket, name] = sockets.listen();                // it ends without a trace but its name
    EXPECT_EQ(sockets.names().size(), 2U);
    EXPECT_EQ(sockets.names().front(), name) << "the newest first";
  }
  EXPECT_EQ(SocketFolder(folder(), false).names().size(), 2U);
  const auto next = make_server();
  std::vector<std::string> names = SocketFolder(folder(), false).names();
  std::sort(names.begin(), names.end());
  std::vector<std::string> wanted{live->path().filename().string(), next->path().filename().string()};
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(names, wanted);
  ViewClient client(live->path());
  client.send(request("state") + '\n');
  serve_all(*live);
  EXPECT_EQ(client.next()["result"]["solids"], 3);
}

TEST_F(ViewerSocket, AnswersWhoHasSentAllThatItSends) {
  const auto server = make_server();
  ViewClient client(server->path());
  client.send(request("state"));  // without an end of line
  client.end();
  serve_all(*server);
  EXPECT_EQ(client.next()["result"]["solids"], 3);
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(server->clients(), 0U);
  // Who leaves at once has asked all the same.
  {
    ViewClient(server->path())
        .send(request("hide", {{"solids", "pmt_1"}}) + '\n' + request("select", {{"solid", "tank"}}) + '\n');
  }
  serve_all(*server);
  EXPECT_EQ(state_.solids()->visible()[1], 0);
  EXPECT_TRUE(state_.selection());
  EXPECT_EQ(server->clients(), 0U);
}

TEST_F(ViewerSocket, OutlivesHostileClients) {
  const auto server = make_server();
  ViewClient good(server->path());
  const std::vector<std::string> hostile{std::string(std::size_t{2} << 20, 'x'),
                                         std::string(10000, '[') + '\n',
                                         std::string(1000, '\n'),
                                         std::string(5000, '\0') + '\n',
                                         "{\"jsonrpc\": \"2.0\", \"method\": \"\xFF\"}\n",
                                         "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                         R"({"jsonrpc": "2.0", "id": 1, "meth)"};
  for (const std::string& text : hostile)
    for (const bool reads : {true, false}) {
      ViewClient client(server->path());
      // In pieces that the socket takes; the server reads between them.
      for (std::size_t done = 0; done < text.size() && client.open();) {
        done += client.try_send(std::string_view(text).substr(done));
        (void)server->serve();
      }
      serve_all(*server);
      if (reads) client.read_all();
    }
  serve_all(*server);
  EXPECT_EQ(server->clients(), 1U) << "those who have left are forgotten";
  good.send(request("state") + '\n');
  serve_all(*server);
  EXPECT_EQ(good.next()["result"]["visible"], 3);
}

TEST_F(ViewerSocket, WaitsForNobodyWhoDoesNotRead) {
  const auto server = make_server();
  ViewClient slow(server->path()), good(server->path());
  // More than sockets hold: some ten MB of answers, of which there are fewer under sanitizers.
  constexpr int kAnswers = test::effort(1000);
  std::string flood;
  for (int i = 0; i != kAnswers; ++i) flood += request("rpc.discover", Json::object(), i) + '\n';
  slow.send(flood);
  serve_all(*server);  // it rests, although answers are left
  good.send(request("state") + '\n');
  serve_all(*server);
  EXPECT_EQ(good.next()["result"]["solids"], 3);
  // Once it reads, it gets all of them, in order.
  for (int i = 0; i != kAnswers; ++i) {
    Json answer;
    for (int tries = 0; answer.is_null() && tries != 1000; ++tries) {
      answer = slow.try_next();
      if (answer.is_null()) (void)server->serve();
    }
    ASSERT_EQ(answer["id"], i);
  }
}

TEST_F(ViewerSocket, HasSoManyClientsAndNoMore) {
  const auto server = make_server();
  std::vector<std::unique_ptr<ViewClient>> clients;
  for (std::size_t i = 0; i != ViewServer::kMaxClients + 3; ++i) {
    clients.push_back(std::make_unique<ViewClient>(server->path()));
    serve_all(*server);
  }
  EXPECT_EQ(server->clients(), ViewServer::kMaxClients);
  EXPECT_EQ(clients.back()->next()["error"]["data"]["kind"], "limit");
  EXPECT_TRUE(clients.back()->ended());
  clients.erase(clients.begin(), clients.begin() + 4);
  serve_all(*server);
  EXPECT_EQ(server->clients(), ViewServer::kMaxClients - 4);
  ViewClient late(server->path());
  late.send(request("state") + '\n');
  serve_all(*server);
  EXPECT_EQ(late.next()["result"]["solids"], 3);
}

TEST_F(ViewerSocket, RestsWhileAResultIsPending) {
  const auto server = make_server();
  ViewClient client(server->path()), gone(server->path()), half(server->path());
  half.send(request("open", {{"file", "/nowhere.dae"}}) + '\n');
  half.end();  // it may be read from for ever: there is nothing
  client.send(request("open", {{"file", "/nowhere.dae"}}) + '\n');
  gone.send(request("open", {{"file", "/nowhere.dae"}}) + '\n' + request("state") + '\n');
  serve_all(*server);
  EXPECT_EQ(server->clients(), 3U);
  gone.close();
  serve_all(*server);
  EXPECT_EQ(server->clients(), 2U) << "no client waits for its result";
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  Json answer;
  while (answer.is_null() && std::chrono::steady_clock::now() < until) {
    loader_.poll(state_);
    (void)server->serve();
    answer = client.try_next();
  }
  EXPECT_EQ(answer["error"]["data"]["kind"], "cancelled") << "another file was opened after it";
}

}  // namespace
}  // namespace raylift::viewer
