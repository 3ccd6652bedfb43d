// SPDX-License-Identifier: Apache-2.0
// What holds at each solid is known from resolve_optics(); selectors are found for it by the names that the other scene
// has, and resolved again to see that they mean the same.
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/optics/transfer.h>
#include <raylift/geometry/scene/solids.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scene/names.h"

namespace raylift {
namespace {

[[noreturn]] void refuse(const Scene& to, const std::string& problem) {
  throw Error(ErrorKind::unsupported, "the optics can't be transferred: " + problem, {to.source, ""});
}

void expect_same_solids(const Scene& from, const Scene& to) {
  if (from.instances.size() != to.instances.size())
    refuse(to, "it has " + std::to_string(to.instances.size()) + " solids instead of " +
                   std::to_string(from.instances.size()));
  if (solid_tree(from).mother != solid_tree(to).mother) refuse(to, "its solids lie in each other in another way");
  for (std::size_t i = 0; i != from.instances.size(); ++i)
    if (from.meshes[from.instances[i].mesh].triangles.size() != to.meshes[to.instances[i].mesh].triangles.size())
      refuse(to, "solid " + std::to_string(i) + ", '" + to.path(to.instances[i]) + "', has other triangles");
}

std::vector<OpticalProperties> transferred_materials(const Scene& from, const Scene& to) {
  if (from.optics.materials.empty()) return {};
  std::vector<std::uint32_t> of(to.materials.size(), kNone);
  const auto set = [&](std::uint32_t material, std::uint32_t other) {
    if (material == kNone || other == kNone) return;
    const std::uint32_t before = std::exchange(of[material], other);
    if (before != kNone && from.optics.materials[before] != from.optics.materials[other])
      refuse(to, "the material '" + to.materials[material].name + "' stands for two with different properties");
  };
  for (std::size_t i = 0; i != from.instances.size(); ++i) {
    const Instance &one = from.instances[i], &other = to.instances[i];
    const std::size_t parts = std::min(from.meshes[one.mesh].parts.size(), to.meshes[other.mesh].parts.size());
    for (std::size_t part = 0; part != parts; ++part) set(to.material(other, part), from.material(one, part));
  }
  std::vector<OpticalProperties> materials(to.materials.size());
  for (std::size_t i = 0; i != of.size(); ++i)
    if (of[i] != kNone) materials[i] = from.optics.materials[of[i]];
  return materials;
}

/// Selectors of solids by the names that a scene has.
class Selectors {
 public:
  explicit Selectors(const Scene& scene) : scene_(scene) {
    for (std::uint32_t i = 0; i != scene.instances.size(); ++i)
      for (std::size_t field = 0; field != kFields; ++field) groups_[field][key(field, i)].push_back(i);
  }

  /// A selector, and what it means, in ascending order.
  struct Group {
    SolidSelector selector;
    std::vector<std::uint32_t> solids;
  };
  [[nodiscard]] std::vector<Group> of(const std::vector<std::uint32_t>& solids) const {
    std::vector<Group> result;
    std::vector<bool> wanted(scene_.instances.size(), false), done = wanted;
    for (const std::uint32_t solid : solids) wanted[solid] = true;
    for (std::size_t field = 0; field != kFields; ++field)
      for (const std::uint32_t solid : solids) {
        if (done[solid]) continue;
        const std::vector<std::uint32_t>& group = groups_[field].at(key(field, solid));
        if (!std::all_of(group.begin(), group.end(), [&](std::uint32_t one) { return wanted[one] && !done[one]; }))
          continue;
        for (const std::uint32_t one : group) done[one] = true;
        result.push_back({selector(field, solid), group});
      }
    for (const std::uint32_t solid : solids)
      if (!done[solid]) refuse_equal(solid);
    return result;
  }

  [[nodiscard]] SolidSelector one(std::uint32_t solid) const {
    for (std::size_t field = 0; field != kFields; ++field)
      if (groups_[field].at(key(field, solid)).size() == 1) return selector(field, solid);
    refuse_equal(solid);
  }

 private:
  [[noreturn]] void refuse_equal(std::uint32_t solid) const {
    refuse(scene_, "another solid is called '" + scene_.path(scene_.instances[solid]) + "' too");
  }

  /// Volume and material, mesh and material, solid; and the path with the copy number.
  static constexpr std::size_t kFields = 4;
  using Key = std::array<std::string, 3>;

  [[nodiscard]] Key key(std::size_t field, std::uint32_t solid) const {
    const SolidSelector one = selector(field, solid);
    return {field == 0   ? one.volume
            : field == 1 ? one.mesh
            : field == 2 ? one.solid
                         : one.path,
            one.material, one.copy_number ? std::to_string(*one.copy_number) : ""};
  }

  [[nodiscard]] SolidSelector selector(std::size_t field, std::uint32_t solid) const {
    const Instance& instance = scene_.instances[solid];
    SolidSelector selector;
    if (field == 0) selector.volume = literal_pattern(scene_.volume_name(instance));
    if (field == 1) selector.mesh = literal_pattern(scene_.meshes[instance.mesh].name);
    if (field == 2) selector.solid = literal_pattern(scene_.solid_name(instance));
    if (field <= 1)
      if (const std::uint32_t material = scene_.material(instance, 0); material != kNone)
        selector.material = literal_pattern(scene_.materials[material].name);
    if (field == 3) {
      selector.path = literal_pattern(scene_.path(instance));
      selector.copy_number = scene_.copy_number(instance);
    }
    return selector;
  }

