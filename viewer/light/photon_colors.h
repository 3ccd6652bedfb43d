// SPDX-License-Identifier: Apache-2.0
// The colours of light: one table for shaders, and the legends that come from it. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <vector>

#include "light/light_statistics.h"
#include "light/photon_choice.h"
#include "model/colors/color_map.h"
#include "model/colors/legend.h"
#include "model/colors/value_scale.h"

namespace raylift::viewer {

/// The colour of light of a wavelength in vacuum, nm: the spectrum's hue from 420 to 650 nm, as bright as the screen
/// allows, by the colour matching functions of CIE 1931 as fitted by C. Wyman et al. (JCGT 2(2), 2013). Below 420 nm it
/// is violet, and darker down to 380 nm; above 650 nm it is red, and darker up to 720 nm. So ultraviolet light is dark
/// violet, and infrared light dark red.
[[nodiscard]] Color wavelength_color(double nanometres);
/// The colour of an event, by its number in histories, and of a photon. Neither is a colour of distinct_color(), which
/// materials and solids have.
[[nodiscard]] Color event_color(std::uint32_t number, const Ground& ground);
[[nodiscard]] Color photon_color(std::uint32_t number, const Ground& ground);

/// What the colours of a set mean: the settings' quantity, or the one that `automatic` stands for.
[[nodiscard]] PhotonColor shown_color(const PhotonSettings& settings, const LightStatistics& of);
/// The scale of the time of light. Where the settings leave it open it ends at the time that 98 % of the light is
/// within: a few late photons would give all others one colour.
[[nodiscard]] ValueScale time_scale(const PhotonSettings& settings, const LightStatistics& times);

/// The colours of light, sRGB 0xAABBGGRR: wavelengths from kFirstWavelength on in steps of 1 nm, the scale of time,
/// events, materials (the last: none), and distinct colours for photons. All but those of materials are legible.
struct PhotonColorTable {
  static constexpr std::uint32_t kFirstWavelength = 380, kWavelengths = 351, kEvents = 16;
  std::vector<std::uint32_t> colors;
  std::uint32_t ramp = kWavelengths, events = kWavelengths + kScaleSteps,
                materials = kWavelengths + kScaleSteps + kEvents;
  std::uint32_t numbers = 0;  ///< where those of kDistinctColors photons begin
};
[[nodiscard]] PhotonColorTable photon_color_table(const Scene& scene, ColorMap map, const Ground& ground);

/// What the colours of the light that is drawn mean.
[[nodiscard]] Legend photon_legend(const PhotonSet& set, const PhotonChoice& choice, const LightStatistics& times,
                                   const Scene& scene, const Settings& settings, std::size_t most = 12);

/// Whether first hits have the scale of the time of light, because both have one colour map. With maps of their own
/// each has the range that suits it: light is on its way long before and after the hits.
[[nodiscard]] bool share_scale(const Settings& settings, const LightStatistics* light);
/// The scale of ColorBy::hits or first_hit, and its colours.
struct HitScale {
  ValueScale values;
  ScaleColors colors;
};
/// `light`: the times of the light that is drawn by time; null: there is none.
[[nodiscard]] HitScale hit_scale(const SolidHits& hits, const Settings& settings, const LightStatistics* light);
/// The colours of solids, sRGB 0xAABBGGRR: one for each solid; and their legend.
[[nodiscard]] std::vector<std::uint32_t> hit_colors(const SolidHits& hits, ColorBy color, const HitScale& scale);
[[nodiscard]] Legend hit_legend(const SolidHits& hits, ColorBy color, const HitScale& scale);

}  // namespace raylift::viewer
