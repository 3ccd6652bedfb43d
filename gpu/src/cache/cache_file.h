// SPDX-License-Identifier: Apache-2.0
// One file of the geometry cache: arrays as they are uploaded, and metadata.
// Written whole or not at all, and checked before it is used. docs/cache_format.md has every byte of it; cache.h has
// the cache.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/gpu/upload/array_source.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace raylift {

/// 128 bits of XXH3.
struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  /// 32 hexadecimal digits, the high half first, as `xxhsum -H2` prints them.
  [[nodiscard]] std::string hex() const;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

/// SHA-256: collision-resistant.
struct Hash256 {
  std::array<std::uint8_t, 32> bytes{};
  /// 64 hexadecimal digits.
  [[nodiscard]] std::string hex() const;
  friend bool operator==(const Hash256&, const Hash256&) = default;
};

/// The key of a cache file: the same key means the same arrays.
struct CacheKey {
  Hash256 source;                  ///< of the source file's contents
  Hash128 options;                 ///< of all options that the arrays depend on
  std::uint64_t source_bytes = 0;  ///< the source file's size
  friend bool operator==(const CacheKey&, const CacheKey&) = default;
};

/// An array in a cache file.
struct CacheSection {
  enum class Kind : std::uint32_t { array, metadata };

  std::string name;
  Kind kind = Kind::array;
  ArrayRank rank = ArrayRank::attributes;
  std::uint32_t element_bytes = 1;
  std::uint64_t count = 0;        ///< elements
  std::uint64_t offset = 0;       ///< in the file: a multiple of 4096
  std::uint64_t first_block = 0;  ///< of its checksums among those of all sections
  Hash128 hash;                   ///< over its checksums
  [[nodiscard]] std::uint64_t bytes() const { return count * element_bytes; }
};

/// Metadata that is stored with the arrays, and not uploaded.
struct CacheMetadata {
  std::string name;
  std::vector<std::byte> bytes;
};

/// An open cache file. Opening it checks its header, its table of contents and its size. The arrays are checked block
/// by block as they are read, before the caller gets them. Cheap to copy. All functions may be called from any thread.
///
/// Errors: io (it can't be opened or read, or others than its user and root can write to it or its folder), unsupported
/// (another version of the format or of raylift, another byte order), malformed (no cache file, or a damaged one).
class CacheFile {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;
  static constexpr std::uint64_t kBlockBytes = 131072;  ///< what one checksum is over

  explicit CacheFile(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const;
  [[nodiscard]] const CacheKey& key() const;
  [[nodiscard]] std::uint64_t file_bytes() const;
  [[nodiscard]] std::int64_t created() const;  ///< seconds since 1970
  [[nodiscard]] const std::vector<CacheSection>& sections() const;
  [[nodiscard]] bool has(std::string_view section) const;
  /// Throws Error(malformed) where there is none of that name.
  [[nodiscard]] const CacheSection& section(std::string_view name) const;

  /// Called with each block of a section as it is read, before its bytes are passed on.
  using BlockCheck =
      std::function<void(const CacheSection& section, std::uint64_t block, std::span<const std::byte> bytes)>;
  /// Reads bytes [first, first + count) of a section to `target`, which may be write-combined memory. On the calling
  /// thread. Reads whole blocks: ranges that begin and end with one are the fastest.
  void read(const CacheSection& section, std::uint64_t first, std::size_t count, std::byte* target, StoreMode mode,
            const BlockCheck& check = {}) const;
  /// All of a section, in parallel, as elements of type T. Throws Error(malformed) where these have another size.
  template <class T>
  [[nodiscard]] std::vector<T> read_all(std::string_view name) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const CacheSection& found = section(name);
    check_element(found, sizeof(T));
    std::vector<T> values(found.count);
    read_whole(found, reinterpret_cast<std::byte*>(values.data()));
    return values;
  }

  /// A section as a source for upload(). Keeps the file open; fills throw what `read` throws.
  [[nodiscard]] ArraySource source(const CacheSection& section, const BlockCheck& check = {}) const;

  /// Reads and checks every byte of the file, and checks the indices and links in a scene's arrays, so that rays and
  /// kernels stay in bounds.
  void verify(const Progress& progress = {}) const;

 private:
  struct Open;
  static void check_element(const CacheSection& section, std::size_t bytes);
  void read_whole(const CacheSection& section, std::byte* target) const;
  std::shared_ptr<const Open> open_;
};

/// Writes a cache file, in parallel. When this returns, the file is complete and on the disk; after an error there is
/// none. It is written under a temporary name in its folder, so several concurrent writers are safe. Throws Error: io
/// (with the folder's or the disk's failure), cancelled, and what the sources' fills throw.
void write_cache_file(const std::filesystem::path& path, const CacheKey& key, std::span<const ArraySource> arrays,
                      std::span<const CacheMetadata> metadata, const Progress& progress = {});

}  // namespace raylift
