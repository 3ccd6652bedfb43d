// SPDX-License-Identifier: Apache-2.0
#include "input.h"

#include <pybind11/stl.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/address.h>
#include <raylift/gpu/memory/memory.h>

#include "dlpack.h"
#include "stream.h"
#include "watch.h"

namespace raylift::python {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw Error(ErrorKind::usage, what + " " + why);
}

std::string type_name(const py::handle& given) {
  return py::str(py::type::of(given).attr("__name__")).cast<std::string>();
}

void check_byte_order(const py::dtype& dtype, const std::string& what) {
  if (!dtype.attr("isnative").cast<bool>())
    refuse(what, "is not in this machine's byte order: give array.astype(array.dtype.newbyteorder('='))");
}

Array of_numpy(const py::array& values, const Device& device, const py::object& owner) {
  Array array{device, const_cast<std::byte*>(static_cast<const std::byte*>(values.data())), values.dtype(), {}, {},
              owner};
  array.shape.assign(values.shape(), values.shape() + values.ndim());
  array.strides.assign(values.strides(), values.strides() + values.ndim());
  array.read_only = !values.writeable();
  return array;
}

/// By the CUDA array interface: https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html
Input of_interface(const py::handle& given, const py::dict& interface, const Device& device, const std::string& what) {
  Input input{
      {device, nullptr, py::dtype::from_args(interface["typestr"]), {}, {}, py::reinterpret_borrow<py::object>(given)},
      std::nullopt};
  Array& array = input.array;
  if (array.dtype.kind() == 'V' && interface.contains("descr")) array.dtype = py::dtype::from_args(interface["descr"]);
  check_byte_order(array.dtype, what);
  array.shape = interface["shape"].cast<std::vector<py::ssize_t>>();
  const py::tuple data = interface["data"];
  array.data = reinterpret_cast<std::byte*>(data[0].cast<std::uintptr_t>());
  array.read_only = data[1].cast<bool>();
  if (interface.contains("strides") && !interface["strides"].is_none())
    array.strides = interface["strides"].cast<std::vector<py::ssize_t>>();
  else
    array.strides = make_array(device, nullptr, array.dtype, array.shape, py::none()).strides;
  if (interface.contains("stream") && !interface["stream"].is_none()) input.stream = stream_handle(interface["stream"]);
  return input;
}

py::dtype dtype_of(const dlpack::DataType& type, const std::string& what) {
  const std::string size = std::to_string(type.bits / 8);
  if (type.lanes == 1) switch (static_cast<dlpack::Code>(type.code)) {
      case dlpack::Code::integer:
        return py::dtype("i" + size);
      case dlpack::Code::unsigned_integer:
        return py::dtype("u" + size);
      case dlpack::Code::floating:
        return py::dtype("f" + size);
      case dlpack::Code::boolean:
        return py::dtype("?");
    }
  refuse(what, "has elements of a type that NumPy does not have");
}

/// The last array of a capsule returns its tensor to the producer.
struct Taken {
  explicit Taken(dlpack::Managed* taken) : managed(taken) {}
  Taken(Taken&& other) noexcept : managed(std::exchange(other.managed, nullptr)) {}
  ~Taken() {
    if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
  }
  dlpack::Managed* managed;
};

Input of_dlpack(const py::handle& given, const Device& device, const std::string& what, StreamHandle stream) {
  const py::object capsule = given.attr("__dlpack__")(py::arg("stream") = stream_number(stream));
  auto* const managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (managed == nullptr) throw py::error_already_set();
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  Taken taken(managed);
  const dlpack::Tensor& tensor = managed->tensor;
  Input input{{device,
               static_cast<std::byte*>(tensor.data) + tensor.byte_offset,
               dtype_of(tensor.type, what),
               {},
               {},
               py::none()},
              stream};
  Array& array = input.array;
  array.shape.assign(tensor.shape, tensor.shape + tensor.dimensions);
  array.strides = make_array(device, nullptr, array.dtype, array.shape, py::none()).strides;
  if (tensor.strides != nullptr)
    for (std::size_t axis = 0; axis != array.shape.size(); ++axis)
      array.strides[axis] = tensor.strides[axis] * array.dtype.itemsize();
  array.owner = keep(std::move(taken));
  return input;
}

/// The CUDA device of an array, by DLPack; -1: none.
int dlpack_device_of(const py::handle& given) {
  if (!py::hasattr(given, "__dlpack_device__")) return -1;
  const py::tuple place = given.attr("__dlpack_device__")();
  const auto type = place[0].cast<int>();
  return type == dlpack::kCuda || type == dlpack::kCudaManaged ? place[1].cast<int>() : -1;
}

bool has_cuda_interface(const py::handle& given) {
  return py::hasattr(given, "__cuda_array_interface__");
}

