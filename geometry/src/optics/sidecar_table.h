// SPDX-License-Identifier: Apache-2.0
// Properties in a sidecar: numbers with units, and tables given inline or as columns of a file.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "csv_table.h"
#include "json_value.h"
#include "property_table.h"

namespace raylift::detail {

/// The text of a file that a sidecar refers to, by its path there. Throws Error.
using ReadFile = std::function<std::string(const std::string& path)>;

class TableReader {
 public:
  explicit TableReader(ReadFile read) : read_(std::move(read)) {}

  /// A number, or {"value", "unit"}, becomes a constant; {"energy_eV", "energy_MeV" or "wavelength_nm", "values",
  /// "unit"} a table, of lists or of columns of "csv"; null removes. Checked as check_optical_properties() does.
  void change(OpticalProperties& properties, const std::string& key, const JsonValue& value, PropertyOf of);
  [[nodiscard]] OpticalTable table(const std::string& key, const JsonValue& value, const PropertyInfo* info);

 private:
  [[nodiscard]] const CsvTable& csv(const JsonValue& path);

  ReadFile read_;
  std::map<std::string, CsvTable> files_;
};

}  // namespace raylift::detail
