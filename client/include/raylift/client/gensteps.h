// SPDX-License-Identifier: Apache-2.0
// Gensteps of an event, collected step by step from plain numbers: for a stepping action of Geant4, without its
// headers.
//
//   collector.begin(event);                           // each thread has a collector of its own
//   collector.add(step);                              // in the stepping action
//   ticket = client.submit(collector.gensteps_request(seed));  // at the end of the event
//
// The layout is Opticks's, (G, 6, 4) of 32-bit words: docs/photons.md says what is made of it.
#pragma once

#include <raylift/client/client.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace raylift::client {

/// In Genstep::photons: the server draws the number from the material's tables.
inline constexpr std::uint32_t kPhotonsOfPhysics = 0xFFFFFFFF;
/// mm/ns.
inline constexpr double kLightSpeed = 299.792458;

/// Six rows of four words; floats in mm, ns and MeV.
struct Genstep {
  std::uint32_t type;      ///< 15: Cerenkov light, 16: scintillation
  std::uint32_t track;     ///< of the particle
  std::uint32_t material;  ///< the caller's; raylift takes the material at the middle of the step
  std::uint32_t photons;   ///< or kPhotonsOfPhysics
  float position[3];
  float time;
  float displacement[3];
  float length;
  std::int32_t particle;  ///< the PDG number
  float charge;           ///< elementary charges; scintillation, 0: all light comes from the end of the step
  float weight;
  float velocity;  ///< mm/ns; Cerenkov: at the begin, scintillation: mean
  union Rest {
    struct Cerenkov {
      float beta_inverse;  ///< of the mean of both ends
      float shortest;      ///< nm; both 0: the range of the material's RINDEX
      float longest;
      float max_cosine;
      float max_sin2;
      float yield;            ///< relative light at the begin of the step and
      float yield_at_end;     ///< at its end; both 0: uniform
      float velocity_at_end;  ///< mm/ns
    } cerenkov;
    struct Scintillation {
      std::uint32_t component;  ///< 1 to 3; 0: by their shares
      float deposit;            ///< MeV
      float unused0[2];
      float time_constant;  ///< ns; 0: the component's
      float unused1[3];
    } scintillation;
  } rest;
};
static_assert(sizeof(Genstep) == protocol::kGenstepBytes, "six rows of four words");

/// An optical photon as a primary: four rows of four words.
struct Photon {
  float position[3];  ///< mm
  float time;         ///< ns
  float direction[3];
  std::uint32_t unused0;
  float polarization[3];  ///< 0: random
  float wavelength;       ///< nm
  float unused1[3];
  std::uint32_t flags;  ///< 1: Cerenkov light, 2: scintillation; 0: other
};
static_assert(sizeof(Photon) == protocol::kPhotonBytes, "four rows of four words");

/// A step of a particle.
struct Step {
  double position[3] = {};      ///< where it begins, mm
  double displacement[3] = {};  ///< from there to its end, mm
  double length = 0;            ///< along the path, mm; 0: that of the displacement
  double time = 0;              ///< when it begins, ns
  double charge = 0;            ///< in elementary charges
  double beta = 0;              ///< velocity over c, where it begins
  double beta_at_end = -1;      ///< below 0: the same
  double deposit = 0;  ///< MeV that scintillates: Geant4's total energy deposit, or what a law of Birks leaves of it
  std::uint32_t material = 0;
  std::uint32_t track = 0;
  std::int32_t particle = 0;  ///< the PDG number
  /// Photons, where Geant4 has drawn their number: G4Cerenkov::GetNumPhotons() and G4Scintillation::GetNumPhotons().
  std::uint32_t cerenkov_photons = kPhotonsOfPhysics;
  std::uint32_t scintillation_photons = kPhotonsOfPhysics;

  /// Sets the displacement to `way` mm along a direction of unit length.
  void go(const double (&direction)[3], double way) {
    for (int i = 0; i != 3; ++i) displacement[i] = direction[i] * way;
    length = way;
  }
};

/// A seed for an event of a run: two events, or two runs, have different ones.
[[nodiscard]] inline std::uint64_t event_seed(std::uint64_t run, std::uint64_t event) {
  // SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a permutation, of the event's number shifted by the run's.
  const auto mixed = [](std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  };
  return mixed(mixed(run + 0x9E3779B97F4A7C15u) + 0x9E3779B97F4A7C15u * event);
}

/// The light of one event at a time, in one thread.
class Collector {
 public:
  /// What is known of a material, so that steps without light need not be sent.
  struct Material {
    double highest_index = 0;  ///< 0: no RINDEX, and so no Cerenkov light
    bool scintillates = false;
  };

  /// `materials` are found by Step::material; where there are none, all steps are sent that might make light.
  explicit Collector(std::vector<Material> materials = {}) : materials_(std::move(materials)) {}

