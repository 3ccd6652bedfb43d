// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/photon/gensteps.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "device/run_on.h"
#include "finite.h"
#include "for_each.h"
#include "generate_kernel.h"
#include "needs.h"
#include "place_gensteps.h"

namespace raylift::photon {
namespace {

/// What is wrong with a step's numbers, or null.
const char* fault_of(const Genstep::Cerenkov& step) {
  if (!finite(step.displacement) || !at_least_0(step.length)) return "its displacement or length is no number";
  if (!(step.beta_inverse >= 1) || !std::isfinite(step.beta_inverse)) return "its inverse beta is below 1";
  const bool no_range = step.shortest == 0 && step.longest == 0;
  if (!no_range && (!(step.shortest > 0) || !std::isfinite(static_cast<float>(kEvNm) / step.shortest) ||
                    !(step.longest > step.shortest) || !std::isfinite(step.longest)))
    return "its wavelengths are no range";
  if (!std::isfinite(step.charge)) return "its charge is no number";
  if (!at_least_0(step.yield) || !at_least_0(step.yield_at_end)) return "its yields are below 0";
  if (!at_least_0(step.velocity) || !at_least_0(step.velocity_at_end)) return "its velocities are below 0";
  return nullptr;
}
const char* fault_of(const Genstep::Scintillation& step) {
  if (!finite(step.displacement) || !at_least_0(step.length)) return "its displacement or length is no number";
  if (step.component > 3) return "its component is none of 1 to 3, or 0";
  if (!at_least_0(step.deposit)) return "its energy is below 0";
  if (!at_least_0(step.velocity) || !at_least_0(step.time_constant)) return "its velocity or time is below 0";
  return nullptr;
}
const char* fault_of(const Genstep::Torch& step) {
  const Float3 d = step.direction;
  if (!finite(d) || (d.x == 0 && d.y == 0 && d.z == 0)) return "its direction has no length";
  if (!(step.wavelength > 0) || !std::isfinite(step.wavelength)) return "its wavelength is not above 0";
  if (step.shape < Genstep::Torch::Shape::disc || step.shape > Genstep::Torch::Shape::point)
    return "its shape is no disc, line or point";
  for (const float x : {step.zenith[0], step.zenith[1], step.azimuth[0], step.azimuth[1], step.radius})
    if (!std::isfinite(x)) return "its size or range is no number";
  return nullptr;
}

bool scintillates(Genstep::Type type) {
  return type == Genstep::Type::scintillation || type == Genstep::Type::ds_scintillation;
}

}  // namespace

void check(const Genstep& genstep, std::size_t number) {
  const std::string name = "genstep " + std::to_string(number);
  const char* fault = nullptr;
  switch (genstep.type) {
    case Genstep::Type::cerenkov:
    case Genstep::Type::g4_cerenkov:
    case Genstep::Type::g4_cerenkov_modified:
      fault = fault_of(details_of<Genstep::Cerenkov>(genstep));
      break;
    case Genstep::Type::scintillation:
    case Genstep::Type::ds_scintillation:
      fault = fault_of(details_of<Genstep::Scintillation>(genstep));
      break;
    case Genstep::Type::torch:
      fault = fault_of(details_of<Genstep::Torch>(genstep));
      if (genstep.photons == kPhotonsOfPhysics) fault = "a torch does not know its number of photons";
      break;
    default:
      throw Error(ErrorKind::unsupported,
                  name + " is of type " + std::to_string(static_cast<std::uint32_t>(genstep.type)) + " of Opticks",
                  {"", name}, "types are 1, 15, 18 (Cerenkov), 5, 16 (scintillation) and 6 (torch)");
  }
  if (fault == nullptr && (!finite(genstep.position) || !std::isfinite(genstep.time)))
    fault = "its place or time is no number";
  if (fault != nullptr) throw Error(ErrorKind::malformed, name + ": " + fault, {"", name});
}

void place_gensteps(const GpuGeometry& geometry, const Genstep* steps, const EventView& events, std::uint64_t seed,
                    GenstepPlace* places, std::uint64_t* photons, std::size_t count, StreamRef stream) {
  const GeometryView& view = geometry.view();
  raylift::detail::run_on(
      geometry.device(), "place_gensteps",
      [&] { return launch_place_gensteps(view, steps, events, seed, places, photons, count, stream.handle()); },
      [&] { for_each(count, [&](std::size_t i) { places[i] = place_of(view, steps, events, seed, i, photons[i]); }); });
}

void check_light(const Genstep& genstep, const GenstepPlace& place, std::uint64_t photons, std::size_t number) {
  if (photons == 0 || !scintillates(genstep.type) || place.light > 0 || place.in.solid == kNoSolid) return;
  const std::string name = "genstep " + std::to_string(number);
  throw Error(
      ErrorKind::malformed,
      name + " scintillates in solid " + std::to_string(place.in.solid) + ", whose material has no spectrum for it",
      {"", name}, "give the material SCINTILLATIONCOMPONENT1, see docs/optics.md");
}

Gensteps::Gensteps(const GpuGeometry& geometry, std::span<const Genstep> steps, std::uint64_t seed, StreamRef stream) {
  require_optics(geometry.view());
  if (steps.size() >= 0xFFFFFFFF) throw Error(ErrorKind::limit, "there are 2^32 gensteps or more");
  for (std::size_t i = 0; i != steps.size(); ++i) check(steps[i], i);
  if (steps.empty()) return;
  const Device& device = geometry.device();
  steps_ = DeviceBuffer<Genstep>(device, steps.size());
  places_ = DeviceBuffer<GenstepPlace>(device, steps.size());
  ends_ = DeviceBuffer<std::uint64_t>(device, steps.size());
  std::vector<Genstep> placed(steps.begin(), steps.end());
  for (Genstep& step : placed) step.position = geometry.view().from_scene(step.position);
  steps_.copy_from(placed, stream);
  place_gensteps(geometry, steps_.device(), {}, seed, places_.device(), ends_.device(), steps.size(), stream);
  std::vector<std::uint64_t> ends(steps.size());
  std::vector<GenstepPlace> places(steps.size());
  ends_.copy_to(ends, stream);
  places_.copy_to(places, stream);
  device.synchronize(stream);
  for (std::size_t i = 0; i != ends.size(); ++i) {
    check_light(steps[i], places[i], ends[i], i);
    photons_ += ends[i];
    ends[i] = photons_;
  }
  ends_.copy_from(ends, stream);
  device.synchronize(stream);
}

Source Gensteps::source() const {
  Source source;
  source.gensteps = {steps_.device(), places_.device(), ends_.device(), static_cast<std::uint32_t>(steps_.size()),
                     photons_,        nullptr};
  return source;
}

}  // namespace raylift::photon
