// SPDX-License-Identifier: Apache-2.0
#include "window/controls/command_palette.h"

#include <algorithm>
#include <cctype>

namespace raylift::viewer {
namespace {

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool begins_word(std::string_view text, std::size_t place) {
  return place == 0 || std::isalnum(static_cast<unsigned char>(text[place - 1])) == 0;
}

/// The score of one word.
int word_score(std::string_view word, std::string_view text) {
  constexpr int kAtBegin = 100, kAtWord = 80, kInside = 40, kStrewn = 10;
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  int best = 0;
  for (auto from = text.begin();; ++from) {
    from = std::search(from, text.end(), word.begin(), word.end(), same);
    if (from == text.end()) break;
    const auto place = static_cast<std::size_t>(from - text.begin());
    best = std::max(best, place == 0 ? kAtBegin : begins_word(text, place) ? kAtWord : kInside);
  }
  if (best != 0 || word.size() < 2) return best;
  // Else its letters in this order, close to each other, the first of them at a word's begin: "clbx" of "clip box".
  const std::size_t reach = 4 * word.size();
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (!same(text[begin], word.front()) || !begins_word(text, begin)) continue;
    std::size_t place = begin;
    const bool all = std::all_of(word.begin(), word.end(), [&](char c) {
      while (place != text.size() && !same(text[place], c)) ++place;
      return place != text.size() && place++ < begin + reach;
    });
    if (all) return kStrewn;
  }
  return 0;
}

}  // namespace

int match_score(std::string_view typed, std::string_view text) {
  int sum = 1;
  while (!typed.empty()) {
    const std::size_t end = std::min(typed.find(' '), typed.size());
    if (end != 0) {
      const int score = word_score(typed.substr(0, end), text);
      if (score == 0) return 0;
      sum += score;
    }
    typed.remove_prefix(std::min(end + 1, typed.size()));
  }
  return sum;
}

CommandPalette::CommandPalette(const Commands* commands) {
  for (const Control& one : controls())
    if (one.kind == Control::Kind::key && one.shown.empty())
      all_.push_back({std::string(one.help), one.all_names(), &one, nullptr});
  if (commands != nullptr)
    for (const Commands::Entry& one : commands->all())
      all_.push_back({one.help, one.parameters.empty() ? one.name : one.name + " ...", nullptr, &one});
  rows_ = all_;
}

void CommandPalette::type(std::string_view text) {
  if (text == typed_) return;
  typed_ = text;
  chosen_ = 0;
  rows_.clear();
  const std::string_view first = text.substr(0, text.find(' '));
  if (first.size() != text.size())
    for (const Row& row : all_)
      if (row.verb != nullptr && row.verb->name == first) rows_.push_back(row);
  if (!rows_.empty()) return;
  if (text.empty()) {
    rows_ = all_;
    return;
  }
  std::vector<std::pair<int, const Row*>> found;
  for (const Row& row : all_) {
    // Actions are found by their keys and verbs' names too, of which a whole one comes first.
    constexpr int kWhole = 1000;
    const std::string& name = row.verb != nullptr ? row.verb->name : row.key;
    // The parameters of a verb find it where its words don't: "background" is one of draw.
    std::string words = row.label + ' ' + name;
    int score = match_score(text, words);
    if (score == 0 && row.verb != nullptr) {
      for (const auto& [form, help] : row.verb->parameters) words += ' ' + form;
      score = std::min(1, match_score(text, words));
    }
    if (score != 0 && match_score(text, name) != 0) score += name.size() == text.size() ? kWhole : 1;
    if (score != 0) found.emplace_back(score, &row);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [score, row] : found) rows_.push_back(*row);
}

void CommandPalette::move(int rows) {
  if (rows_.empty()) return;
  const auto last = static_cast<std::ptrdiff_t>(rows_.size()) - 1;
  chosen_ = static_cast<std::size_t>(std::clamp(static_cast<std::ptrdiff_t>(chosen_) + rows, std::ptrdiff_t{0}, last));
}

std::string CommandPalette::enter(const ControlTarget& target, Commands* commands) const {
  if (chosen_ >= rows_.size()) return typed_;
  const Row& row = rows_[chosen_];
  if (row.control != nullptr) {
    target.layout.palette = false;
    row.control->act(target, {});
    return {};
  }
  const std::string& name = row.verb->name;
  const bool named = typed_.size() > name.size() && typed_.starts_with(name) && typed_[name.size()] == ' ';
  const bool parameters = named && typed_.find_first_not_of(' ', name.size()) != std::string::npos;
  if (!parameters && !row.verb->parameters.empty() && !(named && row.verb->complete)) return name + ' ';
  if (commands != nullptr) commands->run(named ? typed_ : name);
  target.layout.palette = false;
  return {};
}

}  // namespace raylift::viewer
