// SPDX-License-Identifier: Apache-2.0
// GDML's loops: the elements in a <loop> are read again and again, with another value of a variable each time.
#pragma once

#include <cstdint>
#include <functional>
#include <pugixml.hpp>
#include <string>
#include <utility>

#include "optics/gdml_values.h"

namespace raylift::gdml {

class Loops {
 public:
  /// `values` must outlive it. `most`: how many elements all loops together may read. `file` is for messages.
  Loops(detail::GdmlValues& values, std::string file, std::uint64_t most)
      : values_(values), file_(std::move(file)), most_(most) {}

  /// Calls read(element) for each element in `parent`, in order, and for those in its loops as often as they run. The
  /// variable keeps its last value. Throws Error: malformed, also where Geant4 would never end or never begin; limit.
  void each(const pugi::xml_node& parent, const std::function<void(pugi::xml_node)>& read);

  /// Whether the element that is being read is in a loop.
  [[nodiscard]] bool inside() const { return inside_ != 0; }
  /// A name as it holds here: in loops, with brackets expanded.
  [[nodiscard]] std::string name(const std::string& text, const std::string& where) {
    return inside() ? values_.expand_name(text, where) : text;
  }

 private:
  void run(const pugi::xml_node& loop, const std::function<void(pugi::xml_node)>& read);
  void count();
  [[noreturn]] void fail_limit() const;

  detail::GdmlValues& values_;
  std::string file_;
  std::uint64_t most_;
  std::uint64_t counted_ = 0;
  std::size_t inside_ = 0;
};

}  // namespace raylift::gdml
