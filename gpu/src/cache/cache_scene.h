// SPDX-License-Identifier: Apache-2.0
// The metadata sections of a cache file: "scene", what is known about the scene as a whole, "scene_tree", its names,
// nodes and instances, "files", what the files held that it was read from beside the source, and "options", what it was
// made with.
#pragma once

#include "cache_files.h"

#include <vector>

namespace raylift::detail {

/// Throws Error(io) where the scene's files have changed.
[[nodiscard]] std::vector<CacheMetadata> scene_metadata(const Scene& scene, const Double3& origin, bool flattened,
                                                        const Raster& raster, const Progress& progress);
/// The files that a cache file's scene was read from beside `source`, as they are now; nothing where they hold
/// something else than when the scene was read. Throws Error(cancelled).
[[nodiscard]] std::optional<std::vector<Scene::SourceFile>> same_files(const CacheFile& file,
                                                                       const std::filesystem::path& source,
                                                                       const Progress& progress);
[[nodiscard]] CacheMetadata options_metadata(const std::string& options);

}  // namespace raylift::detail
