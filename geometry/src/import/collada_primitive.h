// SPDX-License-Identifier: Apache-2.0
// The primitive elements of a mesh, checked: <triangles>, <polylist>, <polygons>, <tristrips>, <trifans>.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collada_detail.h"

namespace raylift::inline v0_1::collada {

/// How many indices a point has, and which of them is its vertex.
struct Inputs {
  std::size_t stride = 1;
  std::size_t vertex_offset = 0;
};

/// The points of all <p>.
struct Points {
  std::string indices;           // of all <p>, where there are several, or where they are written anew
  std::string_view all_indices;  // what goes to Assimp
  std::uint64_t count = 0;
  std::vector<std::uint32_t> sizes;  // points of each polygon, where they are not all triangles
  std::uint64_t rewritten = 0;       // triangles of strips and fans

  /// Appends the indices of one <p>; `stays` says that its text outlives this.
  void append(std::string_view text, bool stays) {
    if (texts_++ == 0 && stays) {
      all_indices = text;
      return;
    }
    if (texts_ == 2) indices = all_indices;
    (indices += ' ') += text;
    all_indices = indices;
  }

 private:
  std::size_t texts_ = 0;
};

/// A checked primitive element. Stays where it is: `points` refers to itself.
struct CheckedPrimitive {
  Primitive primitive;
  Inputs inputs;
  Points points;
  std::uint64_t triangles = 0;  ///< once polygons are cut

  CheckedPrimitive() = default;
  CheckedPrimitive(const CheckedPrimitive&) = delete;
  CheckedPrimitive& operator=(const CheckedPrimitive&) = delete;
};

/// Whether an element is one of the five.
[[nodiscard]] bool is_primitive(pugi::xml_node element);
/// Reads one. `vertices_id` and `vertices` are the id of the mesh's <vertices>, and their number.
void read_primitive(CheckedPrimitive& result, pugi::xml_node element, std::string_view vertices_id,
                    std::uint64_t vertices, const Source& source);

}  // namespace raylift::inline v0_1::collada
