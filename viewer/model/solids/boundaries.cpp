// SPDX-License-Identifier: Apache-2.0
#include "model/solids/boundaries.h"

#include <raylift/geometry/optics/surface_between.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "geometry/src/scene/names.h"

namespace raylift::viewer {
namespace {

/// Boundaries by materials, surface and kind. A surface comes before none: kNone is the largest number.
class Collected {
 public:
  void add(std::uint32_t from, std::uint32_t to, const SurfaceChoice& choice, std::uint32_t solid,
           std::uint64_t triangles) {
    const bool border = choice.rule == SurfaceChoice::Rule::border;
    Boundary& one = all_[{choice.surface, border, from, to}];
    one.from = from;
    one.to = to;
    one.surface = choice.surface;
    one.border = border;
    if (!one.solids.empty() && one.solids.back() == solid && from == to) return;  // of the way back
    one.solids.push_back(solid);
    one.triangles += triangles;
  }
  std::vector<Boundary> take() {
    for (auto& [key, one] : all_) {
      std::sort(one.solids.begin(), one.solids.end());
      one.solids.erase(std::unique(one.solids.begin(), one.solids.end()), one.solids.end());
    }
    std::vector<Boundary> boundaries;
    for (auto& [key, one] : all_) {
      const auto& [surface, border, from, to] = key;
      const auto back = all_.find({surface, border, to, from});
      one.both_ways = from == to || (back != all_.end() && back->second.solids == one.solids);
      // The way that is found first stands for both.
      if (one.both_ways && to < from) continue;
      boundaries.push_back(one);
    }
    std::stable_sort(boundaries.begin(), boundaries.end(), [](const Boundary& a, const Boundary& b) {
      return a.surface != b.surface ? a.surface < b.surface : a.solids.size() > b.solids.size();
    });
    return boundaries;
  }

 private:
  std::map<std::tuple<std::uint32_t, bool, std::uint32_t, std::uint32_t>, Boundary> all_;
};

std::string name_of(const Scene& scene, std::uint32_t material) {
  return material == kNone ? "none" : std::string(base_name(scene.materials[material].name));
}

}  // namespace

std::vector<Boundary> boundaries(const Scene& scene) {
  const SolidTree tree = solid_tree(scene);
  Collected all;
  for (std::uint32_t solid = 0; solid != tree.size(); ++solid) {
    const std::uint32_t mother = tree.mother[solid];
    if (mother == kNone) continue;
    const Instance& placed = scene.instances[solid];
    const SurfaceChoice in = surface_between(scene, tree, mother, solid);
    const SurfaceChoice out = surface_between(scene, tree, solid, mother);
    const std::vector<Mesh::Part>& parts = scene.meshes[placed.mesh].parts;
    for (std::size_t part = 0; part != parts.size(); ++part) {
      const std::uint32_t inside = scene.material(placed, part);
      all.add(placed.outside, inside, in, solid, parts[part].triangle_count);
      all.add(inside, placed.outside, out, solid, parts[part].triangle_count);
    }
  }
  for (const Optics::Border& border : scene.optics.borders) {
    if (tree.mother[border.from] == border.to || tree.mother[border.to] == border.from) continue;
    const auto material = [&](std::uint32_t solid) { return scene.material(scene.instances[solid], 0); };
    const SurfaceChoice choice = surface_between(scene, tree, border.from, border.to);
    for (const std::uint32_t solid : {border.from, border.to})
      all.add(material(border.from), material(border.to), choice, solid, 0);
  }
  return all.take();
}

std::string surface_text(const Scene& scene, const Boundary& boundary) {
  if (boundary.surface == kNone) return "no surface";
  return std::string(base_name(scene.optics.surfaces[boundary.surface].name)) +
         (boundary.border ? ", border surface" : ", skin surface");
}

std::string materials_text(const Scene& scene, const Boundary& boundary) {
  const std::string from = name_of(scene, boundary.from), to = name_of(scene, boundary.to);
  return boundary.both_ways ? "between " + from + " and " + to : "from " + from + " into " + to;
}

bool fits(const WordQuery& query, const Scene& scene, const Boundary& boundary) {
  return query.rank(surface_text(scene, boundary) + ' ' + materials_text(scene, boundary)).has_value();
}

}  // namespace raylift::viewer
