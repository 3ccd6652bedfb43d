// SPDX-License-Identifier: Apache-2.0
#include "scene_files.h"

#include "scene/source_files.h"

#include <algorithm>
#include <assimp/IOStream.hpp>
#include <utility>

namespace raylift {
namespace {

/// The input, at a position of its own.
class InputStream : public Assimp::IOStream {
 public:
  explicit InputStream(const InputFile& input) : input_(input) {}

  size_t Read(void* target, size_t size, size_t count) override {
    if (size == 0) return 0;
    const size_t whole = std::min(count, (FileSize() - at_) / size);
    const size_t read = input_.read(at_, target, whole * size) / size;
    at_ += read * size;
    return read;
  }
  size_t Write(const void*, size_t, size_t) override { return 0; }
  /// Like fseek(), whose offsets may be negative.
  aiReturn Seek(size_t offset, aiOrigin origin) override {
    const size_t from = origin == aiOrigin_SET ? 0 : origin == aiOrigin_CUR ? at_ : FileSize();
    const size_t to = from + offset;
    if (to > FileSize()) return AI_FAILURE;
    at_ = to;
    return AI_SUCCESS;
  }
  size_t Tell() const override { return at_; }
  size_t FileSize() const override { return static_cast<size_t>(input_.size()); }
  void Flush() override {}

 private:
  const InputFile& input_;
  size_t at_ = 0;
};

std::filesystem::path absolute_path(const std::filesystem::path& path) {
  return std::filesystem::absolute(path).lexically_normal();
}

}  // namespace

SceneFiles::SceneFiles(const InputFile& input, std::vector<Scene::SourceFile>& others)
    : input_(input), scene_(absolute_path(input.path())), others_(others) {}

bool SceneFiles::Exists(const char* name) const {
  return absolute_path(name) == scene_ || DefaultIOSystem::Exists(name);
}

Assimp::IOStream* SceneFiles::Open(const char* name, const char* mode) {
  const std::filesystem::path path = absolute_path(name);
  if (path == scene_) return *mode == 'r' ? new InputStream(input_) : nullptr;
  const std::filesystem::path place = path.lexically_relative(scene_.parent_path());
  Scene::SourceFile file = detail::source_file(path, place);
  Assimp::IOStream* stream = DefaultIOSystem::Open(name, mode);
  if (stream != nullptr && *place.begin() != "..") others_.push_back(std::move(file));
  return stream;
}

}  // namespace raylift
