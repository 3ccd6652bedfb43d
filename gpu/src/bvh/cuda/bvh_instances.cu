// SPDX-License-Identifier: Apache-2.0
// The level over instances: boxes of instances in the world, then the phases that meshes have too, then numbers anew,
// as the leaves of that tree become nodes that lead into the meshes' trees.
#include "geometry/src/bvh/instance_box.h"

#include <cub/device/device_scan.cuh>

#include "bvh_phases.h"

namespace raylift::cuda {
namespace {

using bvh_detail::box_in_world;
using bvh_detail::frame_slack;
using bvh_detail::InstanceBox;
using bvh_detail::inverse;
using bvh_detail::rounded_down;
using bvh_detail::rounded_up;

constexpr int kThreads = 128;
constexpr int kMaxBits = 21;  // of each axis on the Morton curve

unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

__device__ std::uint32_t this_thread() {
  return blockIdx.x * kThreads + threadIdx.x;
}

// Rays go into a mesh's frame by `to_mesh` as it is, rounded to floats.
struct Frames {
  Transform to_mesh, to_world;
  __device__ explicit Frames(const InstanceView& instance) : to_mesh(instance.to_mesh), to_world(inverse(to_mesh)) {}
};

__global__ void __launch_bounds__(kThreads)
    bound_pieces(InstanceLevelInput input, InstanceBox* boxes, std::uint32_t* reach_bits) {
  const std::uint32_t i = this_thread();
  if (i >= input.count) return;
  const InstancePiece piece = input.pieces[i];
  const Frames frames(input.instances[piece.instance]);
  boxes[i] = box_in_world(input.nodes, piece.root, frames.to_world);
  // Floats that are not negative compare as their bits do, and what is not a number is the largest.
  atomicMax(reach_bits, __float_as_uint(rounded_up(boxes[i].reach())));
}

// Boxes with their share of rounding, and places on the curve, which goes through the cube of all coordinates.
__global__ void __launch_bounds__(kThreads)
    place_pieces(InstanceLevelInput input, const InstanceBox* boxes, const std::uint32_t* reach_bits, KeyLayout layout,
                 Cluster* clusters, std::uint64_t* keys, std::uint32_t* arrived) {
  const std::uint32_t i = this_thread();
  if (i >= input.count) return;
  const double reach = static_cast<double>(__uint_as_float(*reach_bits));
  const Frames frames(input.instances[input.pieces[i].instance]);
  InstanceBox box = boxes[i];
  const int bits = layout.axis_bits;
  std::uint64_t on_curve = 0;
  for (int a = 0; a < 3; ++a) {
    const double at = 0.5 * (box.lower[a] + box.upper[a]) / reach;  // -1 to 1
    const double cell = fmin(fmax((at + 1) * (1 << (bits - 1)), 0.0), static_cast<double>((1 << bits) - 1));
    on_curve |= spread(static_cast<std::uint32_t>(cell)) << a;
  }
  box.enlarge(frame_slack(frames.to_world, frames.to_mesh, reach));
  Cluster cluster;
  for (int a = 0; a < 3; ++a) {
    cluster.lower[a] = rounded_down(box.lower[a]);
    cluster.upper[a] = rounded_up(box.upper[a]);
  }
  cluster.left = i;
  cluster.right = kNone;
  clusters[i] = cluster;
  keys[i] = layout.key(on_curve, i);
  arrived[i] = kNone;
}

// The wide tree as it was gathered: its leaves are pieces, by their place in `order`.
struct Gathered {
  const bvh_detail::BvhNode* nodes;
  const std::uint32_t* order;
  std::uint32_t most;  // nodes that there may be
  const BuildState* state;

