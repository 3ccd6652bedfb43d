// SPDX-License-Identifier: Apache-2.0
// The optics of a scene, as plain values: properties of materials, optical
// surfaces, their assignments, and the solids that detect. Keys, models and finishes have Geant4's names and numbers.
// docs/optics.md lists every key.
//
// Units everywhere: eV or nm for a table's axis, mm, ns, radians, and 1/MeV for yields.
#pragma once

#include <raylift/geometry/index.h>
#include <raylift/geometry/scene/optics_codes.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace raylift {

/// A property over photon energy or wavelength. It is linear between its points in its own axis, and constant beyond
/// its ends.
struct OpticalTable {
  enum class Axis : std::uint8_t { energy_ev, wavelength_nm };
  struct Range {
    double least, most;  ///< of the values
    double shortest_nm, longest_nm;
  };

  std::string key;  ///< "RINDEX"
  Axis axis = Axis::energy_ev;
  std::vector<double> at;      ///< positive and ascending
  std::vector<double> values;  ///< as many as `at`

  /// At a wavelength in nm.
  [[nodiscard]] double value(double wavelength_nm) const;
  /// At an energy in eV or a wavelength in nm, by its axis.
  [[nodiscard]] double interpolate(double x) const;
  /// The table has at least one point.
  [[nodiscard]] Range range() const;
  friend bool operator==(const OpticalTable&, const OpticalTable&) = default;
};

/// The properties of a material or a surface, in the file's order, each key once.
struct OpticalProperties {
  /// A property that is one number.
  struct Constant {
    std::string key;  ///< "SCINTILLATIONYIELD"
    double value = 0;
    friend bool operator==(const Constant&, const Constant&) = default;
  };

  std::vector<OpticalTable> tables;
  std::vector<Constant> constants;

  /// Null where there is none.
  [[nodiscard]] const OpticalTable* table(std::string_view key) const;
  [[nodiscard]] std::optional<double> constant(std::string_view key) const;
  [[nodiscard]] bool empty() const { return tables.empty() && constants.empty(); }
  friend bool operator==(const OpticalProperties&, const OpticalProperties&) = default;
};

/// What a boundary between two media does to a photon, beyond their refractive indices.
struct OpticalSurface {
  /// Reflection and transmission of a dichroic filter at one angle of incidence, from the normal.
  struct DichroicAngle {
    double radians = 0;
    OpticalTable reflect;
    OpticalTable transmit;
    friend bool operator==(const DichroicAngle&, const DichroicAngle&) = default;
  };

  std::string name;
  SurfaceModel model = SurfaceModel::glisur;
  SurfaceFinish finish = SurfaceFinish::polished;
  SurfaceType type = SurfaceType::dielectric_dielectric;
  double value = 1;  ///< glisur: polish, from 0 (rough) to 1; unified: sigma_alpha, radians
  OpticalProperties properties;
  std::vector<DichroicAngle> dichroic;  ///< by ascending angle
  friend bool operator==(const OpticalSurface&, const OpticalSurface&) = default;
};

/// Selects solids. Each pattern that is not empty must match: '*' any text, '?' any character, '[abc]' one of these,
/// '\' escapes the next character. A name matches with and without the pointer that Geant4 appends ("Water0x63556b0" is
/// "Water"); if a text without a wildcard is some name in full, only that name matches.
struct SolidSelector {
  std::string solid;   ///< Scene::solid_name: a placed volume
  std::string volume;  ///< Scene::volume_name: a logical volume
  std::string mesh;
  std::string material;  ///< inside, of the mesh's first part
  std::string path;      ///< Scene::path
  std::optional<std::int64_t> copy_number;
  friend bool operator==(const SolidSelector&, const SolidSelector&) = default;
};

/// The assignment of a surface to solids.
struct SurfaceAssignment {
  enum class Kind : std::uint8_t {
    skin,    ///< all around the solids `from`, as Geant4's skin surface of a logical volume
    border,  ///< out of the solids `from` into the solids `to` that lie next to them in the tree, as Geant4's border
             ///< surface: an ordered pair
  };
  Kind kind = Kind::skin;
  std::string name;           ///< of the skin or border itself, as the file has it
  std::uint32_t surface = 0;  ///< index in Optics::surfaces
  SolidSelector from;
  SolidSelector to;  ///< of a border
  friend bool operator==(const SurfaceAssignment&, const SurfaceAssignment&) = default;
};

/// Properties shared by the channels of one kind of sensor. Empty members have no effect.
struct ChannelType {
  /// A distribution over time (ns) or charge (photoelectrons): its density at ascending points, not normalised.
  struct Distribution {
    std::vector<double> at;
    std::vector<double> density;
    friend bool operator==(const Distribution&, const Distribution&) = default;
  };

  std::string name;
  std::optional<OpticalTable> efficiency;  ///< times that of the surface, by wavelength
  std::vector<double> angles;              ///< of incidence on the sensor, radians, ascending
  std::vector<double> angle_efficiency;    ///< at these
  Distribution time;                       ///< of the detection after the arrival
  Distribution charge;
  friend bool operator==(const ChannelType&, const ChannelType&) = default;
};

/// Solids that detect.
struct ChannelAssignment {
  SolidSelector solids;
  std::uint32_t type = kNone;         ///< index in Optics::channel_types, or kNone
  std::optional<std::int64_t> first;  ///< the first one's channel number; the others follow in the order of solids.
                                      ///< Without it they get their copy numbers where these are distinct, or else
                                      ///< follow the last channel before
  friend bool operator==(const ChannelAssignment&, const ChannelAssignment&) = default;
};

/// All of a scene's optics. Readers fill the first half; resolve_optics() fills the second from it.
struct Optics {
  /// A border surface between two solids.
  struct Border {
    std::uint32_t from = 0;  ///< indices in Scene::instances
    std::uint32_t to = 0;
    std::uint32_t assignment = 0;  ///< index in Optics::assignments
    friend bool operator==(const Border&, const Border&) = default;
  };

  /// A solid that detects.
  struct Channel {
    std::uint32_t solid = 0;  ///< index in Scene::instances
    std::int64_t number = 0;
    std::uint32_t type = kNone;  ///< index in Optics::channel_types, or kNone
    friend bool operator==(const Channel&, const Channel&) = default;
  };

  std::vector<OpticalProperties> materials;  ///< one for each of Scene::materials, or none at all
  std::vector<OpticalSurface> surfaces;
  std::vector<SurfaceAssignment> assignments;
  std::vector<ChannelType> channel_types;
  std::vector<ChannelAssignment> channel_assignments;

  std::vector<std::uint32_t> skins;  ///< by solid: an index in `assignments` or kNone; empty where no solid has one
  std::vector<Border> borders;       ///< by `from`, then `to`, each pair once
  std::vector<Channel> channels;     ///< by solid, each once

  [[nodiscard]] bool empty() const {
    return materials.empty() && surfaces.empty() && channel_types.empty() && channel_assignments.empty();
  }
  friend bool operator==(const Optics&, const Optics&) = default;
};

}  // namespace raylift
