// SPDX-License-Identifier: Apache-2.0
#include "model/solids/measured_points.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include "cli/quantity.h"
#include "cli/text.h"
#include "geometry/src/scene/names.h"
#include "model/solids/find.h"

namespace raylift::viewer {

Eigen::Vector3d find_point(const Solids& solids, SolidMeasurer& measurer, std::string_view text) {
  if (const auto point = cli::three_numbers(text)) return *point;
  const Found found = find_some(solids, text);
  if (const std::uint32_t group = find_group(solids, text); group != kNone)
    return to_eigen(measurer.box(solids.below(group)).center());
  const Scene& scene = solids.scene();
  if (found.solids.size() != 1)
    throw Error(
        ErrorKind::usage,
        "'" + cli::printable(text) + "' matches " + cli::counted(found.solids.size(), "solid", "solids") + ", not one",
        {scene.source, ""},
        "name one, such as " + cli::printable(base_name(scene.solid_name(scene.instances[found.solids.front()]))));
  return measurer.centre(found.solids.front());
}

}  // namespace raylift::viewer
