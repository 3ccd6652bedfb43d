// SPDX-License-Identifier: Apache-2.0
// Triangles joined two by two along shared edges.
#include "bvh_pairs.h"
#include "base/atomics.h"
#include "bvh_sah.h"
#include "large_vector.h"
#include "stage.h"

#include <raylift/geometry/error.h>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_sort.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

namespace raylift::bvh {
namespace {

// Triangles that are paired among each other: fixed, so that results are the same for any number of threads.
constexpr std::size_t kBlock = 4096;

std::uint32_t corner(const UInt3& triangle, std::uint32_t k) {
  return k == 0 ? triangle.x : k == 1 ? triangle.y : triangle.z;
}

bool degenerate(const UInt3& t) {
  return t.x == t.y || t.y == t.z || t.z == t.x;
}

// The box around some vertices.
struct VertexBox {
  Lanes lower, upper;

  explicit VertexBox(const Float3& v) : lower{v.x, v.y, v.z, 0}, upper(lower) {}
  [[nodiscard]] VertexBox with(const VertexBox& other) const {
    VertexBox both = other;
    both.lower = lane_min(lower, other.lower);
    both.upper = lane_max(upper, other.upper);
    return both;
  }
  [[nodiscard]] float half_area() const {
    const Lanes d = upper - lower;
    return d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
  }
};

// Edges of a block's triangles. An edge is named by its triangle and the corner opposite of it, so a slot takes four
// bytes, and the table stays in a core's own cache.
class EdgeTable {
 public:
  using Edge = std::uint16_t;  // triangle << 2 | corner
  static constexpr Edge kNoEdge = 0xFFFF;

  EdgeTable() : slots_(kSlots), places_(4 * kBlock), ends_(4 * kBlock), triangles_(kBlock) {}

  void clear() { std::fill(slots_.begin(), slots_.end(), Slot{{kNoEdge, kNoEdge}}); }
  // Its edges, unless it is degenerate. The first triangle wins where several have an edge in the same direction.
  void insert(std::size_t i, const UInt3& triangle) {
    triangles_[i] = triangle;
    if (degenerate(triangle)) return;
    insert(static_cast<Edge>(i << 2), triangle.y, triangle.z);
    insert(static_cast<Edge>(i << 2 | 1u), triangle.z, triangle.x);
    insert(static_cast<Edge>(i << 2 | 2u), triangle.x, triangle.y);
  }
  // The first one that is the same in the opposite direction, or kNoEdge. Of an edge that was inserted.
  [[nodiscard]] Edge opposite(std::size_t i, std::uint32_t k, bool forward) const {
    return slots_[places_[i << 2 | k]].first[forward ? 0 : 1];
  }
  [[nodiscard]] const UInt3& triangle(std::size_t i) const { return triangles_[i]; }

 private:
  static constexpr int kSlotBits = 14;  // a slot for each edge of a block, even if it has no two in common
  static constexpr std::uint32_t kSlots = 1u << kSlotBits;
  static_assert(3 * kBlock < kSlots && 4 * kBlock <= kNoEdge);

  // The first ones backward and forward, where forward is from the vertex of the lower number.
  struct Slot {
    Edge first[2];
  };
  void insert(Edge edge, std::uint32_t a, std::uint32_t b) {
    const std::uint64_t ends = static_cast<std::uint64_t>(std::min(a, b)) << 32 | std::max(a, b);
    const auto hash = static_cast<std::uint32_t>((ends * 0x9E3779B97F4A7C15u) >> (64 - kSlotBits));
    ends_[edge] = ends;
    for (std::uint32_t i = hash;; i = (i + 1) % kSlots) {
      Slot& slot = slots_[i];
      const Edge there = std::min(slot.first[0], slot.first[1]);  // kNoEdge is the largest
      if (there != kNoEdge && ends_[there] != ends) continue;
      Edge& first = slot.first[a < b ? 1 : 0];
      if (first == kNoEdge) first = edge;
      places_[edge] = static_cast<std::uint16_t>(i);
      return;
    }
  }

