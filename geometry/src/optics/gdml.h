// SPDX-License-Identifier: Apache-2.0
// The optical part of a GDML file, laid over a scene that has the same volumes.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <string>

namespace raylift::detail {

/// Takes materials' properties, optical surfaces, skin surfaces and border surfaces; solids are not read. Names are
/// joined with and without Geant4's pointer, and as G4DAE encodes them. Adds warnings to Scene::report. `file` is for
/// messages. Throws Error: malformed, unsupported (a file in parts).
void read_gdml(Scene& scene, const std::string& text, const std::string& file);

}  // namespace raylift::detail
