// SPDX-License-Identifier: Apache-2.0
// raylift.Module: CUDA C++ compiled at run time, and launched with arrays of any library.
#include <pybind11/stl.h>
#include <raylift/geometry/error.h>
#include <raylift/module/module.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "geometry.h"
#include "input.h"
#include "parts.h"
#include "stream.h"
#include "watch.h"

namespace raylift::python {
namespace {

/// A module and its device.
struct ModuleBox {
  Device device;
  Module module;
  Stream stream;                                        ///< for launches without `stream=`
  std::vector<std::shared_ptr<Pending>> launched = {};  ///< launches that may run, with the arrays that they read

  void keep(std::shared_ptr<Pending> pending) {
    // Finished launches are destroyed last: releasing their arrays may run Python code and another thread.
    const auto done = std::partition(launched.begin(), launched.end(),
                                     [](const std::shared_ptr<Pending>& one) { return !one->event.passed(); });
    const std::vector<std::shared_ptr<Pending>> gone(std::make_move_iterator(done),
                                                     std::make_move_iterator(launched.end()));
    launched.erase(done, launched.end());
    launched.push_back(std::move(pending));
  }
};
using ModulePointer = std::shared_ptr<ModuleBox>;

struct FunctionBox {
  ModulePointer module;
  Function function;
};

/// Arguments as bytes, and the arrays that must live until the kernel has run.
class Arguments {
 public:
  Arguments(const FunctionBox& box, const py::args& given, StreamHandle stream) : box_(box), stream_(stream) {
    const std::vector<std::size_t>& sizes = box.function.parameters();
    if (sizes.size() != given.size())
      throw Error(ErrorKind::usage, "'" + box.function.name() + "' takes " + std::to_string(sizes.size()) +
                                        " arguments, and " + std::to_string(given.size()) + " were given");
    for (std::size_t i = 0; i != sizes.size(); ++i) bytes_.push_back(of(given[i], sizes[i], i));
  }

  [[nodiscard]] std::vector<std::span<const std::byte>> spans() const { return {bytes_.begin(), bytes_.end()}; }
  /// Keeps the arrays until the kernel is done with them.
  [[nodiscard]] std::shared_ptr<Pending> pending() {
    auto pending = std::make_shared<Pending>(box_.module->device, stream_);
    pending->reads = std::move(kept_);
    return pending;
  }

 private:
  using Bytes = std::vector<std::byte>;

  Bytes of(const py::handle& given, std::size_t size, std::size_t number) {
    const std::string what = "argument " + std::to_string(number + 1);
    if (py::isinstance<GeometryBox>(given)) {
      kept_.push_back(py::reinterpret_borrow<py::object>(given));
      return sized(copy(&given.cast<const GeometryBox&>().geometry.view(), sizeof(GeometryView)), size, what);
    }
    if (py::isinstance<py::bytes>(given)) {
      const auto text = given.cast<std::string_view>();
      return sized(copy(text.data(), text.size()), size, what);
    }
    // NumPy's scalars have their own size; Python's numbers get that of the parameter.
    const py::object generic = py::module_::import("numpy").attr("generic");
    if (py::isinstance(given, generic)) {
      const auto text = given.attr("tobytes")().cast<std::string>();
      return sized(copy(text.data(), text.size()), size, what);
    }
    if (py::isinstance<py::int_>(given)) return integer(py::reinterpret_borrow<py::int_>(given), size, what);
    if (py::isinstance<py::float_>(given)) return real(given.cast<double>(), size, what);
    if (given.is_none()) return sized(Bytes(sizeof(void*)), size, what);
    return array(given, size, what);
  }

  Bytes array(const py::handle& given, std::size_t size, const std::string& what) {
    if (!py::isinstance<Array>(given) && !py::hasattr(given, "__cuda_array_interface__") &&
        !py::hasattr(given, "__dlpack_device__"))
      throw Error(ErrorKind::usage, what + " is no number, no bytes and no array of the device");
    if (py::isinstance<py::array>(given))
      throw Error(ErrorKind::usage, what + " is in host memory", {}, "copy it to the device first");
    const Input taken = input(given, box_.module->device, what, stream_);
    if (taken.stream && !same_stream(*taken.stream, stream_))
      Pending(box_.module->device, *taken.stream).hold_back(stream_);
    kept_.push_back(taken.array.owner);
    return sized(copy(&taken.array.data, sizeof taken.array.data), size, what);
  }

