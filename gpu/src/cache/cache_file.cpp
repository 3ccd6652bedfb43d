// SPDX-License-Identifier: Apache-2.0
// Reading cache files. Bytes come by read calls, not through a mapping: straight to where they are wanted, with no page
// to be mapped and unmapped on the way, and a file that is cut off meanwhile is an error and not a signal.
#include "cache_file.h"
#include <raylift/geometry/error.h>
#include <sys/stat.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "cache_check.h"
#include "cache_folder.h"
#include "cache_format.h"
#include "geometry/src/stage.h"
#include "hash.h"

namespace raylift {
namespace {

using namespace detail;

/// Memory for one block, of each thread.
std::byte* scratch() {
  thread_local const auto block = std::make_unique_for_overwrite<std::byte[]>(CacheFile::kBlockBytes);
  return block.get();
}

}  // namespace

struct CacheFile::Open {
  explicit Open(const std::filesystem::path& where) : Open(where, CacheFolder::of(where)) {}
  Open(const std::filesystem::path& where, const CacheFolder& folder);

  [[noreturn]] void damaged(const std::string& what, const std::string& element = {}) const {
    throw Error(ErrorKind::malformed, what, {path.string(), element}, "remove it; it will be made again");
  }
  [[noreturn]] void foreign(const std::string& what) const {
    throw Error(ErrorKind::unsupported, what, {path.string(), ""}, "remove it; it will be made again");
  }
  /// May be anything that was given by mistake, and so is not to be removed.
  [[noreturn]] void no_cache_file() const {
    throw Error(ErrorKind::unsupported, "this is no cache file of raylift", {path.string(), ""});
  }
  void read_at(std::uint64_t offset, std::byte* target, std::size_t bytes) const;
  void read_header(const CacheFolder& folder);
  void read_table();
  void check_entry(const CacheEntry& entry, CacheSection& section) const;
  /// Reads one block whole, and checks it.
  void read_block(const CacheSection& section, std::uint64_t block, std::byte* target) const;
  [[nodiscard]] static std::size_t block_bytes(const CacheSection& section, std::uint64_t block) {
    return static_cast<std::size_t>(std::min(kBlockBytes, section.bytes() - block * kBlockBytes));
  }

  std::filesystem::path path;
  base::Descriptor file;
  CacheHeader header{};
  CacheKey key;
  std::vector<CacheSection> sections;
  std::vector<std::uint64_t> checksums;  // of all blocks
};

CacheFile::Open::Open(const std::filesystem::path& where, const CacheFolder& folder)
    : path(where), file(folder.open_file(where)) {
  read_header(folder);
  read_table();
}

void CacheFile::Open::read_at(std::uint64_t offset, std::byte* target, std::size_t bytes) const {
  std::size_t done = 0;
  if (const int code = base::read_all(file.get(), {target, bytes}, offset, done); code != 0)
    throw Error(ErrorKind::io, std::string("the cache file can't be read: ") + std::strerror(code),
                {path.string(), ""});
  if (done != bytes) damaged("the cache file is cut off");
}

void CacheFile::Open::read_header(const CacheFolder& folder) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) no_cache_file();
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < header.magic.size()) no_cache_file();
  auto* const bytes = reinterpret_cast<std::byte*>(&header);
  read_at(0, bytes, std::min(size, kPageBytes));
  if (header.magic != kCacheMagic) no_cache_file();
  folder.expect_private();
  CacheFolder::expect_private(file.get(), path);
  if (size < kPageBytes) damaged("the cache file is cut off");
  if (header.byte_order != kCacheByteOrder) foreign("the cache file was written in another byte order");
  if (header.version != kCacheVersion)
    foreign("the cache file has version " + std::to_string(header.version) + " of the format, and " +
            std::to_string(kCacheVersion) + " is read");
  if (header.hash != hash128(bytes, offsetof(CacheHeader, hash))) damaged("the cache file's header is damaged");
  if (header.contents != kCacheContents || header.writer != cache_writer())
    foreign("the cache file was written by another version of raylift");
  if (header.page_bytes != kPageBytes || header.block_bytes != kBlockBytes)
    foreign("the cache file has pages or blocks of another size");
  if (header.file_bytes != size)
    damaged("the cache file has " + std::to_string(size) + " bytes instead of " + std::to_string(header.file_bytes));
  if (header.sections > kMaxSections) damaged("the cache file's header makes no sense");
  // So many blocks there can be at most: a wrong number can't ask for more memory than the file's size calls for.
  const std::uint64_t most_blocks = size / kBlockBytes + header.sections;
  if (header.table_bytes % kPageBytes != 0 || header.table_bytes < table_bytes_of(header.sections, 0) ||
      header.table_bytes > std::min(size - kPageBytes, table_bytes_of(header.sections, most_blocks)))
    damaged("the cache file's header makes no sense");
  key = {header.source, header.options, header.source_bytes};
}

