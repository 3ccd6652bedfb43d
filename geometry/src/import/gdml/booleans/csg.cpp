// SPDX-License-Identifier: Apache-2.0
#include "csg.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "membership.h"

namespace raylift::gdml {
namespace {

Bounds placed_bounds(const Bounds& b, const Transform& placed) {
  Bounds found;
  for (int corner = 0; corner < 8; ++corner)
    found.add(placed.point({(corner & 1) != 0 ? b.max.x : b.min.x, (corner & 2) != 0 ? b.max.y : b.min.y,
                            (corner & 4) != 0 ? b.max.z : b.min.z}));
  return found;
}

bool contains(const Bounds& b, const Double3& p) {
  return p.x >= b.min.x && p.x <= b.max.x && p.y >= b.min.y && p.y <= b.max.y && p.z >= b.min.z && p.z <= b.max.z;
}

class Flattening {
 public:
  Flattening(std::span<const Solid> solids, const std::string& file, const CsgLimits& limits)
      : solids_(solids), file_(file), limits_(limits) {}

  Csg of(std::uint32_t index) {
    csg_.root = add(index, {}, 0);
    return std::move(csg_);
  }

 private:
  [[noreturn]] void fail(ErrorKind kind, const std::string& problem, std::uint32_t index,
                         const std::string& advice = {}) const {
    throw Error(kind, problem, {file_, solids_[index].kind + " '" + solids_[index].name + "'"}, advice);
  }

  /// An operation that waits for its first operand.
  struct Waiting {
    std::uint32_t index;
    const Boolean* boolean;
    Transform placed;
  };

  /// Files nest first operands deeply, so these are a loop; the depth of the others is limited.
  std::uint32_t add(std::uint32_t index, Transform placed, std::uint32_t depth) {  // NOLINT(misc-no-recursion)
    if (depth > limits_.depth) too_deep(index);
    std::vector<Waiting> waiting;
    for (;;) {
      const Operand* next = nullptr;
      if (const auto* const same = std::get_if<Transformed>(&solids_[index].shape)) {
        next = &same->of;
      } else if (const auto* const two = std::get_if<Boolean>(&solids_[index].shape)) {
        waiting.push_back({index, two, placed});
        next = &two->first;
      } else {
        break;
      }
      index = next->solid;
      placed = placed * next->placed;
    }
    std::uint32_t current = last(index, placed, depth);
    for (; !waiting.empty(); waiting.pop_back()) {
      const Waiting& step = waiting.back();
      const Operand& second = step.boolean->second;
      CsgNode node;
      node.kind = kind_of(step.boolean->kind);
      gather(node, node.kind, current);
      gather(node, node.kind == CsgKind::subtract ? CsgKind::add : node.kind,
             add(second.solid, step.placed * second.placed, depth + 1));
      current = push(std::move(node), step.index);
    }
    return current;
  }

  /// What is no operation on two.
  std::uint32_t last(std::uint32_t index, const Transform& placed, std::uint32_t depth) {  // NOLINT(misc-no-recursion)
    CsgNode node;
    const auto* const many = std::get_if<MultiUnion>(&solids_[index].shape);
    if (many == nullptr) {
      primitive(node, index, placed);
    } else {
      if (many->parts.empty()) fail(ErrorKind::malformed, "the union has no parts", index);
      node.kind = CsgKind::add;
      for (const Operand& part : many->parts)
        gather(node, CsgKind::add, add(part.solid, placed * part.placed, depth + 1));
    }
    return push(std::move(node), index);
  }

  static CsgKind kind_of(BooleanKind kind) {
    if (kind == BooleanKind::add) return CsgKind::add;
    return kind == BooleanKind::subtract ? CsgKind::subtract : CsgKind::intersect;
  }

  [[noreturn]] void too_deep(std::uint32_t index) const {
    fail(ErrorKind::limit, "operations are nested more than " + std::to_string(limits_.depth) + " deep", index);
  }

  std::uint32_t push(CsgNode node, std::uint32_t index) {
    std::uint32_t depth = 0;
    for (const std::uint32_t child : node.children) depth = std::max(depth, depths_[child] + 1);
    if (depth > limits_.depth) too_deep(index);
    depths_.push_back(depth);
    csg_.nodes.push_back(std::move(node));
    set_bounds(csg_.nodes.back());
    return static_cast<std::uint32_t>(csg_.nodes.size() - 1);
  }

