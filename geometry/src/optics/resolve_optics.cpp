// SPDX-License-Identifier: Apache-2.0
// From what assignments say to what holds at each solid.
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/surface_between.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "select_solids.h"

namespace raylift {
namespace {

constexpr std::size_t kMostBorders = std::size_t{1} << 26;

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
  }

 private:
  void assign(std::uint32_t number) {
    const SurfaceAssignment& assignment = optics_.assignments[number];
    if (assignment.surface >= optics_.surfaces.size())
      throw Error(ErrorKind::usage, "an assignment refers to a surface that the scene does not have",
                  {scene_.source, "'" + assignment.name + "'"});
    const std::vector<std::uint32_t> from = index_.select(assignment.from);
    std::size_t used = from.size();
    if (assignment.kind == SurfaceAssignment::Kind::skin) {
      if (optics_.skins.empty() && used != 0) optics_.skins.assign(scene_.instances.size(), kNone);
      for (const std::uint32_t solid : from) optics_.skins[solid] = number;
    } else {
      used = add_borders(number, from, index_.select(assignment.to));
    }
    if (used == 0)
      scene_.report.warnings.push_back(std::string(assignment.kind == SurfaceAssignment::Kind::skin
                                                       ? "the skin surface '"
                                                       : "the border surface '") +
                                       assignment.name + "' holds nowhere: it means no solid" +
                                       (assignment.kind == SurfaceAssignment::Kind::skin ? "" : "s that touch"));
  }

  std::size_t add_borders(std::uint32_t number, const std::vector<std::uint32_t>& from,
                          const std::vector<std::uint32_t>& to) {
    if (!tree_) tree_ = solid_tree(scene_);
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_mother;
    for (const std::uint32_t solid : to) by_mother[tree_->mother[solid]].push_back(solid);
    const std::size_t before = optics_.borders.size();
    const auto add = [&](std::uint32_t one, std::uint32_t other) {
      if (one == other) return;
      if (optics_.borders.size() == kMostBorders)
        throw Error(ErrorKind::limit,
                    "more than " + std::to_string(kMostBorders) + " pairs of solids have a border surface",
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
    std::vector<SolidBorder>& borders = optics_.borders;
    const auto key = [](const SolidBorder& border) { return std::pair(border.from, border.to); };
    std::sort(borders.begin(), borders.end(), [&](const SolidBorder& a, const SolidBorder& b) {
      return std::pair(key(a), b.assignment) < std::pair(key(b), a.assignment);  // the latest first
    });
    borders.erase(std::unique(borders.begin(), borders.end(),
                              [&](const SolidBorder& a, const SolidBorder& b) { return key(a) == key(b); }),
                  borders.end());
  }

  void add_channels(const ChannelAssignment& assignment) {
    if (assignment.type != kNone && assignment.type >= optics_.channel_types.size())
      throw Error(ErrorKind::usage, "channels refer to a type that the scene does not have", {scene_.source, ""});
    const std::vector<std::uint32_t> solids = index_.select(assignment.solids);
    if (solids.empty()) scene_.report.warnings.emplace_back("channels are assigned to no solid: no name matches");
    for (const std::uint32_t solid : solids) channels_.erase(solid);
    std::int64_t next = assignment.first.value_or(next_number());
    const bool own = !assignment.first && copy_numbers_are_free(solids);
    for (const std::uint32_t solid : solids) {
      const std::int64_t number = own ? *scene_.copy_number(scene_.instances[solid]) : next++;
      channels_[solid] = {solid, number, assignment.type};
    }
  }

  [[nodiscard]] std::int64_t next_number() const {
    std::int64_t next = 0;
    for (const auto& [solid, channel] : channels_) next = std::max(next, channel.number + 1);
    return next;
  }

  [[nodiscard]] bool copy_numbers_are_free(const std::vector<std::uint32_t>& solids) const {
    std::set<std::int64_t> taken;
    for (const auto& [solid, channel] : channels_) taken.insert(channel.number);
    return std::all_of(solids.begin(), solids.end(), [&](std::uint32_t solid) {
      const auto copy = scene_.copy_number(scene_.instances[solid]);
      return copy && taken.insert(*copy).second;
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

  Scene& scene_;
  Optics& optics_;
  detail::SolidIndex index_;
  std::optional<SolidTree> tree_;
  std::map<std::uint32_t, SolidChannel> channels_;
};

}  // namespace

void resolve_optics(Scene& scene) {
  Resolver(scene).run();
}

}  // namespace raylift
