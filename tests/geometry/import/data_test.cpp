// SPDX-License-Identifier: Apache-2.0
// The scenes of data/ hold what data/README.md says, and the detector generator does what it promises.
#include <gtest/gtest.h>
#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/checks/overlaps.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/scene/eigen.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iterator>
#include <set>

#include "support/effort.h"
#include "support/paths.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;

struct Facts {
  const char* file;
  std::uint64_t triangles;
  std::size_t instances;
  Eigen::Vector3d min;
  Eigen::Vector3d max;
  double unit_mm;
  UpAxis up;
  bool watertight;
  std::size_t overlaps = 0;
};
void PrintTo(const Facts& facts, std::ostream* out) {
  *out << facts.file;
}

class DataScenes : public testing::TestWithParam<Facts> {};

TEST_P(DataScenes, HoldWhatTheirTableSays) {
  const Facts& want = GetParam();
  const Scene scene = load(test::data(want.file));
  EXPECT_EQ(scene.expanded_triangles(), want.triangles);
  EXPECT_EQ(scene.instances.size(), want.instances);
  EXPECT_TRUE(to_eigen(scene.bounds.min).isApprox(want.min, 1e-9)) << to_eigen(scene.bounds.min).transpose();
  EXPECT_TRUE(to_eigen(scene.bounds.max).isApprox(want.max, 1e-9)) << to_eigen(scene.bounds.max).transpose();
  EXPECT_EQ(scene.unit_mm, want.unit_mm);
  EXPECT_EQ(scene.up_axis, want.up);
  EXPECT_EQ(check(scene).watertight(), want.watertight);
  EXPECT_EQ(find_overlaps(scene).overlapping_pairs, want.overlaps);
  EXPECT_TRUE(scene.report.warnings.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Files, DataScenes,
    testing::Values(
        Facts{"cube.dae", 12, 1, {-1000, -1000, -1000}, {1000, 1000, 1000}, 1000, UpAxis::z, true},
        Facts{"units_inch_y_up.dae", 12, 1, {-25.4, -25.4, -25.4}, {25.4, 25.4, 25.4}, 25.4, UpAxis::y, true},
        Facts{"units_centimetre_z_up.dae", 12, 1, {-10, -10, -10}, {10, 10, 10}, 10, UpAxis::z, true},
        Facts{"units_metre_x_up.dae", 12, 1, {-1000, -1000, -1000}, {1000, 1000, 1000}, 1000, UpAxis::x, true},
        Facts{"units_none.dae", 12, 1, {-1000, -1000, -1000}, {1000, 1000, 1000}, 1000, UpAxis::y, true},
        Facts{"nested_transforms.dae", 60, 5, {-1, -2, -4}, {151, 11, 201}, 1, UpAxis::z, true, 1},
        Facts{"instances.dae", 240, 20, {-1, -1, -1}, {41, 31, 1}, 1, UpAxis::z, true},
        Facts{"materials.dae", 36, 3, {-10, -10, -10}, {110, 10, 10}, 1, UpAxis::z, true},
        Facts{"open_box.dae", 10, 1, {-10, -10, -10}, {10, 10, 10}, 1, UpAxis::z, false},
        Facts{"detector.dae", 155056, 906, {-14700, -14700, -14700}, {14700, 14700, 14700}, 1, UpAxis::z, true},
        Facts{"argon_box.dae", 60, 5, {-35000, -12500, -12500}, {35000, 12500, 12500}, 1, UpAxis::z, true},
        Facts{"argon_box_touching.dae", 60, 5, {-35000, -12500, -12500}, {35000, 12500, 12500}, 1, UpAxis::z, true},
        Facts{"water_sphere.dae", 2220, 2, {-2000, -2000, -2000}, {2000, 2000, 2000}, 1, UpAxis::z, true},
        Facts{"integrating_sphere.dae", 4620, 4, {-2000, -2000, -2000}, {2000, 2000, 2000}, 1, UpAxis::z, true}),
    [](const auto& one) {
      const std::string name = one.param.file;
      return name.substr(0, name.find('.'));
    });

TEST(DataMaterials, AreBoundPartByPart) {
  const Scene scene = load(test::data("materials.dae"));
  const auto material = [&](std::size_t instance, std::size_t part) {
    const std::uint32_t index = scene.material(scene.instances[instance], part);
    return index == kNone ? std::string("none") : scene.materials[index].name;
  };
  ASSERT_EQ(scene.meshes.size(), 1U);
  ASSERT_EQ(scene.meshes[0].parts.size(), 4U);
  EXPECT_EQ(material(0, 0), "steel");
  EXPECT_EQ(material(0, 1), "glass");
  EXPECT_EQ(material(1, 2), "steel");
  EXPECT_EQ(material(1, 3), "none") << "nothing is bound to this part";
  EXPECT_EQ(material(2, 3), "water");
  EXPECT_EQ(scene.path(scene.instances[2]), "/World/second/inner");
  EXPECT_EQ(scene.materials[scene.instances[2].outside].name, "glass") << "the inner block lies in the second one";
  EXPECT_EQ(scene.instances[0].outside, kNone);
}

/// Runs the generator; its exit code.
int generate(const std::string& options) {
  const int status =
      std::system(("'" + test::program("raylift-make-detector").string() + "' " + options + " 2>/dev/null").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Whether a process has a file in the folder open, under whatever name.
bool writes_to(pid_t process, const fs::path& folder) {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(process) + "/fd", gone))
    if (fs::read_symlink(entry.path(), gone).string().starts_with(folder.string() + '/')) return true;
  return false;
}

TEST(DetectorGenerator, TakesOptionsAsRayliftDoes) {
  EXPECT_EQ(generate("--triangles 1M --dry-run"), 0);
  EXPECT_EQ(generate("-t 1.5k --dry-run --shape cylinder"), 0);
  for (const char* bad : {"--triangles 0", "--sensors 1G", "--segments 2", "--shape cube", "--senosrs 5", "-o ''",
                          "--triangles 1k -n 5", "more.dae"})
    EXPECT_EQ(generate(std::string("--dry-run ") + bad), 2) << bad;
  const test::TemporaryFolder folder;
  const fs::path help = folder.path() / "help";
  ASSERT_EQ(generate("--help > '" + help.string() + "'"), 0);
  EXPECT_EQ(test::bytes_in(help).find("ENUM"), std::string::npos);
  EXPECT_EQ(test::bytes_in(help).find('{'), std::string::npos);
  EXPECT_NE(test::bytes_in(help).find("--shape SHAPE=sphere"), std::string::npos) << test::bytes_in(help);
}

TEST(DetectorGenerator, LeavesNothingBehindWhenItIsInterrupted) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const test::TemporaryFolder folder;
    const std::string program = test::program("raylift-make-detector").string();
    const std::string output = (folder.path() / "out.dae").string();
    const pid_t process = ::fork();
    if (process == 0) {
      ::execl(program.c_str(), program.c_str(), "--triangles", "20000000", "--flat", "-o", output.c_str(), nullptr);
      ::_exit(127);
    }
    int status = 0;
    while (!writes_to(process, folder.path()) && ::waitpid(process, &status, WNOHANG) == 0) ::usleep(1000);
    ASSERT_EQ(::kill(process, signal), 0) << "it ended before it wrote anything";
    ASSERT_EQ(::waitpid(process, &status, 0), process);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 128 + signal) << status;
    EXPECT_TRUE(fs::is_empty(folder.path()));
  }
}

