// SPDX-License-Identifier: Apache-2.0
// A material's and a surface's properties as tables on a raster and as curves.
#pragma once

#include <raylift/geometry/scene/optics.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

namespace raylift::detail {

/// The group velocity (mm/ns) over energy that Geant4 derives from a refractive index
/// (G4MaterialPropertiesTable::CalculateGROUPVEL); docs/optics.md has the formula.
[[nodiscard]] OpticalTable group_velocity(const OpticalTable& index);

/// The cumulative distribution of a density that is linear between its points: x is the probability, y what the density
/// is over. None for a density of no points; one point for a density without an area.
[[nodiscard]] std::vector<CurvePoint> cumulative(const std::vector<double>& at, const std::vector<double>& density);

/// One quantity of a table.
struct Column {
  const OpticalTable* table = nullptr;
  double absent = 0;  ///< the value where there is no table
};

/// Fills the tables and points of OpticsArrays. Equal tables are kept once.
class TableBuilder {
 public:
  TableBuilder(OpticsArrays& arrays, const std::string& source) : arrays_(arrays), source_(source) {}

  /// Throws Error(limit).
  std::uint32_t add_table(const std::array<Column, 4>& columns);
  /// Always at the end: for the tables whose number is that of their material.
  std::uint32_t append_table(const std::array<Column, 4>& columns);
  Curve add_curve(const std::vector<CurvePoint>& points);
  /// No component where there is no spectrum.
  EmissionComponent emission(const OpticalTable* spectrum, double amount, double time_constant, double rise_time);

 private:
  [[nodiscard]] std::vector<TableRow> rows(const std::array<Column, 4>& columns) const;
  std::uint32_t append(const std::vector<TableRow>& rows);

  OpticsArrays& arrays_;
  const std::string& source_;
  std::unordered_map<std::string, std::uint32_t> known_;  // tables by their bytes
};

[[nodiscard]] float as_float(double value);

}  // namespace raylift::detail
