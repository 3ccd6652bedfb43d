// SPDX-License-Identifier: Apache-2.0
#include "moving.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace raylift::detail {

MovingInstances::MovingInstances(const Device& device, const Memory& nodes, std::size_t instances, StreamRef stream)
    : state_(instances, kShown) {
  // All nodes over instances are among these, whatever was taken to pieces.
  const std::size_t most =
      std::min(nodes.bytes() / sizeof(bvh_detail::BvhNode), bvh::instance_room(2 * instances + 256));
  std::vector<bvh_detail::BvhNode> front(most);
  nodes.copy_to(std::as_writable_bytes(std::span(front)), stream);
  device.synchronize(stream);
  for (std::size_t i = 0, end = 1; i < std::min(end, most); ++i) {
    const auto placed = std::bit_cast<bvh_detail::InstanceNode>(front[i]);
    if (placed.zero == 0)
      pieces_.push_back({placed.root, placed.instance});
    else
      end += static_cast<std::size_t>(std::popcount(front[i].inner));
  }
  const std::size_t room = bvh::instance_room(pieces_.size());
  if (std::any_of(pieces_.begin(), pieces_.end(), [&](const auto& piece) { return piece.root < room; }))
    throw Error(ErrorKind::usage, "the BVH has no room for another level over its instances", {},
                "build it by build_bvh(), or by upload()");
}

std::vector<cuda::InstancePiece> MovingInstances::pieces() const {
  std::vector<cuda::InstancePiece> shown;
  shown.reserve(pieces_.size());
  std::copy_if(pieces_.begin(), pieces_.end(), std::back_inserter(shown),
               [this](const cuda::InstancePiece& piece) { return state_[piece.instance] == kShown; });
  return shown;
}

}  // namespace raylift::detail
