// SPDX-License-Identifier: Apache-2.0
// Rays that lie close together, through the tree as one: the 32 rays of a warp.
//
// A node is tested once for all of them, by interval arithmetic (Boulos, Wald, Shirley, "Geometric and Arithmetic
// Culling Methods for Entire Ray Packets", UUCS-06-010, 2006): lane 4c + a looks at axis a of child c. The pairs of the
// leaves are tested by each ray. Walk and stack are the same in all lanes; the stack lies in their registers.
#pragma once

#include <raylift/geometry/bvh/ray.h>

namespace raylift::bvh_detail {

inline constexpr unsigned kWholeWarp = 0xFFFFFFFFu;

// One instruction each, from compute capability 8.0 on.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__device__ inline int min_of_warp(int value) {
  return __reduce_min_sync(kWholeWarp, value);
}
__device__ inline int max_of_warp(int value) {
  return __reduce_max_sync(kWholeWarp, value);
}
__device__ inline std::uint32_t and_of_warp(std::uint32_t value) {
  return __reduce_and_sync(kWholeWarp, value);
}
__device__ inline std::uint32_t or_of_warp(std::uint32_t value) {
  return __reduce_or_sync(kWholeWarp, value);
}
#else
template <class T, class Combine>
__device__ inline T combine_warp(T value, const Combine& combine) {
  for (int distance = 1; distance != 32; distance *= 2)
    value = combine(value, __shfl_xor_sync(kWholeWarp, value, distance));
  return value;
}
__device__ inline int min_of_warp(int value) {
  return combine_warp(value, [](int a, int b) { return min(a, b); });
}
__device__ inline int max_of_warp(int value) {
  return combine_warp(value, [](int a, int b) { return max(a, b); });
}
__device__ inline std::uint32_t and_of_warp(std::uint32_t value) {
  return combine_warp(value, [](std::uint32_t a, std::uint32_t b) { return a & b; });
}
__device__ inline std::uint32_t or_of_warp(std::uint32_t value) {
  return combine_warp(value, [](std::uint32_t a, std::uint32_t b) { return a | b; });
}
#endif

// The least and the most of floats: as integers of the same order.
struct Extremes {
  float least, most;
};
__device__ inline Extremes extremes_of_warp(float value, bool counts) {
  const int bits = __float_as_int(value), ordered = bits ^ (bits >> 31 & 0x7FFFFFFF);
  const int least = min_of_warp(counts ? ordered : 0x7FFFFFFF), most = max_of_warp(counts ? ordered : -0x7FFFFFFF);
  return {__int_as_float(least ^ (least >> 31 & 0x7FFFFFFF)), __int_as_float(most ^ (most >> 31 & 0x7FFFFFFF))};
}
// The most of values that are not negative, or don't count.
__device__ inline float most_of_warp(float value) {
  return __int_as_float(max_of_warp(__float_as_int(value)));
}

// What a walk keeps of its lanes in shared memory: it has no registers left, and what a GPU writes to a thread's own
// memory goes to the L2. Of one block of kPacketThreads threads.
inline constexpr unsigned kPacketThreads = 128;
struct PacketMemory {
  ::float4 axis[2][kPacketThreads], ray[3][kPacketThreads];
  float least_far_z[kPacketThreads];
  Candidate cold[kPacketThreads];
};
__device__ inline PacketMemory& packet_memory() {
  __shared__ PacketMemory memory;
  return memory;
}
// What PacketAxis saves, in two-level walks.
__device__ inline ::float4* saved_axis() {
  __shared__ ::float4 saved[2 * kPacketThreads];
  return saved;
}
// The cold state of a thread's query.
__device__ inline Cold packet_cold() {
  return Cold(packet_memory().cold + threadIdx.x);
}

// Read when it is asked for, and not kept.
__device__ inline ::float4 read_shared(const ::float4& at) {
  ::float4 four;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&at)))
               : "memory");
  return four;
}

// A lane's bounds over all rays: along its axis, or, for the fourth of a child's lanes, of the intervals that count.
class PacketAxis {
 public:
  std::uint32_t order;  // of all rays

  __device__ explicit PacketAxis(PacketMemory& memory) : order(0), memory_(memory) {
    const int axis = this->axis(), child = static_cast<int>(threadIdx.x >> 2 & 7u);
    corner_ = axis == 3 ? 0 : 4 * axis;
    lower_ = axis == 3 ? 0 : 32 + 8 * axis + child;
  }

