// SPDX-License-Identifier: Apache-2.0
// Optics of other files: which load() takes, in this process and in a child, and what it refuses.
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "import/sanitized.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace raylift {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kOptics = R"({"raylift_optics": 1, "materials": {"*": {
    "RINDEX": {"csv": "tables/n.csv", "wavelength_nm": 1, "values": 2}, "MYKEY": 3}},
    "surfaces": {"S": {}}, "assignments": [{"surface": "S", "skin": {"solid": "*"}}]})";

/// A scene without optics of its own, and a sidecar beside it.
class LoadedSidecar : public testing::TestWithParam<bool> {
 protected:
  LoadedSidecar() {
    std::filesystem::copy_file(test::data("materials.dae"), file);
    std::filesystem::create_directory(root.path() / "tables");
    (void)root.write("tables/n.csv", "300,1.5\n600,1.4\n");
    options.isolate = GetParam();
    options.import_program = test::program("raylift-import").string();
  }
  test::TemporaryFolder root;
  std::filesystem::path file = root.path() / "materials.dae";
  LoadOptions options;
};
INSTANTIATE_TEST_SUITE_P(Isolated, LoadedSidecar, testing::Bool());

TEST_P(LoadedSidecar, IsTakenWhereItLiesBesideTheFile) {
  EXPECT_TRUE(load(file, options).optics.empty());
  EXPECT_EQ(optics_file(file, options), "");
  const auto sidecar = root.write("materials.optics.json", kOptics);
  EXPECT_EQ(optics_file(file, options), sidecar);
  EXPECT_EQ(optics_file(root.path() / "materials.dae.gz", options), sidecar);
  EXPECT_THAT(optics_files(file, options), SizeIs(2));
  const Scene scene = load(file, options);
  ASSERT_FALSE(scene.optics.materials.empty());
  EXPECT_EQ(scene.optics.materials[0].table("RINDEX")->values[0], 1.5);
  EXPECT_THAT(scene.optics.skins, testing::Each(0U));
  EXPECT_THAT(scene.optics.skins, SizeIs(scene.instances.size()));
  // Each said once.
  EXPECT_EQ(
      std::count_if(scene.report.warnings.begin(), scene.report.warnings.end(),
                    [](const std::string& one) { return one.find("MYKEY is not honoured") != std::string::npos; }),
      static_cast<std::ptrdiff_t>(scene.materials.size()));
  options.optics_beside = false;
  EXPECT_TRUE(load(file, options).optics.empty());
}

TEST_P(LoadedSidecar, MayBeNamed) {
  options.optics = root.write("other.json", kOptics);
  EXPECT_FALSE(load(file, options).optics.empty());
  options.optics = root.path() / "none.json";
  EXPECT_THAT(test::expect_error(ErrorKind::io, [&] { (void)load(file, options); }).file(), options.optics.string());
  options.optics = root.write("optics.txt", "");
  EXPECT_THAT(test::expect_error(ErrorKind::unsupported, [&] { (void)load(file, options); }).what(),
              HasSubstr("give a sidecar (.json) or GDML (.gdml)"));
}

TEST_P(LoadedSidecar, IsRefusedByStrictOpticsWithEveryUnhonouredProperty) {
  options.optics = root.write("other.json", kOptics);
  options.strict_optics = true;
  const Error error = test::expect_error(ErrorKind::unsupported, [&] { (void)load(file, options); });
  EXPECT_THAT(error.what(), HasSubstr("MYKEY (the key is not known)"));
  options.optics = root.write("fine.json", R"({"raylift_optics": 1, "surfaces": {"S": {}}})");
  EXPECT_FALSE(load(file, options).optics.empty());
}

TEST_P(LoadedSidecar, RefersToNoFileOutsideOfItsFolder) {
  const auto with_csv = [&](const std::string& name) {
    std::filesystem::create_directories(root.path() / "sub");
    options.optics = root.write("sub/s.json", R"({"raylift_optics": 1, "materials": {"*": {"RINDEX": {"csv": ")" +
                                                  name + R"(", "wavelength_nm": 1, "values": 2}}}})");
    return test::expect_error(ErrorKind::malformed, [&] { (void)load(file, options); });
  };
  const std::string outside = (root.path() / "tables/n.csv").string();
  std::filesystem::create_directories(root.path() / "sub");
  std::filesystem::create_symlink(outside, root.path() / "sub/link.csv");
  for (const std::string& name : {std::string("../tables/n.csv"), outside, std::string("link.csv"), std::string(".")})
    EXPECT_THAT(with_csv(name).problem(), HasSubstr("is no file in the sidecar's folder")) << name;
}

TEST(IsolatedSidecar, IsParsedUnderTheImportsMemoryLimit) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need an address space without limits";
  const test::TemporaryFolder root;
  LoadOptions options;
  options.isolate = true;
  options.import_program = test::program("raylift-import").string();
  options.limits.isolate_bytes = std::uint64_t{300} << 20;
  std::string numbers = "0";
  for (int i = 0; i != 9'000'000; ++i) numbers += ",0";
  options.optics =
      root.write("s.json", R"({"raylift_optics": 1, "materials": {"*": {"RINDEX": {"values": [)" + numbers + "]}}}}");
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)load(test::data("materials.dae"), options); }).what(),
              HasSubstr("memory limit"));
}

}  // namespace
}  // namespace raylift
