// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/checks/validate.h>
#include <raylift/geometry/error.h>

#include <string>

#include "for_each_mesh.h"
#include "optics/property_faults.h"
#include "scene/scene_bytes.h"

namespace raylift {
namespace {

/// Before the scene's other checks, which would find a table without naming it.
void check_optical_values(const Scene& scene) {
  if (scene.optics.materials.size() > scene.materials.size()) return;  // refused by check_scene()
  try {
    detail::check_property_values(scene);
  } catch (const Error& error) {
    throw Error(ErrorKind::usage, error.problem(), {error.file(), error.element()}, error.advice());
  }
}

}  // namespace

void validate(const Scene& scene) {
  check_optical_values(scene);
  detail::check_scene(scene, detail::sizes_of(scene),
                      [&](const std::string& what) { detail::refuse_scene(scene, what); });
  detail::for_each_mesh(0, scene.meshes.size(), [&](std::size_t i) {
    const Mesh& mesh = scene.meshes[i];
    detail::check_mesh(mesh,
                       [&](const std::string& what) { detail::refuse_scene(scene, what, "mesh '" + mesh.name + "'"); });
  });
}

}  // namespace raylift