  std::vector<Slot> slots_;
  std::vector<std::uint16_t> places_;  // of edges
  std::vector<std::uint64_t> ends_;    // likewise, whatever the direction
  std::vector<UInt3> triangles_;
};

// Pairs at most kBlock triangles among each other; number(i) is the i-th one's.
template <class Number>
void pair_block(std::span<const Float3> vertices, std::span<const UInt3> triangles, std::size_t count,
                const Number& number, EdgeTable& edges, RawVector<bvh_detail::PairIds>& out) {
  edges.clear();
  for (std::size_t i = 0; i < count; ++i) edges.insert(i, triangles[number(i)]);
  std::array<bool, kBlock> taken{};
  for (std::size_t i = 0; i < count; ++i) {
    if (taken[i]) continue;
    taken[i] = true;
    const std::uint32_t id = number(i);
    const UInt3& triangle = edges.triangle(i);
    bvh_detail::PairIds best{{id << 2, kNoTriangle}};
    float best_area = std::numeric_limits<float>::infinity();
    std::size_t best_mate = 0;
    if (!degenerate(triangle)) {
      for (std::uint32_t k = 0; k < 3; ++k) {
        // Stored (v0, v1, v2) starts at corner k; the mate has the edge v1 v2 the other way around.
        const std::uint32_t v0 = corner(triangle, k), v1 = corner(triangle, (k + 1) % 3),
                            v2 = corner(triangle, (k + 2) % 3);
        const std::uint32_t found = edges.opposite(i, k, v1 < v2);
        if (found == EdgeTable::kNoEdge || taken[found >> 2]) continue;
        const std::uint32_t mate = number(found >> 2);
        const std::uint32_t v3 = corner(edges.triangle(found >> 2), found & 3u);
        // A pair whose box is larger than both triangles' apart would be worse than two leaves.
        const VertexBox shared = VertexBox(vertices[v1]).with(VertexBox(vertices[v2])), last(vertices[v3]);
        const VertexBox own = shared.with(VertexBox(vertices[v0]));
        const float area = own.with(last).half_area();
        if (area >= best_area || area > 1.1f * (own.half_area() + shared.with(last).half_area())) continue;
        best_area = area;
        best_mate = found >> 2;
        // The mate is stored as (v2, v1, v3): its corner opposite of the edge comes last, so it starts one after that.
        best = {{id << 2 | k, mate << 2 | ((found & 3u) + 1) % 3}};
      }
    }
    if (best.triangle[1] != kNoTriangle) taken[best_mate] = true;
    out.push_back(best);
  }
}

template <class Number>
RawVector<bvh_detail::PairIds> pair_in_blocks(std::span<const Float3> vertices, std::span<const UInt3> triangles,
                                              std::size_t count, const Number& number) {
  const std::size_t blocks = (count + kBlock - 1) / kBlock;
  std::vector<RawVector<bvh_detail::PairIds>> found(blocks);
  tbb::enumerable_thread_specific<EdgeTable> tables;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, blocks, 4), [&](const auto& range) {
    EdgeTable& edges = tables.local();
    for (std::size_t b = range.begin(); b < range.end(); ++b) {
      const std::size_t begin = b * kBlock;
      found[b].reserve(kBlock);
      pair_block(
          vertices, triangles, std::min(count - begin, kBlock), [&](std::size_t i) { return number(begin + i); }, edges,
          found[b]);
      found[b].shrink_to_fit();
    }
  });
  std::vector<std::size_t> first(blocks + 1, 0);
  for (std::size_t b = 0; b < blocks; ++b) first[b + 1] = first[b] + found[b].size();
  RawVector<bvh_detail::PairIds> all;
  resize_large(all, first[blocks]);
  tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
    std::copy(found[b].begin(), found[b].end(), all.begin() + static_cast<std::ptrdiff_t>(first[b]));
  });
  return all;
}

// Ten bits to every third of thirty.
std::uint64_t spread(std::uint32_t v) {
  v = (v | v << 16) & 0x030000FFu;
  v = (v | v << 8) & 0x0300F00Fu;
  v = (v | v << 4) & 0x030C30C3u;
  return (v | v << 2) & 0x09249249u;
}

// Triangles without a mate along a curve that fills space (Morton's): a place on the curve above, the number below.
// Nothing where they are few.
std::vector<std::uint64_t> single_triangles(std::span<const Float3> vertices, std::span<const UInt3> triangles,
                                            std::span<const bvh_detail::PairIds> pairs) {
  const auto is_single = [](const bvh_detail::PairIds& ids) { return ids.triangle[1] == kNoTriangle; };
  const std::size_t singles = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, pairs.size(), 1 << 14), std::size_t{0},
      [&](const auto& range, std::size_t sum) {
        const auto part = pairs.subspan(range.begin(), range.size());
        return sum + static_cast<std::size_t>(std::count_if(part.begin(), part.end(), is_single));
      },
      std::plus<>());
  std::vector<std::uint64_t> alone;
  if (singles < triangles.size() / 16) return alone;
  alone.reserve(singles);
  for (const bvh_detail::PairIds& ids : pairs)
    if (is_single(ids)) alone.push_back(ids.triangle[0] >> 2);
  const float inf = std::numeric_limits<float>::infinity();
  float lower[3] = {inf, inf, inf}, upper[3] = {-inf, -inf, -inf};
  for (const Float3& v : vertices) {
    const float at[3] = {v.x, v.y, v.z};
    for (int a = 0; a < 3; ++a) {
      lower[a] = std::min(lower[a], at[a]);
      upper[a] = std::max(upper[a], at[a]);
    }
  }
  // One scale for all axes: cells are cubes.
  const float extent = std::max({upper[0] - lower[0], upper[1] - lower[1], upper[2] - lower[2]});
  const float scale = extent > 0 ? 1023.0f / extent : 0.0f;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, alone.size(), 1 << 14), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      const UInt3& t = triangles[alone[i]];
      const Float3 &p = vertices[t.x], &q = vertices[t.y], &r = vertices[t.z];
      const float center[3] = {(p.x + q.x + r.x) / 3, (p.y + q.y + r.y) / 3, (p.z + q.z + r.z) / 3};
      std::uint64_t place = 0;
      for (int a = 0; a < 3; ++a) {
        const float at = (center[a] - lower[a]) * scale;  // NaN where the extent overflows
        const float cell = at > 0 ? std::min(at, 1023.0f) : 0.0f;
        place |= spread(static_cast<std::uint32_t>(cell)) << a;
      }
      alone[i] |= place << 32;
    }
  });
  tbb::parallel_sort(alone);
  return alone;
}

