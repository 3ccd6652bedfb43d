// SPDX-License-Identifier: Apache-2.0
// A boundary that is decided by one walk is the one that the search in full finds, bit for bit: by photons that
// scatter within and at the faces of solids that touch in all ways.
#include <gtest/gtest.h>
#include <raylift/gpu/rays/boundary.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>

#include "media_scenes.h"
#include "support/effort.h"

namespace raylift {
namespace {

using namespace bvh_detail;

auto fields(const Boundary& b) {
  return std::tuple(b.t, b.end, b.point.x, b.point.y, b.point.z, b.normal.x, b.normal.y, b.normal.z, b.from, b.to,
                    b.instance, b.triangle, b.material_from, b.material_to, b.from_inside, b.inconsistent,
                    b.after.solid, b.after.exceptions[0], b.after.exceptions[1]);
}

struct Seen {
  std::size_t steps = 0, plain = 0, plain_at_start = 0;
};

class Photon {
 public:
  Photon(const bench::MediaScene& scene, const GeometryView& geometry, unsigned seed)
      : geometry_(geometry), random_(seed) {
    for (int a = 0; a != 3; ++a) {
      const auto [low, high] = std::pair(scene.start_min[a], scene.start_max[a]);
      (&ray_.origin.x)[a] = static_cast<float>(low + uniform() * (high - low));
    }
    in_ = locate(geometry, ray_.origin);
    turn();
  }

  /// One step. False: it is over.
  bool step(Seen& seen) {
    const Ray walk_ray = ray_of_walk(geometry_, ray_);
    NearestCounting<true, true> nearest(geometry_, walk_ray, in_, starts_anew(ray_));
    walk(geometry_, walk_ray, nearest);
    BoundaryPlace place;
    ++seen.steps;
    const bool plain = plain_change(geometry_, walk_ray, in_, nearest, place);
    if (plain) ++seen.plain;
    if (plain && nearest.start_counts != AtStart::none) ++seen.plain_at_start;
    const BoundaryPlace full =
        next_change(geometry_, walk_ray, in_, nearest_faces<true>(geometry_, walk_ray, in_, starts_anew(ray_)));
    const Boundary found = next_boundary(geometry_, ray_, in_), expected = boundary_at(geometry_, ray_, in_, full);
    EXPECT_EQ(fields(found), fields(expected)) << "plain: " << plain;
    if (fields(found) != fields(expected)) return false;
    return go_on(found);
  }

 private:
  double uniform() { return std::uniform_real_distribution<double>()(random_); }
  /// A new direction from where the photon is, and as far as it may go: often hardly any distance.
  void turn() {
    double d[3], square = 0;
    do {
      square = 0;
      for (double& x : d) {
        x = 2 * uniform() - 1;
        square += x * x;
      }
    } while (square > 1 || square < 1e-4);
    ray_.direction = {static_cast<float>(d[0] / std::sqrt(square)), static_cast<float>(d[1] / std::sqrt(square)),
                      static_cast<float>(d[2] / std::sqrt(square))};
    ray_.tmin = 0;
    ray_.tmax =
        uniform() < 0.5 ? std::numeric_limits<float>::max() : static_cast<float>(std::pow(10.0, 8 * uniform() - 5));
  }
  bool go_on(const Boundary& boundary) {
    const Float3 d = ray_.direction, n = boundary.normal;
    const float along = d.x * n.x + d.y * n.y + d.z * n.z;
    if (!boundary.crosses()) {
      if (boundary.inconsistent) return false;
      ray_.origin = boundary.point;
      in_ = boundary.after;
      turn();
      return in_.solid != kNoSolid;
    }
    const double chance = uniform();
    if (chance < 0.2) {  // straight on
      ray_.tmin = boundary.end;
      in_ = boundary.after;
      return boundary.end < ray_.tmax && in_.solid != kNoSolid;
    }
    ray_.origin = boundary.point;
    if (chance < 0.6) in_ = boundary.after;
    if (chance < 0.4) {  // refracted, hardly
      ray_.tmin = 0;
      return in_.solid != kNoSolid;
    }
    if (chance >= 0.8) {  // a mirror
      ray_.direction = {d.x - 2 * along * n.x, d.y - 2 * along * n.y, d.z - 2 * along * n.z};
      ray_.tmin = 0;
      return true;
    }
    turn();
    const Float3 e = ray_.direction;
    const float now = e.x * n.x + e.y * n.y + e.z * n.z;
    if ((now * along > 0) != (chance < 0.6)) ray_.direction = {-e.x, -e.y, -e.z};
    return in_.solid != kNoSolid;
  }

  const GeometryView& geometry_;
  std::mt19937 random_;
  Ray ray_{};
  Containment in_;
};

Seen scatter(const bench::MediaScene& scene, bool flat, unsigned photons) {
  SCOPED_TRACE(scene.name + (flat ? ", flat" : ", two levels"));
  const bench::MediaOnDevice uploaded(scene, Device::host(), flat);
  Seen seen;
  for (unsigned i = 0; i != photons && !testing::Test::HasFailure(); ++i) {
    Photon photon(scene, uploaded.geometry().view(), i);
    for (int step = 0; step != 200 && photon.step(seen); ++step) continue;
  }
  return seen;
}

TEST(PlainBoundaries, AreThoseOfTheSearchInFull) {
  Seen all;
  for (const bench::MediaScene& scene : bench::media_scenes())
    for (const bool flat : {false, true}) {
      const Seen seen = scatter(scene, flat, test::effort(400U));
      all.steps += seen.steps;
      all.plain += seen.plain;
      all.plain_at_start += seen.plain_at_start;
    }
  EXPECT_GT(all.steps, test::effort(50'000U));
  EXPECT_GT(all.plain, all.steps / 3);
  EXPECT_GT(all.plain_at_start, all.steps / 1000);
}

TEST(PlainBoundaries, AreMostOfThoseInADetector) {
  const Seen seen = scatter(bench::detector_scene(100), false, 1000);
  EXPECT_GT(seen.steps, 5'000U);
  EXPECT_GT(static_cast<double>(seen.plain), 0.97 * static_cast<double>(seen.steps));
}

}  // namespace
}  // namespace raylift
