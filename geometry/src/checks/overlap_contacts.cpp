// SPDX-License-Identifier: Apache-2.0
#include "overlap_contacts.h"

#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <optional>

namespace raylift::overlap {
namespace {

/// A facet with its plane, where it has one that rounding leaves usable.
struct Facet {
  std::uint32_t triangle = 0;
  Corners corners;
  Bounds box;
  std::optional<Vector> normal;

  Facet(const PlacedMesh& mesh, std::uint32_t index) : triangle(index), corners(mesh.corners(index)) {
    for (const Vector& corner : corners) box.add(corner);
    const Vector cross = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
    const double length = cross.norm();
    if (length > 1e-7 * to_eigen(box.size()).squaredNorm()) normal = cross / length;
  }

  [[nodiscard]] double above(const Vector& point) const { return normal->dot(point - corners[0]); }
  /// All of the other facet lies on one side of this one's plane, and farther from it than the tolerance.
  [[nodiscard]] bool parts_from(const Facet& other, double tolerance) const {
    if (!normal) return false;
    const double a = above(other.corners[0]);
    const double b = above(other.corners[1]);
    const double c = above(other.corners[2]);
    return std::min({a, b, c}) > tolerance || std::max({a, b, c}) < -tolerance;
  }
};

bool apart(const Bounds& a, const Bounds& b, double tolerance) {
  const auto beyond = [tolerance](const Double3& low, const Double3& high) {
    return low.x > high.x + tolerance || low.y > high.y + tolerance || low.z > high.z + tolerance;
  };
  return beyond(a.min, b.max) || beyond(b.min, a.max);
}

/// Where on the line from p to q (0 to 1) the segment from r to s is nearest; nothing where they are parallel.
std::optional<double> nearest_on(const Vector& p, const Vector& q, const Vector& r, const Vector& s) {
  const Vector u = q - p;
  const Vector v = s - r;
  const Vector w = p - r;
  const double uu = u.squaredNorm();
  const double uv = u.dot(v);
  const double vv = v.squaredNorm();
  const double area = uu * vv - uv * uv;
  if (area <= 1e-14 * uu * vv) return std::nullopt;
  return std::clamp((uv * v.dot(w) - vv * u.dot(w)) / area, 0.0, 1.0);
}

class Finder {
 public:
  Finder(const PlacedMesh& first, const PlacedMesh& second, double tolerance)
      : first_(first),
        second_(second),
        tolerance_(tolerance),
        linear_(second.linear().inverse() * first.linear()),
        shift_(second.to_mesh(first.place(Vector::Zero()))),
        margin_(tolerance / second.least_scale()) {}

  Contacts find() {
    walk();
    for (std::vector<Cut>* cuts : {&contacts_.first.cuts, &contacts_.second.cuts}) {
      std::sort(cuts->begin(), cuts->end());
      cuts->erase(std::unique(cuts->begin(), cuts->end()), cuts->end());
    }
    return std::move(contacts_);
  }

 private:
  /// Boxes of the first one's BVH are taken into the second one's frame.
  [[nodiscard]] bool apart_cells(const Cell& first, const Cell& second) const {
    const Vector middle = linear_ * ((first.min() + first.max()) / 2) + shift_;
    const Vector half = linear_.cwiseAbs() * ((first.max() - first.min()) / 2);
    return ((middle - half).array() > second.max().array() + margin_).any() ||
           ((middle + half).array() < second.min().array() - margin_).any();
  }

  void walk() {
    const std::vector<Cell>& ones = first_.tree().cells();
    const std::vector<Cell>& others = second_.tree().cells();
    const auto size = [](const Cell& cell, double scale) { return scale * (cell.max() - cell.min()).norm(); };
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{0, 0}};
    while (!open.empty()) {
      const auto [i, k] = open.back();
      open.pop_back();
      const Cell& one = ones[i];
      const Cell& other = others[k];
      if (apart_cells(one, other)) continue;
      if (one.leaf && other.leaf) {
        look_at(one, other);
      } else if (other.leaf || (!one.leaf && size(one, first_.least_scale()) > size(other, second_.least_scale()))) {
        for (std::uint32_t child = one.first; child != one.first + one.count; ++child) open.emplace_back(child, k);
      } else {
        for (std::uint32_t child = other.first; child != other.first + other.count; ++child)
          open.emplace_back(i, child);
      }
    }
  }

  void look_at(const Cell& one, const Cell& other) {
    others_.clear();
    for (std::uint32_t k = other.first; k != other.first + other.count; ++k)
      others_.emplace_back(second_, second_.tree().leaf_triangle(k));
    for (std::uint32_t i = one.first; i != one.first + one.count; ++i) {
      const Facet a(first_, first_.tree().leaf_triangle(i));
      for (const Facet& b : others_) {
        if (apart(a.box, b.box, tolerance_) || a.parts_from(b, tolerance_) || b.parts_from(a, tolerance_)) continue;
        cut_edges(first_, a, b, contacts_.first);
        cut_edges(second_, b, a, contacts_.second);
      }
    }
  }

  void cut_edges(const PlacedMesh& mesh, const Facet& facet, const Facet& other, EdgeContacts& contacts) const {
    for (const std::uint32_t edge : mesh.tree().edges_of(facet.triangle)) {
      if (edge == kNone) continue;
      const auto [from, to] = mesh.tree().edges()[edge];
      if (!cut_edge(edge, mesh.vertex(from), mesh.vertex(to), other, contacts.cuts)) continue;
      if (contacts.touched.empty()) contacts.touched.resize(mesh.tree().edges().size());
      contacts.touched[edge] = true;
    }
  }

  /// Adds the cuts; false if the edge comes nowhere near the facet.
  bool cut_edge(std::uint32_t edge, const Vector& p, const Vector& q, const Facet& other,
                std::vector<Cut>& cuts) const {
    const double reach = 2 * tolerance_;
    const double length = (q - p).norm();
    if (!(length > 0)) return false;
    bool near = distance(p, other.corners) <= reach || distance(q, other.corners) <= reach;
    const auto cut = [&](double at) {
      near = true;
      // At the ends, pieces end anyway.
      if (at * length > tolerance_ && (1 - at) * length > tolerance_) cuts.push_back({edge, at});
    };
    if (other.normal) {
      const double a = other.above(p);
      const double b = other.above(q);
      if ((a < 0 && b > 0) || (a > 0 && b < 0)) {
        const double at = a / (a - b);
        if (distance(p + at * (q - p), other.corners) <= reach) cut(at);
      }
    }
    for (std::size_t k = 0; k != 3; ++k) {
      const Vector& r = other.corners[k];
      const Vector& s = other.corners[(k + 1) % 3];
      const std::optional<double> at = nearest_on(p, q, r, s);
      if (at && distance(p + *at * (q - p), r, s) <= reach) cut(*at);
      // The ends of edges that run along each other.
      if (distance(r, p, q) <= reach) cut(std::clamp((r - p).dot(q - p) / (length * length), 0.0, 1.0));
    }
    return near;
  }

  const PlacedMesh& first_;
  const PlacedMesh& second_;
  double tolerance_;
  Eigen::Matrix3d linear_;
  Vector shift_;
  double margin_;
  std::vector<Facet> others_;  // of a leaf
  Contacts contacts_;
};

}  // namespace

Contacts find_contacts(const PlacedMesh& first, const PlacedMesh& second, double tolerance) {
  return Finder(first, second, tolerance).find();
}

}  // namespace raylift::overlap
