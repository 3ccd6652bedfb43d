// SPDX-License-Identifier: Apache-2.0
// Rays that start inside of a closed convex shape, made where they are traced, and their hits checked there: against
// what must hold of any such ray, and by brute force over all triangles in double.
#pragma once

#include <raylift/gpu/device/device.h>
#include <raylift/gpu/view.h>

#include <cstddef>
#include <cstdint>

#include "geometry/src/bvh/bvh_batch.h"

namespace raylift::bench {

/// A face as its outward unit normal, and the normal's product with a point of the plane.
struct FacePlane {
  double normal[3];
  double offset;
};

/// The shape, in its mesh's frame; device addresses. Two levels: it stands in the world once for each instance.
struct ExactShape {
  const Float3* vertices;
  const UInt3* triangles;
  const FacePlane* planes;        ///< by triangle
  const InstanceView* instances;  ///< null in one level
  std::uint32_t vertex_count;
  std::uint32_t triangle_count;
  std::uint32_t instance_count;
  Float3 center;  ///< a point inside
  Float3 axis;
};

struct ExactCounts {
  unsigned long long rays;        ///< that start inside; few others are left out, in two levels
  unsigned long long lost;        ///< no hit
  unsigned long long wrong_side;  ///< from_inside is 0
  unsigned long long checked;     ///< by brute force
  unsigned long long undecided;   ///< of these: double does not separate several triangles at an edge
  unsigned long long differ;      ///< of these: none of the triangles that it may be
  unsigned long long worst_t;     ///< the bits of the largest error of t, a double, in steps of a float
};

/// rays[i] becomes ray number first + i, in the device's memory. A ray that does not start inside has tmax 0. In stream
/// order.
void make_exact_rays(const Device& device, const ExactShape& shape, Ray* rays, std::uint64_t first, std::size_t count,
                     const Stream& stream);

/// Each ray by a thread of its own: closest_hit of the view, or of `geometry` where that has two levels.
void trace_by_thread(const Device& device, const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count,
                     const Stream& stream);

/// Adds to *counts, which lies in the device's memory; the first `check` hits by brute force too. In stream order.
void count_exact_hits(const Device& device, const ExactShape& shape, const Ray* rays, const Hit* hits,
                      std::size_t count, std::size_t check, ExactCounts* counts, const Stream& stream);

}  // namespace raylift::bench
