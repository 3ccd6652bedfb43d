// SPDX-License-Identifier: Apache-2.0
// Where no boundary is within reach.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "boundaries.h"

namespace raylift {
namespace {

using test::Boxes;

/// In double, from a point to a box's surface.
double distance_to_surface(const std::array<double, 3>& point, const std::array<double, 3>& low,
                           const std::array<double, 3>& high) {
  double outside = 0, inside = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a != 3; ++a) {
    const double beyond = std::max({low[a] - point[a], 0.0, point[a] - high[a]});
    outside += beyond * beyond;
    inside = std::min({inside, point[a] - low[a], high[a] - point[a]});
  }
  return outside > 0 ? std::sqrt(outside) : inside;
}

TEST(Clearance, IsNeverClaimedWhereAFaceIsNear) {
  for (const bool flat : {false, true}) {
    Boxes boxes;
    const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
    boxes.add({0, 0, 0}, {100, 120, 140}, world, 1, {33, 7, -11});
    UploadOptions options;
    options.bvh = true;
    options.flatten = flat;
    options.origin = Eigen::Vector3d::Zero();
    const GpuGeometry geometry = upload(boxes.scene(), Device::host(std::size_t{1} << 28), options);
    std::mt19937 random(9);
    std::uniform_real_distribution<float> within(-490, 490), size(0, 1);
    int clear = 0, far = 0;
    for (int i = 0; i != 20'000; ++i) {
      const Float3 point{within(random), within(random), within(random)};
      const float reach = 300 * size(random) * size(random);
      const std::array<double, 3> p{point.x, point.y, point.z};
      const double distance = std::min(distance_to_surface(p, {-500, -500, -500}, {500, 500, 500}),
                                       distance_to_surface(p, {0, 0, 0}, {100, 120, 140}));
      const bool is = is_clear(geometry.view(), LocalPoint(point), reach);
      if (is) {
        EXPECT_GT(distance, reach) << point.x << ' ' << point.y << ' ' << point.z << ' ' << reach;
      }
      clear += is ? 1 : 0;
      far += distance > 2 * reach ? 1 : 0;  // beyond the cube around the ball, too
    }
    EXPECT_GT(clear, far / 2) << flat;  // of use, then
    EXPECT_GT(clear, 1000) << flat;
  }
}

}  // namespace
}  // namespace raylift
