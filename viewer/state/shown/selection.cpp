// SPDX-License-Identifier: Apache-2.0
#include "state/shown/selection.h"

#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/optics/words.h>
#include <raylift/geometry/scene/eigen.h>

#include <utility>

namespace raylift::viewer {
namespace {

std::string material_name(const Scene& scene, std::uint32_t material) {
  return material == kNone ? "none" : scene.materials[material].name;
}

/// "Mirror, skin of the solid entered", or "none".
std::string surface_text(const Scene& scene, const SurfaceChoice& choice) {
  if (choice.rule == SurfaceChoice::Rule::none) return "none";
  return scene.optics.surfaces[choice.surface].name + ", " + std::string(to_string(choice.rule));
}

}  // namespace

void Selection::select(std::optional<std::uint32_t> instance) {
  if (selected_ && selected_->is_set() && shown_.scene) mark_found({});
  selected_.reset();
  facts_.reset();
  ++version_;
  shown_.settings.box.reset();
  shown_.photons.select(std::nullopt);
  ++shown_.revision;
  if (!instance) return;
  const Scene& scene = *shown_.scene;
  const Instance& placed = scene.instances[*instance];
  const Mesh& mesh = scene.meshes[placed.mesh];
  SelectedSolids fresh;
  fresh.instance = *instance;
  fresh.solids = {*instance};
  fresh.name = scene.solid_name(placed);
  fresh.path = scene.path(placed);
  fresh.mesh = mesh.name;
  fresh.material = mesh.parts.empty() ? kNone : scene.material(placed, 0);
  fresh.inside = material_name(scene, fresh.material);
  fresh.outside = material_name(scene, placed.outside);
  if (!scene.optics.surfaces.empty()) {
    const SolidTree tree = solid_tree(scene);
    const std::uint32_t mother = tree.mother[*instance];
    const SurfaceChoice in = surface_between(scene, tree, mother, *instance);
    const SurfaceChoice out = surface_between(scene, tree, *instance, mother);
    fresh.surface_in = in.surface;
    fresh.surface_out = out.surface;
    fresh.entering = surface_text(scene, in);
    fresh.leaving = surface_text(scene, out);
  }
  fresh.position = to_eigen(shown_.solids->bounds(*instance).center());
  selected_ = std::move(fresh);
}

void Selection::mark_found(std::span<const std::uint32_t> solids) {
  std::vector<std::uint32_t> fresh;
  std::size_t triangles = 0;
  for (const std::uint32_t solid : solids) {
    triangles += shown_.scene->meshes[shown_.scene->instances[solid].mesh].triangles.size();
    if (triangles > kMaxMarked) break;
    fresh.push_back(solid);
  }
  if (fresh == found_) return;
  found_ = std::move(fresh);
  ++shown_.revision;
}

void Selection::select_group(std::uint32_t node) {
  select(std::nullopt);
  if (!shown_.scene) return;
  SelectedSolids fresh;
  fresh.group = node;
  fresh.solids = shown_.solids->below(node);
  fresh.name = shown_.scene->nodes[node].name;
  Instance placed;
  placed.node = node;
  fresh.path = shown_.scene->path(placed);
  fresh.position = to_eigen(shown_.solids->bounds(fresh.solids).center());
  selected_ = std::move(fresh);
}

void Selection::select_all(std::span<const std::uint32_t> solids, const std::string& name) {
  if (solids.size() < 2) return select(solids.empty() ? std::nullopt : std::optional(solids.front()));
  select(std::nullopt);
  if (!shown_.scene) return;
  SelectedSolids fresh;
  fresh.solids.assign(solids.begin(), solids.end());
  fresh.name = name;
  fresh.position = to_eigen(shown_.solids->bounds(fresh.solids).center());
  selected_ = std::move(fresh);
  mark_found(solids);
}

void Selection::select(const std::optional<Picked>& picked, const Cursor& cursor) {
  select(picked ? std::optional(picked->instance) : std::nullopt);
  if (!picked) return;
  selected_->clicked = true;
  if (const auto point = shown_.point_of(*picked, cursor)) selected_->position = *point;
  const std::uint32_t triangle = shown_.triangle_of(*picked);
  if (triangle == kNone) return;
  const Scene& scene = *shown_.scene;
  const Instance& instance = scene.instances[picked->instance];
  selected_->triangle = triangle;
  // The material inside depends on the part that the triangle belongs to.
  if (const auto part = part_of(scene.meshes[instance.mesh], triangle)) {
    selected_->material = scene.material(instance, *part);
    selected_->inside = material_name(scene, selected_->material);
  }
}

void Selection::select_photon(const std::optional<PickedPhoton>& picked) {
  select(std::nullopt);
  if (!picked) return;
  Photons& photons = shown_.photons;
  photons.select(picked->point ? photons.selection_of_point(picked->row) : photons.selection_of_step(picked->row));
}

std::optional<FactsRequest> Selection::facts_request(const std::shared_ptr<const SceneCheck>& check) const {
  if (!selected_ || (facts_ && (facts_->checked || !check))) return std::nullopt;
  return FactsRequest{version_, shown_.measurer, selected_->solids, check};
}

void Selection::set_facts(std::uint64_t version, SolidFacts facts) {
  if (version != version_) return;
  facts_ = std::move(facts);
  if (!selected_ || selected_->group == kNone || facts_->box.empty()) return;
  shown_.settings.box = facts_->box;  // a group has no outline
  ++shown_.revision;
}

std::string Selection::text() const {
  return selected_ && facts_ ? facts_text(selected_->name, selected_->path, *facts_) : "";
}

}  // namespace raylift::viewer
