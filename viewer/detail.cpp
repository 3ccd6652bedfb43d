// SPDX-License-Identifier: Apache-2.0
#include "detail.h"

#include "draw_list.h"
#include "enclosed.h"

namespace raylift::viewer {

Detail make_detail(const Scene& scene, const SceneCheck& check, const Progress& progress) {
  Detail detail;
  detail.enclosing = enclosing_solids(scene, check, progress);
  detail.levels = make_levels(
      scene, mesh_offsets(scene), [](std::uint32_t) { return true; }, progress);
  return detail;
}

}  // namespace raylift::viewer
