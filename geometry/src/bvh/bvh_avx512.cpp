// SPDX-License-Identifier: Apache-2.0
// Rays on the host with AVX-512. The file is compiled for the baseline; only marked functions have AVX-512, so that no
// inline function that others share does. Without contraction (see CMakeLists.txt), as products are rounded on their
// own.
#include "bvh_lanes.h"

#if defined(__x86_64__) && defined(__GNUC__)

#define RAYLIFT_LANES_AVX512
#define RAYLIFT_LANES __attribute__((target("avx2,fma,bmi,bmi2,popcnt,avx512f,avx512vl,avx512dq")))
#include "bvh_lane_walk.h"

namespace raylift::bvh {

bool has_avx512() {
  static const bool has = has_avx2() && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return has;
}

std::size_t trace_avx512(const BvhView& bvh, BvhLevels levels, const Ray* rays, Hit* hits, std::size_t count) {
  return trace_lanes(bvh, levels, rays, hits, count);
}

}  // namespace raylift::bvh

#else

namespace raylift::bvh {

bool has_avx512() {
  return false;
}
std::size_t trace_avx512(const BvhView& bvh, BvhLevels levels, const Ray* rays, Hit* hits, std::size_t count) {
  return trace_portable(bvh, levels, rays, hits, count);
}

}  // namespace raylift::bvh

#endif
