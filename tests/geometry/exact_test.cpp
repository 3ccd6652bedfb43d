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
#include <raylift/geometry/bvh/bvh_batch.h>
#include <raylift/geometry/bvh/scene_bvh.h>

#include <tbb/parallel_for.h>
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <ios>
#include <map>
#include <sstream>

#include "bvh/bvh_lanes.h"
#include "exact_oracle.h"
#include "exact_shapes.h"

namespace raylift {
namespace {

using test::ClosedShape;
using test::Crossing;
using test::Crossings;
using test::InsideRays;
using test::Passing;
using test::ShapeModel;
using test::ShapePlacement;
using test::Triangles;
using test::Vector3d;

constexpr long double kSamePoint = 0x1p-34L;  // relative; the oracle's t of one point is this near to itself
constexpr long double kWeightBound = 0x1p-22L;
constexpr long double kWorldBound = 4;  // two levels: steps of a float, see compare_two_levels

// What was wrong with the hits of some rays.
struct Tally {
  std::size_t hits = 0;              // looked at
  std::size_t lost = 0;              // none, or one behind a triangle that the ray passes
  std::size_t stray = 0;             // of a triangle that the ray does not touch
  std::size_t wrong_side = 0;        // from_inside
  std::size_t far_t = 0, far_w = 0;  // beyond the bounds
  long double worst_t = 0, worst_w = 0;
  std::string example{};  // the first ray that something is wrong with