  // The bounds in the world's frame are kept while the rays are in a mesh's: at a place that is passed in, so that
  // kernels for one level have none.
  __device__ void save(::float4* place) const {
    place[threadIdx.x] = memory_.axis[0][threadIdx.x];
    place[kPacketThreads + threadIdx.x] = memory_.axis[1][threadIdx.x];
  }
  __device__ void restore(const ::float4* place, std::uint32_t world_order, float tmax) {
    memory_.axis[0][threadIdx.x] = place[threadIdx.x];
    ::float4 slack = place[kPacketThreads + threadIdx.x];
    if (axis() == 3) slack.z = tmax;
    memory_.axis[1][threadIdx.x] = slack;
    order = world_order;
    choose_planes();
  }
  // Into the frame of a mesh that is only moved: sums round the least and the most as they round what lies between.
  __device__ void move(Float3 by, float farthest_tmin) {
    const int mine = axis();
    if (mine == 3) return;
    const float own = mine == 0 ? by.x : mine == 1 ? by.y : by.z;
    ::float4& line = memory_.axis[0][threadIdx.x];
    ::float4& slack = memory_.axis[1][threadIdx.x];
    line.x += own;
    line.y += own;
    slack.y = slack.z = farthest_tmin * 0x1p-20f;
  }

  // False: they do not go the same way along each axis, of which `but` do not count: no box is left out by its planes
  // across that axis then. All lanes call it; those whose ray does not count, not `active`, as well.
  __device__ bool set(const PreparedRay& ray, bool active, float tmin, float tmax, int but) {
    order = and_of_warp(active ? ray.order() : 7u);
    const std::uint32_t both_ways = order ^ or_of_warp(active ? ray.order() : 0u);
    if (count_bits(both_ways) > but) return false;
    const float origin[3] = {ray.origin.x, ray.origin.y, ray.origin.z};
    const int mine = axis();
    float widest = 0, first = 0, last = 0, least = 0, most = 0, far = 0;
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      const Extremes origins = extremes_of_warp(origin[a], active);
      // Magnitudes: all have one sign.
      const int magnitude = __float_as_int(fabsf(ray.inverse[a]));
      const float least_here = __int_as_float(min_of_warp(active ? magnitude : 0x7FFFFFFF)),
                  most_here = __int_as_float(max_of_warp(active ? magnitude : 0)),
                  far_here = most_of_warp(active ? ray.least_far[a] : 0.0f);
      if ((both_ways >> a & 1u) == 0) widest = fmaxf(widest, most_here);
      first = mine == a ? origins.least : first;
      last = mine == a ? origins.most : last;
      least = mine == a ? least_here : least;
      most = mine == a ? most_here : most;
      far = mine == a ? far_here : far;
    }
    const bool forward = (order >> mine & 1u) != 0, is_stretch = mine == 3;
    memory_.axis[0][threadIdx.x] = {forward ? last : first, forward ? first : last, forward ? least : -most,
                                    forward ? most : -least};
    memory_.axis[1][threadIdx.x] = {most * 0x1p-20f, is_stretch ? -tmin : far * 0x1p-20f,
                                    is_stretch ? tmax : far * 0x1p-20f, 0};
    if (!is_stretch && (both_ways >> mine & 1u) != 0) {
      const float infinite = __int_as_float(0x7F800000);
      memory_.axis[0][threadIdx.x] = {0, 0, 0, 0};
      memory_.axis[1][threadIdx.x] = {0, infinite, infinite, 0};
    }
    choose_planes();
    // Products with what is larger could overflow.
    return widest < 0x1p66f;
  }

  __device__ void shorten(float tmax) {
    if ((threadIdx.x & 3u) == 3) memory_.axis[1][threadIdx.x].z = tmax;
  }

  // The bits, four each, of the slots whose boxes some ray may meet in its stretch.
  //
  // A plane's distance from an origin is rounded twice, which with the product and the inverse's own rounding makes an
  // error of t of at most 2^-24 (4 |distance| + 255 |step|) |inverse|. What is left of the slack is for the rounding of
  // the hit's t that a box is compared with, as in plane_slack.
  __device__ std::uint32_t meet(const BvhNode* node, std::uint32_t exponents) const {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(node);
    // near and far origin, least and most inverse; share of a distance: what rounding does to it in terms of t; what is
    // added before and behind the stretch within a child's planes
    const ::float4 line = read_shared(memory_.axis[0][threadIdx.x]), slack = read_shared(memory_.axis[1][threadIdx.x]);
    const float at = __ldg(reinterpret_cast<const float*>(bytes + corner_));
    const auto steps = [](std::uint8_t byte) { return __uint_as_float(0x4B000000u | byte) - 0x1p23f; };
    const float near_steps = steps(__ldg(bytes + near_plane_)), far_steps = steps(__ldg(bytes + far_plane_));
    const float step = __uint_as_float((exponents >> 2 * corner_ & 0xFFu) << 23);
    const float near = fmaf(near_steps, step, at - line.x), far = fmaf(far_steps, step, at - line.y);
    const float error = (fabsf(near) + fabsf(far) + 4096 * step) * slack.x;
    float enter = fminf(near * line.z, near * line.w) - (error + slack.y);
    float leave = fmaxf(far * line.z, far * line.w) + (error + slack.z);
    enter = fmaxf(enter, __shfl_xor_sync(kWholeWarp, enter, 1));
    leave = fminf(leave, __shfl_xor_sync(kWholeWarp, leave, 1));
    enter = fmaxf(enter, __shfl_xor_sync(kWholeWarp, enter, 2));
    leave = fminf(leave, __shfl_xor_sync(kWholeWarp, leave, 2));
    return __ballot_sync(kWholeWarp, enter <= leave);
  }

 private:
  __device__ void choose_planes() {
    const bool forward = (order >> axis() & 1u) != 0, is_stretch = axis() == 3;
    near_plane_ = lower_ + (forward || is_stretch ? 0 : 24);
    far_plane_ = lower_ + (forward && !is_stretch ? 24 : 0);
  }
  [[nodiscard]] __device__ static int axis() {
    return static_cast<int>(threadIdx.x & 3u);
  }

  PacketMemory& memory_;
  int corner_, lower_, near_plane_ = 0, far_plane_ = 0;  // of the lane's child: bytes of a node
};

