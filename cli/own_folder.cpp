// SPDX-License-Identifier: Apache-2.0
#include "own_folder.h"

#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace raylift::cli {
namespace fs = std::filesystem;

fs::path runtime_folder() {
  const char* set = std::getenv("XDG_RUNTIME_DIR");
  // The specification says to ignore relative paths.
  if (set != nullptr && *set == '/') return fs::path(set) / "raylift";
  return "/tmp/raylift-" + std::to_string(::geteuid());
}

void refuse_folder(const fs::path& path, const std::string& whose, const std::string& problem) {
  throw Error(ErrorKind::io, whose + " can't be reached: " + problem, {path.string(), ""},
              "set XDG_RUNTIME_DIR to a folder of your own, with mode 0700");
}

base::Descriptor open_own_folder(const fs::path& path, bool make, const std::string& whose) {
  const auto refuse = [&](const fs::path& folder, const std::string& problem) {
    refuse_folder(folder, whose, problem);
  };
  struct stat status {};
  // Other users must not be able to rename entries of the folder around it.
  const fs::path around = path.parent_path();
  if (::stat(around.c_str(), &status) != 0) refuse(around, std::strerror(errno));
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) refuse(around, "it is another user's folder");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0)
    refuse(around, "others can write to this folder");
  if (make && ::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) refuse(path, std::strerror(errno));
  base::Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.get() < 0) refuse(path, errno == ELOOP || errno == ENOTDIR ? "not a folder" : std::strerror(errno));
  if (::fstat(folder.get(), &status) != 0) refuse(path, std::strerror(errno));
  if (status.st_uid != ::geteuid()) refuse(path, "it is another user's folder");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) refuse(path, "others have access to this folder");
  return folder;
}

}  // namespace raylift::cli
