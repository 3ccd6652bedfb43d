// SPDX-License-Identifier: Apache-2.0
// Trees of unique meshes put together, and the tree over instances.
#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/geometry/scene/eigen.h>

#include <raylift/geometry/error.h>

#include <tbb/parallel_for.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <new>

#include "bvh/instance_level.h"

#include "for_each_mesh.h"
#include "stage.h"

namespace raylift {
namespace {

using bvh::PlacedTree;

double area(const bvh_detail::InstanceBox& box) {
  const double x = box.upper[0] - box.lower[0], y = box.upper[1] - box.lower[1], z = box.upper[2] - box.lower[2];
  return x * y + y * z + z * x;
}

/// Where a scene's instances stand, as rays see them.
class Placement {
 public:
  Placement(const Scene& scene, const Double3& origin, const std::vector<Bvh>& trees)
      : scene_(scene), origin_(origin), trees_(trees) {}

  [[nodiscard]] std::vector<PlacedTree> all() {
    std::vector<PlacedTree> placed(scene_.instances.size());
    tbb::parallel_for(std::size_t{0}, placed.size(), [&](std::size_t i) {
      const Instance& instance = scene_.instances[i];
      const EigenTransform to_world = this->to_world(i);
      const double determinant = to_world.linear().determinant();
      const Bvh& tree = trees_[instance.mesh];
      placed[i].node.instance = kNone;
      if (tree.nodes.empty() || determinant == 0 || !std::isfinite(1 / determinant)) return;
      const EigenTransform to_mesh = to_world.inverse();
      bvh_detail::InstanceNode& node = placed[i].node;
      for (int row = 0; row != 3; ++row)
        for (int column = 0; column != 4; ++column)
          node.to_mesh.m[row * 4 + column] = static_cast<float>(to_mesh(row, column));
      node.instance = static_cast<std::uint32_t>(i);
      placed[i].box = bvh_detail::box_in_world(tree.nodes.data(), 0, to_world);
    });
    std::erase_if(placed, [](const PlacedTree& p) { return p.node.instance == kNone; });
    for (const PlacedTree& p : placed) reach_ = std::max(reach_, p.box.reach());
    // Smaller numbers have fewer digits as floats.
    if (!placed.empty() && reach_ < 1e-30)
      throw Error(ErrorKind::limit, "the scene is smaller than 1e-30 mm", {scene_.source, ""},
                  "override its unit, by LoadOptions::unit_mm");
    for (PlacedTree& p : placed) enlarge(p);
    for (const PlacedTree& p : placed)
      if (!(p.box.reach() < static_cast<double>(kBvhFarthest)))
        throw Error(ErrorKind::limit, "the solid lies beyond 1e18 mm from the origin",
                    {scene_.source, "solid '" + scene_.path(scene_.instances[p.node.instance]) + "'"});
    return placed;
  }

  /// Splits large instances, so that the level over instances separates them from what stands inside of them:
  /// without that a ray goes through all of a detector's outer hull before, or after, it meets a sensor. After
  /// Benthin, Woop, Wald, Afra, "Improved Two-Level BVHs using Partial Re-Braiding" (HPG 2017), as a pass of its own:
  /// always the largest piece, until none is too large, or there are twice as many as instances.
  void open(std::vector<PlacedTree>& placed) const {
    if (placed.size() < 2) return;
    bvh_detail::InstanceBox world = placed.front().box;
    for (const PlacedTree& p : placed)
      for (int a = 0; a != 3; ++a) {
        world.lower[a] = std::min(world.lower[a], p.box.lower[a]);
        world.upper[a] = std::max(world.upper[a], p.box.upper[a]);
      }
    const double share = largest_piece(placed, area(world));
    const std::size_t most = placed.size() + std::max(kMorePieces, placed.size());
    const auto smaller = [&](std::uint32_t a, std::uint32_t b) {
      const double area_a = area(placed[a].box), area_b = area(placed[b].box);
      return area_a != area_b ? area_a < area_b : a > b;
    };
    std::vector<std::uint32_t> large;
    for (std::uint32_t i = 0; i != placed.size(); ++i)
      if (area(placed[i].box) > share) large.push_back(i);
    std::make_heap(large.begin(), large.end(), smaller);
    while (!large.empty() && placed.size() + 7 <= most) {
      std::pop_heap(large.begin(), large.end(), smaller);
      const std::uint32_t i = large.back();
      large.pop_back();
      const Bvh& tree = trees_[scene_.instances[placed[i].node.instance].mesh];
      const bvh_detail::BvhNode& node = tree.nodes[placed[i].node.root];
      if (node.pairs != 0) continue;  // a leaf has no node of its own to begin at
      const Transform to_world = this->to_world(placed[i].node.instance);
      std::uint32_t child = node.first_child;
      bool first = true;
      for (int s = 0; s != 8; ++s) {
        if (!node.is_inner(s)) continue;
        PlacedTree piece = placed[i];
        piece.node.root = child;
        piece.box = bvh_detail::box_in_world(tree.nodes.data(), child, to_world);
        enlarge(piece);
        ++child;
        const auto at = first ? i : static_cast<std::uint32_t>(placed.size());
        if (first)
          placed[i] = piece;
        else
          placed.push_back(piece);
        first = false;
        if (area(piece.box) > share) {
          large.push_back(at);
          std::push_heap(large.begin(), large.end(), smaller);
        }
      }
    }
  }

