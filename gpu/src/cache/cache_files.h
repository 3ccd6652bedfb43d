// SPDX-License-Identifier: Apache-2.0
// The cache's files, for raylift's own programs: the hashes that are their keys, what they say of a scene, and how they
// are made, listed and removed.
#pragma once

#include <raylift/gpu/cache/cache.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cache_file.h"

namespace raylift {

/// The key of a source file under the options that its arrays depend on. Reads the whole file, in parallel. Throws
/// Error(io), Error(cancelled).
[[nodiscard]] CacheKey cache_key(const std::filesystem::path& source, const LoadOptions& load,
                                 const UploadOptions& upload, const Progress& progress = {});

/// A source file's hash, and a stamp that shows whether the file has changed since.
struct SourceHash {
  std::filesystem::path source;
  Hash256 hash;                         ///< as CacheKey::source
  std::uint64_t bytes = 0;              ///< the file's size
  std::array<std::int64_t, 7> stamp{};  ///< its identity, size and times before it was read
};
/// Reads the whole file, in parallel. Throws Error(io), Error(cancelled).
[[nodiscard]] SourceHash hash_source(const std::filesystem::path& source, const Progress& progress = {});
/// A source's hash, known or being computed by a thread. A value: copies refer to the same hash. The destructor of the
/// last copy waits for the thread.
class SourceHashAhead {
 public:
  SourceHashAhead() = default;
  explicit SourceHashAhead(SourceHash hash);
  /// Whether there is one.
  [[nodiscard]] bool valid() const { return hash_ != nullptr; }
  /// Waits for it. Throws what hash_source() throws.
  [[nodiscard]] const SourceHash& get() const;

 private:
  friend SourceHashAhead hash_source_ahead(const std::filesystem::path& source, const LoadOptions& load);

  std::shared_ptr<SourceHash> hash_;
  std::shared_future<void> done_;
};
/// hash_source() on another thread, for CacheOptions::source_hash: concurrently with the start of CUDA. Not valid() for
/// files that are not cached, or of more than 1 GiB, for which a program would wait too long when it exits early.
[[nodiscard]] SourceHashAhead hash_source_ahead(const std::filesystem::path& source, const LoadOptions& load);

/// Hashes of the files that a scene was read from beside `source` (Scene::files), as CacheKey::source, one each. Throws
/// Error(io) for one that has changed since it was read, or is not beneath the source's folder; Error(cancelled).
[[nodiscard]] std::vector<Hash256> file_hashes(const std::filesystem::path& source,
                                               std::span<const Scene::SourceFile> files, const Progress& progress = {});
/// The hash of the contents of files, in their order; "none" without files. Throws Error(io).
[[nodiscard]] std::string contents_hash(std::span<const std::filesystem::path> files);
/// The hash of the files that override a source's own optics: optics_files(). "none" without them, "unreadable" if
/// load() will refuse them. A part of the key.
[[nodiscard]] std::string optics_hash(const std::filesystem::path& source, const LoadOptions& load);

/// The name of the file of that key in its folder.
[[nodiscard]] std::string cache_file_name(const CacheKey& key);

/// Uploads a cache file's arrays, without those of the BVH if UploadOptions::bvh is false. Of the other options, only
/// those on placement apply. Throws what upload() and CacheFile do; malformed for a BVH that the file lacks.
[[nodiscard]] GpuGeometry upload_cached(const CacheFile& file, const Device& device, const UploadOptions& options = {},
                                        const Progress& progress = {});

/// Makes sure that the cache holds a file, without a device. Here an unusable cache is an error.
struct CacheMade {
  CacheFile file;
  bool hit = false;  ///< the file existed already, and every byte of it was checked
};
[[nodiscard]] CacheMade make_cache(const std::filesystem::path& source, const LoadOptions& load,
                                   const UploadOptions& upload, const CacheOptions& cache,
                                   const Progress& progress = {});

/// Writes a cache file with a scene's arrays as they are uploaded, and its metadata.
void write_cache_file(const std::filesystem::path& path, const CacheKey& key, const Scene& scene,
                      const UploadOptions& upload, const Progress& progress = {});

/// What a cache file says about its scene; fast to read.
struct CacheSummary {
  std::string source;  ///< the path that was loaded when it was made
  std::string format;
  std::string options;  ///< those that are not the default, for people: "unit=25.4 flatten=1"
  bool flattened = false;
  std::uint64_t triangles = 0;  ///< each mesh counted once
  std::uint64_t vertices = 0;
  std::uint64_t meshes = 0;
  std::uint64_t instances = 0;
  Double3 origin;
  Raster raster = kOwnPoints;  ///< of its optical tables
  Bounds bounds;
  LoadReport report;
};
[[nodiscard]] CacheSummary cache_summary(const CacheFile& file);
/// The scene without vertices and triangles: its meshes have only their parts.
[[nodiscard]] Scene cached_outline(const CacheFile& file);
/// The scene. Throws Error(usage) for one that was cached flattened.
[[nodiscard]] Scene cached_scene(const CacheFile& file);
/// The same as if it had been loaded from `source`, as a file with the same contents may have another path now. Throws
/// Error(io) if the other files that it was read from have changed.
[[nodiscard]] Scene cached_scene(const CacheFile& file, const std::filesystem::path& source,
                                 const Progress& progress = {});

/// The cache files in a folder, by name; nothing where there is no such folder. Temporary files of writers that were
/// killed count among `left_over`.
struct CacheContents {
  std::vector<std::filesystem::path> files;
  std::vector<std::filesystem::path> left_over;
};
[[nodiscard]] CacheContents cache_contents(const std::filesystem::path& folder);

/// Removes the cache files in a folder, and temporary files of writers that have ended. Files that are open stay
/// readable for those that have them open. Throws Error(io).
struct CacheCleared {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};
CacheCleared clear_cache(const std::filesystem::path& folder);

}  // namespace raylift
