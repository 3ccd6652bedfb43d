// SPDX-License-Identifier: Apache-2.0
// A client's requests and their answers: lines of JSON-RPC 2.0, answered in order. No sockets. Memory is bounded: while
// a client does not read its answers, no further request is answered.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remote/json_rpc.h"
#include "remote/verbs.h"

namespace raylift::viewer {

class Conversation {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMaxOutput = std::size_t{256} << 10;  ///< bytes; above it no request is answered

  explicit Conversation(const ControlTarget& target) : target_(target) {}

  // Input.
  /// Whether receive() may be called: not while the input has a message of the largest size.
  [[nodiscard]] bool wants_input() const { return !input_ended_ && input_.size() - begin_ <= rpc::kMaxBytes; }
  void receive(std::string_view bytes);
  /// The client sends no more input. The last message needs no end of line.
  void end_input();

  /// Answers requests until a result is pending, the output is full, or the time is over. Returns whether it answered
  /// one.
  bool work(Clock::time_point until);
  /// Appends notifications of changes, once the client has read all output: a slow client gets the last state alone.
  void notify();
  /// Whether work() would answer a request now.
  [[nodiscard]] bool has_work() const;
  [[nodiscard]] bool pending() const { return pending_ != nullptr; }

  // Output.
  [[nodiscard]] std::string_view output() const { return output_; }
  void sent(std::size_t bytes) { output_.erase(0, bytes); }
  /// The client reads no more output.
  void close_output();
  /// Whether the connection can be closed.
  [[nodiscard]] bool finished() const;

 private:
  void refuse_input(std::string_view why);
  bool next_message();
  /// The answer to a call; none while it is pending.
  std::optional<Json> answer(const rpc::Call& call);
  [[nodiscard]] Answer begin(const rpc::Call& call, rpc::Code& failing);
  [[nodiscard]] Json subscribe(const std::vector<std::string>& topics);
  [[nodiscard]] Json topic(std::string_view name) const;
  void append(const Json& message);

  ControlTarget target_;
  std::string input_;
  std::size_t begin_ = 0;    // of the first message in input_
  std::size_t scanned_ = 0;  // from begin_ to here there is no end of line
  bool input_ended_ = false, output_closed_ = false;
  std::string output_;
  std::optional<rpc::Call> call_;  // that is answered next
  Pending pending_;                // its result
  struct Subscription {
    std::string topic;
    Json last;  // that was sent
  };
  std::vector<Subscription> subscriptions_;
  std::uint64_t notified_revision_ = 0;
};

}  // namespace raylift::viewer
