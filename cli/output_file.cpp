// SPDX-License-Identifier: Apache-2.0
#include "output_file.h"

#include <fcntl.h>
#include <raylift/geometry/detail/descriptor.h>
#include <raylift/geometry/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace raylift::cli {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Where a chain of links leads to, whether there is something or not.
fs::path end_of_links(fs::path path) {
  constexpr int kMaxLinks = 40;  // as the kernel follows
  std::error_code error;
  for (int i = 0; i != kMaxLinks && fs::is_symlink(path, error); ++i) {
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = next.is_absolute() ? next : folder_of(path) / next;
  }
  return path;
}

/// A link that leads to what has no name (/dev/stdout, /proc/self/fd/1) is not what stat() finds through it.
bool is_same(const struct stat& a, const fs::path& path) {
  struct stat b {};
  return ::lstat(path.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

OutputFile::OutputFile(const fs::path& path, std::string what) : path_(path), what_(std::move(what)) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail(errno);
  target_ = end_of_links(path);
  if (exists && !(S_ISREG(status.st_mode) && is_same(status, target_))) {
    target_.clear();
    file_ = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (file_ < 0) fail(errno);
    return;
  }
  make_temporary();
  if (exists) (void)!::fchmod(file_, status.st_mode & 0777U);
}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

/// Gives temporary_ the first name beside the target at which make(name) succeeds.
template <class Make>
void OutputFile::name_temporary(const Make& make) {
  for (unsigned i = 0;; ++i) {
    const std::string name = target_.string() + ".part" + std::to_string(::getpid()) + '-' + std::to_string(i);
    if (make(name.c_str())) {
      temporary_ = name;
      return;
    }
    if (errno != EEXIST) fail(errno);
  }
}

/// Both ways, the file gets the permissions that the umask leaves.
void OutputFile::make_temporary() {
  file_ = ::open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file_ >= 0) return;
  name_temporary([this](const char* name) {  // the file system has no files without a name
    file_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return file_ >= 0;
  });
}

/// A file without a name can't replace another one by itself.
void OutputFile::link_temporary() {
  const std::string self = "/proc/self/fd/" + std::to_string(file_);
  name_temporary(
      [&self](const char* name) { return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0; });
}

void OutputFile::write(std::string_view bytes) {
  if (const int code = detail::write_all(file_, bytes); code != 0) fail(code);
}

void OutputFile::finish() {
  if (!target_.empty() && temporary_.empty()) link_temporary();
  // Network file systems report a full disk on close.
  if (::close(std::exchange(file_, -1)) != 0 && errno != EINTR) fail(errno);
  if (target_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void OutputFile::fail(int code) const {
  throw Error(ErrorKind::io, what_ + " can't be written: " + std::strerror(code), {path_.string(), ""},
              "check the folder, its permissions and the disk's space");
}

void write_file(const fs::path& path, std::string_view bytes, std::string what) {
  OutputFile file(path, std::move(what));
  file.write(bytes);
  file.finish();
}

}  // namespace raylift::cli
