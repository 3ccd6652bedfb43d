// SPDX-License-Identifier: Apache-2.0
// A cache of a test's own, and how uploads are compared.
#pragma once

#include "gpu/src/cache/cache_files.h"

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/paths.h"
#include "support/same_scene.h"

namespace raylift::test {

namespace fs = std::filesystem;

/// A cache in a folder of its own, which keeps what it was warned of.
class Caching {
 public:
  CacheOptions options() {
    CacheOptions result;
    result.folder = folder();
    result.warn = [this](const std::string& line) { warnings.push_back(line); };
    return result;
  }
  [[nodiscard]] fs::path folder() const { return root_.path() / "cache"; }
  [[nodiscard]] const fs::path& root() const { return root_.path(); }
  [[nodiscard]] std::vector<fs::path> files() const { return cache_contents(folder()).files; }
  std::vector<std::string> warnings;

 private:
  TemporaryFolder root_;
};

/// All bytes of an upload, by the arrays' names.
inline std::vector<std::pair<std::string, std::vector<std::byte>>> bytes_of(const GpuGeometry& geometry) {
  std::vector<std::pair<std::string, std::vector<std::byte>>> result;
  const Stream stream(geometry.device());
  for (const ResidencyReport::Array& row : geometry.report().arrays) {
    std::vector<std::byte>& bytes = result.emplace_back(row.name, row.bytes).second;
    if (row.bytes != 0) geometry.array(find_view_array(row.name)->array).copy_to(bytes, stream);
  }
  stream.synchronize();
  return result;
}

inline void expect_same(const GpuGeometry& a, const GpuGeometry& b) {
  EXPECT_EQ(bytes_of(a), bytes_of(b));
  for (const auto count : {&GeometryView::vertex_count, &GeometryView::triangle_count, &GeometryView::mesh_count,
                           &GeometryView::instance_count, &GeometryView::material_count})
    EXPECT_EQ(a.view().*count, b.view().*count);
  EXPECT_EQ(std::memcmp(a.view().origin, b.view().origin, sizeof a.view().origin), 0);
  EXPECT_EQ(a.view().reach, b.view().reach);
  EXPECT_EQ(a.view().material_codes == nullptr, b.view().material_codes == nullptr);
  EXPECT_EQ(a.view().triangle_parts == nullptr, b.view().triangle_parts == nullptr);
}

/// A scene whose only solid is the cube of another document, and that document with another size of the cube.

}  // namespace raylift::test
