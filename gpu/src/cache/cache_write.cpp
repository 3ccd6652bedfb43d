// SPDX-License-Identifier: Apache-2.0
// Writing cache files: under a temporary name, onto the disk, and only then under their own name.
#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <sys/file.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "cache_file.h"
#include "cache_folder.h"
#include "cache_format.h"
#include "geometry/src/stage.h"
#include "hash.h"
#include "temporary_file.h"

namespace raylift {
namespace detail {

std::array<char, 32> cache_writer() noexcept {
  std::array<char, 32> writer{};
  constexpr std::string_view text = "raylift " RAYLIFT_VERSION;
  std::copy_n(text.begin(), std::min(text.size(), writer.size() - 1), writer.begin());
  return writer;
}

bool is_left_over(const std::filesystem::path& path) noexcept {
  // Whatever else may have got that name is left alone, and not waited for.
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return false;
  const bool free = ::flock(file, LOCK_EX | LOCK_NB) == 0;
  ::close(file);
  return free;
}

}  // namespace detail

namespace {

using namespace detail;
namespace fs = std::filesystem;

constexpr std::uint64_t kChunkBytes = 8 * CacheFile::kBlockBytes;  // of one write
constexpr std::size_t kStep = 64;                                  // chunks between two reports

/// A piece of a section, of at most kChunkBytes, at a multiple of that.
struct Chunk {
  std::size_t section;
  std::uint64_t begin;
  std::uint64_t end;
};

void set_name(CacheEntry& entry, const std::string& name) {
  if (name.size() >= entry.name.size() || !is_section_name(name))
    throw Error(ErrorKind::usage, "a section of a cache file can't be called '" + name + "'");
  std::copy(name.begin(), name.end(), entry.name.begin());
}

}  // namespace

void write_cache_file(const fs::path& path, const CacheKey& key, std::span<const ArraySource> arrays,
                      std::span<const CacheMetadata> metadata, const Progress& progress) {
  std::vector<ArraySource> sources(arrays.begin(), arrays.end());
  for (const CacheMetadata& one : metadata)
    sources.push_back(array_source(one.name, ArrayRank::attributes, std::span<const std::byte>(one.bytes)));
  if (sources.size() > kMaxSections) throw Error(ErrorKind::usage, "too many sections for a cache file");

  std::vector<CacheEntry> entries(sources.size());
  std::uint64_t blocks = 0;
  for (std::size_t i = 0; i != sources.size(); ++i) {
    CacheEntry& entry = entries[i];
    set_name(entry, sources[i].name);
    for (std::size_t j = 0; j != i; ++j)
      if (sources[j].name == sources[i].name)
        throw Error(ErrorKind::usage, "a cache file can't have two sections '" + sources[i].name + "'");
    entry.kind =
        static_cast<std::uint32_t>(i < arrays.size() ? CacheSection::Kind::array : CacheSection::Kind::metadata);
    entry.rank = static_cast<std::uint32_t>(sources[i].rank);
    entry.element_bytes = static_cast<std::uint32_t>(sources[i].element_bytes);
    entry.count = sources[i].count;
    entry.first_block = blocks;
    blocks += blocks_of(entry.count * entry.element_bytes);
  }
  const std::uint64_t table_bytes = table_bytes_of(entries.size(), blocks);
  std::uint64_t next = CacheFile::kPageBytes + table_bytes;
  std::vector<Chunk> chunks;
  for (std::size_t i = 0; i != entries.size(); ++i) {
    entries[i].offset = next;
    const std::uint64_t bytes = entries[i].count * entries[i].element_bytes;
    for (std::uint64_t begin = 0; begin < bytes; begin += kChunkBytes)
      chunks.push_back({i, begin, std::min(begin + kChunkBytes, bytes)});
    next = round_up(next + bytes, CacheFile::kPageBytes);
  }

  const Stage stage(progress, "write cache", next);
  TemporaryFile file(path);
  file.reserve(next);
  std::vector<std::uint64_t> checksums(blocks);
  for (std::size_t begin = 0; begin < chunks.size(); begin += kStep) {
    tbb::parallel_for(begin, std::min(begin + kStep, chunks.size()), [&](std::size_t c) {
      const Chunk& chunk = chunks[c];
      const std::size_t bytes = chunk.end - chunk.begin;
      const auto buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
      sources[chunk.section].fill_bytes(chunk.begin, chunk.end, buffer.get(), StoreMode::cached);
      const std::uint64_t first = entries[chunk.section].first_block + chunk.begin / CacheFile::kBlockBytes;
      for (std::size_t at = 0; at < bytes; at += CacheFile::kBlockBytes)
        checksums[first + at / CacheFile::kBlockBytes] =
            hash64(buffer.get() + at, std::min<std::size_t>(CacheFile::kBlockBytes, bytes - at));
      file.write_at(entries[chunk.section].offset + chunk.begin, buffer.get(), bytes);
    });
    stage.advance(entries[chunks[begin].section].offset + chunks[begin].begin);
  }

  std::vector<std::byte> table(table_bytes);
  for (CacheEntry& entry : entries)
    entry.hash = hash128(checksums.data() + entry.first_block,
                         blocks_of(entry.count * entry.element_bytes) * sizeof(std::uint64_t));
  const std::size_t entry_bytes = entries.size() * sizeof(CacheEntry);
  if (!entries.empty()) std::memcpy(table.data(), entries.data(), entry_bytes);
  if (blocks != 0) std::memcpy(table.data() + entry_bytes, checksums.data(), blocks * sizeof(std::uint64_t));
  const Hash128 hash = hash128(table.data(), table.size() - sizeof hash);
  std::memcpy(table.data() + table.size() - sizeof hash, &hash, sizeof hash);
  file.write_at(CacheFile::kPageBytes, table.data(), table.size());

  CacheHeader header{};
  header.magic = kCacheMagic;
  header.byte_order = kCacheByteOrder;
  header.version = kCacheVersion;
  header.contents = kCacheContents;
  header.page_bytes = CacheFile::kPageBytes;
  header.block_bytes = CacheFile::kBlockBytes;
  header.sections = static_cast<std::uint32_t>(entries.size());
  header.file_bytes = next;
  header.table_bytes = table_bytes;
  header.source = key.source;
  header.options = key.options;
  header.source_bytes = key.source_bytes;
  header.created =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  header.writer = cache_writer();
  header.hash = hash128(&header, offsetof(CacheHeader, hash));
  file.write_at(0, &header, sizeof header);
  file.keep();
}

}  // namespace raylift
