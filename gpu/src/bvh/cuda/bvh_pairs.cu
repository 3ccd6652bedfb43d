// SPDX-License-Identifier: Apache-2.0
// Pairs of neighbouring triangles: found, sorted along a Morton curve, and written in the order of the leaves.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "bvh_phases.h"

namespace raylift::cuda {
namespace {

constexpr int kPairBlock = 256;   // triangles that are paired among each other
constexpr int kPairReach = 4;     // how far apart they stand, at most
constexpr unsigned kGroup = 512;  // blocks per group: pairs are counted per block and per group
constexpr unsigned kVerticesEach = 8;

__device__ std::uint32_t corner(const UInt3& t, int k) {
  return k == 0 ? t.x : k == 1 ? t.y : t.z;
}
__device__ int next_corner(int k) {
  return k == 2 ? 0 : k + 1;
}
__device__ bool degenerate(const UInt3& t) {
  return t.x == t.y || t.y == t.z || t.z == t.x;
}

struct Box {
  float lower[3], upper[3];
  __device__ void clear() {
    for (int a = 0; a < 3; ++a) {
      lower[a] = INFINITY;
      upper[a] = -INFINITY;
    }
  }
  __device__ void add(Float3 v) {
    lower[0] = fminf(lower[0], v.x);
    lower[1] = fminf(lower[1], v.y);
    lower[2] = fminf(lower[2], v.z);
    upper[0] = fmaxf(upper[0], v.x);
    upper[1] = fmaxf(upper[1], v.y);
    upper[2] = fmaxf(upper[2], v.z);
  }
  __device__ float half_area() const {
    const float x = upper[0] - lower[0], y = upper[1] - lower[1], z = upper[2] - lower[2];
    return x * y + y * z + z * x;
  }
};

__device__ Box box_of(const Float3* vertices, const UInt3& t) {
  Box box;
  box.clear();
  box.add(vertices[t.x]);
  box.add(vertices[t.y]);
  box.add(vertices[t.z]);
  return box;
}

// How two triangles share an edge in opposite directions: the corner of each that is not on it; false if they don't.
__device__ bool share_edge(const UInt3& a, const UInt3& b, int& corner_a, int& corner_b) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (corner(a, next_corner(i)) == corner(b, next_corner(next_corner(j))) &&
          corner(a, next_corner(next_corner(i))) == corner(b, next_corner(j))) {
        corner_a = i;
        corner_b = j;
        return true;
      }
  return false;
}

__device__ bool good_pair(const Float3* vertices, const UInt3& a, const UInt3& b) {
  int i, j;
  if (degenerate(a) || degenerate(b) || !share_edge(a, b, i, j)) return false;
  const Box of_a = box_of(vertices, a), of_b = box_of(vertices, b);
  Box both = of_a;
  both.add(vertices[corner(b, j)]);
  // A pair whose box is larger than both triangles' apart would be worse than two leaves.
  return both.half_area() <= 1.1f * (of_a.half_area() + of_b.half_area());
}

// The box of all vertices, and whether one is out of bounds, by one block of so many.
__device__ void bound(const Float3* __restrict__ vertices, std::uint32_t count, unsigned block, VertexBounds* bounds) {
  __shared__ std::uint32_t of_block[6];
  if (threadIdx.x < 6) of_block[threadIdx.x] = 0;
  __syncthreads();
  std::uint32_t farthest[6] = {};
  bool good = true;
  const std::uint32_t first = block * (kPairBlock * kVerticesEach) + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < kVerticesEach; ++k)
    if (const std::uint32_t i = first + k * kPairBlock; i < count) {
      const Float3 v = vertices[i];
      const float at[3] = {v.x, v.y, v.z};
#pragma unroll
      for (int a = 0; a < 3; ++a) {
        good = good && fabsf(at[a]) <= kBvhFarthest;
        farthest[a] = max(farthest[a], ordered(at[a]));
        farthest[3 + a] = max(farthest[3 + a], ordered(-at[a]));
      }
    }
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    farthest[k] = max_of_warp(farthest[k]);
    if (threadIdx.x % 32 == 0) atomicMax(&of_block[k], farthest[k]);
  }
  const bool all_good = __syncthreads_and(good) != 0;
  if (threadIdx.x < 6) atomicMax(&bounds->farthest[threadIdx.x], of_block[threadIdx.x]);
  if (threadIdx.x == 0 && !all_good) atomicOr(&bounds->bad, 1u);
}

