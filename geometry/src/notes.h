// SPDX-License-Identifier: Apache-2.0
// What a reader does not honour, as one warning of each kind that counts and names examples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace raylift::detail {

class Notes {
 public:
  /// `what` reads on with a list of names: "volumes are called as another one, and left out".
  void add(const std::string& what, const std::string& name) {
    Note& note = notes_[what];
    ++note.count;
    const bool known = std::find(note.examples.begin(), note.examples.end(), name) != note.examples.end();
    if (note.examples.size() < kExamples && !known) note.examples.push_back(name);
  }

  [[nodiscard]] std::vector<std::string> warnings() const {
    std::vector<std::string> result;
    for (const auto& [what, note] : notes_) {
      std::string text = what + " (" + std::to_string(note.count) + "): ";
      for (const std::string& name : note.examples) text += (name == note.examples.front() ? "'" : ", '") + name + "'";
      if (note.count > note.examples.size()) text += ", ...";
      result.push_back(std::move(text));
    }
    return result;
  }

 private:
  static constexpr std::size_t kExamples = 5;
  struct Note {
    std::uint64_t count = 0;
    std::vector<std::string> examples;
  };
  std::map<std::string, Note> notes_;
};

}  // namespace raylift::detail
