// SPDX-License-Identifier: Apache-2.0
#include "structure_expand.h"

#include <raylift/geometry/scene/eigen.h>

#include <algorithm>

#include "import/input_file.h"

namespace raylift::gdml {
namespace {

/// Sums and products that stay at the largest number.
std::uint64_t add_up(std::uint64_t a, std::uint64_t b) {
  return a + b < a ? UINT64_MAX : a + b;
}
std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/// What a volume holds once it is expanded, itself included.
struct Extent {
  std::uint64_t nodes = 1, instances = 0;
  std::uint32_t height = 1;
};

Extent extent_of(const Volume& volume, const std::vector<Extent>& extents) {
  Extent extent;
  extent.instances = volume.assembly ? 0 : 1;
  for (const Placement& daughter : *volume.daughters) {
    const Extent& one = extents[daughter.volume];
    extent.nodes = add_up(extent.nodes, times(daughter.repeat.count, one.nodes));
    extent.instances = add_up(extent.instances, times(daughter.repeat.count, one.instances));
    extent.height = std::max(extent.height, one.height + 1);
  }
  return extent;
}

EigenTransform copy_transform(const Repeat& repeat, std::uint32_t copy) {
  EigenTransform transform = EigenTransform::Identity();
  const double at = repeat.first + copy * repeat.step;
  if (repeat.along == Repeat::Along::phi)
    transform.rotate(Eigen::AngleAxisd(at, Eigen::Vector3d::UnitZ()));
  else
    transform.translation()[static_cast<int>(repeat.along)] = at;
  return transform;
}

class Expansion {
 public:
  Expansion(const Detector& detector, const std::vector<std::uint32_t>& meshes, const LoadLimits& limits,
            std::uint64_t bytes, Scene& scene)
      : detector_(detector),
        meshes_(meshes),
        scene_(scene),
        names_(scene.source, bytes, limits),
        volumes_(detector.volumes.size(), kNone) {}

  void run() {
    scene_.materials = detector_.materials;
    for (std::uint32_t i = 0; i != scene_.materials.size(); ++i) scene_.bindings.push_back({i});
    Placement world;
    world.volume = detector_.world;
    world.name = detector_.volumes[detector_.world].name + "_PV";  // as Geant4 calls it
    EigenTransform unit = EigenTransform::Identity();
    unit.scale(scene_.unit_mm);
    stack_.push_back({&world, 0, kNone, kNone, unit});
    while (!stack_.empty()) place();
  }

 private:
  struct Step {
    const Placement* placement;
    std::uint32_t copy;
    std::uint32_t parent;   // in Scene::nodes
    std::uint32_t outside;  // material around it
    EigenTransform above;
  };

  void place() {
    const Step step = stack_.back();
    stack_.pop_back();
    const Placement& placement = *step.placement;
    const Volume& volume = detector_.volumes[placement.volume];
    EigenTransform transform = step.above * to_eigen(placement.placed);
    if (placement.repeat.count != 1 || placement.repeat.first != 0)
      transform = transform * copy_transform(placement.repeat, step.copy);
    const auto here = static_cast<std::uint32_t>(scene_.nodes.size());
    Node& node = scene_.nodes.emplace_back(Node{placement.name, step.parent, placement.copy_number, kNone});
    if (node.copy_number) *node.copy_number += step.copy;
    names_.add(node.name);
    std::uint32_t outside = step.outside;
    if (!volume.assembly) {
      node.volume = number_of(placement.volume);
      if (const std::uint32_t mesh = meshes_[volume.solid]; mesh != kNone) {
        scene_.instances.push_back({mesh, here, volume.material, step.outside, transform});
        outside = volume.material;
      }
    }
    for (auto daughter = volume.daughters->rbegin(); daughter != volume.daughters->rend(); ++daughter)
      for (std::uint32_t copy = daughter->repeat.count; copy-- != 0;)
        stack_.push_back({&*daughter, copy, here, outside, transform});
  }

  std::uint32_t number_of(std::uint32_t volume) {
    if (volumes_[volume] == kNone) {
      volumes_[volume] = static_cast<std::uint32_t>(scene_.volumes.size());
      scene_.volumes.push_back(detector_.volumes[volume].name);
    }
    return volumes_[volume];
  }

  const Detector& detector_;
  const std::vector<std::uint32_t>& meshes_;
  Scene& scene_;
  NodeNames names_;
  std::vector<std::uint32_t> volumes_;  // their numbers in the scene
  std::vector<Step> stack_;
};

}  // namespace

std::vector<bool> volumes_in_world(const Detector& detector, const LoadLimits& limits, const std::string& file) {
  std::vector<Extent> extents;
  extents.reserve(detector.volumes.size());
  for (const Volume& volume : detector.volumes) extents.push_back(extent_of(volume, extents));
  const Extent& world = extents[detector.world];
  const auto check = [&](std::uint64_t value, std::uint64_t limit, const std::string& what, const char* option) {
    if (value > limit)
      throw Error(ErrorKind::limit,
                  "the expanded scene has " +
                      (value == UINT64_MAX ? std::string("over 10^19") : std::to_string(value)) + " " + what +
                      ", and the limit is " + std::to_string(limit),
                  {file, ""}, std::string("raise it with ") + option);
  };
  check(world.height, limits.node_depth, "levels", "LoadLimits::node_depth");
  check(world.instances, limits.instances, "solids", "LoadLimits::instances");
  check(world.nodes, limits.nodes, "nodes", "LoadLimits::nodes");

  std::vector<bool> inside(detector.volumes.size(), false);
  inside[detector.world] = true;
  for (std::size_t i = detector.world + std::size_t{1}; i-- != 0;)  // mothers stand behind their daughters
    if (inside[i])
      for (const Placement& daughter : *detector.volumes[i].daughters) inside[daughter.volume] = true;
  return inside;
}

void expand_structure(const Detector& detector, const std::vector<std::uint32_t>& meshes, const LoadLimits& limits,
                      std::uint64_t bytes, Scene& scene) {
  Expansion(detector, meshes, limits, bytes, scene).run();
}

}  // namespace raylift::gdml