void CacheFile::Open::read_table() {
  std::vector<std::byte> table(header.table_bytes);
  read_at(kPageBytes, table.data(), table.size());
  const std::size_t hashed = table.size() - sizeof(Hash128);
  Hash128 hash;
  std::memcpy(&hash, table.data() + hashed, sizeof hash);
  if (hash != hash128(table.data(), hashed)) damaged("the cache file's table of contents is damaged");

  // The layout is a rule, so no entry can lie where another one is.
  std::uint64_t blocks = 0;
  std::uint64_t next = kPageBytes + header.table_bytes;
  for (std::uint32_t i = 0; i != header.sections; ++i) {
    CacheEntry entry;
    std::memcpy(&entry, table.data() + i * sizeof entry, sizeof entry);
    CacheSection section;
    check_entry(entry, section);
    if (section.offset != next || section.first_block != blocks || section.bytes() > header.file_bytes - next)
      damaged("the cache file's table of contents makes no sense", "section '" + section.name + "'");
    blocks += blocks_of(section.bytes());
    next = round_up(next + section.bytes(), kPageBytes);
    sections.push_back(std::move(section));
  }
  if (next != header.file_bytes || header.table_bytes != table_bytes_of(header.sections, blocks))
    damaged("the cache file's table of contents makes no sense");
  checksums.resize(blocks);
  if (blocks != 0)
    std::memcpy(checksums.data(), table.data() + header.sections * sizeof(CacheEntry), blocks * sizeof(std::uint64_t));
  for (const CacheSection& section : sections)
    if (section.hash !=
        hash128(checksums.data() + section.first_block, blocks_of(section.bytes()) * sizeof(std::uint64_t)))
      damaged("the cache file's table of contents makes no sense", "section '" + section.name + "'");
}

void CacheFile::Open::check_entry(const CacheEntry& entry, CacheSection& section) const {
  const char* const fault = "the cache file's table of contents makes no sense";
  const auto end = std::find(entry.name.begin(), entry.name.end(), '\0');
  section.name.assign(entry.name.begin(), end);
  if (!is_section_name(section.name) || end == entry.name.end()) damaged(fault, "a section without a proper name");
  const bool twice =
      std::any_of(sections.begin(), sections.end(), [&](const CacheSection& s) { return s.name == section.name; });
  if (twice || entry.kind > static_cast<std::uint32_t>(CacheSection::Kind::metadata) ||
      entry.rank > static_cast<std::uint32_t>(ArrayRank::attributes) || entry.element_bytes == 0 ||
      entry.count > header.file_bytes / entry.element_bytes)
    damaged(fault, "section '" + section.name + "'");
  section.kind = static_cast<CacheSection::Kind>(entry.kind);
  section.rank = static_cast<ArrayRank>(entry.rank);
  section.element_bytes = entry.element_bytes;
  section.count = entry.count;
  section.offset = entry.offset;
  section.first_block = entry.first_block;
  section.hash = entry.hash;
}

void CacheFile::Open::read_block(const CacheSection& section, std::uint64_t block, std::byte* target) const {
  const std::size_t bytes = block_bytes(section, block);
  read_at(section.offset + block * kBlockBytes, target, bytes);
  if (hash64(target, bytes) != checksums[section.first_block + block])
    damaged("the cache file is damaged", "section '" + section.name + "', bytes from " +
                                             std::to_string(block * kBlockBytes) + " to " +
                                             std::to_string(block * kBlockBytes + bytes));
}

std::string Hash128::hex() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, high, low);
  return text;
}

