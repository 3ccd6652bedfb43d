// SPDX-License-Identifier: Apache-2.0
// Numbers, lengths, positions, rotations and scales of GDML's elements, and the transforms that follow from them.
#pragma once

#include <raylift/geometry/vector_types.h>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "optics/gdml_values.h"

namespace raylift::gdml {

/// Reads vectors and their units. Each is evaluated at each use, as a loop may have changed a variable; those of
/// <define> by the variables' definitions, as in Geant4. Everything throws Error(malformed); `where` names the element
/// in messages: "tube 'inner'".
class Vectors {
 public:
  /// The elements of `define` and `values` must outlive it. `file` is for messages.
  Vectors(const pugi::xml_node& define, detail::GdmlValues& values, std::string file);

  /// <position x= y= z= unit=>, or <positionref ref=>, in mm. A null node is (0, 0, 0).
  [[nodiscard]] Double3 position(const pugi::xml_node& element, const std::string& where) const;
  /// <rotation> or <rotationref>, in radians about the axes. A null node is (0, 0, 0).
  [[nodiscard]] Double3 rotation(const pugi::xml_node& element, const std::string& where) const;
  /// <scale> or <scaleref>. A null node is (1, 1, 1). No component is 0.
  [[nodiscard]] Double3 scale(const pugi::xml_node& element, const std::string& where) const;
  /// The child called `name` of `element`, or the one called `name` and "ref": "firstposition", "firstpositionref".
  [[nodiscard]] static pugi::xml_node child(const pugi::xml_node& element, const std::string& name);

  /// A <position> of <define>, in mm.
  [[nodiscard]] Double3 named_position(const std::string& name, const std::string& where) const;

  /// An attribute's number; 0 where the element lacks it.
  [[nodiscard]] double number(const pugi::xml_node& element, const char* attribute, const std::string& where) const;
  /// The same in mm by the element's `lunit`, or in radians by its `aunit`.
  [[nodiscard]] double length(const pugi::xml_node& element, const char* attribute, const std::string& where) const;
  [[nodiscard]] double angle(const pugi::xml_node& element, const char* attribute, const std::string& where) const;
  /// What the attribute `name` is worth, a unit of lengths or of angles; 1 where the element lacks it.
  [[nodiscard]] double length_unit(const pugi::xml_node& element, const char* name, const std::string& where) const;
  [[nodiscard]] double angle_unit(const pugi::xml_node& element, const char* name, const std::string& where) const;

  /// A name that the element refers to, with brackets expanded.
  [[nodiscard]] std::string name_in(const pugi::xml_node& element, const char* attribute,
                                    const std::string& where) const;
  /// Within loops, names such as 'pos[i]' mean 'pos_3': `expand` makes the one of the other.
  void expand_names_by(std::function<std::string(const std::string&)> expand) { expand_ = std::move(expand); }

  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  using Definitions = std::unordered_map<std::string, pugi::xml_node>;

  [[nodiscard]] pugi::xml_node definition(const Definitions& definitions, const char* kind, const std::string& name,
                                          const std::string& where) const;
  /// The vector of an element, or of the definition that it refers to.
  [[nodiscard]] Double3 resolved(const pugi::xml_node& element, const Definitions& definitions, const char* kind,
                                 double otherwise, const std::string& where) const;
  /// `defined`: it stands in <define>.
  [[nodiscard]] Double3 vector(const pugi::xml_node& element, double otherwise, bool defined,
                               const std::string& where) const;

  detail::GdmlValues& values_;
  std::string file_;
  Definitions positions_, rotations_, scales_;
  std::function<std::string(const std::string&)> expand_;
};

/// Rz Ry Rx of angles in radians about the axes.
/// Calls fail(problem) where an element has two children of one of these kinds, by value or by reference: Geant4 takes
/// the last one.
template <class Fail>
void check_single(const pugi::xml_node& element, std::initializer_list<std::string_view> kinds, const Fail& fail) {
  for (const std::string_view kind : kinds) {
    std::size_t count = 0;
    for (const pugi::xml_node child : element.children()) {
      const std::string_view name = child.name();
      count += name.starts_with(kind) && (name.size() == kind.size() || name.substr(kind.size()) == "ref") ? 1 : 0;
    }
    if (count > 1) fail("it has two elements <" + std::string(kind) + ">");
  }
}

[[nodiscard]] Transform rotation_matrix(const Double3& angles);
/// How booleans, the nodes of a multiUnion and reflected solids place: by the rotation itself.
[[nodiscard]] Transform placed_by_operand(const Double3& position, const Double3& rotation,
                                          const Double3& scale = {1, 1, 1});
/// How <physvol> places its child: by the rotation's inverse.
[[nodiscard]] Transform placed_by_physvol(const Double3& position, const Double3& rotation,
                                          const Double3& scale = {1, 1, 1});

}  // namespace raylift::gdml
