// SPDX-License-Identifier: Apache-2.0
// How much light an image can show so that it is read: by how much of the image the paths cover. No GL.
#pragma once

#include <raylift/geometry/scene/eigen.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/camera.h"
#include "light/photon_choice.h"
#include "light/photon_set.h"
#include "model/settings/photon_settings.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

/// How much of the chosen light is drawn: the first of PhotonChoice's, which are evenly spread.
struct LightShown {
  std::uint64_t paths = 0, steps = 0, points = 0;
  friend bool operator==(const LightShown&, const LightShown&) = default;
};

class ReadableLight {
 public:
  ReadableLight() = default;
  ReadableLight(const PhotonSet& set, const PhotonChoice& choice);

  /// As many paths and points as cover PhotonSettings::density of an image of this size, by round numbers so that few
  /// camera moves change them; all of them where the density is 0.
  [[nodiscard]] LightShown shown(const PhotonSettings& settings, const Camera& camera, const Resolution& size) const;
  /// All that is chosen.
  [[nodiscard]] const LightShown& all() const { return all_; }

 private:
  LightShown all_;
  std::vector<std::uint32_t> path_ends_;
  std::vector<std::pair<Eigen::Vector3d, Eigen::Vector3d>> sample_;  // steps
  std::uint64_t sampled_paths_ = 0;
  double mean_life_ = 0;  // ns, of the sampled paths
};

/// "300 of 2,000 paths, 5,000 of 40,000 points"; empty where all that is chosen is drawn.
[[nodiscard]] std::string shown_text(const PhotonSettings& settings, const LightShown& shown,
                                     const PhotonChoice& choice);

}  // namespace raylift::viewer
