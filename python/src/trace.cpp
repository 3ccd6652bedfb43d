// SPDX-License-Identifier: Apache-2.0
// Geometry.trace: rays and hits as arrays of any library.
#include <pybind11/stl.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/arrays.h>
#include <raylift/gpu/rays/trace.h>

#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "parts.h"
#include "watch.h"
#include "work.h"

namespace raylift::python {
namespace {

/// Rows of three numbers: (N, 3), or (3,) for all rays. `count` is N, or 0 until an array sets it.
RayArrays::Triples triples(const Array& array, py::ssize_t& count, const char* what) {
  const std::size_t axes = array.shape.size();
  const bool one = axes == 1;
  if ((axes != 1 && axes != 2) || array.shape.back() != 3)
    throw Error(ErrorKind::usage, std::string(what) + " must have the shape (N, 3) or (3,)");
  if (array.dtype.kind() != 'f' || (array.dtype.itemsize() != 4 && array.dtype.itemsize() != 8))
    throw Error(ErrorKind::usage, std::string(what) + " must be float32 or float64");
  if (!one) {
    if (count >= 0 && count != array.shape[0])
      throw Error(ErrorKind::usage, "there are " + std::to_string(count) + " origins and " +
                                        std::to_string(array.shape[0]) + " directions");
    count = array.shape[0];
  }
  return {array.data, one ? 0 : array.strides[0], array.strides.back(), array.dtype.itemsize() == 8};
}

/// Lists and whole numbers in host memory become float64; other arrays stay as they are.
py::object numbers(const py::object& given) {
  if (py::isinstance<Array>(given) || py::hasattr(given, "__cuda_array_interface__")) return given;
  const bool is_list = py::isinstance<py::list>(given) || py::isinstance<py::tuple>(given);
  const bool is_array = py::isinstance<py::array>(given);
  if (!is_list && (!is_array || std::strchr("iu", given.cast<py::array>().dtype().kind()) == nullptr)) return given;
  const auto converted = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(given);
  if (converted) return converted;
  PyErr_Clear();
  return given;
}

/// Packed rays: records, or (N, 8) float32.
py::ssize_t records(const Array& array, py::ssize_t bytes, const char* what) {
  const bool whole = array.shape.size() == 1 && array.dtype.itemsize() == bytes;
  const bool words = array.shape.size() == 2 && array.dtype.kind() == 'f' && array.dtype.itemsize() == 4 &&
                     4 * array.shape[1] == bytes;
  if ((!whole && !words) || !array.contiguous())
    throw Error(ErrorKind::usage, std::string(what) + " must be contiguous, of the shape (N,) and raylift." + what +
                                      "_dtype, or (N, 8) and float32");
  if (reinterpret_cast<std::uintptr_t>(array.data) % 16 != 0)
    throw Error(ErrorKind::usage, std::string(what) + "s must begin at a multiple of 16 bytes");
  return array.shape[0];
}

/// Work that of_hits() has started and that may still run. Under the GIL.
std::vector<std::weak_ptr<Pending>>& unpacking() {
  static std::vector<std::weak_ptr<Pending>> all;
  std::erase_if(all, [](const std::weak_ptr<Pending>& one) { return one.expired(); });
  return all;
}

/// The array for hits: the caller's, or a new one.
Array room_for_hits(const GeometryBox& box, const py::object& out, py::ssize_t count, Work& work) {
  if (out.is_none()) return empty_array(box.geometry.device(), hit_dtype(), {count});
  const Input given = output(out, box.geometry.device(), "out");
  work.after(given);
  // Earlier hits in the array may still be unpacked, on any geometry's stream.
  for (const std::weak_ptr<Pending>& one : unpacking())
    if (const std::shared_ptr<Pending> pending = one.lock()) pending->hold_back(work.stream());
  const Array& array = given.array;
  if (records(array, sizeof(Hit), "hit") != count)
    throw Error(ErrorKind::usage, "out has room for " + std::to_string(array.shape[0]) + " hits, and there are " +
                                      std::to_string(count) + " rays");
  return make_array(array.device, array.data, hit_dtype(), {count}, array.owner);
}

py::object hits_of(const GeometryPointer& box, Array hits, Work& work) {
  hits.pending = work.pending();
  return py::module_::import("raylift.hits").attr("Hits")(box, std::move(hits));
}

/// The rays of a call, on the geometry's device.
class RaysOfCall {
 public:
  RaysOfCall(const GeometryBox& box, const py::object& origins, const py::object& directions, float tmin, float tmax,
             Work& work)
      : box_(box),
        work_(work),
        from_(input(numbers(origins), box.geometry.device(), "origins", work.stream().handle())),
        along_(input(numbers(directions), box.geometry.device(), "directions", work.stream().handle())) {
    py::ssize_t count = -1;
    arrays_.origins = triples(from_.array, count, "origins");
    arrays_.directions = triples(along_.array, count, "directions");
    count_ = count < 0 ? 1 : count;
    std::copy(std::begin(box.geometry.view().origin), std::end(box.geometry.view().origin), arrays_.shift);
    arrays_.tmin = tmin;
    arrays_.tmax = tmax;
    work.after(from_);
    work.after(along_);
  }
  [[nodiscard]] py::ssize_t count() const { return count_; }
  /// use(rays, count), without the GIL, unless there are none.
  template <class Use>
  void use(const Use& use) const {
    if (count_ == 0) return;
    without_gil([&] {
      const auto count = static_cast<std::size_t>(count_);
      const Device& device = box_.geometry.device();
      const PooledBuffer<Ray> packed(device, work_.stream(), count);
      pack_rays(device, arrays_, packed.device(), count, work_.stream());
      use(packed.device(), count);
      return 0;
    });
  }

