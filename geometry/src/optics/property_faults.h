// SPDX-License-Identifier: Apache-2.0
// What is wrong with one property; readers add where in their file the number stands.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "property_table.h"

namespace raylift::detail {

struct PropertyFault {
  enum class Part { whole, this_point, this_value } part;
  std::size_t point;  ///< index in the table
  std::string what;   ///< follows the key
  std::string advice;
};

/// The first fault. `info` is null for a key that is none of raylift's properties.
[[nodiscard]] std::optional<PropertyFault> find_fault(const OpticalTable& table, const PropertyInfo* info);
[[nodiscard]] std::optional<PropertyFault> find_fault(double value, const PropertyInfo* info);

/// By surface: whether an assignment uses it. Assignments of surfaces that are not there are left out.
[[nodiscard]] std::vector<bool> assigned_surfaces(const Optics& optics);

/// The part of check_optical_properties() that throws.
void check_property_values(const Scene& scene);

}  // namespace raylift::detail
