// SPDX-License-Identifier: Apache-2.0
#include "histories.h"

#include <raylift/geometry/error.h>

#include <bit>
#include <cctype>
#include <optional>

namespace raylift::photon {
namespace {

struct EventNames {
  std::string_view abbreviation, name;
};
constexpr std::array<EventNames, 16> kEvents{{{"", ""},
                                              {"CK", "CERENKOV"},
                                              {"SI", "SCINTILLATION"},
                                              {"MI", "MISS"},
                                              {"AB", "BULK_ABSORB"},
                                              {"RE", "BULK_REEMIT"},
                                              {"SC", "BULK_SCATTER"},
                                              {"SD", "SURFACE_DETECT"},
                                              {"SA", "SURFACE_ABSORB"},
                                              {"DR", "SURFACE_DREFLECT"},
                                              {"SR", "SURFACE_SREFLECT"},
                                              {"BR", "BOUNDARY_REFLECT"},
                                              {"BT", "BOUNDARY_TRANSMIT"},
                                              {"TO", "TORCH"},
                                              {"NA", "NAN_ABORT"},
                                              {"EX", "EFFICIENCY_CULL"}}};
constexpr std::uint32_t kAll = 0xFFFEU;  // but 0, which is no event
constexpr std::uint32_t kReflections = 1U << 9 | 1U << 10 | 1U << 11;
constexpr std::size_t kMaxWords = 63;  // places between them are bits

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& letter : result) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return result;
}

/// The bits of an event that is named; nothing where none is.
std::optional<std::uint32_t> events_named(std::string_view text) {
  const std::string name = upper(text);
  for (std::uint32_t number = 1; number != kEvents.size(); ++number)
    if (name == kEvents[number].abbreviation || name == kEvents[number].name)
      return number == 11 ? kReflections : 1U << number;
  return std::nullopt;
}

std::uint32_t events_of(std::string_view word) {
  if (word == "?") return kAll;
  const bool others = word.starts_with('!');
  std::uint32_t events = 0;
  for (std::string_view rest = word.substr(others ? 1 : 0);;) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    const auto named = events_named(rest.substr(0, end));
    if (!named) {
      std::string all;
      for (std::size_t i = 1; i != kEvents.size(); ++i) all += ' ' + std::string(kEvents[i].abbreviation);
      throw Error(ErrorKind::usage, "'" + std::string(rest.substr(0, end)) + "' is no event of a history", {},
                  "events are" + all + "; * is any number of them, ? is one");
    }
    events |= *named;
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  return others ? kAll & ~events : events;
}

}  // namespace

std::string_view event_abbreviation(std::uint32_t number) noexcept {
  return number < kEvents.size() ? kEvents[number].abbreviation : std::string_view();
}

std::string_view event_name(std::uint32_t number) noexcept {
  return number < kEvents.size() ? kEvents[number].name : std::string_view();
}

std::uint32_t event_of_flag(std::uint32_t flag) noexcept {
  return std::has_single_bit(flag) && flag < 1U << 15 ? static_cast<std::uint32_t>(std::bit_width(flag)) : 0;
}

std::string history_text(const History& history) {
  std::string text;
  for (const std::uint64_t word : history)
    for (unsigned bit = 0; bit != 64; bit += 4) {
      const auto number = static_cast<std::uint32_t>(word >> bit & 15);
      if (number == 0) return text;
      if (!text.empty()) text += ' ';
      text += kEvents[number].abbreviation;
    }
  return text;
}

HistoryPattern::HistoryPattern(std::string_view text) {
  constexpr std::string_view kBetween = " \t\n,";
  for (std::size_t begin = text.find_first_not_of(kBetween); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    words_.push_back(word == "*" ? Word{kAll, true} : Word{events_of(word), false});
    begin = text.find_first_not_of(kBetween, end);
  }
  if (words_.size() > kMaxWords)
    throw Error(ErrorKind::usage, "a pattern of histories has more than " + std::to_string(kMaxWords) + " words");
  if (words_.size() != 1 || words_.front().any_number || words_.front().events == kAll) return;
  // A single word: whether it occurs.
  const Word word = words_.front();
  if (text.find('!') == std::string_view::npos)
    words_ = {{kAll, true}, word, {kAll, true}};
  else
    words_ = {{word.events, true}};
}

bool HistoryPattern::matches(const History& history) const {
  if (words_.empty()) return true;
  // A bit for each place that the events so far may lead to: before a word, or behind the last one.
  const auto past_any_number = [&](std::uint64_t places) {
    for (std::size_t i = 0; i != words_.size(); ++i)
      if (words_[i].any_number && (places >> i & 1U) != 0) places |= std::uint64_t{2} << i;
    return places;
  };
  std::uint64_t places = past_any_number(1);
  for (const std::uint64_t part : history)
    for (unsigned bit = 0; bit != 64; bit += 4) {
      const auto number = static_cast<unsigned>(part >> bit & 15);
      if (number == 0) return (places >> words_.size() & 1U) != 0;
      std::uint64_t next = 0;
      for (std::size_t i = 0; i != words_.size(); ++i)
        if ((places >> i & 1U) != 0 && (words_[i].events >> number & 1U) != 0)
          next |= std::uint64_t{1} << (words_[i].any_number ? i : i + 1);
      places = past_any_number(next);
      if (places == 0) return false;
    }
  return (places >> words_.size() & 1U) != 0;
}

}  // namespace raylift::photon