// What the tests of pairs want of a PreparedRay.
struct PairRay : ShearedRay {
  float inverse;
  __device__ PairRay() : ShearedRay({0, 0, 0}, {0, 0, 1}), inverse(0) {}
  [[nodiscard]] __device__ float inverse_z() const { return inverse; }
};

// A lane's ray, in memory: most nodes have no pair that is met.
class ParkedRay {
 public:
  __device__ explicit ParkedRay(PacketMemory& memory) : memory_(memory) {}
  __device__ void park(const PreparedRay& ray) {
    const unsigned i = threadIdx.x;
    memory_.ray[0][i] = {ray.origin.x, ray.origin.y, ray.origin.z, ray.shear_x};
    memory_.ray[1][i] = {ray.shear_y, __uint_as_float(ray.bits), ray.inverse_z(), ray.least_far[1]};
    memory_.ray[2][i] = {ray.inverse[0], ray.inverse[1], ray.inverse[2], ray.least_far[0]};
    memory_.least_far_z[i] = ray.least_far[2];
  }
  // Elsewhere, on the same way.
  __device__ void move(Float3 origin) {
    ::float4& line = memory_.ray[0][threadIdx.x];
    line.x = origin.x;
    line.y = origin.y;
    line.z = origin.z;
  }
  // As pairs want it, and as boxes do.
  __device__ PairRay pair_ray() const {
    PairRay ray;
    (void)read(ray);
    return ray;
  }
  __device__ PreparedRay ray() const {
    PairRay sheared;
    const float least_far_y = read(sheared);
    const ::float4 inverse = read_shared(memory_.ray[2][threadIdx.x]);
    PreparedRay ray(Ray{LocalPoint(0, 0, 0), 0, {0, 0, 1}, 0});
    static_cast<ShearedRay&>(ray) = sheared;
    ray.inverse[0] = inverse.x;
    ray.inverse[1] = inverse.y;
    ray.inverse[2] = inverse.z;
    ray.least_far[0] = inverse.w;
    ray.least_far[1] = least_far_y;
    ray.least_far[2] = memory_.least_far_z[threadIdx.x];
    return ray;
  }

