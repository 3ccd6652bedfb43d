// SPDX-License-Identifier: Apache-2.0
// Arrays of any library as arguments: NumPy, CuPy, PyTorch, Numba, JAX, PyCUDA, raylift.
#pragma once

#include <optional>

#include "array.h"

namespace raylift::python {

/// The caller's array, in place. On a CUDA device, `stream` is the one that orders its values, if its library states
/// it.
struct Input {
  Array array;
  std::optional<StreamHandle> stream;
};

/// The array that `given` is, without a copy. It must be on `device`; NumPy's arrays and lists are copied to a
/// CUDA device. Messages name it `what`. `wanted` is the stream that the work will be on, if the caller has chosen one:
/// a library without streams of its own (JAX) orders its array before it. Throws Error(usage): no array, or one of
/// another device.
[[nodiscard]] Input input(const py::handle& given, const Device& device, const std::string& what,
                          std::optional<StreamHandle> wanted);
/// The same for an output array: never a copy, and not read-only.
[[nodiscard]] Input output(const py::handle& given, const Device& device, const std::string& what);

/// The stream that the work on these inputs is on: `chosen`, or else the first that one of them has.
[[nodiscard]] std::optional<StreamHandle> stream_of(const py::handle& chosen, std::initializer_list<py::handle> given);

}  // namespace raylift::python
