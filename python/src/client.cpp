// SPDX-License-Identifier: Apache-2.0
// raylift.Client: requests to `raylift serve`, their results as NumPy arrays.
#include <raylift/geometry/error.h>

#include "geometry.h"
#include "parts.h"

#if defined(RAYLIFT_WITH_CLIENT)
#include <pybind11/eval.h>
#include <pybind11/stl.h>
#include <raylift/client/client.h>
#include <raylift/photon/results.h>

#include <cmath>

#include "watch.h"
#endif

namespace raylift::python {
namespace {

using namespace py::literals;

#if defined(RAYLIFT_WITH_CLIENT)

std::shared_ptr<const Error> error_of(const client::Error& error) {
  return std::make_shared<const Error>(error_kind(protocol::kind_of(error.code())), error.problem(),
                                       Error::Where{"", error.element()}, error.advice());
}

/// A call without the interpreter's lock; errors as raylift's.
template <class Call>
auto called(const Call& call) {
  try {
    return without_gil(call);
  } catch (const client::Error& error) {
    throw Error(*error_of(error));
  }
}

/// Waits in steps, so that an interrupt of the keyboard ends it.
template <class Ready>
bool waited(std::optional<double> timeout, const Ready& ready) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  while (!ready()) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (timeout && std::chrono::duration<double>(Clock::now() - begin).count() > *timeout) return false;
  }
  return true;
}
constexpr std::chrono::milliseconds kStep{100};

std::chrono::milliseconds step_of(std::optional<double> timeout) {
  return timeout ? std::min(kStep, std::chrono::milliseconds(static_cast<long>(std::max(0.0, *timeout) * 1000)))
                 : kStep;
}

