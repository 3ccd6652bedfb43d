// SPDX-License-Identifier: Apache-2.0
// Loading and uploading by way of the cache, which may fail in any way without anybody being worse off than without it.
#include <raylift/geometry/error.h>
#include <raylift/gpu/cache.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "cache_format.h"
#include "cache_key.h"
#include "cache_scene.h"
#include "geometry_sources.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;

/// What tells that a file was changed: its identity, size and times.
using Stamp = std::array<std::int64_t, 7>;

Stamp stamp_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {static_cast<std::int64_t>(status.st_dev),
          static_cast<std::int64_t>(status.st_ino),
          status.st_size,
          status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec,
          status.st_ctim.tv_sec,
          status.st_ctim.tv_nsec};
}

/// Where a source's file lies in the cache.
struct Place {
  CacheKey key;
  fs::path path;
  Stamp stamp;  // of the source, before its contents were hashed
  // Where a hierarchy is not asked for, a file that has one does too.
  std::optional<std::pair<CacheKey, fs::path>> other;
};

class Cache {
 public:
  Cache(const fs::path& source, const CacheOptions& options) : source_(source), options_(options) {}

  /// None where the source is not to be cached, or where it is one that load() refuses.
  [[nodiscard]] std::optional<Place> place(const LoadOptions& load, const UploadOptions& upload,
                                           const Progress& progress) const {
    std::error_code error;
    if ((!options_.read && !options_.write) || !can_be_cached(source_) || !fs::is_regular_file(source_, error) ||
        fs::file_size(source_, error) > load.limits.file_bytes)
      return {};
    Place place;
    place.stamp = stamp_of(source_);
    place.key = cache_key(source_, load, upload, progress);
    const fs::path folder = options_.folder.empty() ? default_cache_folder() : options_.folder;
    place.path = folder / cache_file_name(place.key);
    if (!upload.bvh) {
      UploadOptions with_bvh = upload;
      with_bvh.bvh = true;
      with_bvh.bvh_options = {};
      CacheKey key = place.key;
      key.options = detail::options_hash(source_, load, with_bvh);
      place.other.emplace(key, folder / cache_file_name(key));
    }
    return place;
  }

  /// Opens what is there and gives it to `use`; false where there is none, or none that can be used.
  template <class Use>
  bool read(const Place& place, const Use& use) const {
    return options_.read &&
           (read(place.key, place.path, use) || (place.other && read(place.other->first, place.other->second, use)));
  }

  /// Writes what was loaded from the source, unless that is not what was hashed any more.
  [[nodiscard]] bool write(const Place& place, const Scene& scene, const detail::GeometrySources& sources,
                           bool flattened, const Progress& progress) const {
    if (!options_.write) return false;
    if (stamp_of(source_) != place.stamp) {
      warn("the file was changed while it was loaded, and is not cached: " + source_.string());
      return false;
    }
    try {
      write_cache_file(place.path, place.key, sources.arrays, detail::scene_metadata(scene, sources.origin, flattened),
                       progress);
      return true;
    } catch (const Error& failure) {
      if (failure.kind() != ErrorKind::io) throw;
      warn(failure.what());
      return false;
    }
  }

 private:
  template <class Use>
  bool read(const CacheKey& key, const fs::path& path, const Use& use) const {
    std::error_code error;
    if (!fs::exists(path, error)) return false;
    try {
      const CacheFile file(path);
      if (file.key() != key)
        throw Error(ErrorKind::malformed, "the cache file is of another source or other options", {path.string(), ""});
      use(file);
      return true;
    } catch (const Error& failure) {
      const bool of_cache = failure.kind() == ErrorKind::io || failure.kind() == ErrorKind::malformed ||
                            failure.kind() == ErrorKind::unsupported;
      if (!of_cache || failure.file() != path.string()) throw;
      warn(failure.problem() + ": " + path.string() + (failure.element().empty() ? "" : ", " + failure.element()) +
           "; it is made again");
      return false;
    }
  }

  void warn(const std::string& message) const {
    if (options_.warn) options_.warn(message);
  }
  const fs::path& source_;
  const CacheOptions& options_;
};