 private:
  PacketMemory& memory_;
  __device__ float read(PairRay& ray) const {
    const ::float4 a = read_shared(memory_.ray[0][threadIdx.x]), b = read_shared(memory_.ray[1][threadIdx.x]);
    ray.origin = {a.x, a.y, a.z};
    ray.shear_x = a.w;
    ray.shear_y = b.x;
    ray.bits = __float_as_uint(b.y);
    ray.inverse = b.z;
    return b.w;
  }
};
// Where the packet meets so many pairs of a node, each ray's own test of the node comes first: it costs as much as
// testing one pair, and leaves out those that no ray meets.
inline constexpr int kManyPairs = 6;
// A call, for which the walk need not keep registers free.
__device__ __noinline__ inline std::uint32_t own_pairs(const BvhNode* node, PacketMemory* memory, float tmin,
                                                       float tmax) {
  return intersect_node(load_node(node), ParkedRay(*memory).ray(), tmin, tmax).leaves.pairs;
}

// A stack of groups that lies across the lanes: lane i has entries i and 32 + i.
template <bool kScene>
struct PacketStack {
  NodeGroup low{0, 0}, high{0, 0};
  __device__ void push(int& depth, NodeGroup group) {
    const int lane = static_cast<int>(threadIdx.x & 31u);
    if (depth == lane) low = group;
    if (kScene && depth == 32 + lane) high = group;
    ++depth;
  }
  __device__ NodeGroup pop(int& depth) const {
    --depth;
    const bool above = kScene && depth >= 32;
    return {__shfl_sync(kWholeWarp, above ? high.first : low.first, depth & 31),
            __shfl_sync(kWholeWarp, above ? high.bits : low.bits, depth & 31)};
  }
};

// How much a walk may cost before it is given up, in nodes; a pair counts as two.
inline constexpr int kPacketBudget = 384;

// What a lane has to decide when the walk is done: a call, for which the walk would keep registers free.
class OpenPairs {
 public:
  __device__ void add(std::uint32_t pair, std::uint32_t open, std::uint32_t placed) {
    if (count_ < kMax) pairs_[count_] = {pair << 2 | open, placed};
    ++count_;
  }
  // False: they were too many.
  template <class World, class Query>
  __device__ bool decide(const BvhView& bvh, const World& world, Query& query) const {
    if (count_ > kMax) return false;
    for (int i = 0; i < count_; ++i) {
      Query copy = query;
      decide_by_call(bvh, pairs_[i].first >> 2, pairs_[i].first & 3u, world(), pairs_[i].bits, &copy);
      query = copy;
    }
    return true;
  }

 private:
  static constexpr int kMax = 6;
  NodeGroup pairs_[kMax];
  int count_ = 0;
};

// A BVH whose pairs come when a warp wants them has a function that gives nullptr for one that is not there, and the
// query one to stop at it.
template <class Bvh>
__device__ inline const TrianglePair* pair_of_warp(const Bvh& bvh, std::uint32_t pair) {
  if constexpr (requires { bvh.pair_of_warp(pair); })
    return bvh.pair_of_warp(pair);
  else
    return bvh.pair(pair);
}

// How a packet ends: with all that its rays hit; not, as their ways part or they meet too much, or as they part, or
// nearly run along a plane, only in the frame of a mesh that is turned; or at a pair that is not there yet.
enum class PacketEnd { done, parted, parted_in_mesh, stopped };

