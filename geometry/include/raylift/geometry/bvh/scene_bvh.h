// SPDX-License-Identifier: Apache-2.0
// The BVH of a whole scene: one tree for each unique mesh, and one over the instances that place them.
#pragma once

#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/scene/flatten.h>
#include <raylift/geometry/scene/scene.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace raylift {

/// All trees in single arrays. First come the nodes over instances, among them an InstanceNode for each instance, or
/// for each piece of a large one. Empty nodes follow, as room for another tree over the same pieces: 2 nodes per piece
/// in all. Then come the nodes of the meshes, level by level over all meshes, so that again the nodes that rays visit
/// most come first.
struct SceneBvh {
  RawVector<bvh_detail::BvhNode> nodes;
  RawVector<bvh_detail::TrianglePair> pairs;
  RawVector<bvh_detail::PairIds> ids;  ///< triangles are counted over all meshes, one mesh after the other
  std::vector<std::uint32_t> roots;    ///< per mesh: its tree's first node, or kNone
  std::uint32_t instance_nodes = 0;    ///< of `nodes`; 0: no level over instances, nodes[0] is the only mesh's root
  std::uint32_t instance_room = 0;     ///< where the nodes of the meshes begin

  [[nodiscard]] BvhView view() const {
    const auto node_count = static_cast<std::uint32_t>(nodes.size()),
               pair_count = static_cast<std::uint32_t>(pairs.size());
    return {nodes.data(), pairs.data(), ids.data(), node_count, pair_count, 0, 0, 0};
  }
};

/// From this number of triangles on, building a mesh's tree on a device pays off.
inline constexpr std::size_t kLargeMesh = 50'000;
/// Builds the tree of one mesh: build_bvh, or a device's builder.
using MeshBuilder = std::function<Bvh(std::span<const Float3> vertices, std::span<const UInt3> triangles)>;

/// Two levels. `origin` is what is subtracted from world coordinates (see default_origin). Errors: as build_bvh for a
/// mesh, with the mesh's name; limit also where all meshes together have more than 2^30 triangles, or the scene more
/// than 2^31 - 1 instances. If `large` is given, it builds the meshes of at least `kLargeMesh` triangles, one after the
/// other.
[[nodiscard]] SceneBvh build_bvh(const Scene& scene, const Double3& origin, const Bvh::Options& options = {},
                                 const Progress& progress = {}, const MeshBuilder& large = {});

/// One level over a flattened scene.
[[nodiscard]] SceneBvh build_bvh(const FlatScene& flat, const Bvh::Options& options = {}, const Progress& progress = {},
                                 const MeshBuilder& large = {});

}  // namespace raylift
