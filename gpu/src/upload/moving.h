// SPDX-License-Identifier: Apache-2.0
// The host's state of a geometry whose solids or vertices move, from the first move on.
#pragma once

#include <raylift/gpu/memory/memory.h>

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "bvh/bvh_build_kernels.h"
#include "bvh/refit_kernels.h"
#include "geometry/src/bvh/instance_level.h"

namespace raylift::detail {

/// The level over instances.
class MovingInstances {
 public:
  /// The pieces of the level that was uploaded. Waits for the stream.
  MovingInstances(const Device& device, const Memory& nodes, std::size_t instances, StreamRef stream);

  void set_visible(std::uint32_t instance, bool visible) { set(instance, kHidden, !visible); }
  void set_singular(std::uint32_t instance, bool singular) { set(instance, kSingular, singular); }
  /// The instances that rays can hit.
  [[nodiscard]] std::vector<cuda::InstancePiece> pieces() const;
  /// Where the roots of the meshes' trees begin.
  [[nodiscard]] std::uint32_t roots() const { return static_cast<std::uint32_t>(bvh::instance_room(pieces_.size())); }

 private:
  enum : std::uint8_t { kShown = 0, kHidden = 1, kSingular = 2 };
  void set(std::uint32_t instance, std::uint8_t flag, bool on) {
    state_[instance] = static_cast<std::uint8_t>(on ? state_[instance] | flag : state_[instance] & ~flag);
  }

  std::vector<cuda::InstancePiece> pieces_;
  std::vector<std::uint8_t> state_;  // by instance
};

/// The tree of a mesh, level by level. Those that are not there are empty.
using Levels = std::array<NodeLevel, kBvhMaxDepth>;

struct Moving {
  std::optional<MovingInstances> instances;
  std::vector<MeshView> meshes;
  std::unordered_map<std::uint32_t, Levels> trees;  // by mesh
};

}  // namespace raylift::detail
