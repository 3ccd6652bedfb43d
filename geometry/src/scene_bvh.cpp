// SPDX-License-Identifier: Apache-2.0
// Trees of unique meshes put together, and the tree over instances.
#include <raylift/geometry/scene_bvh.h>

#include <raylift/geometry/error.h>

#include <tbb/parallel_for.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <new>
#include <string>

#include "bvh_wide.h"

namespace raylift {
namespace {

struct Boxes {
  std::vector<Bounds> parts;
};

Bounds slot_box(const BvhNode& node, int slot) {
  Bounds box;
  for (int a = 0; a != 3; ++a) {
    const double step = std::ldexp(1.0, node.exponent[a] - 127);
    box.min[a] = static_cast<double>(node.origin[a]) + node.lower[a][slot] * step;
    box.max[a] = static_cast<double>(node.origin[a]) + node.upper[a][slot] * step;
  }
  return box;
}

/// Boxes that cover a mesh: of its root's children and grandchildren. An instance's box is that of these, turned into
/// the world: tighter than the box of the turned box of all.
Boxes cover(const Bvh& bvh) {
  Boxes boxes;
  const auto add = [&](const BvhNode& node, const auto& self, int levels) -> void {
    std::uint32_t child = node.first_child;
    for (int s = 0; s != 8; ++s) {
      if (node.is_empty(s)) continue;
      const bool inner = node.is_inner(s);
      if (inner && levels > 1)
        self(bvh.nodes[child], self, levels - 1);
      else
        boxes.parts.push_back(slot_box(node, s));
      child += inner ? 1 : 0;
    }
  };
  if (!bvh.nodes.empty()) add(bvh.nodes[0], add, 2);
  return boxes;
}

Bounds world_box(const Boxes& boxes, const Transform& to_world) {
  Bounds world;
  const Eigen::Matrix3d linear = to_world.linear();
  for (const Bounds& box : boxes.parts) {
    const Eigen::Vector3d center = to_world * box.center();
    const Eigen::Vector3d half = linear.cwiseAbs() * (0.5 * box.size());
    world.add(Eigen::Vector3d(center - half));
    world.add(Eigen::Vector3d(center + half));
  }
  return world;
}

float rounded_down(double x) {
  const auto f = static_cast<float>(x);
  return static_cast<double>(f) > x ? std::nextafter(f, -std::numeric_limits<float>::infinity()) : f;
}
float rounded_up(double x) {
  return -rounded_down(-x);
}

/// An instance that rays can hit.
struct Placed {
  InstanceNode node;
  Bounds box;
};

std::vector<Placed> place(const Scene& scene, const Eigen::Vector3d& origin, const std::vector<Boxes>& boxes,
                          const std::vector<std::uint32_t>& roots) {
  std::vector<Placed> all(scene.instances.size());
  tbb::parallel_for(std::size_t{0}, all.size(), [&](std::size_t i) {
    const Instance& instance = scene.instances[i];
    Transform to_world = instance.transform;
    to_world.translation() -= origin;
    const double determinant = to_world.linear().determinant();
    if (roots[instance.mesh] == kNone || determinant == 0 || !std::isfinite(1 / determinant)) return;
    const Transform to_mesh = to_world.inverse();
    InstanceNode& node = all[i].node;
    for (int row = 0; row != 3; ++row)
      for (int column = 0; column != 4; ++column)
        node.to_mesh.m[row * 4 + column] = static_cast<float>(to_mesh(row, column));
    node.root = roots[instance.mesh];
    node.instance = static_cast<std::uint32_t>(i);
    Bounds box = world_box(boxes[instance.mesh], to_world);
    // What rounding can move a ray by on its way into the mesh's frame, felt in the world: a few steps of a float at
    // the coordinates around here, times the transform's condition. See bvh_trace.h for the rays' own distance.
    const double condition = to_world.linear().norm() * to_mesh.linear().norm() / 3;
    const double reach = std::max(box.min.cwiseAbs().maxCoeff(), box.max.cwiseAbs().maxCoeff());
    const Eigen::Vector3d slack = Eigen::Vector3d::Constant(reach * condition * 0x1p-20);
    box.min -= slack;
    box.max += slack;
    all[i].box = box;
  });
  std::erase_if(all, [](const Placed& placed) { return placed.box.empty(); });
  for (const Placed& placed : all)
    if (!(placed.box.min.cwiseAbs().maxCoeff() < 1e18 && placed.box.max.cwiseAbs().maxCoeff() < 1e18))
      throw Error(ErrorKind::limit, "the solid lies beyond 1e18 mm from the origin",
                  {scene.source, "solid '" + scene.path(scene.instances[placed.node.instance]) + "'"});
  return all;
}

/// The tree over instances, level by level, with each InstanceNode beside its siblings.
std::vector<BvhNode> build_top(const std::vector<Placed>& placed) {
  std::vector<bvh::Primitive> primitives(placed.size());
  for (std::size_t i = 0; i != placed.size(); ++i) {
    bvh::Primitive& p = primitives[i];
    for (int a = 0; a != 3; ++a) {
      p.lower[a] = rounded_down(placed[i].box.min[a]);
      p.upper[a] = rounded_up(placed[i].box.max[a]);
    }
    p.upper[3] = 0;
    p.set_number(static_cast<std::uint32_t>(i));
  }
  const bvh::WideTree tree = bvh::build_wide(primitives, 1);
  std::vector<BvhNode> nodes;
  if (tree.nodes.empty()) return nodes;
  nodes.reserve(tree.nodes.size() + placed.size());
  // The wide tree's leaves become inner slots too; so children are numbered anew.
  std::vector<std::uint32_t> from{0};  // for each node of the result, its number in the tree, or kNone for an instance
  nodes.push_back(tree.nodes[0]);
  for (std::size_t i = 0; i != nodes.size(); ++i) {
    if (from[i] == kNone) continue;
    const BvhNode old = tree.nodes[from[i]];
    BvhNode node = old;
    node.first_child = static_cast<std::uint32_t>(nodes.size());
    node.first_pair = 0;
    node.pairs = 0;
    std::uint32_t child = old.first_child, leaf = old.first_pair;
    for (int s = 0; s != 8; ++s) {
      if (old.is_empty(s)) continue;
      node.inner |= 1u << (4 * s);
      if (old.is_inner(s)) {
        from.push_back(child);
        nodes.push_back(tree.nodes[child++]);
        continue;
      }
      from.push_back(kNone);
      nodes.push_back(std::bit_cast<BvhNode>(placed[tree.order[leaf++]].node));
    }
    nodes[i] = node;
  }
  return nodes;
}

/// Appends the meshes' trees to `result`, and frees them on the way.
void join(std::vector<Bvh>& trees, const std::vector<std::uint32_t>& first_triangle, SceneBvh& result) {
  const std::size_t count = trees.size();
  std::size_t levels = 0, node_count = result.nodes.size(), pair_count = 0;
  for (const Bvh& tree : trees) {
    levels = std::max(levels, tree.level_ends.size());
    node_count += tree.nodes.size();
    pair_count += tree.pairs.size();
  }
  if (node_count >= kNone) throw Error(ErrorKind::limit, "the scene's hierarchy has more than 2^32 nodes");
  // Where each level of each mesh begins in the result.
  std::vector<std::vector<std::uint32_t>> begins(count);
  auto next = static_cast<std::uint32_t>(result.nodes.size());
  for (std::size_t level = 0; level != levels; ++level)
    for (std::size_t m = 0; m != count; ++m) {
      const auto& ends = trees[m].level_ends;
      if (level >= ends.size()) continue;
      begins[m].push_back(next);
      next += ends[level] - (level == 0 ? 0 : ends[level - 1]);
    }
  result.nodes.resize(node_count);
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
      const std::uint32_t child_shift = last ? 0 : begins[m][level + 1] - end;  // wraps round where it is negative
      tbb::parallel_for(begin, end, [&](std::uint32_t i) {
        BvhNode node = tree.nodes[i];
        node.first_child += child_shift;
        node.first_pair += first_pair[m];
        result.nodes[begins[m][level] + (i - begin)] = node;
      });
      begin = end;
    }
    std::copy(tree.pairs.begin(), tree.pairs.end(), result.pairs.begin() + first_pair[m]);
    tbb::parallel_for(std::size_t{0}, tree.ids.size(), [&](std::size_t i) {
      PairIds ids = tree.ids[i];
      for (std::uint32_t& id : ids.triangle)
        if (id != kNoTriangle) id += first_triangle[m] << 2;
      result.ids[first_pair[m] + i] = ids;
    });
    tree = {};
  });
}

}  // namespace

