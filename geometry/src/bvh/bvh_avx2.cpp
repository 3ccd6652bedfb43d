// SPDX-License-Identifier: Apache-2.0
// Rays on the host with AVX2. The file is compiled for the baseline; only marked functions have AVX2, so that no
// inline function that others share does. Without contraction (see CMakeLists.txt), as products are rounded on their
// own.
#include "bvh_lanes.h"

#if defined(__x86_64__) && defined(__GNUC__)

#define RAYLIFT_LANES __attribute__((target("avx2,fma,bmi,popcnt")))
#include "bvh_lane_walk.h"

namespace raylift::bvh {

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
  return has;
}

std::size_t trace_avx2(const BvhView& bvh, BvhLevels levels, const Ray* rays, Hit* hits, std::size_t count) {
  return trace_lanes(bvh, levels, rays, hits, count);
}

}  // namespace raylift::bvh

#else

namespace raylift::bvh {

bool has_avx2() {
  return false;
}
std::size_t trace_avx2(const BvhView& bvh, BvhLevels levels, const Ray* rays, Hit* hits, std::size_t count) {
  return trace_portable(bvh, levels, rays, hits, count);
}

}  // namespace raylift::bvh

#endif