// By the first blocks the box of the vertices; by the others mates[t]: how far off the triangle is that t is paired
// with; 0: none. They depend on nothing of each other's, so they run at the same time.
__global__ void __launch_bounds__(kPairBlock)
    match(const Float3* __restrict__ vertices, std::uint32_t vertex_count, const UInt3* __restrict__ triangles,
          std::uint32_t count, bool pair, unsigned blocks_of_bounds, std::int8_t* mates, PairCounts pairs,
          BuildState* state) {
  if (blockIdx.x < blocks_of_bounds) {
    bound(vertices, vertex_count, blockIdx.x, &state->bounds);
    return;
  }
  const unsigned block_of_triangles = blockIdx.x - blocks_of_bounds;
  __shared__ UInt3 block[kPairBlock];
  __shared__ std::int8_t mate[kPairBlock];
  const int k = static_cast<int>(threadIdx.x);
  const std::uint32_t first = block_of_triangles * kPairBlock;
  const int here = static_cast<int>(min(static_cast<std::uint32_t>(kPairBlock), count - first));
  if (k < here) {
    UInt3 t = triangles[first + k];
    if (t.x >= vertex_count || t.y >= vertex_count || t.z >= vertex_count) {
      atomicOr(&state->bad, 1u);
      t = {0, 0, 0};
    }
    block[k] = t;
  }
  mate[k] = 0;
  __syncthreads();
  bool paired = !pair;
  for (int reach = 1; reach <= kPairReach && !paired; ++reach)
    for (int parity = 0; parity < 2 && !paired; ++parity) {
      // Full warps look at the triangles that may be the first of a pair, every other `reach` of them.
      const int i = k / reach * 2 * reach + k % reach + parity * reach;
      if (i + reach < here && mate[i] == 0 && mate[i + reach] == 0 && good_pair(vertices, block[i], block[i + reach])) {
        mate[i] = static_cast<std::int8_t>(reach);
        mate[i + reach] = static_cast<std::int8_t>(-reach);
      }
      __syncthreads();
      paired = __syncthreads_and(k >= here || mate[k] != 0) != 0;
    }
  const bool head = k < here && mate[k] >= 0;
  const int heads_here = __syncthreads_count(head);
  if (k < here) mates[first + k] = mate[k];
  if (k == 0) {
    pairs.of_block[block_of_triangles] = static_cast<std::uint32_t>(heads_here);
    atomicAdd(&pairs.of_group[block_of_triangles / kGroup], static_cast<std::uint32_t>(heads_here));
    atomicAdd(&state->pairs, static_cast<std::uint32_t>(heads_here));
  }
}

// A plane of the curve's cells has one for each pair of a surface, as far as a key has the bits: up to 2^25 pairs. More
// cells give no better trees.
__host__ __device__ KeyLayout layout_of(std::uint32_t pairs) {
  int bits = 6;
  while (std::uint64_t{1} << (2 * bits) < pairs) ++bits;
  return {pairs, bits};
}

// The pairs of the blocks before this one. Valid in thread 0 only.
__device__ std::uint32_t pairs_before_block(const PairCounts& pairs) {
  using Reduce = cub::BlockReduce<std::uint32_t, kPairBlock>;
  __shared__ typename Reduce::TempStorage storage;
  const std::uint32_t group = blockIdx.x / kGroup;
  std::uint32_t before = 0;
  for (std::uint32_t g = threadIdx.x; g < group; g += kPairBlock) before += pairs.of_group[g];
  for (std::uint32_t b = group * kGroup + threadIdx.x; b < blockIdx.x; b += kPairBlock) before += pairs.of_block[b];
  return Reduce(storage).Sum(before);
}