/// An array of the result's memory, which it keeps.
py::array bytes_array(const client::Bytes& bytes, const py::dtype& dtype) {
  auto* const held = new client::Bytes(bytes);
  const py::capsule owner(held, [](void* kept) { delete static_cast<client::Bytes*>(kept); });
  const auto rows = static_cast<py::ssize_t>(bytes.size()) / dtype.itemsize();
  py::array array(dtype, {rows}, bytes.data(), owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

py::dtype compact_dtype() {
  return py::dtype::from_args(
      py::eval("[('channel', '<i4'), ('time', '<f4'), ('wavelength', '<f4'), ('flags', '<u4')]"));
}

py::dict dict_of(const client::Result& result) {
  if (result.error) throw Error(*error_of(*result.error));
  py::dict ends;
  for (unsigned kind = 1; kind != photon::kStepKinds; ++kind)
    if (const std::uint64_t count = result.counts.ends[kind]; count != 0)
      ends[py::str(std::string(photon::to_string(static_cast<photon::StepKind>(kind))))] = count;
  py::dict all("ticket"_a = result.ticket, "event"_a = result.event, "seed"_a = result.seed, "first"_a = result.first,
               "photons"_a = result.photons, "steps"_a = result.counts.steps, "ends"_a = ends);
  all["hits"] = bytes_array(result.bytes, result.layout == client::Layout::compact ? compact_dtype() : photon_dtype());
  all["hit_count"] = result.hits;
  all["finals"] = bytes_array(result.finals, photon_dtype());
  all["sequences"] = bytes_array(result.sequences, py::dtype::from_args(py::eval("('<u8', (2, 2))")));
  all["record"] = bytes_array(result.records, photon_dtype()).attr("reshape")(-1, photon::kSequenceEvents);
  return all;
}

class ClientBox {
 public:
  ClientBox(std::vector<std::string> addresses, const std::string& keys, const std::string& digest, bool shared_memory,
            double patience) {
    client::Options options;
    options.addresses = std::move(addresses);
    options.shared_memory = shared_memory;
    options.patience = std::chrono::milliseconds(static_cast<std::int64_t>(patience * 1000));
    if (!digest.empty()) {
      if (digest.size() != options.digest.size()) throw Error(ErrorKind::usage, "a digest has 64 hexadecimal digits");
      std::copy(digest.begin(), digest.end(), options.digest.begin());
    }
    called([&] {
      if (!keys.empty()) options.keys = client::read_keys(keys);
      client_ = std::make_unique<client::Client>(std::move(options));
      return 0;
    });
  }
  client::Client& get() { return *client_; }

 private:
  std::unique_ptr<client::Client> client_;
};

client::Ticket submit(ClientBox& box, const std::string& body, const py::buffer& data,
                      std::optional<std::uint64_t> count, std::optional<std::uint64_t> expected, std::uint64_t event,
                      std::uint64_t seed, std::uint64_t first, std::uint32_t max_steps, float max_time,
                      const std::string& hits, bool finals, bool sequences, bool record) {
  client::Request request;
  request.body = body == "gensteps"  ? protocol::Header::Body::gensteps
                 : body == "photons" ? protocol::Header::Body::photons
                                     : protocol::Header::Body::source;
  const py::buffer_info info = data.request();
  request.bytes = client::Bytes::copy(info.ptr, static_cast<std::size_t>(info.size * info.itemsize));
  request.photons = count.value_or(client::kAll);
  request.expected = expected.value_or(client::kAll);
  request.event = event;
  request.seed = seed;
  request.first = first;
  request.max_steps = max_steps;
  request.max_time = std::isinf(max_time) ? 0 : max_time;
  request.layout = hits == "rows"      ? client::Layout::rows
                   : hits == "compact" ? client::Layout::compact
                                       : client::Layout::none;
  request.finals = finals;
  request.sequences = sequences;
  request.records = record;
  return called([&] { return box.get().submit(std::move(request)); });
}

#endif

}  // namespace

void add_client(py::module_& m) {
#if defined(RAYLIFT_WITH_CLIENT)
  py::class_<ClientBox>(m, "_Client")
      .def(py::init([](std::vector<std::string> addresses, const std::string& keys, const py::bytes& digest,
                       bool shared_memory, double patience) {
             return std::make_unique<ClientBox>(std::move(addresses), keys, std::string(digest), shared_memory,
                                                patience);
           }),
           "addresses"_a, "keys"_a, "digest"_a, "shared_memory"_a, "patience"_a)
      .def("submit", &submit, "body"_a, "data"_a, py::kw_only(), "count"_a, "expected"_a, "event"_a, "seed"_a,
           "first"_a, "max_steps"_a, "max_time"_a, "hits"_a, "finals"_a, "sequences"_a, "record"_a)
      .def("ready", [](ClientBox& box, client::Ticket ticket) { return box.get().ready(ticket); })
      .def("wait",
           [](ClientBox& box, client::Ticket ticket, std::optional<double> timeout) {
             client::Result result;
             const bool came = waited(timeout, [&] {
               return called([&] {
                 try {
                   result = box.get().wait(ticket, step_of(timeout));
                   return true;
                 } catch (const client::Error& error) {
                   if (error.code() != client::ErrorCode::timeout) throw;
                   return false;
                 }
               });
             });
             if (!came) throw Error(ErrorKind::io, "no result came in time", {}, "wait longer, or cancel the request");
             return dict_of(result);
           })
      .def("next",
           [](ClientBox& box, std::optional<double> timeout) -> py::object {
             std::optional<client::Result> result;
             (void)waited(timeout, [&] {
               return called([&] {
                 result = box.get().next(step_of(timeout));
                 return result.has_value() || box.get().pending() == 0;
               });
             });
             if (!result) return py::none();
             return dict_of(*result);
           })
      .def("cancel", [](ClientBox& box, client::Ticket ticket) { box.get().cancel(ticket); })
      .def("pending", [](ClientBox& box) { return box.get().pending(); })
      .def("welcome", [](ClientBox& box) { return called([&] { return box.get().welcome(); }); })
      .def("status", [](ClientBox& box) { return called([&] { return box.get().status(); }); });
#else
  m.def("_Client", [](const py::args&, const py::kwargs&) {
    throw Error(ErrorKind::unsupported, "this build of raylift has no client of a service", {},
                "build raylift with libzmq3-dev and cppzmq-dev, and -DRAYLIFT_ZMQ=ON");
  });
#endif
}

}  // namespace raylift::python
