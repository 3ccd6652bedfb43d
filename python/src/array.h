// SPDX-License-Identifier: Apache-2.0
// An array in a device's memory, as Python sees it: raylift.Array.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <raylift/gpu/device/device.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace raylift::python {

namespace py = pybind11;

/// Work on a stream, which may still run.
struct Pending {
  Pending(const Device& device, StreamHandle on) : stream(on), event(device) { event.record(on); }
  /// Waits for the work if `reads` has memory that it reads.
  ~Pending();
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  /// Waits for the work, without the GIL.
  void wait() const;
  /// Makes work that is enqueued on `other` from now on wait for this work.
  void hold_back(StreamRef other) const { event.wait(other); }
  StreamHandle stream;
  py::object stream_owner;  ///< a Python object that keeps the stream alive
  Event event;
  std::vector<py::object> reads;  ///< memory that the stream does not order
};

/// Elements of one type. A value: copies share the memory, which `owner` keeps allocated.
struct Array {
  Device device;
  std::byte* data = nullptr;
  py::dtype dtype;
  std::vector<py::ssize_t> shape;
  std::vector<py::ssize_t> strides;  ///< bytes
  py::object owner;                  ///< a Python object that keeps the memory allocated
  bool read_only = false;
  std::shared_ptr<Pending> pending = nullptr;  ///< work that still writes to it; null: none
  const std::byte* host_part = nullptr;        ///< where host memory begins in a split array

  [[nodiscard]] bool on_host() const { return device.info().is_host; }
  [[nodiscard]] py::ssize_t count() const;
  [[nodiscard]] bool contiguous() const;
  void wait() const {
    if (pending) pending->wait();
  }
};

/// Contiguous elements in C order.
[[nodiscard]] Array make_array(const Device& device, std::byte* data, const py::dtype& dtype,
                               std::vector<py::ssize_t> shape, py::object owner, bool read_only = false);
/// A new array on a device, with uninitialised elements.
[[nodiscard]] Array empty_array(const Device& device, const py::dtype& dtype, std::vector<py::ssize_t> shape);
/// A NumPy array of the same elements: the same memory on the host device, a copy from a GPU.
[[nodiscard]] py::array to_numpy(const Array& array);
/// A Python object that keeps C++ memory allocated.
template <class T>
[[nodiscard]] py::object keep(T value) {
  return py::capsule(new T(std::move(value)), [](void* kept) { delete static_cast<T*>(kept); });
}

/// The array as a DLPack capsule; `stream` is the consumer's.
[[nodiscard]] py::object to_dlpack(const Array& array, const py::object& stream, const py::object& max_version,
                                   const py::object& dl_device, const py::object& copy);
/// DLPack's name of a device: its type and number.
[[nodiscard]] py::tuple dlpack_device(const Device& device);

}  // namespace raylift::python