 private:
  static constexpr std::size_t kMorePieces = 256;

  /// The area that a piece may have: its share of the world, if instances filled that, and less where most instances
  /// are small. The factor was measured: see docs/lab_notes.md, "Two levels".
  static double largest_piece(const std::vector<PlacedTree>& placed, double world) {
    std::vector<double> areas(placed.size());
    std::transform(placed.begin(), placed.end(), areas.begin(), [](const PlacedTree& p) { return area(p.box); });
    const auto middle = areas.begin() + static_cast<std::ptrdiff_t>(areas.size() / 2);
    std::nth_element(areas.begin(), middle, areas.end());
    const double share = world / std::pow(static_cast<double>(placed.size()), 2.0 / 3);
    return std::min(share, std::max(0.3 * share, 2 * *middle));
  }

  [[nodiscard]] EigenTransform to_world(std::size_t instance) const {
    EigenTransform transform = to_eigen(scene_.instances[instance].transform);
    transform.translation() -= to_eigen(origin_);
    return transform;
  }

  void enlarge(PlacedTree& placed) const {
    const EigenTransform to_world = this->to_world(placed.node.instance);
    placed.box.enlarge(bvh_detail::frame_slack(to_world, EigenTransform(to_world.inverse()), reach_));
  }

  const Scene& scene_;
  const Double3& origin_;
  const std::vector<Bvh>& trees_;
  double reach_ = 0;  // the largest coordinate of all
};

/// Where the nodes of the meshes' trees stand in the single array: behind those over instances, level by level over all
/// meshes.
class JoinedNumbers {
 public:
  JoinedNumbers(const std::vector<Bvh>& trees, std::uint32_t first) : trees_(trees), begins_(trees.size()) {
    std::size_t levels = 0, total = first;
    for (const Bvh& tree : trees) {
      levels = std::max(levels, tree.level_ends.size());
      total += tree.nodes.size();
    }
    if (total >= kNone) throw Error(ErrorKind::limit, "the scene's BVH has more than 2^32 nodes");
    for (std::size_t level = 0; level != levels; ++level)
      for (std::size_t m = 0; m != trees.size(); ++m) {
        if (level >= trees[m].level_ends.size()) continue;
        begins_[m].push_back(first);
        first += trees[m].level_ends[level] - level_begin(m, level);
      }
    end_ = first;
  }
  [[nodiscard]] std::uint32_t end() const { return end_; }
  /// The number of the first node in a mesh's level.
  [[nodiscard]] std::uint32_t begin(std::size_t mesh, std::size_t level) const { return begins_[mesh][level]; }
  /// The number of a mesh's node.
  [[nodiscard]] std::uint32_t of(std::size_t mesh, std::uint32_t node) const {
    const auto& ends = trees_[mesh].level_ends;
    const auto level = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), node) - ends.begin());
    return begins_[mesh][level] + (node - level_begin(mesh, level));
  }

 private:
  [[nodiscard]] std::uint32_t level_begin(std::size_t mesh, std::size_t level) const {
    return level == 0 ? 0 : trees_[mesh].level_ends[level - 1];
  }

  const std::vector<Bvh>& trees_;
  std::vector<std::vector<std::uint32_t>> begins_;
  std::uint32_t end_ = 0;
};

/// Appends the meshes' trees to `result`, and frees them on the way.
void join(std::vector<Bvh>& trees, const JoinedNumbers& numbers, const std::vector<std::uint32_t>& first_triangle,
          SceneBvh& result) {
  const std::size_t count = trees.size();
  std::size_t pair_count = 0;
  for (const Bvh& tree : trees) pair_count += tree.pairs.size();
  result.nodes.resize(result.instance_room, bvh::empty_node());
  result.nodes.resize(numbers.end());
  result.pairs.resize(pair_count);
  result.ids.resize(pair_count);
  std::vector<std::uint32_t> first_pair(count);
  std::uint32_t pairs = 0;
  for (std::size_t m = 0; m != count; ++m) {
    first_pair[m] = pairs;
    pairs += static_cast<std::uint32_t>(trees[m].pairs.size());
  }
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t m) {
    Bvh& tree = trees[m];
    std::uint32_t begin = 0;
    for (std::size_t level = 0; level != tree.level_ends.size(); ++level) {
      const std::uint32_t end = tree.level_ends[level];
      const bool last = level + 1 == tree.level_ends.size();
      // Wraps round where it is negative.
      const std::uint32_t child_shift = last ? 0 : numbers.begin(m, level + 1) - end;
      tbb::parallel_for(begin, end, [&](std::uint32_t i) {
        bvh_detail::BvhNode node = tree.nodes[i];
        node.first_child += child_shift;
        node.first_pair += first_pair[m];
        result.nodes[numbers.begin(m, level) + (i - begin)] = node;
      });
      begin = end;
    }
    std::copy(tree.pairs.begin(), tree.pairs.end(), result.pairs.begin() + first_pair[m]);
    tbb::parallel_for(std::size_t{0}, tree.ids.size(), [&](std::size_t i) {
      bvh_detail::PairIds ids = tree.ids[i];
      for (std::uint32_t& id : ids.triangle)
        if (id != kNoTriangle) id += first_triangle[m] << 2;
      result.ids[first_pair[m] + i] = ids;
    });
    tree = {};
  });
}

}  // namespace