TEST(DetectorGenerator, GivesTheSameBytesForTheSameOptions) {
  const test::TemporaryFolder folder;
  const std::string a = (folder.path() / "a.dae").string();
  const std::string b = (folder.path() / "b.dae").string();
  ASSERT_EQ(generate("--sensors 20 --seed 5 -o " + a), 0);
  ASSERT_EQ(generate("--sensors 20 --seed 5 -o " + b), 0);
  EXPECT_EQ(test::bytes_in(a), test::bytes_in(b));
  ASSERT_EQ(generate("--sensors 20 --seed 6 -o " + b), 0);
  EXPECT_NE(test::bytes_in(a), test::bytes_in(b));
}

TEST(DetectorGenerator, MadeTheScenesOfTheDataFolder) {
  const test::TemporaryFolder folder;
  for (const auto& [file, options] : std::vector<std::pair<std::string, std::string>>{
           {"detector.dae", "--sensors 300 --segments 12"},
           {"detector.gdml", "--sensors 300 --segments 12"},
           {"argon_box.dae", "--scene argon-box"},
           {"argon_box_touching.dae", "--scene touching-argon-box"},
           {"water_sphere.dae", "--scene water-sphere --segments 48"},
           {"integrating_sphere.dae", "--scene integrating-sphere --segments 48"}}) {
    const fs::path made = folder.path() / file;
    ASSERT_EQ(generate(options + " -o " + made.string()), 0);
    EXPECT_TRUE(test::bytes_in(made) == test::bytes_in(test::data(file))) << "make data/" << file << " anew";
  }
}

