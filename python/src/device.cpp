// SPDX-License-Identifier: Apache-2.0
// raylift.Device and raylift.Stream.
#include <pybind11/stl.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/device.h>

#include "parts.h"
#include "stream.h"
#include "watch.h"

namespace raylift::python {

StreamHandle stream_handle(const py::handle& stream) {
  if (py::isinstance<py::int_>(stream)) {
    const auto number = stream.cast<std::uintptr_t>();
    return number == 0 ? legacy_stream() : reinterpret_cast<StreamHandle>(number);
  }
  for (const char* name : {"ptr", "cuda_stream", "handle"}) {
    if (!py::hasattr(stream, name)) continue;
    const py::object value = stream.attr(name);
    // Numba's handle is a ctypes pointer, whose value is None for the default stream.
    if (py::hasattr(value, "value")) {
      const py::object number = value.attr("value");
      return number.is_none() ? legacy_stream() : stream_handle(number);
    }
    if (py::isinstance<py::int_>(value)) return stream_handle(value);
  }
  if (py::hasattr(stream, "__cuda_stream__")) {
    py::object pair = stream.attr("__cuda_stream__");
    if (PyCallable_Check(pair.ptr()) != 0) pair = pair();
    return stream_handle(pair.cast<py::tuple>()[1]);
  }
  throw Error(ErrorKind::usage, "'" + py::str(py::type::of(stream)).cast<std::string>() + "' is no stream", {},
              "give the stream's handle as an integer, or a stream of CuPy, PyTorch, Numba or raylift");
}

std::uintptr_t stream_number(StreamHandle stream) {
  const auto number = reinterpret_cast<std::uintptr_t>(stream);
  return number == 0 ? 1 : number;
}

bool same_stream(StreamHandle a, StreamHandle b) {
  return stream_number(a) == stream_number(b);
}

namespace {

py::dict properties(const Device& device) {
  const DeviceInfo& info = device.info();
  using namespace py::literals;
  return py::dict("name"_a = info.name, "id"_a = info.id,
                  "compute_capability"_a = py::make_tuple(info.compute_major, info.compute_minor),
                  "total_bytes"_a = info.total_bytes, "multiprocessors"_a = info.multiprocessors,
                  "maps_host_memory"_a = info.maps_host_memory, "splits_arrays"_a = info.splits_arrays,
                  "page_bytes"_a = info.page_bytes, "link"_a = info.link,
                  "link_gb_per_second"_a = info.link_gb_per_second);
}

}  // namespace

void add_devices(py::module_& m) {
  py::class_<Device>(m, "Device", "A device to put geometry on: \"auto\", \"host\" or \"cuda:N\".")
      .def(py::init([](const std::string& name, std::optional<std::uint64_t> host_budget) {
             return Device::parse(name, host_budget);
           }),
           py::arg("name") = "auto", py::kw_only(), py::arg("host_budget") = py::none(),
           R"(``host_budget``: bytes that the host device plays a GPU's memory with; half of this machine's by default.

``auto`` is the CUDA device that $CUDA_DEVICE, ~/.cuda_device or ~/.cuda-device names; otherwise the first one that
works; otherwise the host device.)")
      .def_static(
          "all", [] { return Device::all(); }, "Every CUDA device that works, and the host device last.")
      .def_property_readonly("id", [](const Device& d) { return d.info().id; })
      .def_property_readonly("name", [](const Device& d) { return d.info().name; })
      .def_property_readonly("is_host", [](const Device& d) { return d.info().is_host; })
      .def_property_readonly("properties", &properties)
      .def_property_readonly(
          "memory_info",
          [](const Device& d) {
            const MemoryInfo info = without_gil([&] { return d.memory_info(); });
            return py::make_tuple(info.free_bytes, info.total_bytes);
          },
          "(free, total) bytes of device memory, as the driver sees it now.")
      .def(
          "trim",
          [](const Device& d) {
            without_gil([&] {
              d.trim();
              return 0;
            });
          },
          "Gives back what its pools hold unused.")
      .def("__eq__",
           [](const Device& a, const py::object& b) {
             return py::isinstance<Device>(b) && a.info().id == b.cast<const Device&>().info().id;
           })
      .def("__hash__", [](const Device& d) { return py::hash(py::str(d.info().id)); })
      .def("__repr__", [](const Device& d) { return "<raylift.Device " + d.info().id + ", " + d.info().name + ">"; });

  py::class_<Stream>(m, "Stream", "An order of work on a device: a CUDA stream of raylift's own.")
      .def(py::init([](const Device& device) { return std::make_unique<Stream>(device); }), py::arg("device"))
      .def_property_readonly(
          "ptr", [](const Stream& s) { return stream_number(s.handle()); },
          "The cudaStream_t, as CuPy's ExternalStream and torch.cuda.ExternalStream take it.")
      .def("__cuda_stream__", [](const Stream& s) { return py::make_tuple(0, stream_number(s.handle())); })
      .def(
          "synchronize",
          [](const Stream& s) {
            without_gil([&] {
              s.synchronize();
              return 0;
            });
          },
          "Waits until all work on it is done.");
}

}  // namespace raylift::python
