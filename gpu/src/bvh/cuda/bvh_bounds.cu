// SPDX-License-Identifier: Apache-2.0
// The box of all vertices, and whether one is out of bounds.
#include <cub/device/device_reduce.cuh>

#include "bvh_phases.h"

namespace raylift::inline v0_1::cuda {
namespace {

struct BoundsOf {
  __device__ VertexBounds operator()(const Float3& v) const {
    const bool good = fabsf(v.x) <= kBvhFarthest && fabsf(v.y) <= kBvhFarthest && fabsf(v.z) <= kBvhFarthest;
    return {{v.x, v.y, v.z}, {v.x, v.y, v.z}, good ? 0u : 1u};
  }
};

struct Join {
  __device__ VertexBounds operator()(const VertexBounds& a, const VertexBounds& b) const {
    VertexBounds both;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      both.lower[axis] = fminf(a.lower[axis], b.lower[axis]);
      both.upper[axis] = fmaxf(a.upper[axis], b.upper[axis]);
    }
    both.bad = a.bad | b.bad;
    return both;
  }
};

}  // namespace

void bound_vertices(const Build& build) {
  constexpr VertexBounds kEmpty{{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0};
  build.run_cub("bounding vertices", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::TransformReduce(scratch, bytes, build.input.vertices, &build.state->bounds,
                                              static_cast<std::int64_t>(build.input.vertex_count), Join{}, BoundsOf{},
                                              kEmpty, build.stream);
  });
}

}  // namespace raylift::inline v0_1::cuda
