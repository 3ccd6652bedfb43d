// SPDX-License-Identifier: Apache-2.0
// Many rays at once on the host.
#pragma once

#include <raylift/geometry/bvh/ray.h>

#include <span>

namespace raylift::inline v0_1 {

/// What the root of a BvhView is over.
enum class BvhLevels { mesh, scene };

/// hits[i] becomes the hit of rays[i], the same bits as from closest_hit(bvh, ray); `hits` has the rays' size. Of a
/// scene in two levels, normals stay in the frame of the mesh hit. By all of TBB's threads, several rays of each in
/// flight, and with AVX2 where the CPU has it.
void closest_hits(const BvhView& bvh, BvhLevels levels, std::span<const Ray> rays, std::span<Hit> hits);

}  // namespace raylift::inline v0_1
