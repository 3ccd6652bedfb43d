// SPDX-License-Identifier: Apache-2.0
// Photons and gensteps from files, and the same through a run.
#include <raylift/geometry/error.h>
#include <raylift/photon/load_source.h>
#include <raylift/photon/npy.h>

#include <array>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "gensteps.h"
#include "shells.h"
#include "support/paths.h"

namespace raylift::photon {
namespace {

class LoadSource : public test::OfPhotons {
 protected:
  template <class T>
  std::filesystem::path write(const std::string& name, std::vector<std::uint64_t> shape, const std::vector<T>& rows,
                              NpyType type = NpyType::float32) const {
    const std::filesystem::path path = folder_.path() / name;
    NpyWriter writer(path, type, std::move(shape));
    writer.append(std::span<const T>(rows));
    writer.finish();
    return path;
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  static std::vector<StartPhoton> photons() {
    std::vector<StartPhoton> result(50);
    for (std::size_t i = 0; i != result.size(); ++i) {
      const auto x = static_cast<float>(i);
      result[i] = {{1000 + x, 2 * x, -3}, x / 2, {0, 0, 1}, 0, {1, 0, 0}, 400 + x, {}};
    }
    return result;
  }
  static void expect_same(const std::vector<StartPhoton>& read, const std::vector<StartPhoton>& written) {
    ASSERT_EQ(read.size(), written.size());
    for (std::size_t i = 0; i != read.size(); ++i) {
      EXPECT_EQ(read[i].position, written[i].position);
      EXPECT_EQ(read[i].time, written[i].time);
      EXPECT_EQ(read[i].direction, written[i].direction);
      EXPECT_EQ(read[i].polarization, written[i].polarization);
      EXPECT_EQ(read[i].wavelength, written[i].wavelength);
    }
  }
  /// The problem that reading has.
  template <class Work>
  static std::string problem_of(ErrorKind kind, const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    return "none";
  }

 private:
  test::TemporaryFolder folder_;
};
RAYLIFT_ON_BOTH_DEVICES(LoadSource);

TEST_P(LoadSource, ReadsOpticksPhotons) {
  expect_same(read_photons(write("start.npy", {4, 4}, photons())), photons());
  const auto wrong = write("wrong.npy", {4, 3}, std::vector<std::array<float, 12>>(2));
  EXPECT_NE(problem_of(ErrorKind::malformed, [&] { (void)read_photons(wrong); }).find("wrong.npy"), std::string::npos);
}

TEST_P(LoadSource, NamesThePhotonAndTheColumnThatAreWrong) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<std::function<void(StartPhoton&)>, const char*>> faults{
      {[](StartPhoton& one) {
         one.position = {0, kNan, 0};
       },
       "the position is not finite"},
      {[](StartPhoton& one) { one.position.z = kInfinity; }, "the position is not finite"},
      {[](StartPhoton& one) { one.time = kNan; }, "the time is not finite"},
      {[](StartPhoton& one) {
         one.direction = {0, 0, 0};
       },
       "the direction has no length"},
      {[](StartPhoton& one) { one.direction.x = -kInfinity; }, "the direction is not finite"},
      {[](StartPhoton& one) { one.polarization.y = kNan; }, "the polarisation is not finite"},
      {[](StartPhoton& one) { one.wavelength = 0; }, "the wavelength is not above 0"},
      {[](StartPhoton& one) { one.wavelength = -400; }, "the wavelength is not above 0"},
      {[](StartPhoton& one) { one.wavelength = kNan; }, "the wavelength is not above 0"}};
  for (const auto& [fault, message] : faults) {
    std::vector<StartPhoton> wrong = photons();
    fault(wrong[3]);
    const auto path = write("start.npy", {4, 4}, wrong);
    const std::string problem = problem_of(ErrorKind::malformed, [&] { (void)read_photons(path); });
    EXPECT_NE(problem.find(message), std::string::npos) << problem;
    EXPECT_NE(problem.find("start.npy: photon 3"), std::string::npos) << problem;
  }
}

TEST_P(LoadSource, ReadsChromasPhotons) {
  std::vector<Float3> pos, dir, pol;
  std::vector<float> wavelengths, t;
  for (const StartPhoton& one : photons()) {
    pos.push_back(one.position);
    dir.push_back(one.direction);
    pol.push_back(one.polarization);
    wavelengths.push_back(one.wavelength);
    t.push_back(one.time);
  }
  write("pos.npy", {3}, pos);
  write("dir.npy", {3}, dir);
  EXPECT_NE(problem_of(ErrorKind::io, [&] { (void)read_photons(folder()); }).find("wavelengths.npy"),
            std::string::npos);
  write("wavelengths.npy", {}, wavelengths);
  EXPECT_EQ(read_photons(folder())[7].time, 0);
  EXPECT_EQ(read_photons(folder())[7].polarization, (Float3{0, 0, 0}));
  write("pol.npy", {3}, pol);
  write("t.npy", {}, t);
  expect_same(read_photons(folder()), photons());
  t.pop_back();
  write("t.npy", {}, t);
  EXPECT_NE(problem_of(ErrorKind::malformed, [&] { (void)read_photons(folder()); }).find("49 rows"), std::string::npos);
}

TEST_P(LoadSource, TakesFilesAndTexts) {
  const GpuGeometry geometry = upload_scene(test::shells({{3000, {test::flat("RINDEX", 1.4)}}}));
  const std::string file = write("start.npy", {4, 4}, photons()).string();
  const LoadedSource given("photons:" + file, geometry, 1);
  EXPECT_EQ(given.photons(), 50U);
  const std::vector<Outcome> births = run(geometry, given.source(), {.latest = -1}, 50);
  for (std::size_t i = 0; i != births.size(); ++i)
    EXPECT_EQ(births[i].photon.position, photons()[i].position);  // the scene's origin is 0

  Genstep genstep = torch({0, 0, 100}, 30, 7);
  const std::string steps = write("steps.npy", {6, 4}, std::vector{genstep, genstep}).string();
  EXPECT_EQ(read_gensteps(steps)[1].position, genstep.position);
  const LoadedSource along("gensteps:" + steps, geometry, 1);
  EXPECT_EQ(along.photons(), 60U);
  for (const Outcome& one : run(geometry, along.source(), {.latest = -1}, 60))
    EXPECT_EQ(one.photon.position, genstep.position);

  // Files have the scene's coordinates, whatever the view's origin.
  UploadOptions options;
  options.origin = Double3{1000, 0, -2.5};
  const GpuGeometry moved = upload(test::shells({{3000, {test::flat("RINDEX", 1.4)}}}), device(), options);
  const std::vector<Outcome> there = run(moved, LoadedSource("photons:" + file, moved, 1).source(), {.latest = -1}, 50);
  for (std::size_t i = 0; i != there.size(); ++i) {
    const Float3 p = photons()[i].position;
    EXPECT_EQ(there[i].photon.position, (Float3{p.x - 1000, p.y, p.z + 2.5F}));
  }
  const LoadedSource along_there("gensteps:" + steps, moved, 1);
  for (const Outcome& one : run(moved, along_there.source(), {.latest = -1}, 60))
    EXPECT_EQ(one.photon.position, (Float3{-1000, 0, 102.5F}));
  const Gensteps in_memory(moved, std::vector{genstep}, 1, Stream(device()));
  for (const Outcome& one : run(moved, in_memory.source(), {.latest = -1}, 30))
    EXPECT_EQ(one.photon.position, (Float3{-1000, 0, 102.5F}));

  const LoadedSource ball("ball:1,2,3,4", geometry, 1);
  EXPECT_FALSE(ball.photons().has_value());
  EXPECT_EQ(ball.source().radius, 4);

  genstep.type = static_cast<Genstep::Type>(3);
  const std::string wrong = write("wrong.npy", {6, 4}, std::vector{genstep}).string();
  const std::string problem =
      problem_of(ErrorKind::unsupported, [&] { (void)LoadedSource("gensteps:" + wrong, geometry, 1); });
  EXPECT_NE(problem.find("wrong.npy"), std::string::npos) << problem;
  EXPECT_NE(problem.find("genstep 0"), std::string::npos) << problem;
}

TEST_P(LoadSource, NamesItsFiles) {
  using Paths = std::vector<std::filesystem::path>;
  const auto start = write("start.npy", {4, 4}, photons());
  EXPECT_EQ(source_files("photons:" + start.string()), Paths{start});
  EXPECT_EQ(source_files("gensteps:" + start.string()), Paths{start});
  const auto t = write("t.npy", {}, std::vector<float>(1)), pos = write("pos.npy", {3}, std::vector<Float3>(1));
  EXPECT_EQ(source_files("photons:" + folder().string()), (Paths{pos, t}));
  EXPECT_EQ(source_files("ball:0,0,0,1:time=5:wavelength=a-b.csv:decay=3"), Paths{"a-b.csv"});
  EXPECT_EQ(source_files("point:0,0,0:wavelength=350-500nm"), Paths{});
  EXPECT_EQ(source_files("point:0,0,0"), Paths{});
}

TEST_P(LoadSource, ChecksTexts) {
  check_source_text("point:0,0,0");
  check_source_text("photons:" + folder().string());
  problem_of(ErrorKind::usage, [] { check_source_text("photon:0,0,0"); });
  for (const char* text : {"photons:", "photons:nowhere.npy", "gensteps:nowhere.npy"})
    EXPECT_NE(problem_of(ErrorKind::usage, [&] { check_source_text(text); }).find(text), std::string::npos);
}

}  // namespace
}  // namespace raylift::photon
