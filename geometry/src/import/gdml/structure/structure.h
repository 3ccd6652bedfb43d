// SPDX-License-Identifier: Apache-2.0
// What a GDML file says of its volumes: a graph, in which each stands once, however often it is placed.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <vector>

#include "import/gdml/elements/gdml_text.h"
#include "import/gdml/shapes/solid.h"
#include "optics/gdml.h"

namespace raylift::gdml {

/// Copies of a placement, numbered from 0, each further along an axis or about z. One copy stays where it is.
struct Repeat {
  enum class Along : std::uint8_t { x, y, z, phi };
  std::uint32_t count = 1;
  Along along = Along::x;
  double first = 0, step = 0;  // mm or radians
};

/// A volume in its mother, or in an assembly.
struct Placement {
  std::uint32_t volume = 0;  // index in Detector::volumes, before the mother's
  std::string name;
  std::optional<std::int64_t> copy_number;  // of the first copy
  Transform placed;
  Repeat repeat;
};
using Placements = std::vector<Placement>;

/// A logical volume; or an assembly, which has neither solid nor material.
struct Volume {
  std::string name;
  bool assembly = false;
  std::uint32_t solid = kNone;     // index in Detector::solids
  std::uint32_t material = kNone;  // index in Detector::materials
  std::shared_ptr<const Placements> daughters;
};

struct Detector {
  std::vector<Solid> solids;
  std::vector<std::optional<Error>> failures;  // by solid: why it can't be made; it has no shape then
  std::vector<Volume> volumes;                 // those that others place stand before them
  std::vector<Material> materials;
  std::uint32_t world = 0;                  // index in `volumes`
  std::set<std::string> sensitive_volumes;  // by name: with <auxiliary auxtype="SensDet">
  std::vector<std::string> warnings;

  /// For the optics: the documents, the scene's own first, and the names of volumes in all of them.
  struct Source {
    std::string file;
    std::unique_ptr<pugi::xml_document> xml;
  };
  std::vector<Source> sources;
  detail::GdmlStructure names;
};

/// Reads the scene's own document, and the modules that it places. Throws Error: malformed, unsupported, limit. What
/// is wrong with a solid is thrown by whoever needs it.
[[nodiscard]] Detector read_detector(std::string text, Documents& documents, const LoadOptions& options);

}  // namespace raylift::gdml
