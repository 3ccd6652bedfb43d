// SPDX-License-Identifier: Apache-2.0
#include "optics_use.h"

#include <raylift/geometry/scene/names.h>

#include <algorithm>

#include "cli/text.h"

namespace raylift::batch {
namespace {

constexpr std::size_t kMaxNames = 5;

void add_name(OpticsUse& use, const std::string& name) {
  const std::string base(base_name(name));
  if (use.names.size() != kMaxNames && std::find(use.names.begin(), use.names.end(), base) == use.names.end())
    use.names.push_back(base);
}

}  // namespace

std::string OpticsUse::text() const {
  std::string text;
  if (solids != 0 || pairs == 0) text = cli::counted(solids, "solid", "solids");
  if (pairs != 0) text += (text.empty() ? "" : ", ") + cli::counted(pairs, "pair", "pairs");
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? ": " : ", ") + name;
  return text + list + (solids + 2 * pairs > names.size() && names.size() == kMaxNames ? ", ..." : "");
}

OpticsUses optics_uses(const Scene& scene) {
  const Optics& optics = scene.optics;
  OpticsUses uses;
  uses.materials.resize(scene.materials.size());
  uses.surfaces.resize(optics.surfaces.size());
  uses.assignments.resize(optics.assignments.size());
  uses.channel_types.resize(optics.channel_types.size());
  const auto name = [&](std::uint32_t solid) -> const std::string& { return scene.solid_name(scene.instances[solid]); };
  for (std::uint32_t solid = 0; solid != scene.instances.size(); ++solid) {
    const std::vector<std::uint32_t>& parts = scene.bindings[scene.instances[solid].binding];
    for (auto part = parts.begin(); part != parts.end(); ++part) {
      if (*part == kNone || std::find(parts.begin(), part, *part) != part) continue;
      ++uses.materials[*part].solids;
      add_name(uses.materials[*part], name(solid));
    }
    if (optics.skins.empty() || optics.skins[solid] == kNone) continue;
    for (OpticsUse* use :
         {&uses.assignments[optics.skins[solid]], &uses.surfaces[optics.assignments[optics.skins[solid]].surface]}) {
      ++use->solids;
      add_name(*use, name(solid));
    }
  }
  for (const SolidBorder& border : optics.borders)
    for (OpticsUse* use :
         {&uses.assignments[border.assignment], &uses.surfaces[optics.assignments[border.assignment].surface]}) {
      ++use->pairs;
      add_name(*use, name(border.from));
      add_name(*use, name(border.to));
    }
  for (const SolidChannel& channel : optics.channels)
    if (channel.type != kNone) {
      ++uses.channel_types[channel.type].solids;
      add_name(uses.channel_types[channel.type], name(channel.solid));
    }
  return uses;
}

}  // namespace raylift::batch
