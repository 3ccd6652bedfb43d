// SPDX-License-Identifier: Apache-2.0
// The hash table of border surfaces: OpticsView::borders.
#pragma once

#include <raylift/geometry/scene/solids.h>
#include <raylift/gpu/optics_view.h>

#include <vector>

namespace raylift::detail {

/// The surfaces of borders between solids that are not mother and daughter: SolidView has the others. Empty without
/// any. Throws Error(limit) where no table of reasonable size is found.
[[nodiscard]] std::vector<OpticsView::BorderBucket> border_table(const Scene& scene, const SolidTree& tree);

}  // namespace raylift::detail
