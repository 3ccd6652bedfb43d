// SPDX-License-Identifier: Apache-2.0
// No flag of Open CASCADE says whether a result is right (it takes open, empty and wrong ones for valid), so each is
// checked here, and the operation repeated with other tolerances until one passes.
#include "boolean.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include "box_grid.h"
#include "csg.h"
#include "disjoint_sets.h"
#include "import/gdml/shapes/closed_surface.h"
#include "import/gdml/shapes/double3.h"
#include "membership.h"
#include "occt_module.h"
#include "refine.h"

namespace raylift::gdml {
namespace boolean_detail {
namespace {

using Clock = std::chrono::steady_clock;

struct Scale {
  double size = 0;      // of the whole
  double smallest = 0;  // of all operands' features
};
Scale scale_of(const Csg& csg) {
  Scale scale{diagonal(csg.nodes[csg.root].bounds), std::numeric_limits<double>::infinity()};
  for (const std::uint32_t one : primitives(csg))
    scale.smallest = std::min(scale.smallest, smallest_feature(*csg.nodes[one].shape) *
                                                  std::cbrt(std::abs(determinant(csg.nodes[one].placed))));
  return scale;
}

/// The operands of a union that lie apart from each other: the roots of trees of their own among the nodes, which grow.
std::vector<std::uint32_t> components(Csg& csg) {
  if (csg.nodes[csg.root].kind != CsgKind::add) return {csg.root};
  const std::vector<std::uint32_t> children = csg.nodes[csg.root].children;
  DisjointSets groups(children.size());
  std::vector<std::uint32_t> order(children.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto box = [&](std::uint32_t one) -> const Bounds& { return csg.nodes[children[one]].bounds; };
  std::ranges::sort(order, {}, [&](std::uint32_t one) { return box(one).min.x; });
  for (std::size_t a = 0; a < order.size(); ++a)
    for (std::size_t b = a + 1; b < order.size() && box(order[b]).min.x <= box(order[a]).max.x + 1e-3; ++b)
      if (meet(box(order[a]), box(order[b]), 1e-3)) groups.join(order[a], order[b]);
  std::map<std::uint32_t, CsgNode> parts;
  for (std::uint32_t one = 0; one < children.size(); ++one) {
    CsgNode& part = parts[groups.find(one)];
    part.kind = CsgKind::add;
    part.children.push_back(children[one]);
    part.bounds.add(box(one));
  }
  std::vector<std::uint32_t> roots;
  for (auto& [first, part] : parts) {
    roots.push_back(part.children.size() == 1 ? part.children[0] : static_cast<std::uint32_t>(csg.nodes.size()));
    if (part.children.size() > 1) csg.nodes.push_back(std::move(part));
  }
  return roots;
}

/// What Open CASCADE is given at most; a few hundred take minutes.
constexpr std::size_t kMaxOperands = 1000;

/// Points in the box of the whole, and as many in those of the operands, so that small operands have some.
std::vector<Double3> points_of(const Csg& csg, std::size_t count) {
  std::mt19937_64 random(20'26);
  std::uniform_real_distribution<double> part(0, 1);
  std::vector<Double3> points;
  const Bounds& whole = csg.nodes[csg.root].bounds;
  const auto add = [&](Bounds box, std::size_t many) {
    for (int axis = 0; axis < 3; ++axis) {
      box.min[axis] = std::max(box.min[axis], whole.min[axis]);
      box.max[axis] = std::min(box.max[axis], whole.max[axis]);
    }
    if (box.empty()) return;
    for (std::size_t i = 0; i < many; ++i) {
      Double3 p;
      for (int axis = 0; axis < 3; ++axis) p[axis] = box.min[axis] + part(random) * (box.max[axis] - box.min[axis]);
      points.push_back(p);
    }
  };
  add(whole, count);
  const std::vector<std::uint32_t> all = primitives(csg);
  for (const std::uint32_t one : all) add(csg.nodes[one].bounds, std::max(count / all.size(), std::size_t{4}));
  return points;
}

bool leaves_nothing(const Csg& csg) {
  if (csg.nodes[csg.root].bounds.empty()) return true;
  const std::vector<Double3> points = points_of(csg, 20'000);
  return std::ranges::none_of(points, [&](const Double3& p) { return inside(csg, p); });
}

/// Points on both sides of some of the triangles.
void add_points_beside(const Surface& surface, double off, std::size_t count, std::vector<Double3>& points) {
  const std::size_t step = std::max(surface.triangles.size() / count, std::size_t{1});
  for (std::size_t i = 0; i < surface.triangles.size(); i += step) {
    const UInt3& t = surface.triangles[i];
    const Double3 &a = surface.vertices[t.x], &b = surface.vertices[t.y], &c = surface.vertices[t.z];
    const Double3 n = cross(minus(b, a), minus(c, a));
    const double size = length(n);
    if (size == 0) continue;
    for (const double by : {-off / size, off / size})
      points.emplace_back((a.x + b.x + c.x) / 3 + by * n.x, (a.y + b.y + c.y) / 3 + by * n.y,
                          (a.z + b.z + c.z) / 3 + by * n.z);
  }
}

/// Why the surface is not that of the tree; empty if nothing speaks against it.
std::string fault_of(const Surface& surface, const Csg& csg, double volume, double tolerance) {
  if (!closed(surface)) return "the surface is open";
  const double own = enclosed_volume(surface);
  if (!(own > 0) || std::abs(own - volume) > std::max(1e-2 * volume, 1.5 * tolerance * area(surface)))
    return "the triangles enclose " + std::to_string(own) + " mm3, the faces " + std::to_string(volume);
  const SurfaceMembership mesh(surface);
  std::vector<Double3> points = points_of(csg, 2000);
  add_points_beside(surface, 3 * tolerance, 1000, points);
  std::size_t wrong = 0;
  for (const Double3& p : points)
    if (mesh.winding(p) != (inside(csg, p) ? 1 : 0) && mesh.distance(p) > tolerance) ++wrong;
  if (wrong == 0) return {};
  return std::to_string(wrong) + " of " + std::to_string(points.size()) + " points lie on the wrong side of it";
}

/// How far the facets lie from the tree's solid, by its own inequalities. Farther than `limit` is not looked.
class Deviations {
 public:
  Deviations(const Surface& surface, const Csg& csg, double limit) : csg_(csg), limit_(limit) {
    using Edge = std::pair<std::uint32_t, std::uint32_t>;
    std::map<Edge, Eigen::Vector3d> seen;  // the normals of first facets
    for (const UInt3& t : surface.triangles) {
      const Eigen::Vector3d a = to_eigen(surface.vertices[t.x]), b = to_eigen(surface.vertices[t.y]),
                            c = to_eigen(surface.vertices[t.z]);
      const Eigen::Vector3d normal = (b - a).cross(c - a).normalized();
      if (!normal.allFinite()) continue;
      add((a + b + c) / 3, {normal});
      for (const auto& [i, k] : {Edge(t.x, t.y), Edge(t.y, t.z), Edge(t.z, t.x)}) {
        const auto other = seen.find({k, i});
        if (other == seen.end()) {
          seen.emplace(Edge(i, k), normal);
          continue;
        }
        add((to_eigen(surface.vertices[i]) + to_eigen(surface.vertices[k])) / 2, {normal, other->second});
        seen.erase(other);
      }
    }
  }

  /// Where a surface of second order passes through a facet's corners, it is no farther elsewhere than 9/8 of what it
  /// is at the middles of the facet and of its edges.
  [[nodiscard]] Mesh::Deviation most() const { return {9. / 8 * most_.outward, 9. / 8 * most_.inward}; }

 private:
  void add(const Eigen::Vector3d& point, std::initializer_list<Eigen::Vector3d> normals) {
    const bool within = has(point);
    // At a sharp edge, one of the faces is nearer.
    double nearest = std::numeric_limits<double>::infinity();
    for (const Eigen::Vector3d& normal : normals)
      nearest = std::min(nearest, distance(point, within ? normal : -normal, within));
    if (nearest > limit_) return;  // beside the face that goes on there: another facet's sample
    double& most = within ? most_.inward : most_.outward;
    most = std::max(most, nearest);
  }

  [[nodiscard]] bool has(const Eigen::Vector3d& point) const { return inside(csg_, {point.x(), point.y(), point.z()}); }

  /// To where `within` changes along the direction.
  [[nodiscard]] double distance(const Eigen::Vector3d& point, const Eigen::Vector3d& direction, bool within) const {
    const auto changed = [&](double at) { return has(point + at * direction) != within; };
    const double least = limit_ / 1024;
    if (changed(least)) return 0;
    double low = least, high = limit_ / 16;
    while (!changed(high)) {
      low = high;
      high *= 2;
      if (high > limit_) return std::numeric_limits<double>::infinity();
    }
    while (high - low > least) (changed((low + high) / 2) ? high : low) = (low + high) / 2;
    return high;
  }

  const Csg& csg_;
  double limit_;
  Mesh::Deviation most_;
};

/// What is tried, in order: the least change first. The last one moves surfaces, though by less than the chord.
constexpr std::array kLadder{occt::Options{1e-5, 0, 0, 0, false},      occt::Options{1e-5, 0, 0.6347, 0, false},
                             occt::Options{0, 0, 0, 0, false},         occt::Options{1e-5, 0, 0.6347, 0, true},
                             occt::Options{1e-4, 0, 0.2718, 0, false}, occt::Options{1e-5, 0, 0.6347, 2e-4, false}};

bool twisted(const Shape& shape) {
  return std::holds_alternative<TwistedBox>(shape) || std::holds_alternative<TwistedTrd>(shape) ||
         std::holds_alternative<TwistedTrap>(shape) || std::holds_alternative<TwistedTube>(shape);
}

class Attempts {
 public:
  Attempts(const Csg& csg, const Fineness& fineness, Clock::time_point end)
      : csg_(csg), end_(end), scale_(scale_of(csg)), cut_(cut_of(scale_.size, scale_.smallest, fineness)) {
    if (std::ranges::any_of(primitives(csg), [&](std::uint32_t one) { return twisted(*csg.nodes[one].shape); }))
      facets_ = std::max(cut_.meshing.deflection, 1e-3 * scale_.size);
  }

  /// The surface; none if none passes, and then fault() says why. Throws occt::OutOfTime.
  std::optional<Surface> run() {
    const double unit = std::min(1.0, 100 * scale_.smallest);  // micrometres are no tolerance for what is as small
    for (occt::Options options : kLadder) {
      options.fuzzy *= unit;
      options.grow *= unit;
      options.chord = facets_;
      options.end = end_;
      if (std::optional<Surface> surface = made(options)) return surface;
    }
    return std::nullopt;
  }

  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  /// The first reason stands for the tolerance that suits most solids.
  void note(const std::string& fault) {
    if (fault_.empty()) fault_ = fault;
  }

  std::optional<Surface> made(const occt::Options& options) {
    try {
      const std::unique_ptr<occt::Operation> operation = make_operation(csg_, options);
      const double volume = operation->volume(), area = operation->area();
      for (const double finer : {1.0, 0.2}) {
        const Cut cut{{finer * cut_.meshing.deflection, cut_.meshing.angle}, cut_.refine};
        if (std::optional<Surface> surface = meshed(*operation, cut, volume, area, options.fuzzy + options.grow))
          return surface;
      }
    } catch (const occt::OutOfTime&) {
      throw;
    } catch (const occt::Failure& failure) {
      note(failure.what());
    }
    return std::nullopt;
  }

  std::optional<Surface> meshed(occt::Operation& operation, const Cut& cut, double volume, double area,
                                double moved) try {
    auto [surface, meshing] = refined([&](const occt::Meshing& one) { return operation.mesh(one); }, cut, volume, area);
    merge_close(surface, 1e-9 * scale_.size);
    const double tolerance = 2 * meshing.deflection + facets_ + moved + 1e-9 * scale_.size;
    const std::string fault = fault_of(surface, csg_, volume, tolerance);
    if (fault.empty()) {
      surface.deviation = Deviations(surface, csg_, tolerance).most();
      separate(surface);
      return surface;
    }
    note(fault);
    return std::nullopt;
  } catch (const occt::Failure& failure) {
    note(failure.what());
    return std::nullopt;
  }

  const Csg& csg_;
  Clock::time_point end_;
  Scale scale_;
  Cut cut_;
  double facets_ = 0;  // how far the facets of twisted operands may lie from them
  std::string fault_;
};

class Solving {
 public:
  Solving(std::span<const Solid> solids, std::uint32_t index, const Fineness& fineness, const std::string& file,
          double seconds)
      : solids_(solids), index_(index), fineness_(fineness), file_(file), seconds_(seconds) {}

  Surface run() {
    Csg csg = flatten(solids_, index_, file_);
    prune(csg);
    const std::uint32_t root = csg.root;
    Surface whole;
    for (const std::uint32_t part : components(csg)) {
      csg.root = part;
      const Surface surface = solve(csg);
      const auto base = static_cast<std::uint32_t>(whole.vertices.size());
      whole.vertices.insert(whole.vertices.end(), surface.vertices.begin(), surface.vertices.end());
      for (const UInt3& t : surface.triangles) whole.triangles.push_back({base + t.x, base + t.y, base + t.z});
      whole.deviation = {std::max(whole.deviation.outward, surface.deviation.outward),
                         std::max(whole.deviation.inward, surface.deviation.inward)};
    }
    csg.root = root;
    if (whole.triangles.empty()) fail(ErrorKind::malformed, "the operation leaves nothing", csg);
    return whole;
  }

 private:
  [[noreturn]] void fail(ErrorKind kind, const std::string& problem, const Csg& csg,
                         const std::string& advice = {}) const {
    constexpr std::size_t kMax = 8;
    const std::vector<std::uint32_t> all = primitives(csg);
    std::string names;
    for (std::size_t i = 0; i < std::min(all.size(), kMax); ++i) {
      const Solid& operand = solids_[csg.nodes[all[i]].solid];
      names += (i == 0 ? "" : ", ") + operand.kind + " '" + operand.name + "'";
    }
    if (all.size() > kMax) names += " and " + std::to_string(all.size() - kMax) + " more";
    throw Error(kind, problem + "; its operands: " + names,
                {file_, solids_[index_].kind + " '" + solids_[index_].name + "'"}, advice);
  }

  /// Empty where a part of a union is.
  [[nodiscard]] Surface solve(const Csg& part) const {
    if (part.nodes[part.root].bounds.empty()) return {};
    const Scale scale = scale_of(part);
    if (std::optional<Surface> surface = box_grid(part, std::min(1e-5, 1e-3 * scale.smallest)))
      return std::move(*surface);
    return general(part);
  }

  [[nodiscard]] Surface general(const Csg& part) const {
    if (!has_booleans())
      fail(ErrorKind::unsupported, "the operation needs Open CASCADE: " + why_no_occt(), part,
           "install the package raylift-occt, or build raylift with RAYLIFT_OCCT=ON");
    if (primitives(part).size() > kMaxOperands)
      fail(ErrorKind::limit,
           "the solid has more than " + std::to_string(kMaxOperands) + " operands that are no boxes along the axes",
           part);
    Attempts attempts(part, fineness_, end_);
    try {
      if (std::optional<Surface> surface = attempts.run()) return std::move(*surface);
    } catch (const occt::OutOfTime&) {
      char limit[32];
      std::snprintf(limit, sizeof limit, "%g s", seconds_);
      fail(ErrorKind::limit,
           "the operation on " + std::to_string(primitives(part).size()) + " operands takes longer than " + limit +
               ", a quarter of the import's time",
           part, "raise it with LoadLimits::isolate_seconds, or go without the solid: LoadOptions::skip_failed_solids");
    }
    if (leaves_nothing(part)) return {};
    fail(ErrorKind::unsupported, "the operation can't be made: " + attempts.fault(), part,
         "check the operands' sizes and places");
  }

  std::span<const Solid> solids_;
  std::uint32_t index_;
  const Fineness& fineness_;
  const std::string& file_;
  double seconds_;
  Clock::time_point end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double>(std::min(seconds_, 1e6)));
};

}  // namespace
}  // namespace boolean_detail

bool has_booleans() {
  return why_no_occt().empty();
}

Surface tessellate_boolean(std::span<const Solid> solids, std::uint32_t index, const Fineness& fineness,
                           const std::string& file, double seconds) {
  return boolean_detail::Solving(solids, index, fineness, file, seconds).run();
}

}  // namespace raylift::gdml
