// SPDX-License-Identifier: Apache-2.0
#include "scene/source_files.h"
#include <sys/stat.h>

#include <algorithm>

namespace raylift::detail {

namespace fs = std::filesystem;

fs::path beneath(const fs::path& folder, const fs::path& place, std::error_code& error) {
  error.clear();
  const fs::path normal = place.lexically_normal();
  if (normal.empty() || normal.is_absolute() || *normal.begin() == "..") return {};
  const fs::path root = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  const fs::path file = error ? fs::path() : fs::canonical(root / normal, error);
  if (error) return {};
  return std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first == root.end() ? file : fs::path();
}

Scene::SourceFile source_file(const fs::path& path, const fs::path& place) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {place.string(), 0, 0};
  return {place.string(), static_cast<std::uint64_t>(status.st_size),
          std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec};
}

}  // namespace raylift::detail
