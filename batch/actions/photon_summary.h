// SPDX-License-Identifier: Apache-2.0
// What a run of photons came to, as JSON and as text.
#pragma once

#include <raylift/geometry/scene/scene.h>
#include <raylift/photon/results.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/output.h"
#include "photon_options.h"

namespace raylift::batch {

/// Hashes of what a run reads: CacheKey::source, optics_hash() and contents_hash() of photon::source_files(); and the
/// options of its load that are not the default, as "unit=10 up=y".
struct PhotonInputs {
  std::string scene, optics, source, load;
};

/// The head of a run: all that its results depend on.
[[nodiscard]] cli::Json photon_head(const PhotonOptions& options, const PhotonInputs& inputs);

struct PhotonSummary {
  photon::Tally tally;
  std::string device;
  std::size_t batch = 0;
  bool halved = false;  ///< the batch that was asked for: memory did not suffice
  int ranks = 1;
  std::uint64_t resumed_at = 0;  ///< photons that an earlier process had done
  double seconds = 0;            ///< of this one's photons
  std::vector<std::string> files;
  std::vector<std::string> materials, surfaces;  ///< the scene's names
  Bounds bounds;                                 ///< the scene's, mm
  bool by_server = false;                        ///< ends are not known by material and surface

  /// Takes them.
  void name(const Scene& scene);
};

/// The head, and what became of the photons: docs/json.schema.json has its form.
[[nodiscard]] cli::Json photon_json(cli::Json head, const PhotonSummary& summary);
[[nodiscard]] std::string photon_text(const PhotonOptions& options, const PhotonSummary& summary);

}  // namespace raylift::batch
