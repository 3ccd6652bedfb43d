// SPDX-License-Identifier: Apache-2.0
// Structs between registers and memory, 16 bytes at a time: neighbouring threads' structs lie apart, so each access by
// four bytes would take as many sectors as one by sixteen.
#pragma once

#if defined(__CUDACC__)

#include <raylift/geometry/detail/standard.h>

namespace raylift::bvh_detail {

template <class T>
__device__ inline T load_by_16_bytes(const T* from) {
  static_assert(sizeof(T) % 16 == 0 && alignof(T) >= 16);
  ::uint4 words[sizeof(T) / 16];
#pragma unroll
  for (unsigned k = 0; k != sizeof(T) / 16; ++k) words[k] = reinterpret_cast<const ::uint4*>(from)[k];
  T value;
  memcpy(&value, words, sizeof(T));
  return value;
}

template <class T>
__device__ inline void store_by_16_bytes(T* place, const T& value) {
  static_assert(sizeof(T) % 16 == 0 && alignof(T) >= 16);
  ::uint4 words[sizeof(T) / 16];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned k = 0; k != sizeof(T) / 16; ++k) reinterpret_cast<::uint4*>(place)[k] = words[k];
}

}  // namespace raylift::bvh_detail

#endif
