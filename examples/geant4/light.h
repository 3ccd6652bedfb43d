// SPDX-License-Identifier: Apache-2.0
// Light of a Geant4 application by `raylift serve`: its actions collect gensteps, and nothing of CUDA is in its build.
//
//   auto light = std::make_shared<Light>(run_seed, [](const raylift::client::Result& event) { ... });
//   run_manager->SetUserInitialization(new LightActions(light, [] { return new MyPrimaryGenerator; }));
//
// Written for Geant4 11.2; from 11.0 on, its calls are the same. Photons would be simulated twice if Geant4 made them
// too. Leave out G4OpticalPhysics, or before /run/initialize:
//
//   G4OpticalParameters::Instance()->SetProcessActivation("Cerenkov", false);
//   G4OpticalParameters::Instance()->SetProcessActivation("Scintillation", false);
//
// Materials need their properties in raylift's scene: GDML has them, see docs/gdml.md.
#pragma once

#include <raylift/client/gensteps.h>

#include <G4UserEventAction.hh>
#include <G4UserRunAction.hh>
#include <G4UserStackingAction.hh>
#include <G4UserSteppingAction.hh>
#include <G4VUserActionInitialization.hh>
#include <cstdint>
#include <functional>
#include <memory>

class G4VUserPrimaryGeneratorAction;

/// What all threads share: the connection, and where results go.
class Light {
 public:
  /// Called from the thread that finds the result; events come in any order.
  using Take = std::function<void(const raylift::client::Result&)>;

  Light(std::uint64_t run_seed, Take take, raylift::client::Options options = {});
  /// Sends the light of an event and does not wait for it. Hands on what has come meanwhile.
  void send(raylift::client::Collector& collector);
  /// Waits for all that was sent.
  void finish();

 private:
  void hand_on(const raylift::client::Result& result) const;

  std::uint64_t run_seed_;
  Take take_;
  raylift::client::Client client_;
};

/// One thread's: steps become gensteps, and optical photons that are primaries become photons.
class LightStepping : public G4UserSteppingAction {
 public:
  explicit LightStepping(raylift::client::Collector& collector) : collector_(collector) {}
  void UserSteppingAction(const G4Step* step) override;

 private:
  raylift::client::Collector& collector_;
};

class LightStacking : public G4UserStackingAction {
 public:
  explicit LightStacking(raylift::client::Collector& collector) : collector_(collector) {}
  G4ClassificationOfNewTrack ClassifyNewTrack(const G4Track* track) override;

 private:
  raylift::client::Collector& collector_;
};

class LightEvent : public G4UserEventAction {
 public:
  LightEvent(std::shared_ptr<Light> light, raylift::client::Collector& collector)
      : light_(std::move(light)), collector_(collector) {}
  void BeginOfEventAction(const G4Event* event) override;
  void EndOfEventAction(const G4Event* event) override;

 private:
  std::shared_ptr<Light> light_;
  raylift::client::Collector& collector_;
  bool knows_materials_ = false;
};

class LightRun : public G4UserRunAction {
 public:
  explicit LightRun(std::shared_ptr<Light> light) : light_(std::move(light)) {}
  void EndOfRunAction(const G4Run* run) override;

 private:
  std::shared_ptr<Light> light_;
};

/// Gives each thread its actions.
class LightActions : public G4VUserActionInitialization {
 public:
  LightActions(std::shared_ptr<Light> light, std::function<G4VUserPrimaryGeneratorAction*()> make_primaries)
      : light_(std::move(light)), make_primaries_(std::move(make_primaries)) {}
  void BuildForMaster() const override;
  void Build() const override;

 private:
  std::shared_ptr<Light> light_;
  std::function<G4VUserPrimaryGeneratorAction*()> make_primaries_;
};