// Each pair's numbers, box, and key.
__global__ void __launch_bounds__(kPairBlock)
    make_pairs(const Float3* __restrict__ vertices, const UInt3* __restrict__ triangles, std::uint32_t count,
               const std::int8_t* __restrict__ mates, PairCounts pairs, bvh_detail::PairIds* ids, Cluster* boxes,
               std::uint64_t* keys, std::uint32_t* arrived, const BuildState* state) {
  using Scan = cub::BlockScan<std::uint32_t, kPairBlock>;
  __shared__ typename Scan::TempStorage scan;
  __shared__ std::uint16_t heads[kPairBlock];  // the first triangles of the block's pairs, in it, and their mates
  __shared__ std::int8_t mates_of_heads[kPairBlock];
  __shared__ std::uint32_t pairs_before;
  if (state->bad != 0) return;  // an index leads nowhere
  const std::uint32_t first = blockIdx.x * kPairBlock;
  const int mate_of_this = first + threadIdx.x < count ? mates[first + threadIdx.x] : -1;
  const std::uint32_t before = pairs_before_block(pairs);
  if (threadIdx.x == 0) pairs_before = before;
  std::uint32_t rank = 0, pairs_here = 0;
  Scan(scan).ExclusiveSum(mate_of_this >= 0 ? 1u : 0u, rank, pairs_here);
  if (mate_of_this >= 0) {
    heads[rank] = static_cast<std::uint16_t>(threadIdx.x);
    mates_of_heads[rank] = static_cast<std::int8_t>(mate_of_this);
  }
  __syncthreads();
  // From here on a thread for each pair, so that warps are full.
  if (threadIdx.x >= pairs_here) return;
  const std::uint32_t t = first + heads[threadIdx.x], place = pairs_before + threadIdx.x;
  const int mate = mates_of_heads[threadIdx.x];
  const UInt3 a = triangles[t];
  Box box = box_of(vertices, a);
  bvh_detail::PairIds pair{{t << 2, kNoTriangle}};
  if (mate > 0) {
    const UInt3 b = triangles[t + mate];
    int i = 0, j = 0;
    share_edge(a, b, i, j);
    box.add(vertices[corner(b, j)]);
    pair = {{t << 2 | static_cast<unsigned>(i), (t + mate) << 2 | static_cast<unsigned>(next_corner(j))}};
  }
  ids[place] = pair;
  float extent = 0;
  float lower[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    lower[axis] = state->bounds.lower(axis);
    extent = fmaxf(extent, state->bounds.upper(axis) - lower[axis]);
  }
  const KeyLayout layout = layout_of(state->pairs);
  const float cells = static_cast<float>(1u << layout.axis_bits), scale = extent > 0 ? cells / extent : 0;
  std::uint64_t on_curve = 0;
  Cluster cluster;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    cluster.lower[axis] = box.lower[axis];
    cluster.upper[axis] = box.upper[axis];
    const float middle = 0.5f * (box.lower[axis] + box.upper[axis]);
    const float cell = fminf(fmaxf((middle - lower[axis]) * scale, 0.0f), cells - 1);
    on_curve |= spread(static_cast<std::uint32_t>(cell)) << axis;
  }
  cluster.left = place;
  cluster.right = kNone;
  boxes[place] = cluster;
  keys[place] = layout.key(on_curve, place);
  arrived[place] = kNone;
}

// The leaves' vertices, in the order of the leaves; of a tree that is too deep, whose order is not whole, none.
__global__ void write_leaves(const Float3* __restrict__ vertices, const UInt3* __restrict__ triangles,
                             const bvh_detail::PairIds* __restrict__ unordered_ids,
                             const std::uint32_t* __restrict__ order, std::uint32_t count,
                             bvh_detail::TrianglePair* pairs, bvh_detail::PairIds* ids, const BuildState* state) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || state->levels > kBvhMaxDepth) return;
  const bvh_detail::PairIds pair = unordered_ids[order[i]];
  const UInt3 a = triangles[pair.triangle[0] >> 2];
  const int r = static_cast<int>(pair.triangle[0] & 3u);
  const Float3 v0 = vertices[corner(a, r)], v1 = vertices[corner(a, next_corner(r))],
               v2 = vertices[corner(a, next_corner(next_corner(r)))];
  Float3 v3 = v2;
  if (pair.triangle[1] != kNoTriangle) {
    const UInt3 b = triangles[pair.triangle[1] >> 2];
    v3 = vertices[corner(b, next_corner(next_corner(static_cast<int>(pair.triangle[1] & 3u))))];
  }
  float4* target = reinterpret_cast<float4*>(pairs + i);
  target[0] = make_float4(v0.x, v0.y, v0.z, v1.x);
  target[1] = make_float4(v1.y, v1.z, v2.x, v2.y);
  target[2] = make_float4(v2.z, v3.x, v3.y, v3.z);
  ids[i] = pair;
}

