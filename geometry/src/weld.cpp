// SPDX-License-Identifier: Apache-2.0
// Welding by a shared hash table (exact) and by connected components over a grid (tolerance).
#include <raylift/geometry/error.h>
#include <raylift/geometry/weld.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "disjoint_sets.h"
#include "huge_pages.h"

namespace raylift {
namespace {

using Index = std::uint32_t;
constexpr Index kEmpty = 0xFFFFFFFFU;
constexpr std::size_t kGrain = 1U << 14;

using Range = tbb::blocked_range<std::size_t>;

/// Numbers, not initialised. (An array of std::atomic would be written twice: since C++20 it starts as zeros.)
std::unique_ptr<Index[]> scratch(std::size_t count) {
  auto result = std::make_unique_for_overwrite<Index[]>(count);
  prefer_huge_pages(result.get(), count * sizeof(Index));
  return result;
}

struct Key {
  std::uint32_t x, y, z;
  friend bool operator==(const Key&, const Key&) = default;
};

/// Bits that are equal exactly when the coordinates compare equal: adding 0 turns -0 into 0.
Key key_of(const float3& v) {
  return {std::bit_cast<std::uint32_t>(v.x + 0.0F), std::bit_cast<std::uint32_t>(v.y + 0.0F),
          std::bit_cast<std::uint32_t>(v.z + 0.0F)};
}

/// Multiply-xorshift mixing; the constants are odd 64-bit numbers with no structure.
std::uint64_t hash(const Key& key) {
  std::uint64_t h = (std::uint64_t{key.x} << 32 | key.y) * 0x9E3779B97F4A7C15ULL;
  h ^= h >> 29;
  h = (h ^ key.z) * 0xD6E8FEB86659FD93ULL;
  return h ^ (h >> 32);
}

void atomic_min(std::atomic_ref<Index> target, Index value) {
  Index seen = target.load(std::memory_order_relaxed);
  while (value < seen && !target.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

/// For each vertex the first vertex in file order with the same coordinates.
///
/// An open-addressing table of vertex ids. A slot, once taken, only ever changes to a smaller vertex with equal
/// coordinates, so whatever the order of insertion, each group ends with its minimum in one slot.
std::unique_ptr<Index[]> exact_representatives(const std::vector<float3>& vertices) {
  const std::size_t count = vertices.size();
  // Slot numbers are kept in 32 bits; vertices are fewer than that, so even then a free slot is left.
  const std::size_t slots = std::min(std::bit_ceil(count + count / 2 + 1), std::size_t{1} << 32);
  const std::size_t mask = slots - 1;
  const auto table = scratch(slots);
  auto slot_of = scratch(count);

  tbb::parallel_for(Range(0, slots, kGrain), [&](const Range& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) table[i] = kEmpty;
  });
  tbb::parallel_for(Range(0, count, kGrain), [&](const Range& range) {
    // Hash a few vertices ahead and prefetch their slots: the table is far larger than the caches.
    constexpr std::size_t kAhead = 16;
    std::size_t home[kAhead];
    const auto prepare = [&](std::size_t i) {
      const std::size_t slot = hash(key_of(vertices[i])) & mask;
      home[i % kAhead] = slot;
      __builtin_prefetch(&table[slot], 1);
    };
    for (std::size_t i = range.begin(); i != std::min(range.begin() + kAhead, range.end()); ++i) prepare(i);
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      std::size_t slot = home[i % kAhead];
      if (i + kAhead < range.end()) prepare(i + kAhead);
      const Key key = key_of(vertices[i]);
      const auto id = static_cast<Index>(i);
      for (;; slot = (slot + 1) & mask) {
        const std::atomic_ref<Index> entry(table[slot]);
        Index seen = entry.load(std::memory_order_relaxed);
        if (seen == kEmpty && entry.compare_exchange_strong(seen, id, std::memory_order_relaxed)) break;
        if (key_of(vertices[seen]) == key) {
          atomic_min(entry, id);
          break;
        }
      }
      slot_of[i] = static_cast<Index>(slot);
    }
  });
  tbb::parallel_for(Range(0, count, kGrain), [&](const Range& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) slot_of[i] = table[slot_of[i]];
  });
  return slot_of;
}

/// Keeps the vertices that represent themselves, in order, and points the triangles at them.
void keep_representatives(Mesh& mesh, const Index* representative) {
  const std::size_t count = mesh.vertices.size();
  const auto rank = scratch(count);
  const std::size_t kept = tbb::parallel_scan(
      Range(0, count, kGrain), std::size_t{0},
      [&](const Range& range, std::size_t sum, bool final) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          if (final) rank[i] = static_cast<Index>(sum);
          sum += representative[i] == i ? 1 : 0;
        }
        return sum;
      },
      std::plus<>());
  if (kept == count) return;

  std::vector<float3> vertices;
  reserve_huge(vertices, kept);
  vertices.resize(kept);
  tbb::parallel_for(Range(0, count, kGrain), [&](const Range& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i)
      if (representative[i] == i) vertices[rank[i]] = mesh.vertices[i];
  });
  tbb::parallel_for(Range(0, mesh.triangles.size(), kGrain), [&](const Range& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      uint3& t = mesh.triangles[i];
      t = {rank[representative[t.x]], rank[representative[t.y]], rank[representative[t.z]]};
    }
  });
  mesh.vertices = std::move(vertices);
}

