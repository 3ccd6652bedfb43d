// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/scene/optics.h>

#include <algorithm>

namespace raylift {

double OpticalTable::value(double wavelength_nm) const {
  return interpolate(axis == OpticalTable::Axis::energy_ev ? kEvNm / wavelength_nm : wavelength_nm);
}

double OpticalTable::interpolate(double x) const {
  const auto above = std::upper_bound(at.begin(), at.end(), x);
  if (above == at.begin()) return values.front();
  if (above == at.end()) return values.back();
  const auto i = static_cast<std::size_t>(above - at.begin());
  const double part = (x - at[i - 1]) / (at[i] - at[i - 1]);
  return values[i - 1] + part * (values[i] - values[i - 1]);
}

OpticalTable::Range OpticalTable::range() const {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  double shortest = at.front(), longest = at.back();
  if (axis == Axis::energy_ev) {
    shortest = kEvNm / at.back();
    longest = kEvNm / at.front();
  }
  return {*least, *most, shortest, longest};
}

const OpticalTable* OpticalProperties::table(std::string_view key) const {
  const auto found =
      std::find_if(tables.begin(), tables.end(), [key](const OpticalTable& table) { return table.key == key; });
  return found == tables.end() ? nullptr : &*found;
}

std::optional<double> OpticalProperties::constant(std::string_view key) const {
  for (const OpticalProperties::Constant& constant : constants)
    if (constant.key == key) return constant.value;
  return std::nullopt;
}

}  // namespace raylift
