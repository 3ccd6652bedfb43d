// SPDX-License-Identifier: Apache-2.0
// Kernels for kernels_test.cpp, and their launches. No Eigen here: nvcc stumbles over it.
#pragma once

#include <raylift/gpu/rays/boundary.h>
#include <raylift/gpu/view.h>

#include <cstddef>
#include <cstdint>

namespace raylift::test {

/// What all triangles of all instances say, added up: their corners in the world, their materials, their solids.
struct SceneSums {
  double corners[3];
  unsigned long long inside;
  unsigned long long outside;
  unsigned long long solids;
};

RAYLIFT_HD inline void add_triangle(const GeometryView& view, std::uint32_t i, std::uint32_t t, SceneSums& sums) {
  const InstanceView& instance = view.instances[i];
  const std::uint32_t triangle = view.meshes[instance.mesh].first_triangle + t;
  const uint3 corners = view.triangles[triangle];
  const float3 a = instance.to_world.point(view.vertices[corners.x]);
  const float3 b = instance.to_world.point(view.vertices[corners.y]);
  const float3 c = instance.to_world.point(view.vertices[corners.z]);
  sums.corners[0] += double(a.x) + double(b.x) + double(c.x);
  sums.corners[1] += double(a.y) + double(b.y) + double(c.y);
  sums.corners[2] += double(a.z) + double(b.z) + double(c.z);
  const MaterialCode code = view.material_code(i, triangle);
  sums.inside += code.inside;
  sums.outside += code.outside;
  sums.solids += view.solid_id(i, triangle);
}

// Each returns a cudaError_t, as int.
int sum_scene_on_gpu(const GeometryView& view, SceneSums* sums);
int sum_words_on_gpu(const std::uint32_t* words, std::size_t count, unsigned long long* sum);
/// boundaries[i] = next_boundary(view, rays[i], in[i]); all but the view are the device's addresses.
int find_boundaries_on_gpu(const GeometryView& view, const Ray* rays, const Containment* in, Boundary* boundaries,
                           std::size_t count);
/// in[i] = locate(view, points[i]).
int locate_on_gpu(const GeometryView& view, const float3* points, Containment* in, std::size_t count);
/// A kernel that uses shared memory, for occupancy.
const void* hungry_kernel();
int last_cuda_error();
int current_cuda_device();

}  // namespace raylift::test