/// The surface that a photon meets between two solids, each by the beginning of its name.
std::string surface(const Scene& scene, const std::string& from, const std::string& to) {
  const auto solid = [&](const std::string& name) {
    std::uint32_t i = 0;
    while (!scene.solid_name(scene.instances.at(i)).starts_with(name)) ++i;
    return i;
  };
  const SurfaceChoice choice = surface_between(scene, solid_tree(scene), solid(from), solid(to));
  return choice.surface == kNone ? "none" : scene.optics.surfaces[choice.surface].name;
}

TEST(DetectorGenerator, WritesCompleteOptics) {
  const Scene scene = load(test::data("detector.dae"));
  const auto properties = [&](const std::string& material) -> const OpticalProperties& {
    std::size_t i = 0;
    while (!scene.materials.at(i).name.starts_with(material)) ++i;
    return scene.optics.materials.at(i);
  };
  for (const char* key : {"RINDEX", "ABSLENGTH", "RAYLEIGH", "REEMISSIONPROB", "FASTCOMPONENT", "SLOWCOMPONENT"})
    EXPECT_NE(properties("LiquidScintillator").table(key), nullptr) << key;
  for (const char* key :
       {"FASTTIMECONSTANT", "SLOWTIMECONSTANT", "YIELDRATIO", "SCINTILLATIONYIELD", "RESOLUTIONSCALE"})
    EXPECT_TRUE(properties("LiquidScintillator").constant(key)) << key;
  for (const char* material : {"MineralOil", "Water"})
    for (const char* key : {"RINDEX", "ABSLENGTH", "RAYLEIGH"})
      EXPECT_NE(properties(material).table(key), nullptr) << material << ' ' << key;
  for (const char* material : {"Acrylic", "Glass", "Bialkali"})
    for (const char* key : {"RINDEX", "ABSLENGTH"})
      EXPECT_NE(properties(material).table(key), nullptr) << material << ' ' << key;
  EXPECT_EQ(surface(scene, "Buffer", "Tank"), "ReflectorSurface");
  EXPECT_EQ(surface(scene, "Tank", "Buffer"), "TankSurface");
  EXPECT_EQ(surface(scene, "Pool", "Tank"), "TankSurface");
  EXPECT_EQ(surface(scene, "Pool", "top"), "PoolSurface");
  EXPECT_EQ(surface(scene, "SensorVacuum", "Photocathode"), "CathodeSurface");
  EXPECT_EQ(surface(scene, "Sensor_0", "Buffer"), "none");
  ASSERT_EQ(scene.optics.channels.size(), 300U);
  for (std::size_t i = 0; i != 300; ++i) {
    EXPECT_EQ(scene.optics.channels[i].number, static_cast<std::int64_t>(i));
    EXPECT_TRUE(scene.solid_name(scene.instances[scene.optics.channels[i].solid]).starts_with("Photocathode"));
  }
}

