// SPDX-License-Identifier: Apache-2.0
// How photons are drawn: colours, filters and time. setting_table.h names these settings for options, verbs and
// bookmarks. No GL.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/settings/scale_settings.h"

namespace raylift::viewer {

/// The quantity that the colour of light shows. The numbers of the first five are those of shaders. `automatic`: the
/// wavelength, or the time where all light has one wavelength.
enum class PhotonColor : std::uint8_t { wavelength, time, process, photon, material, automatic };
inline constexpr std::array<std::string_view, 6> kPhotonColorNames{"wavelength", "time",     "process",
                                                                   "photon",     "material", "auto"};

/// Photons are drawn if they pass all of these.
struct PhotonFilter {
  std::string history;                           ///< in the form of photon::HistoryPattern
  std::optional<Between<float>> wavelength;      ///< nm; of each step by itself
  std::optional<Between<std::int32_t>> channel;  ///< of the detecting sensor
  friend bool operator==(const PhotonFilter&, const PhotonFilter&) = default;
};

struct PhotonSettings {
  PhotonColor color = PhotonColor::automatic;
  ColorMap scale_map = ColorMap::magma;  ///< of time; another one than that of solids, so that a colour means one thing
  bool scale_log = false;
  std::optional<Between<double>> scale_range;  ///< ns; none: from the data
  PhotonFilter filter;
  bool paths = true;
  bool points = true;
  bool clip = false;           ///< clipping planes and the box cut light too
  float size = 1;              ///< of lines, pixels; points are larger
  float opacity = 0.6F;        ///< below 1, lines show what is behind them
  float density = 0.25F;       ///< the share of the image that paths, or points, may cover; 0: all are drawn
  std::optional<double> time;  ///< ns; none: all light at once
  double trail = 0;            ///< ns of each path behind its head; 0: all of it
  double speed = 0;            ///< ns in a second of play; 0: all times in kPlaySeconds
  bool loop = true;            ///< play restarts at the end
  std::optional<Between<double>> play_range;  ///< ns: the part of all times that play shows; none: all

  [[nodiscard]] ScaleSettings scale() const { return {scale_map, scale_log, scale_range}; }
  void set_scale(const ScaleSettings& scale) {
    scale_map = scale.map;
    scale_log = scale.log;
    scale_range = scale.range;
  }
};
inline constexpr double kPlaySeconds = 10;

/// The origin of light: photons of a file, or a source whose photons are simulated.
struct LightOrigin {
  std::string photons;             ///< a folder or an array; empty: none
  std::string compare;             ///< another run: only photons whose histories deviate from it; empty: all photons
  std::string source;              ///< empty: none
  Eigen::Vector3d moved{0, 0, 0};  ///< offset of the source, mm
  std::string event = {};  ///< of a folder with a run for each event: one of them by name or number; empty: first
  [[nodiscard]] bool empty() const { return photons.empty() && source.empty(); }
};

/// "350-500" or "420": throws Error(usage) for anything else.
[[nodiscard]] Between<float> parse_wavelengths(std::string_view text);
/// "12" or "10-19": throws Error(usage) for anything else.
[[nodiscard]] Between<std::int32_t> parse_channels(std::string_view text);
/// "10-500": throws Error(usage) for anything else.
[[nodiscard]] Between<double> parse_scale_range(std::string_view text);
/// The texts that these functions read.
[[nodiscard]] std::string range_text(const Between<float>& range);
[[nodiscard]] std::string range_text(const Between<std::int32_t>& range);
[[nodiscard]] std::string range_text(const Between<double>& range);

}  // namespace raylift::viewer
