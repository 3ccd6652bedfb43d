// SPDX-License-Identifier: Apache-2.0
// Gensteps in water and in a scintillator, and their photons on every device.
#pragma once

#include <raylift/photon/gensteps.h>

#include <vector>

#include "shells.h"

namespace raylift::photon {

/// Water-like, with dispersion.
inline OpticalTable dispersive() {
  return {"RINDEX", OpticalTable::Axis::wavelength_nm, {200, 300, 400, 600, 800}, {1.42, 1.37, 1.345, 1.335, 1.33}};
}

inline Genstep cerenkov(Float3 position, double length, double beta, std::uint32_t photons) {
  Genstep genstep{Genstep::Type::cerenkov, 1, 0, photons, position, 2, {}};
  Genstep::Cerenkov step{};
  const auto l = static_cast<float>(length);
  step.displacement = {kAxis.x * l, kAxis.y * l, kAxis.z * l};
  step.length = l;
  step.charge = -1;
  step.beta_inverse = static_cast<float>(1 / beta);
  step.shortest = 200;
  step.longest = 800;
  step.yield = step.yield_at_end = 1;
  set_details(genstep, step);
  return genstep;
}

inline Scene scintillator() {
  const OpticalTable fast{"SCINTILLATIONCOMPONENT1", OpticalTable::Axis::wavelength_nm, {390, 400, 410}, {0, 1, 0}};
  const OpticalTable slow{"SCINTILLATIONCOMPONENT3", OpticalTable::Axis::wavelength_nm, {490, 500, 510}, {1, 1, 1}};
  return shells({{20000,
                  {flat("RINDEX", 1.5), fast, slow},
                  {{"SCINTILLATIONYIELD", 8000},
                   {"RESOLUTIONSCALE", 2},
                   {"SCINTILLATIONYIELD1", 3},
                   {"SCINTILLATIONYIELD3", 1},
                   {"SCINTILLATIONTIMECONSTANT1", 7},
                   {"SCINTILLATIONTIMECONSTANT3", 1400},
                   {"SCINTILLATIONRISETIME3", 100}}}});
}

inline Genstep scintillation(std::uint32_t photons) {
  Genstep genstep{Genstep::Type::scintillation, 1, 0, photons, {0, 0, 0}, 3, {}};
  Genstep::Scintillation step{};
  step.displacement = {0, 0, 30};
  step.length = 30;
  step.charge = 1;
  step.velocity = 100;
  set_details(genstep, step);
  return genstep;
}

/// A torch of one wavelength, 440 nm, from one point along z.
inline Genstep torch(Float3 position, std::uint32_t photons, float time = 0, float wavelength = 440) {
  Genstep genstep{Genstep::Type::torch, 0, 0, photons, position, time, {}};
  Genstep::Torch step{};
  step.direction = {0, 0, 1};
  step.wavelength = wavelength;
  step.shape = Genstep::Torch::Shape::point;
  set_details(genstep, step);
  return genstep;
}

/// Photons of gensteps, on a device.
class OfGensteps : public test::OfPhotons {
 protected:
  [[nodiscard]] GpuGeometry water() const {
    return upload_scene(shells({{20000, {dispersive()}}, {1000, {dispersive()}}}));
  }
  [[nodiscard]] std::vector<Outcome> run_all(const GpuGeometry& geometry, const std::vector<Genstep>& steps,
                                             const photon::Run& how = {.seed = 5, .latest = -1e30F}) const {
    const Stream stream(device());
    const Gensteps gensteps(geometry, steps, how.seed, stream);
    return run(geometry, gensteps.source(), how, gensteps.photons());
  }
  [[nodiscard]] std::uint64_t count(const GpuGeometry& geometry, const std::vector<Genstep>& steps) const {
    return Gensteps(geometry, steps, 5, Stream(device())).photons();
  }
};

}  // namespace raylift::photon
