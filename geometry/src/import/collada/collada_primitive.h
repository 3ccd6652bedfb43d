// SPDX-License-Identifier: Apache-2.0
// The primitive elements of a mesh, checked: <triangles>, <polylist>, <polygons>, <tristrips>, <trifans>.
#pragma once

#include <cstdint>
#include <string_view>

#include "collada_detail.h"

namespace raylift::collada {

/// A checked primitive element.
struct CheckedPrimitive {
  Primitive primitive;
  std::uint64_t triangles = 0;  ///< once polygons are cut
};

/// Whether an element is one of the five.
[[nodiscard]] bool is_primitive(pugi::xml_node element);
/// Whether it holds any polygon, as far as that is seen without its numbers.
[[nodiscard]] bool holds_polygons(pugi::xml_node element);
/// Reads one. `vertices_id` and `vertices` are the id of the mesh's <vertices>, and their number.
[[nodiscard]] CheckedPrimitive read_primitive(pugi::xml_node element, std::string_view vertices_id,
                                              std::uint64_t vertices, const Source& source);

}  // namespace raylift::collada
