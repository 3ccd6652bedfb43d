// SPDX-License-Identifier: Apache-2.0
// Resolves assignments to the surfaces and channels of each solid.
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/surface_between.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "select_solids.h"

namespace raylift {
namespace {

constexpr std::size_t kMaxBorders = std::size_t{1} << 26;

class Resolver {
 public:
  explicit Resolver(Scene& scene) : scene_(scene), optics_(scene.optics), index_(scene) {}

  void run() {
    optics_.skins.clear();
    optics_.borders.clear();
    optics_.channels.clear();
    for (std::uint32_t i = 0; i != optics_.assignments.size(); ++i) assign(i);
    finish_borders();
    for (const ChannelAssignment& assignment : optics_.channel_assignments) add_channels(assignment);
    finish_channels();
    warn_of_missing_indices();
  }

 private:
  void assign(std::uint32_t number) {
    const SurfaceAssignment& assignment = optics_.assignments[number];
    if (assignment.surface >= optics_.surfaces.size())
      throw Error(ErrorKind::usage, "an assignment refers to a surface that the scene does not have",
                  {scene_.source, "'" + assignment.name + "'"});
    const std::vector<std::uint32_t> from = index_.select(assignment.from);
    std::size_t used = from.size();
    const bool skin = assignment.kind == SurfaceAssignment::Kind::skin;
    if (skin) {
      if (optics_.skins.empty() && used != 0) optics_.skins.assign(scene_.instances.size(), kNone);
      for (const std::uint32_t solid : from) optics_.skins[solid] = number;
    } else {
      used = add_borders(number, from, index_.select(assignment.to));
    }
    if (used == 0)
      scene_.report.warnings.push_back(std::string("the ") + (skin ? "skin" : "border") + " surface '" +
                                       assignment.name + "' holds nowhere: it means no solid" +
                                       (skin ? "" : "s that touch"));
  }

  std::size_t add_borders(std::uint32_t number, const std::vector<std::uint32_t>& from,
                          const std::vector<std::uint32_t>& to) {
    if (!tree_) tree_ = solid_tree(scene_);
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_mother;
    for (const std::uint32_t solid : to) by_mother[tree_->mother[solid]].push_back(solid);
    const std::size_t before = optics_.borders.size();
    const auto add = [&](std::uint32_t one, std::uint32_t other) {
      if (one == other) return;
      if (optics_.borders.size() == kMaxBorders)
        throw Error(ErrorKind::limit,
                    "more than " + std::to_string(kMaxBorders) + " pairs of solids have a border surface",
                    {scene_.source, "'" + optics_.assignments[number].name + "'"}, "name the solids more closely");
      optics_.borders.push_back({one, other, number});
    };
    for (const std::uint32_t solid : from) {
      const std::uint32_t mother = tree_->mother[solid];
      if (std::binary_search(to.begin(), to.end(), mother)) add(solid, mother);
      for (const std::uint32_t around : {solid, mother})  // daughters and siblings
        if (const auto found = by_mother.find(around); found != by_mother.end())
          for (const std::uint32_t other : found->second) add(solid, other);
    }
    return optics_.borders.size() - before;
  }

  void finish_borders() {
    std::vector<Optics::Border>& borders = optics_.borders;
    const auto key = [](const Optics::Border& border) { return std::pair(border.from, border.to); };
    std::sort(borders.begin(), borders.end(), [&](const Optics::Border& a, const Optics::Border& b) {
      return std::pair(key(a), b.assignment) < std::pair(key(b), a.assignment);  // the latest first
    });
    borders.erase(std::unique(borders.begin(), borders.end(),
                              [&](const Optics::Border& a, const Optics::Border& b) { return key(a) == key(b); }),
                  borders.end());
  }

