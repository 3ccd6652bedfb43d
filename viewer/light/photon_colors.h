// SPDX-License-Identifier: Apache-2.0
// The colours of light: one table for shaders, and the legends that come from it. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <vector>

#include "light/photon_choice.h"
#include "model/legend.h"

namespace raylift::viewer {

/// The colour of light of a wavelength in vacuum, nm: the spectrum's hue from 420 to 650 nm, as bright as the screen
/// allows, by the colour matching functions of CIE 1931 as fitted by C. Wyman et al. (JCGT 2(2), 2013). Below 420 nm it
/// is violet, and darker down to 380 nm; above 650 nm it is red, and darker up to 720 nm. So ultraviolet light is dark
/// violet, and infrared light dark red.
[[nodiscard]] Color wavelength_color(double nanometres);
/// From 0 to 1: viridis.
[[nodiscard]] Color ramp_color(double value);
void add_ramp(Legend& legend);
/// The colour of an event, by its number in histories.
[[nodiscard]] Color event_color(std::uint32_t number);

/// The colours of light, sRGB 0xAABBGGRR: wavelengths from kFirstWavelength on in steps of 1 nm, the ramp, events,
/// materials (the last: none), and distinct colours for photons' numbers.
struct PhotonColorTable {
  static constexpr std::uint32_t kFirstWavelength = 380, kWavelengths = 351, kRamp = 256, kEvents = 16;
  std::vector<std::uint32_t> colors;
  std::uint32_t ramp = kWavelengths, events = kWavelengths + kRamp, materials = kWavelengths + kRamp + kEvents;
  std::uint32_t numbers = 0;  ///< where kDistinctColors begin
};
[[nodiscard]] PhotonColorTable photon_color_table(const Scene& scene);

/// What the colours of the light that is drawn mean.
[[nodiscard]] Legend photon_legend(const PhotonSet& set, const PhotonChoice& choice, const Scene& scene,
                                   PhotonColor color, std::size_t most = 12);

/// The colours of solids by ColorBy::hits or first_hit, sRGB 0xAABBGGRR: one for each solid; and their legend.
[[nodiscard]] std::vector<std::uint32_t> hit_colors(const SolidHits& hits, ColorBy color);
[[nodiscard]] Legend hit_legend(const SolidHits& hits, ColorBy color);

}  // namespace raylift::viewer
