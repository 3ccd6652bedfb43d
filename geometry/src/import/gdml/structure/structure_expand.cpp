// SPDX-License-Identifier: Apache-2.0
#include "structure_expand.h"

#include <raylift/geometry/scene/eigen.h>

#include "import/expanded_size.h"
#include "import/input_file.h"

namespace raylift::gdml {
namespace {

ExpandedSize size_of(const Volume& volume, const std::vector<ExpandedSize>& sizes) {
  ExpandedSize size;
  size.instances = volume.assembly ? 0 : 1;
  for (const Placement& daughter : *volume.daughters) size.add(sizes[daughter.volume], daughter.repeat.count);
  return size;
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
  std::vector<ExpandedSize> sizes;
  sizes.reserve(detector.volumes.size());
  for (const Volume& volume : detector.volumes) sizes.push_back(size_of(volume, sizes));
  check_expanded(sizes[detector.world], limits, [&](const std::string& problem, const std::string& advice) {
    throw Error(ErrorKind::limit, problem, {file, ""}, advice);
  });

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