  [[nodiscard]] bool clean() const { return lost + stray + wrong_side + far_t + far_w == 0; }
  Tally& operator+=(const Tally& other) {
    hits += other.hits;
    lost += other.lost;
    stray += other.stray;
    wrong_side += other.wrong_side;
    far_t += other.far_t;
    far_w += other.far_w;
    worst_t = std::max(worst_t, other.worst_t);
    worst_w = std::max(worst_w, other.worst_w);
    if (example.empty()) example = other.example;
    return *this;
  }
};

void print_head(const char* what) {
  std::printf("%-14s %9s %8s %8s %8s %8s %10s %8s %10s\n", what, "hits", "lost", "stray", "wr.side", "t off", "worst t",
              "uv off", "worst uv");
}

// Worst errors: of t in steps of a float, of u and v in 2^-22.
void print(const std::string& name, const Tally& tally) {
  std::printf("%-14s %9zu %8zu %8zu %8zu %8zu %10.4Lg %8zu %10.4Lg\n", name.c_str(), tally.hits, tally.lost,
              tally.stray, tally.wrong_side, tally.far_t, tally.worst_t, tally.far_w, tally.worst_w / kWeightBound);
}

// Compares what hit says of its triangle with the exact answer.
void compare_triangle(const Triangles& mesh, std::uint32_t triangle, const Ray& ray, const Hit& hit, Tally& tally) {
  const test::Corners v = test::corners(mesh, triangle);
  const auto t = test::plane_t(v, ray);
  if (!t) return;  // a stray hit, counted as such
  tally.worst_t = std::max(tally.worst_t, test::ulps_between(hit.t, *t));
  tally.far_t += std::abs(hit.t - *t) <= test::t_bound(ray, *t) ? 0 : 1;
  const long double dw =
      std::max(std::abs(hit.u - test::weight(v, ray, v.c, v.a)), std::abs(hit.v - test::weight(v, ray, v.a, v.b)));
  tally.worst_w = std::max(tally.worst_w, dw);
  tally.far_w += dw <= kWeightBound ? 0 : 1;
}

// The nearest t at which any traversal must report a hit, and infinity where there is none. A ray that touches edges or
// vertices is moved by an infinitesimal, and what it touches is hit in any case where all triangles there are seen from
// the same side; elsewhere, at a silhouette, it may pass. What the ray starts on may be missed as well.
long double first_t(const Crossings& found, const Ray& ray) {
  long double first = std::numeric_limits<long double>::infinity();
  for (const Crossing& c : found.all) {
    if (c.t <= test::t_bound(ray, 0)) continue;
    bool certain = c.passing == Passing::inside;
    if (!certain && !found.in_plane)
      certain = std::all_of(found.all.begin(), found.all.end(), [&](const Crossing& other) {
        return other.passing == Passing::inside || other.facing == c.facing ||
               std::abs(other.t - c.t) > kSamePoint * c.t;
      });
    if (certain) first = std::min(first, c.t);
  }
  return first;
}

// `first` is first_t, of all that the ray may hit.
void look_at(const Triangles& mesh, const Crossings& found, const Ray& ray, const Hit& hit, long double first,
             Tally& tally) {
  ++tally.hits;
  if (!hit.valid()) {
    tally.lost += std::isfinite(first) ? 1 : 0;
    return;
  }
  compare_triangle(mesh, hit.triangle, ray, hit, tally);
  const auto own =
      std::find_if(found.all.begin(), found.all.end(), [&](const Crossing& c) { return c.triangle == hit.triangle; });
  if (own == found.all.end()) {
    const test::Corners v = test::corners(mesh, hit.triangle);
    const auto t = test::plane_t(v, ray);
    if (t && *t >= -test::t_bound(ray, 0) && test::near_miss(v, ray)) return;
    ++tally.stray;
    tally.wrong_side += std::isfinite(first) && hit.from_inside == 0 ? 1 : 0;
    return;
  }
  tally.wrong_side += (hit.from_inside != 0) == (own->facing > 0) ? 0 : 1;
  if (own->t - first > test::t_bound(ray, first)) ++tally.lost;
}

void compare(const Triangles& mesh, const Crossings& found, const Ray& ray, const Hit& hit, long double first,
             Tally& tally) {
  const Tally before = tally;
  look_at(mesh, found, ray, hit, first, tally);
  if (!before.example.empty() || tally.clean()) return;
  std::ostringstream text;
  const Float3 o = ray.origin, d = ray.direction;
  text << std::hexfloat << "ray {{" << o.x << ", " << o.y << ", " << o.z << "}, 0, {" << d.x << ", " << d.y << ", "
       << d.z << "}}" << std::defaultfloat << " hits " << static_cast<int>(hit.triangle) << " at " << hit.t
       << (hit.from_inside != 0 ? " from inside" : "") << (tally.lost != before.lost ? ", lost" : "")
       << (tally.stray != before.stray ? ", stray" : "") << (tally.far_t != before.far_t ? ", t" : "")
       << (tally.far_w != before.far_w ? ", uv" : "") << "; passes:";
  for (const Crossing& c : found.all)
    text << ' ' << c.triangle << (c.passing == Passing::inside ? "" : " (touches)") << " at " << c.t;
  tally.example = text.str();
}

using Tracer = std::function<void(const BvhView&, BvhLevels, const Ray*, Hit*, std::size_t)>;

std::map<std::string, Tracer> tracers() {
  std::map<std::string, Tracer> all;
  all["portable"] = bvh::trace_portable;
  if (bvh::has_avx2()) all["avx2"] = bvh::trace_avx2;
  if (bvh::has_avx512()) all["avx512"] = bvh::trace_avx512;
  all["single"] = [](const BvhView& view, BvhLevels levels, const Ray* rays, Hit* hits, std::size_t count) {
    if (levels == BvhLevels::scene) return;  // over a GeometryView: tests/gpu
    for (std::size_t i = 0; i < count; ++i) hits[i] = closest_hit(view, rays[i]);
  };
  return all;
}

struct Case {
  std::string name;
  ShapePlacement placement;
};

std::vector<Case> few_placements() {
  return {{"aligned", {}}, {"turned", {1, {0, 0, 0}, 7}}, {"turned, far", {1, {2.4e4, -1e4, 3e3}, 8}}};
}

std::vector<Case> many_placements() {
  std::vector<Case> all = few_placements();
  all.push_back({"aligned, far", {1, {-1e5, 2e5, 1e4}, 0}});
  all.push_back({"aligned, with noise", {1, {0, 0, 0}, 0, true}});
  all.push_back({"turned, 1e-6", {1e-6, {0, 0, 0}, 11}});
  all.push_back({"turned, 1e6", {1e6, {0, 0, 0}, 12}});
  all.push_back({"aligned, 1e-6", {1e-6, {0, 0, 0}, 0}});
  all.push_back({"turned, 1e7 away", {1, {1e7, -5e6, 2e6}, 13}});
  for (std::uint32_t turn = 20; turn < 24; ++turn)
    all.push_back({"turned " + std::to_string(turn), {1, {0, 0, 0}, turn}});
  return all;
}

std::vector<Ray> inside_rays(const ClosedShape& shape, std::size_t count, std::uint32_t seed) {
  std::vector<Ray> rays;
  InsideRays random(shape, seed);
  for (std::size_t i = 0; i < count; ++i) rays.push_back(random(static_cast<test::Aim>(i % test::kAims)));
  return rays;
}

// From anywhere around a shape, and inside of it where there is room; half of them towards points of its edges.
std::vector<Ray> rays_around(const ClosedShape& shape, std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto vector = [&] {
    const double x = normal(random), y = normal(random), z = normal(random);
    return Vector3d(x, y, z);
  };
  const auto vertex = [&] { return test::to_double(shape.mesh.vertices[random() % shape.mesh.vertices.size()]); };
  double reach = 0;
  for (const Float3& v : shape.mesh.vertices) reach = std::max(reach, (test::to_double(v) - shape.center).norm());
  std::vector<Ray> rays(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Vector3d o =
        i % 3 == 0 ? Vector3d(vertex() + 0.01 * reach * vector()) : Vector3d(shape.center + reach * vector());
    Vector3d d = vector();
    if (i % 2 == 0) d = vertex() + (i % 4 == 0 ? 0.0 : 0.02 * normal(random)) * (vertex() - shape.center) - o;
    rays[i].origin = test::to_float(o);
    rays[i].direction = test::to_float(d.normalized());
  }
  return rays;
}

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
  for (const BvhOptions& options : {BvhOptions{true, 3}, {true, 1}, {false, 3}, {false, 1}}) {
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

// One row of a table for each shape, and one for all.
template <class T>
struct Rows {
  std::vector<std::pair<std::string, T>> rows;

  void add(const std::string& name, const T& tally) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == name; });
    (found == rows.end() ? rows.emplace_back(name, T()) : *found).second += tally;
  }
  void print_all() const {
    T sum;
    for (const auto& [name, tally] : rows) {
      print(name, tally);
      sum += tally;
    }
    print("all", sum);
    std::fflush(stdout);
  }
};

