// SPDX-License-Identifier: Apache-2.0
// A small scene that verbs find their way in.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <memory>

#include "state/options/view_options.h"

namespace raylift::viewer {

/// Three boxes: "tank" of water, and in it "pmt_1" and "pmt_2" of glass.
inline std::shared_ptr<const Scene> three_boxes() {
  Scene scene;
  scene.source = "/boxes.dae";
  scene.materials = {{"Water", {0, 0, 1, 1}}, {"Glass", {1, 1, 0, 1}}};
  Mesh mesh;
  mesh.name = "box";
  for (int i = 0; i != 8; ++i)
    mesh.vertices.push_back({(i & 1) != 0 ? 1.0F : -1.0F, (i & 2) != 0 ? 1.0F : -1.0F, (i & 4) != 0 ? 1.0F : -1.0F});
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  mesh.parts = {{0, 12}};
  scene.meshes = {mesh};
  scene.bindings = {{0}, {1}};
  const char* names[] = {"tank", "pmt_1", "pmt_2"};
  for (std::uint32_t i = 0; i != 3; ++i) {
    scene.nodes.push_back({names[i], i == 0 ? kNone : 0, {}, kNone});
    Instance instance;
    instance.node = i;
    instance.binding = i == 0 ? 0 : 1;
    instance.transform = Eigen::Translation3d(i == 0   ? 0
                                              : i == 1 ? -300
                                                       : 300,
                                              0, 0) *
                         Eigen::Scaling(i == 0 ? 900.0 : 50.0);
    scene.instances.push_back(instance);
  }
  scene.bounds.add({-900, -900, -900});
  scene.bounds.add({900, 900, 900});
  return std::make_shared<const Scene>(std::move(scene));
}

/// Options of a viewer that can't save bookmarks.
inline ViewOptions without_bookmarks() {
  ViewOptions options;
  options.bookmarks = "/dev/null/bookmarks.json";
  return options;
}

}  // namespace raylift::viewer
