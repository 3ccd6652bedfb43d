// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/optics/words.h>

#include <array>
#include <cctype>
#include <vector>

#include "base/parse_number.h"

namespace raylift {
namespace {

constexpr std::array<std::string_view, 8> kModels{"glisur",   "unified", "lut",       "davis",
                                                  "dichroic", "simple",  "thin_film", "wavelength_shifting"};
constexpr std::array<std::string_view, 6> kFinishes{"polished", "polished_front_painted", "polished_back_painted",
                                                    "ground",   "ground_front_painted",   "ground_back_painted"};
constexpr std::array<std::string_view, 8> kTypes{"dielectric_metal",
                                                 "dielectric_dielectric",
                                                 "dielectric_lut",
                                                 "dielectric_lut_davis",
                                                 "dielectric_dichroic",
                                                 "firsov",
                                                 "x_ray",
                                                 "coated"};
constexpr std::size_t kFinishesOfTables = 39;  // Geant4's, with the six above

/// Geant4's names of look-up tables' finishes, in the order of their numbers, from 6.
std::vector<std::string> finishes_of_tables() {
  std::vector<std::string> names;
  for (const char* surface : {"polished", "etched", "ground"})
    for (const char* wrap :
         {"lumirrorair", "lumirrorglue", "air", "teflonair", "tioair", "tyvekair", "vm2000air", "vm2000glue"})
      names.push_back(std::string(surface) + wrap);
  for (const char* surface : {"rough", "polished"})
    for (const char* wrap : {"", "teflon", "esr", "esrgrease"}) names.push_back(std::string(surface) + wrap + "lut");
  names.emplace_back("detectorlut");
  return names;
}

std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != '_') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

template <class Names>
std::optional<std::size_t> place(const Names& names, const std::string& wanted) {
  for (std::size_t i = 0; i != names.size(); ++i)
    if (plain(names[i]) == wanted) return i;
  return std::nullopt;
}

/// Less than `count`.
std::optional<std::size_t> number(std::string_view text, std::size_t count) {
  const auto value = base::parse_number<std::size_t>(text);
  return value && *value < count ? value : std::nullopt;
}

template <class Enum, class Names>
std::optional<Enum> value_of(std::string_view text, const Names& names, std::size_t numbers) {
  std::optional<std::size_t> found = number(text, numbers);
  if (!found) found = place(names, plain(text));
  return found ? std::optional(static_cast<Enum>(*found)) : std::nullopt;
}

}  // namespace

std::string_view to_string(SurfaceModel model) {
  return kModels[static_cast<std::size_t>(model)];
}

std::string to_string(SurfaceFinish finish) {
  const auto number = static_cast<std::size_t>(finish);
  return number < kFinishes.size() ? std::string(kFinishes[number]) : std::to_string(number);
}

std::string_view to_string(SurfaceType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

std::string_view to_string(SurfaceChoice::Rule rule) {
  switch (rule) {
    case SurfaceChoice::Rule::border:
      return "border surface of the pair";
    case SurfaceChoice::Rule::skin_of_entered:
      return "skin of the solid entered";
    case SurfaceChoice::Rule::skin_of_left:
      return "skin of the solid left";
    case SurfaceChoice::Rule::none:
      break;
  }
  return "none";
}

std::optional<SurfaceModel> surface_model(std::string_view text) {
  constexpr std::size_t kGeant4s = 5;  // the others have no number there
  return value_of<SurfaceModel>(text, kModels, kGeant4s);
}

std::optional<SurfaceFinish> surface_finish(std::string_view text) {
  if (const auto found = value_of<SurfaceFinish>(text, kFinishes, kFinishesOfTables)) return found;
  const std::optional<std::size_t> found = place(finishes_of_tables(), plain(text));
  return found ? std::optional(static_cast<SurfaceFinish>(kFinishes.size() + *found)) : std::nullopt;
}

std::optional<SurfaceType> surface_type(std::string_view text) {
  return value_of<SurfaceType>(text, kTypes, kTypes.size());
}

}  // namespace raylift
