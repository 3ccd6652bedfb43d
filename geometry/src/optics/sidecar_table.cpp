// SPDX-License-Identifier: Apache-2.0
#include "sidecar_table.h"

#include <raylift/geometry/error.h>

#include <array>
#include <span>

#include "base/suggest.h"
#include "base/units.h"
#include "edit_optics.h"
#include "property_faults.h"
#include "property_table.h"

namespace raylift::detail {
namespace {

using base::Unit;

/// The first is the one that raylift has.
std::span<const Unit> units_of(PropertyInfo::Quantity quantity) {
  static constexpr std::array length{Unit{"mm", 1},    Unit{"cm", 10},   Unit{"m", 1e3},
                                     Unit{"um", 1e-3}, Unit{"nm", 1e-6}, Unit{"km", 1e6}};
  static constexpr std::array time{Unit{"ns", 1}, Unit{"ps", 1e-3}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};
  static constexpr std::array speed{Unit{"mm/ns", 1}, Unit{"cm/ns", 10}, Unit{"m/ns", 1e3}, Unit{"m/s", 1e-6}};
  static constexpr std::array yield{Unit{"1/MeV", 1}, Unit{"1/keV", 1e3}, Unit{"1/eV", 1e6}, Unit{"1/GeV", 1e-3}};
  static constexpr std::array angle{Unit{"rad", 1}, Unit{"mrad", 1e-3}, Unit{"deg", 0.017453292519943295}};
  switch (quantity) {
    case PropertyInfo::Quantity::length:
      return length;
    case PropertyInfo::Quantity::time:
      return time;
    case PropertyInfo::Quantity::speed:
      return speed;
    case PropertyInfo::Quantity::yield:
      return yield;
    case PropertyInfo::Quantity::angle:
      return angle;
    default:
      return {};
  }
}

/// What the value's numbers are to be multiplied with.
double factor_of(const JsonValue& value, const std::string& key, const PropertyInfo* info) {
  if (!value.has("unit")) return 1;
  const JsonValue unit = value.at("unit");
  if (info == nullptr)
    unit.fail("is of no use: raylift does not know what '" + key + "' is",
              "take the unit out, and give numbers as the property has them");
  const std::string name = unit.text();
  std::vector<std::string> known;
  for (const Unit& one : units_of(info->quantity)) {
    if (one.name == name) return one.value;
    known.emplace_back(one.name);
  }
  if (known.empty()) unit.fail("is '" + name + "', and " + key + " has no unit", "take it out");
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
  unit.fail("is '" + name + "', and " + key + " has one of " + list + base::did_you_mean(name, known));
}

struct Axis {
  std::string_view name;
  OpticalTable::Axis axis;
  double factor;
};
constexpr std::array kAxes{Axis{"wavelength_nm", OpticalTable::Axis::wavelength_nm, 1},
                           Axis{"energy_eV", OpticalTable::Axis::energy_ev, 1},
                           Axis{"energy_MeV", OpticalTable::Axis::energy_ev, 1e6}};

const Axis& axis_of(const JsonValue& value) {
  const Axis* found = nullptr;
  for (const Axis& axis : kAxes) {
    if (!value.has(axis.name)) continue;
    if (found != nullptr)
      value.fail("has both '" + std::string(found->name) + "' and '" + std::string(axis.name) + "'",
                 "give one of them");
    found = &axis;
  }
  if (found == nullptr)
    value.fail("lacks what it is over", "give 'wavelength_nm', 'energy_eV' or 'energy_MeV'; or 'value' for one number");
  return *found;
}

std::vector<double> column(const CsvTable& csv, const JsonValue& which) {
  return which.is_string() ? csv.column(which.text()) : csv.column(which.integer());
}

}  // namespace

const CsvTable& TableReader::csv(const JsonValue& path) {
  const std::string name = path.text();
  if (const auto found = files_.find(name); found != files_.end()) return found->second;
  std::string text;
  try {
    text = read_(name);
  } catch (const Error& error) {
    throw Error(error.kind(), path.path() + ": " + error.problem(),
                {error.file().empty() ? path.file() : error.file(), ""}, error.advice());
  }
  return files_.emplace(name, CsvTable(text, name)).first->second;
}

OpticalTable TableReader::table(const std::string& key, const JsonValue& value, const PropertyInfo* info) {
  value.allow({"wavelength_nm", "energy_eV", "energy_MeV", "values", "unit", "csv"});
  const Axis& axis = axis_of(value);
  const JsonValue at = value.at(axis.name), values = value.at("values");
  const CsvTable* file = value.has("csv") ? &csv(value.at("csv")) : nullptr;
  OpticalTable table{key, axis.axis, {}, {}};
  table.at = file != nullptr ? column(*file, at) : at.numbers();
  table.values = file != nullptr ? column(*file, values) : values.numbers();
  // A factor of 1 leaves every bit as it is.
  for (double& one : table.at) one *= axis.factor;
  const double factor = factor_of(value, key, info);
  for (double& one : table.values) one *= factor;
  const std::optional<PropertyFault> fault = find_fault(table, info);
  if (!fault) return table;
  if (fault->part == PropertyFault::Part::whole) value.fail(fault->what, fault->advice);
  std::string place = (fault->part == PropertyFault::Part::this_point ? at : values).path();
  place += file == nullptr ? '[' + std::to_string(fault->point) + ']'
                           : ", line " + std::to_string(file->line(fault->point)) + " of " + value.at("csv").text();
  throw Error(ErrorKind::malformed, place + ": " + key + ' ' + fault->what, {value.file(), ""}, fault->advice);
}

void TableReader::change(OpticalProperties& properties, const std::string& key, const JsonValue& value, PropertyOf of) {
  if (value.is_null()) return remove_property(properties, key);
  const PropertyInfo* info = find_property(of, key);
  if (!value.is_number() && !value.has("value")) return set_property(properties, table(key, value, info));
  if (!value.is_number()) value.allow({"value", "unit"});
  const JsonValue number = value.is_number() ? value : value.at("value");
  if (info != nullptr && info->table)
    value.fail("is one number, and a table is expected", "give it 'wavelength_nm' and 'values'");
  const double result = number.number() * (value.is_number() ? 1 : factor_of(value, key, info));
  if (const auto fault = find_fault(result, info)) number.fail(fault->what, fault->advice);
  set_property(properties, OpticalProperties::Constant{key, result});
}

}  // namespace raylift::detail