SceneBvh build_bvh(const Scene& scene, const Double3& origin, const Bvh::Options& options, const Progress& progress,
                   const MeshBuilder& large) try {
  if (scene.instances.size() >= (std::size_t{1} << 31))
    throw Error(ErrorKind::limit, "the scene has more than 2^31 - 1 instances", {scene.source, ""});
  const std::size_t count = scene.meshes.size();
  std::vector<std::uint32_t> first_triangle;
  std::uint64_t triangles = 0;
  for (const Mesh& mesh : scene.meshes) {
    first_triangle.push_back(static_cast<std::uint32_t>(triangles));
    triangles += mesh.triangles.size();
    if (triangles > kBvhMaxTriangles)
      throw Error(ErrorKind::limit, "the scene's unique meshes have more than 2^30 triangles",
                  {scene.source, "mesh '" + mesh.name + "'"}, "load it in parts");
  }
  std::vector<Bvh> trees(count);
  {
    // Large meshes are built by all threads, small ones each by one: nested loops share them out.
    const Stage stage(progress, "bvh", triangles);
    const auto is_large = [&](const Mesh& mesh) { return large && mesh.triangles.size() >= kLargeMesh; };
    constexpr std::size_t kBatch = 1024;
    for (std::size_t first = 0; first < count; first += kBatch) {
      const std::size_t last = std::min(count, first + kBatch);
      detail::for_each_mesh(first, last, [&](std::size_t m) {
        const Mesh& mesh = scene.meshes[m];
        if (is_large(mesh)) return;
        try {
          trees[m] = build_bvh(mesh.vertices, mesh.triangles, options);
        } catch (const Error& error) {
          throw Error(error.kind(), error.problem(), {scene.source, "mesh '" + mesh.name + "'"}, error.advice());
        }
      });
      for (std::size_t m = first; m != last; ++m)
        if (is_large(scene.meshes[m])) trees[m] = large(scene.meshes[m].vertices, scene.meshes[m].triangles);
      stage.advance(last < count ? first_triangle[last] : triangles);
    }
  }
  SceneBvh result;
  Placement placement(scene, origin, trees);
  std::vector<PlacedTree> placed = placement.all();
  // Without any instance that rays can hit no tree is needed.
  if (placed.empty()) {
    result.roots.assign(count, kNone);
    return result;
  }
  placement.open(placed);
  result.nodes = bvh::build_instance_level(placed);
  result.instance_nodes = static_cast<std::uint32_t>(result.nodes.size());
  result.instance_room = static_cast<std::uint32_t>(bvh::instance_room(placed.size()));
  const JoinedNumbers numbers(trees, result.instance_room);
  for (bvh_detail::BvhNode& node : result.nodes) {
    auto instance = std::bit_cast<bvh_detail::InstanceNode>(node);
    if (instance.zero != 0) continue;
    instance.root = numbers.of(scene.instances[instance.instance].mesh, instance.root);
    node = std::bit_cast<bvh_detail::BvhNode>(instance);
  }
  for (std::size_t m = 0; m != count; ++m) result.roots.push_back(trees[m].nodes.empty() ? kNone : numbers.of(m, 0));
  join(trees, numbers, first_triangle, result);
  return result;
} catch (const std::bad_alloc&) {
  throw Error(ErrorKind::out_of_host_memory, "no memory for building the scene's BVH", {scene.source, ""});
}

SceneBvh build_bvh(const FlatScene& flat, const Bvh::Options& options, const Progress& progress,
                   const MeshBuilder& large) {
  Bvh tree = large && flat.triangles.size() >= kLargeMesh ? large(flat.vertices, flat.triangles)
                                                          : build_bvh(flat.vertices, flat.triangles, options, progress);
  SceneBvh result;
  result.roots = {tree.nodes.empty() ? kNone : 0};
  result.nodes = std::move(tree.nodes);
  result.pairs = std::move(tree.pairs);
  result.ids = std::move(tree.ids);
  return result;
}

}  // namespace raylift
