// SPDX-License-Identifier: Apache-2.0
#include "optics_tables.h"

#include <raylift/geometry/error.h>
#include <raylift/gpu/optics.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string_view>

namespace raylift::detail {
namespace {

constexpr std::size_t kMax = 0xFFFFFFFE;  // elements of an array of a view

/// How far a table over wavelength may be off where others of its material are over energy, relative.
constexpr double kMaxDeviation = 1e-6;
/// Bisections of an interval to that end.
constexpr int kMaxBisections = 24;
/// Rows of all tables, 2 GiB.
constexpr std::size_t kMaxRows = std::size_t{1} << 26;

/// The same points over the other axis, ascending. Between them it is another function.
OpticalTable turned(const OpticalTable& table) {
  const bool to_wavelength = table.axis == OpticalTable::Axis::energy_ev;
  OpticalTable other{table.key,
                     to_wavelength ? OpticalTable::Axis::wavelength_nm : OpticalTable::Axis::energy_ev,
                     {},
                     {table.values.rbegin(), table.values.rend()}};
  for (std::size_t i = table.at.size(); i-- != 0;) other.at.push_back(kEvNm / table.at[i]);
  return other;
}

/// The points that a table over wavelength needs between two of its own to be linear in energy too. A wide interval is
/// divided in any case: its middle in energy lies near its begin, whatever the rest is.
void bisect(double from, double at_from, double to, double at_to, int left, std::vector<double>& wavelengths) {
  constexpr double kWide = 4;
  const bool wide = to / from > kWide;
  const double middle = wide ? std::sqrt(from) * std::sqrt(to) : 2 / (1 / from + 1 / to);
  const double value = at_from + (middle - from) / (to - from) * (at_to - at_from);
  const double linear = (at_from + at_to) / 2;
  if (!(middle > from && middle < to)) return;
  if (!wide && (left == 0 || !(std::abs(value - linear) > kMaxDeviation * std::abs(value)))) return;
  bisect(from, at_from, middle, value, wide ? left : left - 1, wavelengths);
  wavelengths.push_back(middle);
  bisect(middle, value, to, at_to, wide ? left : left - 1, wavelengths);
}

/// A table over wavelength as one over energy.
OpticalTable refined(const OpticalTable& table) {
  OpticalTable finer{table.key, table.axis, {}, {}};
  for (std::size_t i = 0; i != table.at.size(); ++i) {
    if (i != 0) bisect(table.at[i - 1], table.values[i - 1], table.at[i], table.values[i], kMaxBisections, finer.at);
    finer.at.push_back(table.at[i]);
  }
  for (const double at : finer.at) finer.values.push_back(table.interpolate(at));
  return turned(finer);
}

/// The rows of a table, block after block, and the number of its points.
struct Rows {
  std::vector<OpticsView::TableRow> rows;
  std::uint32_t count = 0;
};

/// Sets the wavelengths and slopes of the first rows. `points` ascend over the axis.
void set_points(std::vector<OpticsView::TableRow>& rows, const std::vector<double>& points, OpticalTable::Axis axis) {
  const std::size_t last = points.size() - 1;
  const bool in_energy = axis == OpticalTable::Axis::energy_ev;
  // Doubles that stand for one decimal number differ by their rounding: the float is taken as exact.
  constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
  for (std::size_t i = 0; i <= last; ++i) {
    OpticsView::TableRow& row = rows[i];
    const double at = in_energy ? kEvNm / points[last - i] : points[i];
    row.wavelength = as_float(at);
    const double rest = at - double{row.wavelength};
    row.rest = std::abs(rest) > kRounding * at && row.wavelength < kNever ? static_cast<float>(rest) : 0.0F;
    row.over_wavelength = in_energy ? 0 : 1;
    if (i == last) break;
    // By energies: two wavelengths may be one double.
    row.slope = as_float(in_energy ? points[last - i - 1] / (points[last - i] - points[last - i - 1])
                                   : 1 / (points[i + 1] - points[i]));
  }
}

Rows rows_of(const Columns& columns, const Raster& raster, const std::string& source) {
  const bool sampled = raster != kOwnPoints;
  bool energy = false, wavelength = false;
  for (const auto& block : columns)
    for (const Column& column : block)
      if (column.table != nullptr) (column.table->axis == OpticalTable::Axis::energy_ev ? energy : wavelength) = true;
  const OpticalTable::Axis axis =
      energy && !sampled ? OpticalTable::Axis::energy_ev : OpticalTable::Axis::wavelength_nm;

  std::vector<double> points;
  std::vector<std::array<OpticalTable, 4>> finer(columns.size());
  const auto table_of = [&](std::size_t block, std::size_t i) -> const OpticalTable* {
    const OpticalTable* const table = columns[block][i].table;
    return table == nullptr || table->axis == axis || sampled ? table : &finer[block][i];
  };
  if (sampled) {
    for (std::uint32_t i = 0; i != raster.count; ++i) points.push_back(double{raster.start} + i * double{raster.step});
  } else {
    for (std::size_t b = 0; b != columns.size(); ++b)
      for (std::size_t i = 0; i != 4; ++i) {
        const OpticalTable* const table = columns[b][i].table;
        if (table == nullptr) continue;
        if (table->axis != axis) finer[b][i] = refined(*table);
        const std::vector<double>& at = table_of(b, i)->at;
        points.insert(points.end(), at.begin(), at.end());
      }
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    if (points.empty()) points.push_back(1);
    if (points.size() == 1) points.insert(points.begin(), points.front() / 2);
  }

  if (points.size() > kMaxRows / columns.size())
    throw Error(ErrorKind::limit,
                "a material or surface has tables of " + std::to_string(points.size()) + " different points times " +
                    std::to_string(4 * columns.size()) + " quantities, and " + std::to_string(4 * kMaxRows) +
                    " values are the limit",
                {source, ""}, "give its tables the same points");
  Rows made;
  made.count = static_cast<std::uint32_t>(points.size());
  made.rows.resize(columns.size() * points.size());
  set_points(made.rows, points, axis);
  const std::size_t count = points.size();
  for (std::size_t b = 0; b != columns.size(); ++b) {
    if (b != 0) std::copy_n(made.rows.begin(), count, made.rows.begin() + static_cast<std::ptrdiff_t>(b * count));
    for (std::size_t i = 0; i != 4; ++i) {
      const OpticalTable* const table = table_of(b, i);
      for (std::size_t row = 0; row != count; ++row) {
        const double point = points[axis == OpticalTable::Axis::energy_ev ? count - 1 - row : row];
        const double value = table == nullptr ? columns[b][i].absent
                             : sampled        ? table->value(point)
                                              : table->interpolate(point);
        made.rows[b * count + row].v[i] = as_float(std::max(value, columns[b][i].least));
      }
    }
  }
  return made;
}

/// The entries of a table's buckets: see kTableEntries.
std::vector<std::uint32_t> entries_of(std::span<const OpticsView::TableRow> rows, std::uint32_t first) {
  std::vector<std::uint32_t> entries(kTableEntries);
  std::uint32_t row = 0;
  const auto last = static_cast<std::uint32_t>(rows.size() - 2);
  for (std::uint32_t i = 1; i != kTableBuckets; ++i) {
    const float begin =
        arithmetic_detail::as_float(optics_detail::kFirstBucketBits + (i << optics_detail::kBucketShift));
    while (row != last && optics_detail::beyond(rows[row + 1], begin) >= 0) ++row;
    entries[i] = row;
  }
  entries.back() = last;
  for (std::uint32_t& entry : entries) entry += first;
  return entries;
}

}  // namespace

float as_float(double value) {
  return static_cast<float>(std::clamp(value, -double{kNever}, double{kNever}));
}

OpticalTable group_velocity(const OpticalTable& index) {
  const OpticalTable n = index.axis == OpticalTable::Axis::energy_ev ? index : turned(index);
  OpticalTable velocity{"GROUPVEL", OpticalTable::Axis::energy_ev, {}, {}};
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
  for (std::size_t i = 0; i + 1 < last; ++i)  // Geant4 gives the last interval no middle
    add((n.at[i] + n.at[i + 1]) / 2, (n.values[i] + n.values[i + 1]) / 2, slope(i));
  if (last != 0) add(n.at[last], n.values[last], slope(last - 1));
  return velocity;
}

std::vector<Curve::Point> cumulative(const std::vector<double>& at, const std::vector<double>& density) {
  if (at.empty()) return {};
  std::vector<double> sum(at.size(), 0);
  for (std::size_t i = 1; i < at.size(); ++i)
    sum[i] = sum[i - 1] + (at[i] - at[i - 1]) * (std::max(density[i - 1], 0.0) + std::max(density[i], 0.0)) / 2;
  if (!(sum.back() > 0) || !std::isfinite(sum.back())) return {{0, as_float(at[0])}};
  std::vector<Curve::Point> points;
  for (std::size_t i = 0; i != at.size(); ++i) points.push_back({as_float(sum[i] / sum.back()), as_float(at[i])});
  return points;
}

TableNumber TableBuilder::append(const std::vector<OpticsView::TableRow>& rows, std::uint32_t count) {
  std::vector<OpticsView::TableRow>& all = arrays_.rows;
  std::vector<std::uint32_t>& buckets = arrays_.buckets;
  if (all.size() + rows.size() > kMaxRows || buckets.size() + kTableEntries > kMax)
    throw Error(ErrorKind::limit, "the scene's optical tables have more than " + std::to_string(kMaxRows) + " rows",
                {source_, ""}, "give its tables fewer points");
  const auto number = static_cast<std::uint32_t>(buckets.size() / kTableEntries);
  const std::vector<std::uint32_t> entries =
      entries_of(std::span(rows).first(count), static_cast<std::uint32_t>(all.size()));
  buckets.insert(buckets.end(), entries.begin(), entries.end());
  all.insert(all.end(), rows.begin(), rows.end());
  return {number, count};
}

TableNumber TableBuilder::append_table(const Columns& columns) {
  const Rows made = rows_of(columns, arrays_.raster, source_);
  return append(made.rows, made.count);
}

TableNumber TableBuilder::add_table(const Columns& columns) {
  const Rows made = rows_of(columns, arrays_.raster, source_);
  const std::size_t bytes = made.rows.size() * sizeof(OpticsView::TableRow);
  const std::size_t hash = std::hash<std::string_view>()({reinterpret_cast<const char*>(made.rows.data()), bytes});
  const auto [begin, end] = known_.equal_range(hash);
  for (auto known = begin; known != end; ++known) {
    const Known& one = known->second;
    if (one.all == made.rows.size() && one.number.rows == made.count &&
        std::memcmp(arrays_.rows.data() + one.first, made.rows.data(), bytes) == 0)
      return one.number;
  }
  const std::size_t first = arrays_.rows.size();
  const TableNumber number = append(made.rows, made.count);
  known_.emplace(hash, Known{number, first, made.rows.size()});
  return number;
}

Curve TableBuilder::add_curve(const std::vector<Curve::Point>& points) {
  std::vector<Curve::Point>& all = arrays_.points;
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
  component.over_energy = spectrum->axis == OpticalTable::Axis::energy_ev ? 1 : 0;
  component.amount = as_float(amount);
  component.time_constant = as_float(time_constant);
  component.rise_time = as_float(rise_time);
  return component;
}

}  // namespace raylift::detail
