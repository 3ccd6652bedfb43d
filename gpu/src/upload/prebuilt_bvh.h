// SPDX-License-Identifier: Apache-2.0
// Whether a BVH that the caller built is one of the scene that it is uploaded with.
#pragma once

#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/gpu/view.h>

#include <optional>
#include <span>

namespace raylift::detail {

/// `meshes` and `instances` are those of the view. Without instances: of a flattened scene, which has one level. Throws
/// Error(usage) where counts or links are wrong, or where instances stand elsewhere. Looks at each node, and at the
/// numbers of each triangle, but not at vertices.
void check_prebuilt(const SceneBvh& bvh, std::span<const MeshView> meshes,
                    std::optional<std::span<const InstanceView>> instances);

/// What a builder of BVHs would look at. Throws Error(usage).
void check_triangles(std::span<const Float3> vertices, std::span<const UInt3> triangles);

}  // namespace raylift::detail
