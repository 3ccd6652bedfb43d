// SPDX-License-Identifier: Apache-2.0
#include "border_table.h"

#include <raylift/geometry/error.h>
#include <raylift/gpu/optics.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace raylift::detail {
namespace {

constexpr OpticsView::BorderBucket::Slot kEmpty{kNone, kNone, 0, 0};
constexpr int kMaxMoves = 1000;   // of slots for one pair
constexpr int kMaxDoublings = 4;  // of the table

/// Cuckoo hashing: a pair that finds both of its buckets full takes a slot there, and what stood in it goes to its
/// other bucket. With half of the slots empty that hardly ever takes more than a few moves. (Pagh and Rodler, "Cuckoo
/// hashing", Journal of Algorithms 51, 2004; buckets of two after Dietzfelbinger and Weidling, 2007.)
bool insert(std::vector<OpticsView::BorderBucket>& buckets, OpticsView::BorderBucket::Slot slot) {
  const auto count = static_cast<std::uint32_t>(buckets.size());
  const auto place = [&](std::uint32_t bucket) {
    for (OpticsView::BorderBucket::Slot& one : buckets[bucket].slots)
      if (one.from == kNone) {
        one = slot;
        return true;
      }
    return false;
  };
  const optics_detail::BorderBuckets first = optics_detail::border_buckets(slot.from, slot.to, count);
  if (place(first.first) || place(first.second)) return true;
  std::uint32_t bucket = first.first;
  for (int move = 0; move != kMaxMoves; ++move) {
    std::swap(slot, buckets[bucket].slots[move / 2 % 2]);
    const optics_detail::BorderBuckets at = optics_detail::border_buckets(slot.from, slot.to, count);
    bucket = at.first == bucket ? at.second : at.first;
    if (place(bucket)) return true;
  }
  return false;
}

}  // namespace

std::vector<OpticsView::BorderBucket> border_table(const Scene& scene, const SolidTree& tree) {
  std::vector<OpticsView::BorderBucket::Slot> slots;
  for (const Optics::Border& border : scene.optics.borders)
    if (tree.mother[border.to] != border.from && tree.mother[border.from] != border.to)
      slots.push_back({border.from, border.to, scene.optics.assignments[border.assignment].surface, 0});
  if (slots.empty()) return {};
  std::size_t count = std::bit_ceil(slots.size());
  for (int doubling = 0; doubling != kMaxDoublings; ++doubling, count *= 2) {
    std::vector<OpticsView::BorderBucket> buckets(count, OpticsView::BorderBucket{{kEmpty, kEmpty}});
    if (std::all_of(slots.begin(), slots.end(),
                    [&](const OpticsView::BorderBucket::Slot& slot) { return insert(buckets, slot); }))
      return buckets;
  }
  throw Error(ErrorKind::limit,
              "the " + std::to_string(slots.size()) + " border surfaces between siblings find no place in a hash table",
              {scene.source, ""}, "name the solids more closely");
}

}  // namespace raylift::detail
