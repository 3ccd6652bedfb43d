// SPDX-License-Identifier: Apache-2.0
#include "model/solids/find.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/find_solids.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/parse_number.h"
#include "cli/text.h"
#include "geometry/src/scene/names.h"
#include "model/solids/display_name.h"
#include "model/solids/word_query.h"

namespace raylift::viewer {
namespace {

constexpr std::array<std::pair<std::string_view, FoundBy>, 7> kFields{{{"name", FoundBy::name},
                                                                       {"mesh", FoundBy::mesh},
                                                                       {"material", FoundBy::material},
                                                                       {"path", FoundBy::path},
                                                                       {"copy", FoundBy::copy},
                                                                       {"channel", FoundBy::channel},
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

/// How well a query fits a name as it is shown. One with a pointer, such as a name that was pasted, is looked for in
/// the whole name.
class NameQuery {
 public:
  explicit NameQuery(std::string_view text) : query_(text), whole_(cli::lower(text).find("0x") != npos) {}
  [[nodiscard]] bool empty() const { return query_.empty(); }
  [[nodiscard]] std::optional<int> rank(const std::string& name, const std::vector<std::string>& numbers = {}) const {
    return query_.rank(whole_ ? name : display_name(name), numbers);
  }

 private:
  static constexpr std::size_t npos = std::string::npos;
  WordQuery query_;
  bool whole_;
};

std::vector<std::uint32_t> matching_in_part(const Solids& solids, FoundBy by, const std::string& pattern) {
  const bool wildcard = has_wildcard(pattern);
  const std::string lower = cli::lower(pattern);
  const NameQuery query(literal_text(pattern));
  const auto fits = [&](const std::string& text) {
    return wildcard ? matches(lower, cli::lower(text)) || matches(lower, cli::lower(display_name(text)))
                    : query.rank(text).has_value();
  };
  std::vector<std::uint32_t> found;
  if (!wildcard && query.empty()) return found;
  const Scene& scene = solids.scene();
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i)
    if (fits(text_of(scene, scene.instances[i], by))) found.push_back(i);
  if (by == FoundBy::name) add_groups(solids, fits, found);
  return found;
}

const Optics::Channel* channel_of(const Scene& scene, std::uint32_t solid) {
  const auto& all = scene.optics.channels;
  const auto at = std::lower_bound(all.begin(), all.end(), solid,
                                   [](const Optics::Channel& one, std::uint32_t wanted) { return one.solid < wanted; });
  return at == all.end() || at->solid != solid ? nullptr : &*at;
}

/// Copy number and channel.
std::vector<std::string> numbers_of(const Scene& scene, std::uint32_t solid) {
  std::vector<std::string> numbers;
  const std::uint32_t node = scene.instances[solid].node;
  if (node != kNone && scene.nodes[node].copy_number) numbers.push_back(std::to_string(*scene.nodes[node].copy_number));
  if (const Optics::Channel* channel = channel_of(scene, solid)) numbers.push_back(std::to_string(channel->number));
  return numbers;
}

/// The solids that fit, the best first.
std::vector<std::uint32_t> ranked(const Solids& solids, FoundBy by, const NameQuery& query) {
  constexpr int kOfGroup = 100'000;  // behind those with a name of their own
  const Scene& scene = solids.scene();
  std::vector<std::pair<int, std::uint32_t>> all;
  std::vector<std::uint8_t> known(scene.instances.size(), 0);
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i) {
    const auto numbers = by == FoundBy::name ? numbers_of(scene, i) : std::vector<std::string>();
    if (const auto rank = query.rank(text_of(scene, scene.instances[i], by), numbers)) {
      all.emplace_back(*rank, i);
      known[i] = 1;
    }
  }
  std::vector<std::uint32_t> below;
  if (by == FoundBy::name)
    add_groups(
        solids, [&](const std::string& name) { return query.rank(name).has_value(); }, below);
  for (const std::uint32_t i : in_order(std::move(below)))
    if (known[i] == 0) all.emplace_back(kOfGroup, i);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::uint32_t> found;
  for (const auto& one : all) found.push_back(one.second);
  return found;
}

std::vector<std::uint32_t> with_channel(const Scene& scene, std::string_view text) {
  const auto number = base::parse_number<std::int64_t>(text);
  std::vector<std::uint32_t> found;
  for (const Optics::Channel& one : scene.optics.channels)
    if (number == one.number) found.push_back(one.solid);
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
  const auto by_number = [&](std::vector<std::uint32_t> found) {
    const auto by = found.empty() ? std::nullopt : std::optional(fields.front());
    return Found{std::move(found), by};
  };
  if (fields.front() == FoundBy::copy) return by_number(with_copy_number(solids.scene(), text));
  if (fields.front() == FoundBy::channel) return by_number(with_channel(solids.scene(), text));
  if (fields.front() == FoundBy::depth) return by_number(at_depth(solids, text));
  const std::string pattern(text);
  for (const auto& match : {matching_in_full, matching_in_part})
    for (const FoundBy by : fields)
      if (std::vector<std::uint32_t> found = match(solids, by, pattern); !found.empty())
        return {in_order(std::move(found)), by};
  return {};
}

Found search(const Solids& solids, std::string_view text) {
  std::string_view words = text;
  const std::vector<FoundBy> fields = asked_fields(words);
  const bool named =
      fields.front() == FoundBy::name || fields.front() == FoundBy::mesh || fields.front() == FoundBy::material;
  if (!named || has_wildcard(words)) return find(solids, text);
  const NameQuery query(words);
  if (query.empty()) return {};
  for (const FoundBy by : fields)
    if (std::vector<std::uint32_t> found = ranked(solids, by, query); !found.empty()) return {std::move(found), by};
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
         (*found.by == FoundBy::copy || *found.by == FoundBy::channel ? " number" : "");
}

}  // namespace raylift::viewer
