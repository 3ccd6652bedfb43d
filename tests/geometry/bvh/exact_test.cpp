// SPDX-License-Identifier: Apache-2.0
// Rays against the exact oracle, over shapes with thin, long and flat triangles, through each way that rays are traced
// on the host. No bound here grows with a triangle's extent, its aspect or the ray's angle to it:
//   - t is within test::t_bound of where the ray's line meets the plane of the triangle;
//   - u and v are within 2^-22;
//   - from_inside is the sign of direction . normal;
//   - the triangle is one that the ray passes or touches (or by test::kNearMiss), and no other that it passes is nearer
//   by more than that;
//   - a ray that passes a triangle is not lost.
// Each test prints a table of what it found.
#include <gtest/gtest.h>
#include <raylift/geometry/bvh/bvh.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

#include "exact_tally.h"
#include "geometry/src/bvh/bvh_batch.h"
#include "support/effort.h"
#include "support/exact_oracle.h"
#include "support/exact_shapes.h"
#include "support/inside_rays.h"

namespace raylift {
namespace {

using test::ClosedShape;
using test::compare;
using test::compare_triangle;
using test::Crossing;
using test::Crossings;
using test::few_placements;
using test::first_t;
using test::inside_rays;
using test::InsideRays;
using test::kSamePoint;
using test::many_placements;
using test::Passing;
using test::PlacementCase;
using test::print_head;
using test::rays_around;
using test::Rows;
using test::ShapeModel;
using test::Tally;
using test::tracers;
using test::Triangles;
using test::Vector3d;

// All ways through all trees; the exact answer is found once.
Tally compare_one_level(const ClosedShape& shape, const std::vector<Ray>& rays) {
  std::vector<Crossings> found(rays.size());
  std::vector<long double> first(rays.size());
  tbb::parallel_for(std::size_t{0}, rays.size(), [&](std::size_t i) {
    found[i].find(shape.mesh, rays[i]);
    first[i] = first_t(found[i], rays[i]);
  });
  Tally sum;
  // Most ways give the same bits: then the outcome is the same too.
  struct Known {
    Hit hit;
    Tally outcome;
  };
  std::vector<Known> known(rays.size());
  for (const Bvh::Options& options : {Bvh::Options{true, 3}, {true, 1}, {false, 3}, {false, 1}}) {
    const Bvh bvh = build_bvh(shape.mesh.vertices, shape.mesh.triangles, options);
    for (const auto& [name, trace] : tracers()) {
      std::vector<Hit> hits(rays.size());
      trace(bvh.view(), BvhLevels::mesh, rays.data(), hits.data(), rays.size());
      tbb::parallel_for(std::size_t{0}, rays.size(), [&](std::size_t i) {
        Known& last = known[i];
        if (last.outcome.hits != 0 && std::memcmp(&last.hit, &hits[i], sizeof(Hit)) == 0) return;
        last = {hits[i], {}};
        compare(shape.mesh, found[i], rays[i], hits[i], first[i], last.outcome);
      });
      for (const Known& last : known) sum += last.outcome;
    }
  }
  return sum;
}

void run_one_level(const std::vector<PlacementCase>& cases, std::size_t count, bool inside) {
  Rows<Tally> rows;
  std::uint32_t seed = 1;
  for (const PlacementCase& at : cases)
    for (const ShapeModel& model : test::shape_zoo()) {
      if (inside && !model.convex) continue;
      SCOPED_TRACE(model.name + ", " + at.name);
      const ClosedShape shape = test::place(model, at.placement);
      ++seed;
      const Tally tally =
          compare_one_level(shape, inside ? inside_rays(shape, count, seed) : rays_around(shape, count, seed));
      EXPECT_TRUE(tally.clean()) << tally.example;
      rows.add(model.name, tally);
    }
  print_head(inside ? "from inside" : "from anywhere");
  rows.print_all();
}

TEST(Exact, OracleKnowsACube) {
  const ClosedShape cube = test::place(test::shapes::box("cube", 2, 2, 2));
  Crossings found;
  found.find(cube.mesh, {LocalPoint(0.25f, 0.5f, 0), 0, {0, 0, 2}});
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].passing, Passing::inside);
  EXPECT_EQ(found.all[0].t, 0.5L);
  EXPECT_EQ(found.all[0].facing, 1);
  const Ray corner{LocalPoint(0, 0, 0), 0, {1, 1, 1}}, along{LocalPoint(-3, 0.125f, 1), 0, {1, 0, 0}};
  found.find(cube.mesh, corner);
  for (const Crossing& c : found.all) EXPECT_TRUE(c.passing == Passing::touching && c.t == 1 && c.facing == 1);
  EXPECT_GE(found.all.size(), 3u);
  EXPECT_EQ(first_t(found, corner), 1);
  found.find(cube.mesh, along);  // a face
  EXPECT_TRUE(found.in_plane);
  EXPECT_EQ(first_t(found, along), std::numeric_limits<long double>::infinity());
}

