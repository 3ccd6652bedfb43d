// SPDX-License-Identifier: Apache-2.0
// Reads the solids of GDML's <solids>, one after the other, into numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/gdml/shapes/solid.h"
#include "optics/gdml_values.h"
#include "read_vectors.h"

namespace raylift::gdml {

class SolidReader {
 public:
  /// The vectors and values must outlive it.
  SolidReader(const Vectors& vectors, detail::GdmlValues& values, std::string file);

  /// Reads a child of <solids>, which the file calls `name`. The first of two that share a name counts. Solids that it
  /// refers to have been read before. Throws Error: malformed, for references to others, dimensions of which no solid
  /// can be made, and numbers that can't be read; unsupported, for elements that are no solid of GDML; limit.
  void read(const pugi::xml_node& element, const std::string& name);

  /// Calls note(what, name) for what is not read of an element.
  void note_by(std::function<void(const std::string& what, const std::string& name)> note) { note_ = std::move(note); }

  /// The number of the solid of that name among `solids()`.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;
  [[nodiscard]] const std::vector<Solid>& solids() const { return solids_; }

 private:
  [[nodiscard]] Shape shape_of(const pugi::xml_node& element, const std::string& name) const;
  [[nodiscard]] std::uint32_t referred(const pugi::xml_node& node, const char* attribute,
                                       const std::string& where) const;
  [[nodiscard]] Operand operand(const pugi::xml_node& parent, const char* solid, const std::string& prefix,
                                const std::string& where) const;
  [[nodiscard]] Operand reflected(const pugi::xml_node& element, const std::string& where) const;

  const Vectors& vectors_;
  detail::GdmlValues& values_;
  std::string file_;
  std::vector<Solid> solids_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::function<void(const std::string& what, const std::string& name)> note_;
};

}  // namespace raylift::gdml
