// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>

#include "property_faults.h"
#include "property_table.h"

namespace raylift {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::string text(double value) {
  std::ostringstream stream;
  stream.precision(10);
  stream << value;
  return stream.str();
}

struct Limits {
  double least, most;
  const char* words;
};

Limits limits(PropertyInfo::Quantity quantity) {
  switch (quantity) {
    case PropertyInfo::Quantity::index:
    case PropertyInfo::Quantity::speed:
      return {std::numeric_limits<double>::min(), kInfinite, "positive"};
    case PropertyInfo::Quantity::probability:
      return {0, 1, "from 0 to 1"};
    case PropertyInfo::Quantity::cosine:
      return {-1, 1, "from -1 to 1"};
    default:
      return {0, kInfinite, "not negative"};
  }
}

/// `where` follows the value.
std::optional<detail::PropertyFault> value_fault(double value, const PropertyInfo* info, std::size_t point,
                                                 const std::string& where) {
  using enum detail::PropertyFault::Part;
  if (!std::isfinite(value))
    return detail::PropertyFault{this_value, point, "is " + text(value) + where + ", no finite number",
                                 "give a number"};
  if (info == nullptr) return std::nullopt;
  const auto [least, most, words] = limits(info->quantity);
  if (value >= least && value <= most) return std::nullopt;
  return detail::PropertyFault{this_value, point, "is " + text(value) + where + ", and must be " + words,
                               "correct the value"};
}

/// Checks the properties of one material or surface.
class Checker {
 public:
  Checker(const Scene& scene, PropertyOf of, const std::string& owner)
      : scene_(scene), of_(of), owner_(property_owner(of, owner)) {}

  void check(const OpticalProperties& properties) {
    std::set<std::string_view> keys;
    const auto once = [&](const std::string& key) {
      if (!keys.insert(key).second) fail(key, "occurs twice", "keep one of them");
    };
    for (const OpticalTable& table : properties.tables) {
      once(table.key);
      check(table, find_property(of_, table.key));
    }
    for (const OpticalProperties::Constant& constant : properties.constants) {
      once(constant.key);
      const PropertyInfo* info = find_property(of_, constant.key);
      if (info != nullptr && info->table)
        fail(constant.key, "is one number, and a table is expected", "give it points");
      check_value(constant.key, constant.value, info);
    }
  }

  void check(const OpticalTable& table, const PropertyInfo* info) const {
    if (const auto fault = detail::find_fault(table, info)) fail(table.key, fault->what, fault->advice);
  }

  /// Probabilities that exclude each other, at every point of any of them: between the points they are linear.
  void check_sum(const OpticalProperties& properties, std::span<const std::string_view> keys) const {
    std::vector<const OpticalTable*> tables;
    std::string names;
    for (const std::string_view key : keys)
      if (const OpticalTable* table = properties.table(key)) {
        tables.push_back(table);
        names += (names.empty() ? "" : " + ") + std::string(key);
      }
    for (const OpticalTable* corner : tables)
      for (const double at : corner->at) {
        const double wavelength = corner->axis == OpticalTable::Axis::energy_ev ? kEvNm / at : at;
        double sum = 0;
        for (const OpticalTable* table : tables) sum += table->value(wavelength);
        if (sum > 1 + 1e-6)
          fail(names, "sum to " + text(sum) + " at " + text(wavelength) + " nm, more than 1", "lower one of them");
      }
  }

  void check_value(const OpticalSurface& surface) const {
    const bool polish = surface.model == SurfaceModel::glisur;
    if (!(surface.value >= 0 && surface.value <= (polish ? 1 : std::numeric_limits<double>::max())))
      fail("value",
           "is " + text(surface.value) + ", and must be " + (polish ? "a polish, from 0 to 1" : "not negative"),
           "correct the value");
  }

  [[noreturn]] void fail(std::string_view key, const std::string& what, const std::string& advice) const {
    throw Error(ErrorKind::malformed, std::string(key) + " " + what, {scene_.source, owner_}, advice);
  }

 private:
  void check_value(std::string_view key, double value, const PropertyInfo* info) const {
    if (const auto fault = detail::find_fault(value, info)) fail(key, fault->what, fault->advice);
  }