  static Bytes copy(const void* from, std::size_t size) {
    Bytes bytes(size);
    if (size != 0) std::memcpy(bytes.data(), from, size);
    return bytes;
  }
  static Bytes sized(Bytes bytes, std::size_t size, const std::string& what) {
    if (bytes.size() != size)
      throw Error(ErrorKind::usage,
                  what + " has " + std::to_string(bytes.size()) + " bytes, and the parameter " + std::to_string(size));
    return bytes;
  }
  static Bytes integer(const py::int_& value, std::size_t size, const std::string& what) {
    if (size > 8)
      throw Error(ErrorKind::usage, what + " is a number, and the parameter has " + std::to_string(size) + " bytes");
    const bool is_negative = value < py::int_(0);
    const py::object text = value.attr("to_bytes")(size, "little", py::arg("signed") = is_negative);
    const auto bytes = text.cast<std::string>();
    return copy(bytes.data(), bytes.size());
  }
  static Bytes real(double value, std::size_t size, const std::string& what) {
    const auto narrow = static_cast<float>(value);
    if (size == sizeof narrow) return copy(&narrow, sizeof narrow);
    return sized(copy(&value, sizeof value), size, what);
  }

  const FunctionBox& box_;
  StreamHandle stream_;
  std::vector<Bytes> bytes_;
  std::vector<py::object> kept_;
};

Dim3 dim_of(const py::object& given) {
  if (py::isinstance<py::int_>(given)) return {given.cast<unsigned>()};
  const auto sizes = given.cast<std::vector<unsigned>>();
  if (sizes.empty() || sizes.size() > 3) throw Error(ErrorKind::usage, "a grid or block has up to three sizes");
  return {sizes[0], sizes.size() > 1 ? sizes[1] : 1, sizes.size() > 2 ? sizes[2] : 1};
}

void launch(const FunctionBox& box, const py::args& given, const py::object& grid, const py::object& block,
            std::size_t shared, const py::object& stream) {
  const StreamHandle on = stream.is_none() ? box.module->stream.handle() : stream_handle(stream);
  Arguments arguments(box, given, on);
  const Dim3 blocks = dim_of(grid), threads = dim_of(block);
  const auto spans = arguments.spans();
  without_gil([&] {
    box.function.launch_bytes(blocks, threads, shared, on, spans);
    return 0;
  });
  // The caller's stream orders the launch; without one, the call waits for the result.
  std::shared_ptr<Pending> pending = arguments.pending();
  if (stream.is_none())
    pending->wait();
  else
    box.module->keep(std::move(pending));
}

ModulePointer compile(const std::string& source, const py::object& device_name, const std::vector<std::string>& options,
                      const std::vector<std::string>& include_folders, bool cache, const std::string& name) {
  const Device device =
      py::isinstance<Device>(device_name) ? device_name.cast<Device>() : Device::parse(device_name.cast<std::string>());
  ModuleOptions chosen;
  chosen.name = name;
  chosen.compiler = options;
  chosen.include_folders.assign(include_folders.begin(), include_folders.end());
  chosen.cache = cache;
  return without_gil([&] {
    return std::make_shared<ModuleBox>(ModuleBox{device, Module::compile(device, source, chosen), Stream(device)});
  });
}

}  // namespace

void add_modules(py::module_& m) {
  py::class_<FunctionBox>(m, "Function", "A kernel of a Module.")
      .def_property_readonly("name", [](const FunctionBox& box) { return box.function.name(); })
      .def_property_readonly(
          "parameters", [](const FunctionBox& box) { return box.function.parameters(); },
          "The size of each parameter in bytes.")
      .def(
          "__call__", &launch, py::kw_only(), py::arg("grid"), py::arg("block"), py::arg("shared") = 0,
          py::arg("stream") = py::none(),
          R"(Runs the kernel. Arguments: arrays of the device, of any library, for pointers; a Geometry for a GeometryView;
an int or a float, as the parameter is, which takes its size; NumPy's scalars and bytes, which must have it; None for a null pointer.
grid, block: an integer, or up to three. shared: bytes. stream: what it runs on; without one the call waits for it.)");
  py::class_<ModuleBox, ModulePointer>(m, "Module", R"(CUDA C++ compiled at run time for a GPU, as C++20 by NVRTC.

raylift's headers for kernels are built in: ``#include <raylift/gpu/rays/query.h>``.)")
      .def(py::init(&compile), py::arg("source"), py::arg("device") = "auto", py::kw_only(),
           py::arg("options") = std::vector<std::string>(), py::arg("include_folders") = std::vector<std::string>(),
           py::arg("cache") = true, py::arg("name") = "kernel.cu",
           "options: NVRTC's. cache: keep what was compiled on disk. Raises raylift.Error: malformed, with the "
           "compiler's messages; usage; device on the host device, or without NVRTC.")
      .def(
          "function",
          [](const ModulePointer& box, const std::string& name) {
            return FunctionBox{box, box->module.function(name)};
          },
          py::arg("name"), "A kernel by its name in the source: \"distances\", \"my::kernel\", \"scale<float>\".")
      .def_property_readonly(
          "functions", [](const ModuleBox& box) { return box.module.functions(); }, "The names of all kernels.")
      .def_property_readonly(
          "cached", [](const ModuleBox& box) { return box.module.cached(); },
          "Whether the module came from the cache.");
}

}  // namespace raylift::python
