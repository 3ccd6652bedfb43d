// SPDX-License-Identifier: Apache-2.0
// Many rays at once. For rays inside a kernel of one's own: closest_hit and any_hit in <raylift/gpu/rays/query.h>.
#pragma once

#include <raylift/geometry/bvh/ray.h>
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <cstddef>

namespace raylift {

/// hits[i] becomes closest_hit(bvh, rays[i]) for i < count. The arrays of `bvh`, `rays` and `hits` are addresses that
/// the device reads and writes, and stay until the stream is past the call. CUDA: returns at once, works in the
/// stream's order; host device: done on return, by all of TBB's threads. Both give the same hits. Errors: device.
void trace(const Device& device, const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count,
           const Stream& stream);

/// The same for uploaded geometry, in one level or two; it must have its BVH (UploadOptions::bvh), or nothing to
/// hit: otherwise Error(usage).
void trace(const GpuGeometry& geometry, const Ray* rays, Hit* hits, std::size_t count, const Stream& stream);

}  // namespace raylift
