// SPDX-License-Identifier: Apache-2.0
// Photons that are followed while they are watched: from a source that moves, in slices, more with each image. A kernel
// writes their steps into the buffer that OpenGL draws from. Needs a current context.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/interop/shared_buffer.h>
#include <raylift/photon/load_source.h>
#include <raylift/photon/simulation.h>

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "light/photon_set.h"

namespace raylift::viewer {

/// Which photons to follow.
struct LightRequest {
  std::string source;                 ///< as photon::LoadedSource reads it
  Eigen::Vector3d moved{0, 0, 0};     ///< the source's centre, mm, from where the text has it
  std::uint64_t photons = 1'000'000;  ///< whose hits are points
  std::uint64_t paths = 1000;         ///< of them, the first, whose steps are lines
  std::uint64_t seed = 0;
  bool histories = false;  ///< whether hits have histories, which takes longer
  friend bool operator==(const LightRequest&, const LightRequest&) = default;
};

class LiveLight {
 public:
  /// The geometry has a BVH and optics, and must outlive this. Throws Error: usage.
  explicit LiveLight(const GpuGeometry& geometry);

  /// Begins with other photons. Throws Error: what photon::LoadedSource does, out_of_device_memory.
  void start(const LightRequest& request);
  [[nodiscard]] const std::optional<LightRequest>& request() const { return request_; }
  /// Follows more of them for so many seconds, at least one slice. True once all have been followed. Throws Error: what
  /// photon::Simulation::run() and record() do.
  bool advance(double seconds);
  [[nodiscard]] bool done() const { return !request_ || followed_ == count_; }
  /// The photons that were followed so far; null before the first advance().
  [[nodiscard]] const std::shared_ptr<const PhotonSet>& photons() const { return photons_; }
  [[nodiscard]] std::uint64_t followed() const { return followed_; }
  /// Whether kernels write the steps into OpenGL's memory.
  [[nodiscard]] bool shares() const { return rows_.shares(); }
  /// The rate of the last advance().
  [[nodiscard]] double photons_per_second() const { return rate_; }

 private:
  [[nodiscard]] photon::Source source() const;
  void record_more(PhotonSet& set, std::size_t most);
  void follow_more(PhotonSet& set, std::uint64_t most);

  const GpuGeometry& geometry_;
  Stream stream_;
  photon::Simulation simulation_;
  std::optional<LightRequest> request_;
  std::string loaded_;  // the text of source_
  std::optional<photon::LoadedSource> source_;
  SharedBuffer<photon::PhotonRow> rows_;
  std::uint64_t count_ = 0, paths_ = 0;  // that there are of the request
  std::uint64_t followed_ = 0, recorded_ = 0;
  double rate_ = 0;
  std::shared_ptr<const PhotonSet> photons_;
};

}  // namespace raylift::viewer
