// SPDX-License-Identifier: Apache-2.0
// raylift's importers and Assimp's own read the same from each file of data/ and of Debian's package assimp-testmodels,
// but from those of a table, which states for each what differs and why.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "geometry/src/import/importer.h"
#include "import/input_file.h"
#include "import/own_importer.h"
#include "support/paths.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;

/// What is compared.
struct Reading {
  std::string error;
  std::uint64_t triangles = 0;
  std::size_t volumes = 0;
  Bounds bounds;
  std::map<std::string, std::uint64_t> materials;  // the triangles of each; "": without one
};

Reading read_by(const fs::path& path, LoadOptions::Reader reader) {
  LoadOptions options;
  options.reader = reader;
  options.isolate = true;
  options.limits.isolate_seconds = 60;
  options.limits.isolate_bytes = std::uint64_t{4} << 30;
  Reading result;
  try {
    const Scene scene = load(path, options);
    result.triangles = scene.expanded_triangles();
    result.volumes = scene.instances.size();
    result.bounds = scene.bounds;
    for (const Instance& instance : scene.instances)
      for (std::uint32_t part = 0; part != scene.meshes[instance.mesh].parts.size(); ++part) {
        const std::uint32_t material = scene.material(instance, part);
        result.materials[material == kNone ? "" : scene.materials[material].name] +=
            scene.meshes[instance.mesh].parts[part].triangle_count;
      }
  } catch (const Error& error) {
    result.error = error.what();
  }
  return result;
}

bool same_bounds(const Bounds& a, const Bounds& b) {
  const double tolerance = 1e-5 * std::max(a.reach(), b.reach());
  for (int axis = 0; axis != 3; ++axis)
    if (std::abs(a.min[axis] - b.min[axis]) > tolerance || std::abs(a.max[axis] - b.max[axis]) > tolerance)
      return false;
  return true;
}

/// "triangles, bounds", for instance; empty where both read the same, or both refuse the file.
std::string differences(const fs::path& path) {
  Reading own = read_by(path, LoadOptions::Reader::raylift);
  Reading assimp = read_by(path, LoadOptions::Reader::assimp);
  if (!own.error.empty()) return assimp.error.empty() ? "refused by raylift" : "";
  if (assimp.error.find("crashed") != std::string::npos) return "crash of Assimp";
  if (!assimp.error.empty()) return "refused by Assimp";
  // Assimp's importers invent a material for faces that have none; "material 0" is its name here if it has none there.
  if (own.materials.contains(""))
    for (const char* const invented : {"DefaultMaterial", "material 0"})
      if (const auto found = assimp.materials.extract(invented)) assimp.materials[""] += found.mapped();
  std::string result;
  const auto compare = [&](const char* what, bool equal) {
    if (!equal) result += (result.empty() ? "" : ", ") + std::string(what);
  };
  compare("triangles", own.triangles == assimp.triangles);
  compare("volumes", own.volumes == assimp.volumes);
  compare("bounds", same_bounds(own.bounds, assimp.bounds));
  compare("materials", own.materials == assimp.materials);
  return result;
}

/// The table: what differs, by the file.
std::map<std::string, std::string> listed_differences() {
  std::map<std::string, std::string> result;
  std::ifstream table(test::source_dir() / "tests/data/reader_differences.tsv");
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream cells(line);
    std::string file, what, reason;
    std::getline(cells, file, '\t');
    std::getline(cells, what, '\t');
    std::getline(cells, reason);
    EXPECT_FALSE(what.empty() || reason.empty()) << line;
    EXPECT_TRUE(result.emplace(file, what).second) << file << " is listed twice";
  }
  return result;
}

/// Compares the readers for each file in a folder of which raylift has a reader. `name` stands for the folder in the
/// table.
void compare_readers(const fs::path& folder, const std::string& name, std::size_t at_least) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && reads_itself(extension_of(entry.path()))) files.push_back(entry.path());
  EXPECT_GE(files.size(), at_least);
  std::map<std::string, std::string> listed = listed_differences();
  std::erase_if(listed, [&](const auto& row) { return !row.first.starts_with(name + "/"); });
  // Other versions of Assimp and of the package differ elsewhere.
  const bool known = importer_version().find("assimp 5.2.") != std::string::npos;
  for (const fs::path& path : files) {
    const std::string file = name + "/" + path.lexically_relative(folder).string();
    const std::string differ = differences(path);
    const auto row = listed.find(file);
    if (row == listed.end()) {
      EXPECT_EQ(differ, "") << file << " is not in tests/data/reader_differences.tsv";
      continue;
    }
    if (known) {
      EXPECT_EQ(differ, row->second) << file << ": correct tests/data/reader_differences.tsv";
    }
    listed.erase(row);
  }
  for (const auto& [file, what] : listed)
    EXPECT_FALSE(known) << file << " is in tests/data/reader_differences.tsv, and not there";
}

TEST(Readers, ReadTheSameFromTheProjectsScenesButWhatIsListed) {
  compare_readers(test::source_dir() / "data", "data", 10);
}

TEST(Readers, ReadTheSameFromTestModelsButWhatIsListed) {
  const fs::path folder = "/usr/share/assimp/models";
  if (!fs::exists(folder)) GTEST_SKIP() << "the package assimp-testmodels is not installed";
  compare_readers(folder, "models", 70);
}

}  // namespace
}  // namespace raylift
