// SPDX-License-Identifier: Apache-2.0
#include "rebuild_instances.h"

#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/memory.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "geometry/src/bvh/instance_level.h"
#ifdef RAYLIFT_WITH_CUDA
#include "device/cuda/check.h"
#include "pooled_scratch.h"
#endif

namespace raylift::detail {
namespace {

void check_reach(float reach) {
  if (!(reach < kBvhFarthest))
    throw Error(ErrorKind::limit, "a solid lies beyond 1e18 mm from the origin", {}, "give it another transform");
}

/// The level on the host, from nodes and instances that are there too.
RawVector<bvh_detail::BvhNode> build_on_host(const bvh_detail::BvhNode* nodes, const InstanceView* instances,
                                             std::span<const cuda::InstancePiece> pieces, float& reach) {
  std::vector<bvh::PlacedTree> placed(pieces.size());
  tbb::parallel_for(std::size_t{0}, placed.size(), [&](std::size_t i) {
    const Transform to_mesh(instances[pieces[i].instance].to_mesh);
    placed[i].node.root = pieces[i].root;
    placed[i].node.instance = pieces[i].instance;
    placed[i].node.to_mesh = instances[pieces[i].instance].to_mesh;
    placed[i].box = bvh_detail::box_in_world(nodes, pieces[i].root, bvh_detail::inverse(to_mesh));
  });
  for (const bvh::PlacedTree& p : placed) reach = std::max(reach, bvh_detail::rounded_up(p.box.reach()));
  check_reach(reach);
  tbb::parallel_for(std::size_t{0}, placed.size(), [&](std::size_t i) {
    const Transform to_mesh(placed[i].node.to_mesh);
    placed[i].box.enlarge(bvh_detail::frame_slack(bvh_detail::inverse(to_mesh), to_mesh, static_cast<double>(reach)));
  });
  return bvh::build_instance_level(placed);
}

template <class T>
std::vector<T> to_host(const Memory& memory, StreamRef stream) {
  std::vector<T> values(memory.bytes() / sizeof(T));
  memory.copy_to(std::as_writable_bytes(std::span(values)), stream);
  return values;
}

#ifdef RAYLIFT_WITH_CUDA
/// False where the tree would be too deep.
bool build_on_device(const Device& device, bvh_detail::BvhNode* nodes, const InstanceView* instances,
                     std::span<const cuda::InstancePiece> pieces, float& reach, StreamRef stream) {
  const cuda::CurrentDevice current(device.info().cuda_device);
  cuda::check(current.code(), "selecting " + device.info().id);
  PooledScratch memory(device, stream);
  auto* const given = static_cast<cuda::InstancePiece*>(memory.scratch(pieces.size_bytes()));
  device.backend()->copy_to_device(given, pieces.data(), pieces.size_bytes(), stream.handle());
  const cuda::InstanceLevelInput input{nodes, instances, given, static_cast<std::uint32_t>(pieces.size()), reach};
  return cuda::build_instance_level_on_device(input, stream.handle(), memory, reach) == cuda::BuildOutcome::built;
}
#endif

}  // namespace

float rebuild_instance_level(const Device& device, Memory& nodes, const Memory& instances,
                             std::span<const cuda::InstancePiece> pieces, float reach, StreamRef stream) {
  const auto put = [&](std::span<const bvh_detail::BvhNode> level) {
    nodes.copy_from(std::as_bytes(level), stream);
    device.synchronize(stream);
    return reach;
  };
  const bvh_detail::BvhNode nothing = bvh::empty_node();
  if (pieces.empty()) return put(std::span(&nothing, 1));
  if (device.info().is_host) {
    device.synchronize(stream);
    return put(build_on_host(nodes.as<bvh_detail::BvhNode>(), instances.as<InstanceView>(), pieces, reach));
  }
#ifdef RAYLIFT_WITH_CUDA
  if (build_on_device(device, nodes.as<bvh_detail::BvhNode>(), instances.as<InstanceView>(), pieces, reach, stream)) {
    check_reach(reach);
    return reach;
  }
#endif
  // Too deep a tree for the device's builder, which is seldom.
  const auto all = to_host<bvh_detail::BvhNode>(nodes, stream);
  const auto placed = to_host<InstanceView>(instances, stream);
  device.synchronize(stream);
  return put(build_on_host(all.data(), placed.data(), pieces, reach));
}

}  // namespace raylift::detail
