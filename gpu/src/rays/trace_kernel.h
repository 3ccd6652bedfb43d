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

/// Whether what is enqueued on a stream goes into a graph.
[[nodiscard]] bool is_captured(void* stream);

}  // namespace raylift::cuda
