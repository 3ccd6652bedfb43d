// SPDX-License-Identifier: Apache-2.0
#include "overlap_solids.h"

#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/solids.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "box_pairs.h"

namespace raylift::overlap {
namespace {

constexpr double kMinTolerance = 1e-6;          // millimetres
constexpr double kFloatRounding = 4 * 0x1p-23;  // of the largest coordinate
constexpr double kDoubleRounding = 0x1p-48;     // of the distance from the world's origin
constexpr double kFlat = 1e-6;                  // a transform that shrinks one direction so much more than another
constexpr double kAlikeScale = 2e-5;            // relative

Solid look_at(const Instance& instance, const MeshCheck& mesh, const Mesh::Deviation& deviation) {
  Solid solid;
  const EigenTransform transform = to_eigen(instance.transform);
  if (!transform.matrix().allFinite() || mesh.bounds.empty()) return solid;
  const Eigen::Matrix3d linear = transform.linear();
  const auto [least, most] = scales(linear);
  solid.scale = most;
  solid.deviation = {most * deviation.outward, most * deviation.inward};
  solid.has_inside = mesh.watertight() && least > kFlat * most;
  const double coordinate = mesh.bounds.reach();
  solid.rounding = std::max({kFloatRounding * solid.scale * coordinate, kMinTolerance,
                             kDoubleRounding * transform.translation().cwiseAbs().maxCoeff()});
  const Vector middle = transform * to_eigen(mesh.bounds.center());
  const Vector half = linear.cwiseAbs() * to_eigen(mesh.bounds.size()) / 2;
  solid.box = {middle - half, middle + half};
  return solid;
}

/// What makes pairs alike: meshes, relation, relative transform, and how the second one's frame is stretched.
using Key = std::array<std::int64_t, 22>;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = 0;
    for (const std::int64_t value : key) {
      hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

std::int64_t rounded(double value) {
  return std::abs(value) < 4e18 ? std::llround(value) : std::bit_cast<std::int64_t>(value);
}

class TestMaker {
 public:
  TestMaker(const Scene& scene, const SceneCheck& check, const std::vector<Solid>& solids, double tolerance)
      : scene_(scene), check_(check), solids_(solids), tolerance_(tolerance), tree_(solid_tree(scene)) {}

  Tests make() {
    for (std::uint32_t i = 0; i != solids_.size(); ++i)
      if (tree_.mother[i] != kNone) add({i, tree_.mother[i], Relation::daughter_and_mother});
    std::vector<std::uint32_t> top;
    for (std::uint32_t i = 0; i != solids_.size(); ++i)
      if (tree_.mother[i] == kNone) top.push_back(i);
    add_siblings(top);
    for (std::uint32_t i = 0; i != solids_.size(); ++i) add_siblings(tree_.daughters_of(i));
    return std::move(result_);
  }

 private:
  void add_siblings(std::span<const std::uint32_t> all) {
    if (all.size() < 2) return;
    std::vector<std::uint32_t> siblings;
    std::vector<Bounds> boxes;
    for (const std::uint32_t i : all) {
      if (!solids_[i].has_inside) continue;
      const double margin = std::max(tolerance_, solids_[i].rounding);
      siblings.push_back(i);
      const Bounds& box = solids_[i].box;
      boxes.push_back({to_eigen(box.min).array() - margin, to_eigen(box.max).array() + margin});
    }
    for (const auto& [i, k] : meeting_boxes(boxes)) add({siblings[i], siblings[k], Relation::siblings});
  }

  void add(Test test) {
    const Solid& first = solids_[test.first];
    const Solid& second = solids_[test.second];
    if (!first.has_inside || !second.has_inside) return;
    ++result_.pairs;
    test.tolerance = std::max({tolerance_, first.rounding, second.rounding});
    const bool siblings = test.relation == Relation::siblings;
    test.facets = first.deviation.outward + (siblings ? second.deviation.outward : second.deviation.inward);
    const auto [found, fresh] = known_.try_emplace(key(test), result_.tests.size());
    if (fresh)
      result_.tests.push_back(test);
    else
      ++result_.tests[found->second].pairs;
  }

  [[nodiscard]] Key key(const Test& test) const {
    const Instance& first = scene_.instances[test.first];
    const Instance& second = scene_.instances[test.second];
    const EigenTransform from_first = to_eigen(first.transform), from_second = to_eigen(second.transform);
    const Eigen::Matrix3d frame = from_second.linear();
    const Eigen::Matrix3d inverse = frame.inverse();
    // In steps that move no vertex by more than a small part of the tolerance.
    const double steps = 128 * solids_[test.second].scale / test.tolerance;
    const double reach = check_.meshes[first.mesh].bounds.reach();
    const Eigen::Matrix3d linear = steps * reach * (inverse * from_first.linear());
    const Vector shift = steps * (inverse * (from_first.translation() - from_second.translation()));
    const Eigen::Matrix3d stretch = frame.transpose() * frame;
    const int magnitude = std::ilogb(stretch.trace());
    Key key{};
    std::size_t next = 0;
    for (int k = 0; k != 9; ++k) key[next++] = rounded(linear(k));
    for (int k = 0; k != 3; ++k) key[next++] = rounded(shift[k]);
    for (const int k : {0, 1, 2, 4, 5, 8}) key[next++] = rounded(std::ldexp(stretch(k), -magnitude) / kAlikeScale);
    key[next++] = magnitude;
    key[next++] = first.mesh;
    key[next++] = second.mesh;
    key[next++] = static_cast<std::int64_t>(test.relation);
    return key;
  }

  const Scene& scene_;
  const SceneCheck& check_;
  const std::vector<Solid>& solids_;
  double tolerance_;
  SolidTree tree_;
  std::unordered_map<Key, std::size_t, KeyHash> known_;
  Tests result_;
};

}  // namespace

std::vector<Solid> look_at_solids(const Scene& scene, const SceneCheck& check) {
  std::vector<Solid> solids(scene.instances.size());
  tbb::parallel_for(std::size_t{0}, solids.size(), [&](std::size_t i) {
    const Instance& instance = scene.instances[i];
    solids[i] = look_at(instance, check.meshes[instance.mesh], scene.meshes[instance.mesh].deviation);
  });
  return solids;
}

Tests make_tests(const Scene& scene, const SceneCheck& check, const std::vector<Solid>& solids, double tolerance) {
  return TestMaker(scene, check, solids, tolerance).make();
}

}  // namespace raylift::overlap
