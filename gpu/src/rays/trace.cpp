// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/bvh/bvh_batch.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/memory.h>
#include <raylift/gpu/rays/query.h>
#include <raylift/gpu/rays/trace.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>

#include "device/run_on.h"
#include "trace_kernel.h"

namespace raylift::inline v0_1 {

namespace {

void trace_on_host(const BvhView& bvh, std::span<const Ray> rays, std::span<Hit> hits) {
  closest_hits(bvh, BvhLevels::mesh, rays, hits);
}
void trace_on_host(const GeometryView& geometry, std::span<const Ray> rays, std::span<Hit> hits) {
  if (geometry.bvh_levels != 2) return trace_on_host(geometry.bvh, rays, hits);
  closest_hits(geometry.bvh, BvhLevels::scene, rays, hits);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, hits.size(), 1 << 14), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) hits[i] = bvh_detail::in_world(geometry, hits[i]);
  });
}

const BvhView& bvh_of(const BvhView& bvh) {
  return bvh;
}
const BvhView& bvh_of(const GeometryView& geometry) {
  return geometry.bvh;
}

#ifdef RAYLIFT_WITH_CUDA

/// Of fewer rays, hardly any two need the same part of the host's memory.
constexpr std::size_t kFewestSortedRays = std::size_t{1} << 18;

/// Nothing where the device's memory does not suffice.
Memory memory_for_sorting(const Device& device, std::size_t bytes, StreamRef stream) {
  try {
    return Memory::pooled(device, stream, bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_device_memory) throw;
    return {};
  }
}

template <class Geometry>
int launch_trace(const Device& device, const Geometry& geometry, const Ray* rays, Hit* hits, std::size_t count,
                 StreamRef stream) {
  // As many at a time as there is memory for.
  for (std::size_t most = std::min(count, cuda::kMostSortedRays); most >= kFewestSortedRays; most /= 2) {
    const std::size_t bytes = cuda::sorted_trace_bytes(bvh_of(geometry), most);
    if (bytes == 0) break;
    const Memory memory = memory_for_sorting(device, bytes, stream);
    if (memory.bytes() == 0) continue;
    int code = 0;
    for (std::size_t first = 0; first < count && code == 0; first += most)
      code = cuda::launch_sorted_trace(geometry, rays + first, hits + first, std::min(count - first, most),
                                       memory.device(), stream.handle());
    return code;
  }
  return cuda::launch_trace(geometry, rays, hits, count, stream.handle());
}

#else

template <class Geometry>
int launch_trace(const Device&, const Geometry&, const Ray*, Hit*, std::size_t, StreamRef) {
  return 0;
}

#endif

template <class Geometry>
void trace_on(const Device& device, const Geometry& geometry, const Ray* rays, Hit* hits, std::size_t count,
              StreamRef stream) {
  detail::run_on(
      device, "trace", [&] { return launch_trace(device, geometry, rays, hits, count, stream); },
      [&] {
        trace_on_host(geometry, {rays, count}, {hits, count});
      });
}

}  // namespace

void trace(const Device& device, const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count, StreamRef stream) {
  trace_on(device, bvh, rays, hits, count, stream);
}

void trace(const GpuGeometry& geometry, const Ray* rays, Hit* hits, std::size_t count, StreamRef stream) {
  const GeometryView& view = geometry.view();
  if (view.bvh_levels == 0 && view.triangle_count != 0 && view.instance_count != 0 && !geometry.has(ViewArray::nodes))
    throw Error(ErrorKind::usage, "the geometry was uploaded without its BVH", {},
                "set UploadOptions::bvh before uploading");
  trace_on(geometry.device(), view, rays, hits, count, stream);
}

}  // namespace raylift::inline v0_1
