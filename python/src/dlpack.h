// SPDX-License-Identifier: Apache-2.0
// The structs of DLPack, by its specification: https://dmlc.github.io/dlpack/latest/c_api.html, version 1.0.
#pragma once

#include <cstdint>

namespace raylift::python::dlpack {

inline constexpr std::int32_t kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13;
enum class Code : std::uint8_t { integer = 0, unsigned_integer = 1, floating = 2, boolean = 6 };
inline constexpr std::uint64_t kReadOnly = 1;

struct DlDevice {
  std::int32_t type;
  std::int32_t number;
};
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  DlDevice place;
  std::int32_t dimensions;
  DataType type;
  std::int64_t* shape;
  std::int64_t* strides;  ///< elements; null: contiguous in C order
  std::uint64_t byte_offset;
};
/// The content of a capsule "dltensor".
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};
/// The content of a capsule "dltensor_versioned".
struct ManagedVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

}  // namespace raylift::python::dlpack