  void add_channels(const ChannelAssignment& assignment) {
    if (assignment.type != kNone && assignment.type >= optics_.channel_types.size())
      throw Error(ErrorKind::usage, "channels refer to a type that the scene does not have", {scene_.source, ""});
    const std::vector<std::uint32_t> solids = index_.select(assignment.solids);
    if (solids.empty()) scene_.report.warnings.emplace_back("channels are assigned to no solid: no name matches");
    for (const std::uint32_t solid : solids)
      if (const auto node = channels_.extract(solid)) taken_.erase(taken_.find(node.mapped().number));
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() - (std::int64_t{1} << 32);  // room to count
    const std::int64_t last = taken_.empty() ? -1 : std::max<std::int64_t>(*taken_.rbegin(), -1);
    std::int64_t next = assignment.first.value_or(std::min(last, kMax) + 1);
    if (next > kMax) throw Error(ErrorKind::limit, "channel numbers end at 2^63 - 2^32", {scene_.source, ""});
    const bool own = !assignment.first && copy_numbers_are_free(solids);
    for (const std::uint32_t solid : solids) {
      const std::int64_t number = own ? *scene_.copy_number(scene_.instances[solid]) : next++;
      channels_[solid] = {solid, number, assignment.type};
      taken_.insert(number);
    }
  }

  [[nodiscard]] bool copy_numbers_are_free(const std::vector<std::uint32_t>& solids) const {
    std::set<std::int64_t> own;
    return std::all_of(solids.begin(), solids.end(), [&](std::uint32_t solid) {
      const auto copy = scene_.copy_number(scene_.instances[solid]);
      return copy && taken_.count(*copy) == 0 && own.insert(*copy).second;
    });
  }

  void finish_channels() {
    std::unordered_map<std::int64_t, std::uint32_t> by_number;
    for (const auto& [solid, channel] : channels_) {
      const auto [entry, inserted] = by_number.try_emplace(channel.number, solid);
      if (!inserted)
        throw Error(ErrorKind::malformed,
                    "channel " + std::to_string(channel.number) + " is given to two solids, '" +
                        scene_.path(scene_.instances[entry->second]) + "' and '" +
                        scene_.path(scene_.instances[solid]) + "'",
                    {scene_.source, ""}, "give each assignment a first number of its own");
      optics_.channels.push_back(channel);
    }
  }

  /// Whether light comes through a boundary with this surface. Metal and paint stop it.
  [[nodiscard]] bool passes(const SurfaceChoice& choice) const {
    if (choice.rule == SurfaceChoice::Rule::none) return true;
    const OpticalSurface& surface = optics_.surfaces[choice.surface];
    const bool bare = surface.finish == SurfaceFinish::polished || surface.finish == SurfaceFinish::ground;
    const bool metal = surface.type == SurfaceType::dielectric_metal && surface.model <= SurfaceModel::unified;
    return (bare && !metal) || surface.properties.table("TRANSMITTANCE") != nullptr;
  }

  void warn_of_missing_indices() {
    const std::vector<OpticalProperties>& materials = optics_.materials;
    std::vector<bool> has(scene_.materials.size(), false), warned = has;
    for (std::size_t i = 0; i != materials.size(); ++i) has[i] = materials[i].table("RINDEX") != nullptr;
    if (std::find(has.begin(), has.end(), true) == has.end()) return;
    if (!tree_) tree_ = solid_tree(scene_);
    for (std::uint32_t solid = 0; solid != scene_.instances.size(); ++solid) {
      const std::uint32_t mother = tree_->mother[solid];
      if (mother == kNone) continue;
      for (const auto& [from, to] : {std::pair(solid, mother), std::pair(mother, solid)}) {
        const std::uint32_t lit = scene_.material(scene_.instances[from], 0);
        const std::uint32_t dark = scene_.material(scene_.instances[to], 0);
        if (lit == kNone || dark == kNone || !has[lit] || has[dark] || warned[dark]) continue;
        if (!passes(surface_between(scene_, *tree_, from, to))) continue;
        warned[dark] = true;
        scene_.report.warnings.push_back(
            "material '" + scene_.materials[dark].name + "' has no RINDEX: light ends there, as where it comes from '" +
            scene_.path(scene_.instances[from]) + "' into '" + scene_.path(scene_.instances[to]) + "'");
      }
    }
  }

  Scene& scene_;
  Optics& optics_;
  detail::SolidIndex index_;
  std::optional<SolidTree> tree_;
  std::map<std::uint32_t, Optics::Channel> channels_;
  std::multiset<std::int64_t> taken_;  // their numbers
};

}  // namespace

void resolve_optics(Scene& scene) {
  Resolver(scene).run();
}

}  // namespace raylift
