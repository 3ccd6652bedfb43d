// SPDX-License-Identifier: Apache-2.0
// Photons that are given as arrays, and sources that are refused.
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <functional>
#include <limits>

#include "shells.h"
#include "statistics.h"

namespace raylift::photon {
namespace {

class GivenPhotons : public test::OfPhotons {};
RAYLIFT_ON_BOTH_DEVICES(GivenPhotons);

TEST_P(GivenPhotons, PhotonsAreGiven) {
  const Scene scene = shells({{3000, {flat("RINDEX", 1), flat("ABSLENGTH", 1e-3)}},
                              {2000, {flat("RINDEX", 1), flat("ABSLENGTH", 1e-3)}},
                              {1000, {flat("RINDEX", 1), flat("ABSLENGTH", 1e-3)}}});
  const GpuGeometry geometry = upload_scene(scene);
  std::vector<StartPhoton> given(1000);
  for (std::size_t i = 0; i != given.size(); ++i) {
    const auto x = static_cast<float>(i);
    given[i].position = {x * 3.5F, 0, 0};
    given[i].time = x;
    given[i].direction = {0, 2, 0};  // not of unit length
    given[i].wavelength = 400 + x / 10;
    given[i].polarization = {0.3F, 0.7F, 0};
  }
  Given array = give(given);
  Source& source = array.source;
  source.first_photon = 70;
  const std::vector<Outcome> all = run(geometry, source, {.seed = 4, .first = 70}, given.size());
  for (std::size_t i = 0; i != given.size(); ++i) {
    const Outcome& one = all[i];
    const float x = given[i].position.x;
    ASSERT_NEAR(one.photon.position.x, x, 1e-3);
    ASSERT_NEAR(one.photon.position.y, 0, 0.1);
    ASSERT_NEAR(one.photon.time, given[i].time, 1e-3);
    ASSERT_EQ(one.photon.wavelength, given[i].wavelength);
    ASSERT_EQ(one.photon.direction, (Float3{0, 1, 0}));
    ASSERT_EQ(one.photon.polarization, (Float3{1, 0, 0}));
    if (x > 3001) {
      ASSERT_EQ(one.last.kind, StepKind::escaped);
      continue;
    }
    if (x > 2990) continue;
    ASSERT_EQ(one.last.kind, StepKind::absorbed) << i;
    if (x < 990) {
      ASSERT_EQ(one.last.from, 2U);
    }
    if (x > 1000.1F && x < 1990) {
      ASSERT_EQ(one.last.from, 1U);
    }
    if (x > 2000.1F) {
      ASSERT_EQ(one.last.from, 0U);
    }
  }
  // In parts.
  for (const std::size_t first : {0, 333, 999}) {
    const std::vector<Outcome> part = run(geometry, source, {.seed = 4, .first = 70 + first}, 1);
    EXPECT_EQ(part[0].photon.position, all[first].photon.position);
    EXPECT_EQ(part[0].history, all[first].history);
  }
  EXPECT_THROW((void)run(geometry, source, {.first = 69}, 1), Error);
  EXPECT_THROW((void)run(geometry, source, {.first = 1069}, 2), Error);
}

// Where two balls overlap, the scene does not determine which one a photon is in.
TEST_P(GivenPhotons, AWayThroughAContradictionEndsInconsistent) {
  Scene scene = shells({{5000, {flat("RINDEX", 1)}}, {1000, {flat("RINDEX", 1)}}});
  scene.nodes.push_back({"other", 0, {}, kNone});
  Instance other = scene.instances[1];
  other.node = 2;
  other.transform = EigenTransform(Eigen::Translation3d(1500, 0, 0)).scale(1000);
  scene.instances.push_back(other);
  Source source;
  source.shape = Source::Shape::line;
  source.center = {-2000, 0, 0};
  source.extent = {4800, 0, 0};
  std::size_t beyond = 0, before = 0;
  for (const Outcome& one : run(upload_scene(scene), source, {.seed = 2, .latest = -1}, 2000)) {
    if (one.last.kind == StepKind::inconsistent) {
      ++beyond;
      EXPECT_EQ(one.steps, 1U);
      EXPECT_EQ(one.history, static_cast<std::uint64_t>(StepKind::inconsistent));
      EXPECT_GT(one.photon.position.x, 400) << "where it met the contradiction";
      EXPECT_LT(one.photon.position.x, 1100);
    } else {
      ++before;
      EXPECT_EQ(one.last.kind, StepKind::cut);
      EXPECT_LT(one.photon.position.x, 1100);
    }
  }
  EXPECT_GT(beyond, 200U);
  EXPECT_GT(before, 1000U);
}

// A photon that is no photon has an end too.
TEST_P(GivenPhotons, GivenPhotonsWithoutADirectionEnd) {
  const GpuGeometry geometry = upload_scene(shells({{3000, {flat("RINDEX", 1)}}}));
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  std::vector<StartPhoton> given(3);
  given[0].direction = {0, 0, 0};
  given[1].direction = {kNan, 0, 0};
  given[2].direction = {1, 0, 0};
  given[2].position = {kNan, 0, 0};
  for (StartPhoton& one : given) one.wavelength = 400;
  const Given array = give(given);
  for (const Outcome& one : run(geometry, array.source, {}, given.size()))
    EXPECT_TRUE(one.last.kind == StepKind::inconsistent || one.last.kind == StepKind::escaped);
}

ErrorKind kind_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::io;
}

TEST_P(GivenPhotons, WrongOnesAreRefused) {
  const GpuGeometry geometry = upload_scene(shells({{3000, {flat("RINDEX", 1)}}}));
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::function<void(Source&)>> faults{
      [](Source& s) { s.center.y = kNan; },
      [](Source& s) { s.center.z = 1e39; },
      [](Source& s) { s.center.x = -std::numeric_limits<double>::infinity(); },
      [](Source& s) { s.radius = -1; },
      [](Source& s) { s.shape = Source::Shape::disc; },
      [](Source& s) { s.shape = Source::Shape::line, s.extent.x = kNan; },
      [](Source& s) {
        s.aim = Source::Aim::cone, s.direction = {1, 1, 0};
      },
      [](Source& s) {
        s.aim = Source::Aim::lambertian, s.direction = {0, 0, 0};
      },
      [](Source& s) { s.half_angle = 3.2F; },
      [](Source& s) { s.polarization.x = kNan; },
      [](Source& s) { s.wavelength = 0; },
      [](Source& s) { s.time = kNan; },
      [](Source& s) { s.time_width = -1; },
      [](Source& s) { s.time_constant = kNan; },
      [](Source& s) { s.spectrum.count = 257; },
      [](Source& s) {
        static const StartPhoton photon{};
        s.photons = &photon, s.photon_count = 1, s.photons_origin.y = kNan;
      },
  };
  for (std::size_t i = 0; i != faults.size(); ++i) {
    Source source;
    faults[i](source);
    EXPECT_EQ(kind_of([&] { (void)run(geometry, source, {}, 1); }), ErrorKind::usage) << i;
  }
}

TEST(Spectra, WrongOnesAreRefused) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  using Doubles = std::vector<double>;
  for (const auto& wrong : {std::pair<Doubles, Doubles>{{}, {}},
                            {{400, 500}, {1}},
                            {{500, 400}, {1, 1}},
                            {{400, 400}, {1, 1}},
                            {{0, 400}, {1, 1}},
                            {{400, kInfinity}, {1, 1}},
                            {{400, 500}, {1, -1}},
                            {{400, 500}, {1, kInfinity}},
                            {{400, 500}, {0, 0}}})
    EXPECT_EQ(kind_of([&] { (void)make_spectrum(wrong.first, wrong.second); }), ErrorKind::malformed);
  EXPECT_EQ(make_spectrum(Doubles{444}, Doubles{0}).points[0].y, 444);
}

}  // namespace
}  // namespace raylift::photon