/// The arrays of a cache file, as they go onto a device. Those of a hierarchy are left out where it is not asked for.
detail::GeometrySources sources_of(const CacheFile& file, bool bvh) {
  detail::GeometrySources sources;
  const auto expect = [&](const char* name, std::size_t element_bytes) {
    if (file.section(name).element_bytes != element_bytes)
      throw Error(ErrorKind::malformed, "the cache file's elements have another size",
                  {file.path().string(), std::string("section '") + name + "'"});
  };
  expect("triangles", sizeof(uint3));
  expect("vertices", sizeof(float3));
  expect("meshes", sizeof(MeshView));
  expect("instances", sizeof(InstanceView));
  if (bvh) {
    expect("nodes", sizeof(BvhNode));
    expect("pairs", sizeof(TrianglePair));
    expect("pair_ids", sizeof(PairIds));
  }
  const auto of_bvh = [](std::string_view name) { return name == "nodes" || name == "pairs" || name == "pair_ids"; };
  for (const CacheSection& section : file.sections())
    if (section.kind == CacheSection::Kind::array && (bvh || !of_bvh(section.name)))
      sources.arrays.push_back(file.source(section));
  sources.origin = cache_summary(file).origin;
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
  const Cache cache(source, cache_options);
  const std::optional<Place> place = cache.place(load_options, upload_options, progress);
  std::optional<CachedUpload> result;
  if (place && cache.read(*place, [&](const CacheFile& file) {
        result.emplace(CachedUpload{upload_cached(file, device, upload_options, progress), true, file, std::nullopt});
      }))
    return std::move(*result);
  Scene scene = load(source, load_options, progress);
  const detail::GeometrySources sources = detail::geometry_sources(scene, upload_options, progress);
  GpuGeometry geometry = detail::upload_geometry(sources, device, upload_options, progress);
  std::optional<CacheFile> file;
  if (place && cache.write(*place, scene, sources, upload_options.flatten, progress)) file.emplace(place->path);
  return {std::move(geometry), false, std::move(file), std::move(scene)};
}

GpuGeometry upload_cached(const CacheFile& file, const Device& device, const UploadOptions& options,
                          const Progress& progress) {
  return detail::upload_geometry(sources_of(file, options.bvh), device, options, progress);
}

Scene load(const fs::path& source, const LoadOptions& options, const CacheOptions& cache_options,
           const Progress& progress) {
  const Cache cache(source, cache_options);
  const std::optional<Place> place = cache.place(options, {}, progress);
  Scene scene;
  if (place && cache.read(*place, [&](const CacheFile& file) { scene = cached_scene(file); })) {
    scene.source = source.string();  // the same contents may lie elsewhere now
    return scene;
  }
  scene = load(source, options, progress);
  if (place) {
    const detail::GeometrySources sources = detail::geometry_sources(scene, {}, progress);
    (void)cache.write(*place, scene, sources, false, progress);
  }
  return scene;
}

CacheMade make_cache(const fs::path& source, const LoadOptions& load_options, const UploadOptions& upload_options,
                     const CacheOptions& cache_options, const Progress& progress) {
  const Cache cache(source, cache_options);
  const std::optional<Place> place = cache.place(load_options, upload_options, progress);
  std::optional<CacheFile> found;
  if (place && cache.read(*place, [&](const CacheFile& file) {
        file.verify(progress);
        found = file;
      }))
    return {*found, true};
  const Scene scene = load(source, load_options, progress);
  if (!place)
    throw Error(ErrorKind::unsupported, "files of this format are not cached: they may consist of several",
                {source.string(), ""});
  const detail::GeometrySources sources = detail::geometry_sources(scene, upload_options, progress);
  if (stamp_of(source) != place->stamp)
    throw Error(ErrorKind::io, "the file was changed while it was loaded", {source.string(), ""}, "try again");
  write_cache_file(place->path, place->key, sources.arrays,
                   detail::scene_metadata(scene, sources.origin, upload_options.flatten), progress);
  return {CacheFile(place->path), false};
}

void write_cache_file(const fs::path& path, const CacheKey& key, const Scene& scene, const UploadOptions& upload,
                      const Progress& progress) {
  const detail::GeometrySources sources = detail::geometry_sources(scene, upload, progress);
  write_cache_file(path, key, sources.arrays, detail::scene_metadata(scene, sources.origin, upload.flatten), progress);
}

CacheContents cache_contents(const fs::path& folder) {
  // Names that a cache gives, and no other: a folder may hold what is none of our business.
  const auto is_ours = [](std::string_view name) {
    constexpr std::size_t kHex = 32;
    const auto hex = [](std::string_view part) {
      return std::all_of(part.begin(), part.end(),
                         [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    };
    return name.size() == 2 * kHex + 9 && hex(name.substr(0, kHex)) && name[kHex] == '-' &&
           hex(name.substr(kHex + 1, kHex)) && name.substr(2 * kHex + 1) == ".raylift";
  };
  CacheContents contents;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    if (error == std::errc::no_such_file_or_directory) return contents;
    throw Error(ErrorKind::io, "the cache's folder can't be read: " + error.message(), {folder.string(), ""});
  }
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (is_ours(name)) contents.files.push_back(entry.path());
    if (name.size() > 74 && name.front() == '.' && name.ends_with(".tmp") && is_ours(name.substr(1, 73)))
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