// Each ray from inside, in exact arithmetic, leaves the shape at one point and does nothing else: what the other tests
// build on, and a proof that the shapes are closed and don't cross themselves.
TEST(Exact, RaysFromInsideLeaveEachShapeOnce) {
  for (const PlacementCase& at : many_placements())
    for (const ShapeModel& model : test::shape_zoo()) {
      if (!model.convex) continue;
      SCOPED_TRACE(model.name + ", " + at.name);
      const ClosedShape shape = test::place(model, at.placement);
      Crossings found;
      for (const Ray& ray : inside_rays(shape, 70, 3)) {
        found.find(shape.mesh, ray);
        ASSERT_FALSE(found.all.empty());
        std::size_t inside = 0;
        for (const Crossing& c : found.all) {
          ASSERT_EQ(c.facing, 1);
          ASSERT_LE(std::abs(c.t - found.all[0].t), kSamePoint * c.t);
          inside += c.passing == Passing::inside ? 1 : 0;
        }
        ASSERT_TRUE(inside == 1 ? found.all.size() == 1 : inside == 0 && found.all.size() >= 2);
      }
    }
}

TEST(Exact, RaysMeetTheirVerticesAndEdgesExactly) {
  const ClosedShape shape = test::place(test::shapes::prism("fibre", 32, 0.5, 2000), {1, {0, 0, 0}, 5});
  InsideRays random(shape, 4);
  Crossings found;
  std::size_t touching = 0;
  for (int i = 0; i < 200; ++i) {
    found.find(shape.mesh, random(i % 2 == 0 ? test::Aim::vertex : test::Aim::edge));
    touching += found.all[0].passing == Passing::touching ? 1 : 0;
  }
  EXPECT_GT(touching, 100u);
}

