// SPDX-License-Identifier: Apache-2.0
#include "meshes/detail.h"

#include "meshes/draw_list.h"
#include "meshes/enclosed.h"

namespace raylift::viewer {

Detail make_detail(const Scene& scene, const SceneCheck& check, const Progress& progress) {
  Detail detail;
  detail.enclosing = enclosing_solids(scene, check, progress);
  const MeshOffsets offsets = mesh_offsets(scene);
  const MeshChoice all = [](std::uint32_t) { return true; };
  detail.levels = make_levels(scene, offsets, all, progress);
  detail.normals = smooth_normals(scene, offsets);
  add_smooth_triangles(scene, offsets, detail.levels.triangles, detail.levels.triangle_meshes, detail.normals);
  return detail;
}

}  // namespace raylift::viewer
