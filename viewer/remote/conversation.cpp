// SPDX-License-Identifier: Apache-2.0
#include "remote/conversation.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <new>

#include "base/suggest.h"
#include "cli/text.h"
#include "remote/arguments.h"
#include "remote/state_json.h"

namespace raylift::viewer {
void Conversation::receive(std::string_view bytes) {
  if (input_ended_) return;
  input_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  input_.append(bytes);
}

void Conversation::end_input() {
  input_ended_ = true;
}

/// A message that is too large ends the input: where the next one begins is unknown.
void Conversation::refuse_input(std::string_view why) {
  append(rpc::error(nullptr, rpc::Code::invalid_request, why));
  input_.clear();
  begin_ = scanned_ = 0;
  input_ended_ = true;
}

bool Conversation::next_message() {
  while (begin_ != input_.size()) {
    std::size_t end = input_.find('\n', scanned_);
    if (end == std::string::npos) {
      scanned_ = input_.size();
      if (scanned_ - begin_ > rpc::kMaxBytes) {
        refuse_input("a message has at most " + cli::grouped(rpc::kMaxBytes) + " bytes");
        return false;
      }
      if (!input_ended_) return false;
      end = input_.size();
    }
    const std::string_view text = std::string_view(input_).substr(begin_, end - begin_);
    begin_ = scanned_ = std::min(end + 1, input_.size());
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    call_ = rpc::parse(text);
    return true;
  }
  return false;
}

bool Conversation::has_work() const {
  if (pending_ || output_.size() > kMaxOutput) return false;
  const std::size_t left = input_.size() - begin_;
  return call_ || input_.find('\n', scanned_) != std::string::npos || (input_ended_ && left != 0) ||
         left > rpc::kMaxBytes;
}

bool Conversation::work(Clock::time_point until) {
  bool worked = false;
  while (output_.size() <= kMaxOutput && (call_ || next_message())) {
    const std::optional<Json> reply = answer(*call_);
    if (!reply) return worked;
    worked = true;
    // An invalid request is answered even without an id.
    if (call_->id || call_->refusal) append(*reply);
    call_.reset();
    if (Clock::now() >= until) break;
  }
  return worked;
}

Answer Conversation::begin(const rpc::Call& call, rpc::Code& failing) {
  failing = rpc::Code::method_not_found;
  if (call.method == "rpc.discover") return describe_verbs();
  const Verb* verb = find_verb(call.method);
  if (verb == nullptr) {
    const std::string name = call.method.substr(0, 64);
    throw Error(ErrorKind::usage,
                "there is no verb '" + cli::printable(name) + "'" + base::did_you_mean(name, verb_names()));
  }
  failing = rpc::Code::invalid_params;
  const Arguments arguments(*verb, call.params);
  failing = rpc::Code::raylift_error;
  if (verb->act != nullptr) return verb->act(target_, arguments);
  std::vector<std::string> topics;
  if (verb->name == "subscribe") {
    topics = arguments.texts("to");
    if (topics.empty()) topics = verb->parameters.front().choices;
  }
  return subscribe(topics);
}

std::optional<Json> Conversation::answer(const rpc::Call& call) {
  if (call.refusal) return *call.refusal;
  const Json id = call.id.value_or(nullptr);
  rpc::Code failing = rpc::Code::raylift_error;
  try {
    if (!pending_) {
      Answer begun = begin(call, failing);
      if (Json* value = std::get_if<Json>(&begun)) return rpc::result(id, std::move(*value));
      pending_ = std::move(std::get<Pending>(begun));
    }
    std::optional<Json> value = pending_();
    if (!value) return std::nullopt;
    pending_ = nullptr;
    return rpc::result(id, std::move(*value));
  } catch (const Error& error) {
    pending_ = nullptr;
    return rpc::error(id, failing, error);
  } catch (const std::bad_alloc&) {
    pending_ = nullptr;
    return rpc::error(id, rpc::Code::raylift_error, Error(ErrorKind::out_of_host_memory, "no memory left"));
  } catch (const std::exception& error) {
    pending_ = nullptr;
    return rpc::error(id, rpc::Code::internal_error, error.what());
  }
}

/// Notifications are of changes from now on.
Json Conversation::subscribe(const std::vector<std::string>& topics) {
  subscriptions_.clear();
  for (const std::string& name : topics) subscriptions_.push_back({name, topic(name)});
  notified_revision_ = target_.state.revision();
  return topics.empty() ? Json() : Json{{"to", topics}};
}

Json Conversation::topic(std::string_view name) const {
  if (name == "camera") return to_json(target_.state.camera());
  if (name == "selection") return selection_json(target_.state);
  if (name == "progress") return progress_json(target_);
  // A reloaded file counts as opened.
  return target_.state.shown_request();
}

void Conversation::notify() {
  if (subscriptions_.empty() || !output_.empty() || output_closed_) return;
  const bool same = notified_revision_ == target_.state.revision();
  notified_revision_ = target_.state.revision();
  for (Subscription& one : subscriptions_) {
    if (same && one.topic != "progress") continue;  // work goes on without a change of the state
    Json now = topic(one.topic);
    if (now == one.last) continue;
    one.last = std::move(now);
    const Json& params = one.topic == "opened" ? scene_json(target_.state) : one.last;
    // Parameters are an object, also without a selection or work.
    const bool wrapped = one.topic == "selection" || one.topic == "progress";
    append(rpc::notification(one.topic, wrapped ? Json{{one.topic, params}} : params));
  }
}

void Conversation::append(const Json& message) {
  if (!output_closed_) output_ += rpc::line(message);
}

void Conversation::close_output() {
  output_closed_ = true;
  output_.clear();
}

bool Conversation::finished() const {
  if (output_closed_ && pending_) return true;  // no client waits for the result
  return input_ended_ && output_.empty() && !call_ && !has_work();
}

}  // namespace raylift::viewer
