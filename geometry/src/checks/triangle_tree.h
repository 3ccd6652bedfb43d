// SPDX-License-Identifier: Apache-2.0
// Boxes over a mesh's triangles, in double. The BVH that rays on devices use has boxes of floats, in which faces that
// are closer than a float's step change places; and it takes longer to build than the few rays of a check take.
#pragma once

#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/vector_types.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace raylift {

class TriangleTree {
 public:
  using Vector = Eigen::Vector3d;

  /// The order of triangles from which boxes are made.
  enum class Order : std::uint8_t {
    by_place,  ///< neighbours together
    as_given,  ///< built in a fraction of that time. Most files have neighbours together; else each ray meets most
               ///< boxes
  };

  /// The spans must outlive the tree. Coordinates are finite, and indices in range.
  TriangleTree(std::span<const Vector> vertices, std::span<const UInt3> triangles, Order order = Order::by_place);

  /// The largest coordinate in magnitude.
  [[nodiscard]] double reach() const { return reach_; }

  /// Calls look_at(triangle) for the triangles whose boxes the ray meets, the nearer boxes first, until all others lie
  /// beyond what look_at returns: the distance of the nearest hit so far. Boxes count from `from` on.
  template <class LookAt>
  void walk(const Vector& origin, const Vector& direction, double from, const LookAt& look_at) const {
    if (boxes_.empty()) return;
    const Double3 start = origin;
    const Double3 inverse =
        direction.unaryExpr([](double d) { return 1 / (std::abs(d) < 1e-30 ? std::copysign(1e-30, d) : d); }).eval();
    double limit = std::numeric_limits<double>::infinity();
    using Entry = std::pair<double, std::uint64_t>;  // where the ray enters a box, and its number
    std::array<Entry, kWidth * kMaxLevels> stack;
    std::size_t open = 0;
    stack[open++] = {from, boxes_.size() - 1};
    while (open != 0) {
      const auto [enter, index] = stack[--open];
      if (enter > limit) continue;
      const Box& box = boxes_[index];
      if (box.level == 0) {
        for (std::uint32_t i = box.first; i != box.first + box.count; ++i) limit = look_at(order_[i]);
        continue;
      }
      const std::size_t before = open;
      for (std::uint32_t i = box.first; i != box.first + box.count; ++i) {
        double near = from;
        if (meets(boxes_[i], start, inverse, near, limit)) stack[open++] = {near, i};
      }
      std::sort(stack.begin() + before, stack.begin() + open, [](const Entry& a, const Entry& b) { return a > b; });
    }
  }

 private:
  static constexpr std::size_t kWidth = 4;
  static constexpr std::size_t kMaxLevels = 18;  // of 2^32 triangles, and one more

  // Boxes are plain numbers: where a build doesn't optimise, each element of Eigen's vectors is read by several calls.
  struct Box {
    Double3 low;
    Double3 high;
    std::uint32_t first;  // in order_, or in boxes_
    std::uint16_t count;
    std::uint16_t level;
  };

  /// Whether the ray meets the box between two distances. The first one becomes that where it enters.
  static bool meets(const Box& box, const Double3& origin, const Double3& inverse, double& enter, double leave) {
    const auto cut = [&enter, &leave](double a, double b) {
      const double near = a < b ? a : b, far = a < b ? b : a;
      if (near > enter) enter = near;
      if (far < leave) leave = far;
    };
    cut((box.low.x - origin.x) * inverse.x, (box.high.x - origin.x) * inverse.x);
    cut((box.low.y - origin.y) * inverse.y, (box.high.y - origin.y) * inverse.y);
    cut((box.low.z - origin.z) * inverse.z, (box.high.z - origin.z) * inverse.z);
    return enter <= leave;
  }

  void sort(std::span<const Vector> vertices, std::span<const UInt3> triangles, const Vector& low, const Vector& high);

  double reach_ = 0;
  std::vector<std::uint32_t> order_;  // of triangles
  std::vector<Box> boxes_;            // level by level, the root last
};

}  // namespace raylift