template <bool kScene, class Bvh, class World, class Query>
__device__ inline PacketEnd walk_packet(const Bvh& bvh, const Ray& start, const World& world, bool active, Query& query,
                                        OpenPairs& undecided) {
  PacketMemory& memory = packet_memory();
  PacketAxis axis(memory);
  const PreparedRay first(start, kScene ? RaySpace::world : RaySpace::mesh);
  // What is not finite is left to others, and so are ways back, for the sake of comparing floats as integers.
  const float reach = fmaxf(fmaxf(fabsf(first.origin.x), fabsf(first.origin.y)), fabsf(first.origin.z));
  const bool plain = query.tmin >= 0 && query.tmin < 0x1p60f && reach < 0x1p60f;
  if (!__all_sync(kWholeWarp, plain || !active)) return PacketEnd::parted;
  const float tmin = extremes_of_warp(query.tmin, active).least;
  const auto tmax = [&] { return most_of_warp(active ? query.farthest() : 0.0f); };
  if (!axis.set(first, active, tmin, tmax(), 0)) return PacketEnd::parted;
  ParkedRay parked(memory);
  parked.park(first);
  [[maybe_unused]] const std::uint32_t world_order = axis.order;
  [[maybe_unused]] bool moves = false, has_world_way = true;
  [[maybe_unused]] float farthest_tmin = 0;
  if constexpr (kScene) {
    moves = __all_sync(kWholeWarp, !active || !first.is_along_a_plane()) != 0;
    farthest_tmin = most_of_warp(active ? query.tmin : 0.0f);
  }
  PacketStack<kScene> stack;
  int depth = 0, mesh_depth = -1, left = kPacketBudget;
  std::uint32_t placed = kNoInstance;
  NodeGroup nodes = only_child(0);
  while (true) {
    if (!any_child(nodes)) {
      if (depth == 0) return PacketEnd::done;
      if constexpr (kScene) {
        if (depth == mesh_depth) {
          mesh_depth = -1;
          axis.restore(saved_axis(), world_order, tmax());
        }
      }
      nodes = stack.pop(depth);
    }
    std::uint32_t child = next_child(nodes, axis.order);
    if (any_child(nodes)) stack.push(depth, nodes);
    std::uint32_t exponents = __ldg(reinterpret_cast<const std::uint32_t*>(bvh.node(child)) + 3);
    if constexpr (kScene) {
      if (mesh_depth < 0 && exponents == 0) {
        const InstanceNode instance = load_node(bvh.node(child)).instance();
        axis.save(saved_axis());
        if (moves && only_moves(instance)) {
          if (!has_world_way) parked.park(PreparedRay(world(), RaySpace::world));
          has_world_way = true;
          axis.move(moved(instance, {0, 0, 0}), farthest_tmin);
          parked.move(moved(instance, world().origin));
        } else {
          const PreparedRay turned(in_mesh(instance, world()), RaySpace::mesh);
          if (!axis.set(turned, active, tmin, tmax(), 1)) return PacketEnd::parted_in_mesh;
          parked.park(turned);
          has_world_way = false;
        }
        placed = child;
        mesh_depth = depth;
        child = instance.root;
        exponents = __ldg(reinterpret_cast<const std::uint32_t*>(bvh.node(child)) + 3);
        left -= 4;
      }
    }
    const BvhNode* const node = bvh.node(child);
    const ::uint4 links = __ldg(reinterpret_cast<const ::uint4*>(node) + 1);  // first child, first pair, pairs, inner
    const std::uint32_t met = axis.meet(node, exponents);
    nodes = {links.x, in_ray_order(met & links.w, axis.order) | links.w << 1};
    PairHits hits{met & links.z, links.z, links.y};
    if (--left < 0) return PacketEnd::parted;
    if (hits.pairs == 0) continue;
    if (count_bits(hits.pairs) >= kManyPairs) {
      const std::uint32_t own = own_pairs(node, &memory, query.tmin, query.farthest());
      hits.pairs &= or_of_warp(active ? own : 0u);
      left -= 2;
      if (hits.pairs == 0) continue;
    }
    const PairRay ray = parked.pair_ray();
    do {
      const std::uint32_t pair = next_pair(hits);
      left -= 2;
      const TrianglePair* const at = pair_of_warp(bvh, pair);
      if constexpr (requires { query.stop_at(pair); }) {
        if (at == nullptr) {
          query.stop_at(pair);
          return PacketEnd::stopped;
        }
      }
      if (active)
        if (const std::uint32_t open = intersect_pair_at(bvh, at, pair, ray, placed, query); open != 0)
          undecided.add(pair, open, placed);
    } while (hits.pairs != 0);
    axis.shorten(tmax());
  }
}

// The walk of all lanes' rays; those that are not `active` have none. Where it is not done, nothing is known of any of
// them. A lane's ray is `start`, and world() again, read anew where few need it.
template <bool kScene, class Bvh, class World, class Query>
__device__ inline PacketEnd traverse_packet(const Bvh& bvh, const Ray& start, const World& world, bool active,
                                            Query& query) {
  if (bvh.node_count == 0 || !__any_sync(kWholeWarp, active)) return PacketEnd::done;
  OpenPairs undecided;
  const PacketEnd end = walk_packet<kScene>(bvh, start, world, active, query, undecided);
  if (end != PacketEnd::done) return end;
  return __all_sync(kWholeWarp, undecided.decide(bvh, world, query)) ? PacketEnd::done : PacketEnd::parted;
}

}  // namespace raylift::bvh_detail
