// SPDX-License-Identifier: Apache-2.0
// Photons of many events for many clients, on one device or several: requests come from any thread, those of many
// events share a launch, and each gives its results in a future.
//
//   raylift::photon::Service service(std::move(geometries));        // one for each device, of the same scene
//   const raylift::photon::Service::ClientId client = service.add_client("worker 3");
//   raylift::photon::Request request;
//   request.event = 17;
//   request.seed = 17;
//   request.source = raylift::photon::SharedRows<raylift::photon::Genstep>(std::move(gensteps));
//   raylift::photon::Service::Submission submission = service.submit(client, request);
//   if (submission.accepted()) use(submission.reply.get().hits());
//
// docs/photons.md describes it.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/photon/genstep.h>
#include <raylift/photon/hit_columns.h>
#include <raylift/photon/results.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace raylift::photon {

/// Rows of an input, shared and constant: copies refer to the same rows.
template <class T>
class SharedRows {
 public:
  SharedRows() = default;
  explicit SharedRows(std::vector<T> rows) {
    const auto owner = std::make_shared<const std::vector<T>>(std::move(rows));
    rows_ = *owner;
    owner_ = owner;
  }
  /// Rows that stay where they are, and as they are, while `owner` lives.
  SharedRows(std::span<const T> rows, std::shared_ptr<const void> owner) : rows_(rows), owner_(std::move(owner)) {}
  [[nodiscard]] std::span<const T> rows() const { return rows_; }

 private:
  std::span<const T> rows_;
  std::shared_ptr<const void> owner_;
};

/// In Request::count: all photons of the gensteps or of the array.
inline constexpr std::uint64_t kAllPhotons = std::numeric_limits<std::uint64_t>::max();

/// The photons of an event to simulate, and the results that are wanted. The results depend on the seed, the source,
/// the range of photons and the limits, on nothing else: they are the bytes that Simulation::run() gives for the event
/// alone.
struct Request {
  std::uint64_t event = 0;  ///< the caller's number, which the reply repeats: not used otherwise
  /// The key of the random numbers. Events need different seeds: the photons of two events with the same seed and
  /// source are the same.
  std::uint64_t seed = 0;
  /// Where photons are born; points are the scene's. Gensteps: (G, 6, 4); photons: (N, 4, 4), without `rest`; or a
  /// source that makes photons itself, whose arrays at addresses of a device are not set.
  std::variant<Source, SharedRows<StartPhoton>, SharedRows<Genstep>> source;
  /// Photons first to first + count - 1 of the source: of an array's photons, or of those of all gensteps, numbered
  /// from 0 on. kAllPhotons: from `first` on all, where the source has an end.
  std::uint64_t first = 0;
  std::uint64_t count = kAllPhotons;
  std::uint32_t most_steps = 10'000;                      ///< as Run::most_steps
  float latest = std::numeric_limits<float>::infinity();  ///< ns, as Run::latest
  ShiftProfile shift_profile = ShiftProfile::delta;
  /// Error(limit) for more photons than this, and for more than ServiceOptions::max_photons: gensteps whose number
  /// comes from physics may have any.
  std::uint64_t max_photons = std::numeric_limits<std::uint64_t>::max();
  HitColumns hits = HitColumns::rows();
  bool finals = false;     ///< all photons at their ends
  bool sequences = false;  ///< histories
  bool records = false;    ///< every step, as record() gives it
  /// Called once after the future became ready, on any of the service's threads or within submit(), cancel(),
  /// drop_client() or stop(). It must be quick, must not throw and must not call the service. Empty: nothing is called.
  std::function<void()> when_ready;
};

