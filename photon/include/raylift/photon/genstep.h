// SPDX-License-Identifier: Apache-2.0
// Gensteps: steps of charged particles along which photons are generated.
// <raylift/photon/gensteps.h> does so on the device.
//
// A genstep is a row of Opticks's array of gensteps, (G, 6, 4) of float32 and integers in the same words: its
// OpticksGenstep.h, scerenkov.h, sscint.h and storch.h.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/photon/source.h>

namespace raylift::photon {

/// In Genstep::photons: the number comes from the physics of the step.
inline constexpr std::uint32_t kPhotonsOfPhysics = 0xFFFFFFFF;

/// Six rows of four words. Lengths are in mm, times in ns; positions are the scene's where Gensteps
/// takes them, and from the view's origin in GenstepView.
struct alignas(16) Genstep {
  /// Opticks's numbers of the types that are supported; some types share a layout.
  enum class Type : std::uint32_t {
    g4_cerenkov = 1,
    ds_scintillation = 5,
    torch = 6,
    cerenkov = 15,
    scintillation = 16,
    g4_cerenkov_modified = 18,
  };
  /// Its rows: by Frank and Tamm, over the material's RINDEX.
  struct Cerenkov {
    Float3 displacement;  ///< from the step's begin to its end
    float length;
    std::int32_t particle;  ///< not read
    float charge;           ///< in units of the elementary charge
    float weight;           ///< not read
    float velocity;         ///< at the begin, mm/ns; 0: by beta_inverse
    float beta_inverse;     ///< c over the particle's mean velocity
    float shortest;         ///< nm: the range of light; both 0: that of RINDEX's table
    float longest;
    float max_cosine;    ///< not read
    float max_sin2;      ///< not read: it comes from the table
    float yield;         ///< photons a length at the begin: between both it is linear
    float yield_at_end;  ///< at the end
    float velocity_at_end;
  };

  /// Its rows: with spectrum and times of the material's scintillation components.
  struct Scintillation {
    Float3 displacement;
    float length;
    std::int32_t particle;
    float charge;  ///< 0: all photons are born at the end of the step
    float weight;
    float velocity;           ///< mean, mm/ns; 0: that of light
    std::uint32_t component;  ///< from 1 to 3; 0: drawn by their shares
    float deposit;            ///< MeV, for kPhotonsOfPhysics; a word that Opticks leaves free
    float free[2];
    float time_constant;  ///< ns; 0: the component's, with its rise time
    float also_free[3];
  };

  /// Its rows: light along one direction.
  struct Torch {
    enum class Shape : std::uint32_t { disc = 1, line = 2, point = 3 };
    Float3 direction;
    float weight;         ///< not read
    Float3 polarization;  ///< not read: it follows from the direction
    float wavelength;     ///< nm
    float zenith[2];      ///< disc: range of the radius, which is uniform in it, in terms of `radius`
    float azimuth[2];     ///< disc: range of the angle, in turns
    float radius;         ///< of the disc, or half of the line's length
    float distance;       ///< not read
    std::uint32_t mode;   ///< not read
    Shape shape;
  };

  Type type;
  std::uint32_t track;
  std::uint32_t material;  ///< Opticks's; not read: the material is that at the middle of the step
  std::uint32_t photons;   ///< or kPhotonsOfPhysics
  Float3 position;         ///< where the step begins
  float time;              ///< when it begins
  float rows[4][4];        ///< one of the above: details_of()
};
static_assert(sizeof(Genstep) == 96);

/// The rows of a genstep by their names, and back.
template <class Step>
[[nodiscard]] RAYLIFT_HD_INLINE Step details_of(const Genstep& genstep) {
  static_assert(sizeof(Step) == sizeof genstep.rows);
  Step step;
  std::memcpy(&step, genstep.rows, sizeof step);
  return step;
}
template <class Step>
RAYLIFT_HD_INLINE void set_details(Genstep& genstep, const Step& step) {
  static_assert(sizeof(Step) == sizeof genstep.rows);
  std::memcpy(genstep.rows, &step, sizeof step);
}

}  // namespace raylift::photon
