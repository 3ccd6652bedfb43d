// SPDX-License-Identifier: Apache-2.0
// Optics laid over others: what sidecars and GDML files have in common.
#pragma once

#include <raylift/geometry/scene/optics.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace raylift::detail {

/// Names in order, found as SolidSelector's patterns find them.
class NameIndex {
 public:
  void add(std::string_view name);
  /// The numbers of the names that a pattern means, ascending: without a wildcard those that are its text in full, or
  /// else those that are without Geant4's pointer.
  [[nodiscard]] std::vector<std::uint32_t> meant(const std::string& pattern) const;
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// ": did you mean ...?" by the names without Geant4's pointers, or nothing. Each takes a look at all names, so only
  /// the first few are made.
  [[nodiscard]] std::string suggestion(const std::string& pattern) const;

 private:
  mutable int suggestions_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> exact_, base_;
};

/// Replaces the property of the same key, whichever kind it is of, or adds this one.
void set_property(OpticalProperties& properties, OpticalTable table);
void set_property(OpticalProperties& properties, OpticalProperties::Constant constant);
void remove_property(OpticalProperties& properties, std::string_view key);

/// Removes surfaces and all that assigns them; `gone` has an element for each surface.
void remove_surfaces(Optics& optics, const std::vector<bool>& gone);

}  // namespace raylift::detail
