// SPDX-License-Identifier: Apache-2.0
// The launches behind trace(). Each returns a cudaError_t; the device must be current.
#pragma once

#include <raylift/gpu/rays/query.h>

#include <cstddef>

namespace raylift::cuda {

/// `scratch` is on the device and has kTraceScratchBytes. Without it, nullptr, images are not recognised.
int launch_trace(const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count, void* scratch, void* stream);
int launch_trace(const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count, void* scratch,
                 void* stream);
inline constexpr std::size_t kTraceScratchBytes = 16;

/// For a BVH of which a part lies in host memory (BvhView::host_nodes and the like). `memory` is on the device and has
/// parts_trace_bytes(bvh, count) bytes; count is at most kMaxRaysInParts.
int launch_parts_trace(const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count, void* memory, void* stream);
int launch_parts_trace(const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count, void* memory,
                       void* stream);
inline constexpr std::size_t kMaxRaysInParts = std::size_t{1} << 25;

/// 0 where launch_trace() is as good.
[[nodiscard]] std::size_t parts_trace_bytes(const BvhView& bvh, std::size_t count);

/// A thread for each ray.
int launch_count_hits(const GeometryView& geometry, const Ray* rays, std::uint32_t* numbers, std::size_t count,
                      void* stream);
int launch_all_hits(const GeometryView& geometry, const Ray* rays, const std::uint64_t* ends, Hit* hits,
                    std::size_t count, void* stream);
RAYLIFT_HD inline void write_all_hits(const GeometryView& geometry, const Ray& ray, const std::uint64_t* ends,
                                      Hit* hits, std::size_t i) {
  const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
  // No ray meets as many triangles as 32 bits count.
  all_hits(geometry, ray, hits + begin, static_cast<std::uint32_t>(ends[i] - begin));
}

/// Whether what is enqueued on a stream goes into a graph.
[[nodiscard]] bool is_captured(void* stream);

}  // namespace raylift::cuda