  const Scene& scene_;
  std::array<std::map<Key, std::vector<std::uint32_t>>, kFields> groups_;
};

class Transfer {
 public:
  Transfer(const Scene& from, Scene& to) : from_(from), to_(to), names_(to) {}

  void run() {
    Optics optics;
    optics.materials = transferred_materials(from_, to_);
    optics.surfaces = from_.optics.surfaces;
    optics.channel_types = from_.optics.channel_types;
    add_channels(optics);
    add_skins(optics);
    // A border for all solids of two selectors may mean more pairs than it should: then each pair gets its own.
    for (const bool each_pair : {false, true}) {
      to_.optics = optics;
      add_borders(to_.optics, each_pair);
      const std::vector<std::string> warnings = to_.report.warnings;
      resolve_optics(to_);
      to_.report.warnings = warnings;  // the first scene's load() has said so
      if (same(to_.optics)) return;
    }
    refuse(to_, "its names don't tell the solids apart");
  }

 private:
  /// An assignment of `from`, for other solids.
  [[nodiscard]] SurfaceAssignment assignment(std::uint32_t number, SolidSelector from, SolidSelector to = {}) const {
    SurfaceAssignment result = from_.optics.assignments[number];
    result.from = std::move(from);
    result.to = std::move(to);
    return result;
  }

  void add_skins(Optics& optics) const {
    std::map<std::uint32_t, std::vector<std::uint32_t>> solids;  // by assignment
    for (std::uint32_t i = 0; i != from_.optics.skins.size(); ++i)
      if (from_.optics.skins[i] != kNone) solids[from_.optics.skins[i]].push_back(i);
    for (const auto& [number, all] : solids)
      for (Selectors::Group& group : names_.of(all))
        optics.assignments.push_back(assignment(number, std::move(group.selector)));
  }

  void add_borders(Optics& optics, bool each_pair) const {
    struct Pairs {
      std::vector<std::uint32_t> from, to;
    };
    std::map<std::uint32_t, Pairs> pairs;  // by assignment
    for (const Optics::Border& border : from_.optics.borders) {
      pairs[border.assignment].from.push_back(border.from);
      pairs[border.assignment].to.push_back(border.to);
    }
    for (auto& [number, all] : pairs) {
      if (each_pair) {
        for (std::size_t i = 0; i != all.from.size(); ++i)
          optics.assignments.push_back(assignment(number, names_.one(all.from[i]), names_.one(all.to[i])));
        continue;
      }
      for (std::vector<std::uint32_t>* list : {&all.from, &all.to}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
      }
      const std::vector<Selectors::Group> into = names_.of(all.to);
      for (const Selectors::Group& out : names_.of(all.from))
        for (const Selectors::Group& in : into)
          optics.assignments.push_back(assignment(number, out.selector, in.selector));
    }
  }

  void add_channels(Optics& optics) const {
    std::map<std::uint32_t, std::vector<std::uint32_t>> solids;  // by type
    std::unordered_map<std::uint32_t, std::int64_t> numbers;
    for (const Optics::Channel& channel : from_.optics.channels) {
      solids[channel.type].push_back(channel.solid);
      numbers[channel.solid] = channel.number;
    }
    for (const auto& [type, all] : solids)
      for (Selectors::Group& group : names_.of(all)) {
        // Channels are numbered in the order of solids.
        const std::int64_t first = numbers.at(group.solids.front());
        bool ascend = true;
        for (std::size_t i = 0; i != group.solids.size(); ++i)
          ascend = ascend && numbers.at(group.solids[i]) == first + static_cast<std::int64_t>(i);
        if (ascend) {
          optics.channel_assignments.push_back({std::move(group.selector), type, first});
          continue;
        }
        for (const std::uint32_t solid : group.solids)
          optics.channel_assignments.push_back({names_.one(solid), type, numbers.at(solid)});
      }
  }

  /// Whether the same holds at each solid.
  [[nodiscard]] bool same(const Optics& optics) const {
    const auto surface = [](const Optics& of, std::uint32_t number) {
      return number == kNone ? kNone : of.assignments[number].surface;
    };
    const Optics& mine = from_.optics;
    for (std::size_t i = 0; i != from_.instances.size(); ++i) {
      const auto skin = [&](const Optics& of) { return of.skins.empty() ? kNone : surface(of, of.skins[i]); };
      if (skin(mine) != skin(optics)) return false;
    }
    return optics.channels == mine.channels &&
           std::equal(mine.borders.begin(), mine.borders.end(), optics.borders.begin(), optics.borders.end(),
                      [&](const Optics::Border& a, const Optics::Border& b) {
                        return std::tuple(a.from, a.to, surface(mine, a.assignment)) ==
                               std::tuple(b.from, b.to, surface(optics, b.assignment));
                      });
  }

  const Scene& from_;
  Scene& to_;
  Selectors names_;
};

}  // namespace

void transfer_optics(const Scene& from, Scene& to) {
  expect_same_solids(from, to);
  Transfer(from, to).run();
}

}  // namespace raylift
