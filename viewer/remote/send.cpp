// SPDX-License-Identifier: Apache-2.0
#include "remote/send.h"

#include <poll.h>
#include <raylift/geometry/error.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "base/json.h"
#include "base/suggest.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "cli/text.h"
#include "remote/answer_text.h"
#include "remote/arguments.h"
#include "remote/json_rpc.h"
#include "remote/view_socket.h"

namespace raylift::viewer {
namespace {

constexpr const char* kGroup = "Control of a running viewer";
constexpr const char* kStartOne = "start one: raylift-view FILE";

/// A connection to a viewer of this user.
base::Descriptor connected(const std::string& to) {
  std::optional<base::Descriptor> socket;
  if (to.find('/') != std::string::npos) {
    socket = connect_to(to);
    if (!socket) throw Error(ErrorKind::io, "no viewer listens there", {to, ""}, kStartOne);
  } else {
    const SocketFolder folder(SocketFolder::usual_path(), true);
    const bool number = std::all_of(to.begin(), to.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!number) throw Error(ErrorKind::usage, "--to takes the number of a process, or the path of a socket");
    const std::vector<std::string> names =
        to.empty() ? folder.names() : std::vector<std::string>{"view-" + to + ".sock"};
    for (const std::string& name : names)
      if ((socket = folder.connect(name))) break;
    if (!socket)
      throw Error(ErrorKind::io,
                  to.empty() ? "no viewer of yours is running" : "process " + to + " is no viewer of yours", {},
                  kStartOne);
  }
  if (peer_of(*socket) != ::geteuid()) throw Error(ErrorKind::io, "the viewer there is another user's", {to, ""});
  return std::move(*socket);
}

using Clock = std::chrono::steady_clock;

/// The time until which a viewer may answer.
struct TimeLimit {
  double seconds;  ///< 0: none
  Clock::time_point end;

  explicit TimeLimit(double its_seconds)
      : seconds(its_seconds),
        end(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(its_seconds))) {}
  /// Throws Error(limit).
  void check() const {
    if (seconds == 0 || Clock::now() < end) return;
    throw Error(ErrorKind::limit, "the viewer gave no answer within " + cli::short_number(seconds) + " s", {},
                "wait longer: --send-timeout SECONDS, 0 without a limit; the viewer goes on with its work");
  }
};

/// Waits until the socket is ready; an interrupt throws Error(cancelled), a late answer Error(limit).
void wait_for(const base::Descriptor& socket, short events, const cli::Session& session, const TimeLimit& limit) {
  pollfd awaited{socket.get(), events, 0};
  constexpr int kLook = 200;  // ms: a signal may come just before poll()
  while (::poll(&awaited, 1, kLook) <= 0) {
    session.stop_if_interrupted();
    limit.check();
  }
}

/// The connection to a viewer, line by line.
class Lines {
 public:
  Lines(const base::Descriptor& socket, const cli::Session& session, const TimeLimit& limit)
      : socket_(socket), session_(session), limit_(limit) {}

  void write(const std::string& text) const {
    for (std::size_t sent = 0; sent < text.size();) {
      wait_for(socket_, POLLOUT, session_, limit_);
      const ssize_t count = ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno != EAGAIN && errno != EINTR) return;  // an answer may say why
      sent += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
  }
  /// The next line; none where the viewer has ended.
  std::optional<Json> next() {
    std::array<char, 4096> piece{};
    std::size_t end = 0;
    while ((end = text_.find('\n')) == std::string::npos) {
      wait_for(socket_, POLLIN, session_, limit_);
      const ssize_t count = ::recv(socket_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (count <= 0) return std::nullopt;
      text_.append(piece.data(), static_cast<std::size_t>(count));
    }
    Json json = base::parse_json<Json>(text_.substr(0, end));
    if (!json.is_object()) throw Error(ErrorKind::malformed, "the answer is not that of a viewer");
    text_.erase(0, end + 1);
    return json;
  }

 private:
  const base::Descriptor& socket_;
  const cli::Session& session_;
  const TimeLimit& limit_;
  std::string text_;
};

/// Prints a line for each notification, until the viewer ends, or an interrupt.
int print_notifications(Lines& lines, bool as_json, cli::Session& session) {
  while (const std::optional<Json> sent = lines.next()) {
    const Json params = sent->value("params", Json());
    session.write(as_json ? rpc::line(*sent) : as_text(sent->value("method", "")) + ": " + as_text(params) + '\n');
  }
  return 0;
}

}  // namespace

void add_send_options(CLI::App& app, SendOptions& options) {
  cli::offer(app.add_option("--send", options.verb,
                            "Send a verb (open, look, select, ...) to a running viewer; its parameters, NAME=VALUE..., "
                            "follow in place of files"),
             verb_names())
      ->type_name("VERB")
      ->group(kGroup);
  app.add_option("--to", options.to, "With --send: the viewer with this process number or socket; else the newest one")
      ->type_name("PID|PATH")
      ->group(kGroup);
  cli::add_parsed(app, "--send-timeout", "SECONDS", "300",
                  "With --send: how long the answer may take, up to 1 million; 0: no limit",
                  [&](const std::string& text) {
                    const auto seconds = cli::number(text);
                    constexpr double kMax = 1e6;
                    if (!seconds || !(*seconds >= 0 && *seconds <= kMax))
                      throw Error(ErrorKind::usage, "'" + cli::printable(text) + "' is no number of seconds");
                    options.seconds = *seconds;
                  })
      ->group(kGroup);
  cli::add_flag(app, "--json", options.json, "With --send: print the answer as JSON")->group(kGroup);
  cli::add_flag(app, "--verbs", options.describe, "Print the schema of all verbs as JSON")->group(kGroup);
}

int send(const SendOptions& options, const std::vector<std::string>& words, cli::Session& session) {
  const Verb* verb = find_verb(options.verb);
  if (verb == nullptr)
    throw Error(
        ErrorKind::usage,
        "there is no verb '" + cli::printable(options.verb) + "'" + base::did_you_mean(options.verb, verb_names()), {},
        "see 'raylift-view --help'");
  const Arguments arguments = Arguments::of_words(*verb, words);
  const Json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", verb->name}, {"params", arguments.json()}};
  const base::Descriptor socket = connected(options.to);
  // Notifications come for as long as the viewer runs.
  const TimeLimit limit(verb->name == "subscribe" ? 0 : options.seconds);
  Lines lines(socket, session, limit);
  lines.write(rpc::line(request));
  const std::optional<Json> answer = lines.next();
  if (!answer) throw Error(ErrorKind::io, "the viewer ended without an answer");
  if (answer->contains("error")) throw error_of((*answer)["error"]);
  if (verb->name == "subscribe") return print_notifications(lines, options.json, session);
  const Json result = answer->value("result", Json());
  session.write(options.json ? base::json_text(result, 2) + '\n' : lines_of(result));
  return 0;
}

}  // namespace raylift::viewer
