// SPDX-License-Identifier: Apache-2.0
#include "mesh_thickness.h"

#include <raylift/geometry/resolution.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "base/for_all.h"
#include "triangle_tree.h"

namespace raylift::thickness {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFacing = 0.86602540378443865;  // the cosine of 30 degrees
/// With so few rays, a mesh is prepared in little time too: triangles are neither sorted nor weighted by area.
constexpr std::uint64_t kFewRays = 16;
constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();

/// Points of each triangle that rays start from before any random ones: its middle, and one near each corner, since the
/// distance of two planes is least at the corners of what they share. The nearness keeps the ray off the edges.
using Weights = std::array<double, 3>;
constexpr double kNear = 0.98;
constexpr std::array<Weights, 4> kPoints{Weights{1. / 3, 1. / 3, 1. / 3}, Weights{kNear, 0.013, 0.007},
                                         Weights{0.007, kNear, 0.013}, Weights{0.013, 0.007, kNear}};

/// A number from 0 to below 1 for each ray and purpose: the mixer of Steele, Lea and Flood, "Fast Splittable
/// Pseudorandom Number Generators" (2014).
double random(std::uint64_t ray, std::uint64_t purpose) {
  std::uint64_t z = (4 * ray + purpose + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
  return static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53;
}

/// The end of a ray: in front of which face, and where on it.
struct End {
  double distance = kInfinity;
  std::uint32_t triangle = 0;
  Weights weights{};
};

/// The best of what rays found, the same in any order.
struct Found {
  Sample thinnest;
  Sample coarsest;
  Sample widest_joined;  // of pairs of faces with a corner in common

  void add(const Sample& sample, bool joined) {
    if (joined) {
      if (!widest_joined.found() ||
          std::pair(-sample.thickness, sample.ray) < std::pair(-widest_joined.thickness, widest_joined.ray))
        widest_joined = sample;
      return;
    }
    if (std::pair(sample.thickness, sample.ray) < std::pair(thinnest.thickness, thinnest.ray)) thinnest = sample;
    if (sample.file_step > 0 && std::pair(sample.steps(), sample.ray) < std::pair(coarsest.steps(), coarsest.ray))
      coarsest = sample;
  }
  void add(const Found& other) {
    if (other.thinnest.found()) add(other.thinnest, false);
    if (other.coarsest.found()) add(other.coarsest, false);
    if (other.widest_joined.found()) add(other.widest_joined, true);
  }
};

class Caster {
 public:
  Caster(const Shape& shape, std::uint64_t rays)
      : shape_(shape),
        triangles_(shape.triangles),
        placed_(place(shape)),
        tree_(points(), triangles_, rays > kFewRays ? TriangleTree::Order::by_place : TriangleTree::Order::as_given),
        regular_(rays > kFewRays ? std::min<std::uint64_t>(kPoints.size() * triangles_.size(), rays / 2) : rays) {
    floats_ = std::all_of(shape.vertices.begin(), shape.vertices.end(), [](const Vector& v) {
      const auto is_float = [](double c) { return static_cast<double>(static_cast<float>(c)) == c; };
      return is_float(v.x()) && is_float(v.y()) && is_float(v.z());
    });
    if (regular_ == rays) return;
    areas_.resize(triangles_.size());
    constexpr std::size_t kFew = 4096;
    base::for_all(areas_.size(), kFew, [&](std::size_t i) {
      const double area = across(static_cast<std::uint32_t>(i)).norm();
      areas_[i] = std::isfinite(area) ? area : 0;
    });
    double sum = 0;
    for (double& area : areas_) area = sum += area;
  }

  /// Adds what the ray of this number finds.
  void cast(std::uint64_t ray, Found& found) const {
    const auto [triangle, weights] = start(ray);
    const Vector normal = across(triangle);
    const double length = normal.norm();
    if (!(length > 0) || !std::isfinite(length)) return;
    const Vector inward = -normal / length;
    const Vector origin = point(points(), triangle, weights);
    const End end = nearest(origin, inward);
    if (end.distance == kInfinity) return;
    const Vector other = across(end.triangle).normalized();
    if (!(other.dot(inward) >= kFacing)) return;
    Sample sample;
    sample.thickness = std::max(end.distance, 0.0);
    sample.ray = ray;
    sample.place = point(shape_.vertices, triangle, weights);
    if (floats_)
      sample.file_step = std::max(file_step(inward, sample.place),
                                  file_step(other, point(shape_.vertices, end.triangle, end.weights)));
    found.add(sample, joined(triangle, end.triangle));
  }

 private:
  static std::vector<Vector> place(const Shape& shape) {
    std::vector<Vector> placed;
    if (shape.linear == Eigen::Matrix3d::Identity()) return placed;
    placed.resize(shape.vertices.size());
    std::transform(shape.vertices.begin(), shape.vertices.end(), placed.begin(),
                   [&](const Vector& v) -> Vector { return shape.linear * v; });
    return placed;
  }
  [[nodiscard]] const std::vector<Vector>& points() const { return placed_.empty() ? shape_.vertices : placed_; }
  [[nodiscard]] std::array<std::uint32_t, 3> corners(std::uint32_t triangle) const {
    const UInt3& t = triangles_[triangle];
    return {t.x, t.y, t.z};
  }
  /// Whether two triangles have a corner at the same place.
  [[nodiscard]] bool joined(std::uint32_t a, std::uint32_t b) const {
    for (const std::uint32_t i : corners(a))
      for (const std::uint32_t k : corners(b))
        if (i == k || shape_.vertices[i] == shape_.vertices[k]) return true;
    return false;
  }
  /// Twice the area, along the normal.
  [[nodiscard]] Vector across(std::uint32_t triangle) const {
    const std::vector<Vector>& all = points();
    const UInt3& t = triangles_[triangle];
    return (all[t.y] - all[t.x]).cross(all[t.z] - all[t.x]);
  }
  [[nodiscard]] Vector point(const std::vector<Vector>& of, std::uint32_t triangle, const Weights& weights) const {
    const UInt3& t = triangles_[triangle];
    return of[t.x] + (weights[1] * (of[t.y] - of[t.x]) + weights[2] * (of[t.z] - of[t.x]));
  }

  /// By how much a face with this unit normal may be off, if the coordinates of its mesh were rounded to floats.
  [[nodiscard]] double file_step(const Vector& normal, const Vector& in_mesh) const {
    return kFloatStep * (shape_.linear.transpose() * normal).cwiseAbs().dot(in_mesh.cwiseAbs());
  }

  /// Regular points first: all of them, or some of each stretch of triangles. Then random ones.
  [[nodiscard]] std::pair<std::uint32_t, Weights> start(std::uint64_t ray) const {
    const std::size_t count = triangles_.size();
    const double first = random(ray, 0), second = random(ray, 1);
    if (ray < regular_) {
      if (regular_ == kPoints.size() * count)
        return {static_cast<std::uint32_t>(ray / kPoints.size()), kPoints[ray % kPoints.size()]};
      const double stretch = static_cast<double>(count) / static_cast<double>(regular_);
      const auto triangle = static_cast<std::size_t>((static_cast<double>(ray) + first) * stretch);
      return {static_cast<std::uint32_t>(std::min(triangle, count - 1)),
              kPoints[static_cast<std::size_t>(second * static_cast<double>(kPoints.size()))]};
    }
    const auto found = std::upper_bound(areas_.begin(), areas_.end(), random(ray, 2) * areas_.back());
    const auto triangle = static_cast<std::size_t>(found - areas_.begin());
    const double root = std::sqrt(first);
    return {static_cast<std::uint32_t>(std::min(triangle, count - 1)), {1 - root, root * (1 - second), root * second}};
  }

  /// The nearest face that the ray meets from inside. It meets the one that it starts on from outside.
  [[nodiscard]] End nearest(const Vector& origin, const Vector& direction) const {
    End end;
    const std::vector<Vector>& all = points();
    // Corners are seen along the ray, so that their coordinates across it are small near the hit, and exact enough.
    int least = 0;
    direction.cwiseAbs().minCoeff(&least);
    const Vector beside = direction.cross(Vector::Unit(least)).normalized();
    // Plain numbers, as in TriangleTree.
    const Double3 from = origin, right = beside, up = direction.cross(beside).eval(), along = direction;
    // The start was rounded. A face that coincides with the first one may lie behind it.
    const double behind = -kRounding * tree_.reach();
    tree_.walk(origin, direction, behind, [&](std::uint32_t i) {
      std::array<double, 3> x, y, z;
      const std::array<std::uint32_t, 3> corner = corners(i);
      for (std::size_t k = 0; k != 3; ++k) {
        const double* const of = all[corner[k]].data();
        const double to_x = of[0] - from.x, to_y = of[1] - from.y, to_z = of[2] - from.z;
        x[k] = to_x * right.x + to_y * right.y + to_z * right.z;
        y[k] = to_x * up.x + to_y * up.y + to_z * up.z;
        z[k] = to_x * along.x + to_y * along.y + to_z * along.z;
      }
      Weights weights;
      double sum = 0;
      for (std::size_t k = 0; k != 3; ++k) {
        const std::size_t b = (k + 1) % 3, c = (k + 2) % 3;
        weights[k] = x[b] * y[c] - y[b] * x[c];
        // A ray along an edge meets both of its faces rather than none.
        if (!(weights[k] >= -kRounding * (std::abs(x[b] * y[c]) + std::abs(y[b] * x[c])))) return end.distance;
        weights[k] = std::max(weights[k], 0.0);
        sum += weights[k];
      }
      if (!(sum > 0)) return end.distance;  // seen from its edge, or without area
      double distance = 0;
      for (std::size_t k = 0; k != 3; ++k) distance += (weights[k] /= sum) * z[k];
      // Faces may be at one distance. Then the first in the file counts, whatever order the boxes have.
      if (distance >= behind && (distance < end.distance || (distance == end.distance && i < end.triangle)))
        end = {distance, i, weights};
      return end.distance;
    });
    return end;
  }

  const Shape& shape_;
  std::span<const UInt3> triangles_;
  std::vector<Vector> placed_;  // empty where the mesh's own vertices will do
  TriangleTree tree_;
  std::vector<double> areas_;  // twice those of all triangles up to each
  std::uint64_t regular_;
  bool floats_ = false;
};

}  // namespace

std::uint64_t useful_rays(std::size_t triangles) {
  return triangles == 0 ? 0 : 2 * kPoints.size() * triangles + 256;
}

MeshThickness measure(const Shape& shape, std::uint64_t rays) {
  if (shape.triangles.empty()) return {};
  const Caster caster(shape, rays);
  constexpr std::uint64_t kFew = 64;
  Found found = tbb::parallel_reduce(
      tbb::blocked_range<std::uint64_t>(0, rays, kFew), Found{},
      [&](const auto& range, Found some) {
        for (std::uint64_t ray = range.begin(); ray != range.end(); ++ray) caster.cast(ray, some);
        return some;
      },
      [](Found some, const Found& others) {
        some.add(others);
        return some;
      });
  if (!found.thinnest.found() && found.widest_joined.found()) found.add(found.widest_joined, false);
  return {found.thinnest, found.coarsest, rays};
}

}  // namespace raylift::thickness