/// The results of a request.
struct Reply {
  std::uint64_t event = 0;                       ///< the request's
  std::uint64_t photons = 0;                     ///< that were simulated
  std::uint64_t steps = 0;                       ///< of all of them
  std::array<std::uint64_t, kStepKinds> ends{};  ///< photons by the StepKind of their end
  std::array<std::uint64_t, 3> births{};         ///< by Tally::Layout::birth() less 1: Cerenkov, scintillation, torch
  /// Steps at a wavelength that the property's table does not cover, by BulkProperty: see Tally::end_values().
  std::array<std::uint64_t, kBulkProperties> end_values{};
  HitColumns columns;  ///< of hits
  std::uint64_t hit_count = 0;
  std::vector<std::uint32_t> hit_words;  ///< hit_count rows of columns.size() words, in the photons' order
  std::vector<PhotonRow> finals;         ///< in the photons' order, where they are wanted
  std::vector<Sequence> sequences;       ///< likewise
  std::vector<PhotonRow> records;        ///< likewise, kSequenceEvents rows for each photon

  double queue_seconds = 0;   ///< from submit() to the begin of its first launch
  double kernel_seconds = 0;  ///< of its launches, in proportion to its share of their photons
  std::uint32_t launches = 0;
  std::uint32_t retries = 0;  ///< launches beside these that failed

  [[nodiscard]] std::uint64_t of(StepKind kind) const { return ends[static_cast<std::size_t>(kind)]; }
  /// The rows of hits. `Row` is PhotonRow for HitColumns::rows(), HitColumns::Brief for HitColumns::brief(), or any
  /// struct of columns.row_bytes(). Empty where it has another size.
  template <class Row = std::uint32_t>
  [[nodiscard]] std::vector<Row> hits_as() const;
  /// As bytes, without a copy.
  [[nodiscard]] std::span<const std::byte> hits() const { return std::as_bytes(std::span(hit_words)); }
};

/// The limits of a service.
struct ServiceOptions {
  /// Photons of a launch, at most; 0: by the device. Results don't depend on it. Where device memory does not suffice,
  /// it is halved.
  std::size_t launch_photons = 0;
  /// Host bytes of requests' inputs and of results that are not complete. A client may hold as much of it as is free
  /// for others.
  std::uint64_t max_queue_bytes = std::uint64_t{2} << 30;
  std::uint64_t max_queued_requests = 1U << 16;  ///< likewise
  std::uint64_t max_clients = 1U << 12;
  std::uint64_t max_photons = 100'000'000'000;             ///< of a request
  std::uint64_t max_reply_bytes = std::uint64_t{8} << 30;  ///< of a request's results
  /// A request fails once this many devices have failed while they ran a part of it: so that a request that makes
  /// devices fail does not take all of them.
  std::uint32_t max_failures = 2;
};

/// All functions may be called from any thread.
///
/// Fairness: the photons of a launch are divided equally between the clients that have requests; what a client does not
/// need goes to the others. A request with more photons than its client's share of a launch is split. A client's
/// requests begin in the order in which they were submitted; but those in a launch have the same kind of source, limits
/// and ShiftProfile, and overtake others.
///
/// A device whose calls fail drops out. Its launch, and what it had not begun, runs on the others.
class Service {
 public:
  enum class ClientId : std::uint64_t {};
  enum class RequestId : std::uint64_t {};

  /// The answer to submit(): accepted, or busy.
  struct Submission {
    RequestId id{};            ///< of an accepted request, for cancel()
    std::future<Reply> reply;  ///< of an accepted request; get() throws the request's Error
    /// Busy: the time after which to submit the request again. It was not accepted, and nothing of it is kept.
    std::chrono::milliseconds retry_after{0};

    [[nodiscard]] bool accepted() const { return reply.valid(); }
  };

