// SPDX-License-Identifier: Apache-2.0
// The selection of hits from outcomes, on the host's threads.
#pragma once

#include <raylift/photon/results.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace raylift::photon {

inline constexpr std::size_t kOutcomeBlock = 4096;

/// Calls work(block, begin, end) for blocks of outcomes.
template <class Work>
void for_each_block(std::size_t count, const Work& work) {
  tbb::parallel_for(std::size_t{0}, (count + kOutcomeBlock - 1) / kOutcomeBlock, [&](std::size_t block) {
    work(block, block * kOutcomeBlock, std::min(count, (block + 1) * kOutcomeBlock));
  });
}

/// As DeviceSelect: the places of hits in ascending order, at places that the blocks' counts give. Returns their
/// number.
inline std::uint32_t select_hits(const Outcome* outcomes, std::size_t count, std::uint32_t* places) {
  const auto is_hit = [](const Outcome& outcome) { return outcome.last.kind == StepKind::detected; };
  std::vector<std::uint32_t> first((count + kOutcomeBlock - 1) / kOutcomeBlock + 1);
  for_each_block(count, [&](std::size_t block, std::size_t begin, std::size_t end) {
    first[block + 1] = static_cast<std::uint32_t>(std::count_if(outcomes + begin, outcomes + end, is_hit));
  });
  for (std::size_t block = 1; block != first.size(); ++block) first[block] += first[block - 1];
  for_each_block(count, [&](std::size_t block, std::size_t begin, std::size_t end) {
    std::uint32_t* place = places + first[block];
    for (std::size_t i = begin; i != end; ++i)
      if (is_hit(outcomes[i])) *place++ = static_cast<std::uint32_t>(i);
  });
  return first.back();
}

}  // namespace raylift::photon
