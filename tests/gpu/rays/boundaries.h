// SPDX-License-Identifier: Apache-2.0
// Scenes of boxes, and the boundaries in them on each device.
#pragma once

#include <gtest/gtest.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/boundary.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <Eigen/Geometry>
#include <limits>
#include <string>
#include <vector>

#include "support/devices.h"
#ifdef RAYLIFT_WITH_CUDA
#include "gpu/kernels.h"
#endif

namespace raylift::test {

using Corner = Eigen::Vector3d;

/// Boxes, each a solid with a material of its own number, in a tree.
class Boxes {
 public:
  Boxes() { scene_.source = "made in a test"; }

  /// The mesh stands around `frame`, and the instance puts it into place. cuts: along each edge of a face.
  std::uint32_t add(Corner low, Corner high, std::uint32_t mother = kNone, unsigned cuts = 1, Corner frame = {0, 0, 0},
                    bool mirrored = false) {
    const auto number = static_cast<std::uint32_t>(scene_.instances.size());
    const double sign = mirrored ? -1 : 1;
    Mesh mesh;
    mesh.name = "box";
    for (int axis = 0; axis != 3; ++axis)
      for (int side = 0; side != 2; ++side)
        for (unsigned i = 0; i != cuts; ++i)
          for (unsigned j = 0; j != cuts; ++j) {
            const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
            for (unsigned c = 0; c != 4; ++c) {
              Corner p;
              const int u = (axis + 1) % 3, v = (axis + 2) % 3;
              p[axis] = side == 0 ? low[axis] : high[axis];
              p[u] = low[u] + (high[u] - low[u]) * (i + (c & 1U)) / cuts;
              p[v] = low[v] + (high[v] - low[v]) * (j + (c >> 1U)) / cuts;
              p -= frame;
              mesh.vertices.push_back(
                  {static_cast<float>(sign * p.x()), static_cast<float>(p.y()), static_cast<float>(p.z())});
            }
            // Outward as the mesh has it, which a mirror turns around.
            const bool turned = (side == 0) != mirrored;
            const auto triangle = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
              mesh.triangles.push_back(turned ? UInt3{first + a, first + c, first + b}
                                              : UInt3{first + a, first + b, first + c});
            };
            if (number % 2 == 0) {
              triangle(0, 1, 3);
              triangle(0, 3, 2);
            } else {
              triangle(0, 1, 2);
              triangle(1, 3, 2);
            }
          }
    mesh.parts.push_back({0, static_cast<std::uint32_t>(mesh.triangles.size())});
    scene_.meshes.push_back(std::move(mesh));
    scene_.materials.push_back({"m" + std::to_string(number), {}});
    scene_.bindings.push_back({number});
    scene_.nodes.push_back({"n" + std::to_string(number), mother, std::nullopt});
    Instance instance;
    instance.mesh = instance.node = instance.binding = number;
    instance.outside = mother;
    instance.transform = Transform::Translation(frame);
    if (mirrored) instance.transform(0, 0) = -1;
    scene_.instances.push_back(instance);
    return number;
  }
  [[nodiscard]] const Scene& scene() {
    scene_.bounds = world_bounds(scene_);
    return scene_;
  }

 private:
  Scene scene_;
};

inline Containment inside(std::uint32_t solid) {
  return {solid, {kNoSolid, kNoSolid}};
}

class BoundariesOnDevice : public OnDevice {
 protected:
  GpuGeometry put(Boxes& boxes, bool flat = false) {
    UploadOptions options;
    options.bvh = true;
    options.flatten = flat;
    options.reserve = 0;
    options.origin = Eigen::Vector3d::Zero();
    return upload(boxes.scene(), device(), options);
  }
  /// The solid that a boundary's face belongs to.
  std::uint32_t solid_at(Boxes& boxes, bool flat, const Boundary& boundary) {
    UploadOptions options;
    options.flatten = flat;
    const GpuGeometry on_host = upload(boxes.scene(), Device::host(kHostBudget), options);
    return on_host.view().solid_id(boundary.instance, boundary.triangle);
  }
  std::vector<Boundary> next(const GpuGeometry& geometry, const std::vector<FineRay>& rays,
                             const std::vector<Containment>& in) {
    std::vector<Boundary> result(rays.size());
    if (device().info().is_host) {
      for (std::size_t i = 0; i != rays.size(); ++i) result[i] = next_boundary(geometry.view(), rays[i], in[i]);
      return result;
    }
#ifdef RAYLIFT_WITH_CUDA
    const Stream stream(device());
    DeviceBuffer<FineRay> device_rays(device(), rays.size());
    DeviceBuffer<Containment> device_in(device(), in.size());
    const DeviceBuffer<Boundary> found(device(), rays.size());
    device_rays.copy_from(std::span<const FineRay>(rays), stream);
    device_in.copy_from(std::span<const Containment>(in), stream);
    stream.synchronize();
    EXPECT_EQ(0, find_boundaries_on_gpu(geometry.view(), device_rays.device(), device_in.device(), found.device(),
                                        rays.size()));
    found.copy_to(std::span(result), stream);
    stream.synchronize();
#endif
    return result;
  }
  Boundary next(const GpuGeometry& geometry, const FineRay& ray, const Containment& in) {
    return next(geometry, std::vector{ray}, std::vector{in})[0];
  }
  /// By locate(), with directions if there are any.
  std::vector<Containment> find(const GpuGeometry& geometry, const std::vector<Float3>& points,
                                const std::vector<Float3>& directions = {}) {
    std::vector<Containment> result(points.size());
    if (device().info().is_host) {
      for (std::size_t i = 0; i != points.size(); ++i)
        result[i] = directions.empty() ? locate(geometry.view(), LocalPoint(points[i]))
                                       : locate(geometry.view(), LocalPoint(points[i]), directions[i]);
      return result;
    }
#ifdef RAYLIFT_WITH_CUDA
    const Stream stream(device());
    DeviceBuffer<Float3> device_points(device(), points.size()), device_directions(device(), directions.size());
    const DeviceBuffer<Containment> found(device(), points.size());
    device_points.copy_from(std::span<const Float3>(points), stream);
    device_directions.copy_from(std::span<const Float3>(directions), stream);
    stream.synchronize();
    EXPECT_EQ(0,
              locate_on_gpu(geometry.view(), device_points.device(),
                            directions.empty() ? nullptr : device_directions.device(), found.device(), points.size()));
    found.copy_to(std::span(result), stream);
    stream.synchronize();
#endif
    return result;
  }
};

inline constexpr float kForever = std::numeric_limits<float>::infinity();

}  // namespace raylift::test
