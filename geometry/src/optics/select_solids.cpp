// SPDX-License-Identifier: Apache-2.0
#include "select_solids.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>

#include "scene/names.h"

namespace raylift::detail {

std::string_view SolidIndex::name(std::size_t field, std::uint32_t solid) const {
  const Instance& instance = scene_.instances[solid];
  switch (field) {
    case 0:
      return scene_.solid_name(instance);
    case 1:
      return scene_.volume_name(instance);
    case 2:
      return scene_.meshes[instance.mesh].name;
    default: {
      const std::uint32_t material = scene_.material(instance, 0);
      return material == kNone ? std::string_view() : scene_.materials[material].name;
    }
  }
}

const std::vector<std::uint32_t>& SolidIndex::literal(std::size_t field, const std::string& pattern) {
  static const std::vector<std::uint32_t> kNobody;
  Field& names = fields_[field];
  if (!names.built) {
    for (std::uint32_t solid = 0; solid != scene_.instances.size(); ++solid) {
      const std::string_view full = name(field, solid);
      names.exact[full].push_back(solid);
      names.base[base_name(full)].push_back(solid);
    }
    names.built = true;
  }
  const std::string text = literal_text(pattern);
  if (const auto found = names.exact.find(text); found != names.exact.end()) return found->second;
  const auto found = names.base.find(base_name(text));
  return found == names.base.end() ? kNobody : found->second;
}

// The product of selectors and solids takes time and not memory, so nothing else would end it.
void SolidIndex::count(std::size_t solids) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 28;
  counted_ += solids;
  if (counted_ <= kMax) return;
  throw Error(ErrorKind::limit, "the optics' selectors mean more than " + std::to_string(kMax) + " solids together",
              {scene_.source, ""}, "name solids in full where a selector means one, and all of a kind by one selector");
}

std::vector<std::uint32_t> SolidIndex::select(const SolidSelector& selector) {
  std::vector<std::uint32_t> solids;
  bool all = true;  // that is what is selected so far, and `solids` does not list it
  const std::array<const std::string*, 4> patterns{&selector.solid, &selector.volume, &selector.mesh,
                                                   &selector.material};
  for (std::size_t field = 0; field != patterns.size(); ++field) {
    const std::string& pattern = *patterns[field];
    if (pattern.empty() || has_wildcard(pattern)) continue;
    const std::vector<std::uint32_t>& named = literal(field, pattern);
    std::vector<std::uint32_t> both;
    if (all)
      both = named;
    else
      std::set_intersection(solids.begin(), solids.end(), named.begin(), named.end(), std::back_inserter(both));
    solids = std::move(both);
    all = false;
  }
  if (all) {
    solids.resize(scene_.instances.size());
    std::iota(solids.begin(), solids.end(), 0U);
  }
  count(solids.size());
  for (std::size_t field = 0; field != patterns.size(); ++field) {
    const std::string& pattern = *patterns[field];
    if (!has_wildcard(pattern) || pattern == "*") continue;
    count(solids.size());
    std::erase_if(solids, [&](std::uint32_t solid) { return !matches_name(pattern, std::string(name(field, solid))); });
  }
  std::erase_if(solids, [&](std::uint32_t solid) {
    const Instance& instance = scene_.instances[solid];
    return (selector.copy_number && scene_.copy_number(instance) != selector.copy_number) ||
           (!selector.path.empty() && !matches(selector.path, scene_.path(instance)));
  });
  return solids;
}

}  // namespace raylift::detail