  const Scene& scene_;
  PropertyOf of_;
  std::string owner_;
};

constexpr std::array<std::string_view, 2> kReflectOrTransmit{"REFLECTIVITY", "TRANSMITTANCE"};
constexpr std::array<std::string_view, 3> kLobes{"SPECULARLOBECONSTANT", "SPECULARSPIKECONSTANT",
                                                 "BACKSCATTERCONSTANT"};
constexpr std::array<std::string_view, 4> kSimple{"DETECT", "ABSORB", "REFLECT_DIFFUSE", "REFLECT_SPECULAR"};

void check_surface(const Scene& scene, const OpticalSurface& surface) {
  Checker checker(scene, PropertyOf::surface, surface.name);
  checker.check_value(surface);
  checker.check(surface.properties);
  for (const auto& keys : {std::span<const std::string_view>(kReflectOrTransmit),
                           std::span<const std::string_view>(kLobes), std::span<const std::string_view>(kSimple)})
    checker.check_sum(surface.properties, keys);
  double before = -1;
  for (const OpticalSurface::DichroicAngle& angle : surface.dichroic) {
    if (!(angle.radians >= 0 && angle.radians < 1.5707963267948968) || angle.radians <= before)
      checker.fail("dichroic",
                   "has an angle of " + text(angle.radians) + " radians, and they must ascend from 0 to less than pi/2",
                   "sort the angles");
    before = angle.radians;
    const PropertyInfo probability{"", PropertyOf::surface, true, PropertyInfo::Quantity::probability, ""};
    OpticalProperties both;
    for (const auto& [key, table] :
         {std::pair("dichroic reflect", &angle.reflect), {"dichroic transmit", &angle.transmit}}) {
      both.tables.push_back(*table);
      both.tables.back().key = key;
      checker.check(both.tables.back(), &probability);
    }
    constexpr std::array<std::string_view, 2> keys{"dichroic reflect", "dichroic transmit"};
    checker.check_sum(both, keys);
  }
}

void warn_of_unused_surfaces(Scene& scene) {
  const std::vector<bool> used = detail::assigned_surfaces(scene.optics);
  for (std::size_t i = 0; i != used.size(); ++i)
    if (!used[i])
      scene.report.warnings.push_back("no skin or border uses the optical surface '" + scene.optics.surfaces[i].name +
                                      "'");
}

/// One warning for all keys of an owner that have the same reason.
void warn_of_unhonoured(Scene& scene) {
  const std::vector<UnhonouredProperty> all = unhonoured_properties(scene);
  std::vector<bool> reported(all.size(), false);
  for (std::size_t i = 0; i != all.size(); ++i) {
    if (reported[i]) continue;
    const UnhonouredProperty& first = all[i];
    std::string keys = first.key;
    bool several = false;
    // The properties of one owner stand together.
    for (std::size_t k = i + 1; k != all.size() && all[k].of == first.of && all[k].owner == first.owner; ++k)
      if (!reported[k] && all[k].why == first.why) {
        keys += ", " + all[k].key;
        several = reported[k] = true;
      }
    scene.report.warnings.push_back(property_owner(first.of, first.owner) + ": " + keys + (several ? " are" : " is") +
                                    " not honoured: " + first.why);
  }
}

/// A table without a point here is most likely in another unit.
constexpr double kShortestNm = 20, kLongestNm = 5000;

/// A guess why a table is far from that light: its numbers may be in another unit than they were read in.
std::string likely_unit(const OpticalTable& table, const OpticalTable::Range& range) {
  struct Mistake {
    double factor;  // from what was read to the true energy (eV) or wavelength (nm)
    const char* text;
  };
  static constexpr Mistake kEnergies[]{{1e3, "GeV where MeV are read"},
                                       {1e-6, "eV where MeV are read"},
                                       {1e6, "MeV where eV are read"},
                                       {1e9, "GeV where eV are read"}};
  static constexpr Mistake kWavelengths[]{
      {1e3, "um where nm are read"}, {1e6, "mm where nm are read"}, {1e9, "m where nm are read"}};
  const double middle = std::sqrt(range.shortest_nm) * std::sqrt(range.longest_nm);
  const auto is_light = [](double nm) { return nm >= 100 && nm <= 1300; };
  if (table.axis == OpticalTable::Axis::energy_ev) {
    for (const Mistake& mistake : kEnergies)
      if (is_light(middle / mistake.factor)) return mistake.text;
    const double ev = kEvNm / middle;
    if (is_light(ev / 1e6)) return "nm where MeV are read";
    if (is_light(ev)) return "nm where eV are read";
  } else {
    for (const Mistake& mistake : kWavelengths)
      if (is_light(middle * mistake.factor)) return mistake.text;
    if (is_light(kEvNm / middle)) return "eV where nm are read";
  }
  return {};
}

/// Tables without a point where light is: their value at the end would hold for all of it.
void warn_of_tables_elsewhere(Scene& scene) {
  const auto warn = [&scene](PropertyOf of, const std::string& owner, const OpticalProperties& properties) {
    for (const OpticalTable& table : properties.tables) {
      const OpticalTable::Range range = table.range();
      if (find_property(of, table.key) == nullptr) continue;
      if (range.shortest_nm <= kLongestNm && range.longest_nm >= kShortestNm) continue;
      const std::string unit = likely_unit(table, range);
      scene.report.warnings.push_back(property_owner(of, owner) + ": " + table.key + " has no point from " +
                                      text(kShortestNm) + " to " + text(kLongestNm) + " nm: its points are from " +
                                      text(range.shortest_nm) + " to " + text(range.longest_nm) +
                                      " nm, and the value at its end holds for all light" +
                                      (unit.empty() ? "" : "; are the numbers in " + unit + "?"));
    }
  };
  for (std::size_t i = 0; i != scene.optics.materials.size(); ++i)
    warn(PropertyOf::material, scene.materials[i].name, scene.optics.materials[i]);
  for (const OpticalSurface& surface : scene.optics.surfaces)
    warn(PropertyOf::surface, surface.name, surface.properties);
}

}  // namespace

