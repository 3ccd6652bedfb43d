// SPDX-License-Identifier: Apache-2.0
// raylift.propagate: photons from emission to end, their hits as NumPy arrays.
#include <pybind11/stl.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/photon/load_source.h>
#include <raylift/photon/propagate.h>
#include <raylift/photon/simulation.h>

#include <cstring>

#include "geometry.h"
#include "input.h"
#include "parts.h"
#include "stream.h"
#include "watch.h"

namespace raylift::python {
namespace {

using namespace py::literals;
using photon::PhotonRow;

/// A source for one geometry, with the arrays that it reads.
struct ReadySource {
  photon::Source source;
  std::optional<std::uint64_t> photons;  ///< nothing: any number

  std::unique_ptr<photon::LoadedSource> text;
  std::unique_ptr<photon::Gensteps> gensteps;
  DeviceBuffer<photon::StartPhoton> started;
  py::object kept;  ///< the caller's array of photons
};

/// The caller's rows as structs: (N, rows, 4) of float32, or records of as many bytes.
template <class T>
std::vector<T> structs_of(const Array& array) {
  const py::array values = py::array::ensure(to_numpy(array), py::array::c_style);
  std::vector<T> rows(static_cast<std::size_t>(values.nbytes()) / sizeof(T));
  if (!rows.empty()) std::memcpy(static_cast<void*>(rows.data()), values.data(), rows.size() * sizeof(T));
  return rows;
}

bool has_rows(const Array& array, py::ssize_t rows) {
  const auto item = array.dtype.itemsize();
  return (array.shape.size() == 3 && array.shape[1] == rows && array.shape[2] == 4 && item == 4 &&
          array.dtype.kind() == 'f') ||
         (array.shape.size() == 1 && item == rows * 16);
}

void start_photons(ReadySource& ready, const GeometryBox& box, const Input& given, bool in_place) {
  const Device& device = box.geometry.device();
  const auto count = static_cast<std::size_t>(given.array.shape[0]);
  ready.photons = ready.source.photon_count = count;
  if (in_place) {
    if (!given.array.contiguous() || reinterpret_cast<std::uintptr_t>(given.array.data) % 16 != 0)
      throw Error(ErrorKind::usage, "photons on a GPU must be contiguous, and begin at a multiple of 16 bytes");
    ready.source.photons = reinterpret_cast<const photon::StartPhoton*>(given.array.data);
    ready.kept = given.array.owner;
    return;
  }
  const std::vector<photon::StartPhoton> rows = structs_of<photon::StartPhoton>(given.array);
  photon::check_photons(rows);
  ready.started = DeviceBuffer<photon::StartPhoton>(device, std::max<std::size_t>(rows.size(), 1));
  ready.started.copy_from(std::span<const photon::StartPhoton>(rows), box.stream);
  box.stream.synchronize();
  ready.source.photons = ready.started.device();
}

ReadySource source_of(const GeometryBox& box, const py::object& given, std::uint64_t seed) {
  ReadySource ready;
  if (py::isinstance<py::str>(given)) {
    const auto text = given.cast<std::string>();
    without_gil([&] {
      ready.text = std::make_unique<photon::LoadedSource>(text, box.geometry, seed);
      return 0;
    });
    ready.source = ready.text->source();
    ready.photons = ready.text->photons();
    return ready;
  }
  const Device& device = box.geometry.device();
  // In place on a GPU; everything that is in host memory goes there relative to the geometry's origin.
  const bool in_place =
      !device.info().is_host && (py::isinstance<Array>(given) || py::hasattr(given, "__cuda_array_interface__"));
  const Device where = in_place ? device : Device::host(0);
  const Input values = input(given, in_place ? device : where, "source", std::nullopt);
  // The legacy stream orders arrays of libraries that state no stream.
  if (in_place) Pending(device, values.stream ? *values.stream : legacy_stream()).wait();
  if (has_rows(values.array, 6)) {
    const auto steps = structs_of<photon::Genstep>(values.array);
    without_gil([&] {
      ready.gensteps = std::make_unique<photon::Gensteps>(box.geometry, steps, seed, box.stream);
      return 0;
    });
    ready.source = ready.gensteps->source();
    ready.photons = ready.gensteps->photons();
    return ready;
  }
  if (!has_rows(values.array, 4))
    throw Error(ErrorKind::usage, "a source is a text, photons (N, 4, 4) or gensteps (N, 6, 4) of float32");
  start_photons(ready, box, values, in_place);
  return ready;
}

/// A NumPy array that owns the vector.
template <class T>
py::array taken(std::vector<T> values, const py::dtype& dtype, std::vector<py::ssize_t> shape) {
  auto* const held = new std::vector<T>(std::move(values));
  const py::capsule owner(held, [](void* vector) { delete static_cast<std::vector<T>*>(vector); });
  return py::array(dtype, std::move(shape), held->data(), owner);
}

py::array rows_of(std::vector<PhotonRow> rows) {
  const auto count = static_cast<py::ssize_t>(rows.size());
  return taken(std::move(rows), photon_dtype(), {count});
}

py::dict ends(const photon::Tally& tally) {
  py::dict counts;
  for (unsigned kind = 1; kind != photon::kStepKinds; ++kind) {
    const auto step = static_cast<photon::StepKind>(kind);
    if (const std::uint64_t count = tally.of(step); count != 0)
      counts[py::str(std::string(photon::to_string(step)))] = count;
  }
  return counts;
}

/// Adjacent counts of a tally, as (rows, columns).
py::array_t<std::uint64_t> part(const photon::Tally& tally, std::size_t first, py::ssize_t rows, py::ssize_t columns) {
  py::array_t<std::uint64_t> array({rows, columns});
  std::copy_n(tally.counts.begin() + static_cast<std::ptrdiff_t>(first), rows * columns, array.mutable_data());
  return array;
}

void put_tally(py::dict& result, const photon::Tally& tally) {
  const photon::Tally::Layout& layout = tally.layout;
  const auto channels = static_cast<py::ssize_t>(tally.channels.size());
  result["photons"] = tally.photons();
  result["steps"] = tally.steps();
  result["ends"] = ends(tally);
  result["by_material"] = part(tally, layout.material(0, 0), layout.materials + py::ssize_t{1}, photon::kStepKinds);
  result["end_values"] = part(tally, layout.end_value(0, 0), layout.materials, kBulkProperties);
  result["by_surface"] = part(tally, layout.surface(0, 0), layout.surfaces + py::ssize_t{1}, photon::kStepKinds);
  py::array_t<std::int64_t> numbers({channels, py::ssize_t{2}});
  for (py::ssize_t i = 0; i != channels; ++i) {
    numbers.mutable_at(i, 0) = tally.channels[static_cast<std::size_t>(i)];
    numbers.mutable_at(i, 1) = static_cast<std::int64_t>(tally.in_channel(static_cast<std::size_t>(i)));
  }
  result["channels"] = numbers;
  if (layout.time_bins != 0)
    result["times"] = part(tally, layout.channel(0) + tally.channels.size(), channels, layout.time_bins);
}

struct Wanted {
  bool hits, finals, sequences;
};

py::dict run(const GeometryBox& box, const ReadySource& ready, const photon::Run& how, std::uint64_t count,
             const photon::SimulationOptions& options, Wanted wanted, std::size_t recorded,
             const py::object& progress) {
  std::vector<PhotonRow> hits, finals, steps;
  std::vector<photon::Sequence> sequences;
  photon::Simulation::Results results;
  const auto into = [](auto& all) {
    return [&all](const auto& rows) { all.insert(all.end(), rows.begin(), rows.end()); };
  };
  if (wanted.hits) results.hits = into(hits);
  if (wanted.finals) results.finals = into(finals);
  if (wanted.sequences) results.sequences = into(sequences);
  Watch watch(progress);
  std::uint64_t farthest = 0;
  results.begin = results.done = results.during = [&](std::uint64_t done) {
    farthest = std::max(farthest, done);
    watch.check("photons", farthest, count);
  };
  const photon::Tally tally = watch.run([&](const Progress&) {
    photon::Simulation simulation(box.geometry, options);
    photon::Tally counts = simulation.run(ready.source, how, count, results);
    if (recorded != 0)
      steps = photon::record(box.geometry, ready.source, how, recorded,
                             [&](std::size_t done) { watch.check("record", done, recorded); });
    return counts;
  });
  py::dict result;
  put_tally(result, tally);
  result["hits"] = wanted.hits ? py::object(rows_of(std::move(hits))) : py::none();
  result["finals"] = wanted.finals ? py::object(rows_of(std::move(finals))) : py::none();
  result["sequences"] = py::none();
  if (wanted.sequences) {
    const auto rows = static_cast<py::ssize_t>(sequences.size());
    result["sequences"] = taken(std::move(sequences), py::dtype("<u8"), {rows, 2, 2});
  }
  result["record"] = py::none();
  if (recorded != 0) result["record"] = rows_of(std::move(steps)).attr("reshape")(recorded, photon::kSequenceEvents);
  return result;
}

py::object propagate(const GeometryPointer& box, const py::object& source, std::optional<std::uint64_t> photons,
                     std::uint64_t seed, std::uint64_t first, std::uint32_t max_steps, float max_time, bool hits,
                     bool finals, bool sequences, std::size_t record,
                     const std::optional<std::tuple<std::uint32_t, float, float>>& times, std::size_t batch,
                     const py::object& progress) {
  photon::refuse_unsimulated(box->scene->ready());
  const ReadySource ready = source_of(*box, source, seed);
  if (!photons && !ready.photons)
    throw Error(ErrorKind::usage, "such a source has any number of photons: say how many, photons=...");
  std::uint64_t count = photons ? *photons : *ready.photons - std::min(first, *ready.photons);
  if (ready.photons && (first > *ready.photons || count > *ready.photons - first))
    throw Error(ErrorKind::usage, "the source has " + std::to_string(*ready.photons) + " photons");
  photon::Run how;
  how.seed = seed;
  how.first = first;
  how.most_steps = max_steps;
  how.latest = max_time;
  photon::SimulationOptions options;
  options.batch = batch;
  if (times) std::tie(options.time_bins, options.time_from, options.time_to) = *times;
  const py::dict result = run(*box, ready, how, count, options, {hits, finals, sequences},
                              static_cast<std::size_t>(std::min<std::uint64_t>(record, count)), progress);
  return py::module_::import("raylift.photons").attr("Propagation")(box, result);
}

}  // namespace

void add_photons(py::module_& m) {
  m.def("propagate", &propagate, py::arg("geometry"), py::arg("source"), py::arg("photons") = py::none(), py::kw_only(),
        py::arg("seed") = 0, py::arg("first") = 0, py::arg("max_steps") = photon::Run{}.most_steps,
        py::arg("max_time") = photon::Run{}.latest, py::arg("hits") = true, py::arg("finals") = false,
        py::arg("sequences") = false, py::arg("record") = 0, py::arg("times") = py::none(), py::arg("batch") = 0,
        py::arg("progress") = py::none(),
        R"(Simulates photons from emission to end: a Propagation.

source: a text ("point:0,0,0", "gensteps:steps.npy": docs/photons.md); photons (N, 4, 4) of float32, in Opticks's layout;
or gensteps (G, 6, 4). Positions are the scene's, in millimetres; of photons that are on the GPU already, and are used
in place, from Geometry.origin. photons: how many; of arrays, all by default. A photon's history depends on seed, source
and its number alone, which counts from ``first``. max_steps, max_time (ns): what goes on beyond is cut.
hits, finals, sequences: which rows are kept; record: so many photons step by step; times: (bins, from, to) in ns of each
channel's histogram. batch: photons at once; results don't depend on it.
Raises raylift.Error: usage, unsupported, malformed, device, memory, cancelled.)");
  py::list kinds;
  for (unsigned kind = 0; kind != static_cast<unsigned>(photon::StepKind::cut) + 1; ++kind)
    kinds.append(std::string(photon::to_string(static_cast<photon::StepKind>(kind))));
  m.attr("step_kinds") = py::tuple(kinds);
}

}  // namespace raylift::python