 private:
  const GeometryBox& box_;
  const Work& work_;
  Input from_, along_;
  RayArrays arrays_;
  py::ssize_t count_ = 0;
};

py::object trace_arrays(const GeometryPointer& box, const py::object& origins, const py::object& directions, float tmin,
                        float tmax, const py::object& out, const py::object& stream) {
  Work work(*box, stream_of(stream, {origins, directions, out}), stream);
  const RaysOfCall rays(*box, origins, directions, tmin, tmax, work);
  Array hits = room_for_hits(*box, out, rays.count(), work);
  rays.use([&](const Ray* packed, std::size_t count) {
    trace(box->geometry, packed, reinterpret_cast<Hit*>(hits.data), count, work.stream());
  });
  return hits_of(box, std::move(hits), work);
}

Array count_of_hits(const GeometryPointer& box, const py::object& origins, const py::object& directions, float tmin,
                    float tmax, const py::object& stream) {
  Work work(*box, stream_of(stream, {origins, directions}), stream);
  const RaysOfCall rays(*box, origins, directions, tmin, tmax, work);
  Array numbers = empty_array(box->geometry.device(), py::dtype("<u4"), {rays.count()});
  rays.use([&](const Ray* packed, std::size_t count) {
    count_hits(box->geometry, packed, reinterpret_cast<std::uint32_t*>(numbers.data), count, work.stream());
  });
  numbers.pending = work.pending();
  return numbers;
}

/// Hits, and how many each ray has.
py::tuple all_of_hits(const GeometryPointer& box, const py::object& origins, const py::object& directions, float tmin,
                      float tmax, const py::object& stream) {
  const Device& device = box->geometry.device();
  Work work(*box, stream_of(stream, {origins, directions}), stream);
  const RaysOfCall rays(*box, origins, directions, tmin, tmax, work);
  Array numbers = empty_array(device, py::dtype("<u4"), {rays.count()});
  Array hits = empty_array(device, hit_dtype(), {0});
  rays.use([&](const Ray* packed, std::size_t count) {
    count_hits(box->geometry, packed, reinterpret_cast<std::uint32_t*>(numbers.data), count, work.stream());
    // The host needs the counts, to allocate memory for the hits.
    std::vector<std::uint32_t> counts(count);
    device.backend()->copy_to_host(counts.data(), numbers.data, count * sizeof counts[0], work.stream().handle());
    device.synchronize(work.stream());
    std::vector<std::uint64_t> ends(count);
    std::inclusive_scan(counts.begin(), counts.end(), ends.begin(), std::plus(), std::uint64_t{0});
    {
      const py::gil_scoped_acquire with_gil;
      hits = empty_array(device, hit_dtype(), {static_cast<py::ssize_t>(ends.back())});
    }
    DeviceBuffer<std::uint64_t> on_device(device, count);
    on_device.copy_from(std::span<const std::uint64_t>(ends), work.stream());
    all_hits(box->geometry, packed, on_device.device(), reinterpret_cast<Hit*>(hits.data), count, work.stream());
    device.synchronize(work.stream());  // it reads `ends`
  });
  numbers.pending = work.pending();
  return py::make_tuple(hits_of(box, std::move(hits), work), std::move(numbers));
}

py::object trace_rays(const GeometryPointer& box, const py::object& rays, const py::object& out,
                      const py::object& stream) {
  Work work(*box, stream_of(stream, {rays, out}), stream);
  const Input given = input(rays, box->geometry.device(), "rays", work.stream().handle());
  const py::ssize_t count = records(given.array, sizeof(Ray), "ray");
  Array hits = room_for_hits(*box, out, count, work);
  work.after(given);
  if (count != 0)
    without_gil([&] {
      trace(box->geometry, reinterpret_cast<const Ray*>(given.array.data), reinterpret_cast<Hit*>(hits.data),
            static_cast<std::size_t>(count), work.stream());
      return 0;
    });
  return hits_of(box, std::move(hits), work);
}

/// One quantity of hits as an array: see HitArrays.
Array of_hits(const GeometryPointer& box, const Array& hits, const std::string& what) {
  const bool flag = what == "valid" || what == "from_inside";
  const bool material = what == "material_inside" || what == "material_outside";
  Array array = empty_array(box->geometry.device(), py::dtype(flag ? "|b1" : material ? "<u2" : "<u4"), hits.shape);
  HitArrays arrays;
  if (what == "valid") arrays.valid = reinterpret_cast<std::uint8_t*>(array.data);
  if (what == "from_inside") arrays.from_inside = reinterpret_cast<std::uint8_t*>(array.data);
  if (what == "instance") arrays.instances = reinterpret_cast<std::uint32_t*>(array.data);
  if (what == "solid") arrays.solids = reinterpret_cast<std::uint32_t*>(array.data);
  if (what == "material_inside") arrays.inside = reinterpret_cast<std::uint16_t*>(array.data);
  if (what == "material_outside") arrays.outside = reinterpret_cast<std::uint16_t*>(array.data);
  // Uses the geometry's own stream: that of the hits may no longer exist.
  Work work(*box, std::nullopt);
  if (hits.pending) hits.pending->hold_back(work.stream());
  if (!box->geometry.device().info().is_host) work.keep(hits.owner);
  if (array.count() != 0)
    without_gil([&] {
      unpack_hits(box->geometry, reinterpret_cast<const Hit*>(hits.data), arrays,
                  static_cast<std::size_t>(array.count()), work.stream());
      return 0;
    });
  array.pending = work.pending();
  if (array.pending) unpacking().push_back(array.pending);
  return array;
}

}  // namespace

void add_tracing(py::module_& m) {
  auto geometry = py::class_<GeometryBox, GeometryPointer>(m.attr("Geometry"));
  geometry
      .def("trace", &trace_arrays, py::arg("origins"), py::arg("directions"), py::kw_only(), py::arg("tmin") = 0.0F,
           py::arg("tmax") = std::numeric_limits<float>::infinity(), py::arg("out") = py::none(),
           py::arg("stream") = py::none(),
           R"(The nearest hit of each ray: a Hits.

origins: (N, 3), or (3,) for all rays, float32 or float64, millimetres in the scene's coordinates. directions: likewise,
of any length; t counts in it. Both are arrays of any library in the geometry's memory, of any strides; on a GPU, NumPy's
are copied there. tmin, tmax: only hits at tmin <= t < tmax. out: (N, 8) float32 or (N,) of hit_dtype, to be filled.
stream: what the work is on; without it the stream of PyTorch's, CuPy's or Numba's arrays. On a GPU the call returns
before the work is done; arrays of the result are ordered behind it. Raises raylift.Error: usage, device, memory.)")
      .def(
          "trace_rays", &trace_rays, py::arg("rays"), py::kw_only(), py::arg("out") = py::none(),
          py::arg("stream") = py::none(),
          R"(The same for rays that are packed: (N,) of ray_dtype, or (N, 8) float32 with origin, tmin, direction and tmax.

Origins are millimetres from Geometry.origin. Nothing is copied, and with ``out`` nothing allocated but what C++'s trace() takes of the device's pool for geometry that is
not wholly on the device.)")
      .def("count_hits", &count_of_hits, py::arg("origins"), py::arg("directions"), py::kw_only(),
           py::arg("tmin") = 0.0F, py::arg("tmax") = std::numeric_limits<float>::infinity(),
           py::arg("stream") = py::none(),
           R"(How many triangles each ray passes through: (N,) uint32.

Arguments and errors as for trace(). A surface counts once wherever a ray passes through it, also at an edge or a vertex,
and surfaces that coincide count each. So the count is odd from within a closed solid, and even from outside.)")
      .def("all_hits", &all_of_hits, py::arg("origins"), py::arg("directions"), py::kw_only(), py::arg("tmin") = 0.0F,
           py::arg("tmax") = std::numeric_limits<float>::infinity(), py::arg("stream") = py::none(),
           R"(All hits of each ray, and how many it has: a Hits of M rows, and (N,) uint32.

The rows of a ray are in its order, and behind those of the rays before it: numpy.repeat(numpy.arange(N), counts) are
their rays. Arguments and errors as for trace(), and what counts as for count_hits(). The call waits for the counts.)")
      .def("_of_hits", &of_hits);
}

}  // namespace raylift::python
