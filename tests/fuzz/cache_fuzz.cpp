// SPDX-License-Identifier: Apache-2.0
// Cache files with any contents behind right checksums, which by themselves would keep a fuzzer out: no crash, and no
// more memory than the file calls for. The first byte says what the rest is: a whole file, or the sections of one.
#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "cache/cache_format.h"
#include "cache/hash.h"
#include "gpu/src/cache/cache_files.h"

namespace {

using namespace raylift;
using detail::CacheEntry;
using detail::CacheHeader;

/// Gives header and table of contents the checksums that they need to be looked at.
void make_right(std::vector<std::byte>& file) {
  CacheHeader header;
  if (file.size() < sizeof header) return;
  std::memcpy(&header, file.data(), sizeof header);
  header.magic = detail::kCacheMagic;
  header.byte_order = detail::kCacheByteOrder;
  header.version = detail::kCacheVersion;
  header.contents = detail::kCacheContents;
  header.page_bytes = CacheFile::kPageBytes;
  header.block_bytes = CacheFile::kBlockBytes;
  header.writer = detail::cache_writer();
  header.file_bytes = file.size();
  header.hash = detail::hash128(&header, offsetof(CacheHeader, hash));
  std::memcpy(file.data(), &header, sizeof header);
  const std::uint64_t end = sizeof header + header.table_bytes;
  if (header.table_bytes < sizeof(Hash128) || header.table_bytes > file.size() || end > file.size()) return;
  for (std::uint64_t i = 0; i < header.sections && (i + 1) * sizeof(CacheEntry) <= header.table_bytes; ++i) {
    CacheEntry entry;
    std::byte* const at = file.data() + sizeof header + i * sizeof entry;
    std::memcpy(&entry, at, sizeof entry);
    const std::uint64_t blocks = detail::blocks_of(entry.count * entry.element_bytes);
    const std::uint64_t first = sizeof header + header.sections * sizeof entry + entry.first_block * 8;
    if (entry.first_block > file.size() || blocks > file.size() || first > file.size() ||
        blocks * 8 > file.size() - first)
      continue;
    for (std::uint64_t block = 0; block != blocks; ++block) {
      const std::uint64_t begin = entry.offset + block * CacheFile::kBlockBytes;
      const std::uint64_t left = entry.count * entry.element_bytes - block * CacheFile::kBlockBytes;
      const std::uint64_t bytes = left < CacheFile::kBlockBytes ? left : CacheFile::kBlockBytes;
      if (begin > file.size() || bytes > file.size() - begin) break;
      const std::uint64_t hash = detail::hash64(file.data() + begin, bytes);
      std::memcpy(file.data() + first + block * 8, &hash, sizeof hash);
    }
    entry.hash = detail::hash128(file.data() + first, blocks * 8);
    std::memcpy(at, &entry, sizeof entry);
  }
  const Hash128 hash = detail::hash128(file.data() + sizeof header, header.table_bytes - sizeof hash);
  std::memcpy(file.data() + end - sizeof hash, &hash, sizeof hash);
}

void use(const std::string& path) {
  const CacheFile file(path);
  for (const CacheSection& section : file.sections()) {
    std::vector<std::byte> bytes(section.bytes());
    file.read(section, 0, bytes.size(), bytes.data(), StoreMode::cached);
  }
  (void)cache_summary(file);
  const Scene outline = cached_outline(file);
  for (const Instance& instance : outline.instances) (void)outline.path(instance);
  const Scene scene = cached_scene(file);
  for (const Mesh& mesh : scene.meshes)
    for (const UInt3& t : mesh.triangles)
      if (t.x >= mesh.vertices.size() || t.y >= mesh.vertices.size() || t.z >= mesh.vertices.size()) std::abort();
  file.verify();
}

/// In memory, not on a disk: a file is synchronised before it gets its name. In a folder of ours, as others are
/// refused.
const std::string& scratch_file() {
  static const std::string path = [] {
    std::string folder = "/dev/shm/raylift-fuzz-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    static const std::string made = folder;
    std::atexit([] { ::rmdir(made.c_str()); });
    return folder + "/file";
  }();
  return path;
}

void use_scratch_file() {
  try {
    use(scratch_file());
  } catch (const Error&) {
  }
  ::unlink(scratch_file().c_str());
}

void use_file(std::vector<std::byte> bytes) {
  make_right(bytes);
  const int file = ::open(scratch_file().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || ::write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  ::close(file);
  use_scratch_file();
}

void use_sections(std::span<const std::byte> bytes) {
  const auto take = [&](std::size_t unit) {
    std::uint16_t size = 0;
    std::memcpy(&size, bytes.data(), std::min(sizeof size, bytes.size()));
    bytes = bytes.subspan(std::min(sizeof size, bytes.size()));
    const std::size_t used = std::min<std::size_t>(size, bytes.size()) / unit * unit;
    std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(used));
    bytes = bytes.subspan(used);
    return part;
  };
  const std::vector<CacheMetadata> metadata{{"scene", take(1)}, {"scene_tree", take(1)}};
  const std::vector<std::byte> vertices = take(sizeof(Float3));
  const std::vector<std::byte> triangles = take(sizeof(UInt3));
  const auto source = [](const char* name, std::size_t size, const std::vector<std::byte>& from) {
    return ArraySource{name, ArrayRank::vertices, size, from.size() / size,
                       [&from, size](std::size_t first, std::size_t count, std::byte* target, StoreMode) {
                         std::memcpy(target, from.data() + first * size, count * size);
                       }};
  };
  write_cache_file(
      scratch_file(), {},
      std::vector{source("vertices", sizeof(Float3), vertices), source("triangles", sizeof(UInt3), triangles)},
      metadata);
  use_scratch_file();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  if (*data == 'f')
    use_file({bytes + 1, bytes + size});
  else
    use_sections({bytes + 1, size - 1});
  return 0;
}
