// SPDX-License-Identifier: Apache-2.0
#include "optics_tables.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <cmath>

namespace raylift::detail {
namespace {

constexpr std::size_t kMax = 0xFFFFFFFE;  // elements of an array of a view

/// The points by ascending energy.
OpticalTable over_energy(const OpticalTable& table) {
  if (table.axis == SpectralAxis::energy_ev) return table;
  OpticalTable turned{table.key, SpectralAxis::energy_ev, {}, {table.values.rbegin(), table.values.rend()}};
  for (std::size_t i = table.at.size(); i-- != 0;) turned.at.push_back(kEvNm / table.at[i]);
  return turned;
}

}  // namespace

float as_float(double value) {
  return static_cast<float>(std::clamp(value, -double{kNever}, double{kNever}));
}

OpticalTable group_velocity(const OpticalTable& index) {
  const OpticalTable n = over_energy(index);
  OpticalTable velocity{"GROUPVEL", SpectralAxis::energy_ev, {}, {}};
  const auto add = [&](double energy, double value, double slope) {
    const double phase = kLightSpeed / value;
    const double group = kLightSpeed / (value + slope);
    velocity.at.push_back(energy);
    // Not below zero nor above the phase velocity: only normal dispersion is taken, as by Geant4.
    velocity.values.push_back(group >= 0 && group <= phase ? group : phase);
  };
  const std::size_t last = n.at.size() - 1;
  // dn / d(ln E) of the interval that begins at point i. A step of the index, two neighbouring doubles, has none.
  const auto slope = [&](std::size_t i) {
    return last == 0 || !(n.at[i + 1] > n.at[i] * (1 + 1e-12))
               ? 0
               : (n.values[i + 1] - n.values[i]) / std::log(n.at[i + 1] / n.at[i]);
  };
  add(n.at[0], n.values[0], slope(0));
  if (last == 0) return velocity;
  for (std::size_t i = 0; i + 1 < last; ++i)  // Geant4 gives the last interval no middle
    add((n.at[i] + n.at[i + 1]) / 2, (n.values[i] + n.values[i + 1]) / 2, slope(i));
  add(n.at[last], n.values[last], slope(last - 1));
  return velocity;
}

std::vector<CurvePoint> cumulative(const std::vector<double>& at, const std::vector<double>& density) {
  if (at.empty()) return {};
  std::vector<double> sum(at.size(), 0);
  for (std::size_t i = 1; i < at.size(); ++i)
    sum[i] = sum[i - 1] + (at[i] - at[i - 1]) * (std::max(density[i - 1], 0.0) + std::max(density[i], 0.0)) / 2;
  if (!(sum.back() > 0) || !std::isfinite(sum.back())) return {{0, as_float(at[0])}};
  std::vector<CurvePoint> points;
  for (std::size_t i = 0; i != at.size(); ++i) points.push_back({as_float(sum[i] / sum.back()), as_float(at[i])});
  return points;
}

std::vector<TableRow> TableBuilder::rows(const std::array<Column, 4>& columns) const {
  const Raster& raster = arrays_.raster;
  std::vector<TableRow> rows(raster.count);
  for (std::size_t c = 0; c != columns.size(); ++c)
    for (std::uint32_t i = 0; i != raster.count; ++i)
      rows[i].v[c] = as_float(columns[c].table == nullptr
                                  ? columns[c].absent
                                  : columns[c].table->value(double{raster.start} + i * double{raster.step}));
  return rows;
}

std::uint32_t TableBuilder::append(const std::vector<TableRow>& rows) {
  std::vector<TableRow>& tables = arrays_.tables;
  if (tables.size() > kMax - rows.size())
    throw Error(ErrorKind::limit, "the scene's optical tables have more than " + std::to_string(kMax) + " rows",
                {source_, ""}, "choose a raster of fewer wavelengths");
  const auto number = static_cast<std::uint32_t>(tables.size() / arrays_.raster.count);
  tables.insert(tables.end(), rows.begin(), rows.end());
  return number;
}

std::uint32_t TableBuilder::append_table(const std::array<Column, 4>& columns) {
  return append(rows(columns));
}

std::uint32_t TableBuilder::add_table(const std::array<Column, 4>& columns) {
  const std::vector<TableRow> one = rows(columns);
  const std::string bytes(reinterpret_cast<const char*>(one.data()), one.size() * sizeof(TableRow));
  if (const auto found = known_.find(bytes); found != known_.end()) return found->second;
  return known_[bytes] = append(one);
}

Curve TableBuilder::add_curve(const std::vector<CurvePoint>& points) {
  std::vector<CurvePoint>& all = arrays_.points;
  if (all.size() > kMax - std::min(points.size(), kMax))
    throw Error(ErrorKind::limit, "the scene's spectra have more than " + std::to_string(kMax) + " points",
                {source_, ""});
  const Curve curve{static_cast<std::uint32_t>(all.size()), static_cast<std::uint32_t>(points.size())};
  all.insert(all.end(), points.begin(), points.end());
  return curve;
}

EmissionComponent TableBuilder::emission(const OpticalTable* spectrum, double amount, double time_constant,
                                         double rise_time) {
  EmissionComponent component{};
  if (spectrum == nullptr) return component;
  component.spectrum = add_curve(cumulative(spectrum->at, spectrum->values));
  component.over_energy = spectrum->axis == SpectralAxis::energy_ev ? 1 : 0;
  component.amount = as_float(amount);
  component.time_constant = as_float(time_constant);
  component.rise_time = as_float(rise_time);
  return component;
}

}  // namespace raylift::detail
