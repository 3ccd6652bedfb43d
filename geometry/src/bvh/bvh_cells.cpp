// SPDX-License-Identifier: Apache-2.0
#include "bvh_cells.h"
#include "bvh_bins.h"
#include "large_vector.h"

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace raylift::bvh {
namespace {

constexpr std::size_t kMaxCells = std::size_t{1} << 17;  // a surface fills a tenth of them
constexpr std::size_t kPrimitivesPerCell = 4;             // at least, with empty cells
constexpr int kMaxCellsPerAxis = 256;
constexpr int kCellBins = 32;
constexpr std::size_t kFewCells = 128;                       // too few to divide a part by: they are coarse
constexpr std::size_t kFewPrimitives = 1024;                 // likewise: not worth sorting apart
constexpr std::size_t kTaskCells = 1024;                     // cells
constexpr std::size_t kParallelSort = std::size_t{1} << 17;  // primitives
constexpr std::size_t kSortedAtOnce = std::size_t{1} << 13;  // of these

// Sums by cell.
class Sums {
 public:
  explicit Sums(std::uint32_t cells) : counts_(cells), bounds_(std::make_unique_for_overwrite<Slot[]>(cells)) {}

  [[nodiscard]] std::uint32_t count(std::uint32_t cell) const { return counts_[cell]; }
  [[nodiscard]] const Bounds2& bounds(std::uint32_t cell) const { return bounds_[cell].bounds; }
  void add(std::uint32_t cell, const Primitive& p) {
    if (counts_[cell]++ == 0) std::construct_at(&bounds_[cell].bounds);
    bounds_[cell].bounds.add(p);
  }
  void add(std::uint32_t cell, const Sums& other) {
    if (other.counts_[cell] == 0) return;
    if (counts_[cell] == 0) std::construct_at(&bounds_[cell].bounds);
    counts_[cell] += other.counts_[cell];
    bounds_[cell].bounds.add(other.bounds_[cell].bounds);
  }

 private:
  // Not constructed: most cells are empty, and each thread has sums of its own.
  union Slot {
    Slot() {}  // NOLINT(modernize-use-equals-default): that would be deleted
    Bounds2 bounds;
  };

  std::vector<std::uint32_t> counts_;
  std::unique_ptr<Slot[]> bounds_;  // set where there is a count
};

}  // namespace

CellGrid::CellGrid(const Box& centers, std::uint32_t most_cells) : origin_(centers.lower) {
  const Lanes extent = centers.upper - centers.lower;
  float edge = std::max({extent[0], extent[1], extent[2]}) / kMaxCellsPerAxis;
  if (edge < std::numeric_limits<float>::min()) edge = 0;  // a denormal one would not grow: one cell
  const auto cells_along = [&](int a) {
    constexpr float kLast = kMaxCellsPerAxis - 1;
    return extent[a] > 0 && edge > 0 ? static_cast<std::uint32_t>(std::min(extent[a] / edge, kLast)) + 1 : 1;
  };
  for (;; edge *= 1.1f) {
    for (int a = 0; a < 3; ++a) size_[a] = cells_along(a);
    if (cells() <= most_cells) break;
  }
  for (int a = 0; a < 3; ++a) {
    const float scale = 0.999f * static_cast<float>(size_[a]) / extent[a];
    scale_[a] = extent[a] > 0 && std::isfinite(scale) ? scale : 0.0f;
  }
  origin_[3] = 0;
}

Lanes CellGrid::place(std::uint32_t cell) const {
  const std::uint32_t row = cell / size_[0];
  const auto lane = [](std::uint32_t n) { return static_cast<float>(n); };
  return Lanes{lane(cell % size_[0]), lane(row % size_[1]), lane(row / size_[1]), 0};
}

UpperLevels::UpperLevels(std::span<const Primitive> primitives, const Bounds2& bounds, int levels,
                         bool large_sides_cost_less)
    : primitives_(primitives),
      large_sides_cost_less_(large_sides_cost_less),
      grid_(bounds.centers, static_cast<std::uint32_t>(std::min(kMaxCells, primitives.size() / kPrimitivesPerCell))) {
  fill();
  root_.count = primitives.size();
  divide(root_, cells_, levels);
  if (root_.is_part()) return;
  part_of_.resize(grid_.cells());
  const Cell* first = cells_.data();
  number_parts(root_, first);
}

void UpperLevels::fill() {
  const std::uint32_t n = grid_.cells();
  Sums sums(n);
  if (primitives_.size() <= kParallelSort) {
    for (const Primitive& p : primitives_) sums.add(grid_(p), p);
  } else {
    resize_large(cell_of_, primitives_.size());
    tbb::enumerable_thread_specific<Sums> parts(n);
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, primitives_.size(), kSortedAtOnce), [&](const auto& range) {
      Sums& part = parts.local();
      for (std::size_t i = range.begin(); i != range.end(); ++i) {
        const std::uint32_t cell = grid_(primitives_[i]);
        cell_of_[i] = cell;
        part.add(cell, primitives_[i]);
      }
    });
    tbb::parallel_for(tbb::blocked_range<std::uint32_t>(0, n, 1024), [&](const auto& range) {
      for (const Sums& part : parts)
        for (std::uint32_t c = range.begin(); c != range.end(); ++c) sums.add(c, part);
    });
  }
  for (std::uint32_t c = 0; c != n; ++c)
    if (sums.count(c) != 0) cells_.push_back({sums.bounds(c), grid_.place(c), c, sums.count(c)});
}

