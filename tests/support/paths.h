// SPDX-License-Identifier: Apache-2.0
// Where tests find the project's files and programs, in the build tree and on a machine that got the binaries alone.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace raylift::test {

/// The project's root: $RAYLIFT_SOURCE_DIR, else where it was built, else the working directory.
inline std::filesystem::path source_dir() {
  if (const char* set = std::getenv("RAYLIFT_SOURCE_DIR")) return set;
  if (std::filesystem::exists(RAYLIFT_SOURCE_DIR)) return RAYLIFT_SOURCE_DIR;
  return std::filesystem::current_path();
}

/// A file of the project's data/ folder.
inline std::filesystem::path data(const std::string& name) {
  return source_dir() / "data" / name;
}

/// A program of the project: beside the running test, where all programs are built and packed together.
inline std::filesystem::path program(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

/// All of a file; nothing where there is none.
inline std::string bytes_in(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder of its own under the system's temporary one, removed with all its contents at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "raylift-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes `text` to the file `name` in the folder and returns its path.
  [[nodiscard]] std::filesystem::path write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace raylift::test
