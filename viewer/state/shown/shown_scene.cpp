// SPDX-License-Identifier: Apache-2.0
#include "state/shown/shown_scene.h"

#include <raylift/geometry/scene/eigen.h>

#include <utility>

namespace raylift::viewer {
namespace {

/// Where the ray meets the plane of a triangle, in double; nothing where it is parallel to it.
std::optional<Eigen::Vector3d> point_on(const Scene& scene, const Instance& instance, std::uint32_t triangle,
                                        const std::pair<Eigen::Vector3d, Eigen::Vector3d>& ray) {
  const Mesh& mesh = scene.meshes[instance.mesh];
  if (triangle >= mesh.triangles.size()) return std::nullopt;
  const UInt3& t = mesh.triangles[triangle];
  const EigenTransform to_world = to_eigen(instance.transform);
  const auto world = [&](std::uint32_t v) -> Eigen::Vector3d { return to_world * to_eigen(mesh.vertices[v]); };
  const Eigen::Vector3d a = world(t.x);
  const Eigen::Vector3d normal = (world(t.y) - a).cross(world(t.z) - a);
  const auto& [origin, direction] = ray;
  const double along = normal.dot(direction);
  if (along == 0) return std::nullopt;
  return origin + normal.dot(a - origin) / along * direction;
}

}  // namespace

void ShownScene::set_scene(std::shared_ptr<const Scene> fresh) {
  auto fresh_solids = std::make_unique<Solids>(*fresh);
  measurer = std::make_shared<SolidMeasurer>(fresh);
  offsets = mesh_offsets(*fresh);
  photons = Photons();
  solids = std::move(fresh_solids);
  scene = std::move(fresh);
  ++revision;
}

std::uint32_t ShownScene::triangle_of(const Picked& picked) const {
  if (picked.triangle == kNone) return kNone;
  return picked.triangle - offsets.first_triangle[scene->instances[picked.instance].mesh];
}

std::optional<Eigen::Vector3d> ShownScene::point_of(const Picked& picked, const Cursor& cursor) const {
  const auto ray = cursor_ray(camera, cursor);
  if (picked.triangle == kNone) return clip_entry(settings, scene->bounds, ray.first, ray.second);  // a cap
  return point_on(*scene, scene->instances[picked.instance], triangle_of(picked), ray);
}

}  // namespace raylift::viewer
