// SPDX-License-Identifier: Apache-2.0
// The optical part of a GDML file, laid over a scene that has the same volumes.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstddef>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace raylift::detail {

/// What a file's structure calls its volumes.
struct GdmlStructure {
  struct Placed {
    std::string copy_number;   ///< of the first one, as an expression; empty where it has none
    std::size_t count = 1;     ///< how many share the name
    std::size_t as_first = 1;  ///< and the first one's copy number
  };
  std::unordered_set<std::string> volumes;
  std::unordered_map<std::string, Placed> placed;  ///< physical volumes

  void place(const std::string& name, const std::string& copy_number);
};

/// What was read: of two materials, skins or borders of the same, the first one holds, as in Geant4.
struct GdmlTaken {
  std::set<std::string> materials, skins;
  std::set<std::pair<std::string, std::string>> borders;
};

/// Takes materials' properties, optical surfaces, skin surfaces and border surfaces; solids are not read. Names are
/// joined with and without Geant4's pointer, and as G4DAE encodes them. Adds warnings to Scene::report. `file` is for
/// messages. Throws Error: malformed, unsupported (a file in parts).
void read_gdml(Scene& scene, const std::string& text, const std::string& file);

/// The same for a document of the file that the scene itself was read from: its root element, and the names of its
/// volumes, in loops and modules too. `taken` is of all documents so far.
void read_own_gdml(Scene& scene, const pugi::xml_node& root, const GdmlStructure& names, GdmlTaken& taken,
                   const std::string& file);

}  // namespace raylift::detail
