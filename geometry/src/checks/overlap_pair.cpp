// SPDX-License-Identifier: Apache-2.0
#include "overlap_pair.h"

#include <algorithm>

#include "disjoint_sets.h"
#include "overlap_contacts.h"

namespace raylift::overlap {
namespace {

/// The points of one solid's surface, classified against the other solid.
class Probe {
 public:
  /// `wrong_inside`: the surface must not lie inside `other`; else it must not lie outside.
  Probe(const PlacedMesh& mesh, const PlacedMesh& other, bool wrong_inside, double tolerance)
      : mesh_(mesh), other_(other), wrong_inside_(wrong_inside), tolerance_(tolerance) {}

  void look_at(const EdgeContacts& contacts) {
    if (contacts.empty()) return look_at_shells();
    look_at_untouched_parts(contacts.touched);
    auto cut = contacts.cuts.begin();
    for (std::uint32_t edge = 0; edge != contacts.touched.size(); ++edge) {
      if (!contacts.touched[edge]) continue;
      const auto [from, to] = mesh_.tree().edges()[edge];
      const Vector p = mesh_.vertex(from);
      const Vector q = mesh_.vertex(to);
      look_at_near(p);
      look_at_near(q);
      Vector last = p;
      for (; cut != contacts.cuts.end() && cut->edge == edge; ++cut) {
        const Vector next = p + cut->at * (q - p);
        look_at_piece(last, next);
        last = next;
      }
      look_at_piece(last, q);
    }
  }

  [[nodiscard]] bool any_wrong() const { return deepest_ > 0; }
  [[nodiscard]] bool any_right() const { return any_right_; }
  [[nodiscard]] bool undecided() const { return undecided_; }
  [[nodiscard]] double deepest() const { return deepest_; }
  [[nodiscard]] const Vector& place() const { return place_; }

 private:
  /// The surface comes nowhere near the other one, so one vertex of each piece is enough.
  void look_at_shells() {
    for (const std::uint32_t vertex : mesh_.tree().shells()) look_at_far(mesh_.vertex(vertex));
  }

  /// What hangs together by edges that come near to no facet lies on one side.
  void look_at_untouched_parts(const std::vector<bool>& touched) {
    const MeshTree& tree = mesh_.tree();
    DisjointSets parts(tree.vertex_count());
    std::vector<bool> used(tree.vertex_count());
    for (std::size_t i = 0; i != touched.size(); ++i) {
      const auto [a, b] = tree.edges()[i];
      if (touched[i]) continue;
      parts.join(a, b);
      used[a] = used[b] = true;
    }
    for (std::uint32_t i = 0; i != tree.vertex_count(); ++i)
      if (used[i] && parts.find(i) == i) look_at_near(mesh_.vertex(i));
  }

  void look_at_far(const Vector& point) {
    if (other_.inside(point) != wrong_inside_)
      any_right_ = true;
    else
      keep(point, other_.nearest(point).distance);
  }

  /// The triangle within the tolerance, if there is one; otherwise the point's side counts.
  Nearest look_at_near(const Vector& point) {
    const Nearest near = other_.nearest(point, tolerance_);
    if (near.triangle == kNone) look_at_far(point);
    return near;
  }

  /// A piece of an edge that goes through no facet. If its middle lies off the surface, all of it is on that side.
  /// Else it is halved until it lies within twice the tolerance of one facet, as both its ends do.
  void look_at_piece(const Vector& from, const Vector& to) {
    constexpr int kMaxSteps = 4096;
    std::vector<std::pair<Vector, Vector>> open{{from, to}};
    for (int step = 0; !open.empty(); ++step) {
      const auto [a, b] = open.back();
      open.pop_back();
      if ((b - a).norm() <= tolerance_) continue;
      const Vector middle = (a + b) / 2;
      const Nearest near = look_at_near(middle);
      if (near.triangle == kNone) continue;
      const Corners facet = other_.corners(near.triangle);
      if (distance(a, facet) <= 2 * tolerance_ && distance(b, facet) <= 2 * tolerance_) continue;
      if (step == kMaxSteps) {
        undecided_ = true;
        return;
      }
      open.emplace_back(middle, b);
      open.emplace_back(a, middle);
    }
  }

  void keep(const Vector& point, double depth) {
    if (depth <= tolerance_ || depth <= deepest_) return;
    deepest_ = depth;
    place_ = point;
  }

  const PlacedMesh& mesh_;
  const PlacedMesh& other_;
  bool wrong_inside_;
  double tolerance_;
  double deepest_ = 0;
  Vector place_ = Vector::Zero();
  bool any_right_ = false;
  bool undecided_ = false;
};

/// The surfaces lie on the right side, but the insides do not: a piece of both is the same, or one fills a hollow.
void look_inside(const PlacedMesh& mesh, const PlacedMesh& other, bool wrong_inside, double tolerance,
                 PairResult& result) {
  for (const Vector& in_mesh : mesh.tree().inner_points()) {
    const Vector point = mesh.place(in_mesh);
    if (other.inside(point) != wrong_inside) continue;
    const double depth = std::min(mesh.nearest(point).distance, other.nearest(point).distance);
    if (depth <= tolerance || depth <= result.depth) continue;
    result.overlaps = result.coincide = true;
    result.depth = depth;
    result.place = point;
  }
}

/// From what was found of both surfaces.
void name_overlap(const Probe& first, const Probe& second, Relation relation, PairResult& result) {
  result.overlaps = true;
  const bool second_deeper = second.deepest() > first.deepest();
  result.depth = second_deeper ? second.deepest() : first.deepest();
  result.place = second_deeper ? second.place() : first.place();
  const bool first_wholly = first.any_wrong() && !first.any_right() && !second.any_wrong();
  const bool second_wholly = second.any_wrong() && !second.any_right() && !first.any_wrong();
  if (relation == Relation::daughter_and_mother) {
    result.kind = first_wholly ? Overlap::Kind::outside_mother : Overlap::Kind::crosses_mother;
  } else {
    result.kind = first_wholly || second_wholly ? Overlap::Kind::contains_sibling : Overlap::Kind::siblings_cross;
    result.swapped = first_wholly;
  }
}

}  // namespace

PairResult test_pair(const PlacedMesh& first, const PlacedMesh& second, Relation relation, double tolerance) {
  const bool siblings = relation == Relation::siblings;
  const Contacts contacts = find_contacts(first, second, tolerance);
  Probe of_first(first, second, siblings, tolerance);
  Probe of_second(second, first, true, tolerance);
  of_first.look_at(contacts.first);
  of_second.look_at(contacts.second);

  PairResult result;
  if (of_first.any_wrong() || of_second.any_wrong()) {
    name_overlap(of_first, of_second, relation, result);
    return result;
  }
  if (contacts.empty()) return result;
  result.kind = siblings ? Overlap::Kind::siblings_coincide : Overlap::Kind::outside_mother;
  look_inside(first, second, siblings, tolerance, result);
  if (siblings) look_inside(second, first, true, tolerance, result);
  result.touches = !result.overlaps;
  result.undecided = result.touches && (of_first.undecided() || of_second.undecided());
  return result;
}

}  // namespace raylift::overlap
