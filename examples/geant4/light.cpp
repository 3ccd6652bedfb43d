// SPDX-License-Identifier: Apache-2.0
#include "light.h"

#include <G4EmSaturation.hh>
#include <G4Event.hh>
#include <G4LossTableManager.hh>
#include <G4Material.hh>
#include <G4MaterialPropertiesTable.hh>
#include <G4OpticalPhoton.hh>
#include <G4ParticleDefinition.hh>
#include <G4PhysicalConstants.hh>
#include <G4Step.hh>
#include <G4SystemOfUnits.hh>
#include <G4Track.hh>

using raylift::client::Collector;

namespace {

/// By G4Material::GetIndex().
std::vector<raylift::client::Collector::Material> light_of_materials() {
  std::vector<raylift::client::Collector::Material> all;
  for (const G4Material* material : *G4Material::GetMaterialTable()) {
    raylift::client::Collector::Material& light = all.emplace_back();
    G4MaterialPropertiesTable* const properties = material->GetMaterialPropertiesTable();
    if (properties == nullptr) continue;
    if (G4MaterialPropertyVector* const index = properties->GetProperty("RINDEX"))
      light.highest_index = index->GetMaxValue();
    light.scintillates = properties->ConstPropertyExists("SCINTILLATIONYIELD");
  }
  return all;
}

void put(const G4ThreeVector& from, double (&to)[3], double unit) {
  to[0] = from.x() / unit;
  to[1] = from.y() / unit;
  to[2] = from.z() / unit;
}

/// The collector of this thread.
Collector& collector_of_thread() {
  static thread_local Collector collector;
  return collector;
}

}  // namespace

Light::Light(std::uint64_t run_seed, Take take, raylift::client::Options options)
    : run_seed_(run_seed), take_(std::move(take)), client_(std::move(options)) {}

void Light::hand_on(const raylift::client::Result& result) const {
  if (result.error) throw raylift::client::Error(*result.error);
  take_(result);
}

void Light::send(Collector& collector) {
  const std::uint64_t seed = raylift::client::event_seed(run_seed_, 2 * collector.event());
  if (!collector.gensteps().empty()) client_.submit(collector.gensteps_request(seed));
  if (!collector.photons().empty())
    client_.submit(collector.photons_request(raylift::client::event_seed(run_seed_, 2 * collector.event() + 1)));
  while (const auto result = client_.next(std::chrono::milliseconds(0))) hand_on(*result);
}

void Light::finish() {
  while (const auto result = client_.next()) hand_on(*result);
}

void LightStepping::UserSteppingAction(const G4Step* g4) {
  const G4Track& track = *g4->GetTrack();
  const G4StepPoint& begin = *g4->GetPreStepPoint();
  const G4StepPoint& end = *g4->GetPostStepPoint();
  raylift::client::Step step;
  put(begin.GetPosition(), step.position, mm);
  put(g4->GetDeltaPosition(), step.displacement, mm);
  step.length = g4->GetStepLength() / mm;
  step.time = begin.GetGlobalTime() / ns;
  step.charge = begin.GetCharge() / eplus;
  step.beta = begin.GetBeta();
  step.beta_at_end = end.GetBeta();
  // By Birks's law where a material has its constant, as G4Scintillation does.
  G4EmSaturation* const saturation = G4LossTableManager::Instance()->EmSaturation();
  step.deposit =
      (saturation != nullptr ? saturation->VisibleEnergyDepositionAtAStep(g4) : g4->GetTotalEnergyDeposit()) / MeV;
  step.material = static_cast<std::uint32_t>(begin.GetMaterial()->GetIndex());
  step.track = static_cast<std::uint32_t>(track.GetTrackID());
  step.particle = track.GetDefinition()->GetPDGEncoding();
  collector_.add(step);
}

G4ClassificationOfNewTrack LightStacking::ClassifyNewTrack(const G4Track* track) {
  if (track->GetDefinition() != G4OpticalPhoton::Definition()) return fUrgent;
  // One that a process has made is not simulated: see the head of light.h.
  if (track->GetParentID() == 0) {
    double position[3], direction[3], polarization[3];
    put(track->GetPosition(), position, mm);
    put(track->GetMomentumDirection(), direction, 1);
    put(track->GetPolarization(), polarization, 1);
    collector_.add_photon(position, track->GetGlobalTime() / ns, direction,
                          h_Planck * c_light / track->GetTotalEnergy() / nm, polarization);
  }
  return fKill;
}

void LightEvent::BeginOfEventAction(const G4Event* event) {
  // Not earlier: without threads, actions are made before materials.
  if (!knows_materials_) collector_ = Collector(light_of_materials());
  knows_materials_ = true;
  collector_.begin(static_cast<std::uint64_t>(event->GetEventID()));
}

void LightEvent::EndOfEventAction(const G4Event*) {
  light_->send(collector_);
}

void LightRun::EndOfRunAction(const G4Run*) {
  light_->finish();
}

void LightActions::BuildForMaster() const {
  SetUserAction(new LightRun(light_));
}

void LightActions::Build() const {
  Collector& collector = collector_of_thread();
  SetUserAction(make_primaries_());
  SetUserAction(new LightRun(light_));
  SetUserAction(new LightStepping(collector));
  SetUserAction(new LightStacking(collector));
  SetUserAction(new LightEvent(light_, collector));
}
