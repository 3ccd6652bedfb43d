// SPDX-License-Identifier: Apache-2.0
// Loading and uploading by way of the cache, whose failures have no worse effect than a load without it.
#include <raylift/geometry/error.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "cache_check.h"
#include "cache_files.h"
#include "cache_folder.h"
#include "cache_format.h"
#include "cache_key.h"
#include "cache_scene.h"
#include "upload/array_on_device.h"
#include "upload/geometry_arrays.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const CacheOptions& options) {
  return options.folder.empty() ? default_cache_folder() : options.folder;
}

/// Throws Error(io) for a folder that others can write to.
void expect_private(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) detail::CacheFolder(folder).expect_private();
}

/// Where a cache file should be, and what it should say.
struct Candidate {
  CacheKey key;
  fs::path path;
};

/// The options of cache files that hold a scene without a BVH.
UploadOptions for_the_scene() {
  UploadOptions options;
  options.bvh = false;
  return options;
}

/// What is found by options must be what these options make.
void refuse_prebuilt(const UploadOptions& options) {
  if (options.prebuilt_bvh != nullptr)
    throw Error(ErrorKind::usage, "a BVH that was built before belongs to a scene, and not to a file in the cache", {},
                "upload the scene itself with UploadOptions::prebuilt_bvh");
}

class Cache {
 public:
  Cache(const fs::path& source, const LoadOptions& load, const CacheOptions& options, const Progress& progress)
      : source_(source), load_(load), options_(options), progress_(progress) {
    // What load() refuses is left to it.
    if ((!options.read && !options.write) || !detail::is_hashed(source, load)) return;
    folder_ = folder_of(options);
    try {
      expect_private(folder_);
    } catch (const Error& failure) {
      warn(failure.what());
      return;
    }
    if (const auto& ahead = options.source_hash; ahead && ahead->valid() && ahead->get().source == source)
      hash_ = ahead->get();
    if (!hash_) hash_ = hash_source(source, progress);
    options_hash_ = detail::options_hash(source, load, {});
  }

  /// Whether the source is cached at all.
  [[nodiscard]] bool usable() const { return hash_.has_value(); }

  /// Where the file for these options lies.
  [[nodiscard]] Candidate place(const UploadOptions& upload) const {
    const CacheKey key{hash_->hash, detail::options_hash(source_, load_, upload), hash_->bytes};
    return {key, folder_ / cache_file_name(key)};
  }

  /// Opens what there is for these options and gives it to `use`; false where there is none, or none that can be used.
  template <class Use>
  bool read(const UploadOptions& upload, const Use& use) const {
    if (!usable() || !options_.read) return false;
    if (read(place(upload), use)) return true;
    // A BVH that is not asked for does no harm, and the host builds better ones than devices.
    UploadOptions better = upload;
    better.bvh_builder = UploadOptions::BvhBuilder::host;
    if (upload.bvh) return upload.bvh_builder != UploadOptions::BvhBuilder::host && read(place(better), use);
    better.bvh = true;
    better.bvh_options = {};
    return read(place(better), use);
  }

  /// The scene, out of any file that has it, or loaded.
  [[nodiscard]] Scene scene() const {
    Scene scene;
    if (!read(for_the_scene(), [&](const CacheFile& file) { scene = cached_scene(file, source_, progress_); }))
      return load(source_, load_, progress_);
    return scene;
  }

  /// Writes what was loaded from the source. Throws Error(io), also where that is not what was hashed any more.
  void write(const UploadOptions& upload, const Scene& scene, const detail::GeometryArrays& sources) const {
    if (detail::stamp_of(source_) != hash_->stamp || detail::options_hash(source_, load_, {}) != options_hash_)
      throw Error(ErrorKind::io, "the file was changed while it was loaded, and is not cached", {source_.string(), ""});
    const Candidate to = place(upload);
    std::vector<CacheMetadata> metadata =
        detail::scene_metadata(scene, sources.origin, upload.flatten, sources.raster, progress_);
    metadata.push_back(detail::options_metadata(detail::changed_options(source_, load_, upload)));
    write_cache_file(to.path, to.key, sources.arrays, metadata, progress_);
  }

  /// The same where the cache is wanted, but not needed: what fails is reported.
  [[nodiscard]] std::shared_ptr<const CacheFile> try_write(const UploadOptions& upload, const Scene& scene,
                                                           const detail::GeometryArrays& sources) const {
    if (!usable() || !options_.write) return {};
    try {
      write(upload, scene, sources);
      return std::make_shared<const CacheFile>(place(upload).path);
    } catch (const Error& failure) {
      // Another process may have cleared the cache since.
      if (failure.kind() != ErrorKind::io) throw;
      warn(failure.what());
      return {};
    }
  }

