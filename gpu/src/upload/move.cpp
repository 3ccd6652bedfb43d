// SPDX-License-Identifier: Apache-2.0
// Solids that move or hide: new transforms, and the level of the BVH over instances anew.
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bvh/rebuild_instances.h"
#include "device/run_on.h"
#include "geometry/src/bvh/instance_box.h"
#include "move_kernels.h"
#include "moving.h"

namespace raylift {
namespace {

using detail::MovedInstance;

void check_solids(std::span<const std::uint32_t> solids, std::uint32_t count, bool once) {
  std::vector<bool> given(once ? count : 0);
  for (const std::uint32_t solid : solids) {
    if (solid >= count) throw Error(ErrorKind::usage, "the geometry has no solid " + std::to_string(solid));
    if (!once) continue;
    if (given[solid]) throw Error(ErrorKind::usage, "solid " + std::to_string(solid) + " is given twice");
    given[solid] = true;
  }
}

MovedInstance moved(std::uint32_t instance, Transform to_world, const double (&origin)[3]) {
  for (const double value : to_world.m)
    if (!std::isfinite(value))
      throw Error(ErrorKind::usage, "the transform of solid " + std::to_string(instance) + " is not finite");
  for (int a = 0; a != 3; ++a) to_world.m[4 * a + 3] -= origin[a];
  MovedInstance result{};
  const double* m = to_world.m;
  const double determinant =
      m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]);
  const auto set = [](Affine& to, const Transform& from) {
    for (int i = 0; i != 12; ++i) to.m[i] = static_cast<float>(from.m[i]);
  };
  set(result.to_world, to_world);
  std::fill(std::begin(result.frame.m), std::end(result.frame.m), 0.0);
  if (determinant != 0 && std::isfinite(1 / determinant)) result.frame = bvh_detail::inverse(to_world);
  set(result.to_mesh, result.frame);
  result.instance = instance;
  result.mirrored = determinant < 0 ? 1 : 0;
  return result;
}

/// A transform's inverse is all zero where there is none.
bool is_singular(const MovedInstance& instance) {
  return std::all_of(std::begin(instance.to_mesh.m), std::end(instance.to_mesh.m), [](float x) { return x == 0; });
}

/// Puts what has moved in its place.
void put(const Device& device, std::span<const MovedInstance> moved, Memory& instances, Memory* fine,
         StreamRef stream) {
  PooledBuffer<MovedInstance> staged(device, stream, moved.size());
  staged.copy_from(moved, stream);
  auto* const to = instances.as<InstanceView>();
  auto* const frames = fine == nullptr ? nullptr : fine->as<Transform>();
  detail::run_on(
      device, "put_instances",
      [&] { return cuda::launch_put_instances(staged.device(), moved.size(), to, frames, stream.handle()); },
      [&] {
        device.synchronize(stream);
        for (const MovedInstance& one : moved) one.put(to, frames);
      });
}

}  // namespace

detail::Moving& GpuGeometry::moving() {
  if (!moving_) moving_ = std::make_shared<detail::Moving>();
  return *moving_;
}

detail::MovingInstances& GpuGeometry::moving_instances(StreamRef stream) {
  if (view_.solid_ids != nullptr)
    throw Error(ErrorKind::usage, "solids of a flattened scene can't move", {}, "upload it in two levels");
  if (view_.bvh_levels != 2 && view_.instance_count != 0)
    throw Error(ErrorKind::usage, "the geometry has no BVH over its solids", {}, "upload it with UploadOptions::bvh");
  std::optional<detail::MovingInstances>& instances = moving().instances;
  if (!instances) instances.emplace(device(), array(ViewArray::nodes), view_.instance_count, stream);
  return *instances;
}

void GpuGeometry::rebuild_instance_level(StreamRef stream) {
  view_.reach = detail::rebuild_instance_level(device(), array(ViewArray::nodes), array(ViewArray::instances),
                                               moving_instances(stream).pieces(), view_.reach, stream);
}

void GpuGeometry::set_transforms(std::span<const std::uint32_t> solids, std::span<const Transform> transforms,
                                 StreamRef stream) {
  if (solids.size() != transforms.size())
    throw Error(ErrorKind::usage, std::to_string(transforms.size()) + " transforms were given for " +
                                      std::to_string(solids.size()) + " solids");
  check_solids(solids, view_.instance_count, true);
  if (solids.empty()) return;
  detail::MovingInstances& known = moving_instances(stream);
  std::vector<MovedInstance> all(solids.size());
  tbb::parallel_for(std::size_t{0}, all.size(),
                    [&](std::size_t i) { all[i] = moved(solids[i], transforms[i], view_.origin); });
  for (const MovedInstance& one : all) known.set_singular(one.instance, is_singular(one));
  put(device(), all, array(ViewArray::instances), view_.is_fine() ? &array(ViewArray::frames) : nullptr, stream);
  rebuild_instance_level(stream);
}

void GpuGeometry::set_visible(std::span<const std::uint32_t> solids, bool visible, StreamRef stream) {
  check_solids(solids, view_.instance_count, false);
  if (solids.empty()) return;
  detail::MovingInstances& known = moving_instances(stream);
  for (const std::uint32_t solid : solids) known.set_visible(solid, visible);
  rebuild_instance_level(stream);
}

}  // namespace raylift
