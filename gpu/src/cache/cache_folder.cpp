// SPDX-License-Identifier: Apache-2.0
#include "cache_folder.h"

#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace raylift::detail {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, int code, const fs::path& path) {
  throw Error(ErrorKind::io, what + ": " + std::strerror(code), {path.string(), ""});
}

int open_folder(const fs::path& folder) {
  const int number = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (number < 0) fail("the cache's folder can't be opened", errno, folder);
  return number;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return;
  if (folder != folder.parent_path()) make_folder(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail("the cache's folder can't be made", errno, folder);
}

/// Entries of access control lists show in the group's bits.
void expect_private(int number, const char* what, const fs::path& path) {
  struct stat status {};
  if (::fstat(number, &status) != 0) fail(std::string("the owner is unknown of ") + what, errno, path);
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    throw Error(ErrorKind::io,
                std::string(what) + " belongs to another user (number " + std::to_string(status.st_uid) + ")",
                {path.string(), ""}, "use a cache of your own: set RAYLIFT_CACHE_DIR to a new folder");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw Error(ErrorKind::io, std::string("others can write to ") + what, {path.string(), ""},
                "if you trust what it holds: chmod go-w " + path.string());
}

}  // namespace

CacheFolder::CacheFolder(const fs::path& folder) : path_(folder), descriptor_(open_folder(folder)) {}

CacheFolder CacheFolder::of(const fs::path& file) {
  return CacheFolder(folder_of(file));
}

CacheFolder CacheFolder::make_for(const fs::path& file) {
  make_folder(folder_of(file));
  return CacheFolder(folder_of(file));
}

base::Descriptor CacheFolder::open_file(const fs::path& file) const {
  base::Descriptor opened(
      ::openat(number(), file.filename().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (opened.get() < 0 && errno == ELOOP)
    throw Error(ErrorKind::unsupported, "a link is no cache file", {file.string(), ""}, "name the file itself");
  if (opened.get() < 0) fail("the cache file can't be opened", errno, file);
  struct stat status {};
  if (::fstat(opened.get(), &status) == 0 && S_ISREG(status.st_mode)) return opened;
  throw Error(ErrorKind::unsupported, "this is no cache file of raylift", {file.string(), ""});
}

void CacheFolder::expect_private() const {
  detail::expect_private(number(), "the cache's folder", path_);
}

void CacheFolder::expect_private(int number, const fs::path& file) {
  detail::expect_private(number, "the cache file", file);
}

}  // namespace raylift::detail
