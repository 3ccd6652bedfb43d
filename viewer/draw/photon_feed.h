// SPDX-License-Identifier: Apache-2.0
// Gives a renderer what it draws of photons, when it has changed. Needs a current context.
#pragma once

#include <memory>
#include <optional>

#include "draw/renderer.h"
#include "light/photons.h"
#include "model/colors/color_map.h"
#include "model/colors/value_scale.h"

namespace raylift::viewer {

class PhotonFeed {
 public:
  /// Throws Error: what PhotonLayer does.
  void feed(Renderer& renderer, const Photons& photons, const Settings& settings, const Scene& scene);
  /// The renderer has another scene, and no photons.
  void forget() { *this = PhotonFeed(); }
  /// What solids detected, as their colours show it; nothing where they don't.
  [[nodiscard]] const std::optional<SolidHits>& hits() const { return hits_; }

 private:
  /// What the colours of light follow from.
  struct ColorsKey {
    PhotonColor color = PhotonColor::wavelength;
    ColorMap map = ColorMap::viridis;
    Ground ground;
    ValueScale times;
    friend bool operator==(const ColorsKey&, const ColorsKey&) = default;
  };
  /// What the colours of solids follow from.
  struct HitsKey {
    std::uint64_t choice = 0;
    ColorBy color = ColorBy::hits;
    std::optional<double> until;
    bool of_light = false;  // the scale is that of light
    ScaleSettings scale, light_scale;
    Ground ground;
    friend bool operator==(const HitsKey&, const HitsKey&) = default;
  };
  std::shared_ptr<const PhotonSet> set_;
  std::optional<ColorsKey> colors_;
  std::uint64_t choice_ = 0;
  std::optional<std::size_t> selected_;
  std::optional<HitsKey> hits_of_;
  std::optional<SolidHits> hits_;
};

}  // namespace raylift::viewer
