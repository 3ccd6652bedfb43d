// SPDX-License-Identifier: Apache-2.0
// Welding by a shared hash table (exact) and by connected components over a grid (tolerance).
#include "weld.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "base/atomics.h"
#include "base/huge_pages.h"
#include "disjoint_sets.h"

namespace raylift {
namespace {

using Index = std::uint32_t;
constexpr Index kEmpty = 0xFFFFFFFFU;
constexpr std::size_t kGrain = 1U << 14;

using Range = tbb::blocked_range<std::size_t>;

/// Numbers, not initialised. (An array of std::atomic would be written twice: since C++20 it starts as zeros.)
std::unique_ptr<Index[]> scratch(std::size_t count) {
  auto result = std::make_unique_for_overwrite<Index[]>(count);
  base::prefer_huge_pages(result.get(), count * sizeof(Index));
  return result;
}

struct Key {
  std::uint32_t x, y, z;
  friend bool operator==(const Key&, const Key&) = default;
};

/// Bits that are equal exactly when the coordinates compare equal: adding 0 turns -0 into 0.
Key key_of(const Float3& v) {
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

/// For each vertex the first vertex in file order with the same coordinates.
///
/// An open-addressing table of vertex ids. A slot, once taken, only ever changes to a smaller vertex with equal
/// coordinates, so whatever the order of insertion, each group ends with its minimum in one slot.
std::unique_ptr<Index[]> exact_representatives(const std::vector<Float3>& vertices, const std::vector<Float3>& rests) {
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
        if (key_of(vertices[seen]) == key && (rests.empty() || key_of(rests[seen]) == key_of(rests[i]))) {
          base::atomic_min(entry, id);
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

  const auto keep = [&](std::vector<Float3>& values) {
    std::vector<Float3> those;
    base::reserve_huge(those, kept);
    those.resize(kept);
    tbb::parallel_for(Range(0, count, kGrain), [&](const Range& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i)
        if (representative[i] == i) those[rank[i]] = values[i];
    });
    values = std::move(those);
  };
  tbb::parallel_for(Range(0, mesh.triangles.size(), kGrain), [&](const Range& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      UInt3& t = mesh.triangles[i];
      t = {rank[representative[t.x]], rank[representative[t.y]], rank[representative[t.z]]};
    }
  });
  keep(mesh.vertices);
  if (!mesh.rests.empty()) keep(mesh.rests);
}

struct Cell {
  std::int64_t x, y, z;
  auto operator<=>(const Cell&) const = default;
};

struct Member {
  Cell cell;
  Index vertex;
};

double distance_squared(const Float3& a, const Float3& b) {
  const double x = double{a.x} - double{b.x};
  const double y = double{a.y} - double{b.y};
  const double z = double{a.z} - double{b.z};
  return x * x + y * y + z * z;
}

/// Whether some vertex of `a` lies within `limit` (squared) of some vertex of `b`. Splits the larger set at its middle
/// and looks at boxes first, so that two crowded cells without a near pair don't cost a look at every pair.
bool any_near(const std::vector<Float3>& vertices, std::span<Index> a, std::span<Index> b, double limit) {
  if (a.size() * b.size() <= 256) {
    for (const Index i : a)
      for (const Index j : b)
        if (distance_squared(vertices[i], vertices[j]) <= limit) return true;
    return false;
  }
  const auto box_of = [&](std::span<const Index> set) {
    Bounds box;
    for (const Index i : set) box.add(vertices[i]);
    return box;
  };
  const Bounds box_a = box_of(a);
  const Bounds box_b = box_of(b);
  const Eigen::Vector3d a_min = to_eigen(box_a.min), a_max = to_eigen(box_a.max);
  const Eigen::Vector3d b_min = to_eigen(box_b.min), b_max = to_eigen(box_b.max);
  const Eigen::Vector3d zero = Eigen::Vector3d::Zero();
  const Eigen::Vector3d gap = (b_min - a_max).cwiseMax(a_min - b_max).cwiseMax(zero);
  if (gap.squaredNorm() > limit) return false;
  const Eigen::Vector3d span = (b_max - a_min).cwiseMax(a_max - b_min);
  if (span.squaredNorm() <= limit) return true;

  const std::span<Index> large = a.size() > b.size() ? a : b;
  const std::span<Index> other = a.size() > b.size() ? b : a;
  int axis = 0;
  to_eigen((a.size() > b.size() ? box_a : box_b).size()).maxCoeff(&axis);
  const auto coordinate = [&](Index i) {
    return axis == 0 ? vertices[i].x : axis == 1 ? vertices[i].y : vertices[i].z;
  };
  const std::size_t half = large.size() / 2;
  std::nth_element(large.begin(), large.begin() + static_cast<std::ptrdiff_t>(half), large.end(),
                   [&](Index i, Index j) { return coordinate(i) < coordinate(j); });
  return any_near(vertices, large.first(half), other, limit) || any_near(vertices, large.subspan(half), other, limit);
}

/// A coordinate's cell number along its axis.
std::int64_t cell_number(float value, double edge) {
  const double cells = double{value} / edge;
  constexpr double kExact = 4503599627370496.0;  // 2^52: up to here the floor is exact
  if (std::abs(cells) < kExact) return static_cast<std::int64_t>(std::floor(cells));
  // Neighbouring floats are more than 2^26 cells apart here: a number of its own for each, near no other.
  const std::int64_t bits = std::bit_cast<std::uint32_t>(std::abs(value));
  return (value < 0 ? -1 : 1) * ((std::int64_t{1} << 53) + 8 * bits);
}

/// The search for near pairs. Cells have an edge of about tolerance / 2, whose diagonal is below the tolerance: all
/// vertices of one cell are one set at once, and only pairs of cells need a search, which ends at the first pair of
/// vertices near enough. The cells near a cell form rows; as the cell moves on in sort order, so does each row, so that
/// they are found by walking.
class NearJoiner {
 public:
  NearJoiner(const std::vector<Float3>& vertices, double tolerance, DisjointSets& sets)
      : vertices_(vertices), limit_(tolerance * tolerance), sets_(sets), members_(vertices.size()) {
    // A little more than half, so that rounding can't put a near pair three cells apart.
    const double edge = 0.5001 * tolerance;
    tbb::parallel_for(Range(0, vertices.size(), kGrain), [&](const Range& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i) {
        const Float3& v = vertices[i];
        members_[i] = {{cell_number(v.x, edge), cell_number(v.y, edge), cell_number(v.z, edge)}, static_cast<Index>(i)};
      }
    });
    tbb::parallel_sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
      return a.cell != b.cell ? a.cell < b.cell : a.vertex < b.vertex;
    });
    for (std::size_t i = 0; i != members_.size(); ++i)
      if (i == 0 || members_[i].cell != members_[i - 1].cell) starts_.push_back(i);
    starts_.push_back(members_.size());
  }

  void run() {
    tbb::parallel_for(Range(0, starts_.size() - 1, 1024), [this](const Range& range) { join_range(range); });
  }

 private:
  // Reach of a cell along an axis, in cells.
  static constexpr std::int64_t kReach = 2;
  struct Row {
    std::int64_t x, y, first_z;
  };
  // The rows after the cell itself in sort order, so that each pair of cells is seen once.
  static constexpr std::array<Row, 13> kRows{{{0, 0, 1},
                                              {0, 1, -2},
                                              {0, 2, -2},
                                              {1, -2, -2},
                                              {1, -1, -2},
                                              {1, 0, -2},
                                              {1, 1, -2},
                                              {1, 2, -2},
                                              {2, -2, -2},
                                              {2, -1, -2},
                                              {2, 0, -2},
                                              {2, 1, -2},
                                              {2, 2, -2}}};

  [[nodiscard]] const Cell& cell(std::size_t number) const { return members_[starts_[number]].cell; }
  [[nodiscard]] std::span<const Member> members(std::size_t number) const {
    return std::span(members_).subspan(starts_[number], starts_[number + 1] - starts_[number]);
  }

  void join_range(const Range& range) {
    const std::size_t cells = starts_.size() - 1;
    std::array<std::size_t, kRows.size()> at{};
    for (std::size_t c = range.begin(); c != range.end(); ++c) {
      const std::span<const Member> own = members(c);
      for (const Member& member : own.subspan(1)) sets_.join(own.front().vertex, member.vertex);
      for (std::size_t r = 0; r != kRows.size(); ++r) {
        const Cell first{own.front().cell.x + kRows[r].x, own.front().cell.y + kRows[r].y,
                         own.front().cell.z + kRows[r].first_z};
        if (c == range.begin())
          at[r] = static_cast<std::size_t>(std::lower_bound(starts_.begin(), starts_.end() - 1, first,
                                                            [this](std::size_t start, const Cell& wanted) {
                                                              return members_[start].cell < wanted;
                                                            }) -
                                           starts_.begin());
        while (at[r] != cells && cell(at[r]) < first) ++at[r];
        for (std::size_t k = at[r];
             k != cells && cell(k).x == first.x && cell(k).y == first.y && cell(k).z <= own.front().cell.z + kReach;
             ++k)
          join_cells(own, members(k));
      }
    }
  }

  /// Each cell is one set already, so any near pair joins both.
  void join_cells(std::span<const Member> a, std::span<const Member> b) {
    if (sets_.find(a.front().vertex) == sets_.find(b.front().vertex)) return;
    if (a.size() * b.size() == 1 ? distance_squared(vertices_[a[0].vertex], vertices_[b[0].vertex]) <= limit_
                                 : any_near(ids(a), ids(b)))
      sets_.join(a.front().vertex, b.front().vertex);
  }
  [[nodiscard]] bool any_near(std::vector<Index> a, std::vector<Index> b) const {
    return raylift::any_near(vertices_, a, b, limit_);
  }
  [[nodiscard]] static std::vector<Index> ids(std::span<const Member> cell) {
    std::vector<Index> result;
    result.reserve(cell.size());
    for (const Member& member : cell) result.push_back(member.vertex);
    return result;
  }

  const std::vector<Float3>& vertices_;
  double limit_;
  DisjointSets& sets_;
  std::vector<Member> members_;      // sorted by cell
  std::vector<std::size_t> starts_;  // of each cell's members, and their end
};

