// SPDX-License-Identifier: Apache-2.0
// The optics that Geant4's exporter G4DAE writes below <extra>, without a <technique>: tables and constants of
// materials and of optical surfaces, and where skin and border surfaces hold. docs/optics.md has the rules.
#pragma once

#include <raylift/geometry/optics/properties.h>

#include <vector>

#include "collada_detail.h"

namespace raylift::collada {

/// Reads the properties of a material of the scene, which is `element`, into scene.optics. Energies become eV. Throws
/// Error: malformed or limit, with the element. Warns of what refers to nothing.
void read_material_optics(const Source& source, pugi::xml_node element, std::uint32_t material, Scene& scene);

/// Reads the surfaces and assignments of all documents that are open, likewise, and checks the properties' values. The
/// scene's materials and nodes must be there. What a surface refers to is in its own document.
void read_optics(const Source& source, Scene& scene);

/// The properties of one material or surface, which stand in `parents`. `owner` is what warnings call it.
[[nodiscard]] OpticalProperties read_properties(const Source& source, Scene& scene,
                                                const std::vector<pugi::xml_node>& parents, PropertyOf of,
                                                const std::string& owner);

constexpr std::size_t kMaxName = 4096;  ///< characters of a name

/// An attribute that must be there and not empty, of at most kMaxName characters.
[[nodiscard]] std::string_view required(const Source& source, pugi::xml_node element, const char* attribute);

/// An attribute that must be one finite number.
[[nodiscard]] double number(const Source& source, pugi::xml_node element, const char* attribute);

}  // namespace raylift::collada
