// SPDX-License-Identifier: Apache-2.0
// What a GDML file's <define> gives names to: numbers and matrices, in Geant4's units (mm, ns, MeV, radians).
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace raylift::detail {

struct GdmlMatrix {
  std::size_t columns = 0;
  std::vector<double> values;  ///< row by row
};

/// Looks at a definition when something refers to it, and never at the others.
class GdmlValues {
 public:
  /// The elements must outlive it. `file` is for messages.
  GdmlValues(const pugi::xml_node& define, std::string file);

  /// Numbers, + - * / and parentheses, names of constants, quantities and variables, units, and pi. Throws
  /// Error(malformed) for anything else; `element` is for messages.
  [[nodiscard]] double evaluate(std::string_view expression, const std::string& element);
  /// A <matrix>; a constant, quantity or variable counts as one of one number. Throws Error(malformed).
  [[nodiscard]] GdmlMatrix matrix(const std::string& name, const std::string& element);

 private:
  class Expression;
  [[nodiscard]] double named(const std::string& name, const std::string& expression, const std::string& element);

  std::string file_;
  std::unordered_map<std::string, pugi::xml_node> numbers_, matrices_;
  std::unordered_map<std::string, double> known_;
  std::size_t depth_ = 0;  // of definitions that refer to others
};

}  // namespace raylift::detail
