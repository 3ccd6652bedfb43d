// SPDX-License-Identifier: Apache-2.0
// Whether two solids overlap: the edges of each are cut at the other's facets, and the pieces classified.
#pragma once

#include <raylift/geometry/checks/overlaps.h>

#include <cstdint>

#include "overlap_mesh.h"

namespace raylift::overlap {

enum class Relation : std::uint8_t {
  daughter_and_mother,  // the first has to lie in the second
  siblings,             // no space in common
};

struct PairResult {
  bool overlaps = false;
  bool touches = false;
  bool undecided = false;
  bool swapped = false;   // Overlap::first is the second solid
  bool coincide = false;  // the surfaces do, and the insides should not
  Overlap::Kind kind{};
  double depth = 0;
  Vector place = Vector::Zero();
};

/// Both solids in the same frame. Nothing no deeper than `tolerance` is an overlap.
[[nodiscard]] PairResult test_pair(const PlacedMesh& first, const PlacedMesh& second, Relation relation,
                                   double tolerance);

/// Looks for the deepest point of an overlap that test_pair found, by at most so many distances. `result` becomes no
/// shallower; returns a depth that no point of either surface exceeds.
double measure_depth(const PlacedMesh& first, const PlacedMesh& second, Relation relation, std::size_t evaluations,
                     PairResult& result);

}  // namespace raylift::overlap