 private:
  template <class Use>
  bool read(const Candidate& from, const Use& use) const {
    std::error_code error;
    if (from.path == unusable_ || !fs::exists(from.path, error)) return false;
    try {
      const CacheFile file(from.path);
      if (file.key() != from.key)
        throw Error(ErrorKind::malformed, "the cache file is of another source or other options",
                    {from.path.string(), ""});
      if (!detail::same_files(file, source_, progress_)) return false;
      use(file);
      return true;
    } catch (const Error& failure) {
      const bool of_cache = failure.kind() == ErrorKind::io || failure.kind() == ErrorKind::malformed ||
                            failure.kind() == ErrorKind::unsupported;
      if (!of_cache || failure.file() != from.path.string()) throw;
      warn(failure.problem() + ": " + from.path.string() + (failure.element().empty() ? "" : ", " + failure.element()) +
           "; it is made again");
      unusable_ = from.path;
      return false;
    }
  }

  void warn(const std::string& message) const {
    if (options_.warn) options_.warn(message);
  }

  const fs::path& source_;
  const LoadOptions& load_;
  const CacheOptions& options_;
  const Progress& progress_;
  fs::path folder_;
  std::optional<SourceHash> hash_;
  Hash128 options_hash_;       // at the start
  mutable fs::path unusable_;  // was reported already
};

/// The arrays of a cache file, as they go onto a device. Those of a BVH are left out where it is not asked for.
detail::GeometryArrays sources_of(const CacheFile& file, bool bvh, detail::CacheCheck& check) {
  detail::GeometryArrays sources;
  for (const CacheSection& section : file.sections()) {
    if (section.kind != CacheSection::Kind::array) continue;
    const ViewArrayInfo* known = find_view_array(section.name);
    if (known != nullptr && known->presence == ViewArrayInfo::Presence::bvh && !bvh) continue;
    sources.arrays.push_back(
        file.source(section, [&check](const CacheSection& of, std::uint64_t block, std::span<const std::byte> bytes) {
          check.block(of, block, bytes);
        }));
  }
  const CacheSummary summary = cache_summary(file);
  sources.origin = summary.origin;
  sources.raster = summary.raster;
  sources.reach = detail::reach_of(summary.bounds, summary.origin);
  return sources;
}

}  // namespace

fs::path default_cache_folder() {
  const auto variable = [](const char* name) -> fs::path {
    const char* value = std::getenv(name);
    return value == nullptr ? fs::path() : fs::path(value);
  };
  if (const fs::path own = variable("RAYLIFT_CACHE_DIR"); !own.empty()) return own;
  // A relative path is to be ignored there, says the XDG base directory specification.
  if (const fs::path caches = variable("XDG_CACHE_HOME"); caches.is_absolute()) return caches / "raylift";
  if (const fs::path home = variable("HOME"); !home.empty()) return home / ".cache" / "raylift";
  throw Error(ErrorKind::usage, "there is no place for the cache: HOME is not set", {}, "set RAYLIFT_CACHE_DIR");
}

Scene CachedUpload::outline() const {
  if (scene) return *scene;
  return cached_outline(*cache);
}

CachedUpload upload(const fs::path& source, const LoadOptions& load_options, const Device& device,
                    const UploadOptions& upload_options, const CacheOptions& cache_options, const Progress& progress) {
  refuse_prebuilt(upload_options);
  UploadOptions options = upload_options;
  if (device.info().is_host) options.bvh_builder = UploadOptions::BvhBuilder::host;
  const Cache cache(source, load_options, cache_options, progress);
  std::optional<CachedUpload> result;
  if (cache.read(options, [&](const CacheFile& file) {
        result.emplace(CachedUpload{upload_cached(file, device, options, progress), true,
                                    std::make_shared<const CacheFile>(file), std::nullopt});
      }))
    return std::move(*result);
  Scene scene = cache.scene();
  const detail::GeometryArrays sources =
      detail::geometry_arrays(scene, options, progress, detail::builder_of(device, options));
  if (cache.usable()) detail::release_from_devices(sources.arrays);
  GpuGeometry geometry = detail::upload_geometry(sources, std::nullopt, device, options, progress);
  std::shared_ptr<const CacheFile> file = cache.try_write(options, scene, sources);
  return {std::move(geometry), false, std::move(file), std::move(scene)};
}

