// SPDX-License-Identifier: Apache-2.0
#include "compile_cache.h"

#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/descriptor.h"
#include "cache/cache_folder.h"
#include "cache/temporary_file.h"
#include "geometry/src/scene/scene_bytes.h"
#include "gpu/src/cache/cache_files.h"

namespace raylift::detail {
namespace {

namespace fs = std::filesystem;

// A file is this header, then the payload.
struct Header {
  std::array<char, 8> magic{'R', 'L', 'K', 'E', 'R', 'N', '0', '1'};
  Hash256 key;
  Hash256 hash;  // of the payload
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Header) == 80);

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;  // of a file

[[noreturn]] void refuse(const fs::path& path) {
  throw Error(ErrorKind::malformed, "the cache file of a kernel is damaged, and is written again", {path.string(), ""});
}

ByteWriter packed(const Compiled& compiled) {
  ByteWriter to;
  to.text(compiled.image);
  to.list(compiled.kernels, 0, [&](const Kernel& kernel) {
    to.text(kernel.name);
    to.text(kernel.symbol);
    to.list(kernel.parameters, 0, [&](std::size_t bytes) { to.value(std::uint64_t{bytes}); });
  });
  return to;
}

Compiled unpacked(std::string_view bytes, const fs::path& path) {
  ByteReader from(bytes, [&](const std::string&) { refuse(path); });
  Compiled compiled;
  from.text(compiled.image);
  from.list(compiled.kernels, 3 * sizeof(std::uint64_t), [&](Kernel& kernel) {
    from.text(kernel.name);
    from.text(kernel.symbol);
    from.list(kernel.parameters, sizeof(std::uint64_t),
              [&](std::size_t& parameter) { parameter = from.get<std::uint64_t>(); });
  });
  from.expect_end();
  compiled.cached = true;
  return compiled;
}

/// Options that include further files, or whose result does not follow from their text.
bool reads_files(std::string_view option) {
  for (const char* prefix : {"-I", "--include-path", "-include", "--pre-include", "-pch", "--pch", "-use-pch",
                             "--use-pch", "-create-pch", "--create-pch", "--pch-dir", "@"})
    if (option.starts_with(prefix)) return true;
  return false;
}

}  // namespace

CompileCache::CompileCache(const Nvrtc& nvrtc, std::string_view source, const std::vector<std::string>& words,
                           const ModuleOptions& options)
    : warn_(options.warn) {
  if (!options.cache) return;
  for (const std::string& option : options.compiler)
    if (reads_files(option)) return;
  const std::optional<std::string> included = included_texts(source, options.include_folders);
  if (!included) return;
  ByteWriter key;
  for (const int number : {nvrtc.major, nvrtc.minor}) key.value(std::uint64_t{static_cast<unsigned>(number)});
  key.list(words, 0, [&](const std::string& word) { key.text(word); });
  key.text(options.name);
  key.text(source);
  key.text(*included);
  for (const BuiltInHeader& header : std::span(kBuiltInHeaders, kBuiltInHeaderCount)) {
    key.text(header.name);
    key.text(header.text);
  }
  key_ = sha256(key.bytes().data(), key.bytes().size());
  try {
    const fs::path folder = options.cache_folder.empty() ? default_cache_folder() / "kernels" : options.cache_folder;
    path_ = folder / (key_.hex() + ".kernels");
  } catch (const Error& failure) {
    warn(failure.what());
  }
}

std::optional<Compiled> CompileCache::read() const {
  std::error_code error;
  if (path_.empty() || !fs::exists(fs::symlink_status(path_, error))) return std::nullopt;
  try {
    const CacheFolder folder = CacheFolder::of(path_);
    folder.expect_private();
    const base::Descriptor file(folder.open_file(path_));
    CacheFolder::expect_private(file.get(), path_);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || status.st_size < 0 ||
        static_cast<std::uint64_t>(status.st_size) > kMaxBytes)
      throw Error(ErrorKind::malformed, "the cache file of a kernel makes no sense", {path_.string(), ""});
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t got = 0;
    (void)base::read_all(file.get(), std::as_writable_bytes(std::span(bytes)), 0, got);
    Header header;
    const Header expected;
    if (got == bytes.size() && got >= sizeof header) {
      std::memcpy(&header, bytes.data(), sizeof header);
      const std::string_view payload = std::string_view(bytes).substr(sizeof header);
      if (header.magic == expected.magic && header.key == key_ && header.bytes == payload.size() &&
          header.hash == sha256(payload.data(), payload.size()))
        return unpacked(payload, path_);
    }
    refuse(path_);
  } catch (const Error& failure) {
    warn(failure.what());
    return std::nullopt;
  }
}

void CompileCache::write(const Compiled& compiled) const {
  if (path_.empty()) return;
  try {
    const ByteWriter bytes = packed(compiled);
    const std::span<const std::byte> payload = bytes.bytes();
    Header header;
    header.key = key_;
    header.hash = sha256(payload.data(), payload.size());
    header.bytes = payload.size();
    if (sizeof header + payload.size() > kMaxBytes) return;
    TemporaryFile file(path_);
    file.write_at(0, &header, sizeof header);
    file.write_at(sizeof header, payload.data(), payload.size());
    file.keep();
  } catch (const Error& failure) {
    warn(failure.what());
  }
}

}  // namespace raylift::detail