struct Cell {
  std::int64_t x, y, z;
  auto operator<=>(const Cell&) const = default;
};

struct Member {
  Cell cell;
  Index vertex;
};

double distance_squared(const float3& a, const float3& b) {
  const double x = double{a.x} - double{b.x};
  const double y = double{a.y} - double{b.y};
  const double z = double{a.z} - double{b.z};
  return x * x + y * y + z * z;
}

/// Whether some vertex of `a` lies within `limit` (squared) of some vertex of `b`. Splits the larger set at its middle
/// and looks at boxes first, so that two crowded cells without a near pair don't cost a look at every pair.
bool any_near(const std::vector<float3>& vertices, std::span<Index> a, std::span<Index> b, double limit) {
  if (a.size() * b.size() <= 256) {
    for (const Index i : a)
      for (const Index j : b)
        if (distance_squared(vertices[i], vertices[j]) <= limit) return true;
    return false;
  }
  const auto box_of = [&](std::span<const Index> set) {
    Bounds box;
    for (const Index i : set) box.add(Eigen::Vector3d(vertices[i].x, vertices[i].y, vertices[i].z));
    return box;
  };
  const Bounds box_a = box_of(a);
  const Bounds box_b = box_of(b);
  const Eigen::Vector3d zero = Eigen::Vector3d::Zero();
  const Eigen::Vector3d gap = (box_b.min - box_a.max).cwiseMax(box_a.min - box_b.max).cwiseMax(zero);
  if (gap.squaredNorm() > limit) return false;
  const Eigen::Vector3d span = (box_b.max - box_a.min).cwiseMax(box_a.max - box_b.min);
  if (span.squaredNorm() <= limit) return true;

  const std::span<Index> large = a.size() > b.size() ? a : b;
  const std::span<Index> other = a.size() > b.size() ? b : a;
  int axis = 0;
  (a.size() > b.size() ? box_a : box_b).size().maxCoeff(&axis);
  const auto coordinate = [&](Index i) {
    return axis == 0 ? vertices[i].x : axis == 1 ? vertices[i].y : vertices[i].z;
  };
  const std::size_t half = large.size() / 2;
  std::nth_element(large.begin(), large.begin() + static_cast<std::ptrdiff_t>(half), large.end(),
                   [&](Index i, Index j) { return coordinate(i) < coordinate(j); });
  return any_near(vertices, large.first(half), other, limit) || any_near(vertices, large.subspan(half), other, limit);
}

