// SPDX-License-Identifier: Apache-2.0
// New transforms of instances, on their way to the device, and the launch of the kernel that puts them in place.
#pragma once

#include <raylift/gpu/view.h>

#include <cstddef>
#include <cstdint>

namespace raylift::detail {

/// What a new transform changes of an InstanceView.
struct MovedInstance {
  Transform frame;  // to_mesh in double
  Affine to_world, to_mesh;
  std::uint32_t instance;
  std::uint32_t mirrored;

  /// frames: null for a geometry that is not fine.
  RAYLIFT_HD void put(InstanceView* instances, Transform* frames) const {
    InstanceView& view = instances[instance];
    view.to_world = to_world;
    view.to_mesh = to_mesh;
    view.mirrored = static_cast<std::uint16_t>(mirrored);
    if (frames != nullptr) frames[instance] = frame;
  }
};

}  // namespace raylift::detail

namespace raylift::cuda {

/// Returns a cudaError_t. The device must be current.
int launch_put_instances(const detail::MovedInstance* moved, std::size_t count, InstanceView* instances,
                         Transform* frames, void* stream);

}  // namespace raylift::cuda
