// SPDX-License-Identifier: Apache-2.0
#include "edit_optics.h"

#include <raylift/geometry/index.h>

#include <algorithm>

#include "base/suggest.h"
#include "scene/names.h"

namespace raylift::detail {

void NameIndex::add(std::string_view name) {
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  exact_[std::string(name)].push_back(number);
  base_[std::string(base_name(name))].push_back(number);
}

std::vector<std::uint32_t> NameIndex::meant(const std::string& pattern) const {
  if (!has_wildcard(pattern)) {
    const std::string text = literal_text(pattern);
    if (const auto found = exact_.find(text); found != exact_.end()) return found->second;
    const auto found = base_.find(std::string(base_name(text)));
    return found == base_.end() ? std::vector<std::uint32_t>() : found->second;
  }
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i != names_.size(); ++i)
    if (matches_name(pattern, names_[i])) result.push_back(i);
  return result;
}

std::string NameIndex::suggestion(const std::string& pattern) const {
  constexpr int kMax = 20;
  if (++suggestions_ > kMax) return {};
  std::vector<std::string> candidates;
  for (const std::string& name : names_) candidates.emplace_back(base_name(name));
  return base::did_you_mean(pattern, candidates);
}

namespace {

/// Puts `value` in the place of what has its key; false where nothing has.
template <class Value>
bool replace(std::vector<Value>& values, Value& value) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const Value& one) { return one.key == value.key; });
  if (found == values.end()) return false;
  *found = std::move(value);
  return true;
}

template <class Value>
void erase_key(std::vector<Value>& values, std::string_view key) {
  std::erase_if(values, [key](const Value& one) { return one.key == key; });
}

}  // namespace

void set_property(OpticalProperties& properties, OpticalTable table) {
  erase_key(properties.constants, table.key);
  if (!replace(properties.tables, table)) properties.tables.push_back(std::move(table));
}

void set_property(OpticalProperties& properties, OpticalProperties::Constant constant) {
  erase_key(properties.tables, constant.key);
  if (!replace(properties.constants, constant)) properties.constants.push_back(std::move(constant));
}

void remove_property(OpticalProperties& properties, std::string_view key) {
  erase_key(properties.tables, key);
  erase_key(properties.constants, key);
}

void remove_surfaces(Optics& optics, const std::vector<bool>& gone) {
  std::vector<std::uint32_t> moved(gone.size(), kNone);
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i != gone.size(); ++i) {
    if (gone[i]) continue;
    if (kept != i) optics.surfaces[kept] = std::move(optics.surfaces[i]);
    moved[i] = kept++;
  }
  optics.surfaces.resize(kept);
  std::erase_if(optics.assignments, [&](const SurfaceAssignment& one) { return moved[one.surface] == kNone; });
  for (SurfaceAssignment& one : optics.assignments) one.surface = moved[one.surface];
}

}  // namespace raylift::detail