/// Joins vertices within `tolerance` of each other. Cells have an edge of tolerance / 2, whose diagonal is below the
/// tolerance: all vertices of one cell are one set at once, and only pairs of cells need a search, which ends at the
/// first pair of vertices near enough.
void join_near(const std::vector<float3>& vertices, double tolerance, DisjointSets& sets) {
  const std::size_t count = vertices.size();
  const double edge = tolerance / 2;
  const auto coordinate = [edge](float value) { return static_cast<std::int64_t>(std::floor(double{value} / edge)); };
  std::vector<Member> members(count);
  tbb::parallel_for(Range(0, count, kGrain), [&](const Range& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      const float3& v = vertices[i];
      members[i] = {{coordinate(v.x), coordinate(v.y), coordinate(v.z)}, static_cast<Index>(i)};
    }
  });
  tbb::parallel_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.vertex < b.vertex;
  });
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i != count; ++i)
    if (i == 0 || members[i].cell != members[i - 1].cell) starts.push_back(i);
  const auto end_of = [&](std::size_t cell) { return cell + 1 < starts.size() ? starts[cell + 1] : count; };

  // Neighbour offsets after the cell itself in sort order: each pair of cells is seen once.
  std::vector<Cell> offsets;
  for (std::int64_t x = -2; x <= 2; ++x)
    for (std::int64_t y = -2; y <= 2; ++y)
      for (std::int64_t z = -2; z <= 2; ++z)
        if (Cell{x, y, z} > Cell{0, 0, 0}) offsets.push_back({x, y, z});

  const double limit = tolerance * tolerance;
  const auto join_cells = [&](std::size_t a, std::size_t b) {
    const auto ids = [&](std::size_t cell) {
      std::vector<Index> result;
      for (std::size_t i = starts[cell]; i != end_of(cell); ++i) result.push_back(members[i].vertex);
      return result;
    };
    std::vector<Index> of_a = ids(a);
    std::vector<Index> of_b = ids(b);
    // Each cell is one set already, so any pair joins both.
    if (any_near(vertices, of_a, of_b, limit)) sets.join(of_a.front(), of_b.front());
  };
  tbb::parallel_for(Range(0, starts.size(), 256), [&](const Range& range) {
    for (std::size_t cell = range.begin(); cell != range.end(); ++cell) {
      const Member& first = members[starts[cell]];
      for (std::size_t i = starts[cell] + 1; i != end_of(cell); ++i) sets.join(first.vertex, members[i].vertex);
      for (const Cell& offset : offsets) {
        const Cell wanted{first.cell.x + offset.x, first.cell.y + offset.y, first.cell.z + offset.z};
        const auto found = std::lower_bound(starts.begin() + static_cast<std::ptrdiff_t>(cell), starts.end(), wanted,
                                            [&](std::size_t start, const Cell& c) { return members[start].cell < c; });
        if (found == starts.end() || members[*found].cell != wanted) continue;
        const auto other = static_cast<std::size_t>(found - starts.begin());
        if (sets.find(first.vertex) != sets.find(members[*found].vertex)) join_cells(cell, other);
      }
    }
  });
}

void weld_within(Mesh& mesh, double tolerance) {
  double reach = 0;
  for (const float3& v : mesh.vertices)
    reach = std::max({reach, double{std::abs(v.x)}, double{std::abs(v.y)}, double{std::abs(v.z)}});
  // Beyond this, cell numbers leave the range in which doubles and 64-bit integers are exact; neighbouring floats are
  // then far more than a tolerance apart, so nothing but equal vertices could merge anyway.
  if (reach / tolerance > 1e15) return;
  const std::size_t count = mesh.vertices.size();
  DisjointSets sets(count);
  join_near(mesh.vertices, tolerance, sets);
  const auto representative = scratch(count);
  for (std::size_t i = 0; i != count; ++i) representative[i] = sets.find(static_cast<Index>(i));
  keep_representatives(mesh, representative.get());
}

}  // namespace

void weld(Mesh& mesh, const WeldOptions& options) {
  if (!options.enabled || mesh.vertices.empty()) return;
  if (!(options.tolerance >= 0) || std::isinf(options.tolerance))
    throw Error(ErrorKind::usage, "the weld tolerance must be a finite number, 0 or larger");
  try {
    keep_representatives(mesh, exact_representatives(mesh.vertices).get());
    if (options.tolerance > 0) weld_within(mesh, options.tolerance);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_host_memory,
                "no memory to weld " + std::to_string(mesh.vertices.size()) + " vertices",
                {"", "mesh '" + mesh.name + "'"});
  }
}

}  // namespace raylift
