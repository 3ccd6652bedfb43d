// SPDX-License-Identifier: Apache-2.0
#include "temporary_file.h"

#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace raylift::detail {

TemporaryFile::TemporaryFile(const std::filesystem::path& final)
    : final_(final), folder_(CacheFolder::make_for(final)) {
  folder_.expect_private();
  if (const int code = file_.open(folder_.number(), final.filename(), 0600); code != 0)
    fail("the cache file can't be made", code);
  // The lock shows that the writer is at work. On a file system without locks, less is cleaned up.
  ::flock(file_.file().get(), LOCK_EX | LOCK_NB);
}

void TemporaryFile::reserve(std::uint64_t bytes) {
  if (::fallocate(file_.file().get(), 0, 0, static_cast<off_t>(bytes)) == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS) fail("the cache file can't be written", errno);
  if (::ftruncate(file_.file().get(), static_cast<off_t>(bytes)) != 0) fail("the cache file can't be written", errno);
}

void TemporaryFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) const {
  const std::string_view text(static_cast<const char*>(data), bytes);
  if (const int code = base::write_all(file_.file().get(), text, static_cast<std::int64_t>(offset)); code != 0)
    fail("the cache file can't be written", code);
}

void TemporaryFile::keep() {
  if (::fsync(file_.file().get()) != 0) fail("the cache file can't be written", errno);
  if (const int code = file_.rename(); code != 0) fail("the cache file can't get its name", code);
  file_.file().close();
  // The name, too, is to outlive a loss of power; where a folder can't be synchronised, nothing is lost but that.
  ::fsync(folder_.number());
}

void TemporaryFile::fail(const std::string& what, int code) const {
  throw Error(ErrorKind::io, what + ": " + std::strerror(code), {final_.string(), ""});
}

}  // namespace raylift::detail
