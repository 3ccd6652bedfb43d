// SPDX-License-Identifier: Apache-2.0
// What tests of uploads share.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>

#include <cstring>
#include <random>
#include <vector>

#include "support/devices.h"

namespace raylift::test {

template <class T>
inline std::vector<T> read(const Memory& array, const Device& device) {
  const Stream stream(device);
  std::vector<T> values(array.bytes() / sizeof(T));
  array.copy_to(std::as_writable_bytes(std::span(values)), stream);
  stream.synchronize();
  return values;
}

template <class T>
inline bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline std::vector<double> random_doubles(std::size_t rows, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-1e6, 1e6);
  std::vector<double> values(3 * rows);
  for (double& v : values) v = value(random);
  return values;
}

inline std::vector<Float3> as_float3(const std::vector<double>& values) {
  std::vector<Float3> result(values.size() / 3);
  for (std::size_t i = 0; i != result.size(); ++i)
    result[i] = {static_cast<float>(values[3 * i]), static_cast<float>(values[3 * i + 1]),
                 static_cast<float>(values[3 * i + 2])};
  return result;
}

class UploadsOnDevice : public OnDevice {
 protected:
  /// Small chunks, so that small arrays take many.
  static UploadOptions options(std::uint64_t budget = UINT64_MAX) {
    UploadOptions result;
    result.reserve = 0;
    result.budget = budget;
    result.chunk_bytes = 1U << 20;
    result.chunks = 3;
    return result;
  }
};

}  // namespace raylift::test
