// SPDX-License-Identifier: Apache-2.0
// The oracle of rays through trees: all triangles one by one, and rays compared with it in all ways that rays are
// traced on the host.
#pragma once

#include <gtest/gtest.h>
#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/bvh/scene_bvh.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bvh/bvh_lanes.h"
#include "geometry/src/bvh/bvh_batch.h"
#include "support/conversions.h"
#include "support/triangles_and_rays.h"

namespace raylift::test {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline float above(float t) {
  return std::nextafter(t, kInfinity);
}

// Uniform numbers and vectors of these.
class Random {
 public:
  explicit Random(std::uint32_t seed) : random_(seed) {}
  double unit() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }
  int between(int a, int b) { return a + static_cast<int>(below(static_cast<std::size_t>(b - a + 1))); }
  bool coin() { return below(2) == 0; }
  Eigen::Vector3d vector() {
    const double x = unit(), y = unit(), z = unit();
    return {x, y, z};
  }
  // A factor, or a component of a direction: a power of ten with a sign.
  float power(int least, int most) {
    return static_cast<float>((coin() ? 1 : -1) * (1.0 + 0.5 * unit()) * std::pow(10.0, between(least, most)));
  }

 private:
  std::mt19937 random_;
};

using Accept = std::function<bool(std::uint32_t instance, std::uint32_t triangle, bool from_inside, float t)>;

// All triangles that a tree's rays can meet, one after the other.
class AllTriangles {
 public:
  AllTriangles(const BvhView& view, BvhLevels levels) : view_(view) {
    if (levels == BvhLevels::mesh)
      add(0, bvh_detail::kNoInstance);
    else
      add_instances(0);
  }

  [[nodiscard]] bvh_detail::Crossing crossing(const Ray& ray, bvh_detail::Site site) const {
    return bvh_detail::cross(view_.nodes, view_.pairs, ray, site);
  }

  // The nearest one that counts: by t in more than a float's precision, then by its pair, then by its instance.
  [[nodiscard]] Hit nearest(const Ray& ray, const Accept& accept = {}) const {
    bvh_detail::Site best{kNoTriangle, bvh_detail::kNoInstance};
    double best_t = std::numeric_limits<double>::infinity();
    for (const bvh_detail::Site site : sites_) {
      const bvh_detail::Crossing c = crossing(ray, site);
      if (!c.hit || c.t < ray.tmin || !(c.t < ray.tmax)) continue;
      const double t = static_cast<double>(c.t) + static_cast<double>(c.t_low);
      const auto instance = bvh_detail::instance_of(view_, site);
      if (accept && !accept(instance, bvh_detail::triangle_of(view_, site), c.from_inside, c.t)) continue;
      const bool first = t != best_t                      ? t < best_t
                         : site.triangle != best.triangle ? site.triangle < best.triangle
                                                          : instance < bvh_detail::instance_of(view_, best);
      if (!first) continue;
      best = site;
      best_t = t;
    }
    return bvh_detail::hit_of(view_, ray, best);
  }
  [[nodiscard]] const std::vector<bvh_detail::Site>& sites() const { return sites_; }

 private:
  void add_instances(std::uint32_t index) {
    const bvh_detail::BvhNode& node = view_.nodes[index];
    if (const auto placed = std::bit_cast<bvh_detail::InstanceNode>(node); placed.zero == 0)
      return add(placed.root, index);
    std::uint32_t child = node.first_child;
    for (int s = 0; s < 8; ++s)
      if (node.is_inner(s)) add_instances(child++);
  }
  void add(std::uint32_t index, std::uint32_t placed) {
    const bvh_detail::BvhNode& node = view_.nodes[index];
    const auto pairs = static_cast<std::uint32_t>(std::popcount(node.pairs));
    for (std::uint32_t pair = node.first_pair; pair < node.first_pair + pairs; ++pair)
      for (std::uint32_t which = 0; which < 2; ++which)
        if (view_.ids[pair].triangle[which] != kNoTriangle) sites_.push_back({2 * pair + which, placed});
    std::uint32_t child = node.first_child;
    for (int s = 0; s < 8; ++s)
      if (node.is_inner(s)) add(child++, placed);
  }

