// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/trace.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#ifdef RAYLIFT_WITH_CUDA
#include <cstdlib>

#include "cuda/check.h"
#include "trace_kernel.h"
#endif

namespace raylift {

void trace(const Device& device, const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count,
           [[maybe_unused]] const Stream& stream) {
#ifdef RAYLIFT_WITH_CUDA
  if (!device.info().is_host) {
    const cuda::CurrentDevice current(std::atoi(device.info().id.c_str() + 5));
    cuda::check(current.code(), "selecting " + device.info().id);
    cuda::check(static_cast<cudaError_t>(cuda::launch_trace(bvh, rays, hits, count, stream.handle())),
                "launching trace");
    return;
  }
#else
  (void)device;
#endif
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1024), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) hits[i] = closest_hit(bvh, rays[i]);
  });
}

}  // namespace raylift