TEST(DetectorGenerator, WritesTheOpticsOfTheSmallScenes) {
  for (const char* file : {"argon_box.dae", "argon_box_touching.dae"}) {
    const Scene box = load(test::data(file));
    EXPECT_EQ(surface(box, "Shell", "top"), "ShellSurface");
    EXPECT_EQ(surface(box, "BlueShifter", "Shell"), "ShellSurface");
    EXPECT_EQ(surface(box, "Shifter", "Target"), "none");
    EXPECT_EQ(box.optics.channels.size(), 1U);
    // Simphony's numbers, at energies in eV.
    const auto value = [&](std::size_t material, const char* key, double energy) {
      return box.optics.materials.at(material).table(key)->value(kEvNm / energy);
    };
    EXPECT_DOUBLE_EQ(value(0, "RINDEX", 9.69), 1.45);
    EXPECT_DOUBLE_EQ(value(0, "ABSLENGTH", 3), 80000);
    EXPECT_DOUBLE_EQ(value(0, "ABSLENGTH", 9), 10000);
    EXPECT_NEAR(value(0, "RAYLEIGH", 9.69), 999, 1e-9);
    EXPECT_DOUBLE_EQ(value(1, "WLSABSLENGTH", 3.1), 0.8);
    EXPECT_DOUBLE_EQ(value(2, "WLSABSLENGTH", 9.69), 0.0005);
    EXPECT_EQ(box.optics.materials[2].constant("WLSTIMECONSTANT"), 1.136);
    EXPECT_EQ(box.optics.materials[0].constant("SCINTILLATIONYIELD"), 24000);
  }
  EXPECT_EQ(find_overlaps(load(test::data("argon_box.dae"))).touching_pairs, 0U);
  EXPECT_EQ(find_overlaps(load(test::data("argon_box_touching.dae"))).touching_pairs, 3U);

  const Scene sphere = load(test::data("water_sphere.dae"));
  EXPECT_EQ(surface(sphere, "Sphere", "top"), "Polished");
  EXPECT_EQ(surface(sphere, "top", "Sphere"), "Polished");
  EXPECT_TRUE(sphere.optics.channels.empty());

  const Scene integrating = load(test::data("integrating_sphere.dae"));
  EXPECT_EQ(surface(integrating, "Cavity", "Wall"), "WallSurface");
  EXPECT_EQ(surface(integrating, "Cavity", "Port"), "PortSurface");
  ASSERT_EQ(integrating.optics.channels.size(), 1U);
  EXPECT_TRUE(integrating.solid_name(integrating.instances[integrating.optics.channels[0].solid]).starts_with("Port"));
}

TEST(DetectorGenerator, MakesSmallScenesOfAnyFineness) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "scene.dae";
  for (const char* scene : {"water-sphere", "integrating-sphere"})
    for (const char* segments : {"3", "5", "12", "25", "96"}) {
      ASSERT_EQ(generate(std::string("--scene ") + scene + " --segments " + segments + " -o " + path.string()), 0);
      const Scene made = load(path);
      EXPECT_EQ(find_overlaps(made).overlapping_pairs, 0U) << scene << ' ' << segments;
      EXPECT_TRUE(check(made).watertight()) << scene << ' ' << segments;
      EXPECT_TRUE(made.report.warnings.empty()) << scene << ' ' << segments;
    }
}

TEST(DetectorGenerator, MakesClosedSolidsNestedInEachOther) {
  const test::TemporaryFolder folder;
  for (const char* options : {"", " --normals", " --shape cylinder", " --flat", " --flat --shape cylinder --normals"}) {
    const fs::path path = folder.path() / "detector.dae";
    ASSERT_EQ(generate("--sensors 50 --segments 9 -o " + path.string() + options), 0);
    const Scene scene = load(path);
    EXPECT_TRUE(check(scene).watertight()) << options;
    EXPECT_EQ(scene.instances.size(), 6U + 3 * 50) << options;
    EXPECT_EQ(scene.unit_mm, 1);
    EXPECT_EQ(scene.unit_from, Scene::Provenance::convention) << "the optics of G4DAE imply millimetres";
    EXPECT_TRUE(scene.report.warnings.empty()) << options << scene.report.warnings.front();
    EXPECT_EQ(scene.optics.channels.size(), 50U) << options << ": of each photocathode, shared or not";
    std::set<std::int64_t> copies;
    for (const Instance& instance : scene.instances) {
      const std::string& name = scene.solid_name(instance);
      if (!name.starts_with("Sensor_") || !scene.copy_number(instance)) continue;
      copies.insert(*scene.copy_number(instance));
      EXPECT_TRUE(scene.materials[instance.outside].name.starts_with("MineralOil")) << scene.path(instance);
    }
    EXPECT_EQ(copies.size(), 50U) << options;
  }
}

