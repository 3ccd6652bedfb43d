// SPDX-License-Identifier: Apache-2.0
// Triangles are sorted by the Morton codes of their middles, and each few neighbours in that order get a box, level by
// level: Lauterbach et al., "Fast BVH Construction on GPUs" (2009), without its splits.
#include "triangle_tree.h"

#include <tbb/parallel_sort.h>

#include <numeric>

#include "base/for_all.h"

namespace raylift {
namespace {

constexpr std::size_t kFew = 1024;  // triangles that are worth a task

/// The lower 21 bits, with two zeros behind each.
std::uint64_t spread(std::uint64_t bits) {
  bits = (bits | bits << 32) & 0x001F00000000FFFFULL;
  bits = (bits | bits << 16) & 0x001F0000FF0000FFULL;
  bits = (bits | bits << 8) & 0x100F00F00F00F00FULL;
  bits = (bits | bits << 4) & 0x10C30C30C30C30C3ULL;
  return (bits | bits << 2) & 0x1249249249249249ULL;
}

}  // namespace

void TriangleTree::sort(std::span<const Vector> vertices, std::span<const UInt3> triangles, const Vector& low,
                        const Vector& high) {
  constexpr double kCells = 0x1p21 - 1;
  // Along an axis in which the mesh has no extent, all middles are in the first cell.
  const Vector scale = (high - low).unaryExpr([](double size) { return size > 0 ? kCells / size : 0; });
  std::vector<std::pair<std::uint64_t, std::uint32_t>> codes(triangles.size());
  base::for_all(triangles.size(), kFew, [&](std::size_t i) {
    const UInt3& t = triangles[i];
    const Vector middle = (vertices[t.x] / 3 + vertices[t.y] / 3 + vertices[t.z] / 3 - low).cwiseProduct(scale);
    std::uint64_t code = 0;
    for (int a = 0; a != 3; ++a)
      if (middle[a] > 0) code |= spread(static_cast<std::uint64_t>(std::min(middle[a], kCells))) << a;
    codes[i] = {code, static_cast<std::uint32_t>(i)};
  });
  tbb::parallel_sort(codes.begin(), codes.end());
  base::for_all(codes.size(), kFew, [&](std::size_t i) { order_[i] = codes[i].second; });
}

TriangleTree::TriangleTree(std::span<const Vector> vertices, std::span<const UInt3> triangles, Order order) {
  if (triangles.empty()) return;
  Vector low = Vector::Constant(std::numeric_limits<double>::infinity());
  Vector high = -low;
  for (const Vector& v : vertices) {
    low = low.cwiseMin(v);
    high = high.cwiseMax(v);
  }
  reach_ = std::max(low.cwiseAbs().maxCoeff(), high.cwiseAbs().maxCoeff());
  order_.resize(triangles.size());
  if (order == Order::by_place)
    sort(vertices, triangles, low, high);
  else
    std::iota(order_.begin(), order_.end(), 0U);

  const auto few = [](std::size_t count) { return (count + kWidth - 1) / kWidth; };
  std::size_t total = 0;
  for (std::size_t count = triangles.size(); total == 0 || count != 1;) total += count = few(count);
  boxes_.resize(total);
  // What a ray's entry into a box is rounded by must not take the ray out of it.
  const Vector margin = Vector::Constant(8 * std::numeric_limits<double>::epsilon() * reach_);
  std::size_t begin = 0;  // of the level below
  std::size_t end = triangles.size();
  std::size_t next = 0;
  for (std::uint16_t level = 0; level == 0 || end - begin != 1; ++level) {
    const std::size_t count = few(end - begin);
    base::for_all(count, kFew / kWidth, [&](std::size_t i) {
      Box& box = boxes_[next + i];
      const std::size_t first = begin + kWidth * i;
      box.first = static_cast<std::uint32_t>(first);
      box.count = static_cast<std::uint16_t>(std::min(kWidth, end - first));
      box.level = level;
      Vector from = Vector::Constant(std::numeric_limits<double>::infinity());
      Vector to = -from;
      const auto add = [&](const Vector& least, const Vector& most) {
        from = from.cwiseMin(least);
        to = to.cwiseMax(most);
      };
      for (std::size_t k = first; k != first + box.count; ++k) {
        if (level == 0) {
          const UInt3& t = triangles[order_[k]];
          for (const std::uint32_t v : {t.x, t.y, t.z}) add(vertices[v], vertices[v]);
        } else {
          add(to_eigen(boxes_[k].low), to_eigen(boxes_[k].high));
        }
      }
      if (level != 0) {
        from -= margin;
        to += margin;
      }
      box.low = from;
      box.high = to;
    });
    begin = next;
    next = end = next + count;
  }
}

}  // namespace raylift