  const BvhView view_;
  std::vector<bvh_detail::Site> sites_;
};

inline bool same(const Hit& a, const Hit& b) {
  return std::memcmp(&a, &b, sizeof(Hit)) == 0;
}

inline std::string text(const Hit& hit) {
  return "triangle " + std::to_string(static_cast<int>(hit.triangle)) + " of instance " + std::to_string(hit.instance) +
         " at " + std::to_string(hit.t);
}

// The rays, and these cut off before, at and behind what they hit, in all ways that rays are traced on the host. At
// least `least` of the rays hit something.
inline void expect_nearest(const BvhView& view, BvhLevels levels, std::vector<Ray> rays, std::size_t least) {
  const AllTriangles all(view, levels);
  std::vector<Hit> expected;
  std::size_t hits = 0;
  const std::size_t count = rays.size();
  for (std::size_t i = 0; i < count; ++i) {
    expected.push_back(all.nearest(rays[i]));
    if (!expected.back().valid()) continue;
    ++hits;
    const float t = expected.back().t;
    const std::pair<float, float> cuts[] = {
        {rays[i].tmin, t}, {rays[i].tmin, above(t)}, {t, rays[i].tmax}, {above(t), rays[i].tmax}};
    if (i % 3 != 0) continue;
    for (const auto& [tmin, tmax] : cuts) {
      Ray cut = rays[i];
      cut.tmin = tmin;
      cut.tmax = tmax;
      rays.push_back(cut);
    }
  }
  EXPECT_GE(hits, least);
  for (std::size_t i = count; i < rays.size(); ++i) expected.push_back(all.nearest(rays[i]));
  std::vector<Hit> portable(rays.size()), lanes(rays.size());
  bvh::trace_portable(view, levels, rays.data(), portable.data(), rays.size());
  closest_hits(view, levels, rays, lanes);
  for (std::size_t i = 0; i < rays.size(); ++i) {
    const Float3 o = rays[i].origin, d = rays[i].direction;
    SCOPED_TRACE(::testing::Message() << std::hexfloat << "ray {{" << o.x << ", " << o.y << ", " << o.z << "}, "
                                      << rays[i].tmin << ", {" << d.x << ", " << d.y << ", " << d.z << "}, "
                                      << rays[i].tmax << "}");
    ASSERT_TRUE(same(portable[i], expected[i])) << text(portable[i]) << " instead of " << text(expected[i]);
    ASSERT_TRUE(same(lanes[i], expected[i])) << text(lanes[i]) << " instead of " << text(expected[i]);
    const bool any = levels == BvhLevels::scene ? bvh_detail::hits_any<true>(view, rays[i], bvh_detail::Any())
                                                : bvh_detail::hits_any<false>(view, rays[i], bvh_detail::Any());
    ASSERT_EQ(any, expected[i].valid());
  }
}

// For leaves of any size, with and without pairs.
inline void expect_nearest(const Triangles& mesh, const std::vector<Ray>& rays, std::size_t least) {
  for (const Bvh::Options& options : {Bvh::Options{true, 3}, {false, 1}}) {
    const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles, options);
    expect_nearest(bvh.view(), BvhLevels::mesh, rays, least);
  }
}

inline void add_triangle(Triangles& mesh, Float3 a, Float3 b, Float3 c) {
  const auto k = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), {a, b, c});
  mesh.triangles.push_back({k, k + 1, k + 2});
}

// x, y, z become those of `turned`: each axis gets each part.
inline Float3 turned(Float3 v, int by) {
  return by == 0 ? v : by == 1 ? Float3{v.z, v.x, v.y} : Float3{v.y, v.z, v.x};
}

}  // namespace raylift::test
