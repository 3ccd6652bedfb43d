// SPDX-License-Identifier: Apache-2.0
#include "remote/typed_commands.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/suggest.h"
#include "cli/text.h"
#include "remote/answer_text.h"
#include "remote/arguments.h"

namespace raylift::viewer {
namespace {

constexpr std::size_t kLongestAnswer = 400;  // bytes of a message in the window

/// The same with numbers of six digits.
Json rounded(Json value) {
  if (value.is_number_float()) {
    constexpr double kDigits = 6;
    const double number = value.get<double>();
    if (number == 0 || !std::isfinite(number)) return value;
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(number))) + 1 - kDigits);
    return unit < 1 ? std::round(number / unit) / (1 / unit) : std::round(number);
  }
  if (value.is_structured())
    for (Json& one : value) one = rounded(std::move(one));
  return value;
}

/// "look: fov: 40, orthographic: false".
std::string message_of(const std::string& verb, const Json& result) {
  std::string text = lines_of(rounded(result));
  while (text.ends_with('\n')) text.pop_back();
  for (std::size_t end; (end = text.find('\n')) != std::string::npos;) text.replace(end, 1, ", ");
  if (text.size() > kLongestAnswer) {
    text.resize(kLongestAnswer);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
    text += "...";
  }
  return text.empty() ? verb + ": done" : verb + ": " + text;
}

}  // namespace

std::vector<std::string> words_of_line(const std::string& line) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : line) {
    if (quote == 0 && (c == ' ' || c == '\t')) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (c == quote)
      quote = 0;
    else
      words.back() += c;
  }
  if (quote != 0) throw Error(ErrorKind::usage, std::string("a closing ") + quote + " is missing");
  return words;
}

TypedCommands::TypedCommands(const ControlTarget& target) : target_(target), talk_(target) {
  for (const Verb& verb : verbs()) {
    if (verb.act == nullptr) continue;  // for programs: subscriptions
    Entry entry{std::string(verb.name), std::string(verb.help), parameters_help(verb)};
    entry.complete =
        std::none_of(verb.parameters.begin(), verb.parameters.end(), [](const Parameter& one) { return one.required; });
    entries_.push_back(std::move(entry));
  }
}

void TypedCommands::run(const std::string& line) {
  target_.state.messages().attempt([&] {
    const std::vector<std::string> words = words_of_line(line);
    if (words.empty()) return;
    const Verb* verb = find_verb(words.front());
    if (verb == nullptr)
      throw Error(ErrorKind::usage, "there is no verb '" + cli::printable(words.front()) + "'" +
                                        base::did_you_mean(words.front(), verb_names()));
    const Arguments arguments = Arguments::of_words(*verb, std::span(words).subspan(1));
    talk_.receive(
        rpc::line({{"jsonrpc", "2.0"}, {"id", verb->name}, {"method", verb->name}, {"params", arguments.json()}}));
  });
  (void)serve();
}

bool TypedCommands::serve() {
  if (!talk_.has_work() && !talk_.pending()) return false;
  const bool worked = talk_.work(Conversation::Clock::now() + std::chrono::milliseconds(5));
  for (std::size_t end; (end = talk_.output().find('\n')) != std::string_view::npos; talk_.sent(end + 1)) {
    const Json answer = Json::parse(talk_.output().substr(0, end));
    target_.state.messages().attempt([&] {
      if (answer.contains("error")) throw error_of(answer["error"]);
      target_.state.messages().show(message_of(answer.value("id", ""), answer.value("result", Json())));
    });
  }
  return worked;
}

}  // namespace raylift::viewer