// The profiles of GDML are those of the facets.
TEST(DetectorGenerator, MakesTheSameDetectorAsGdml) {
  const test::TemporaryFolder folder;
  for (const char* options : {"--sensors 30 --segments 24", "--sensors 30 --shape cylinder", "--scene argon-box",
                              "--scene touching-argon-box", "--scene water-sphere", "--scene integrating-sphere"}) {
    SCOPED_TRACE(options);
    const fs::path dae = folder.path() / "a.dae", gdml = folder.path() / "a.gdml";
    ASSERT_EQ(generate(options + (" -o " + dae.string())), 0);
    ASSERT_EQ(generate(options + (" -o " + gdml.string())), 0);
    LoadOptions inscribed;
    inscribed.fineness = {0, 24, Fineness::Fit::inscribed};
    const Scene a = load(dae), b = load(gdml, inscribed);
    EXPECT_TRUE(b.report.warnings.empty()) << b.report.warnings.front();
    EXPECT_TRUE(check(b).watertight());
    ASSERT_EQ(b.instances.size(), a.instances.size());
    EXPECT_EQ(b.optics.channels.size(), a.optics.channels.size());
    // By the way from the outermost volume within the world.
    const std::string outermost = a.solid_name(a.instances[1]);
    const auto way_to = [&](const Scene& scene, const Instance& instance) {
      const std::string path = scene.path(instance);
      return path.substr(std::min(path.find(outermost), path.size()));
    };
    std::map<std::string, const Instance*> by_way;
    for (const Instance& instance : b.instances) by_way[way_to(b, instance)] = &instance;
    for (std::size_t i = 1; i != a.instances.size(); ++i) {
      const Instance& one = a.instances[i];
      ASSERT_TRUE(by_way.contains(way_to(a, one))) << way_to(a, one);
      const Instance& other = *by_way[way_to(a, one)];
      EXPECT_EQ(b.volume_name(other), a.volume_name(one));
      EXPECT_EQ(b.copy_number(other), a.copy_number(one));
      EXPECT_EQ(b.materials[b.material(other, 0)].name, a.materials[a.material(one, 0)].name);
      EXPECT_EQ(b.materials[other.outside].name, a.materials[one.outside].name);
      const Bounds x = mesh_bounds(a.meshes[one.mesh]), y = mesh_bounds(b.meshes[other.mesh]);
      const auto middle = [](const Instance& instance, const Bounds& bounds) -> Eigen::Vector3d {
        return to_eigen(instance.transform) * to_eigen(bounds.center());
      };
      EXPECT_LT((middle(one, x) - middle(other, y)).norm(), 1e-5 * a.bounds.reach()) << a.solid_name(one);
      EXPECT_NEAR(y.size().z, x.size().z, 1e-4 * x.size().z) << a.solid_name(one);
    }
  }
  EXPECT_EQ(generate("--sensors 5 --flat -o " + (folder.path() / "flat.gdml").string()), 2);
}

/// Neither do any of its solids touch.
void expect_no_overlaps(const std::string& options) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "detector.dae";
  ASSERT_EQ(generate(options + " -o " + path.string()), 0);
  const Scene scene = load(path);
  const OverlapReport report = find_overlaps(scene);
  EXPECT_EQ(report.overlapping_pairs, 0U) << options << ": " << scene.path(scene.instances[report.overlaps.at(0).first])
                                          << " by " << report.overlaps.at(0).depth << " mm";
  EXPECT_EQ(report.touching_pairs, 0U) << options;
  EXPECT_EQ(report.untested_solids, 0U) << options;
  EXPECT_GE(report.pairs, scene.instances.size() - 1) << options << ": all but the world have a mother";
}

