// SPDX-License-Identifier: Apache-2.0
// Where the edges of one solid meet the facets of another one.
#pragma once

#include <vector>

#include "overlap_mesh.h"

namespace raylift::overlap {

/// A place on an edge, as the part of the way from its first vertex to its second one.
struct Cut {
  std::uint32_t edge;
  double at;

  auto operator<=>(const Cut&) const = default;
};

/// Cuts of the edges of both solids, sorted. Every edge that comes within the tolerance of a facet of the other solid
/// has one. Between cuts that follow each other, an edge goes through no facet; and where it runs along a facet, within
/// the tolerance, it does not leave that facet between them.
struct Contacts {
  std::vector<Cut> first;
  std::vector<Cut> second;

  [[nodiscard]] bool empty() const { return first.empty() && second.empty(); }
};

[[nodiscard]] Contacts find_contacts(const PlacedMesh& first, const PlacedMesh& second, double tolerance);

}  // namespace raylift::overlap
