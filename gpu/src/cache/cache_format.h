// SPDX-License-Identifier: Apache-2.0
// The cache file's layout, as docs/cache_format.md describes it: little-endian, no padding but what is named.
#pragma once

#include "cache_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace raylift::detail {

// What is written to the file is these structs' memory.
static_assert(std::endian::native == std::endian::little, "the cache is written and read on little-endian machines");

inline constexpr std::array<unsigned char, 8> kCacheMagic{0x89, 'R', 'L', 'C', '\r', '\n', 0x1A, '\n'};
inline constexpr std::uint32_t kCacheByteOrder = 0x01020304;
/// The version of the file's structure.
inline constexpr std::uint32_t kCacheVersion = 2;
/// The version of the contents: raised with every change of an array's layout or contents.
inline constexpr std::uint32_t kCacheContents = 16;
inline constexpr std::uint32_t kMaxSections = 1024;

struct CacheHeader {
  std::array<unsigned char, 8> magic;
  std::uint32_t byte_order;
  std::uint32_t version;
  std::uint32_t contents;
  std::uint32_t page_bytes;
  std::uint32_t block_bytes;
  std::uint32_t sections;
  std::uint64_t file_bytes;
  std::uint64_t table_bytes;  // of the pages after the header's
  Hash256 source;
  Hash128 options;
  std::uint64_t source_bytes;
  std::int64_t created;
  std::array<char, 32> writer;  // "raylift 0.1.0", padded with zeros
  std::array<unsigned char, 3936> reserved;
  Hash128 hash;  // of all before it
};
static_assert(sizeof(CacheHeader) == CacheFile::kPageBytes && std::is_trivially_copyable_v<CacheHeader> &&
              std::has_unique_object_representations_v<CacheHeader>);

struct CacheEntry {
  std::array<char, 48> name;  // padded with zeros, at least one
  std::uint32_t kind;
  std::uint32_t rank;
  std::uint32_t element_bytes;
  std::uint32_t reserved0;
  std::uint64_t count;
  std::uint64_t offset;
  std::uint64_t first_block;
  std::uint64_t reserved1;
  Hash128 hash;
  std::array<std::uint64_t, 2> reserved2;
};
static_assert(sizeof(CacheEntry) == 128 && std::is_trivially_copyable_v<CacheEntry> &&
              std::has_unique_object_representations_v<CacheEntry>);

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}
[[nodiscard]] constexpr std::uint64_t blocks_of(std::uint64_t bytes) {
  return (bytes + CacheFile::kBlockBytes - 1) / CacheFile::kBlockBytes;
}
/// The bytes of the pages with the entries, the checksums of all blocks, and the checksum of both at the end.
[[nodiscard]] constexpr std::uint64_t table_bytes_of(std::uint64_t sections, std::uint64_t blocks) {
  return round_up(sections * sizeof(CacheEntry) + blocks * sizeof(std::uint64_t) + sizeof(Hash128),
                  CacheFile::kPageBytes);
}

/// Letters a to z, digits and underscores.
[[nodiscard]] inline bool is_section_name(std::string_view name) noexcept {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Whether the writer of a temporary file is gone: one that is at work keeps it locked.
[[nodiscard]] bool is_left_over(const std::filesystem::path& path) noexcept;

/// The program's name and version, as it stands in CacheHeader::writer.
[[nodiscard]] std::array<char, 32> cache_writer() noexcept;

}  // namespace raylift::detail
