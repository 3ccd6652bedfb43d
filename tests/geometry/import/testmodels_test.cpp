// SPDX-License-Identifier: Apache-2.0
// Every model of Debian's package assimp-testmodels, imported in isolation: each ends in a sound scene or in an Error.
// For the COLLADA files, facts that do not depend on how vertices are numbered are compared with a table.
//
// RAYLIFT_TESTMODELS_TABLE=FILE writes what each file ended in, for docs/formats.md.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>
#include <thread>

#include "support/paths.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
const char* const kFolder = "/usr/share/assimp/models";

std::string extension(const fs::path& path) {
  std::string text = path.extension().string();
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text.empty() ? text : text.substr(1);
}

std::vector<fs::path> models() {
  std::vector<fs::path> result;
  if (!fs::exists(kFolder)) return result;
  const std::vector<std::string> known = supported_extensions();
  for (const auto& entry : fs::recursive_directory_iterator(kFolder))
    if (entry.is_regular_file() && std::find(known.begin(), known.end(), extension(entry.path())) != known.end())
      result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

LoadOptions isolated() {
  LoadOptions options;
  options.isolate = true;
  options.limits.isolate_seconds = 60;
  options.limits.isolate_bytes = std::uint64_t{4} << 30;
  return options;
}

/// What must hold of every scene, whatever file it is from; empty if it does.
std::string complaint(const Scene& scene) {
  if (scene.instances.empty() || scene.meshes.empty()) return "empty scene";
  for (const Mesh& mesh : scene.meshes) {
    if (mesh.triangles.empty()) return "mesh without triangles";
    for (const Float3& v : mesh.vertices)
      if (!std::isfinite(v.x) || !std::isfinite(v.y) || !std::isfinite(v.z)) return "vertex not finite";
    for (const UInt3& t : mesh.triangles)
      if (std::max({t.x, t.y, t.z}) >= mesh.vertices.size()) return "index out of range";
    std::uint64_t next = 0;
    for (const Mesh::Part& part : mesh.parts) {
      if (part.first_triangle != next) return "parts not in order";
      next += part.triangle_count;
    }
    if (next != mesh.triangles.size()) return "parts do not cover the mesh";
  }
  for (const Instance& instance : scene.instances) {
    if (instance.mesh >= scene.meshes.size() || instance.binding >= scene.bindings.size()) return "instance of nothing";
    if (instance.node != kNone && instance.node >= scene.nodes.size()) return "instance at no node";
    if (!to_eigen(instance.transform).matrix().allFinite()) return "transform not finite";
  }
  if (scene.bounds.empty() || !to_eigen(scene.bounds.min).allFinite() || !to_eigen(scene.bounds.max).allFinite())
    return "bounds not finite";
  return {};
}

/// Two imports at a time: each is a process.
template <class Work>
void in_pairs(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::thread other(run);
  run();
  other.join();
}

TEST(SlowTestModels, EndInASoundSceneOrAnError) {
  const std::vector<fs::path> files = models();
  if (files.empty()) GTEST_SKIP() << "the package assimp-testmodels is not installed";
  std::vector<std::string> outcomes(files.size());
  std::vector<std::string> details(files.size());
  in_pairs(files.size(), [&](std::size_t i) {
    try {
      const Scene scene = load(files[i], isolated());
      details[i] = complaint(scene);
      outcomes[i] = details[i].empty() ? "scene" : "GARBAGE";
    } catch (const Error& error) {
      outcomes[i] = to_string(error.kind());
      details[i] = error.what();
      if (details[i].find("crashed") != std::string::npos) outcomes[i] += " (crash contained)";
    } catch (const std::exception& error) {
      outcomes[i] = "FOREIGN EXCEPTION";
      details[i] = error.what();
    }
  });
  std::map<std::string, int> counts;
  for (std::size_t i = 0; i != files.size(); ++i) {
    ++counts[outcomes[i]];
    EXPECT_NE(outcomes[i], "GARBAGE") << files[i] << ": " << details[i];
    EXPECT_NE(outcomes[i], "FOREIGN EXCEPTION") << files[i] << ": " << details[i];
    // No file of this collection is a reason to run out of time, and few ask for all memory, by design.
    if (outcomes[i] == "limit") {
      EXPECT_NE(files[i].string().find("/invalid/"), std::string::npos) << files[i] << ": " << details[i];
    }
  }
  std::ostringstream table;
  for (const auto& [outcome, count] : counts) table << outcome << '\t' << count << '\n';
  for (std::size_t i = 0; i != files.size(); ++i)
    if (outcomes[i] != "scene")
      table << files[i].lexically_relative(kFolder).string() << '\t' << outcomes[i] << '\t' << details[i] << '\n';
  if (const char* path = std::getenv("RAYLIFT_TESTMODELS_TABLE")) std::ofstream(path) << table.str();
  EXPECT_GT(counts["scene"], 250) << table.str();
}

// The COLLADA files ---------------------------------------------------------------------------------------------------

bool is_collada(const fs::path& path) {
  return extension(path) == "dae" || extension(path) == "zae";
}

/// A line of the table: file, then kind of error, or triangles, instances and the bounds in millimetres.
std::string facts(const fs::path& path) {
  std::ostringstream line;
  line << path.lexically_relative(fs::path(kFolder)).string() << '\t';
  try {
    const Scene scene = load(path, isolated());
    line << scene.expanded_triangles() << '\t' << scene.instances.size() << std::setprecision(6);
    for (int axis = 0; axis != 3; ++axis)
      line << '\t' << scene.bounds.min[axis] + 0.0 << '\t' << scene.bounds.max[axis] + 0.0;
  } catch (const Error& error) {
    line << to_string(error.kind());
  }
  return line.str();
}

TEST(TestModels, OfColladaHoldWhatTheTableSays) {
  std::vector<fs::path> files;
  for (const fs::path& path : models())
    if (is_collada(path)) files.push_back(path);
  if (files.empty()) GTEST_SKIP() << "the package assimp-testmodels is not installed";
  const fs::path table_path = test::source_dir() / "tests/data/testmodels_collada.tsv";
  if (std::getenv("RAYLIFT_WRITE_TABLE") != nullptr) {
    std::ofstream out(table_path);
    out << "# file\ttriangles (expanded)\tinstances\tmin x, max x, min y, max y, min z, max z in mm; or the kind of "
           "error\n";
    for (const fs::path& path : files) out << facts(path) << '\n';
  }
  std::map<std::string, std::string> expected;
  std::ifstream table(table_path);
  for (std::string line; std::getline(table, line);)
    if (!line.empty() && line.front() != '#') expected[line.substr(0, line.find('\t'))] = line;
  std::size_t known = 0;
  for (const fs::path& path : files) {
    const auto found = expected.find(path.lexically_relative(kFolder).string());
    if (found == expected.end()) continue;  // another version of the package brings other files
    ++known;
    // Numbers are compared as numbers: versions of Assimp round the last digit differently.
    std::istringstream want(found->second);
    std::istringstream got(facts(path));
    for (std::string w, g; std::getline(want, w, '\t');) {
      ASSERT_TRUE(std::getline(got, g, '\t')) << path << ": " << got.str();
      char* end = nullptr;
      const double number = std::strtod(w.c_str(), &end);
      if (*end == '\0' && !w.empty()) {
        EXPECT_NEAR(std::strtod(g.c_str(), nullptr), number, 1e-4 * std::abs(number) + 1e-9)
            << path << ": " << got.str();
      } else {
        EXPECT_EQ(w, g) << path << ": " << got.str();
      }
    }
  }
  EXPECT_GE(known, 20U);
}

}  // namespace
}  // namespace raylift