  void primitive(CsgNode& node, std::uint32_t index, const Transform& placed) {
    if (++primitives_ > limits_.primitives)
      fail(ErrorKind::limit, "the solid has more than " + std::to_string(limits_.primitives) + " operands", index);
    const double volume = determinant(placed);
    if (!std::isfinite(volume) || volume == 0) fail(ErrorKind::malformed, "its placement flattens it", index);
    node.solid = index;
    node.shape = &solids_[index].shape;
    node.placed = placed;
    node.inverse = to_eigen(placed).inverse();
  }

  /// Takes an operand in; one of kind `same` dissolves into its own operands.
  void gather(CsgNode& node, CsgKind same, std::uint32_t operand) {
    CsgNode& other = csg_.nodes[operand];
    if (other.kind != same) {
      node.children.push_back(operand);
    } else if (node.children.empty()) {
      node.children = std::move(other.children);
    } else {
      node.children.insert(node.children.end(), other.children.begin(), other.children.end());
    }
  }

  void set_bounds(CsgNode& node) const {
    if (node.kind == CsgKind::primitive) {
      node.own = bounds(*node.shape);
      node.bounds = placed_bounds(node.own, node.placed);
      return;
    }
    node.bounds = csg_.nodes[node.children[0]].bounds;
    if (node.kind == CsgKind::subtract) return;
    for (const std::uint32_t child : node.children) {
      const Bounds& other = csg_.nodes[child].bounds;
      if (node.kind == CsgKind::add) {
        node.bounds.add(other);
        continue;
      }
      for (int axis = 0; axis < 3; ++axis) {
        node.bounds.min[axis] = std::max(node.bounds.min[axis], other.min[axis]);
        node.bounds.max[axis] = std::min(node.bounds.max[axis], other.max[axis]);
      }
    }
  }

  std::span<const Solid> solids_;
  const std::string& file_;
  CsgLimits limits_;
  Csg csg_;
  std::vector<std::uint32_t> depths_;
  std::uint32_t primitives_ = 0;
};

// NOLINTNEXTLINE(misc-no-recursion): flatten() limits the depth.
bool node_has(const Csg& csg, std::uint32_t index, const Double3& p) {
  const CsgNode& node = csg.nodes[index];
  if (node.bounds.empty() || !contains(node.bounds, p)) return false;
  switch (node.kind) {
    case CsgKind::primitive:
      return inside(*node.shape, node.inverse.point(p));
    case CsgKind::add:
      return std::ranges::any_of(node.children, [&](std::uint32_t child) { return node_has(csg, child, p); });
    case CsgKind::intersect:
      return std::ranges::all_of(node.children, [&](std::uint32_t child) { return node_has(csg, child, p); });
    case CsgKind::subtract:
      break;
  }
  const std::span<const std::uint32_t> children = node.children;
  return node_has(csg, children[0], p) &&
         std::ranges::none_of(children.subspan(1), [&](std::uint32_t child) { return node_has(csg, child, p); });
}

}  // namespace

bool meet(const Bounds& a, const Bounds& b, double margin) {
  for (int axis = 0; axis < 3; ++axis)
    if (a.min[axis] > b.max[axis] + margin || b.min[axis] > a.max[axis] + margin) return false;
  return true;
}

Csg flatten(std::span<const Solid> solids, std::uint32_t index, const std::string& file, const CsgLimits& limits) {
  return Flattening(solids, file, limits).of(index);
}

bool inside(const Csg& csg, const Double3& point) {
  return node_has(csg, csg.root, point);
}

void prune(Csg& csg) {
  for (CsgNode& node : csg.nodes) {
    if (node.kind != CsgKind::subtract || node.children.empty()) continue;
    const Bounds& body = csg.nodes[node.children[0]].bounds;
    const auto apart = [&](std::uint32_t child) {
      const Bounds& tool = csg.nodes[child].bounds;
      return tool.empty() || !meet(tool, body, 1e-3);
    };
    node.children.erase(std::remove_if(node.children.begin() + 1, node.children.end(), apart), node.children.end());
  }
}

std::vector<std::uint32_t> primitives(const Csg& csg) {
  std::vector<std::uint32_t> found, open{csg.root};
  while (!open.empty()) {
    const CsgNode& node = csg.nodes[open.back()];
    if (node.kind == CsgKind::primitive) found.push_back(open.back());
    open.pop_back();
    open.insert(open.end(), node.children.begin(), node.children.end());
  }
  return found;
}

}  // namespace raylift::gdml
