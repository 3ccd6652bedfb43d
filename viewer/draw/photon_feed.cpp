// SPDX-License-Identifier: Apache-2.0
#include "draw/photon_feed.h"

#include <cstdint>
#include <vector>

#include "light/photon_colors.h"
#include "model/colors/palette.h"

namespace raylift::viewer {

void PhotonFeed::feed(Renderer& renderer, const Photons& photons, const Settings& settings, const Scene& scene) {
  if (set_ != photons.set()) {
    forget();
    set_ = photons.set();
    if (!set_) {
      renderer.photons().clear();
      renderer.set_hit_colors(std::vector<std::uint32_t>(scene.instances.size(), packed(kNoHitColor)));
    } else {
      renderer.photons().set_photons(*set_, set_->rows_buffer != 0 ? std::optional(set_->rows_buffer) : std::nullopt);
    }
  }
  if (!set_) return;
  const PhotonSettings& light = settings.photons;
  const ColorsKey colors{shown_color(light, photons.statistics()), light.scale_map, ground_of(settings.background),
                         time_scale(light, photons.statistics())};
  if (colors_ != colors) {
    colors_ = colors;
    renderer.photons().set_colors(photon_color_table(scene, colors.map, colors.ground), colors.color, colors.times);
  }
  const PhotonChoice& choice = photons.choice(settings.photons.filter);
  if (choice_ != photons.choice_version()) {
    choice_ = photons.choice_version();
    renderer.photons().choose(choice, *set_);
  }
  const std::optional<std::size_t> selected = photons.selection() ? photons.selection()->path : std::nullopt;
  if (selected_ != selected) {
    selected_ = selected;
    renderer.photons().select(photons.selected_steps());
  }
  if (!settings.colors_hits()) return;
  const LightStatistics* times = photons.statistics_of_time(light);
  const HitsKey key{choice_,          settings.color, light.time,   times != nullptr,
                    settings.scale(), light.scale(),  colors.ground};
  if (hits_of_ == key) return;
  hits_ = photons.hits(light.filter, light.time);
  renderer.set_hit_colors(hit_colors(*hits_, settings.color, hit_scale(*hits_, settings, times)));
  hits_of_ = key;
}

}  // namespace raylift::viewer
