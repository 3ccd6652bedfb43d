// SPDX-License-Identifier: Apache-2.0
#include "model/solids/word_query.h"

#include <algorithm>

#include "cli/text.h"

namespace raylift::viewer {
namespace {

constexpr int kWhole = 1, kNumber = 2, kBegin = 3, kPart = 4;

enum class Letter { digit, lower, upper, other, mark };

Letter kind(char c) {
  if (c >= '0' && c <= '9') return Letter::digit;
  if (c >= 'a' && c <= 'z') return Letter::lower;
  if (c >= 'A' && c <= 'Z') return Letter::upper;
  return static_cast<unsigned char>(c) >= 0x80 ? Letter::other : Letter::mark;
}

/// Whether a word ends before text[i] and another begins there: "Sensor_117", "Sensor117", "LiquidScintillator".
bool between_words(std::string_view text, std::size_t i) {
  if (i == 0 || i >= text.size()) return true;
  const Letter before = kind(text[i - 1]), after = kind(text[i]);
  if (before == Letter::mark || after == Letter::mark) return true;
  if ((before == Letter::digit) != (after == Letter::digit)) return true;
  return before == Letter::lower && after == Letter::upper;
}

/// How one word fits a text, which `lower` has in lower case; 0: the word is not in it.
int rank_of(const std::string& word, std::string_view text, const std::string& lower) {
  int best = 0;
  for (std::size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1)) {
    const bool begins = between_words(text, at), ends = between_words(text, at + word.size());
    const int rank = begins && ends ? kWhole : begins ? kBegin : kPart;
    if (best == 0 || rank < best) best = rank;
  }
  return best;
}

}  // namespace

WordQuery::WordQuery(std::string_view typed) : typed_(cli::lower(typed)) {
  for (std::size_t at = 0; at < typed_.size();) {
    const std::size_t begin = typed_.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    at = std::min(typed_.find(' ', begin), typed_.size());
    words_.push_back(typed_.substr(begin, at - begin));
  }
}

std::optional<int> WordQuery::rank(std::string_view text, const std::vector<std::string>& numbers) const {
  constexpr int kWorst = 1000;  // more than the sum over all words
  const std::string lower = cli::lower(text);
  if (lower == typed_) return 0;
  int worst = 0, sum = 0;
  for (const std::string& word : words_) {
    int rank = rank_of(word, text, lower);
    if ((rank == 0 || rank > kNumber) && std::find(numbers.begin(), numbers.end(), word) != numbers.end())
      rank = kNumber;
    if (rank == 0) return std::nullopt;
    worst = std::max(worst, rank);
    sum += rank;
  }
  return worst * kWorst + std::min(sum, kWorst - 1);
}

}  // namespace raylift::viewer