  /// Sums since the begin, and the present.
  struct Counters {
    std::uint64_t accepted = 0;   ///< requests
    std::uint64_t busy = 0;       ///< answers of submit()
    std::uint64_t completed = 0;  ///< requests, with results
    std::uint64_t failed = 0;     ///< requests, with an error
    std::uint64_t cancelled = 0;  ///< requests
    std::uint64_t photons = 0;    ///< simulated for any of these, each once
    std::uint64_t steps = 0;
    std::uint64_t hits = 0;
    std::uint64_t end_values = 0;        ///< the sum of Reply::end_values
    std::uint64_t inconsistent = 0;      ///< photons that ended as StepKind::inconsistent
    std::uint64_t lost = 0;              ///< photons without an end, which is an error in raylift: their requests fail
    std::uint64_t retries = 0;           ///< parts of requests that were launched again after a failure
    double queue_seconds = 0;            ///< of all requests that began, from submit() to their first launch
    double kernel_seconds = 0;           ///< of launches; a client's, in proportion to its share of their photons
    std::uint64_t queued_requests = 0;   ///< now, without those of which a part has been launched
    std::uint64_t running_requests = 0;  ///< now, of which a part has been launched
    std::uint64_t queued_photons = 0;    ///< now, as far as their number is known
    std::uint64_t queue_bytes = 0;       ///< now
  };

  struct ClientStatus {
    ClientId id{};
    std::string name;
    Counters counters;
  };

  struct DeviceStatus {
    std::string id;       ///< "cuda:0"
    std::string failure;  ///< empty: it works
    std::size_t launch_photons = 0;
    std::uint64_t launches = 0;
    std::uint64_t photons = 0;
    double kernel_seconds = 0;
    MemoryInfo memory;  ///< now; zeros after a failure
  };

  /// Geometries of the same scene, each on a device of its own. Throws Error: usage (none, other scenes, without BVH or
  /// optics, invalid options), memory (a device has no room for 1,024 photons), device.
  explicit Service(std::vector<GpuGeometry> geometries, const ServiceOptions& options = {});
  /// As after stop().
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// A client, which has its own queue and its own counters. Throws Error(limit) for more than the options allow.
  [[nodiscard]] ClientId add_client(std::string name = {});
  /// Cancels the client's requests and forgets it. An unknown client is ignored.
  void drop_client(ClientId client);

  /// Accepts a request, or says when to try again. Throws Error for a request that can never be accepted: usage (an
  /// unknown client, a range that the source does not have, a source's numbers, a count that an endless source needs),
  /// malformed and unsupported (which genstep or photon, and what is wrong with it), limit (more photons or bytes than
  /// the options allow), out_of_device_memory (gensteps that fit on no device); cancelled after stop() or drain();
  /// device where none works any more. The future's errors: malformed (gensteps of scintillation in a material without
  /// a spectrum), limit, cancelled, device, memory.
  [[nodiscard]] Submission submit(ClientId client, const Request& request);
  /// Ends a request with Error(cancelled) and frees what is queued of it. Its part of a running launch is discarded.
  /// False: it has ended, or is unknown.
  bool cancel(RequestId request);

  /// Accepts no more requests, and waits until all that were accepted have ended.
  void drain();
  /// Accepts no more requests, cancels those of which no part has been launched, and waits until the others have ended.
  void stop();

  /// The sums over all clients since the begin, those that were dropped included.
  [[nodiscard]] Counters counters() const;
  /// Throws Error(usage) for an unknown client.
  [[nodiscard]] Counters counters(ClientId client) const;
  [[nodiscard]] std::vector<ClientStatus> clients() const;
  [[nodiscard]] std::vector<DeviceStatus> devices() const;
  /// The first geometry, for its view and its arrays.
  [[nodiscard]] const GpuGeometry& geometry() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

template <class Row>
std::vector<Row> Reply::hits_as() const {
  static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) % sizeof(std::uint32_t) == 0);
  std::vector<Row> rows;
  if (sizeof(Row) != columns.row_bytes()) return rows;
  rows.resize(static_cast<std::size_t>(hit_count));
  if (!rows.empty()) std::memcpy(rows.data(), hit_words.data(), hit_words.size() * sizeof(std::uint32_t));
  return rows;
}

}  // namespace raylift::photon
