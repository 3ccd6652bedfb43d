// SPDX-License-Identifier: Apache-2.0
// A traversal stack whose first entries are in shared memory, as is the query's best hit so far.
//
// Local memory is written through to the L2, one request per entry, and requests to the L2 limit the walk. More entries
// than these would take too much of the L1 cache from the nodes.
#pragma once

#if defined(__CUDACC__)

#include <raylift/gpu/rays/query.h>

namespace raylift::inline v0_1::bvh_detail {

// For one-dimensional blocks of kThreads threads. A thread's entries form a column of 8-byte rows.
template <bool kScene, int kThreads>
class StackInShared {
  static constexpr int kShared = 4;

 public:
  // The entries that do not fit, in local memory. Apart from the stack: the compiler would keep the whole of it there,
  // with the address that every access needs.
  struct Overflow {
    Group groups[kStackSize<kScene> - kShared];
  };

  // The best hit so far.
  class Cold {
   public:
    __device__ explicit Cold(std::uint32_t column) : column_(column) {}
    __device__ void set(Site site, float near) const {
      store(column_ + kShared * kRow, site.triangle, site.placed);
      asm volatile("st.shared.f32 [%0], %1;" ::"r"(column_ + (kShared + 1) * kRow), "f"(near) : "memory");
    }
    [[nodiscard]] __device__ Site site() const {
      Site site;
      load(column_ + kShared * kRow, site.triangle, site.placed);
      return site;
    }
    [[nodiscard]] __device__ float near() const {
      float near;
      asm volatile("ld.shared.f32 %0, [%1];" : "=f"(near) : "r"(column_ + (kShared + 1) * kRow) : "memory");
      return near;
    }

   private:
    std::uint32_t column_;
  };

  // A value of the caller's that the walk reads from shared memory, as it has no register for it.
  class Kept {
   public:
    __device__ explicit Kept(std::uint32_t column) : column_(column) {}
    [[nodiscard]] __device__ std::size_t operator*() const {
      std::uint64_t value;
      asm volatile("ld.shared.u64 %0, [%1];" : "=l"(value) : "r"(column_ + (kShared + 2) * kRow) : "memory");
      return value;
    }

   private:
    std::uint32_t column_;
  };

  __device__ explicit StackInShared(Overflow& overflow) : others_(overflow.groups) {
    __shared__ uint2 rows[kRows][kThreads];
    column_ = static_cast<std::uint32_t>(__cvta_generic_to_shared(&rows[0][threadIdx.x]));
  }
  __device__ void push(int& depth, Group group) {
    if (depth < kShared)
      store(column_ + static_cast<std::uint32_t>(depth) * kRow, group.first, group.bits);
    else
      others_[depth - kShared] = group;
    ++depth;
  }
  [[nodiscard]] __device__ Group pop(int& depth) const {
    --depth;
    if (depth >= kShared) return others_[depth - kShared];
    Group group;
    load(column_ + static_cast<std::uint32_t>(depth) * kRow, group.first, group.bits);
    return group;
  }
  [[nodiscard]] __device__ Cold cold() const { return Cold(column_); }
  // The ray in the world's frame: read on entering and on leaving an instance.
  __device__ void set_ray(const Ray& ray) const requires kScene {
    const std::uint32_t at = column_ + (kShared + 3) * kRow;
    store(at, as_bits(ray.origin.x), as_bits(ray.origin.y));
    store(at + kRow, as_bits(ray.origin.z), as_bits(ray.tmin));
    store(at + 2 * kRow, as_bits(ray.direction.x), as_bits(ray.direction.y));
    store(at + 3 * kRow, as_bits(ray.direction.z), as_bits(ray.tmax));
  }
  [[nodiscard]] __device__ Ray ray() const requires kScene {
    std::uint32_t bits[8];
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) load(column_ + (kShared + 3 + k) * kRow, bits[2 * k], bits[2 * k + 1]);
    return {{as_float(bits[0]), as_float(bits[1]), as_float(bits[2])},
            as_float(bits[3]),
            {as_float(bits[4]), as_float(bits[5]), as_float(bits[6])},
            as_float(bits[7])};
  }
  [[nodiscard]] __device__ Kept keep(std::size_t value) const {
    asm volatile("st.shared.u64 [%0], %1;" ::"r"(column_ + (kShared + 2) * kRow), "l"(std::uint64_t{value}) : "memory");
    return Kept(column_);
  }

 private:
  // The entries, two rows of the best hit, the caller's value, and the ray.
  static constexpr int kRows = kShared + 3 + (kScene ? 4 : 0);
  static constexpr std::uint32_t kRow = kThreads * 8;
  __device__ static void store(std::uint32_t at, std::uint32_t a, std::uint32_t b) {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b) : "memory");
  }
  __device__ static void load(std::uint32_t at, std::uint32_t& a, std::uint32_t& b) {
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at) : "memory");
  }

  std::uint32_t column_;
  Group* others_;
};

}  // namespace raylift::inline v0_1::bvh_detail

#endif
