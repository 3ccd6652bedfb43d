// SPDX-License-Identifier: Apache-2.0
// What a GDML file's <define> gives names to: numbers and matrices, in Geant4's units (mm, ns, MeV, radians).
#pragma once

#include <cstdint>
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

/// Whether GDML's unit of that name is one of lengths, or of angles.
[[nodiscard]] bool is_length_unit(std::string_view name);
[[nodiscard]] bool is_angle_unit(std::string_view name);

/// Looks at a definition when something refers to it, and never at the others. After an Error it is as before.
class GdmlValues {
 public:
  /// The elements must outlive it. `file` is for messages.
  GdmlValues(const pugi::xml_node& define, std::string file);
  /// Another <define> of the same file.
  void add(const pugi::xml_node& define);

  /// Numbers, + - * / ^ and parentheses, names of constants, quantities and variables, elements of matrices (m[i,j],
  /// from 1 on), functions such as sqrt(), units, and pi. Throws Error(malformed) for anything else; `element` is for
  /// messages.
  [[nodiscard]] double evaluate(std::string_view expression, const std::string& element);
  /// The same within <define>, where variables keep the values of their definitions.
  [[nodiscard]] double evaluate_defined(std::string_view expression, const std::string& element);
  /// The same, of a whole number of at most 2^53.
  [[nodiscard]] std::int64_t evaluate_integer(std::string_view expression, const std::string& element);
  /// A <matrix> of an optical property; a constant, quantity or variable counts as one of one number. Throws
  /// Error(malformed).
  [[nodiscard]] GdmlMatrix matrix(const std::string& name, const std::string& element);

  /// Gives a <variable> another value. Definitions that refer to it keep the value that it had in <define>, as in
  /// Geant4. Throws Error(malformed) where no variable is called so.
  void set(const std::string& name, double value, const std::string& element);
  /// A name with its brackets replaced as Geant4 replaces them in loops: where i is 3, "box[i]" is "box_2".
  [[nodiscard]] std::string expand_name(std::string_view name, const std::string& element);

 private:
  class Expression;
  class Definition;
  [[nodiscard]] double named(const std::string& name, const std::string& expression, const std::string& element);
  [[nodiscard]] double element_of(const std::string& name, const std::vector<double>& indices,
                                  const std::string& element);
  [[nodiscard]] GdmlMatrix read_matrix(const pugi::xml_node& node, const std::string& where);

  std::string file_;
  std::unordered_map<std::string, pugi::xml_node> numbers_, matrices_;
  std::unordered_map<std::string, double> known_;         // by definition
  std::unordered_map<std::string, double> set_;           // variables that were given another value
  std::unordered_map<std::string, GdmlMatrix> elements_;  // matrices of which single elements were asked for
  std::size_t depth_ = 0;                                 // of definitions that refer to others
};

}  // namespace raylift::detail