  /// Forgets what was collected.
  void begin(std::uint64_t event) {
    event_ = event;
    gensteps_.clear();
    photons_.clear();
  }
  /// Takes a step's Cerenkov light, where it is charged and fast enough, and its scintillation. Throws Error(usage) for
  /// numbers that are none, a beta that is not from 0 to 1, an energy or length below 0, an unknown material.
  void add(const Step& step) {
    const double beta_at_end = step.beta_at_end < 0 ? step.beta : step.beta_at_end;
    check(step, beta_at_end);
    const Material* const material = materials_.empty() ? nullptr : &materials_[step.material];
    const double* const d = step.displacement;
    const double length = step.length > 0 ? step.length : std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    Genstep genstep{};
    genstep.track = step.track;
    genstep.material = step.material;
    for (int i = 0; i != 3; ++i) {
      genstep.position[i] = static_cast<float>(step.position[i]);
      genstep.displacement[i] = static_cast<float>(d[i]);
    }
    genstep.time = static_cast<float>(step.time);
    genstep.length = static_cast<float>(length);
    genstep.particle = step.particle;
    genstep.charge = static_cast<float>(step.charge);
    genstep.weight = 1;
    const double beta = 0.5 * (step.beta + beta_at_end);
    add_cerenkov(step, material, beta, beta_at_end, length, genstep);
    if (step.deposit > 0 && step.scintillation_photons != 0 && (material == nullptr || material->scintillates)) {
      genstep.type = 16;
      genstep.photons = step.scintillation_photons;
      genstep.velocity = static_cast<float>(kLightSpeed * beta);
      genstep.rest.scintillation = {};
      genstep.rest.scintillation.deposit = static_cast<float>(step.deposit);
      gensteps_.push_back(genstep);
    }
  }
  /// Takes a primary that is an optical photon; the caller then kills its track. `polarization` of zeros: random.
  void add_photon(const double (&position)[3], double time, const double (&direction)[3], double wavelength,
                  const double (&polarization)[3]) {
    Photon photon{};
    for (int i = 0; i != 3; ++i) {
      photon.position[i] = static_cast<float>(position[i]);
      photon.direction[i] = static_cast<float>(direction[i]);
      photon.polarization[i] = static_cast<float>(polarization[i]);
    }
    photon.time = static_cast<float>(time);
    photon.wavelength = static_cast<float>(wavelength);
    photons_.push_back(photon);
  }

  [[nodiscard]] std::uint64_t event() const { return event_; }
  [[nodiscard]] const std::vector<Genstep>& gensteps() const { return gensteps_; }
  [[nodiscard]] const std::vector<Photon>& photons() const { return photons_; }
  /// The request of the gensteps, which are then forgotten.
  [[nodiscard]] Request gensteps_request(std::uint64_t seed) {
    return client::gensteps(std::exchange(gensteps_, {}), event_, seed);
  }
  /// Likewise of the photons. An event with both has two requests, of different seeds.
  [[nodiscard]] Request photons_request(std::uint64_t seed) {
    return client::photons(std::exchange(photons_, {}), event_, seed);
  }

 private:
  void add_cerenkov(const Step& step, const Material* material, double beta, double beta_at_end, double length,
                    Genstep genstep) {
    if (step.charge == 0 || step.cerenkov_photons == 0 || !(length > 0) || !(beta > 0)) return;
    if (material != nullptr && !(beta * material->highest_index > 1)) return;
    genstep.type = 15;
    genstep.photons = step.cerenkov_photons;
    genstep.velocity = static_cast<float>(kLightSpeed * step.beta);
    genstep.rest.cerenkov = {};
    // A beta of 1 may become less than 1 as a float's inverse.
    genstep.rest.cerenkov.beta_inverse = std::max(1.0F, static_cast<float>(1 / beta));
    genstep.rest.cerenkov.velocity_at_end = static_cast<float>(kLightSpeed * beta_at_end);
    if (material != nullptr) {
      // By Frank and Tamm, of one index: where along the step its light begins or ends.
      const auto yield = [material](double at) {
        const double cosine = at > 0 ? 1 / (at * material->highest_index) : 1;
        return static_cast<float>(std::max(0.0, 1 - cosine * cosine));
      };
      genstep.rest.cerenkov.yield = yield(step.beta);
      genstep.rest.cerenkov.yield_at_end = yield(beta_at_end);
    }
    gensteps_.push_back(genstep);
  }

  void check(const Step& step, double beta_at_end) const {
    const auto refuse = [&step](const char* what) {
      throw Error(ErrorCode::usage, what, "step of track " + std::to_string(step.track));
    };
    for (int i = 0; i != 3; ++i)
      if (!std::isfinite(static_cast<float>(step.position[i])) ||
          !std::isfinite(static_cast<float>(step.displacement[i])))
        refuse("its place is no number");
    if (!std::isfinite(static_cast<float>(step.time)) || !std::isfinite(static_cast<float>(step.charge)))
      refuse("its time or charge is no number");
    if (!(step.beta >= 0 && step.beta <= 1) || !(beta_at_end >= 0 && beta_at_end <= 1))
      refuse("its beta is not from 0 to 1");
    if (!(step.length >= 0) || !(step.deposit >= 0) || !std::isfinite(static_cast<float>(step.length + step.deposit)))
      refuse("its length or energy is below 0");
    if (!materials_.empty() && step.material >= materials_.size()) refuse("its material is not in the table");
  }

  std::vector<Material> materials_;
  std::uint64_t event_ = 0;
  std::vector<Genstep> gensteps_;
  std::vector<Photon> photons_;
};

/// The tracks of hits: which particle made a photon, by the photon's number.
class Tracks {
 public:
  /// Reads the gensteps that were sent. Throws Error(usage) where the server drew the number of photons.
  explicit Tracks(const std::vector<Genstep>& gensteps) {
    std::uint64_t photons = 0;
    for (const Genstep& step : gensteps) {
      if (step.photons == kPhotonsOfPhysics)
        throw Error(ErrorCode::usage, "a step's number of photons is the server's",
                    "track " + std::to_string(step.track),
                    "give Step::cerenkov_photons and Step::scintillation_photons");
      photons += step.photons;
      ends_.push_back(photons);
      tracks_.push_back(step.track);
    }
  }
  /// The track of the photon of that number, from 0 on. Throws Error(usage) beyond the last.
  [[nodiscard]] std::uint32_t of(std::uint64_t photon) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), photon);
    if (end == ends_.end()) throw Error(ErrorCode::usage, "there is no photon " + std::to_string(photon));
    return tracks_[static_cast<std::size_t>(end - ends_.begin())];
  }

 private:
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint32_t> tracks_;
};

}  // namespace raylift::client
