// SPDX-License-Identifier: Apache-2.0
#include "temporary_file.h"

#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

namespace raylift::detail {

TemporaryFile::TemporaryFile(const std::filesystem::path& final)
    : final_(final), folder_(CacheFolder::make_for(final)) {
  folder_.expect_private();
  std::random_device random;
  do {
    // The leading point hides it; the number tells whose it was when a program was killed.
    char tail[64];
    std::snprintf(tail, sizeof tail, ".%d-%08x.tmp", static_cast<int>(::getpid()), static_cast<unsigned>(random()));
    name_ = '.' + final.filename().string() + tail;
    file_ = ::openat(folder_.number(), name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) fail("the cache file can't be made", errno);
  // Tells others that somebody is at work; where a file system has no locks, they clean up less.
  ::flock(file_, LOCK_EX | LOCK_NB);
}

TemporaryFile::~TemporaryFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlinkat(folder_.number(), name_.c_str(), 0);
}

void TemporaryFile::reserve(std::uint64_t bytes) {
  if (::fallocate(file_, 0, 0, static_cast<off_t>(bytes)) == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS) fail("the cache file can't be written", errno);
  if (::ftruncate(file_, static_cast<off_t>(bytes)) != 0) fail("the cache file can't be written", errno);
}

void TemporaryFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) const {
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes != 0) {
    const ssize_t written = ::pwrite(file_, from, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("the cache file can't be written", errno);
    offset += static_cast<std::uint64_t>(written);
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void TemporaryFile::keep() {
  if (::fsync(file_) != 0) fail("the cache file can't be written", errno);
  if (::renameat(folder_.number(), name_.c_str(), folder_.number(), final_.filename().c_str()) != 0)
    fail("the cache file can't get its name", errno);
  ::close(std::exchange(file_, -1));
  // The name, too, is to outlive a loss of power; where a folder can't be synchronised, nothing is lost but that.
  ::fsync(folder_.number());
}

void TemporaryFile::fail(const std::string& what, int code) const {
  throw Error(ErrorKind::io, what + ": " + std::strerror(code), {final_.string(), ""});
}

}  // namespace raylift::detail