void run_one_level(const std::vector<Case>& cases, std::size_t count, bool inside) {
  Rows<Tally> rows;
  std::uint32_t seed = 1;
  for (const Case& at : cases)
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
  found.find(cube.mesh, {{0.25f, 0.5f, 0}, 0, {0, 0, 2}});
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].passing, Passing::inside);
  EXPECT_EQ(found.all[0].t, 0.5L);
  EXPECT_EQ(found.all[0].facing, 1);
  const Ray corner{{0, 0, 0}, 0, {1, 1, 1}}, along{{-3, 0.125f, 1}, 0, {1, 0, 0}};
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
  for (const Case& at : many_placements())
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
  run_one_level(few_placements(), 350, true);
}
TEST(Exact, HitsFromAnywhere) {
  run_one_level(few_placements(), 200, false);
}
TEST(SlowExact, HitsFromInside) {
  run_one_level(many_placements(), 4'000, true);
}
TEST(SlowExact, HitsFromAnywhere) {
  run_one_level(many_placements(), 4'000, false);
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
  for (int i = 0; i < 50'000; ++i) {
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
    const Ray ray{{-away * d.x, -away * d.y, -away * d.z}, 0, d};
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
  EXPECT_GT(tally.hits, 10'000u);
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

void run_lines(const std::vector<Case>& cases, std::size_t count) {
  Rows<LineTally> rows;
  for (const Case& at : cases)
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
  run_lines(many_placements(), 2'000);
}

// Two levels ---------------------------------------------------------------------------------------------------------

// A ray in a mesh's frame, as a traversal has it: rounded to double at each sum, and to float in the end.
Ray in_mesh(const Affine& to_mesh, const Ray& ray) {
  const float* m = to_mesh.m;
  const auto row = [](const float* r, Float3 v, double shift) {
    volatile double sum = double{r[0]} * v.x + double{r[1]} * v.y;
    sum = sum + double{r[2]} * v.z;
    return static_cast<float>(sum + shift);
  };
  Ray result = ray;
  result.origin = {row(m, ray.origin, m[3]), row(m + 4, ray.origin, m[7]), row(m + 8, ray.origin, m[11])};
  result.direction = {row(m, ray.direction, 0), row(m + 4, ray.direction, 0), row(m + 8, ray.direction, 0)};
  return result;
}

// One mesh, placed in several ways.
Scene placed_scene(const ClosedShape& shape, std::uint32_t instances, double away, std::uint32_t seed) {
  Scene scene;
  scene.source = "made in a test";
  scene.materials.push_back({"m", {}});
  scene.nodes.push_back({"world", kNone, std::nullopt});
  scene.bindings.push_back({0});
  const auto count = static_cast<std::uint32_t>(shape.mesh.triangles.size());
  scene.meshes.push_back({shape.name, shape.mesh.vertices, shape.mesh.triangles, {{0, count}}});
  double reach = 0;
  for (const Float3& v : shape.mesh.vertices) reach = std::max(reach, test::to_double(v).norm());
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto vector = [&] {
    const double x = unit(random), y = unit(random), z = unit(random);
    return Vector3d(x, y, z);
  };
  for (std::uint32_t i = 0; i != instances; ++i) {
    Transform transform = Transform::Identity();
    transform.translate(Vector3d(away * reach * Vector3d(1, -0.5, 0.25) + 1.5 * reach * vector()));
    if (i % 4 != 0) transform.rotate(Eigen::AngleAxisd(3 * unit(random), vector().normalized()));
    if (i % 4 == 1) transform.scale(Vector3d(1, -1, 0.5));  // mirrored
    if (i % 4 == 2) {
      Eigen::Matrix3d shear = Eigen::Matrix3d::Identity();
      shear(0, 1) = 0.7;
      shear(2, 0) = -0.4;
      transform.linear() = transform.linear() * shear;
    }
    if (i % 4 == 3) transform.scale(std::pow(10.0, unit(random)));
    scene.instances.push_back({0, 0, 0, kNone, transform});
  }
  scene.bounds = world_bounds(scene);
  return scene;
}

// The transforms that rays get into the meshes by, out of the tree.
std::vector<Affine> transforms(const SceneBvh& bvh, std::size_t instances) {
  std::vector<Affine> all(instances);
  for (std::uint32_t i = 0; i != bvh.instance_nodes; ++i) {
    const auto node = std::bit_cast<InstanceNode>(bvh.nodes[i]);
    if (node.zero == 0) all.at(node.instance) = node.to_mesh;
  }
  return all;
}

// World rays that start inside of an instance: the start's image in the mesh's frame is checked, as it is rounded.
std::vector<Ray> rays_in_scene(const ClosedShape& shape, const Scene& scene, const std::vector<Affine>& to_mesh,
                               std::size_t count, std::uint32_t seed) {
  std::vector<Ray> rays;
  if (!shape.convex) return rays;
  InsideRays random(shape, seed);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t k = i % scene.instances.size();
    const Ray local = random(static_cast<test::Aim>(i / scene.instances.size() % test::kAims));
    const Transform& to_world = scene.instances[k].transform;
    Ray ray;
    ray.origin = test::to_float(to_world * test::to_double(local.origin));
    ray.direction = test::to_float(to_world.linear() * test::to_double(local.direction));
    if (random.inside(in_mesh(to_mesh[k], ray).origin)) rays.push_back(ray);
  }
  return rays;
}

// Besides what compare() looks at: how far t is from where the ray meets the placed plane in the world, in steps of a
// float at |origin| + |translation| + t |direction|, over the transform's condition.
Tally compare_two_levels(const ClosedShape& shape, double away, std::size_t count, std::uint32_t seed,
                         long double& worst_world) {
  const Scene scene = placed_scene(shape, 8, away, seed);
  Tally sum;
  for (const BvhOptions& options : {BvhOptions{true, 3}, {false, 1}}) {
    const SceneBvh bvh = build_bvh(scene, Vector3d::Zero(), options);
    const std::vector<Affine> to_mesh = transforms(bvh, scene.instances.size());
    std::vector<Ray> rays = rays_in_scene(shape, scene, to_mesh, count, seed);
    ClosedShape world = shape;  // its vertices in the world, to aim at
    world.mesh.vertices.clear();
    for (const Instance& instance : scene.instances)
      for (const Float3& v : shape.mesh.vertices)
        world.mesh.vertices.push_back(test::to_float(instance.transform * test::to_double(v)));
    world.center = scene.bounds.center();
    const std::vector<Ray> around = rays_around(world, count, seed);
    rays.insert(rays.end(), around.begin(), around.end());
    // By instance: what the transformed ray passes.
    struct Found {
      Crossings crossings;
      Ray ray;
    };
    std::vector<std::vector<Found>> found(rays.size());
    tbb::parallel_for(std::size_t{0}, rays.size(), [&](std::size_t i) {
      for (const Affine& m : to_mesh) {
        found[i].push_back({{}, in_mesh(m, rays[i])});
        found[i].back().crossings.find(shape.mesh, found[i].back().ray);
      }
    });
    for (const auto& [name, trace] : tracers()) {
      if (name == "single") continue;
      std::vector<Hit> hits(rays.size());
      trace(bvh.view(), BvhLevels::scene, rays.data(), hits.data(), rays.size());
      for (std::size_t i = 0; i < rays.size(); ++i) {
        long double first = std::numeric_limits<long double>::infinity();
        for (const Found& f : found[i]) first = std::min(first, first_t(f.crossings, f.ray));
        if (!hits[i].valid()) {
          ++sum.hits;
          sum.lost += std::isfinite(first) ? 1 : 0;
          continue;
        }
        const Found& own = found[i].at(hits[i].instance);
        compare(shape.mesh, own.crossings, own.ray, hits[i], first, sum);
        const Transform& to_world = scene.instances[hits[i].instance].transform;
        const test::Corners v = test::corners(shape.mesh, hits[i].triangle);
        const Vector3d a = to_world * test::to_double(v.a), b = to_world * test::to_double(v.b),
                       c = to_world * test::to_double(v.c), o = test::to_double(rays[i].origin),
                       d = test::to_double(rays[i].direction);
        const Vector3d normal = (b - a).cross(c - a).normalized();
        const Eigen::Matrix3d linear = to_world.linear();
        const double condition = linear.norm() * linear.inverse().norm() / 3;
        const double size = o.norm() + to_world.translation().norm() + hits[i].t * d.norm();
        const long double distance = std::abs(normal.dot(o + double(hits[i].t) * d - a));
        worst_world = std::max(worst_world, distance / (test::ulp(size) * condition));
      }
    }
  }
  return sum;
}

void run_two_levels(const std::vector<double>& aways, std::size_t count) {
  Rows<Tally> rows;
  std::uint32_t seed = 100;
  long double worst_world = 0;
  for (const double away : aways)
    for (const ShapeModel& model : test::shape_zoo()) {
      SCOPED_TRACE(model.name + ", " + std::to_string(static_cast<int>(away)) + " sizes away");
      const ClosedShape shape = test::place(model, {1, {0, 0, 0}, seed++});
      const Tally tally = compare_two_levels(shape, away, count, seed, worst_world);
      EXPECT_TRUE(tally.clean()) << tally.example;
      rows.add(model.name, tally);
    }
  print_head("two levels");
  rows.print_all();
  std::printf(
      "In the world a hit lies off the placed plane by %.3Lg steps of |origin| + |translation| + t |direction|, times "
      "the transform's condition, at most.\n",
      worst_world);
  EXPECT_LE(worst_world, kWorldBound);
  std::fflush(stdout);
}

TEST(Exact, HitsInTwoLevels) {
  run_two_levels({0}, 150);
}
TEST(SlowExact, HitsInTwoLevels) {
  run_two_levels({0, 10, 1000}, 2'000);
}

}  // namespace
}  // namespace raylift