/// The current stream of PyTorch, which no protocol has; nothing for other libraries' arrays.
std::optional<StreamHandle> current_stream(const py::handle& given) {
  const std::string library = py::type::of(given).attr("__module__").cast<std::string>();
  if (library != "torch" && library.rfind("torch.", 0) != 0) return std::nullopt;
  if (!given.attr("is_cuda").cast<bool>()) return std::nullopt;
  return stream_handle(py::module_::import("torch").attr("cuda").attr("current_stream")(given.attr("device")));
}

Input on_cuda(const py::handle& given, int number, const Device& device, const std::string& what,
              std::optional<StreamHandle> wanted) {
  const DeviceInfo& info = device.info();
  if (info.is_host)
    refuse(what, "is on a GPU, and the geometry on the host device: give it in host memory, or upload to the GPU");
  const auto check_device = [&](int of_array) {
    if (of_array >= 0 && of_array != info.cuda_device)
      refuse(what, "is on cuda:" + std::to_string(of_array) + ", and the geometry on " + info.id);
  };
  check_device(number);
  // The interface is the shortest way if it has the stream. Otherwise DLPack orders the array.
  if (has_cuda_interface(given)) {
    const py::dict interface = given.attr("__cuda_array_interface__");
    if (number < 0 || (interface.contains("stream") && !interface["stream"].is_none())) {
      Input found = of_interface(given, interface, device, what);
      // The interface does not have the device.
      if (number < 0) check_device(cuda_device_of(found.array.data));
      return found;
    }
  }
  const std::optional<StreamHandle> current = current_stream(given);
  const StreamHandle stream = wanted ? *wanted : current ? *current : legacy_stream();
  Input taken = of_dlpack(given, device, what, stream);
  // Another library may reuse its memory at any time, unless it works on the same stream.
  if (!current || !same_stream(*current, stream)) taken.stream.reset();
  return taken;
}

}  // namespace

Input input(const py::handle& given, const Device& device, const std::string& what,
            std::optional<StreamHandle> wanted) {
  if (py::isinstance<Array>(given)) {
    const auto& array = given.cast<const Array&>();
    if (array.device.info().id != device.info().id)
      refuse(what, "is on " + array.device.info().id + ", and the geometry on " + device.info().id);
    if (!array.pending) return {array, std::nullopt};
    return {array, array.pending->stream};
  }
  const int number = dlpack_device_of(given);
  if (number >= 0 || has_cuda_interface(given)) return on_cuda(given, number, device, what, wanted);
  const auto values = py::array::ensure(given);
  if (!values) {
    PyErr_Clear();
    refuse(what, "is no array but a " + type_name(given));
  }
  check_byte_order(values.dtype(), what);
  if (device.info().is_host) return {of_numpy(values, device, values), std::nullopt};
  // A copy of the caller's array, in C order.
  const py::array packed = py::array::ensure(values, py::array::c_style);
  const std::vector<py::ssize_t> shape(packed.shape(), packed.shape() + packed.ndim());
  Array copy = empty_array(device, packed.dtype(), shape);
  const auto* const from = static_cast<const std::byte*>(packed.data());
  const auto bytes = static_cast<std::size_t>(packed.nbytes());
  if (bytes != 0)
    without_gil([&] {
      const Stream stream(device);
      device.backend()->copy_to_device(copy.data, from, bytes, stream.handle());
      stream.synchronize();
      return 0;
    });
  return {copy, std::nullopt};
}

Input output(const py::handle& given, const Device& device, const std::string& what) {
  const bool on_device = py::isinstance<Array>(given) || dlpack_device_of(given) >= 0 || has_cuda_interface(given);
  if (!on_device && !device.info().is_host) refuse(what, "is not on " + device.info().id);
  if (!on_device && !py::isinstance<py::array>(given) && !py::hasattr(given, "__array_interface__") &&
      !py::hasattr(given, "__array__"))
    refuse(what, "is no array but a " + type_name(given));
  Input found = input(given, device, what, std::nullopt);
  if (found.array.read_only) refuse(what, "is read-only");
  return found;
}

std::optional<StreamHandle> stream_of(const py::handle& chosen, std::initializer_list<py::handle> given) {
  if (!chosen.is_none()) return stream_handle(chosen);
  for (const py::handle& one : given) {
    if (one.is_none()) continue;
    if (const std::optional<StreamHandle> current = current_stream(one)) return current;
    if (py::isinstance<Array>(one)) {
      const auto& array = one.cast<const Array&>();
      if (array.pending) return array.pending->stream;
      continue;
    }
    if (!has_cuda_interface(one)) continue;
    const py::dict interface = one.attr("__cuda_array_interface__");
    if (interface.contains("stream") && !interface["stream"].is_none()) return stream_handle(interface["stream"]);
  }
  return std::nullopt;
}

}  // namespace raylift::python