SceneBvh build_bvh(const Scene& scene, const Eigen::Vector3d& origin, const BvhOptions& options,
                   const Progress& progress, const MeshBuilder& large) try {
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
      tbb::parallel_for(first, last, [&](std::size_t m) {
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
  std::vector<Boxes> boxes;
  for (const Bvh& tree : trees) boxes.push_back(cover(tree));
  SceneBvh result;
  // Roots stand one after the other behind the nodes over instances, whose number depends on which meshes have a root:
  // placed first with the roots counted from 0.
  std::uint32_t next = 0;
  for (const Bvh& tree : trees) result.roots.push_back(tree.nodes.empty() ? kNone : next++);
  const std::vector<Placed> placed = place(scene, origin, boxes, result.roots);
  result.nodes = build_top(placed);
  result.instance_nodes = static_cast<std::uint32_t>(result.nodes.size());
  for (BvhNode& node : result.nodes) {
    auto instance = std::bit_cast<InstanceNode>(node);
    if (instance.zero != 0) continue;
    instance.root += result.instance_nodes;
    node = std::bit_cast<BvhNode>(instance);
  }
  for (std::uint32_t& root : result.roots)
    if (root != kNone) root += result.instance_nodes;
  // Without any instance that rays can hit no tree is needed.
  if (placed.empty()) {
    result.roots.assign(count, kNone);
    return result;
  }
  join(trees, first_triangle, result);
  return result;
} catch (const std::bad_alloc&) {
  throw Error(ErrorKind::out_of_host_memory, "no memory for building the scene's hierarchy", {scene.source, ""});
}

SceneBvh build_bvh(const FlatScene& flat, const BvhOptions& options, const Progress& progress,
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
