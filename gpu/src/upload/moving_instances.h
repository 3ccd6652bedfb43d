// SPDX-License-Identifier: Apache-2.0
// What the host knows of a geometry whose solids move.
#pragma once

#include <raylift/geometry/bvh/detail/instance_level.h>
#include <raylift/gpu/memory/memory.h>

#include <cstdint>
#include <vector>

#include "bvh/bvh_build_kernels.h"

namespace raylift::inline v0_1::detail {

/// What the host knows of a level over instances, from the first move on.
class MovingInstances {
 public:
  /// The pieces of the level that was uploaded. Waits for the stream.
  MovingInstances(const Device& device, const Memory& nodes, std::size_t instances, StreamRef stream);

  void set_visible(std::uint32_t instance, bool visible) { set(instance, kHidden, !visible); }
  void set_singular(std::uint32_t instance, bool singular) { set(instance, kSingular, singular); }
  /// Those that rays can hit.
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

}  // namespace raylift::inline v0_1::detail
