// SPDX-License-Identifier: Apache-2.0
#include "model/find.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/find_solids.h>
#include <raylift/geometry/scene/names.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/parse_number.h"
#include "cli/text.h"

namespace raylift::viewer {
namespace {

constexpr std::array<std::pair<std::string_view, FoundBy>, 6> kFields{{{"name", FoundBy::name},
                                                                       {"mesh", FoundBy::mesh},
                                                                       {"material", FoundBy::material},
                                                                       {"path", FoundBy::path},
                                                                       {"copy", FoundBy::copy},
                                                                       {"depth", FoundBy::depth}}};

std::vector<std::uint32_t> in_order(std::vector<std::uint32_t> solids) {
  std::sort(solids.begin(), solids.end());
  solids.erase(std::unique(solids.begin(), solids.end()), solids.end());
  return solids;
}

/// Adds the solids below those nodes without a solid of their own whose names satisfy a condition.
template <class Condition>
void add_groups(const Solids& solids, const Condition& condition, std::vector<std::uint32_t>& found) {
  const Scene& scene = solids.scene();
  for (std::uint32_t node = 0; node != scene.nodes.size(); ++node) {
    if (!solids.instances(node).empty() || !condition(scene.nodes[node].name)) continue;
    const std::vector<std::uint32_t> below = solids.below(node);
    found.insert(found.end(), below.begin(), below.end());
  }
}

std::vector<std::uint32_t> matching_in_full(const Solids& solids, FoundBy by, const std::string& pattern) {
  SolidSelector selector;
  (by == FoundBy::name       ? selector.solid
   : by == FoundBy::mesh     ? selector.mesh
   : by == FoundBy::material ? selector.material
                             : selector.path) = pattern;
  std::vector<std::uint32_t> found = find_solids(solids.scene(), selector);
  if (by == FoundBy::name)
    add_groups(
        solids, [&](const std::string& name) { return matches_name(pattern, name); }, found);
  return found;
}

std::string text_of(const Scene& scene, const Instance& instance, FoundBy by) {
  if (by == FoundBy::name) return scene.solid_name(instance);
  if (by == FoundBy::mesh) return scene.meshes[instance.mesh].name;
  if (by == FoundBy::path) return scene.path(instance);
  const std::uint32_t material = scene.material(instance, 0);
  return material == kNone ? std::string() : scene.materials[material].name;
}

std::vector<std::uint32_t> matching_in_part(const Solids& solids, FoundBy by, const std::string& pattern) {
  const std::string part = has_wildcard(pattern) ? cli::lower(pattern) : cli::lower(literal_text(pattern));
  const auto fits = [&](const std::string& text) {
    return has_wildcard(pattern) ? matches(part, cli::lower(text)) : cli::lower(text).find(part) != std::string::npos;
  };
  std::vector<std::uint32_t> found;
  const Scene& scene = solids.scene();
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i)
    if (fits(text_of(scene, scene.instances[i], by))) found.push_back(i);
  if (by == FoundBy::name) add_groups(solids, fits, found);
  return found;
}

std::vector<std::uint32_t> with_copy_number(const Scene& scene, std::string_view text) {
  SolidSelector selector;
  selector.copy_number = base::parse_number<std::int64_t>(text);
  if (!selector.copy_number) return {};
  return find_solids(scene, selector);
}

std::vector<std::uint32_t> at_depth(const Solids& solids, std::string_view text) {
  const auto depth = base::parse_number<std::uint32_t>(text);
  std::vector<std::uint32_t> found;
  if (!depth) return found;
  for (std::uint32_t i = 0; i != solids.scene().instances.size(); ++i)
    if (solids.depth(i) == *depth) found.push_back(i);
  return found;
}

/// The fields that a text asks for, in their order, without the words that say so.
std::vector<FoundBy> asked_fields(std::string_view& text) {
  std::vector<FoundBy> fields{FoundBy::name, FoundBy::mesh, FoundBy::material};
  if (text.find('/') != std::string_view::npos) fields = {FoundBy::path};
  for (const auto& [name, by] : kFields)
    if (text.size() > name.size() + 1 && text.starts_with(name) && text[name.size()] == ':') {
      fields = {by};
      text.remove_prefix(name.size() + 1);
      break;
    }
  if (text.size() > 1 && text.front() == '#') {
    fields = {FoundBy::copy};
    text.remove_prefix(1);
  }
  return fields;
}

}  // namespace

Found find(const Solids& solids, std::string_view text) {
  if (text.empty()) return {};
  const std::vector<FoundBy> fields = asked_fields(text);
  if (fields.front() == FoundBy::copy) {
    Found found{with_copy_number(solids.scene(), text), {}};
    if (!found.solids.empty()) found.by = FoundBy::copy;
    return found;
  }
  if (fields.front() == FoundBy::depth) {
    Found found{at_depth(solids, text), {}};
    if (!found.solids.empty()) found.by = FoundBy::depth;
    return found;
  }
  const std::string pattern(text);
  for (const auto& match : {matching_in_full, matching_in_part})
    for (const FoundBy by : fields)
      if (std::vector<std::uint32_t> found = match(solids, by, pattern); !found.empty())
        return {in_order(std::move(found)), by};
  return {};
}

std::uint32_t find_group(const Solids& solids, std::string_view text) {
  const FoundBy by = asked_fields(text).front();
  if (by != FoundBy::name && by != FoundBy::path) return kNone;
  const Scene& scene = solids.scene();
  const std::string pattern(text);
  std::uint32_t group = kNone;
  for (std::uint32_t node = 0; node != scene.nodes.size(); ++node) {
    Instance placed;
    placed.node = node;
    const bool fits =
        by == FoundBy::name ? matches_name(pattern, scene.nodes[node].name) : matches(pattern, scene.path(placed));
    if (!fits) continue;
    if (!solids.instances(node).empty()) return kNone;
    if (group == kNone && !solids.below(node).empty()) group = node;
  }
  return group;
}

std::string nothing_matches(std::string_view text) {
  return "no solid's name, mesh or material matches '" + cli::printable(text) + "'";
}

Found find_some(const Solids& solids, std::string_view text) {
  Found found = find(solids, text);
  if (!found.by)
    throw Error(ErrorKind::usage, nothing_matches(text), {solids.scene().source, ""},
                "see 'raylift info'; * matches any letters");
  return found;
}

std::vector<std::uint32_t> find_each(const Solids& solids, std::span<const std::string> texts) {
  std::vector<std::uint32_t> all;
  for (const std::string& text : texts) {
    const Found found = find_some(solids, text);
    all.insert(all.end(), found.solids.begin(), found.solids.end());
  }
  return in_order(std::move(all));
}

std::string count_text(const Found& found) {
  if (!found.by) return "none found";
  const auto& name = kFields[static_cast<std::size_t>(*found.by)].first;
  return cli::counted(found.solids.size(), "solid", "solids") + " by " + std::string(name) +
         (*found.by == FoundBy::copy ? " number" : "");
}

}  // namespace raylift::viewer
