// SPDX-License-Identifier: Apache-2.0
// Hits compared with the exact oracle, counted and printed; the ways that rays are traced, and the rays themselves.
#pragma once

#include <gtest/gtest.h>
#include <raylift/geometry/bvh/bvh.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <ios>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bvh/bvh_lanes.h"
#include "geometry/src/bvh/bvh_batch.h"
#include "support/exact_oracle.h"
#include "support/exact_shapes.h"
#include "support/inside_rays.h"

namespace raylift::test {

inline constexpr long double kSamePoint = 0x1p-34L;  // relative; the oracle's t of one point is this near to itself
inline constexpr long double kWeightBound = 0x1p-22L;

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

inline void print_head(const char* what) {
  std::printf("%-14s %9s %8s %8s %8s %8s %10s %8s %10s\n", what, "hits", "lost", "stray", "wr.side", "t off", "worst t",
              "uv off", "worst uv");
}

// Worst errors: of t in steps of a float, of u and v in 2^-22.
inline void print(const std::string& name, const Tally& tally) {
  std::printf("%-14s %9zu %8zu %8zu %8zu %8zu %10.4Lg %8zu %10.4Lg\n", name.c_str(), tally.hits, tally.lost,
              tally.stray, tally.wrong_side, tally.far_t, tally.worst_t, tally.far_w, tally.worst_w / kWeightBound);
}

// Compares what hit says of its triangle with the exact answer.
inline void compare_triangle(const Triangles& mesh, std::uint32_t triangle, const Ray& ray, const Hit& hit,
                             Tally& tally) {
  const Corners v = corners(mesh, triangle);
  const auto t = plane_t(v, ray);
  if (!t) return;  // a stray hit, counted as such
  tally.worst_t = std::max(tally.worst_t, ulps_between(hit.t, *t));
  tally.far_t += std::abs(hit.t - *t) <= t_bound(ray, *t) ? 0 : 1;
  const long double dw =
      std::max(std::abs(hit.u - weight(v, ray, v.c, v.a)), std::abs(hit.v - weight(v, ray, v.a, v.b)));
  tally.worst_w = std::max(tally.worst_w, dw);
  tally.far_w += dw <= kWeightBound ? 0 : 1;
}

// The nearest t at which any traversal must report a hit, and infinity where there is none. A ray that touches edges or
// vertices is moved by an infinitesimal, and what it touches is hit in any case where all triangles there are seen from
// the same side; elsewhere, at a silhouette, it may pass. What the ray starts on may be missed as well.
inline long double first_t(const Crossings& found, const Ray& ray) {
  long double first = std::numeric_limits<long double>::infinity();
  for (const Crossing& c : found.all) {
    if (c.t <= t_bound(ray, 0)) continue;
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
inline void look_at(const Triangles& mesh, const Crossings& found, const Ray& ray, const Hit& hit, long double first,
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
    const Corners v = corners(mesh, hit.triangle);
    const auto t = plane_t(v, ray);
    if (t && *t >= -t_bound(ray, 0) && near_miss(v, ray)) return;
    ++tally.stray;
    tally.wrong_side += std::isfinite(first) && hit.from_inside == 0 ? 1 : 0;
    return;
  }
  tally.wrong_side += (hit.from_inside != 0) == (own->facing > 0) ? 0 : 1;
  if (own->t - first > t_bound(ray, first)) ++tally.lost;
}

inline void compare(const Triangles& mesh, const Crossings& found, const Ray& ray, const Hit& hit, long double first,
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

inline std::map<std::string, Tracer> tracers() {
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

struct PlacementCase {
  std::string name;
  ShapePlacement placement;
};

inline std::vector<PlacementCase> few_placements() {
  return {{"aligned", {}}, {"turned", {1, {0, 0, 0}, 7}}, {"turned, far", {1, {2.4e4, -1e4, 3e3}, 8}}};
}

inline std::vector<PlacementCase> many_placements() {
  std::vector<PlacementCase> all = few_placements();
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

inline std::vector<Ray> inside_rays(const ClosedShape& shape, std::size_t count, std::uint32_t seed) {
  std::vector<Ray> rays;
  InsideRays random(shape, seed);
  for (std::size_t i = 0; i < count; ++i) rays.push_back(random(static_cast<Aim>(i % kAims)));
  return rays;
}

// From anywhere around a shape, and inside of it where there is room; half of them towards points of its edges.
inline std::vector<Ray> rays_around(const ClosedShape& shape, std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto vector = [&] {
    const double x = normal(random), y = normal(random), z = normal(random);
    return Vector3d(x, y, z);
  };
  const auto vertex = [&] { return to_double(shape.mesh.vertices[random() % shape.mesh.vertices.size()]); };
  double reach = 0;
  for (const Float3& v : shape.mesh.vertices) reach = std::max(reach, (to_double(v) - shape.center).norm());
  std::vector<Ray> rays(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Vector3d o =
        i % 3 == 0 ? Vector3d(vertex() + 0.01 * reach * vector()) : Vector3d(shape.center + reach * vector());
    Vector3d d = vector();
    if (i % 2 == 0) d = vertex() + (i % 4 == 0 ? 0.0 : 0.02 * normal(random)) * (vertex() - shape.center) - o;
    rays[i].origin = LocalPoint(to_float(o));
    rays[i].direction = to_float(d.normalized());
  }
  return rays;
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

}  // namespace raylift::test
