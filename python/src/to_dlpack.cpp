// SPDX-License-Identifier: Apache-2.0
// Arrays to other libraries by DLPack: https://data-apis.org/array-api/latest/design_topics/data_interchange.html
#include "array.h"
#include "dlpack.h"
#include "stream.h"

namespace raylift::python {
namespace {

struct Context {
  py::object owner;
  std::vector<std::int64_t> shape, strides;
};

template <class T>
void release(T* managed) {
  const py::gil_scoped_acquire acquire;  // consumers may let go of it on any thread
  delete static_cast<Context*>(managed->context);
  delete managed;
}

dlpack::DataType type_of(const py::dtype& dtype) {
  const auto type = [&](dlpack::Code code) {
    return dlpack::DataType{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * dtype.itemsize()), 1};
  };
  switch (dtype.kind()) {
    case 'f':
      return type(dlpack::Code::floating);
    case 'i':
      return type(dlpack::Code::integer);
    case 'u':
      return type(dlpack::Code::unsigned_integer);
    case 'b':
      return type(dlpack::Code::boolean);
    default:
      throw py::buffer_error("DLPack has no records: use a field, array['name'], or array.view('float32')");
  }
}

template <class T>
py::object capsule(const Array& array, const char* name) {
  auto context = std::make_unique<Context>();
  context->owner = array.owner;
  context->shape.assign(array.shape.begin(), array.shape.end());
  for (const py::ssize_t stride : array.strides) context->strides.push_back(stride / array.dtype.itemsize());
  auto managed = std::make_unique<T>();
  if constexpr (requires { managed->flags; }) {
    managed->major = 1;
    managed->minor = 0;
    managed->flags = array.read_only && array.on_host() ? dlpack::kReadOnly : 0;  // others refuse it
  }
  const DeviceInfo& info = array.device.info();
  managed->tensor = {array.data,
                     {info.is_host ? dlpack::kCpu : dlpack::kCuda, info.is_host ? 0 : info.cuda_device},
                     static_cast<std::int32_t>(array.shape.size()),
                     type_of(array.dtype),
                     context->shape.data(),
                     context->strides.data(),
                     0};
  managed->context = context.get();
  managed->deleter = &release<T>;
  PyObject* const made = PyCapsule_New(managed.get(), name, [](PyObject* self) {
    // A consumer renames a capsule whose tensor it has.
    for (const char* own : {"dltensor", "dltensor_versioned"})
      if (PyCapsule_IsValid(self, own)) {
        auto* const left = static_cast<T*>(PyCapsule_GetPointer(self, own));
        left->deleter(left);
      }
  });
  if (made == nullptr) throw py::error_already_set();
  (void)context.release();
  (void)managed.release();
  return py::reinterpret_steal<py::object>(made);
}

}  // namespace

py::tuple dlpack_device(const Device& device) {
  const DeviceInfo& info = device.info();
  if (info.is_host) return py::make_tuple(dlpack::kCpu, 0);
  return py::make_tuple(dlpack::kCuda, info.cuda_device);
}

py::object to_dlpack(const Array& array, const py::object& stream, const py::object& max_version,
                     const py::object& dl_device, const py::object& copy) {
  if (!copy.is_none() && copy.cast<bool>()) throw py::buffer_error("raylift gives arrays without a copy alone");
  if (!dl_device.is_none() && !dl_device.equal(dlpack_device(array.device)))
    throw py::buffer_error("the array is on " + array.device.info().id + ", and is not copied to another device");
  for (const py::ssize_t stride : array.strides)
    if (stride % array.dtype.itemsize() != 0)
      throw py::buffer_error("the array's strides are no multiples of its elements");
  // -1: the consumer has its own order. Without one it works on the default stream.
  const bool unordered = !stream.is_none() && stream.cast<std::int64_t>() == -1;
  if (array.pending && !unordered) {
    const StreamHandle on = stream.is_none() ? legacy_stream() : stream_handle(stream);
    if (!same_stream(on, array.pending->stream)) array.pending->hold_back(on);
  }
  const bool versioned = !max_version.is_none() && max_version.cast<py::tuple>()[0].cast<int>() >= 1;
  if (versioned) return capsule<dlpack::ManagedVersioned>(array, "dltensor_versioned");
  return capsule<dlpack::Managed>(array, "dltensor");
}

}  // namespace raylift::python
