// SPDX-License-Identifier: Apache-2.0
// The deepest point of an overlap, by branch and bound over the surfaces' BVHs: the most promising part first.
#include <algorithm>
#include <queue>

#include "overlap_pair.h"

namespace raylift::overlap {
namespace {

/// The search stops when no point can be deeper than the best one by more than this share.
constexpr double kAccuracy = 0.01;

/// A box or a part of a facet, with a depth that no surface point in it exceeds.
struct Part {
  double at_most = kInfinity;
  std::uint32_t cell = kNone;  // kNone: a facet, or part of one
  Corners corners;
  std::uint32_t order = 0;  // for the same result each time

  bool operator<(const Part& other) const {
    return at_most != other.at_most ? at_most < other.at_most : order > other.order;
  }
};

class Search {
 public:
  Search(const PlacedMesh& mesh, const PlacedMesh& other, bool wrong_inside, double best, const Vector& place)
      : mesh_(mesh), other_(other), sign_(wrong_inside ? 1 : -1), best_(best), place_(place) {
    add_cell(0, kInfinity);
  }

  void run(std::size_t evaluations) {
    while (!parts_.empty() && evaluations_ < evaluations && parts_.top().at_most > (1 + kAccuracy) * best_) {
      const Part part = parts_.top();
      parts_.pop();
      if (part.cell == kNone)
        halve(part);
      else
        open(mesh_.tree().cells()[part.cell], part.at_most);
    }
  }

  [[nodiscard]] double at_most() const { return parts_.empty() ? best_ : std::max(best_, parts_.top().at_most); }
  [[nodiscard]] double best() const { return best_; }
  [[nodiscard]] const Vector& place() const { return place_; }

 private:
  /// Depth is a distance with a sign: between two points it changes by no more than they are apart.
  [[nodiscard]] double depth(const Vector& point, const Nearest& near) const {
    return (other_.inside(point) ? sign_ : -sign_) * near.distance;
  }

  void add(Part part) {
    if (part.at_most <= best_) return;
    part.order = order_++;
    parts_.push(part);
  }

  void add_cell(std::uint32_t index, double at_most) {
    const Cell& cell = mesh_.tree().cells()[index];
    const Vector middle = mesh_.place((cell.min() + cell.max()) / 2);
    const double radius = (mesh_.linear().cwiseAbs() * (cell.max() - cell.min()) / 2).norm();
    ++evaluations_;
    add({std::min(at_most, depth(middle, other_.nearest(middle)) + radius), index, {}});
  }

  void open(const Cell& cell, double at_most) {
    for (std::uint32_t i = cell.first; i != cell.first + cell.count; ++i)
      if (cell.leaf)
        add_facet(mesh_.corners(mesh_.tree().leaf_triangle(i)), at_most);
      else
        add_cell(i, at_most);
  }

  void add_facet(const Corners& corners, double at_most) {
    const Vector middle = (corners[0] + corners[1] + corners[2]) / 3;
    const auto farthest = [&](const auto& from) {
      return std::max({from(corners[0]), from(corners[1]), from(corners[2])});
    };
    const Nearest near = other_.nearest(middle);
    const double here = depth(middle, near);
    ++evaluations_;
    if (here > best_) {
      best_ = here;
      place_ = middle;
    }
    at_most = std::min(at_most, here + farthest([&](const Vector& corner) { return (corner - middle).norm(); }));
    // The distance to a facet is convex: in a triangle it is largest at a corner.
    const Corners facet = other_.corners(near.triangle);
    at_most = std::min(at_most, farthest([&](const Vector& corner) { return distance(corner, facet); }));
    add({at_most, kNone, corners});
  }

  /// At the middle of its longest edge.
  void halve(const Part& part) {
    const Corners& c = part.corners;
    std::size_t longest = 0;
    const auto length = [&](std::size_t k) { return (c[(k + 1) % 3] - c[k]).squaredNorm(); };
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}})
      if (length(k) > length(longest)) longest = k;
    const Vector& a = c[longest];
    const Vector& b = c[(longest + 1) % 3];
    const Vector& opposite = c[(longest + 2) % 3];
    const Vector middle = (a + b) / 2;
    look_at(middle);
    add_facet({a, middle, opposite}, part.at_most);
    add_facet({middle, b, opposite}, part.at_most);
  }

  void look_at(const Vector& point) {
    const double here = depth(point, other_.nearest(point));
    ++evaluations_;
    if (here <= best_) return;
    best_ = here;
    place_ = point;
  }

  const PlacedMesh& mesh_;
  const PlacedMesh& other_;
  double sign_;
  double best_;
  Vector place_;
  std::size_t evaluations_ = 0;
  std::uint32_t order_ = 0;
  std::priority_queue<Part> parts_;
};

}  // namespace

double measure_depth(const PlacedMesh& first, const PlacedMesh& second, Relation relation, std::size_t evaluations,
                     PairResult& result) {
  // Where surfaces coincide, no point of theirs is deep; and the depth of inner points is another matter.
  if (result.kind == Overlap::Kind::siblings_coincide) return result.depth;
  Search of_first(first, second, relation == Relation::siblings, result.depth, result.place);
  of_first.run(evaluations / 2);
  Search of_second(second, first, true, of_first.best(), of_first.place());
  of_second.run(evaluations / 2);
  result.depth = of_second.best();
  result.place = of_second.place();
  return std::max(of_first.at_most(), of_second.at_most());
}

}  // namespace raylift::overlap
