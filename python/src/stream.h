// SPDX-License-Identifier: Apache-2.0
// Streams of other libraries, by their handles.
#pragma once

#include <pybind11/pybind11.h>
#include <raylift/gpu/device/device.h>

#include <memory>
#include <optional>

namespace raylift::python {

namespace py = pybind11;

/// CUDA's legacy default stream, by the name that it has in CUDA and in DLPack: 1.
[[nodiscard]] inline StreamHandle legacy_stream() {
  return reinterpret_cast<StreamHandle>(std::uintptr_t{1});
}
/// The stream that Python names: an integer, as in DLPack, or an object of raylift (ptr), CuPy (ptr), PyTorch
/// (cuda_stream), Numba (handle) or of the protocol __cuda_stream__. Throws Error(usage) for anything else.
[[nodiscard]] StreamHandle stream_handle(const py::handle& stream);
/// The number that DLPack has for a stream: that of the handle, and 1 for null.
[[nodiscard]] std::uintptr_t stream_number(StreamHandle stream);
[[nodiscard]] bool same_stream(StreamHandle a, StreamHandle b);

}  // namespace raylift::python
