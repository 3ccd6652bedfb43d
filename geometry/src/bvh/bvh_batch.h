// SPDX-License-Identifier: Apache-2.0
// Many rays at once on the host.
#pragma once

#include <raylift/geometry/bvh/ray.h>

#include <span>

namespace raylift {

/// Whether the root of a BvhView is that of a mesh or of a scene.
enum class BvhLevels { mesh, scene };

/// hits[i] becomes the hit of rays[i], the same bits as from closest_hit(bvh, ray); `hits` has the rays' size. In
/// two-level scenes, normals are in the frame of the mesh hit. Runs on all of TBB's threads, with several rays in
/// flight per thread, and with AVX2 if the CPU has it.
void closest_hits(const BvhView& bvh, BvhLevels levels, std::span<const Ray> rays, std::span<Hit> hits);

}  // namespace raylift
