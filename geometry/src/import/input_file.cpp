// SPDX-License-Identifier: Apache-2.0
#include "input_file.h"

#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "base/huge_pages.h"
#include "process.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;

/// An import uses three times a document's size at least: its text, what it is parsed into, and its geometries.
constexpr std::uint64_t kMemoryPerByte = 3;

/// How much of a file is not holes, counted up to `enough`.
std::uint64_t stored_bytes(int file, std::uint64_t enough) {
  std::uint64_t stored = 0;
  for (off_t at = 0; stored < enough;) {
    const off_t data = ::lseek(file, at, SEEK_DATA);
    if (data < 0) return errno == ENXIO ? stored : enough;  // the rest is a hole; or the file system has no holes
    at = ::lseek(file, data, SEEK_HOLE);
    if (at < 0) return enough;
    stored += static_cast<std::uint64_t>(at - data);
  }
  return enough;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

[[noreturn]] void fail_special(const fs::path& path) {
  throw Error(ErrorKind::io, "this is no regular file", {path.string(), ""}, "copy it to a file first");
}

/// Without O_NONBLOCK, opening a named pipe would wait for its writer.
int open_file(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && errno == ENXIO) fail_special(path);  // a socket
  if (file < 0) fail_file(path, "the file can't be opened", errno);
  return file;
}

}  // namespace

std::string extension_of(const fs::path& path) {
  const std::string last = lower_case(path.extension().string());
  if (last == ".gz")
    return lower_case(path.stem().extension().string() + last).substr(path.stem().has_extension() ? 1 : 0);
  return last.empty() ? last : last.substr(1);
}

bool is_collada(const std::string& extension) {
  return extension == "dae" || extension == "zae" || extension == "dae.gz" || extension == "xml";
}

std::uint64_t import_memory(const LoadLimits& limits) {
  return limits.isolate_bytes != 0 ? limits.isolate_bytes : detail::usable_memory() / 4 * 3;
}

void fail_file(const fs::path& path, const std::string& what, int code) {
  throw Error(kind_of_errno(code), what + ": " + std::strerror(code), {path.string(), ""});
}

void fail_too_large(const fs::path& path, const std::string& what, std::uint64_t limit, const char* option) {
  throw Error(ErrorKind::limit, what + " is larger than the limit of " + std::to_string(limit) + " bytes",
              {path.string(), ""}, std::string("raise it with ") + option);
}

bool expands(std::uint64_t bytes, std::uint64_t stored, const LoadLimits& limits) {
  constexpr std::uint64_t kHarmless = std::uint64_t{64} << 20;
  return bytes > kHarmless && bytes / std::max<std::uint64_t>(stored, 1) > limits.expansion;
}

void NodeNames::add(const std::string& name) {
  bytes_ += name.size();
  if (expands(bytes_, stored_, limits_))
    throw Error(ErrorKind::limit,
                "the names of its nodes are larger than " + std::to_string(limits_.expansion) + " times the file",
                {file_, ""}, "raise that with LoadLimits::expansion");
}

void check_memory(const fs::path& path, const std::string& what, std::uint64_t bytes, const LoadLimits& limits) {
  const std::uint64_t memory = import_memory(limits);
  if (bytes > memory / kMemoryPerByte)
    throw Error(ErrorKind::limit,
                what + " is larger than " + std::to_string(memory / kMemoryPerByte) +
                    " bytes, a third of the memory that an import may take",
                {path.string(), ""}, "raise that with LoadLimits::isolate_bytes");
}

void check_memory(const fs::path& path, std::uint64_t bytes, const LoadLimits& limits) {
  check_memory(path, "what is read of the scene", bytes, limits);
}

void check_text(const fs::path& path, std::string_view piece, std::size_t before) {
  // What a full disk or a crash left of a file, for one. XML in UTF-32 has at most five in a row.
  constexpr std::string_view kZeros("\0\0\0\0\0\0\0\0", 8);
  const std::size_t zeros = piece.find(kZeros);
  if (zeros != std::string_view::npos)
    throw Error(ErrorKind::malformed, "no text: zeros follow byte " + std::to_string(before + zeros),
                {path.string(), ""}, "was the file copied whole?");
}

InputFile::InputFile(fs::path path, const LoadLimits& limits) : InputFile(path, open_file(path)) {
  struct stat status {};
  if (::fstat(descriptor(), &status) != 0) fail_file(path_, "the file's size is unknown", errno);
  if (S_ISDIR(status.st_mode)) throw Error(ErrorKind::io, "this is a folder, not a file", {path_.string(), ""});
  if (!S_ISREG(status.st_mode)) fail_special(path_);
  if (size_ == 0) throw Error(ErrorKind::malformed, "the file is empty", {path_.string(), ""});
  if (size_ > limits.file_bytes) fail_too_large(path_, "the file", limits.file_bytes, "LoadLimits::file_bytes");
  check_memory(path_, "the file", size_, limits);
  if (expands(size_, stored_bytes(descriptor(), size_ / std::max(limits.expansion, 1U)), limits))
    throw Error(
        ErrorKind::limit,
        "the file is larger than " + std::to_string(limits.expansion) + " times what is stored of it: it is holes",
        {path_.string(), ""}, "raise that with LoadLimits::expansion");
}

InputFile::InputFile(fs::path path, int descriptor)
    : path_(std::move(path)), extension_(extension_of(path_)), descriptor_(descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail_file(path_, "the file's size is unknown", errno);
  size_ = static_cast<std::uint64_t>(status.st_size);
}

std::size_t InputFile::read(std::uint64_t offset, void* target, std::size_t count) const {
  std::size_t done = 0;
  if (const int code = base::read_all(descriptor(), {static_cast<std::byte*>(target), count}, offset, done); code != 0)
    fail_file(path_, "the file can't be read", code);
  return done;
}

std::string InputFile::text() const {
  std::string text;
  base::reserve_huge(text, size_);
  constexpr std::size_t kBlock = std::size_t{4} << 20;
  const std::unique_ptr<char[]> block(new char[kBlock]);
  while (text.size() < size_) {
    const std::size_t wanted = std::min<std::size_t>(kBlock, size_ - text.size());
    const std::size_t got = read(text.size(), block.get(), wanted);
    if (got != wanted) throw Error(ErrorKind::io, "the file became shorter while it was read", {path_.string(), ""});
    check_text(path_, {block.get(), got}, text.size());
    text.append(block.get(), got);
  }
  return text;
}

int InputFile::duplicate() const {
  const int copy = ::fcntl(descriptor(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) fail_file(path_, "the file can't be opened", errno);
  ::lseek(copy, 0, SEEK_SET);
  return copy;
}

}  // namespace raylift
