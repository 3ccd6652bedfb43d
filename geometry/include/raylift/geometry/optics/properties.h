// SPDX-License-Identifier: Apache-2.0
// The optical properties of a scene, by Geant4's keys: which are not honoured, and whether their numbers are valid.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <string>
#include <vector>

namespace raylift {

enum class PropertyOf : std::uint8_t { material, surface };

/// A property of a scene that the simulation does not honour.
struct UnhonouredProperty {
  PropertyOf of;
  std::string owner;  ///< name of the material or surface
  std::string key;    ///< of the property; "model" or "finish" where that is not honoured
  std::string why;
};

/// Every property in the scene that is not honoured: of an unknown key, of a key that is only read, and models and
/// finishes of look-up tables.
[[nodiscard]] std::vector<UnhonouredProperty> unhonoured_properties(const Scene& scene);

/// Checks what readers have filled in, before resolve_optics(). Throws Error(malformed), naming material or surface,
/// key and value: energies or wavelengths that are not positive and ascending, a table of no points or of one, values
/// outside of their quantity's limits, probabilities of one surface that sum to more than 1 (by 1e-6) anywhere, a key
/// that occurs twice, a polish outside of 0 to 1. Adds warnings to Scene::report: a surface that nothing uses, a
/// property that is not honoured, a table without a point from 20 to 5000 nm, with the unit that it may be in.
void check_optical_properties(Scene& scene);

}  // namespace raylift
