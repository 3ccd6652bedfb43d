// SPDX-License-Identifier: Apache-2.0
// The metadata sections of a cache file: "scene", what is known about the scene as a whole, and "scene_tree", its
// names, nodes and instances.
#pragma once

#include <raylift/gpu/cache/cache.h>

#include <vector>

namespace raylift::detail {

[[nodiscard]] std::vector<CacheMetadata> scene_metadata(const Scene& scene, const Eigen::Vector3d& origin,
                                                        bool flattened);

}  // namespace raylift::detail
