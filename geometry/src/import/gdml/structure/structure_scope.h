// SPDX-License-Identifier: Apache-2.0
// A GDML document while its structure is read: names have their meaning within it, and copies of a volume are made by
// rules of its mother.
#pragma once

#include <memory>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "import/gdml/elements/read_solid.h"
#include "import/gdml/elements/read_vectors.h"
#include "loops.h"
#include "notes.h"
#include "optics/gdml_values.h"
#include "structure.h"

namespace raylift::gdml {

using Numbers = std::unordered_map<std::string, std::uint32_t>;

struct Scope {
  std::string path;  // relative to the scene's folder
  std::string file;  // for messages
  pugi::xml_node root;
  std::unique_ptr<detail::GdmlValues> values;
  std::unique_ptr<Vectors> vectors;
  std::unique_ptr<SolidReader> reader;
  std::vector<std::uint32_t> numbers;  // of the reader's solids, in the detector
  std::unique_ptr<Loops> loops;
  Numbers solids, volumes, assemblies;  // by their names
  std::unordered_set<std::string> materials;
  std::vector<std::pair<std::string, std::string>> worlds;  // by setup, in order
  std::string open;                                         // the volume that is being read

  [[noreturn]] void fail(const std::string& problem, const std::string& where, ErrorKind kind = ErrorKind::malformed,
                         std::string_view advice = {}) const {
    throw Error(kind, problem, {file, where}, advice);
  }
  /// An attribute that an element must have.
  [[nodiscard]] std::string attribute(const pugi::xml_node& element, const char* name, const std::string& where) const;
  /// What the attribute `ref` of an element names here.
  [[nodiscard]] std::string reference(const pugi::xml_node& element, const std::string& where) const;
};

/// Reads replicas, divisions and parameterised volumes: copies of one volume, some of which have solids of their own.
class Copies {
 public:
  /// All must outlive it.
  Copies(Scope& scope, Detector& detector, detail::Notes& notes, const LoadLimits& limits)
      : scope_(scope), detector_(detector), notes_(notes), limits_(limits) {}

  /// The placements of `child`, an index of a volume, in `mother`, by a <replicavol>, <divisionvol> or <paramvol>.
  /// Throws Error: malformed, limit, unsupported.
  void replica(const pugi::xml_node& element, std::uint32_t child, const std::string& name, Placements& placements);
  void division(const pugi::xml_node& element, std::uint32_t child, const std::string& name, const Volume& mother,
                Placements& placements);
  void parameterised(const pugi::xml_node& element, std::uint32_t child, const std::string& name,
                     Placements& placements);

 private:
  struct Division {
    std::uint32_t count;
    double width, offset;
  };
  [[nodiscard]] std::uint32_t count_of(const pugi::xml_node& element, const char* attribute, const std::string& where);
  [[nodiscard]] double quantity(const pugi::xml_node& element, bool angle, const std::string& where);
  [[nodiscard]] Division division_of(const pugi::xml_node& element, bool angle, double whole, const std::string& where);
  void add(std::uint32_t volume, const std::string& name, std::int64_t copy, const Repeat& repeat,
           Placements& placements);
  [[nodiscard]] std::uint32_t with_solid(std::uint32_t volume, Shape shape, const std::string& suffix,
                                         const std::string& where);
  [[nodiscard]] const Solid& solid_of(const Volume& volume) const;
  void parameters(const pugi::xml_node& element, std::uint32_t child, const std::string& name, const std::string& where,
                  Placements& placements);

  Scope& scope_;
  Detector& detector_;
  detail::Notes& notes_;
  const LoadLimits& limits_;
};

}  // namespace raylift::gdml