std::string Hash256::hex() const {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

CacheFile::CacheFile(const std::filesystem::path& path) : open_(std::make_shared<const Open>(path)) {}

const std::filesystem::path& CacheFile::path() const {
  return open_->path;
}
const CacheKey& CacheFile::key() const {
  return open_->key;
}
std::uint64_t CacheFile::file_bytes() const {
  return open_->header.file_bytes;
}
std::int64_t CacheFile::created() const {
  return open_->header.created;
}
const std::vector<CacheSection>& CacheFile::sections() const {
  return open_->sections;
}

bool CacheFile::has(std::string_view section) const {
  return std::ranges::any_of(open_->sections, [&](const CacheSection& each) { return each.name == section; });
}

const CacheSection& CacheFile::section(std::string_view name) const {
  for (const CacheSection& section : open_->sections)
    if (section.name == name) return section;
  open_->damaged("the cache file has no section '" + std::string(name) + "'");
}

void CacheFile::read(const CacheSection& section, std::uint64_t first, std::size_t count, std::byte* target,
                     StoreMode mode, const BlockCheck& check) const {
  if (first > section.bytes() || count > section.bytes() - first)
    throw Error(ErrorKind::usage, "a read leaves the section '" + section.name + "'", {path().string(), ""});
  if (target == nullptr && count != 0)
    throw Error(ErrorKind::usage, "the section '" + section.name + "' is read into a null pointer",
                {path().string(), ""});
  const std::uint64_t end = first + count;
  for (std::uint64_t at = first; at != end;) {
    const std::uint64_t block = at / kBlockBytes;
    const std::uint64_t begin = block * kBlockBytes;
    const std::size_t bytes = Open::block_bytes(section, block);
    const auto here = static_cast<std::size_t>(std::min(end, begin + bytes) - at);
    const bool straight = here == bytes && mode == StoreMode::cached;
    std::byte* const whole = straight ? target : scratch();
    open_->read_block(section, block, whole);
    if (check) check(section, block, {whole, bytes});
    if (!straight) copy_bytes(whole + (at - begin), target, here, mode);
    at += here;
    target += here;
  }
}

void CacheFile::check_element(const CacheSection& section, std::size_t bytes) {
  if (section.element_bytes != bytes)
    throw Error(ErrorKind::malformed, "the cache file's section '" + section.name + "' has elements of " +
                                          std::to_string(section.element_bytes) + " bytes instead of " +
                                          std::to_string(bytes));
}

void CacheFile::read_whole(const CacheSection& section, std::byte* target) const {
  const std::uint64_t blocks = blocks_of(section.bytes());
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, blocks, 8), [&](const auto& range) {
    for (std::uint64_t block = range.begin(); block != range.end(); ++block)
      open_->read_block(section, block, target + block * kBlockBytes);
  });
}

ArraySource CacheFile::source(const CacheSection& section, const BlockCheck& check) const {
  // Bytes, not elements: then pieces of an upload are whole blocks.
  return {section.name, section.rank, 1, static_cast<std::size_t>(section.bytes()),
          [file = *this, section, check](std::size_t first, std::size_t count, std::byte* target, StoreMode mode) {
            file.read(section, first, count, target, mode, check);
          }};
}

void CacheFile::verify(const Progress& progress) const {
  constexpr std::uint64_t kStep = 512;  // blocks between two reports
  const Stage stage(progress, "verify", file_bytes());
  const std::unique_ptr<CacheCheck> check = CacheCheck::of_scene(*this);
  for (const CacheSection& section : sections()) {
    const std::uint64_t blocks = blocks_of(section.bytes());
    for (std::uint64_t begin = 0; begin < blocks; begin += kStep) {
      tbb::parallel_for(tbb::blocked_range<std::uint64_t>(begin, std::min(begin + kStep, blocks)),
                        [&](const auto& range) {
                          for (std::uint64_t block = range.begin(); block != range.end(); ++block) {
                            open_->read_block(section, block, scratch());
                            if (check) check->block(section, block, {scratch(), Open::block_bytes(section, block)});
                          }
                        });
      stage.advance(section.offset + std::min(begin + kStep, blocks) * kBlockBytes);
    }
    std::vector<std::byte> padding(round_up(section.bytes(), kPageBytes) - section.bytes());
    open_->read_at(section.offset + section.bytes(), padding.data(), padding.size());
    if (std::any_of(padding.begin(), padding.end(), [](std::byte b) { return b != std::byte{0}; }))
      open_->damaged("the cache file is damaged behind a section's end", "section '" + section.name + "'");
  }
  if (check) check->finish();
}

}  // namespace raylift