unsigned pair_blocks(const Build& build) {
  return (build.input.triangle_count + kPairBlock - 1) / kPairBlock;
}

// Number bits need no sorting: keys arrive ordered by number, and the radix sort is stable.
cudaError_t sort_by_place(void* scratch, std::size_t& bytes, cub::DoubleBuffer<std::uint64_t>& keys,
                          std::uint32_t count, const KeyLayout& layout, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, static_cast<std::int64_t>(count), layout.number_bits,
                                        layout.number_bits + 3 * layout.axis_bits, stream);
}

}  // namespace

Matches match_triangles(const Build& build) {
  const BuildInput& input = build.input;
  const unsigned blocks = pair_blocks(build), groups = (blocks + kGroup - 1) / kGroup;
  const std::size_t each = kPairBlock * kVerticesEach;
  const auto blocks_of_bounds = static_cast<unsigned>((input.vertex_count + each - 1) / each);
  const Matches matches{build.take<std::int8_t>(input.triangle_count),
                        {build.take<std::uint32_t>(blocks), build.take<std::uint32_t>(groups)}};
  check(cudaMemsetAsync(matches.pairs.of_group, 0, groups * sizeof(std::uint32_t), build.stream), "clearing memory");
  match<<<blocks_of_bounds + blocks, kPairBlock, 0, build.stream>>>(
      input.vertices, input.vertex_count, input.triangles, input.triangle_count, input.pair_triangles, blocks_of_bounds,
      matches.mates, matches.pairs, build.state);
  return matches;
}

PlacedPairs place_pairs(const Build& build, const Matches& matches, std::uint32_t room) {
  const BuildInput& input = build.input;
  const PlacedPairs placed{build.take<bvh_detail::PairIds>(room), build.take<Cluster>(room),
                           build.take<std::uint64_t>(std::size_t{room} * 2), build.take<std::uint32_t>(room)};
  make_pairs<<<pair_blocks(build), kPairBlock, 0, build.stream>>>(
      input.vertices, input.triangles, input.triangle_count, matches.mates, matches.pairs, placed.ids, placed.boxes,
      placed.keys, placed.arrived, build.state);
  return placed;
}

SortScratch scratch_to_sort(const Build& build, std::uint32_t room, const KeyLayout& layout) {
  cub::DoubleBuffer<std::uint64_t> none;
  std::size_t bytes = 0;
  check(sort_by_place(nullptr, bytes, none, room, layout, build.stream), "sorting along the curve");
  return {build.take<char>(bytes), bytes};
}

SortScratch scratch_to_sort_pairs(const Build& build, std::uint32_t room) {
  return scratch_to_sort(build, room, layout_of(room));
}

const std::uint64_t* sort_keys(const Build& build, std::uint64_t* keys, SortScratch scratch, std::uint32_t room,
                               std::uint32_t count, const KeyLayout& layout) {
  cub::DoubleBuffer<std::uint64_t> buffer(keys, keys + room);
  check(sort_by_place(scratch.memory, scratch.bytes, buffer, count, layout, build.stream), "sorting along the curve");
  return buffer.Current();
}

SortedPairs sort_pairs(const Build& build, const PlacedPairs& placed, SortScratch scratch, std::uint32_t room,
                       std::uint32_t count) {
  const KeyLayout layout = layout_of(count);
  return {count,  placed.ids,    placed.boxes, sort_keys(build, placed.keys, scratch, room, count, layout),
          layout, placed.arrived};
}

void write_pairs(const Build& build, const SortedPairs& pairs, const std::uint32_t* order,
                 bvh_detail::TrianglePair* leaves, bvh_detail::PairIds* ids) {
  write_leaves<<<(pairs.count + 255) / 256, 256, 0, build.stream>>>(
      build.input.vertices, build.input.triangles, pairs.ids, order, pairs.count, leaves, ids, build.state);
}

}  // namespace raylift::cuda