// The root is divided even if it has few cells. They are about as small as bins, or smaller.
void UpperLevels::divide(UpperNode& node, std::span<Cell> cells, int levels) {
  Box places;
  for (const Cell& cell : cells) {
    node.bounds.add(cell.bounds);
    places.add(cell.place, cell.place);
  }
  if (&node != &root_ && (cells.size() < kFewCells || node.count < kFewPrimitives)) return;
  if (static_cast<int>(std::bit_width(node.count - 1)) >= levels) return;  // only halves fit any more
  Lanes scale = {};
  for (int a = 0; a < 3; ++a) scale[a] = std::min(1.0f, kCellBins / (places.upper[a] - places.lower[a] + 1));
  const auto bin_of = [&](const Cell& cell) {
    return __builtin_convertvector((cell.place - places.lower) * scale, IntLanes);
  };
  Bins<kCellBins> bins;
  for (const Cell& cell : cells) {
    const IntLanes bin = bin_of(cell);
    for (int a = 0; a < 3; ++a) {
      bins.boxes[bin[a]][a].add(cell.bounds.box);
      bins.counts[bin[a]][a] += static_cast<std::int32_t>(cell.count);
    }
  }
  const Split best =
      node.count > kLargeSide && large_sides_cost_less_ ? best_split<true>(bins) : best_split<false>(bins);
  if (best.axis < 0) return;
  const auto left = [&](const Cell& cell) { return best.is_left(bin_of(cell)); };
  const auto middle = static_cast<std::size_t>(std::stable_partition(cells.begin(), cells.end(), left) - cells.begin());
  node.left = std::make_unique<UpperNode>();
  node.right = std::make_unique<UpperNode>();
  node.left->count = best.left;
  node.right->count = node.count - best.left;
  const auto divide_left = [&] { divide(*node.left, cells.first(middle), levels - 1); };
  const auto divide_right = [&] { divide(*node.right, cells.subspan(middle), levels - 1); };
  if (cells.size() < kTaskCells) {
    divide_left();
    divide_right();
  } else {
    tbb::parallel_invoke(divide_left, divide_right);
  }
}

// Parts have their cells in a row, from `at` on.
void UpperLevels::number_parts(const UpperNode& node, const Cell*& at) {
  if (!node.is_part()) {
    number_parts(*node.left, at);
    number_parts(*node.right, at);
    return;
  }
  for (std::size_t n = 0; n != node.count; n += at++->count)
    part_of_[at->number] = static_cast<std::uint32_t>(part_ends_.size());
  part_ends_.push_back((part_ends_.empty() ? 0 : part_ends_.back()) + node.count);
}

void UpperLevels::sort(Primitive* to) const {
  if (primitives_.size() > kParallelSort) return sort_in_parallel(to);
  std::vector<std::size_t> next(part_ends_.size());
  std::copy(part_ends_.begin(), part_ends_.end() - 1, next.begin() + 1);
  for (const Primitive& p : primitives_) to[next[part_of_[grid_(p)]]++] = p;
}

// By blocks of a fixed size: count, then scatter.
void UpperLevels::sort_in_parallel(Primitive* to) const {
  const std::size_t count = primitives_.size(), parts = part_ends_.size();
  const std::size_t block = std::max(kSortedAtOnce, parts), blocks = (count + block - 1) / block;
  std::vector<std::uint32_t> places(blocks * parts);  // where a block's primitives of a part go
  const auto for_blocks = [&](const auto& use) {
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
      std::uint32_t* const of_block = places.data() + b * parts;
      for (std::size_t i = b * block; i != std::min(count, (b + 1) * block); ++i)
        use(i, of_block[part_of_[cell_of_[i]]]);
    });
  };
  for_blocks([](std::size_t, std::uint32_t& n) { ++n; });
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, parts, 16), [&](const auto& range) {
    std::vector<std::uint32_t> next(range.size());
    for (std::size_t p = std::max<std::size_t>(range.begin(), 1); p < range.end(); ++p)
      next[p - range.begin()] = static_cast<std::uint32_t>(part_ends_[p - 1]);
    for (std::size_t b = 0; b != blocks; ++b)
      for (std::size_t p = range.begin(); p != range.end(); ++p) {
        std::uint32_t& place = places[b * parts + p];
        const std::uint32_t n = std::exchange(place, next[p - range.begin()]);
        next[p - range.begin()] += n;
      }
  });
  for_blocks([&](std::size_t i, std::uint32_t& place) { to[place++] = primitives_[i]; });
}

}  // namespace raylift::bvh
