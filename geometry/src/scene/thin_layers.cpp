// SPDX-License-Identifier: Apache-2.0
#include "thin_layers.h"

#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/flatten.h>
#include <raylift/geometry/scene/solids.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace raylift {
namespace {

/// Sums over triangles: six times the volume, and twice the surface.
struct Extent {
  double volume = 0, surface = 0;

  friend Extent operator+(const Extent& a, const Extent& b) { return {a.volume + b.volume, a.surface + b.surface}; }
};

struct MeshExtent {
  Bounds bounds;
  double thickness = 0;
};

MeshExtent extent_of(const Mesh& mesh) {
  MeshExtent result;
  result.bounds = mesh_bounds(mesh);
  if (mesh.triangles.empty() || result.bounds.empty()) return result;
  const Eigen::Vector3d middle = to_eigen(result.bounds.center());
  const auto vertex = [&](std::uint32_t i) -> Eigen::Vector3d {
    const Eigen::Vector3d rest = mesh.rests.empty() ? Eigen::Vector3d::Zero() : to_eigen(mesh.rests[i]);
    return to_eigen(mesh.vertices[i]) - middle + rest;
  };
  const Extent sums = tbb::parallel_deterministic_reduce(
      tbb::blocked_range<std::size_t>(0, mesh.triangles.size(), 4096), Extent{},
      [&](const tbb::blocked_range<std::size_t>& range, Extent sum) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          const UInt3 t = mesh.triangles[i];
          const Eigen::Vector3d a = vertex(t.x), b = vertex(t.y), c = vertex(t.z);
          sum.volume += a.dot(b.cross(c));
          sum.surface += (b - a).cross(c - a).norm();
        }
        return sum;
      },
      std::plus<>());
  if (sums.surface > 0) result.thickness = 2 * (std::abs(sums.volume) / 6) / (sums.surface / 2);
  return result;
}

/// What a transform shrinks lengths by at most.
double least_scale(const Transform& transform) {
  const EigenTransform in = to_eigen(transform);
  if (!(std::abs(in.linear().determinant()) > 0)) return 0;
  // The norm of the inverse of a scaled rotation is the root of 3 by the scale.
  return std::sqrt(3.0) / in.linear().inverse().norm();
}

/// The box of a daughter in the frame of its mother, of the boxes of their meshes; empty where it is turned against it.
Bounds box_in_mother(const Instance& mother, const Instance& daughter, const Bounds& box) {
  const EigenTransform in_mother = to_eigen(mother.transform).inverse() * to_eigen(daughter.transform);
  if (!in_mother.linear().isIdentity(1e-9)) return {};
  const Eigen::Vector3d by = in_mother.translation();
  return {to_eigen(box.min) + by, to_eigen(box.max) + by};
}

/// Whether the box of a daughter lies within that of its mother on a side by less than `thickness`, and by more than
/// what is likely where both are flush and rounded to floats.
bool is_coat(const Bounds& mother, const Bounds& daughter, double thickness) {
  for (int axis = 0; axis != 3; ++axis) {
    const double reach = std::max(std::abs(mother.min[axis]), std::abs(mother.max[axis]));
    for (const double apart : {daughter.min[axis] - mother.min[axis], mother.max[axis] - daughter.max[axis]})
      if (apart > 0x1p-24 * reach && apart < thickness) return true;
  }
  return false;
}

/// The bounds of the part of the mesh within `depth` of its box's upper or lower side on an axis.
Bounds part_at_side(const Mesh& mesh, const Bounds& box, int axis, bool upper, double depth) {
  const double side = upper ? box.max[axis] : box.min[axis];
  const auto beyond = [&](const Eigen::Vector3d& p) { return depth - std::abs(side - p[axis]); };
  Bounds bounds;
  for (const UInt3 t : mesh.triangles) {
    const Eigen::Vector3d corners[3] = {to_eigen(mesh.vertices[t.x]), to_eigen(mesh.vertices[t.y]),
                                        to_eigen(mesh.vertices[t.z])};
    for (int i = 0; i != 3; ++i) {
      const Eigen::Vector3d &p = corners[i], &q = corners[(i + 1) % 3];
      const double of_p = beyond(p), of_q = beyond(q);
      if (of_p >= 0) bounds.add(Double3(p));
      if ((of_p < 0) != (of_q < 0)) bounds.add(Double3(p + (q - p) * (of_p / (of_p - of_q))));
    }
  }
  return bounds;
}

/// The bounds of a mesh's parts at all six sides of its box. Each is computed when it is first asked for.
class SidesOfMesh {
 public:
  SidesOfMesh(const Mesh& mesh, const Bounds& box, double depth) : mesh_(mesh), box_(box), depth_(depth) {}
  const Bounds& at(int axis, bool upper) {
    std::optional<Bounds>& side = sides_[2 * axis + (upper ? 1 : 0)];
    if (!side) side = part_at_side(mesh_, box_, axis, upper, depth_);
    return *side;
  }

