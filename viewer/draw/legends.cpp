// SPDX-License-Identifier: Apache-2.0
#include "draw/legends.h"

#include <algorithm>

#include "draw/scene_legend.h"
#include "light/photon_colors.h"

namespace raylift::viewer {

std::vector<Legend> make_legends(const Scene& scene, const Settings& settings, std::span<const std::uint8_t> looks,
                                 std::optional<std::pair<double, double>> depths, const Photons& photons,
                                 const std::optional<SolidHits>& hits, std::size_t most) {
  constexpr std::size_t kMaxOfLight = 12;
  std::vector<Legend> legends;
  const bool drawn = settings.ray_cast == RayMode::off;
  legends.push_back(settings.colors_hits() && drawn ? hit_legend(hits.value_or(SolidHits()), settings.color)
                                                    : make_legend(scene, settings, looks, depths, most));
  if (photons.set() && drawn)
    legends.push_back(photon_legend(*photons.set(), photons.choice(settings.photons.filter), scene,
                                    settings.photons.color, std::min(most, kMaxOfLight)));
  std::erase_if(legends, [](const Legend& legend) { return legend.title.empty(); });
  return legends;
}

}  // namespace raylift::viewer
