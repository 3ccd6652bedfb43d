// SPDX-License-Identifier: Apache-2.0
// Rays that lie close together, through the tree as one: the 32 rays of a warp.
//
// A node is tested once for all of them, by interval arithmetic (Boulos, Wald, Shirley, "Geometric and Arithmetic
// Culling Methods for Entire Ray Packets", UUCS-06-010, 2006): lane 4c + a looks at axis a of child c. The pairs of the
// leaves are tested by each ray. Walk and stack are the same in all lanes; the stack lies in their registers.
#pragma once

#include <raylift/geometry/bvh/ray.h>

namespace raylift::inline v0_1::bvh_detail {

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

// What a lane knows of all rays: along its axis, or, the fourth of a child's lanes, of the stretches that count.
struct PacketAxis {
  float near_origin, far_origin;      // the rays' extreme origins, as near and far planes want them
  float least_inverse, most_inverse;  // of the directions
  float share;                        // of a distance: what rounding does to it in terms of t
  float before, behind;               // what is added to the stretch within a child's planes
  int corner, near_plane, far_plane;  // of the lane's child: bytes of a node
  int exponent;                       // the lowest of its bits in the node's word
  std::uint32_t order;                // of all rays

  // False: they do not go the same way along each axis. All lanes call it; those whose ray does not count, not
  // `active`, as well.
  __device__ bool set(const PreparedRay& ray, bool active, float tmin, float tmax) {
    order = and_of_warp(active ? ray.order() : 7u);
    if (order != or_of_warp(active ? ray.order() : 0u)) return false;
    const int lane = static_cast<int>(threadIdx.x & 31u), child = lane >> 2;
    const float origin[3] = {ray.origin.x, ray.origin.y, ray.origin.z};
    float widest = 0;
    corner = near_plane = far_plane = exponent = 0;
    near_origin = far_origin = least_inverse = most_inverse = share = 0;
    before = -tmin;
    behind = tmax;
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      const bool forward = (order >> a & 1u) != 0;
      const Extremes origins = extremes_of_warp(origin[a], active);
      // Of one sign.
      const int magnitude = __float_as_int(fabsf(ray.inverse[a]));
      const float least = __int_as_float(min_of_warp(active ? magnitude : 0x7FFFFFFF)),
                  most = __int_as_float(max_of_warp(active ? magnitude : 0));
      const float far = most_of_warp(active ? ray.least_far[a] : 0.0f);
      widest = fmaxf(widest, most);
      if ((lane & 3) != a) continue;
      near_origin = forward ? origins.most : origins.least;
      far_origin = forward ? origins.least : origins.most;
      least_inverse = forward ? least : -most;
      most_inverse = forward ? most : -least;
      share = most * 0x1p-20f;
      before = behind = far * 0x1p-20f;
      corner = 4 * a;
      near_plane = (forward ? 32 : 56) + 8 * a + child;
      far_plane = (forward ? 56 : 32) + 8 * a + child;
      exponent = 8 * a;
    }
    // Products with what is larger could overflow.
    return widest < 0x1p66f;
  }

  __device__ void shorten(float tmax) {
    if ((threadIdx.x & 3u) == 3) behind = tmax;
  }

  // The bits, four each, of the slots whose boxes some ray may meet in its stretch.
  //
  // A plane's distance from an origin is rounded twice, which with the product and the inverse's own rounding makes an
  // error of t of at most 2^-24 (4 |distance| + 255 |step|) |inverse|. What is left of the slack is for the rounding of
  // the hit's t that a box is compared with, as in plane_slack.
  __device__ std::uint32_t meet(const BvhNode* node, std::uint32_t exponents) const {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(node);
    const float at = __ldg(reinterpret_cast<const float*>(bytes + corner));
    const auto steps = [](std::uint8_t byte) { return __uint_as_float(0x4B000000u | byte) - 0x1p23f; };
    const float near_steps = steps(__ldg(bytes + near_plane)), far_steps = steps(__ldg(bytes + far_plane));
    const float step = __uint_as_float((exponents >> exponent & 0xFFu) << 23);
    const float near = fmaf(near_steps, step, at - near_origin), far = fmaf(far_steps, step, at - far_origin);
    const float error = (fabsf(near) + fabsf(far) + 4096 * step) * share;
    float enter = fminf(near * least_inverse, near * most_inverse) - (error + before);
    float leave = fmaxf(far * least_inverse, far * most_inverse) + (error + behind);
    enter = fmaxf(enter, __shfl_xor_sync(kWholeWarp, enter, 1));
    leave = fminf(leave, __shfl_xor_sync(kWholeWarp, leave, 1));
    enter = fmaxf(enter, __shfl_xor_sync(kWholeWarp, enter, 2));
    leave = fminf(leave, __shfl_xor_sync(kWholeWarp, leave, 2));
    return __ballot_sync(kWholeWarp, enter <= leave);
  }
};

// What the tests of pairs want of a PreparedRay.
struct PairRay : ShearedRay {
  float inverse;
  __device__ explicit PairRay(const PreparedRay& ray) : ShearedRay(ray), inverse(ray.inverse_z()) {}
  [[nodiscard]] __device__ float inverse_z() const { return inverse; }
};

// A ray as boxes want it, in memory: the walk has no registers left for it. Few packets want it at all.
class ParkedRay {
 public:
  __device__ void forget() { is_there_ = false; }
  // make() is the ray. By whole warps.
  template <class Make>
  __device__ const PreparedRay& ray(const Make& make) {
    if (!is_there_) {
      const PreparedRay made = make();
      memcpy(&ray_, &made, sizeof made);
      asm volatile("" ::"l"(&ray_) : "memory");
      is_there_ = true;
    }
    return *reinterpret_cast<const PreparedRay*>(&ray_);
  }

