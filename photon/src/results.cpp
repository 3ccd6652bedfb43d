// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/photon/results.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace raylift::photon {

std::string_view to_string(StepKind kind) noexcept {
  constexpr std::array<std::string_view, 14> kNames{"none",         "rayleigh", "mie",
                                                    "reemitted",    "shifted",  "transmitted",
                                                    "reflected",    "absorbed", "absorbed_at_surface",
                                                    "detected",     "escaped",  "no_index",
                                                    "inconsistent", "cut"};
  return kNames[std::min(static_cast<std::size_t>(kind), kNames.size() - 1)];
}

std::uint64_t Tally::of(StepKind kind) const {
  std::uint64_t sum = 0;
  for (std::uint32_t material = 0; material <= layout.materials; ++material) sum += in_material(material, kind);
  return sum;
}

std::uint64_t Tally::photons() const {
  const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(layout.material(0, 0));
  return std::accumulate(begin, counts.begin() + static_cast<std::ptrdiff_t>(layout.surface(0, 0)), std::uint64_t{0});
}

void Tally::add(const Tally& more) {
  if (more.counts.size() != counts.size()) throw Error(ErrorKind::usage, "these counts are of another scene");
  std::transform(counts.begin(), counts.end(), more.counts.begin(), counts.begin(), std::plus<>());
}

}  // namespace raylift::photon
