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

/// What one solid's edges have to do with the other one's facets.
struct EdgeContacts {
  std::vector<bool> touched;  ///< by edge: it comes within the tolerance of a facet. Empty where none does
  /// Sorted. Between cuts that follow each other, an edge goes through no facet, but for less than the tolerance at its
  /// ends; and where it runs along a facet, it does not leave that facet there.
  std::vector<Cut> cuts;

  [[nodiscard]] bool empty() const { return touched.empty(); }
};

struct Contacts {
  EdgeContacts first;
  EdgeContacts second;

  [[nodiscard]] bool empty() const { return first.empty() && second.empty(); }
};

[[nodiscard]] Contacts find_contacts(const PlacedMesh& first, const PlacedMesh& second, double tolerance);

}  // namespace raylift::overlap