 private:
  const Mesh& mesh_;
  Bounds box_;
  double depth_;
  std::optional<Bounds> sides_[6];
};

/// A daughter in the frame of its mother, against which it is not turned.
struct Placed {
  Bounds box;
  Eigen::Vector3d place;
  std::uint32_t mesh;
};

/// Sides by mesh and depth. Mothers of one scale share them.
using Sides = std::map<std::pair<std::uint32_t, double>, SidesOfMesh>;

/// Whether two of the daughters face each other across a gap of less than `thickness`, and of more than what six digits
/// leave between solids in touch: many files state places to so many. Only the parts within `thickness` of the sides of
/// their boxes can face each other: of a ball, a small part. sides_of(daughter) has them.
template <class SidesOf>
bool has_thin_gap(std::vector<Placed> daughters, double thickness, const SidesOf& sides_of) {
  constexpr double kSixDigits = 1e-6;
  constexpr int kMaxNeighbours = 1000;  // of a box; where more lie beside it, a gap is taken for granted
  const auto overlap = [](const Bounds& a, const Bounds& b, const Eigen::Vector3d& apart, int axis) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    return a.min[u] < b.max[u] + apart[u] && b.min[u] + apart[u] < a.max[u] && a.min[v] < b.max[v] + apart[v] &&
           b.min[v] + apart[v] < a.max[v];
  };
  for (int axis = 0; axis != 3; ++axis) {
    const auto before = [axis](const Placed& a, const Placed& b) { return a.box.min[axis] < b.box.min[axis]; };
    std::sort(daughters.begin(), daughters.end(), before);
    for (const Placed& one : daughters) {
      const double end = one.box.max[axis], least = kSixDigits * std::abs(end);
      const auto starts_below = [axis](const Placed& other, double at) { return other.box.min[axis] <= at; };
      auto other = std::lower_bound(daughters.begin(), daughters.end(), end + least, starts_below);
      for (int i = 0; other != daughters.end() && other->box.min[axis] < end + thickness; ++i, ++other) {
        if (i == kMaxNeighbours) return true;
        if (overlap(one.box, other->box, Eigen::Vector3d::Zero(), axis) &&
            overlap(sides_of(one).at(axis, true), sides_of(*other).at(axis, false), other->place - one.place, axis))
          return true;
      }
    }
  }
  return false;
}

}  // namespace

bool has_thin_layers(const Scene& scene, const std::optional<Double3>& origin) {
  const Bounds bounds = scene.bounds.empty() ? world_bounds(scene) : scene.bounds;
  if (bounds.empty()) return false;
  const Eigen::Vector3d from = to_eigen(origin ? *origin : default_origin(bounds));
  const Eigen::Vector3d low = to_eigen(bounds.min) - from, high = to_eigen(bounds.max) - from;
  const double thickness = kThinLayer * std::max(low.cwiseAbs().maxCoeff(), high.cwiseAbs().maxCoeff());
  std::vector<MeshExtent> meshes(scene.meshes.size());
  tbb::parallel_for(std::size_t{0}, meshes.size(), [&](std::size_t i) { meshes[i] = extent_of(scene.meshes[i]); });
  const SolidTree tree = solid_tree(scene);
  std::vector<Bounds> in_mother(scene.instances.size());
  for (std::size_t i = 0; i != scene.instances.size(); ++i) {
    const Instance& solid = scene.instances[i];
    const MeshExtent& own = meshes[solid.mesh];
    if (own.bounds.empty()) continue;
    const double scale = least_scale(solid.transform);
    if (own.thickness * scale < thickness && scale > 0) return true;
    if (tree.mother[i] == kNone || !(scale > 0)) continue;
    const Instance& mother = scene.instances[tree.mother[i]];
    const double mothers = least_scale(mother.transform);
    if (!(mothers > 0)) continue;
    in_mother[i] = box_in_mother(mother, solid, own.bounds);
    if (!in_mother[i].empty() && is_coat(meshes[mother.mesh].bounds, in_mother[i], thickness / mothers)) return true;
  }
  Sides sides;
  for (std::uint32_t mother = 0; mother != scene.instances.size(); ++mother) {
    std::vector<Placed> daughters;
    for (const std::uint32_t daughter : tree.daughters_of(mother)) {
      const Bounds& box = in_mother[daughter];
      const std::uint32_t mesh = scene.instances[daughter].mesh;
      if (!box.empty())
        daughters.push_back({box, to_eigen(box.center()) - to_eigen(meshes[mesh].bounds.center()), mesh});
    }
    const double thickest = thickness / least_scale(scene.instances[mother].transform);
    const auto sides_of = [&](const Placed& daughter) -> SidesOfMesh& {
      const std::uint32_t mesh = daughter.mesh;
      return sides.try_emplace({mesh, thickest}, scene.meshes[mesh], meshes[mesh].bounds, thickest).first->second;
    };
    if (daughters.size() > 1 && has_thin_gap(std::move(daughters), thickest, sides_of)) return true;
  }
  return false;
}

}  // namespace raylift
