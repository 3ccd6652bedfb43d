// SPDX-License-Identifier: Apache-2.0
#include "feature_edges.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <tuple>

namespace raylift::viewer {
namespace {

constexpr float kSmooth = 0.766F;  // cosine of 40 degrees

using Key = std::array<float, 6>;  // both ends, the lesser first

struct Side {
  Key edge;
  std::uint32_t triangle;
};

Key edge_key(const Float3& a, const Float3& b) {
  const bool ordered = std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z);
  const Float3& low = ordered ? a : b;
  const Float3& high = ordered ? b : a;
  return {low.x, low.y, low.z, high.x, high.y, high.z};
}

}  // namespace

std::vector<Float3> feature_edges(const Mesh& mesh) {
  std::vector<Side> sides;
  std::vector<Eigen::Vector3f> normals;
  sides.reserve(3 * mesh.triangles.size());
  normals.reserve(mesh.triangles.size());
  const auto point = [](const Float3& v) { return Eigen::Vector3f(v.x, v.y, v.z); };
  for (std::uint32_t i = 0; i != mesh.triangles.size(); ++i) {
    const UInt3& t = mesh.triangles[i];
    const Float3 &a = mesh.vertices[t.x], &b = mesh.vertices[t.y], &c = mesh.vertices[t.z];
    normals.push_back((point(b) - point(a)).cross(point(c) - point(a)).stableNormalized());
    for (const auto& [from, to] : {std::pair(&a, &b), {&b, &c}, {&c, &a}}) sides.push_back({edge_key(*from, *to), i});
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) { return a.edge < b.edge; });
  std::vector<Float3> points;
  for (std::size_t first = 0, last = 0; first != sides.size(); first = last) {
    bool meets_smoothly = false;
    for (last = first + 1; last != sides.size() && sides[last].edge == sides[first].edge; ++last)
      meets_smoothly = meets_smoothly || normals[sides[first].triangle].dot(normals[sides[last].triangle]) > kSmooth;
    if (meets_smoothly) continue;
    const Key& e = sides[first].edge;
    points.push_back({e[0], e[1], e[2]});
    points.push_back({e[3], e[4], e[5]});
  }
  return points;
}

}  // namespace raylift::viewer