void weld_within(Mesh& mesh, double tolerance) {
  const std::size_t count = mesh.vertices.size();
  DisjointSets sets(count);
  NearJoiner(mesh.vertices, tolerance, sets).run();
  const auto representative = scratch(count);
  tbb::parallel_for(Range(0, count, kGrain), [&](const Range& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) representative[i] = sets.find(static_cast<Index>(i));
  });
  keep_representatives(mesh, representative.get());
}

}  // namespace

void weld(Mesh& mesh, double tolerance) {
  if (mesh.vertices.empty()) return;
  if (!(tolerance >= 0) || std::isinf(tolerance))
    throw Error(ErrorKind::usage, "the weld tolerance must be a finite number, 0 or larger");
  if (mesh.vertices.size() >= kEmpty)
    throw Error(ErrorKind::limit, "more vertices than 32-bit indices can number", {"", "mesh '" + mesh.name + "'"},
                "split the mesh");
  try {
    keep_representatives(mesh, exact_representatives(mesh.vertices, mesh.rests).get());
    if (tolerance > 0) weld_within(mesh, tolerance);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_host_memory,
                "no memory to weld " + std::to_string(mesh.vertices.size()) + " vertices",
                {"", "mesh '" + mesh.name + "'"});
  }
}

}  // namespace raylift
