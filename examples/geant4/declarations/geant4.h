// SPDX-License-Identifier: Apache-2.0
// The few declarations of Geant4 11.2 that light.h and light.cpp use, written for raylift: with them the example is
// compiled where Geant4 is not installed. They are no part of Geant4, and nothing can be linked with them.
#pragma once

#include <string>
#include <vector>

using G4bool = bool;
using G4int = int;
using G4double = double;
using G4String = std::string;

inline constexpr double mm = 1, ns = 1, MeV = 1, eplus = 1, nm = 1e-6 * mm;
inline constexpr double c_light = 299.792458 * mm / ns, h_Planck = 4.135667697e-12 * MeV * ns;

class G4ThreeVector {
 public:
  G4double x() const;
  G4double y() const;
  G4double z() const;
};

class G4PhysicsFreeVector {
 public:
  G4double GetMaxValue() const;
};
using G4MaterialPropertyVector = G4PhysicsFreeVector;

class G4MaterialPropertiesTable {
 public:
  G4MaterialPropertyVector* GetProperty(const char* key) const;
  G4bool ConstPropertyExists(const char* key) const;
};

class G4Material;
using G4MaterialTable = std::vector<G4Material*>;
class G4Material {
 public:
  static G4MaterialTable* GetMaterialTable();
  G4MaterialPropertiesTable* GetMaterialPropertiesTable() const;
  std::size_t GetIndex() const;
};

class G4ParticleDefinition {
 public:
  G4int GetPDGEncoding() const;
};
class G4OpticalPhoton : public G4ParticleDefinition {
 public:
  static G4OpticalPhoton* Definition();
};

class G4Track {
 public:
  G4int GetTrackID() const;
  G4int GetParentID() const;
  const G4ParticleDefinition* GetDefinition() const;
  const G4ThreeVector& GetPosition() const;
  const G4ThreeVector& GetMomentumDirection() const;
  const G4ThreeVector& GetPolarization() const;
  G4double GetGlobalTime() const;
  G4double GetTotalEnergy() const;
};

class G4StepPoint {
 public:
  const G4ThreeVector& GetPosition() const;
  G4double GetGlobalTime() const;
  G4double GetBeta() const;
  G4double GetCharge() const;
  G4Material* GetMaterial() const;
};

class G4Step {
 public:
  G4Track* GetTrack() const;
  G4StepPoint* GetPreStepPoint() const;
  G4StepPoint* GetPostStepPoint() const;
  G4ThreeVector GetDeltaPosition() const;
  G4double GetStepLength() const;
  G4double GetTotalEnergyDeposit() const;
};

class G4EmSaturation {
 public:
  G4double VisibleEnergyDepositionAtAStep(const G4Step* step) const;
};
class G4LossTableManager {
 public:
  static G4LossTableManager* Instance();
  G4EmSaturation* EmSaturation();
};

class G4Event {
 public:
  G4int GetEventID() const;
};
class G4Run;

class G4UserSteppingAction {
 public:
  virtual ~G4UserSteppingAction();
  virtual void UserSteppingAction(const G4Step*) {}
};
enum G4ClassificationOfNewTrack { fUrgent, fWaiting, fPostpone, fKill };
class G4UserStackingAction {
 public:
  virtual ~G4UserStackingAction();
  virtual G4ClassificationOfNewTrack ClassifyNewTrack(const G4Track*);
};
class G4UserEventAction {
 public:
  virtual ~G4UserEventAction();
  virtual void BeginOfEventAction(const G4Event*) {}
  virtual void EndOfEventAction(const G4Event*) {}
};
class G4UserRunAction {
 public:
  virtual ~G4UserRunAction();
  virtual void EndOfRunAction(const G4Run*) {}
};
class G4VUserPrimaryGeneratorAction;
class G4VUserActionInitialization {
 public:
  virtual ~G4VUserActionInitialization();
  virtual void BuildForMaster() const {}
  virtual void Build() const = 0;

 protected:
  void SetUserAction(G4VUserPrimaryGeneratorAction*) const;
  void SetUserAction(G4UserSteppingAction*) const;
  void SetUserAction(G4UserStackingAction*) const;
  void SetUserAction(G4UserEventAction*) const;
  void SetUserAction(G4UserRunAction*) const;
};