  [[nodiscard]] __device__ std::uint32_t count() const {
    return state->levels > kBvhMaxDepth ? 0 : state->level_ends[state->levels - 1];
  }
};

__global__ void __launch_bounds__(kThreads) count_children(Gathered tree, std::uint32_t* children) {
  const std::uint32_t i = this_thread();
  if (i >= tree.most) return;
  std::uint32_t count = 0;
  if (i < tree.count()) {
    const bvh_detail::BvhNode& node = tree.nodes[i];
    for (int s = 0; s < 8; ++s) count += node.is_empty(s) ? 0 : 1;
  }
  children[i] = count;
}

// Children get their new numbers from their parents, in the order of their slots; instances are written at once.
__global__ void __launch_bounds__(kThreads)
    number_children(InstanceLevelInput input, Gathered tree, const std::uint32_t* children_before,
                    std::uint32_t* new_number) {
  const std::uint32_t i = this_thread();
  if (i >= tree.count()) return;
  if (i == 0) new_number[0] = 0;
  const bvh_detail::BvhNode& node = tree.nodes[i];
  std::uint32_t to = 1 + children_before[i], child = node.first_child, leaf = node.first_pair;
  for (int s = 0; s < 8; ++s) {
    if (node.is_empty(s)) continue;
    if (node.is_inner(s)) {
      new_number[child++] = to++;
      continue;
    }
    const InstancePiece piece = input.pieces[tree.order[leaf++]];
    bvh_detail::InstanceNode instance{};
    instance.root = piece.root;
    instance.instance = piece.instance;
    instance.to_mesh = input.instances[piece.instance].to_mesh;
    memcpy(input.nodes + to++, &instance, sizeof instance);
  }
}

__global__ void __launch_bounds__(kThreads)
    write_nodes(InstanceLevelInput input, Gathered tree, const std::uint32_t* children_before,
                const std::uint32_t* new_number) {
  const std::uint32_t i = this_thread();
  if (i >= tree.count()) return;
  bvh_detail::BvhNode node = tree.nodes[i];
  for (int s = 0; s < 8; ++s)
    if (!node.is_empty(s)) node.inner |= 1u << (4 * s);
  node.first_child = 1 + children_before[i];
  node.first_pair = 0;
  node.pairs = 0;
  input.nodes[new_number[i]] = node;
}

SortedPairs sort_pieces(const Build& build, const InstanceLevelInput& input, const InstanceBox* boxes,
                        const std::uint32_t* reach_bits) {
  const std::uint32_t count = input.count;
  auto* clusters = build.take<Cluster>(count);
  auto* keys = build.take<std::uint64_t>(std::size_t{count} * 2);
  auto* arrived = build.take<std::uint32_t>(count);
  const KeyLayout layout(count, kMaxBits);
  place_pieces<<<blocks_for(count), kThreads, 0, build.stream>>>(input, boxes, reach_bits, layout, clusters, keys,
                                                                 arrived);
  const SortScratch scratch = scratch_to_sort(build, count, layout);
  return {count, nullptr, clusters, sort_keys(build, keys, scratch, count, count, layout), layout, arrived};
}

}  // namespace

BuildOutcome build_instance_level_on_device(const InstanceLevelInput& input, void* on, ScratchMemory& memory,
                                            float& reach) {
  const auto stream = static_cast<cudaStream_t>(on);
  BuildInput of_pieces{};
  of_pieces.leaf_pairs = 1;
  const Build build{of_pieces, stream, memory, static_cast<BuildState*>(memory.scratch(sizeof(BuildState)))};
  check(cudaMemsetAsync(build.state, 0, sizeof(BuildState), stream), "clearing memory");
  auto* reach_bits = build.take<std::uint32_t>(1);
  check(cudaMemcpyAsync(reach_bits, &input.reach, sizeof input.reach, cudaMemcpyHostToDevice, stream),
        "bounding instances");
  auto* boxes = build.take<InstanceBox>(input.count);
  bound_pieces<<<blocks_for(input.count), kThreads, 0, stream>>>(input, boxes, reach_bits);
  const SortedPairs pieces = sort_pieces(build, input, boxes, reach_bits);
  const BinaryNodes inner = build_binary_tree(build, pieces);
  const WideNodes wide = gather_wide_nodes(build, pieces, inner, clear_queue(build, input.count));
  const std::uint32_t most = input.count < 2 ? 1 : input.count - 1;

  const Gathered tree{wide.nodes, wide.order, most, build.state};
  auto* children = build.take<std::uint32_t>(most);
  auto* before = build.take<std::uint32_t>(most);
  auto* new_number = build.take<std::uint32_t>(most);
  count_children<<<blocks_for(most), kThreads, 0, stream>>>(tree, children);
  build.run_cub("numbering nodes", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, children, before, static_cast<int>(most), stream);
  });
  number_children<<<blocks_for(most), kThreads, 0, stream>>>(input, tree, before, new_number);
  write_nodes<<<blocks_for(most), kThreads, 0, stream>>>(input, tree, before, new_number);
  check(cudaGetLastError(), "building the level over instances");
  BuildState seen;
  check(cudaMemcpyAsync(&seen, build.state, sizeof seen, cudaMemcpyDeviceToHost, stream), "building a BVH");
  check(cudaMemcpyAsync(&reach, reach_bits, sizeof reach, cudaMemcpyDeviceToHost, stream), "building a BVH");
  check(cudaStreamSynchronize(stream), "building a BVH");
  return seen.levels > kBvhMaxDepth ? BuildOutcome::too_deep : BuildOutcome::built;
}

}  // namespace raylift::cuda
