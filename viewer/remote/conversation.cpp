// SPDX-License-Identifier: Apache-2.0
#include "remote/conversation.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <new>

#include "base/suggest.h"
#include "cli/text.h"
#include "remote/arguments.h"
#include "remote/describe_verbs.h"
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

/// After a message that is too large nobody knows where the next one begins.
void Conversation::refuse_input(std::string_view why) {
  say(rpc::error(nullptr, rpc::Code::invalid_request, why));
  input_.clear();
  begin_ = scanned_ = 0;
  input_ended_ = true;
}

bool Conversation::take_message() {
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
    work_.emplace(Work{rpc::parse(text)});
    return true;
  }
  return false;
}

bool Conversation::has_work() const {
  if (pending_ || output_.size() > kMaxOutput) return false;
  const std::size_t left = input_.size() - begin_;
  return work_ || input_.find('\n', scanned_) != std::string::npos || (input_ended_ && left != 0) ||
         left > rpc::kMaxBytes;
}

bool Conversation::work(Clock::time_point until) {
  bool worked = false;
  while (output_.size() <= kMaxOutput && (work_ || take_message())) {
    Work& work = *work_;
    while (work.next != work.message.calls.size()) {
      const rpc::Call& call = work.message.calls[work.next];
      std::optional<Json> told = answer(call);
      if (!told) return worked;
      worked = true;
      ++work.next;
      // An invalid request is answered, whatever it may have meant.
      if (call.id || call.refusal) work.answers.push_back(std::move(*told));
    }
    if (!work.answers.empty()) say(work.message.batch ? work.answers : work.answers.front());
    work_.reset();
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

/// Told are changes from now on.
Json Conversation::subscribe(const std::vector<std::string>& topics) {
  told_.clear();
  for (const std::string& name : topics) told_.push_back({name, topic(name)});
  told_revision_ = target_.state.revision();
  return topics.empty() ? Json() : Json{{"to", topics}};
}

Json Conversation::topic(std::string_view name) const {
  if (name == "camera") return to_json(target_.state.camera());
  if (name == "selection") return selection_json(target_.state);
  // A file that is read again is told of, too.
  return target_.state.shown_request();
}

void Conversation::notify() {
  if (told_.empty() || !output_.empty() || deaf_ || told_revision_ == target_.state.revision()) return;
  told_revision_ = target_.state.revision();
  for (Told& told : told_) {
    Json now = topic(told.topic);
    if (now == told.last) continue;
    told.last = std::move(now);
    const Json& params = told.topic == "opened" ? scene_json(target_.state) : told.last;
    // Parameters are an object, also where nothing is selected.
    say(rpc::notification(told.topic, told.topic == "selection" ? Json{{"selection", params}} : params));
  }
}

void Conversation::say(const Json& message) {
  if (!deaf_) output_ += rpc::line(message);
}

void Conversation::deafen() {
  deaf_ = true;
  output_.clear();
}

bool Conversation::finished() const {
  if (deaf_ && pending_) return true;  // nobody waits for the result
  return input_ended_ && output_.empty() && !work_ && !has_work();
}

}  // namespace raylift::viewer
