// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/rays/query.h>
#include <raylift/gpu/rays/trace.h>

#include <algorithm>

#include "base/for_all.h"
#include "device/run_on.h"
#include "rays/host_tiles.h"
#include "rays/image_rows.h"
#include "trace_kernel.h"

namespace raylift {

namespace {

void trace_on_host(const BvhView& bvh, std::span<const Ray> rays, std::span<Hit> hits) {
  rows::closest_hits_in_tiles(bvh, BvhLevels::mesh, rays, hits);
}
void trace_on_host(const GeometryView& geometry, std::span<const Ray> rays, std::span<Hit> hits) {
  if (geometry.bvh_levels != 2) return trace_on_host(geometry.bvh, rays, hits);
  rows::closest_hits_in_tiles(geometry.bvh, BvhLevels::scene, rays, hits);
  base::for_all(hits.size(), 1 << 14, [&](std::size_t i) { hits[i] = bvh_detail::in_world(geometry, hits[i]); });
}

#ifdef RAYLIFT_WITH_CUDA

const BvhView& bvh_of(const BvhView& bvh) {
  return bvh;
}
const BvhView& bvh_of(const GeometryView& geometry) {
  return geometry.bvh;
}

/// Among fewer rays, hardly any two need the same part of the host's memory.
constexpr std::size_t kFewestRaysInParts = std::size_t{1} << 18;

/// Memory of the device's pool, if it is available without waiting; else none.
class Scratch {
 public:
  Scratch(const Device& device, StreamRef stream, std::size_t bytes) : backend_(*device.backend()), stream_(stream) {
    try {
      data_ = backend_.allocate_on(stream.handle(), bytes);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_device_memory) throw;
    }
  }
  ~Scratch() {
    if (data_ != nullptr) backend_.release_on(stream_.handle(), data_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  detail::Backend& backend_;
  StreamRef stream_;
  void* data_ = nullptr;
};

/// How many rays are taken at a time where a BVH is in parts, and the memory for it; no rays where that is not worth
/// it, or not possible.
struct Share {
  std::size_t rays = 0, bytes = 0;
};

Share share_for(const Device& device, const BvhView& bvh, std::size_t count) {
  Share share{std::min(count, cuda::kMaxRaysInParts)};
  if (share.rays < kFewestRaysInParts || cuda::parts_trace_bytes(bvh, share.rays) == 0) return {};
  const std::uint64_t free = device.memory_info().free_bytes;
  for (; share.rays >= kFewestRaysInParts; share.rays /= 2) {
    share.bytes = cuda::parts_trace_bytes(bvh, share.rays);
    if (share.bytes <= free) return share.bytes != 0 ? share : Share{};
  }
  return {};
}

template <class Geometry>
int launch_trace(const Device& device, const Geometry& geometry, const Ray* rays, Hit* hits, std::size_t count,
                 StreamRef stream) {
  const BvhView& bvh = bvh_of(geometry);
  const bool in_part = bvh.host_nodes != 0 || bvh.host_pairs != 0 || bvh.host_ids != 0;
  if (in_part && !cuda::is_captured(stream.handle()))
    if (const Share share = share_for(device, bvh, count); share.rays != 0)
      if (const Scratch scratch(device, stream, share.bytes); scratch.data() != nullptr) {
        int code = 0;
        for (std::size_t first = 0; first < count && code == 0; first += share.rays)
          code = cuda::launch_parts_trace(geometry, rays + first, hits + first, std::min(count - first, share.rays),
                                          scratch.data(), stream.handle());
        return code;
      }
  if (count < rows::kFewestRays) return cuda::launch_trace(geometry, rays, hits, count, nullptr, stream.handle());
  const Scratch scratch(device, stream, cuda::kTraceScratchBytes);
  return cuda::launch_trace(geometry, rays, hits, count, scratch.data(), stream.handle());
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
  detail::require_arrays(count, {rays, hits});
  detail::run_on(
      device, "trace", [&] { return launch_trace(device, geometry, rays, hits, count, stream); },
      [&] {
        trace_on_host(geometry, {rays, count}, {hits, count});
      });
}

void require_bvh(const GpuGeometry& geometry) {
  const GeometryView& view = geometry.view();
  if (view.bvh_levels == 0 && view.triangle_count != 0 && view.instance_count != 0 && !geometry.has(ViewArray::nodes))
    throw Error(ErrorKind::usage, "the geometry was uploaded without its BVH", {},
                "set UploadOptions::bvh before uploading");
}

/// Rays that walk through the whole tree, which a thread takes at a time.
constexpr std::size_t kFewRays = 256;

}  // namespace

void trace(const Device& device, const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count, StreamRef stream) {
  trace_on(device, bvh, rays, hits, count, stream);
}

void trace(const GpuGeometry& geometry, const Ray* rays, Hit* hits, std::size_t count, StreamRef stream) {
  require_bvh(geometry);
  trace_on(geometry.device(), geometry.view(), rays, hits, count, stream);
}

void count_hits(const GpuGeometry& geometry, const Ray* rays, std::uint32_t* numbers, std::size_t count,
                StreamRef stream) {
  require_bvh(geometry);
  const GeometryView& view = geometry.view();
  detail::require_arrays(count, {rays, numbers});
  detail::run_on(
      geometry.device(), "count_hits",
      [&] { return cuda::launch_count_hits(view, rays, numbers, count, stream.handle()); },
      [&] { base::for_all(count, kFewRays, [&](std::size_t i) { numbers[i] = count_hits(view, rays[i]); }); });
}

void all_hits(const GpuGeometry& geometry, const Ray* rays, const std::uint64_t* ends, Hit* hits, std::size_t count,
              StreamRef stream) {
  require_bvh(geometry);
  const GeometryView& view = geometry.view();
  detail::require_arrays(count, {rays, ends});
  detail::run_on(
      geometry.device(), "all_hits",
      [&] { return cuda::launch_all_hits(view, rays, ends, hits, count, stream.handle()); },
      [&] {
        base::for_all(count, kFewRays, [&](std::size_t i) { cuda::write_all_hits(view, rays[i], ends, hits, i); });
      });
}

}  // namespace raylift
