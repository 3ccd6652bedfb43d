// SPDX-License-Identifier: Apache-2.0
#include "meshes/enclosed.h"

#include <raylift/geometry/checks/overlaps.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/solids.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "meshes/levels.h"
#include "model/settings/modes.h"

namespace raylift::viewer {

std::vector<std::uint32_t> enclosing_solids(const Scene& scene, const SceneCheck& check, const Progress& progress) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> overlapping;  // meshes of daughters and mothers
  const OverlapReport overlaps = find_overlaps(scene, check, {}, progress);
  for (const auto* list : {&overlaps.overlaps, &overlaps.by_tessellation})  // facets are what is seen
    for (const Overlap& overlap : *list)
      overlapping.emplace(scene.instances[overlap.first].mesh, scene.instances[overlap.second].mesh);
  std::vector<std::uint32_t> enclosing = solid_tree(scene).mother;
  for (std::size_t solid = 0; solid != enclosing.size(); ++solid) {
    std::uint32_t& mother = enclosing[solid];
    if (mother == kNone) continue;
    const std::uint32_t inner = scene.instances[solid].mesh, outer = scene.instances[mother].mesh;
    // The report has one of all pairs that are alike: what overlaps somewhere, is taken to overlap everywhere.
    if (!check.meshes[inner].watertight() || !check.meshes[outer].watertight() || overlapping.contains({inner, outer}))
      mother = kNone;
  }
  return enclosing;
}

std::vector<SolidBall> balls_around_solids(const Scene& scene) {
  std::vector<BallAround> of_mesh(scene.meshes.size());
  tbb::parallel_for(std::size_t{0}, of_mesh.size(),
                    [&](std::size_t m) { of_mesh[m] = ball_around(scene.meshes[m].vertices); });
  std::vector<SolidBall> balls;
  balls.reserve(scene.instances.size());
  for (const Instance& instance : scene.instances) {
    const BallAround& ball = of_mesh[instance.mesh];
    balls.push_back({to_eigen(instance.transform) * to_eigen(ball.center),
                     largest_scale(instance.transform) * static_cast<double>(ball.radius)});
  }
  return balls;
}

Enclosed::Enclosed(const Scene& scene, std::span<const std::uint32_t> enclosing)
    : enclosing_(enclosing.begin(), enclosing.end()) {
  if (!enclosing_.empty()) balls_ = balls_around_solids(scene);
}

void Enclosed::look(const Sight& sight, std::span<const std::uint8_t> looks) {
  hidden_.clear();
  if (enclosing_.empty() || !sight.opaque) return;
  hides_.resize(balls_.size());
  hidden_.resize(balls_.size());
  tbb::parallel_for(std::size_t{0}, balls_.size(), [&](std::size_t i) {
    const bool solid = looks.empty() || static_cast<Look>(looks[i]) == Look::solid;
    const Eigen::Vector3d center = balls_[i].center - sight.eye;
    const double radius = balls_[i].radius;
    const bool around_eye = !sight.orthographic && center.norm() <= radius + sight.nearest;
    hides_[i] = solid && !around_eye && std::all_of(sight.clips.begin(), sight.clips.end(), [&](const auto& plane) {
                  return plane.template head<3>().dot(center) + plane[3] > radius;
                });
  });
  tbb::parallel_for(std::size_t{0}, hidden_.size(), [&](std::size_t i) {
    hidden_[i] = 0;
    for (std::uint32_t around = enclosing_[i]; around != kNone && hidden_[i] == 0; around = enclosing_[around])
      hidden_[i] = hides_[around];
  });
}

}  // namespace raylift::viewer
