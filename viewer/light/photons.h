// SPDX-License-Identifier: Apache-2.0
// The photons that the viewer shows with a scene: what is drawn of them, and the one that is selected. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "light/light_statistics.h"
#include "light/photon_choice.h"
#include "light/photon_set.h"
#include "model/settings/photon_settings.h"

namespace raylift::viewer {

/// An event of a photon, as a panel shows it.
struct PhotonEvent {
  std::string event;    ///< "BT, BOUNDARY_TRANSMIT"
  Float3 position;      ///< mm
  float time;           ///< ns
  float wavelength;     ///< nm, after it
  std::string solid;    ///< that was met, or that it was in
  std::string medium;   ///< the material that light goes on through; of the last event empty
  std::string surface;  ///< the optical surface that was met; empty: none
  double step = 0;      ///< mm from the event before
};

/// A path, or a point without one.
struct PhotonSelection {
  std::optional<std::size_t> path;
  std::optional<std::size_t> point;
  std::uint32_t number = 0;   ///< of the photon, its lowest 32 bits
  std::string history;        ///< "TO BT SD"; empty where it is not known
  std::int64_t channel = -1;  ///< that detected it
  std::vector<PhotonEvent> events;
};

class Photons {
 public:
  Photons() = default;
  /// The scene must outlive this.
  Photons(std::shared_ptr<const PhotonSet> set, const Scene& scene);

  /// Null: none.
  [[nodiscard]] const std::shared_ptr<const PhotonSet>& set() const { return set_; }
  /// What the filter leaves. Throws Error(usage) for a pattern that can't be read.
  [[nodiscard]] const PhotonChoice& choice(const PhotonFilter& filter) const;
  /// Changes with what choice() returns.
  [[nodiscard]] std::uint64_t choice_version() const { return choice_version_; }

  /// When the photons are on their way.
  [[nodiscard]] const LightStatistics& statistics() const;
  /// The same, where the colours of light show the time; else null.
  [[nodiscard]] const LightStatistics* statistics_of_time(const PhotonSettings& settings) const;

  /// What solids detected of the chosen photons, up to a time.
  [[nodiscard]] SolidHits hits(const PhotonFilter& filter, std::optional<double> until) const;

  void select(const std::optional<PhotonSelection>& selection) { selection_ = selection; }
  /// The selection of a picked row: the path that it is on, or that its photon has.
  [[nodiscard]] std::optional<PhotonSelection> selection_of_step(std::uint32_t row) const;
  [[nodiscard]] std::optional<PhotonSelection> selection_of_point(std::uint32_t point) const;
  [[nodiscard]] const std::optional<PhotonSelection>& selection() const { return selection_; }
  /// The steps to mark.
  [[nodiscard]] std::vector<DrawnRow> selected_steps() const;

 private:
  [[nodiscard]] PhotonEvent event_of(const photon::PhotonRow& row) const;
  [[nodiscard]] PhotonSelection selection_of_path(std::size_t path) const;

  std::shared_ptr<const PhotonSet> set_;
  const Scene* scene_ = nullptr;
  std::optional<PhotonSelection> selection_;
  mutable std::vector<std::uint32_t> sensors_;         // sensors_of_solids(), once it was needed
  mutable std::optional<LightStatistics> statistics_;  // once they were needed
  mutable std::optional<PhotonFilter> chosen_by_;
  mutable PhotonChoice choice_;
  mutable std::uint64_t choice_version_ = 0;
};

}  // namespace raylift::viewer
