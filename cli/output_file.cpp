// SPDX-License-Identifier: Apache-2.0
#include "output_file.h"

#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

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

/// Paths as they were given, as ".." after a link is not what it looks like; and not their inodes: a file that was read
/// may be replaced, and its inode be another file's then.
struct ProtectedInputs {
  std::mutex mutex;
  std::set<fs::path> paths;
};
ProtectedInputs& protected_inputs() {
  static ProtectedInputs inputs;
  return inputs;
}

}  // namespace

OutputFile::OutputFile(const fs::path& path, std::string what) : path_(path), what_(std::move(what)) {
  refuse_input(path);
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail(errno);
  target_ = end_of_links(path);
  if (exists && !(S_ISREG(status.st_mode) && is_same(status, target_))) {
    target_.clear();
    in_place_ = base::Descriptor(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
    if (in_place_.get() < 0) fail(errno);
    return;
  }
  if (const int code = beside_.open_unnamed(AT_FDCWD, target_, 0666); code != 0) fail(code);
  if (exists) (void)!::fchmod(beside_.file().get(), status.st_mode & 0777U);
}

void OutputFile::write(std::string_view bytes) {
  if (const int code = base::write_all((target_.empty() ? in_place_ : beside_.file()).get(), bytes); code != 0)
    fail(code);
}

void OutputFile::finish() {
  int code = target_.empty() ? in_place_.close() : beside_.link();
  // Network file systems report a full disk on close.
  if (code == 0 && !target_.empty()) code = beside_.file().close();
  if (code == 0 && !target_.empty()) code = beside_.rename();
  if (code != 0) fail(code);
}

void OutputFile::fail(int code) const {
  throw Error(ErrorKind::io, what_ + " can't be written: " + std::strerror(code), {path_.string(), ""},
              "check the folder, its permissions and the disk's space");
}

void protect_inputs(std::span<const fs::path> inputs) {
  ProtectedInputs& all = protected_inputs();
  const std::lock_guard lock(all.mutex);
  for (const fs::path& input : inputs) all.paths.insert(fs::absolute(input));
}

void protect_scenes(std::span<const std::string> scenes, const LoadOptions& options) {
  std::vector<fs::path> inputs;
  for (const std::string& scene : scenes) {
    inputs.emplace_back(scene);
    if (const fs::path optics = optics_file(scene, options); !optics.empty()) inputs.push_back(optics);
    try {
      for (const fs::path& file : optics_files(scene, options)) inputs.push_back(file);
    } catch (const Error&) {  // load() says what is wrong with them
    }
  }
  protect_inputs(inputs);
}

void protect_files_of(const Scene& scene) {
  if (scene.source.empty()) return;
  std::vector<fs::path> inputs{scene.source};
  for (const Scene::SourceFile& file : scene.files) inputs.push_back(folder_of(scene.source) / file.path);
  protect_inputs(inputs);
}

void refuse_input(const fs::path& output) {
  struct stat out {};
  if (::stat(output.c_str(), &out) != 0 || !S_ISREG(out.st_mode)) return;
  ProtectedInputs& all = protected_inputs();
  const std::lock_guard lock(all.mutex);
  for (const fs::path& input : all.paths) {
    struct stat in {};
    if (::stat(input.c_str(), &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
      throw Error(ErrorKind::usage, "the output is the input " + input.string() + ", which would be lost",
                  {output.string(), ""}, "name another file for the output");
  }
}

void write_file(const fs::path& path, std::string_view bytes, std::string what) {
  OutputFile file(path, std::move(what));
  file.write(bytes);
  file.finish();
}

}  // namespace raylift::cli
