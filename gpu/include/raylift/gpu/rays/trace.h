// SPDX-License-Identifier: Apache-2.0
// Tracing many rays from the host. Kernels call closest_hit and any_hit of <raylift/gpu/rays/query.h> themselves.
#pragma once

#include <raylift/geometry/bvh/ray.h>
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <cstddef>

namespace raylift {

/// Sets hits[i] to closest_hit(bvh, rays[i]) for i < count. All addresses are the device's, and must stay valid until
/// the stream is past the call. On CUDA, the call returns at once and the work runs in the stream's order. On the host
/// device, the work is done on return, by all of TBB's threads. Both give the same hits. Errors: usage where an array is a
/// null pointer, device.
///
/// Where a part of the BVH lies in host memory and there are at least 262,144 rays, they are sorted by what they need
/// of it: many times the rate. That takes scratch memory of the device's pool, whatever UploadOptions::memory is: 13
/// bytes a ray, for up to 2^25 rays at a time, and up to 192 MiB; for fewer rays at a time where less is free. The pool
/// keeps it until Device::trim(). Rays are traced without, and more slowly, where it is not free and while the stream
/// is captured into a graph.
///
/// From 524,288 rays on, the call also takes 16 bytes of that pool, where it keeps whether the rays are the rows of an
/// image. A graph that captures the call has them as a memory node.
void trace(const Device& device, const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count, StreamRef stream);

/// The same for uploaded geometry, in one level or two. Throws Error(usage) where it was uploaded without its BVH
/// (UploadOptions::bvh = false) and has something to hit.
void trace(const GpuGeometry& geometry, const Ray* rays, Hit* hits, std::size_t count, StreamRef stream);

/// Sets numbers[i] to count_hits(geometry, rays[i]) for i < count. Addresses, stream and errors as for trace(), without
/// its scratch memory.
void count_hits(const GpuGeometry& geometry, const Ray* rays, std::uint32_t* numbers, std::size_t count,
                StreamRef stream);

/// Writes the hits of rays[i] for i < count, in their order along the ray, to hits[ends[i - 1]] and on, from hits[0] for
/// the first ray, as many of them as there are before ends[i]. So `ends` are the sums of count_hits() up to each ray,
/// and `hits` has room for ends[count - 1]. Likewise.
void all_hits(const GpuGeometry& geometry, const Ray* rays, const std::uint64_t* ends, Hit* hits, std::size_t count,
              StreamRef stream);

}  // namespace raylift
