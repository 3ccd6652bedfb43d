// SPDX-License-Identifier: Apache-2.0
// A detector as a file: COLLADA in the manner of Geant4's G4DAE exporter (no unit and no up axis, millimetres, six
// significant digits, logical and physical volumes as nodes, optics below <extra>), or GDML.
#pragma once

#include <filesystem>

#include "detector.h"
#include "optics.h"

namespace raylift::detector {

/// Writes the file whole or not at all, as cli::OutputFile does. "-" is standard output. Throws Error(io), and
/// Error(cancelled) after a signal that cli::catch_interrupts() takes.
void write_collada(const Detector& detector, const Optics& optics, const Parameters& parameters,
                   const std::filesystem::path& path);

/// Likewise as GDML: boxes, and polycones in place of facets.
void write_gdml(const Detector& detector, const Optics& optics, const std::filesystem::path& path);

}  // namespace raylift::detector
