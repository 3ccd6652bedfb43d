// SPDX-License-Identifier: Apache-2.0
// The light in a scene, and the tables that do not cover it: beyond its ends a table has the value there.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <span>
#include <string>
#include <vector>

namespace raylift {

/// Wavelengths of light in nm, and where it comes from.
struct Light {
  double shortest_nm, longest_nm;
  std::string from;  ///< "SCINTILLATIONCOMPONENT1 of material 'LAr'"
};

/// The light that materials and surfaces of the scene emit: by wavelength shifting, by re-emission, and, where charged
/// particles are simulated, by scintillation and by Cerenkov's effect, which has the range of RINDEX where that is
/// above
/// 1. Materials in no solid and surfaces without an assignment emit none.
[[nodiscard]] std::vector<Light> emitted_light(const Scene& scene, bool scintillation, bool cerenkov);

/// A table, and light that it does not cover.
struct UncoveredTable {
  std::string owner;  ///< "material 'Water'"
  std::string key;    ///< "ABSLENGTH"
  OpticalTable::Range range{};
  double wavelength_nm = 0;  ///< the one farthest beyond its ends, by their ratio
  std::string from;          ///< Light::from
};

/// The tables that the simulation uses, and that do not cover all of the light, in the order of materials, surfaces and
/// channel types. Those of materials in no solid and of surfaces without an assignment are not among them. A table
/// whose points all have one value is, as its extension is a guess too.
[[nodiscard]] std::vector<UncoveredTable> uncovered_tables(const Scene& scene, std::span<const Light> light);

/// A sentence for each range of an owner: "material 'Water': the points of RINDEX, ABSLENGTH are from 200 to 800 nm,
/// and there is light of 128 nm (the source): beyond them, the value at the end holds".
[[nodiscard]] std::vector<std::string> describe(std::span<const UncoveredTable> tables);

}  // namespace raylift
