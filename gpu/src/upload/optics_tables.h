// SPDX-License-Identifier: Apache-2.0
// A material's and a surface's properties as tables over their own points, or a raster's, and as curves.
#pragma once

#include <raylift/geometry/scene/optics.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

namespace raylift::detail {

/// The group velocity (mm/ns) that Geant4 derives from a refractive index
/// (G4MaterialPropertiesTable::CalculateGROUPVEL), over energy; docs/optics.md has the formula.
[[nodiscard]] OpticalTable group_velocity(const OpticalTable& index);

/// The cumulative distribution of a density that is linear between its points: x is the probability, y what the density
/// is over. None for a density of no points; one point for a density without an area.
[[nodiscard]] std::vector<Curve::Point> cumulative(const std::vector<double>& at, const std::vector<double>& density);

/// One quantity of a table.
struct Column {
  const OpticalTable* table = nullptr;
  double absent = 0;                                        ///< the value where there is no table
  double least = -std::numeric_limits<double>::infinity();  ///< smaller values become this one
};
/// The quantities of a table, which one search finds: blocks of four. Each block has a row for each point.
using Columns = std::vector<std::array<Column, 4>>;

/// Where a table is in OpticsView.
struct TableNumber {
  std::uint32_t table;
  std::uint32_t rows;  ///< points
};

/// Fills the tables and points of OpticsArrays. Equal tables are kept once.
class TableBuilder {
 public:
  TableBuilder(OpticsArrays& arrays, const std::string& source) : arrays_(arrays), source_(source) {}

  /// The points of a table are those of all its columns, all linear in energy, or all in wavelength. Where they differ,
  /// the table is linear in energy, and the others have as many points more as keep them within kMaxDeviation of their
  /// values. Throws Error(limit).
  TableNumber add_table(const Columns& columns);
  /// Always at the end: for the tables whose number is that of their material.
  TableNumber append_table(const Columns& columns);
  Curve add_curve(const std::vector<Curve::Point>& points);
  /// No component where there is no spectrum.
  EmissionComponent emission(const OpticalTable* spectrum, double amount, double time_constant, double rise_time);

 private:
  TableNumber append(const std::vector<OpticsView::TableRow>& rows, std::uint32_t count);

  OpticsArrays& arrays_;
  const std::string& source_;
  struct Known {
    TableNumber number;
    std::size_t first, all;  // its rows in arrays_
  };
  std::unordered_multimap<std::size_t, Known> known_;  // tables that add_table() has added, by a hash of their bytes
};

[[nodiscard]] float as_float(double value);

}  // namespace raylift::detail
