// SPDX-License-Identifier: Apache-2.0
// A traversal stack whose first entries are in shared memory, as is the query's best hit so far.
//
// Local memory is written through to the L2, one request per entry, and requests to the L2 limit the walk. More entries
// than these would take too much of the L1 cache from the nodes.
#pragma once

#if defined(__CUDACC__)

#include <raylift/gpu/rays/query.h>

namespace raylift::bvh_detail {

// For one-dimensional blocks of kThreads threads. A thread's entries form a column of 8-byte rows.
template <bool kScene, int kThreads>
class StackInShared {
  // What the rows hold: the first entries, the best hit in two, a value of the caller's, the ray, and what is prepared
  // of it.
  static constexpr int kShared = 4, kBest = kShared, kValue = kBest + 2, kRay = kValue + 1, kSaved = kRay + 4,
                       kRows = kScene ? kSaved + 4 : kRay;

 public:
  // The entries that do not fit, in local memory. Apart from the stack: the compiler would keep the whole of it there,
  // with the address that every access needs.
  struct Overflow {
    NodeGroup groups[kStackSize<kScene> - kShared];
  };

  // The best hit so far.
  class Cold {
   public:
    __device__ explicit Cold(std::uint32_t column) : column_(column) {}
    __device__ void set(Site site, float near) const {
      store(column_ + kBest * kRow, site.triangle, site.placed);
      store(column_ + (kBest + 1) * kRow, as_bits(near));
    }
    [[nodiscard]] __device__ Site site() const {
      Site site;
      load(column_ + kBest * kRow, site.triangle, site.placed);
      return site;
    }
    [[nodiscard]] __device__ float near() const { return as_float(load(column_ + (kBest + 1) * kRow)); }

   private:
    std::uint32_t column_;
  };

  // A value of the caller's that the walk reads from shared memory, as it has no register for it.
  class Kept {
   public:
    __device__ explicit Kept(std::uint32_t column) : column_(column) {}
    [[nodiscard]] __device__ std::size_t operator*() const {
      std::uint64_t value;
      asm volatile("ld.shared.u64 %0, [%1];" : "=l"(value) : "r"(column_ + kValue * kRow) : "memory");
      return value;
    }
    __device__ void set(std::size_t value) const {
      asm volatile("st.shared.u64 [%0], %1;" ::"r"(column_ + kValue * kRow), "l"(std::uint64_t{value}) : "memory");
    }

   private:
    std::uint32_t column_;
  };

  __device__ explicit StackInShared(Overflow& overflow) : others_(overflow.groups) {
    __shared__ uint2 rows[kRows][kThreads];
    column_ = static_cast<std::uint32_t>(__cvta_generic_to_shared(&rows[0][threadIdx.x]));
  }
  __device__ void push(int& depth, NodeGroup group) {
    if (depth < kShared)
      store(row(depth), group.first, group.bits);
    else
      others_[depth - kShared] = group;
    ++depth;
  }
  [[nodiscard]] __device__ NodeGroup pop(int& depth) const {
    --depth;
    if (depth >= kShared) return others_[depth - kShared];
    NodeGroup group;
    load(row(depth), group.first, group.bits);
    return group;
  }
  [[nodiscard]] __device__ Cold cold() const { return Cold(column_); }
  // The ray in the world's frame, read on entering and on leaving an instance; without tmax, which is not used there.
  __device__ void set_ray(const Ray& ray) const requires kScene {
    store(row(kRay), as_bits(ray.origin.x), as_bits(ray.origin.y));
    store(row(kRay + 1), as_bits(ray.origin.z), as_bits(ray.tmin));
    store(row(kRay + 2), as_bits(ray.direction.x), as_bits(ray.direction.y));
    store(row(kRay + 3), as_bits(ray.direction.z));
  }
  [[nodiscard]] __device__ Ray ray() const requires kScene {
    std::uint32_t bits[6];
#pragma unroll
    for (int k = 0; k < 3; ++k) load(row(kRay + k), bits[2 * k], bits[2 * k + 1]);
    return {LocalPoint(as_float(bits[0]), as_float(bits[1]), as_float(bits[2])),
            as_float(bits[3]),
            {as_float(bits[4]), as_float(bits[5]), as_float(load(row(kRay + 3)))}};
  }
  // That ray as it is prepared in the world's frame. Its origin is not stored again: set_ray() must have been called.
  __device__ void save(const PreparedRay& ray) const requires kScene {
    store(row(kSaved), ray.bits, as_bits(ray.shear_x));
    store(row(kSaved + 1), as_bits(ray.shear_y), as_bits(ray.inverse[0]));
    store(row(kSaved + 2), as_bits(ray.inverse[1]), as_bits(ray.inverse[2]));
    store(row(kSaved + 3), as_bits(ray.least_far[0]), as_bits(ray.least_far[1]));
    store(row(kRay + 3) + 4, as_bits(ray.least_far[2]));  // with another row, less would be left of the L1 cache
  }
  __device__ void restore(PreparedRay& ray) const requires kScene {
    std::uint32_t x, y;
    load(row(kRay), x, y);
    ray.origin = {as_float(x), as_float(y), as_float(load(row(kRay + 1)))};
    load(row(kSaved + 3), x, y);
    ray.least_far[0] = as_float(x);
    ray.least_far[1] = as_float(y);
    ray.least_far[2] = as_float(load(row(kRay + 3) + 4));
    if (!ray.in_mesh()) return;  // it was only moved
    std::uint32_t bits[6];
#pragma unroll
    for (int k = 0; k < 3; ++k) load(row(kSaved + k), bits[2 * k], bits[2 * k + 1]);
    ray.bits = bits[0];
    ray.shear_x = as_float(bits[1]);
    ray.shear_y = as_float(bits[2]);
    for (int a = 0; a < 3; ++a) ray.inverse[a] = as_float(bits[3 + a]);
  }
  [[nodiscard]] __device__ Kept keep(std::size_t value) const {
    const Kept kept(column_);
    kept.set(value);
    return kept;
  }

 private:
  static constexpr std::uint32_t kRow = kThreads * 8;
  [[nodiscard]] __device__ std::uint32_t row(int number) const {
    return column_ + static_cast<std::uint32_t>(number) * kRow;
  }
  __device__ static void store(std::uint32_t at, std::uint32_t a) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(a) : "memory");
  }
  [[nodiscard]] __device__ static std::uint32_t load(std::uint32_t at) {
    std::uint32_t a;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(at) : "memory");
    return a;
  }
  __device__ static void store(std::uint32_t at, std::uint32_t a, std::uint32_t b) {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b) : "memory");
  }
  __device__ static void load(std::uint32_t at, std::uint32_t& a, std::uint32_t& b) {
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at) : "memory");
  }

  std::uint32_t column_;
  NodeGroup* others_;
};

}  // namespace raylift::bvh_detail

#endif
