// SPDX-License-Identifier: Apache-2.0
// What one client says and is told: lines of JSON-RPC 2.0, answered in their order. No sockets, and bounded memory: a
// client that does not read its answers gets no more of them.
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
  static constexpr std::size_t kMaxOutput = std::size_t{256} << 10;  ///< beyond it nothing is answered

  explicit Conversation(const ControlTarget& target) : target_(target) {}

  // Input.
  /// Whether receive() may be called: not while a message is here in full size.
  [[nodiscard]] bool wants_input() const { return !input_ended_ && input_.size() - begin_ <= rpc::kMaxBytes; }
  void receive(std::string_view bytes);
  /// The client sends nothing more. What it sent last needs no end of line.
  void end_input();

  /// Answers what is here: until a result is pending, the output is full, or the time is over. Returns whether
  /// something was done.
  bool work(Clock::time_point until);
  /// Puts in notifications of what has changed. Where the client has not read all yet, they wait: it is told of the
  /// last state alone.
  void notify();
  /// Whether work() has something to do at once.
  [[nodiscard]] bool has_work() const;
  [[nodiscard]] bool pending() const { return pending_ != nullptr; }

  // Output.
  [[nodiscard]] std::string_view output() const { return output_; }
  void sent(std::size_t bytes) { output_.erase(0, bytes); }
  /// The client reads nothing more.
  void deafen();
  /// Whether nothing more will come of it.
  [[nodiscard]] bool finished() const;

 private:
  void refuse_input(std::string_view why);
  bool take_message();
  /// The answer to a call; nothing where it is pending.
  std::optional<Json> answer(const rpc::Call& call);
  [[nodiscard]] Answer begin(const rpc::Call& call, rpc::Code& failing);
  [[nodiscard]] Json subscribe(const std::vector<std::string>& topics);
  [[nodiscard]] Json topic(std::string_view name) const;
  void say(const Json& message);

  ControlTarget target_;
  std::string input_;
  std::size_t begin_ = 0;    // of what is not read yet in input_
  std::size_t scanned_ = 0;  // from begin_ to here there is no end of line
  bool input_ended_ = false, deaf_ = false;
  std::string output_;
  struct Work {
    rpc::Message message;
    std::size_t next = 0;
    Json answers = Json::array();
  };
  std::optional<Work> work_;
  Pending pending_;  // of the call work_->next
  struct Told {
    std::string topic;
    Json last;
  };
  std::vector<Told> told_;
  std::uint64_t told_revision_ = 0;
};

}  // namespace raylift::viewer
