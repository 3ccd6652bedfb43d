// SPDX-License-Identifier: Apache-2.0
// A boundary that is decided by one walk is the one that the search in full finds, bit for bit: by photons that
// scatter within and at the faces of solids that touch in all ways.
#include <gtest/gtest.h>
#include <raylift/gpu/rays/boundary.h>

#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include "media/media_scenes.h"
#include "support/effort.h"

namespace raylift {
namespace {

using namespace bvh_detail;

auto fields(const Boundary& b) {
  const FinePoint& p = b.point;
  return std::tuple(b.t, p.point.x, p.point.y, p.point.z, p.rest.x, p.rest.y, p.rest.z, b.normal.x, b.normal.y,
                    b.normal.z, b.from, b.to, b.instance, b.triangle, b.material_from, b.material_to, b.from_inside,
                    b.inconsistent, b.after.solid, b.after.exceptions[0], b.after.exceptions[1]);
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
      (&ray_.origin.point.x)[a] = static_cast<float>(low + uniform() * (high - low));
    }
    in_ = locate(geometry, ray_.origin);
    turn();
  }

  /// One step. False: it is over.
  bool step(Seen& seen) { return geometry_.is_fine() ? step_by<FineWalkRay>(seen) : step_by<Ray>(seen); }

 private:
  template <class SomeRay>
  bool step_by(Seen& seen) {
    const SomeRay walk_ray = ray_of_walk<SomeRay>(geometry_, ray_);
    NearestCounting<SomeRay, true, true> query(geometry_, walk_ray, {in_}, true);
    walk(geometry_, walk_ray, query);
    const NearestFaces<SomeRay> nearest = query.faces();
    BoundaryPlace place;
    ++seen.steps;
    const bool plain = plain_change(geometry_, walk_ray, in_, nearest, place);
    if (plain) ++seen.plain;
    if (plain && nearest.start_counts != AtStart::none) ++seen.plain_at_start;
    const BoundaryPlace full =
        next_change(geometry_, walk_ray, in_, nearest_faces<true>(geometry_, walk_ray, in_, true));
    const Boundary found = next_boundary(geometry_, ray_, in_),
                   expected = boundary_at<SomeRay>(geometry_, ray_, in_, full);
    EXPECT_EQ(fields(found), fields(expected)) << "plain: " << plain;
    if (fields(found) != fields(expected)) return false;
    return go_on(found);
  }

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
    ray_.origin = boundary.point;
    if (chance < 0.6) in_ = boundary.after;
    if (chance < 0.4) return in_.solid != kNoSolid;  // straight on
    if (chance >= 0.8) {                             // a mirror
      ray_.direction = {d.x - 2 * along * n.x, d.y - 2 * along * n.y, d.z - 2 * along * n.z};
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
  FineRay ray_{};
  Containment in_;
};

Seen scatter(const bench::MediaScene& scene, bench::MediaLevels levels, unsigned photons) {
  SCOPED_TRACE(scene.name + ", " + bench::name_of(levels));
  const bench::MediaOnDevice uploaded(scene, Device::host(), levels);
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
    for (const bench::MediaLevels levels : bench::kMediaLevels) {
      const Seen seen = scatter(scene, levels, test::effort(400U));
      all.steps += seen.steps;
      all.plain += seen.plain;
      all.plain_at_start += seen.plain_at_start;
    }
  EXPECT_GT(all.steps, test::effort(50'000U));
  EXPECT_GT(all.plain, all.steps / 3);
  EXPECT_GT(all.plain_at_start, all.steps / 1000);
}

TEST(PlainBoundaries, AreMostOfThoseInADetector) {
  const Seen seen = scatter(bench::detector_scene(100), bench::MediaLevels::two, 1000);
  EXPECT_GT(seen.steps, 5'000U);
  EXPECT_GT(static_cast<double>(seen.plain), 0.97 * static_cast<double>(seen.steps));
}

}  // namespace
}  // namespace raylift