GpuGeometry upload_cached(const CacheFile& file, const Device& device, const UploadOptions& options,
                          const Progress& progress) {
  detail::CacheCheck check(file, options.bvh);
  GpuGeometry geometry =
      detail::upload_geometry(sources_of(file, options.bvh, check), std::nullopt, device, options, progress);
  check.finish();
  return geometry;
}

Scene load(const fs::path& source, const LoadOptions& options, const CacheOptions& cache_options,
           const Progress& progress) {
  const Cache cache(source, options, cache_options, progress);
  Scene scene;
  if (cache.read(for_the_scene(), [&](const CacheFile& file) { scene = cached_scene(file, source, progress); }))
    return scene;
  scene = load(source, options, progress);
  if (cache.usable())
    (void)cache.try_write(for_the_scene(), scene, detail::geometry_arrays(scene, for_the_scene(), progress));
  return scene;
}

CacheMade make_cache(const fs::path& source, const LoadOptions& load_options, const UploadOptions& upload_options,
                     const CacheOptions& cache_options, const Progress& progress) {
  refuse_prebuilt(upload_options);
  UploadOptions options = upload_options;
  options.bvh_builder = UploadOptions::BvhBuilder::host;
  expect_private(folder_of(cache_options));
  const Cache cache(source, load_options, cache_options, progress);
  std::optional<CacheFile> found;
  if (cache.read(options, [&](const CacheFile& file) {
        file.verify(progress);
        found = file;
      }))
    return {*found, true};
  const Scene scene = cache.scene();
  if (!cache.usable())
    throw Error(ErrorKind::unsupported, "files of this format are not cached: they may consist of several",
                {source.string(), ""});
  cache.write(options, scene, detail::geometry_arrays(scene, options, progress));
  return {CacheFile(cache.place(options).path), false};
}

void write_cache_file(const fs::path& path, const CacheKey& key, const Scene& scene, const UploadOptions& upload,
                      const Progress& progress) {
  const detail::GeometryArrays sources = detail::geometry_arrays(scene, upload, progress);
  write_cache_file(path, key, sources.arrays,
                   detail::scene_metadata(scene, sources.origin, upload.flatten, sources.raster, progress), progress);
}

CacheContents cache_contents(const fs::path& folder) {
  // Names that a cache gives, and no other: a folder may hold what is none of our business.
  const auto is_ours = [](std::string_view name) {
    constexpr std::size_t kSource = 2 * sizeof(Hash256);
    constexpr std::size_t kOptions = 2 * sizeof(Hash128);
    const auto hex = [](std::string_view part) {
      return std::all_of(part.begin(), part.end(),
                         [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    };
    return name.size() == kSource + kOptions + 9 && hex(name.substr(0, kSource)) && name[kSource] == '-' &&
           hex(name.substr(kSource + 1, kOptions)) && name.substr(kSource + 1 + kOptions) == ".raylift";
  };
  CacheContents contents;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    if (error == std::errc::no_such_file_or_directory) return contents;
    throw Error(ErrorKind::io, "the cache's folder can't be read: " + error.message(), {folder.string(), ""});
  }
  for (const fs::directory_entry& entry : entries) {
    if (entry.symlink_status(error).type() != fs::file_type::regular) continue;
    const std::string name = entry.path().filename().string();
    if (is_ours(name)) contents.files.push_back(entry.path());
    if (name.front() == '.' && name.ends_with(".tmp") && is_ours(name.substr(1, name.find(".raylift") + 7)))
      contents.left_over.push_back(entry.path());
  }
  std::sort(contents.files.begin(), contents.files.end());
  std::sort(contents.left_over.begin(), contents.left_over.end());
  return contents;
}

CacheCleared clear_cache(const fs::path& folder) {
  CacheCleared cleared;
  const CacheContents contents = cache_contents(folder);
  const auto remove = [&](const fs::path& path) {
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(path, error);
    if (fs::remove(path, error)) {
      ++cleared.files;
      cleared.bytes += bytes;
    } else if (error) {
      throw Error(ErrorKind::io, "the cache file can't be removed: " + error.message(), {path.string(), ""});
    }
  };
  for (const fs::path& path : contents.files) remove(path);
  for (const fs::path& path : contents.left_over)
    if (detail::is_left_over(path)) remove(path);
  return cleared;
}

}  // namespace raylift
