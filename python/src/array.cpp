// SPDX-License-Identifier: Apache-2.0
#include "array.h"

#include <pybind11/stl.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/memory.h>

#include "parts.h"
#include "stream.h"
#include "watch.h"

namespace raylift::python {
namespace {

/// The strides of elements in C order.
std::vector<py::ssize_t> packed(py::ssize_t item, const std::vector<py::ssize_t>& shape) {
  std::vector<py::ssize_t> strides(shape.size());
  for (std::size_t axis = shape.size(); axis-- != 0; item *= shape[axis]) strides[axis] = item;
  return strides;
}

/// Appends the dtype's own shape, as that of a field of three floats, to the array's.
void take_subarray(Array& array) {
  const py::object sub = array.dtype.attr("subdtype");
  if (sub.is_none()) return;
  const auto shape = sub.cast<py::tuple>()[1].cast<std::vector<py::ssize_t>>();
  array.dtype = py::dtype::from_args(sub.cast<py::tuple>()[0]);
  for (const py::ssize_t stride : packed(array.dtype.itemsize(), shape)) array.strides.push_back(stride);
  array.shape.insert(array.shape.end(), shape.begin(), shape.end());
}

Array field(const Array& array, const std::string& name) {
  const py::object fields = array.dtype.attr("fields");
  if (fields.is_none() || !fields.contains(name)) throw py::key_error("the array has no field '" + name + "'");
  const py::tuple entry = fields[py::str(name)];
  Array part = array;
  part.dtype = py::dtype::from_args(entry[0]);
  part.data += entry[1].cast<py::ssize_t>();
  take_subarray(part);
  return part;
}

/// The same bytes as elements of another type, whose size determines the last axis.
Array view_as(const Array& array, const py::object& type) {
  Array view = array;
  view.dtype = py::dtype::from_args(type);
  const py::ssize_t item = array.dtype.itemsize(), wanted = view.dtype.itemsize();
  if (wanted == 0 || view.dtype.attr("hasobject").cast<bool>())
    throw Error(ErrorKind::usage, "an array of a device has no elements of that type");
  if (item == wanted) return view;
  if (!array.contiguous())
    throw Error(ErrorKind::usage, "an array that is not contiguous keeps the size of its elements");
  if (wanted < item) {
    if (item % wanted != 0) throw Error(ErrorKind::usage, "elements of the array are no whole number of those");
    view.shape.push_back(item / wanted);
  } else {
    if (view.shape.empty() || view.shape.back() * item % wanted != 0)
      throw Error(ErrorKind::usage, "the array's last axis is no whole number of such elements");
    view.shape.back() = view.shape.back() * item / wanted;
    if (view.shape.back() == 1 && view.shape.size() > 1) view.shape.pop_back();
  }
  view.strides = packed(wanted, view.shape);
  return view;
}

Array slice(const Array& array, const py::slice& rows) {
  if (array.shape.empty()) throw py::index_error("the array has no axis");
  py::ssize_t start = 0, stop = 0, step = 0, length = 0;
  if (!rows.compute(array.shape.front(), &start, &stop, &step, &length)) throw py::error_already_set();
  Array part = array;
  part.data += start * array.strides.front();
  part.shape.front() = length;
  part.strides.front() *= step;
  return part;
}

py::dict interface(const Array& array) {
  using namespace py::literals;
  py::dict result("shape"_a = py::tuple(py::cast(array.shape)), "typestr"_a = array.dtype.attr("str"),
                  "descr"_a = array.dtype.attr("descr"), "version"_a = 3);
  // NumPy refuses a null address; the CUDA array interface requires it for an empty array.
  static const std::byte nothing{};
  const std::byte* const none = array.on_host() ? &nothing : nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(array.count() == 0 ? none : array.data);
  result["data"] = py::make_tuple(address, array.read_only);
  result["strides"] = array.contiguous() ? py::object(py::none()) : py::object(py::tuple(py::cast(array.strides)));
  return result;
}

py::dict cuda_interface(const Array& array) {
  if (array.on_host()) throw py::attribute_error("the array is on the host device: it has __array_interface__");
  py::dict result = interface(array);
  // PyTorch refuses arrays that are marked as read-only.
  result["data"] = py::make_tuple(result["data"].cast<py::tuple>()[0], false);
  result["stream"] =
      array.pending ? py::object(py::int_(stream_number(array.pending->stream))) : py::object(py::none());
  return result;
}

py::dict host_interface(const Array& array) {
  if (!array.on_host())
    throw py::attribute_error("the array is on " + array.device.info().id + ": it has __cuda_array_interface__");
  return interface(array);
}

/// Copies each part of a split array by itself: no copy may cross its boundary.
void copy_to_host(const Array& array, void* target, std::size_t bytes, StreamRef stream) {
  auto& backend = *array.device.backend();
  const std::byte* const end = array.data + bytes;
  const bool crosses = array.host_part != nullptr && array.data < array.host_part && array.host_part < end;
  const std::size_t first = crosses ? static_cast<std::size_t>(array.host_part - array.data) : bytes;
  backend.copy_to_host(target, array.data, first, stream.handle());
  if (crosses)
    backend.copy_to_host(static_cast<std::byte*>(target) + first, array.host_part, bytes - first, stream.handle());
}

/// The array in the library that computes with it: NumPy on the host device, which shares the memory, or CuPy on a GPU.
py::object computing(const Array& array) {
  if (array.on_host()) return to_numpy(array);
  try {
    return py::module_::import("cupy").attr("asarray")(array);
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    throw py::type_error(
        "the array is on " + array.device.info().id +
        ", where CuPy computes, which is not installed: give the array to another library by DLPack, or "
        "copy it to the host by .numpy()");
  }
}

/// Gives the class the operators of that library, with its results.
void add_operators(py::class_<Array>& type) {
  const auto add = [&type](const std::string& name, auto&& call) {
    type.attr(name.c_str()) = py::cpp_function(std::forward<decltype(call)>(call), py::is_method(type));
  };
  for (const char* name :
       {"eq",   "ne",     "lt",      "le",      "gt",       "ge",       "add",       "radd", "sub",
        "rsub", "mul",    "rmul",    "truediv", "rtruediv", "floordiv", "rfloordiv", "mod",  "rmod",
        "pow",  "rpow",   "matmul",  "rmatmul", "and",      "rand",     "or",        "ror",  "xor",
        "rxor", "lshift", "rlshift", "rshift",  "rrshift",  "neg",      "pos",       "abs",  "invert",
        "bool", "int",    "float",   "index",   "contains", "iter",     "setitem"}) {
    const std::string method = "__" + std::string(name) + "__";
    add(method, [method](const Array& a, const py::args& args) { return computing(a).attr(method.c_str())(*args); });
  }
  for (const char* name : {"iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor"}) {
    const std::string method = "__" + std::string(name) + "__";
    add(method, [method](const py::object& self, const py::args& args) {
      (void)computing(self.cast<const Array&>()).attr(method.c_str())(*args);
      return self;
    });
  }
  type.attr("__hash__") = py::none();  // as NumPy's: arrays are compared element by element
}

std::string text(const Array& array) {
  const py::object fields = array.dtype.attr("fields");
  const auto type = fields.is_none() ? array.dtype.attr("name").cast<std::string>() : std::string("records");
  return "<raylift.Array " + py::repr(py::tuple(py::cast(array.shape))).cast<std::string>() + " " + type + " on " +
         array.device.info().id + ">";
}

}  // namespace

Pending::~Pending() {
  if (reads.empty()) return;
  try {
    wait();
  } catch (const Error&) {
    // The device no longer exists, nor does its work.
  }
}

void Pending::wait() const {
  const py::gil_scoped_release release;
  event.wait();
}

py::ssize_t Array::count() const {
  py::ssize_t all = 1;
  for (const py::ssize_t length : shape) all *= length;
  return all;
}

bool Array::contiguous() const {
  const std::vector<py::ssize_t> expected = packed(dtype.itemsize(), shape);
  for (std::size_t axis = 0; axis != shape.size(); ++axis)
    if (shape[axis] > 1 && strides[axis] != expected[axis]) return false;
  return true;
}

Array make_array(const Device& device, std::byte* data, const py::dtype& dtype, std::vector<py::ssize_t> shape,
                 py::object owner, bool read_only) {
  Array array{device, data, dtype, std::move(shape), {}, std::move(owner), read_only};
  array.strides = packed(dtype.itemsize(), array.shape);
  take_subarray(array);
  return array;
}

Array empty_array(const Device& device, const py::dtype& dtype, std::vector<py::ssize_t> shape) {
  Array array = make_array(device, nullptr, dtype, std::move(shape), py::none());
  const std::size_t bytes = static_cast<std::size_t>(array.count() * array.dtype.itemsize());
  if (bytes == 0) return array;
  Memory memory = without_gil([&] { return Memory::on_device(device, bytes); });
  array.data = memory.device();
  // Releasing device memory waits for the device, on which Python's callbacks may be queued.
  array.owner = py::capsule(new Memory(std::move(memory)), [](void* kept) {
    const py::gil_scoped_release release;
    delete static_cast<Memory*>(kept);
  });
  return array;
}

py::array to_numpy(const Array& array) {
  array.wait();
  if (array.on_host()) return py::module_::import("numpy").attr("asarray")(array);
  if (!array.contiguous()) {
    // Copies the bytes from the first element to the last one, then selects the array's elements.
    py::ssize_t first = 0, last = array.dtype.itemsize();
    if (array.count() == 0) return py::array(array.dtype, array.shape);
    for (std::size_t axis = 0; axis != array.shape.size(); ++axis)
      (array.strides[axis] < 0 ? first : last) += array.strides[axis] * (array.shape[axis] - 1);
    Array all = array;
    all.data += first;
    all.dtype = py::dtype::of<std::uint8_t>();
    all.shape = {last - first};
    all.strides = {1};
    const py::array bytes = to_numpy(all);
    return py::array(array.dtype, array.shape, array.strides, static_cast<const std::byte*>(bytes.data()) - first,
                     bytes)
        .attr("copy")();
  }
  py::array result(array.dtype, array.shape);
  const std::size_t bytes = static_cast<std::size_t>(array.count() * array.dtype.itemsize());
  void* const target = result.mutable_data();
  if (bytes != 0)
    without_gil([&] {
      const Stream stream(array.device);
      copy_to_host(array, target, bytes, stream);
      stream.synchronize();
    });
  return result;
}

void add_arrays(py::module_& m) {
  py::class_<Array> type(m, "Array", R"(An array in a device's memory, which it keeps allocated.

Other libraries take it without a copy: NumPy (``numpy.asarray``) on the host device; CuPy, PyTorch, Numba and JAX on a
GPU, by DLPack (``from_dlpack``) or by the CUDA array interface. Arrays that are mapped or split count as the device's
memory too, as kernels read them through the same address.

Operators, masks and the methods of arrays (``==``, ``<``, ``a[mask]``, ``a.sum()``) are NumPy's on the host device, and
CuPy's on a GPU, with arrays of theirs as results. A pickled array is loaded as a NumPy array.)");
  add_operators(type);
  type.def_property_readonly("shape", [](const Array& a) { return py::tuple(py::cast(a.shape)); })
      .def_property_readonly(
          "strides", [](const Array& a) { return py::tuple(py::cast(a.strides)); },
          "Bytes between elements, for each axis.")
      .def_property_readonly("dtype", [](const Array& a) { return a.dtype; })
      .def_property_readonly("ndim", [](const Array& a) { return a.shape.size(); })
      .def_property_readonly("size", &Array::count)
      .def_property_readonly("nbytes", [](const Array& a) { return a.count() * a.dtype.itemsize(); })
      .def_property_readonly("device", [](const Array& a) { return a.device; })
      .def_property_readonly(
          "ptr", [](const Array& a) { return reinterpret_cast<std::uintptr_t>(a.data); },
          "The device address of the first element.")
      .def_property_readonly("__array_interface__", &host_interface)
      .def_property_readonly("__cuda_array_interface__", &cuda_interface)
      .def("__array__",
           [](const Array& a, const py::args&, const py::kwargs&) {
             if (!a.on_host())
               throw py::type_error("the array is on " + a.device.info().id + ": .numpy() copies it to the host");
             return to_numpy(a);
           })
      .def("__dlpack__", &to_dlpack, py::kw_only(), py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
           py::arg("dl_device") = py::none(), py::arg("copy") = py::none())
      .def("__dlpack_device__", [](const Array& a) { return dlpack_device(a.device); })
      .def("numpy", &to_numpy, "A NumPy array: the same memory on the host device, a copy from a GPU.")
      .def("view", &view_as, py::arg("dtype"),
           "The same memory as elements of another type, as numpy.ndarray.view has it.")
      .def("synchronize", &Array::wait, "Waits until all work that raylift has started on the array is done.")
      .def("__getitem__", &field, py::arg("name"))
      .def("__getitem__", &slice, py::arg("rows"), "A field of records by its name, or a slice of rows; no copy.")
      .def(
          "__getitem__", [](const Array& a, const py::object& rows) { return computing(a).attr("__getitem__")(rows); },
          py::arg("rows"), "Rows by number, by a mask or by an array of numbers: of NumPy or CuPy.")
      .def("__getattr__",
           [](const Array& a, const std::string& name) -> py::object {
             // Libraries look for protocols by such names.
             if (name.starts_with("_")) throw py::attribute_error("raylift.Array has no attribute '" + name + "'");
             return computing(a).attr(name.c_str());
           })
      .def("__reduce__",
           [](const Array& a) {
             return py::make_tuple(py::module_::import("numpy").attr("array"), py::make_tuple(to_numpy(a)));
           })
      .def("__len__",
           [](const Array& a) {
             if (a.shape.empty()) throw py::type_error("the array has no axis");
             return a.shape.front();
           })
      .def("__repr__", &text);
}

}  // namespace raylift::python