std::optional<detail::PropertyFault> detail::find_fault(double value, const PropertyInfo* info) {
  return value_fault(value, info, 0, {});
}

std::vector<bool> detail::assigned_surfaces(const Optics& optics) {
  std::vector<bool> assigned(optics.surfaces.size(), false);
  for (const SurfaceAssignment& assignment : optics.assignments)
    if (assignment.surface < assigned.size()) assigned[assignment.surface] = true;
  return assigned;
}

std::optional<detail::PropertyFault> detail::find_fault(const OpticalTable& table, const PropertyInfo* info) {
  using enum PropertyFault::Part;
  const bool energy = table.axis == OpticalTable::Axis::energy_ev;
  const std::string what = energy ? "energy " : "wavelength ";
  const std::string unit = energy ? " eV" : " nm";
  if (info != nullptr && !info->table)
    return PropertyFault{whole, 0, "is a table, and one number is expected", "give one value"};
  if (table.at.size() != table.values.size())
    return PropertyFault{
        whole, 0,
        "has " + std::to_string(table.at.size()) + " points and " + std::to_string(table.values.size()) + " values",
        "give a value for each point"};
  if (table.at.size() < 2)
    return PropertyFault{whole, 0,
                         "has " + std::string(table.at.empty() ? "no point" : "one point") + ", and a table needs two",
                         "repeat the value at a second " + std::string(energy ? "energy" : "wavelength")};
  for (std::size_t i = 0; i != table.at.size(); ++i) {
    const double at = table.at[i];
    const auto point = [i] { return " (point " + std::to_string(i + 1) + ")"; };
    if (!std::isfinite(at) || at <= 0)
      return PropertyFault{this_point, i, what + text(at) + unit + " is not positive" + point(), "take the point out"};
    if (!std::isfinite(kEvNm / at))
      return PropertyFault{this_point, i, what + text(at) + unit + " is too small" + point(), "take the point out"};
    if (i != 0 && at <= table.at[i - 1])
      return PropertyFault{
          this_point, i,
          what + text(at) + unit + " is not above the one before, " + text(table.at[i - 1]) + unit + point(),
          "sort the points, each once"};
    if (find_fault(table.values[i], info)) return value_fault(table.values[i], info, i, " at " + text(at) + unit);
  }
  return std::nullopt;
}

std::vector<UnhonouredProperty> unhonoured_properties(const Scene& scene) {
  std::vector<UnhonouredProperty> found;
  const auto add = [&](PropertyOf of, const std::string& owner, const OpticalProperties& properties) {
    const auto one = [&](const std::string& key) {
      const PropertyInfo* info = find_property(of, key);
      if (info == nullptr)
        found.push_back({of, owner, key, "the key is not known"});
      else if (info->honoured.empty())
        found.push_back({of, owner, key, "it is read, but not simulated"});
    };
    for (const OpticalTable& table : properties.tables) one(table.key);
    for (const OpticalProperties::Constant& constant : properties.constants) one(constant.key);
  };
  for (std::size_t i = 0; i != scene.optics.materials.size(); ++i)
    add(PropertyOf::material, scene.materials[i].name, scene.optics.materials[i]);
  for (const OpticalSurface& surface : scene.optics.surfaces) {
    add(PropertyOf::surface, surface.name, surface.properties);
    const bool by_table = surface.model == SurfaceModel::lut || surface.model == SurfaceModel::davis;
    if (by_table) found.push_back({PropertyOf::surface, surface.name, "model", "look-up tables are not simulated"});
    if (!by_table && surface.finish > SurfaceFinish::ground_back_painted)
      found.push_back({PropertyOf::surface, surface.name, "finish", "it belongs to look-up tables"});
    if (!by_table && surface.type >= SurfaceType::firsov)
      found.push_back({PropertyOf::surface, surface.name, "type", "it is not simulated"});
  }
  return found;
}

void detail::check_property_values(const Scene& scene) {
  for (std::size_t i = 0; i != scene.optics.materials.size(); ++i)
    Checker(scene, PropertyOf::material, scene.materials[i].name).check(scene.optics.materials[i]);
  for (const OpticalSurface& surface : scene.optics.surfaces) check_surface(scene, surface);
}

void check_optical_properties(Scene& scene) {
  detail::check_property_values(scene);
  warn_of_unused_surfaces(scene);
  warn_of_unhonoured(scene);
  warn_of_tables_elsewhere(scene);
}

}  // namespace raylift
