// SPDX-License-Identifier: Apache-2.0
#include "file_beside.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>

namespace raylift::base {

FileBeside::~FileBeside() {
  if (!name_.empty()) ::unlinkat(folder_, name_.c_str(), 0);
}

/// Sets name_ to the first one at which make(name) succeeds.
template <class Make>
int FileBeside::make_name(const Make& make) {
  std::random_device random;
  for (;;) {
    // The process's number shows whose file it was when a program was killed.
    char tail[64];
    std::snprintf(tail, sizeof tail, ".%d-%08x.tmp", static_cast<int>(::getpid()), static_cast<unsigned>(random()));
    const std::filesystem::path name = target_.parent_path() / ('.' + target_.filename().string() + tail);
    if (make(name.c_str())) {
      name_ = name;
      return 0;
    }
    if (errno != EEXIST) return errno;
  }
}

int FileBeside::open(int folder, const std::filesystem::path& target, unsigned mode) {
  folder_ = folder;
  target_ = target;
  return make_name([&](const char* name) {
    file_ = Descriptor(::openat(folder_, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    return file_.get() >= 0;
  });
}

int FileBeside::open_unnamed(int folder, const std::filesystem::path& target, unsigned mode) {
  folder_ = folder;
  target_ = target;
  const std::filesystem::path parent = target.has_parent_path() ? target.parent_path() : ".";
  file_ = Descriptor(::openat(folder_, parent.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  return file_.get() >= 0 ? 0 : open(folder, target, mode);
}

int FileBeside::link() {
  if (!name_.empty()) return 0;
  const std::string self = "/proc/self/fd/" + std::to_string(file_.get());
  return make_name(
      [&](const char* name) { return ::linkat(AT_FDCWD, self.c_str(), folder_, name, AT_SYMLINK_FOLLOW) == 0; });
}

int FileBeside::rename() {
  // A file without a name can't replace another one by itself.
  if (const int code = link(); code != 0) return code;
  if (::renameat(folder_, name_.c_str(), folder_, target_.c_str()) != 0) return errno;
  name_.clear();
  return 0;
}

}  // namespace raylift::base