 private:
  alignas(PreparedRay) unsigned char ray_[sizeof(PreparedRay)];
  bool is_there_ = false;
};
// Where the packet meets so many pairs of a node, each ray's own test of the node comes first: it costs as much as
// testing one pair, and leaves out those that no ray meets.
inline constexpr int kManyPairs = 4;

// A stack of groups that lies across the lanes: lane i has entries i and 32 + i.
template <bool kScene>
struct PacketStack {
  Group low{0, 0}, high{0, 0};
  __device__ void push(int& depth, Group group) {
    const int lane = static_cast<int>(threadIdx.x & 31u);
    if (depth == lane) low = group;
    if (kScene && depth == 32 + lane) high = group;
    ++depth;
  }
  __device__ Group pop(int& depth) const {
    --depth;
    const bool above = kScene && depth >= 32;
    return {__shfl_sync(kWholeWarp, above ? high.first : low.first, depth & 31),
            __shfl_sync(kWholeWarp, above ? high.bits : low.bits, depth & 31)};
  }
};

// How much a walk may cost before it is given up, in nodes; a pair counts as two.
inline constexpr int kPacketBudget = 384;

// What a lane has to settle when the walk is done: a call, for which the walk would keep registers free.
class OpenPairs {
 public:
  __device__ void add(std::uint32_t pair, std::uint32_t open, std::uint32_t placed) {
    if (count_ < kMost) pairs_[count_] = {pair << 2 | open, placed};
    ++count_;
  }
  // False: they were too many.
  template <class World, class Query>
  __device__ bool settle(const BvhView& bvh, const World& world, Query& query) const {
    if (count_ > kMost) return false;
    for (int i = 0; i < count_; ++i) {
      Query copy = query;
      settle_by_call(bvh, pairs_[i].first >> 2, pairs_[i].first & 3u, world(), pairs_[i].bits, &copy);
      query = copy;
    }
    return true;
  }

 private:
  static constexpr int kMost = 6;
  Group pairs_[kMost];
  int count_ = 0;
};

// How a packet ends: with all that its rays hit; not, as their ways part or they meet too much; or before a pair at
// which the query stops (see trace_warp).
enum class PacketEnd { done, parted, stopped };

template <bool kScene, class Bvh, class World, class Query>
__device__ inline PacketEnd walk_packet(const Bvh& bvh, const Ray& start, const World& world, bool active, Query& query,
                                        OpenPairs& unsettled) {
  PacketAxis axis;
  const PreparedRay first(start, kScene ? Frame::world : Frame::mesh);
  // What is not finite is left to others, and so are ways back, for the sake of comparing floats as integers.
  const float reach = fmaxf(fmaxf(fabsf(first.origin.x), fabsf(first.origin.y)), fabsf(first.origin.z));
  const bool plain = query.tmin >= 0 && query.tmin < 0x1p60f && reach < 0x1p60f;
  if (!__all_sync(kWholeWarp, plain || !active)) return PacketEnd::parted;
  const float tmin = extremes_of_warp(query.tmin, active).least;
  const auto tmax = [&] { return most_of_warp(active ? query.farthest() : 0.0f); };
  if (!axis.set(first, active, tmin, tmax())) return PacketEnd::parted;
  PairRay ray(first);
  ParkedRay parked;
  PacketStack<kScene> stack;
  int depth = 0, mesh_depth = -1, left = kPacketBudget;
  std::uint32_t placed = kNoInstance;
  Group nodes = only_child(0);
  while (true) {
    if (!any_child(nodes)) {
      if (depth == 0) return PacketEnd::done;
      if constexpr (kScene) {
        if (depth == mesh_depth) {
          mesh_depth = -1;
          const PreparedRay again(world(), Frame::world);
          (void)axis.set(again, active, tmin, tmax());
          ray = PairRay(again);
          parked.forget();
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
        const PreparedRay moved(in_mesh(instance, world()), Frame::mesh);
        if (!axis.set(moved, active, tmin, tmax())) return PacketEnd::parted;
        ray = PairRay(moved);
        parked.forget();
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
    NodeHits hits{nodes, met & links.z, links.z, links.y};
    if (--left < 0) return PacketEnd::parted;
    if (hits.pairs == 0) continue;
    if (count_bits(hits.pairs) >= kManyPairs) {
      const PreparedRay& own_ray = parked.ray([&] {
        if constexpr (kScene)
          if (mesh_depth >= 0)
            return PreparedRay(in_mesh(load_node(bvh.node(placed)).instance(), world()), Frame::mesh);
        return PreparedRay(world(), kScene ? Frame::world : Frame::mesh);
      });
      const NodeHits own = intersect_node(load_node(node), own_ray, query.tmin, query.farthest());
      hits.pairs &= or_of_warp(active ? own.pairs : 0u);
      left -= 2;
      if (hits.pairs == 0) continue;
    }
    do {
      const std::uint32_t pair = next_pair(hits);
      if constexpr (requires { query.stops_at(bvh, pair); })
        if (query.stops_at(bvh, pair)) return PacketEnd::stopped;
      left -= 2;
      if (active)
        if (const std::uint32_t open = intersect_pair(bvh, pair, ray, placed, query); open != 0)
          unsettled.add(pair, open, placed);
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
  OpenPairs unsettled;
  const PacketEnd end = walk_packet<kScene>(bvh, start, world, active, query, unsettled);
  if (end != PacketEnd::done) return end;
  return __all_sync(kWholeWarp, unsettled.settle(bvh, world, query)) ? PacketEnd::done : PacketEnd::parted;
}

}  // namespace raylift::inline v0_1::bvh_detail