void check(std::span<const Float3> vertices, std::span<const UInt3> triangles) {
  if (triangles.size() > kBvhMaxTriangles)
    throw Error(ErrorKind::limit, std::to_string(triangles.size()) + " triangles are more than a BVH numbers (2^30)",
                {}, "Split the mesh.");
  std::atomic<std::size_t> bad_vertex{vertices.size()}, bad_triangle{triangles.size()};
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, vertices.size(), 1 << 14), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      const Float3& v = vertices[i];
      if (!(std::max({std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)}) <= kBvhFarthest) || std::isnan(v.y) ||
          std::isnan(v.z))
        return base::atomic_min(bad_vertex, i);
    }
  });
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, triangles.size(), 1 << 14), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      const UInt3& t = triangles[i];
      if (std::max({t.x, t.y, t.z}) >= vertices.size()) return base::atomic_min(bad_triangle, i);
    }
  });
  if (const std::size_t i = bad_vertex; i < vertices.size()) {
    const Float3& v = vertices[i];
    const bool finite = std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
    throw Error(finite ? ErrorKind::limit : ErrorKind::malformed,
                finite ? "a coordinate is beyond 1e18" : "a coordinate is not finite",
                {"", "vertex " + std::to_string(i)});
  }
  if (const std::size_t i = bad_triangle; i < triangles.size())
    throw Error(ErrorKind::malformed,
                "an index is out of range: there are " + std::to_string(vertices.size()) + " vertices",
                {"", "triangle " + std::to_string(i)});
}

}  // namespace

RawVector<bvh_detail::PairIds> pair_triangles(std::span<const Float3> vertices, std::span<const UInt3> triangles,
                                              bool pair, const Progress& progress) {
  const Stage stage(progress, "pair", triangles.size());
  check(vertices, triangles);
  const std::size_t count = triangles.size();
  if (!pair) {
    RawVector<bvh_detail::PairIds> alone;
    resize_large(alone, count);
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t t) {
      alone[t] = {{static_cast<std::uint32_t>(t) << 2, kNoTriangle}};
    });
    return alone;
  }
  RawVector<bvh_detail::PairIds> all =
      pair_in_blocks(vertices, triangles, count, [](std::size_t i) { return static_cast<std::uint32_t>(i); });
  // Where neighbours are not near to each other in the mesh's order, they are in space.
  const std::vector<std::uint64_t> alone = single_triangles(vertices, triangles, all);
  if (alone.empty()) return all;
  const RawVector<bvh_detail::PairIds> more = pair_in_blocks(
      vertices, triangles, alone.size(), [&](std::size_t i) { return static_cast<std::uint32_t>(alone[i]); });
  std::erase_if(all, [](const bvh_detail::PairIds& ids) { return ids.triangle[1] == kNoTriangle; });
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

PairCorners pair_corners(std::span<const UInt3> triangles, bvh_detail::PairIds ids) {
  const auto stored = [&](std::uint32_t id) {
    const UInt3& t = triangles[id >> 2];
    const std::uint32_t twice[] = {t.x, t.y, t.z, t.x, t.y};  // no branch on which comes first
    const std::uint32_t* const first = twice + (id & 3u);
    return std::array{first[0], first[1], first[2]};
  };
  const std::uint32_t a = ids.triangle[0], b = ids.triangle[1] == kNoTriangle ? a : ids.triangle[1];
  const std::array<std::uint32_t, 3> own = stored(a);
  return {own[0], own[1], own[2], stored(b)[2]};
}

bvh_detail::TrianglePair pair_vertices(std::span<const Float3> vertices, const PairCorners& corners) {
  bvh_detail::TrianglePair pair;
  for (int k = 0; k < 4; ++k) std::memcpy(pair.vertex[k], &vertices[corners[k]], sizeof pair.vertex[k]);
  return pair;
}

}  // namespace raylift::bvh
