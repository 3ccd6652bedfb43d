// SPDX-License-Identifier: Apache-2.0
// The metadata sections of a cache file: "scene", what is known about the scene as a whole, and "scene_tree", its
// names, nodes and instances, and "options", what it was made with.
#pragma once

#include <raylift/gpu/cache/cache.h>

#include <vector>

namespace raylift::detail {

[[nodiscard]] std::vector<CacheMetadata> scene_metadata(const Scene& scene, const Eigen::Vector3d& origin,
                                                        bool flattened, const Raster& raster);
[[nodiscard]] CacheMetadata options_metadata(const std::string& options);

}  // namespace raylift::detail
