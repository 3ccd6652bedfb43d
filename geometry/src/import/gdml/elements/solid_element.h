// SPDX-License-Identifier: Apache-2.0
// One element of GDML's <solids>: its numbers, in mm and radians, and what is checked of them.
#pragma once

#include <raylift/geometry/error.h>

#include <functional>
#include <initializer_list>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/gdml/shapes/solid.h"
#include "optics/gdml_values.h"
#include "read_vectors.h"

namespace raylift::gdml {

/// A number of an element and its name, for messages.
struct Size {
  const char* name;
  double value;
};

/// All of it throws Error(malformed) with the solid's kind and name.
class SolidElement {
 public:
  SolidElement(const pugi::xml_node& node, const std::string& name, const Vectors& vectors, detail::GdmlValues& values);

  [[nodiscard]] const pugi::xml_node& node() const { return node_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const Vectors& vectors() const { return vectors_; }

  /// Attributes of the element, or of a child, by the units of the element. Missing ones are `otherwise`.
  [[nodiscard]] double number(const char* attribute, double otherwise = 0) const;
  [[nodiscard]] double length(const char* attribute) const { return length(node_, attribute); }
  [[nodiscard]] double length(const pugi::xml_node& child, const char* attribute) const;
  [[nodiscard]] double angle(const char* attribute) const;
  [[nodiscard]] double number(const pugi::xml_node& child, const char* attribute, double otherwise = 0) const;

  /// `startphi` and `deltaphi`, more than 0.
  [[nodiscard]] Turn turn() const;
  /// The same, but without `deltaphi`, or where it is 0, it is a full turn, as Geant4 has it of polycones and
  /// polyhedra.
  [[nodiscard]] Turn turn_or_full() const;
  /// `numsides`, as many as such a turn needs.
  [[nodiscard]] std::uint32_t sides(const Turn& turn) const;
  /// The children of that kind.
  [[nodiscard]] std::vector<pugi::xml_node> children(const char* kind, std::size_t at_least) const;

  /// Attributes that nothing has read: GDML has none of them there.
  [[nodiscard]] std::vector<std::string> unread() const;

  [[noreturn]] void fail(const std::string& problem, ErrorKind kind = ErrorKind::malformed,
                         std::string_view advice = {}) const;
  void positive(std::initializer_list<Size> lengths) const;
  void not_negative(std::initializer_list<Size> lengths) const;
  void less(const Size& smaller, const Size& larger) const;
  void at_most(const Size& smaller, const Size& larger) const;
  /// Angles whose tangent has to be finite.
  void below_right_angle(std::initializer_list<Size> angles) const;

 private:
  pugi::xml_node node_;
  const Vectors& vectors_;
  detail::GdmlValues& values_;
  std::string where_;
  double lunit_, aunit_;
  mutable std::set<std::string, std::less<>> read_;
};

/// The primitive that an element describes, with its dimensions checked. Throws Error(malformed), and
/// Error(unsupported) where the element is none of GDML's primitives; Error(limit) for more than 10,000 corners.
[[nodiscard]] Shape read_primitive(const SolidElement& element);

}  // namespace raylift::gdml
