// SPDX-License-Identifier: Apache-2.0
// The triangles of a part's body, checked.
#pragma once

#include <raylift/geometry/import/fineness.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model.h"

namespace raylift::step {

struct MadeMesh {
  gdml::Surface surface;            ///< millimetres
  std::vector<std::string> faults;  ///< what is not as it should be: "its surface is open, ..."
  bool complete = true;             ///< all faces have triangles
};

/// Throws Failure where nothing can be made of the body.
[[nodiscard]] MadeMesh make_body_mesh(const Model& model, std::uint32_t product, std::uint32_t body,
                                      const Fineness& fineness);

}  // namespace raylift::step