TEST(Exact, HitsFromInside) {
  run_one_level(few_placements(), test::effort(350U), true);
}
TEST(Exact, HitsFromAnywhere) {
  run_one_level(few_placements(), test::effort(200U), false);
}
TEST(SlowExact, HitsFromInside) {
  run_one_level(many_placements(), 2'000, true);
}
TEST(SlowExact, HitsFromAnywhere) {
  run_one_level(many_placements(), 2'000, false);
}

// Small and thin triangles about the world's origin, seen from afar along their length and nearly from within their
// planes: there double is not enough. Rays run through the world's origin exactly. Whether they hit, where that is a
// matter of 2^-50 of the way, is not looked at here.
TEST(Exact, HitsOfThinTrianglesSeenEdgeOnFromAfar) {
  std::mt19937 random(63);
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto vector = [&] {
    const double x = unit(random), y = unit(random), z = unit(random);
    return Vector3d(x, y, z);
  };
  Tally tally;
  for (int i = 0; i < test::effort(50'000); ++i) {
    const Float3 d = test::to_float(vector());
    const Vector3d along = test::to_double(d).normalized(), across = along.cross(vector()).normalized();
    const double length = std::pow(10.0, -2 + 2 * unit(random)), width = length * std::pow(10.0, -4 + 2 * unit(random)),
                 tilt = length * std::pow(10.0, -4 + 2 * unit(random));
    const auto corner = [&] {
      const double s = unit(random);
      return Vector3d(s * (length * along + tilt * along.cross(across)) + width * unit(random) * across);
    };
    const Vector3d a = corner(), b = corner(), c = -std::abs(unit(random)) * a - std::abs(unit(random)) * b;
    const Triangles mesh{{test::to_float(a), test::to_float(b), test::to_float(c)}, {{0, 1, 2}}};
    const float away = std::ldexp(1.0f, static_cast<int>(random() % 14));
    const Ray ray{LocalPoint(-away * d.x, -away * d.y, -away * d.z), 0, d};
    const Crossing exact = test::crossing_of(mesh, 0, ray);
    const bvh_detail::RayAndTriangle in{ray.origin, ray.direction, mesh.vertices[0], mesh.vertices[1],
                                        mesh.vertices[2]};
    const bvh_detail::Crossing got = bvh_detail::cross(in, false);
    if (exact.passing != Passing::inside || !got.hit) continue;
    ++tally.hits;
    tally.wrong_side += got.from_inside == (exact.facing > 0) ? 0 : 1;
    Hit hit{};
    hit.t = got.t;
    hit.u = got.u;
    hit.v = got.v;
    compare_triangle(mesh, 0, ray, hit, tally);
  }
  print_head("edge-on");
  print("thin", tally);
  EXPECT_TRUE(tally.clean());
  EXPECT_GT(tally.hits, test::effort(10'000u));
}

// A ray follows its line through a closed shape: each hit's t, moved up by one step, is the next tmin. In exact
// arithmetic crossings alternate. Rays with two crossings within three times the bound on t are left out, as one step
// skips both, and so are those that lie in the plane of a face.
struct LineTally {
  std::size_t lines = 0, left_out = 0, crossings = 0;
  std::size_t wrong = 0;  // another side, one too few or too many, or any_hit says otherwise

  LineTally& operator+=(const LineTally& other) {
    lines += other.lines;
    left_out += other.left_out;
    crossings += other.crossings;
    wrong += other.wrong;
    return *this;
  }
};

void print(const std::string& name, const LineTally& tally) {
  std::printf("%-14s %9zu %9zu %9zu %9zu\n", name.c_str(), tally.lines, tally.left_out, tally.crossings, tally.wrong);
}

LineTally follow_lines(const ClosedShape& shape, const std::vector<Ray>& rays) {
  std::vector<LineTally> tallies(rays.size());
  const Bvh bvh = build_bvh(shape.mesh.vertices, shape.mesh.triangles);
  tbb::parallel_for(std::size_t{0}, rays.size(), [&](std::size_t i) {
    const Ray& ray = rays[i];
    LineTally& tally = tallies[i];
    Crossings found;
    found.find(shape.mesh, ray);
    std::sort(found.all.begin(), found.all.end(), [](const Crossing& a, const Crossing& b) { return a.t < b.t; });
    // One entry for each point of the line: triangles that it touches there count together.
    std::vector<Crossing> points;
    bool clear = !found.in_plane;
    for (const Crossing& c : found.all) {
      if (c.t <= 3 * test::t_bound(ray, 0)) clear = false;  // the ray starts on it
      const bool same = !points.empty() && std::abs(points.back().t - c.t) <= kSamePoint * c.t;
      if (same && points.back().facing == c.facing) continue;
      if (!points.empty() && c.t - points.back().t < 3 * test::t_bound(ray, c.t)) clear = false;
      points.push_back(c);
    }
    if (!clear) {
      ++tally.left_out;
      return;
    }
    ++tally.lines;
    tally.crossings += points.size();
    Ray next = ray;
    bool right = true;
    for (std::size_t k = 0; right; ++k) {
      const Hit hit = closest_hit(bvh.view(), next);
      if (k == points.size() || !hit.valid()) {
        right = k == points.size() && !hit.valid();
        break;
      }
      Ray until = next;  // tmin is in, tmax is out
      until.tmax = hit.t;
      right = (hit.from_inside != 0) == (points[k].facing > 0) && !any_hit(bvh.view(), until);
      until.tmax = std::nextafter(hit.t, std::numeric_limits<float>::infinity());
      right = right && any_hit(bvh.view(), until);
      next.tmin = std::nextafter(hit.t, std::numeric_limits<float>::infinity());
    }
    tally.wrong += right ? 0 : 1;
  });
  LineTally sum;
  for (const LineTally& tally : tallies) sum += tally;
  return sum;
}

void run_lines(const std::vector<PlacementCase>& cases, std::size_t count) {
  Rows<LineTally> rows;
  for (const PlacementCase& at : cases)
    for (const ShapeModel& model : test::shape_zoo()) {
      SCOPED_TRACE(model.name + ", " + at.name);
      const ClosedShape shape = test::place(model, at.placement);
      std::vector<Ray> rays = rays_around(shape, count, 61);
      if (model.convex) {
        const std::vector<Ray> inside = inside_rays(shape, count, 62);
        rays.insert(rays.end(), inside.begin(), inside.end());
      }
      const LineTally tally = follow_lines(shape, rays);
      EXPECT_EQ(tally.wrong, 0u);
      EXPECT_GT(tally.lines, count / 3);
      rows.add(model.name, tally);
    }
  std::printf("%-14s %9s %9s %9s %9s\n", "along lines", "lines", "left out", "crossings", "wrong");
  rows.print_all();
}

TEST(Exact, CrossingsOfALineAlternate) {
  run_lines(few_placements(), 200);
}
TEST(SlowExact, CrossingsOfALineAlternate) {
  run_lines(many_placements(), 1'000);
}

}  // namespace
}  // namespace raylift