TEST(DetectorGenerator, MakesNoOverlaps) {
  for (const char* shape : {" --shape sphere", " --shape cylinder"}) {
    for (const int segments : test::some_of({3, 4, 5, 6, 7, 8, 10, 12, 24, 33, 64}))
      expect_no_overlaps("--sensors 40 --segments " + std::to_string(segments) + shape);
    for (const int sensors : test::some_of({0, 1, 2, 3, 7, 150, 1082, 2500}))
      expect_no_overlaps("--segments 6 --sensors " + std::to_string(sensors) + shape);
    for (const int segments : test::some_of({3, 6, 12}))
      expect_no_overlaps("--flat --sensors 400 --segments " + std::to_string(segments) + shape);
  }
}

TEST(SlowDetectorGenerator, MakesNoOverlapsOfManySensors) {
  for (const char* options : {"--segments 3", "--segments 24", "--segments 3 --shape cylinder"})
    expect_no_overlaps("--sensors 20000 " + std::string(options));
  expect_no_overlaps("--sensors 4000 --segments 3 --flat");
}

TEST(DetectorGenerator, PointsItsSensorsInward) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "detector.dae";
  ASSERT_EQ(generate("--sensors 80 --segments 8 -o " + path.string()), 0);
  const Scene scene = load(path);
  int sensors = 0;
  for (const Instance& instance : scene.instances) {
    if (!scene.solid_name(instance).starts_with("Sensor_")) continue;
    ++sensors;
    const Eigen::Vector3d axis = to_eigen(instance.transform).linear().col(2).normalized();
    EXPECT_LT(axis.dot(to_eigen(instance.transform).translation().normalized()), -0.999);
  }
  EXPECT_EQ(sensors, 80);
}

TEST(DetectorGenerator, ExpandsToTheSameSceneFlatOrNot) {
  const test::TemporaryFolder folder;
  const fs::path shared = folder.path() / "shared.dae";
  const fs::path flat = folder.path() / "flat.dae";
  ASSERT_EQ(generate("--sensors 30 --segments 8 -o " + shared.string()), 0);
  ASSERT_EQ(generate("--sensors 30 --segments 8 --flat -o " + flat.string()), 0);
  const Scene a = load(shared);
  const Scene b = load(flat);
  EXPECT_EQ(a.expanded_triangles(), b.expanded_triangles());
  EXPECT_LT(a.unique_triangles(), b.unique_triangles());
  // Six significant digits of metres: some hundredths of a millimetre.
  EXPECT_LT((to_eigen(a.bounds.min) - to_eigen(b.bounds.min)).norm() +
                (to_eigen(a.bounds.max) - to_eigen(b.bounds.max)).norm(),
            0.2);
}

TEST(DetectorGenerator, ComesNearTheTrianglesAskedFor) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "detector.dae";
  ASSERT_EQ(generate("--triangles 200000 --flat -o " + path.string()), 0);
  const auto triangles = static_cast<double>(load(path).unique_triangles());
  EXPECT_NEAR(triangles, 200'000, 6000);
}

TEST(DetectorGenerator, LeavesNothingBehindWhenTheDiskIsFull) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(generate("-o " + (folder.path() / "no/such/folder/x.dae").string()), exit_code(ErrorKind::io));
  EXPECT_EQ(generate("--sensors 10 -o - > /dev/full"), exit_code(ErrorKind::io));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(DetectorGenerator, RefusesOptionsThatMakeNoSense) {
  for (const char* options :
       {"--segments 2", "--sensors -1", "--shape cube", "--triangles 0", "--triangles 1000 --sensors 3", "--sensros 3",
        "--scene cube", "--scene argon-box --sensors 3", "--scene water-sphere --flat"})
    EXPECT_EQ(generate(std::string(options) + " -o /dev/null"), exit_code(ErrorKind::usage)) << options;
  const test::TemporaryFolder folder;
  for (const char* name : {"/a.gdm", "/a.obj", "/a"})
    EXPECT_EQ(generate("--sensors 3 -o " + folder.path().string() + name), exit_code(ErrorKind::usage)) << name;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace raylift
