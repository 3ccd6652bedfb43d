// SPDX-License-Identifier: Apache-2.0
// Photons' histories: their events as text, and patterns that select them.
//
//   const raylift::photon::HistoryPattern pattern("TO * RE * SD");
//   if (pattern.matches({sequence.events[0], sequence.events[1]})) ...
#pragma once

#include <raylift/photon/results.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace raylift::photon {

/// A photon's first 32 events, 4 bits each from the lowest on: Sequence::events.
using History = std::array<std::uint64_t, 2>;

/// An event by its number in histories: Opticks's abbreviation, "SD", and its name, "SURFACE_DETECT". Empty for 0 and
/// from 16 on.
[[nodiscard]] std::string_view event_abbreviation(std::uint32_t number) noexcept;
[[nodiscard]] std::string_view event_name(std::uint32_t number) noexcept;
/// The number of a flag of Opticks's; 0 for several flags, or one that histories don't have.
[[nodiscard]] std::uint32_t event_of_flag(std::uint32_t flag) noexcept;

/// "TO BT SC AB". Ends before the first event 0.
[[nodiscard]] std::string history_text(const History& history);

/// Selects histories by a pattern of words, which match the events in order: an abbreviation matches this event;
/// several separated by | any of them; one after ! any other event; ? any event; * any number of events. BR matches
/// Opticks's DR and SR too. A single word without * and ? tests whether the event occurs at all: "RE", "!SC". An empty
/// text selects all.
class HistoryPattern {
 public:
  HistoryPattern() = default;
  /// Throws Error(usage) for a word that is no event's.
  explicit HistoryPattern(std::string_view text);
  [[nodiscard]] bool matches(const History& history) const;
  [[nodiscard]] bool matches_all() const { return words_.empty(); }

 private:
  struct Word {
    std::uint32_t events;  ///< a bit for each number
    bool any_number;       ///< of them
  };
  std::vector<Word> words_;
};

}  // namespace raylift::photon
