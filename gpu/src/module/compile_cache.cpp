// SPDX-License-Identifier: Apache-2.0
#include "compile_cache.h"

#include <fcntl.h>
#include <raylift/geometry/detail/descriptor.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/cache/cache.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>

#include "cache/cache_folder.h"
#include "cache/temporary_file.h"

namespace raylift::inline v0_1::detail {
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

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // of a file
constexpr std::uint64_t kMostKernels = 1 << 16;

/// Values one after the other: numbers of 64 bits, and texts after their lengths.
class Packer {
 public:
  void add(std::uint64_t number) { bytes_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    bytes_.append(text);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// The other way; whatever the bytes say. Nothing that does not fit is read.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool read(std::uint64_t& number) {
    if (bytes_.size() < sizeof number) return false;
    std::memcpy(&number, bytes_.data(), sizeof number);
    bytes_.remove_prefix(sizeof number);
    return true;
  }
  [[nodiscard]] bool read(std::string& text) {
    std::uint64_t size = 0;
    if (!read(size) || size > bytes_.size()) return false;
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

std::string packed(const Compiled& compiled) {
  Packer packer;
  packer.add(compiled.image);
  packer.add(std::uint64_t{compiled.kernels.size()});
  for (const Kernel& kernel : compiled.kernels) {
    packer.add(kernel.name);
    packer.add(kernel.symbol);
    packer.add(std::uint64_t{kernel.parameters.size()});
    for (const std::size_t bytes : kernel.parameters) packer.add(std::uint64_t{bytes});
  }
  return packer.bytes();
}

std::optional<Compiled> unpacked(std::string_view bytes) {
  Unpacker from(bytes);
  Compiled compiled;
  std::uint64_t kernels = 0;
  if (!from.read(compiled.image) || !from.read(kernels) || kernels > kMostKernels) return std::nullopt;
  for (std::uint64_t k = 0; k != kernels; ++k) {
    Kernel& kernel = compiled.kernels.emplace_back();
    std::uint64_t count = 0, size = 0;
    if (!from.read(kernel.name) || !from.read(kernel.symbol) || !from.read(count) || count > kMostKernels)
      return std::nullopt;
    for (std::uint64_t i = 0; i != count; ++i) {
      if (!from.read(size)) return std::nullopt;
      kernel.parameters.push_back(size);
    }
  }
  if (!from.at_end()) return std::nullopt;
  compiled.cached = true;
  return compiled;
}

/// Options that let further files in, or tell nothing about what comes out of them.
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
  Packer key;
  key.add(std::uint64_t{static_cast<unsigned>(nvrtc.major)});
  key.add(std::uint64_t{static_cast<unsigned>(nvrtc.minor)});
  key.add(std::uint64_t{words.size()});
  for (const std::string& word : words) key.add(word);
  key.add(options.name);
  key.add(source);
  key.add(*included);
  for (const BuiltInHeader& header : std::span(kBuiltInHeaders, kBuiltInHeaderCount)) {
    key.add(header.name);
    key.add(header.text);
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
    const Descriptor file(folder.open_file(path_));
    CacheFolder::expect_private(file.get(), path_);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || status.st_size < 0 ||
        static_cast<std::uint64_t>(status.st_size) > kMostBytes)
      throw Error(ErrorKind::malformed, "the cache file of a kernel makes no sense", {path_.string(), ""});
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t got = 0;
    while (got != bytes.size()) {
      const ssize_t more = ::pread(file.get(), bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) break;
      got += static_cast<std::size_t>(more);
    }
    Header header;
    const Header expected;
    if (got == bytes.size() && got >= sizeof header) {
      std::memcpy(&header, bytes.data(), sizeof header);
      const std::string_view payload = std::string_view(bytes).substr(sizeof header);
      if (header.magic == expected.magic && header.key == key_ && header.bytes == payload.size() &&
          header.hash == sha256(payload.data(), payload.size()))
        if (std::optional<Compiled> compiled = unpacked(payload)) return compiled;
    }
    throw Error(ErrorKind::malformed, "the cache file of a kernel is damaged, and is written again",
                {path_.string(), ""});
  } catch (const Error& failure) {
    warn(failure.what());
    return std::nullopt;
  }
}

void CompileCache::write(const Compiled& compiled) const {
  if (path_.empty()) return;
  try {
    const std::string payload = packed(compiled);
    Header header;
    header.key = key_;
    header.hash = sha256(payload.data(), payload.size());
    header.bytes = payload.size();
    if (sizeof header + payload.size() > kMostBytes) return;
    TemporaryFile file(path_);
    file.write_at(0, &header, sizeof header);
    file.write_at(sizeof header, payload.data(), payload.size());
    file.keep();
  } catch (const Error& failure) {
    warn(failure.what());
  }
}

}  // namespace raylift::inline v0_1::detail
