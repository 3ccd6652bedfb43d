// SPDX-License-Identifier: Apache-2.0
#include "suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace raylift::base {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table: of this character and of the two before it.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // A text this long is not a mistyped candidate, and would take long.
  constexpr std::size_t kLongest = 64;
  if (word.empty() || word.size() > kLongest) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  if (!best.empty()) return best;
  const auto begins = [&](const std::string& candidate) {
    return std::string_view(candidate).substr(0, word.size()) == word;
  };
  if (std::count_if(candidates.begin(), candidates.end(), begins) == 1)
    return *std::find_if(candidates.begin(), candidates.end(), begins);
  return {};
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string best = nearest(word, candidates);
  return best.empty() ? "" : ": did you mean '" + best + "'?";
}

}  // namespace raylift::base
