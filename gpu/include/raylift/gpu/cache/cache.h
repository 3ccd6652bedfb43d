// SPDX-License-Identifier: Apache-2.0
// The geometry cache: a folder of files, each with the arrays of one source file
// under one set of options. A second upload of the same file skips parsing, welding and building.
//
// A fault of the cache never stops loading. A file that is truncated, damaged, foreign or of an older version is
// reported, not used, and written again.
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace raylift {

class CacheFile;        // raylift's own programs read it
class SourceHashAhead;  // and compute it

/// $RAYLIFT_CACHE_DIR, else $XDG_CACHE_HOME/raylift, else ~/.cache/raylift. Throws Error(usage) where none of them is
/// set.
[[nodiscard]] std::filesystem::path default_cache_folder();

/// Whether the contents of a file, and of its optics_files(), alone decide what is loaded: .dae, .zae, .dae.gz, .stl,
/// .ply, .off. Files of other formats may refer to further files, whose changes would not be detected. They are loaded
/// without the cache. With LoadOptions::external, a cache file also has hashes of the other documents, and is used only
/// while these match.
[[nodiscard]] bool can_be_cached(const std::filesystem::path& source);

struct CacheOptions {
  std::filesystem::path folder;  ///< empty: default_cache_folder()
  bool read = true;              ///< false: existing files are written again
  bool write = true;
  std::function<void(const std::string&)> warn;  ///< gets a line for everything that is wrong with the cache
  /// The source's hash where a program has begun to compute it; without it, or if it is of another file, the file is
  /// hashed.
  std::shared_ptr<const SourceHashAhead> source_hash;
};

/// A file on a device, from the cache or loaded.
struct CachedUpload {
  GpuGeometry geometry;
  bool hit = false;                        ///< the arrays came from the cache
  std::shared_ptr<const CacheFile> cache;  ///< that they came from or went to, open; null where there is none
  std::optional<Scene> scene;              ///< the scene, where it had to be loaded

  /// The scene, or on a hit its outline: everything of it but vertices and triangles.
  [[nodiscard]] Scene outline() const;
};

/// Uploads from the cache, or else loads and uploads the file and writes a cache file. Throws what load() and upload()
/// throw; a fault of the cache is a warning.
[[nodiscard]] CachedUpload upload(const std::filesystem::path& source, const LoadOptions& load, const Device& device,
                                  const UploadOptions& upload, const CacheOptions& cache,
                                  const Progress& progress = {});

/// The scene from the cache, bit for bit as from load(); or else load(), which then also writes a cache file, with the
/// arrays of an upload without a BVH.
[[nodiscard]] Scene load(const std::filesystem::path& source, const LoadOptions& options, const CacheOptions& cache,
                         const Progress& progress = {});

}  // namespace raylift
