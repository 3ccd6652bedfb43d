// SPDX-License-Identifier: Apache-2.0
#include "prebuilt_bvh.h"

#include <raylift/geometry/error.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "bvh_links.h"

namespace raylift::detail {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorKind::usage, "the BVH that was built before is not one of this scene: " + why, {},
              "build it by build_bvh for the scene and the origin that are uploaded, or leave it to the upload");
}

std::uint64_t triangles_of(std::span<const MeshView> meshes) {
  return meshes.empty() ? 0 : std::uint64_t{meshes.back().first_triangle} + meshes.back().triangle_count;
}

bool is_hit(const InstanceView& instance, std::span<const MeshView> meshes) {
  const float* const m = instance.to_mesh.m;
  return meshes[instance.mesh].triangle_count != 0 && std::any_of(m, m + 12, [](float x) { return x != 0; });
}

/// Each triangle has a number, and each number is a triangle's.
void check_triangles(const SceneBvh& bvh, std::uint64_t triangles) {
  const std::uint64_t found = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, bvh.ids.size(), 4096), std::uint64_t{0},
      [&](const auto& range, std::uint64_t sum) {
        for (std::size_t i = range.begin(); i != range.end(); ++i)
          for (const std::uint32_t id : bvh.ids[i].triangle) {
            if (id == kNoTriangle) continue;
            if (id >> 2 >= triangles) refuse("it has triangle " + std::to_string(id >> 2));
            ++sum;
          }
        return sum;
      },
      std::plus<>());
  if (found != triangles)
    refuse("it has " + std::to_string(found) + " triangles, and the scene " + std::to_string(triangles));
}

/// The links of a node to nodes before `end`, which follow on it: so there is no cycle.
void check_links(const SceneBvh& bvh, std::size_t i, std::size_t end, bool has_pairs) {
  const bvh_detail::BvhNode& node = bvh.nodes[i];
  const NodeLinks links(node, has_pairs ? bvh.pairs.size() : 0);
  if (!links.slots_sound || !links.pairs_there ||
      (links.children != 0 &&
       (node.first_child <= i || node.first_child > end || links.children > end - node.first_child)))
    refuse("node " + std::to_string(i) + " leads nowhere");
}

/// The level over instances.
void check_instances(const SceneBvh& bvh, std::span<const MeshView> meshes, std::span<const InstanceView> instances) {
  std::vector<bool> seen(instances.size());
  for (std::size_t i = 0; i != bvh.instance_nodes; ++i) {
    const auto placed = std::bit_cast<bvh_detail::InstanceNode>(bvh.nodes[i]);
    if (placed.zero != 0) {
      check_links(bvh, i, bvh.instance_nodes, false);
      continue;
    }
    if (placed.instance >= instances.size() || placed.root < bvh.instance_room || placed.root >= bvh.nodes.size())
      refuse("it has instance " + std::to_string(placed.instance) + " of " + std::to_string(instances.size()));
    const InstanceView& instance = instances[placed.instance];
    const float* const wanted = instance.to_mesh.m;
    const float largest =
        std::fabs(*std::max_element(wanted, wanted + 12, [](float a, float b) { return std::fabs(a) < std::fabs(b); }));
    for (int k = 0; k != 12; ++k)
      if (!(std::fabs(wanted[k] - placed.to_mesh.m[k]) <= 1e-6F * largest))
        refuse("instance " + std::to_string(placed.instance) + " stands elsewhere, or the origin is another one");
    seen[placed.instance] = true;
  }
  for (std::size_t i = 0; i != instances.size(); ++i)
    if (is_hit(instances[i], meshes) && !seen[i]) refuse("it lacks instance " + std::to_string(i));
}

}  // namespace

void check_prebuilt(const SceneBvh& bvh, std::span<const MeshView> meshes,
                    std::optional<std::span<const InstanceView>> instances) {
  if (bvh.pairs.size() != bvh.ids.size()) refuse("it does not have as many pairs of triangles as numbers of them");
  if (bvh.roots.size() != meshes.size())
    refuse("it has " + std::to_string(bvh.roots.size()) + " meshes, and the scene " + std::to_string(meshes.size()));
  if (bvh.instance_nodes > bvh.nodes.size()) refuse("it has more nodes over instances than nodes");
  if (bvh.instance_room < bvh.instance_nodes || bvh.instance_room > bvh.nodes.size())
    refuse("it has no room for another level over its instances");
  if (!instances && bvh.instance_nodes != 0) refuse("it has two levels, and the flattened scene one");
  // Nothing that a ray could hit needs no tree.
  const bool none_hit = instances && std::none_of(instances->begin(), instances->end(),
                                                  [&](const InstanceView& one) { return is_hit(one, meshes); });
  if (bvh.nodes.empty() && (none_hit || triangles_of(meshes) == 0)) return;
  if (instances && bvh.instance_nodes == 0) refuse("it has no level over instances");
  check_triangles(bvh, triangles_of(meshes));
  for (const std::uint32_t root : bvh.roots)
    if (root != kNone && (root < bvh.instance_room || root >= bvh.nodes.size())) refuse("a mesh's root is not there");
  if (instances) check_instances(bvh, meshes, *instances);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(bvh.instance_nodes, bvh.nodes.size(), 4096),
                    [&](const auto& range) {
                      for (std::size_t i = range.begin(); i != range.end(); ++i)
                        check_links(bvh, i, bvh.nodes.size(), true);
                    });
}

void check_triangles(std::span<const Float3> vertices, std::span<const UInt3> triangles) {
  const auto count = vertices.size();
  const bool sound = std::all_of(triangles.begin(), triangles.end(),
                                 [count](const UInt3& t) { return t.x < count && t.y < count && t.z < count; }) &&
                     std::all_of(vertices.begin(), vertices.end(), [](const Float3& v) {
                       return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
                     });
  if (!sound)
    throw Error(ErrorKind::usage, "the flat scene holds an index out of range, or a vertex that is not finite");
}

}  // namespace raylift::detail
