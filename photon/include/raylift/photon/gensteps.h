// SPDX-License-Identifier: Apache-2.0
// Gensteps on a device, for propagate():
//
//   const raylift::photon::Gensteps gensteps(geometry, steps, run.seed, stream);
//   raylift::photon::propagate(geometry, gensteps.source(), run, outcomes, gensteps.photons(), stream);
#pragma once

#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/photon/genstep.h>

#include <cstdint>
#include <span>

namespace raylift::photon {

/// Gensteps on a device, and the numbers of their photons.
class Gensteps {
 public:
  /// Copies the steps, whose positions are the scene's, finds their solids and their numbers of photons; waits for the
  /// stream. Numbers that come from physics depend on `seed` and on the number of the step. They have a Poisson
  /// distribution; for scintillation above 10, a normal one with RESOLUTIONSCALE, as in Geant4. Throws Error: usage (no
  /// BVH, no optics), unsupported (a type of genstep), malformed (which genstep, and what is wrong with it), device,
  /// memory.
  Gensteps(const GpuGeometry& geometry, std::span<const Genstep> steps, std::uint64_t seed, StreamRef stream);

  /// The total, which is the count for propagate().
  [[nodiscard]] std::uint64_t photons() const { return photons_; }
  /// For propagate() with that geometry. Valid while this lives.
  [[nodiscard]] Source source() const;

 private:
  DeviceBuffer<Genstep> steps_;
  DeviceBuffer<GenstepPlace> places_;
  DeviceBuffer<std::uint64_t> ends_;
  std::uint64_t photons_ = 0;
};

}  // namespace raylift::photon
