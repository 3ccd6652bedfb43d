// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/photon/service.h>
#include <raylift/photon/simulation.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <tuple>

#include "event_lane.h"
#include "needs.h"
#include "place_gensteps.h"
#include "ready_source.h"
#include "share_out.h"

namespace raylift::photon {
namespace {

using Clock = std::chrono::steady_clock;

/// Launches of a device at a time: one is simulated while the other hands over its results.
constexpr std::size_t kLanes = 2;
/// A smaller part of a request costs more than it is worth, where a client has more photons to offer.
constexpr std::uint64_t kMinPart = 256;
/// Host bytes of a request beside its rows.
constexpr std::uint64_t kRequestBytes = 8192;
/// Photons that a genstep is taken to have, where physics decides: only the first guess of what fits into a launch.
constexpr std::uint64_t kGuessOfGenstep = 100;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::span<const Genstep> gensteps_of(const Request& request) {
  const auto* const rows = std::get_if<SharedRows<Genstep>>(&request.source);
  return rows == nullptr ? std::span<const Genstep>() : rows->rows();
}

std::uint64_t input_bytes(const Request& request) {
  std::uint64_t bytes = kRequestBytes + gensteps_of(request).size_bytes();
  if (const auto* rows = std::get_if<SharedRows<StartPhoton>>(&request.source)) bytes += rows->rows().size_bytes();
  return bytes;
}

/// Bytes of the results whose size the number of photons decides.
std::uint64_t result_bytes(const Request& request, std::uint64_t photons) {
  return photons * ((request.finals ? sizeof(PhotonRow) : 0) + (request.sequences ? sizeof(Sequence) : 0) +
                    (request.records ? kSequenceEvents * sizeof(PhotonRow) : 0));
}

/// Throws Error(limit) for more photons, or more bytes of results, than are allowed.
void check_size(const Request& request, const ServiceOptions& options, std::uint64_t photons) {
  const auto refuse = [](std::uint64_t number, const char* what, std::uint64_t most) {
    throw Error(ErrorKind::limit,
                "a request has " + std::to_string(number) + what + ", and " + std::to_string(most) + " are allowed", {},
                "split it, or want less of it");
  };
  const std::uint64_t most = std::min(options.max_photons, request.max_photons);
  if (photons > most) refuse(photons, " photons", most);
  const std::uint64_t bytes = result_bytes(request, photons);
  if (bytes > options.max_reply_bytes) refuse(bytes, " bytes of results", options.max_reply_bytes);
}

/// The number of the request's photons, where its source has `all`. Throws Error(usage).
std::uint64_t range_of(const Request& request, std::uint64_t all) {
  if (request.first <= all) {
    if (request.count == kAllPhotons) return all - request.first;
    if (request.count <= all - request.first) return request.count;
  }
  throw Error(ErrorKind::usage,
              "photons from number " + std::to_string(request.first) + " on are wanted" +
                  (request.count == kAllPhotons ? "" : ", " + std::to_string(request.count) + " of them") +
                  ", and the source has " + std::to_string(all),
              {}, "photons are numbered from 0");
}

/// Checks the source. Its number of photons; nullopt where physics decides.
std::optional<std::uint64_t> check_request(const Request& request) {
  if (std::isnan(request.latest)) throw Error(ErrorKind::usage, "the latest time of a request is no number");
  if (const auto* source = std::get_if<Source>(&request.source)) {
    if (source->photons != nullptr || source->photons_in != nullptr || source->gensteps.steps != nullptr ||
        source->events != nullptr)
      throw Error(ErrorKind::usage, "the source of a request has arrays at addresses of a device", {},
                  "give the photons or gensteps as rows");
    check(*source);
    if (request.count == kAllPhotons)
      throw Error(ErrorKind::usage, "a request for all photons of a source that has no end", {}, "give their count");
    return range_of(request, kAllPhotons);
  }
  if (const auto* photons = std::get_if<SharedRows<StartPhoton>>(&request.source)) {
    const std::uint64_t count = range_of(request, photons->rows().size());
    check_photons(photons->rows());
    return count;
  }
  const std::span<const Genstep> steps = gensteps_of(request);
  if (steps.size() >= 0xFFFFFFFF) throw Error(ErrorKind::limit, "there are 2^32 gensteps or more");
  std::uint64_t all = 0;
  bool is_known = true;
  for (std::size_t i = 0; i != steps.size(); ++i) {
    check(steps[i], i);
    is_known = is_known && steps[i].photons != kPhotonsOfPhysics;
    all += steps[i].photons;
  }
  if (!is_known) return std::nullopt;
  return range_of(request, all);
}

std::exception_ptr cancelled() {
  return std::make_exception_ptr(Error(ErrorKind::cancelled, "the request was cancelled"));
}

std::uint64_t lost_of(const EventCounts& counts) {
  std::uint64_t lost = 0;
  for (std::size_t kind = 0; kind != kStepKinds; ++kind)
    if (!ends(static_cast<StepKind>(kind))) lost += counts.ends[kind];
  return lost;
}

/// Appends the rows of a part to those of the parts before, and frees them.
template <class T>
void append(std::vector<T>& to, std::vector<T>& rows) {
  if (to.empty())
    to = std::move(rows);
  else
    to.insert(to.end(), rows.begin(), rows.end());
  rows = {};
}

/// Photons of a request that no launch has.
struct Range {
  std::uint64_t first, count;
};

}  // namespace

struct Service::State {
  struct Job;
  struct Client {
    ClientId id{};
    std::string name;
    Counters counters;
    std::deque<std::shared_ptr<Job>> queue;  ///< those that are open, in their order
  };
  /// A request from its acceptance to its end.
  struct Job {
    RequestId id{};
    std::shared_ptr<Client> client;
    Request request;
    std::promise<Reply> promise;
    Clock::time_point submitted;
    std::uint64_t bytes = 0;                       ///< in Counters::queue_bytes
    std::optional<std::uint64_t> count;            ///< its photons; nullopt before its gensteps are placed
    std::shared_ptr<const PlacedGensteps> placed;  ///< by its first launch
    std::deque<Range> left;                        ///< that no launch has
    std::uint64_t pending = 0;                     ///< that have no results
    std::uint32_t running = 0;                     ///< parts in launches
    bool queued = false, begun = false, ended = false;
    std::set<std::size_t> failed_on;  ///< devices that failed with a part of it
    std::vector<Part> parts;          ///< with results, in any order
    Reply reply;
    std::exception_ptr error;

    /// Whether a launch may take something of it. Only one launch places the gensteps.
    [[nodiscard]] bool is_open() const { return !left.empty() || (!count && running == 0); }
    /// The photons that a launch may take: one range of them.
    [[nodiscard]] std::uint64_t open_photons() const {
      return count ? left.front().count : gensteps_of(request).size() * kGuessOfGenstep + 1;
    }
    /// What the parts of a launch have in common.
    [[nodiscard]] auto key() const {
      return std::tuple(request.source.index(), request.most_steps, request.latest, request.shift_profile);
    }
  };
  using JobPointer = std::shared_ptr<Job>;
  struct Worker {
    std::size_t device = 0;
    std::unique_ptr<EventLane> lane;
    std::size_t max_parts = EventLane::kMaxParts;  ///< fewer after a launch that failed by itself
    std::thread thread;
  };
  /// The parts of a launch, and the jobs that they are of.
  struct Launch {
    std::vector<JobPointer> jobs;
    std::vector<Part> parts;  ///< one of each job
  };

  std::vector<GpuGeometry> geometries;
  ServiceOptions options;
  std::uint64_t genstep_room = 0;  ///< bytes on each of the devices

  mutable std::mutex mutex;
  std::condition_variable work, ended;
  std::map<ClientId, std::shared_ptr<Client>> clients;
  std::map<RequestId, JobPointer> jobs;
  std::uint64_t last_client = 0, last_request = 0;
  ClientId turn{};  ///< the client that leads the next launch, or one before it
  bool accepting = true, quitting = false;
  std::size_t ending = 0;  ///< jobs whose promises are being set
  double rate = 0;         ///< photons per second
  Clock::time_point last_result{};
  Counters total;
  std::vector<DeviceStatus> devices;
  std::deque<Worker> workers;

  State(std::vector<GpuGeometry> geometries, const ServiceOptions& options);
  ~State();

  // With the lock held.
  [[nodiscard]] bool has_work() const;
  [[nodiscard]] Launch take(const Worker& worker);
  void take_from(const JobPointer& job, std::uint64_t photons, Launch& launch);
  void place(Launch& launch, std::uint64_t room);
  void give_back(Launch& launch, std::size_t device, const std::exception_ptr& error,
                 std::vector<JobPointer>& finished);
  void enqueue(const JobPointer& job);
  void begin(Job& job);
  void add_results(Launch& launch, const Worker& worker, std::vector<JobPointer>& finished);
  bool add_part(const JobPointer& job, Part& part, double seconds);
  void end(const JobPointer& job, std::exception_ptr error, std::vector<JobPointer>& finished);
  void add_pending(Job& job, std::uint64_t photons);
  void remove_pending(Job& job, std::uint64_t photons);
  void add_bytes(Job& job, std::uint64_t bytes);
  [[nodiscard]] bool fits(const Client& client, std::uint64_t bytes) const;
  [[nodiscard]] std::chrono::milliseconds retry_after() const;
  void fail_device(std::size_t device, const std::string& why, std::vector<JobPointer>& finished);
  [[nodiscard]] bool any_device() const;

  // Without it.
  void deliver(std::vector<JobPointer>& finished);
  void serve(Worker& worker);
  void run(Worker& worker, Launch launch);
  void cancel_if(const std::function<bool(const Job&)>& is_chosen);
  void finish(bool queued_too);
  void join();

  /// Calls with the counters of all and of the job's client.
  template <class Change>
  void count(Job& job, const Change& change) {
    change(total);
    change(job.client->counters);
  }
};

Service::State::State(std::vector<GpuGeometry> given, const ServiceOptions& how)
    : geometries(std::move(given)), options(how) {
  if (geometries.empty()) throw Error(ErrorKind::usage, "a service has no geometry", {}, "give it one for each device");
  if (options.max_failures == 0)
    throw Error(ErrorKind::usage, "a request of a service may fail with 0 devices", {}, "allow one at least");
  const GeometryView& first = geometries.front().view();
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i != geometries.size(); ++i) {
    const GpuGeometry& geometry = geometries[i];
    const GeometryView& view = geometry.view();
    require_optics(view);
    if (view.solid_count != first.solid_count || view.material_count != first.material_count ||
        view.optics.surface_count != first.optics.surface_count || view.triangle_count != first.triangle_count)
      throw Error(ErrorKind::usage, "the geometries of a service are of different scenes");
    const Device& device = geometry.device();
    // Launches overlap, so they may be smaller than those of one simulation; and a small request waits for no more.
    constexpr std::size_t kMostPhotons = std::size_t{1} << 21;
    const std::size_t photons =
        options.launch_photons != 0 ? options.launch_photons : std::min(usual_batch(device) / 4, kMostPhotons);
    for (std::size_t lane = 0; lane != kLanes; ++lane) {
      Worker& worker = workers.emplace_back();
      worker.device = i;
      worker.lane = std::make_unique<EventLane>(geometry, photons);
    }
    least = std::min(least, device.memory_info().free_bytes);
    DeviceStatus status;
    status.id = device.info().id;
    status.launch_photons = workers.back().lane->room();
    devices.push_back(std::move(status));
  }
  // Each lane has a launch's gensteps, and all else that launches allocate beside them.
  genstep_room = least / (2 * kLanes);
  try {
    for (Worker& worker : workers) worker.thread = std::thread([this, &worker] { serve(worker); });
  } catch (const std::system_error& error) {
    join();
    throw Error(ErrorKind::system, std::string("a service has no threads: ") + error.what());
  }
}

Service::State::~State() {
  finish(false);
  join();
}

void Service::State::join() {
  {
    const std::lock_guard lock(mutex);
    quitting = true;
  }
  work.notify_all();
  for (Worker& worker : workers)
    if (worker.thread.joinable()) worker.thread.join();
}

bool Service::State::any_device() const {
  return std::any_of(devices.begin(), devices.end(), [](const DeviceStatus& device) { return device.failure.empty(); });
}

void Service::State::add_pending(Job& job, std::uint64_t photons) {
  job.pending += photons;
  count(job, [&](Counters& counters) { counters.queued_photons += photons; });
}
void Service::State::remove_pending(Job& job, std::uint64_t photons) {
  job.pending -= photons;
  count(job, [&](Counters& counters) { counters.queued_photons -= photons; });
}
void Service::State::add_bytes(Job& job, std::uint64_t bytes) {
  job.bytes += bytes;
  count(job, [&](Counters& counters) { counters.queue_bytes += bytes; });
}

/// A client may hold as much as is free for others: so that one alone never fills the queue.
bool Service::State::fits(const Client& client, std::uint64_t bytes) const {
  const Counters& own = client.counters;
  const std::uint64_t requests = total.queued_requests + total.running_requests;
  return total.queue_bytes + own.queue_bytes + bytes <= options.max_queue_bytes &&
         requests + own.queued_requests + own.running_requests < options.max_queued_requests;
}

/// By then about half of what is queued has been simulated.
std::chrono::milliseconds Service::State::retry_after() const {
  const double seconds = rate > 0 ? 0.5 * static_cast<double>(total.queued_photons) / rate : 0.02;
  return std::chrono::milliseconds(static_cast<std::int64_t>(1000 * std::clamp(seconds, 0.001, 60.0)));
}

void Service::State::enqueue(const JobPointer& job) {
  if (job->queued || job->ended) return;
  job->queued = true;
  // In the order of their numbers: what comes back goes before what has not begun.
  auto& queue = job->client->queue;
  if (queue.empty() || queue.back()->id < job->id) return queue.push_back(job);
  const auto later = [&](const JobPointer& other) { return other->id > job->id; };
  queue.insert(std::find_if(queue.begin(), queue.end(), later), job);
}

bool Service::State::has_work() const {
  return std::any_of(clients.begin(), clients.end(), [](const auto& client) { return !client.second->queue.empty(); });
}

void Service::State::begin(Job& job) {
  if (job.begun) return;
  job.begun = true;
  job.reply.queue_seconds = seconds_since(job.submitted);
  count(job, [&](Counters& counters) {
    --counters.queued_requests;
    ++counters.running_requests;
    counters.queue_seconds += job.reply.queue_seconds;
  });
}

/// Takes photons of a job, or the job as it is, where their number is not known.
void Service::State::take_from(const JobPointer& job, std::uint64_t photons, Launch& launch) {
  Part part;
  part.request = &job->request;
  part.placed = job->placed;
  part.first = job->request.first;
  if (job->count) {
    Range& range = job->left.front();
    part.first = range.first;
    part.count = photons;
    range.first += photons;
    range.count -= photons;
    if (range.count == 0) job->left.pop_front();
  }
  launch.parts.push_back(std::move(part));
  launch.jobs.push_back(job);
  ++job->running;
  begin(*job);
}

/// The photons of a launch, in equal shares for the clients. The first job of the client that leads it says of which
/// kind the others have to be. A client that gets nothing leads the next launch.
Service::State::Launch Service::State::take(const Worker& worker) {
  struct Wish {
    std::vector<JobPointer> jobs;
    std::vector<std::uint64_t> photons;  // of each
  };
  std::vector<Client*> order;
  const auto next = clients.lower_bound(turn);
  for (auto it = next; it != clients.end(); ++it) order.push_back(it->second.get());
  for (auto it = clients.begin(); it != next; ++it) order.push_back(it->second.get());
  std::erase_if(order, [](const Client* client) { return client->queue.empty(); });

  const std::uint64_t room = worker.lane->room();
  const auto key = order.front()->queue.front()->key();
  const Client* left_out = nullptr;
  std::vector<Wish> wishes;
  std::vector<std::uint64_t> wanted;
  std::uint64_t bytes = 0;
  std::size_t parts = 0;
  for (Client* client : order) {
    Wish wish;
    std::uint64_t sum = 0;
    for (const JobPointer& job : client->queue) {
      if (wishes.size() * kMinPart >= room) break;
      if (job->key() != key) continue;
      const std::uint64_t more = gensteps_of(job->request).size_bytes();
      if (parts == worker.max_parts || (parts != 0 && bytes + more > genstep_room)) break;
      bytes += more;
      wish.jobs.push_back(job);
      wish.photons.push_back(job->open_photons());
      sum += wish.photons.back();
      ++parts;
      if (sum >= room) break;
    }
    if (wish.jobs.empty()) {
      if (left_out == nullptr) left_out = client;
      continue;
    }
    wishes.push_back(std::move(wish));
    wanted.push_back(sum);
  }

  turn = left_out != nullptr ? left_out->id : static_cast<ClientId>(static_cast<std::uint64_t>(order.front()->id) + 1);

  Launch launch;
  const std::vector<std::uint64_t> shares = share_out(wanted, room);
  for (std::size_t i = 0; i != wishes.size(); ++i) {
    std::uint64_t share = shares[i];
    for (std::size_t j = 0; j != wishes[i].jobs.size() && share != 0; ++j) {
      const std::uint64_t here = std::min(share, wishes[i].photons[j]);
      take_from(wishes[i].jobs[j], here, launch);
      share -= here;
    }
  }
  std::set<Client*> served;
  for (const JobPointer& job : launch.jobs) {
    job->queued = job->is_open();
    served.insert(job->client.get());
  }
  for (Client* client : served) std::erase_if(client->queue, [](const JobPointer& job) { return !job->queued; });
  return launch;
}

/// Now that the gensteps of a launch are placed: its requests' numbers of photons, and parts that have room.
void Service::State::place(Launch& launch, std::uint64_t room) {
  std::map<Client*, std::uint64_t> wanted;
  for (std::size_t i = 0; i != launch.parts.size(); ++i) {
    Part& part = launch.parts[i];
    Job& job = *launch.jobs[i];
    if (job.ended || part.error != nullptr) {
      part.count = 0;
      continue;
    }
    if (job.placed == nullptr) job.placed = part.placed;
    if (!job.count) {
      part.count = 0;
      try {
        const std::uint64_t photons = range_of(job.request, part.total);
        check_size(job.request, options, photons);
        job.count = part.count = photons;
        add_pending(job, photons);
        add_bytes(job, result_bytes(job.request, photons));
      } catch (const Error&) {
        part.error = std::current_exception();
      }
    }
    wanted[job.client.get()] += part.count;
  }
  std::vector<std::uint64_t> sums;
  sums.reserve(wanted.size());
  for (const auto& [client, sum] : wanted) sums.push_back(sum);
  const std::vector<std::uint64_t> shares = share_out(sums, room);
  std::size_t next = 0;
  for (auto& [client, sum] : wanted) sum = shares[next++];
  bool more = false;
  for (std::size_t i = 0; i != launch.parts.size(); ++i) {
    Part& part = launch.parts[i];
    if (part.count == 0) continue;
    std::uint64_t& share = wanted[launch.jobs[i]->client.get()];
    const std::uint64_t here = std::min(share, part.count);
    share -= here;
    if (here == part.count) continue;
    launch.jobs[i]->left.push_front({part.first + here, part.count - here});
    enqueue(launch.jobs[i]);
    part.count = here;
    more = true;
  }
  if (more) work.notify_all();
}

/// The parts of a launch that failed are queued again, those of a device's failure up to max_failures times.
void Service::State::give_back(Launch& launch, std::size_t device, const std::exception_ptr& error,
                               std::vector<JobPointer>& finished) {
  for (std::size_t i = 0; i != launch.parts.size(); ++i) {
    const JobPointer& job = launch.jobs[i];
    const Part& part = launch.parts[i];
    --job->running;
    if (job->ended) continue;
    if (error != nullptr) {
      job->failed_on.insert(device);
      if (job->failed_on.size() >= options.max_failures) {
        end(job, error, finished);
        continue;
      }
    }
    if (job->count && part.count != 0) job->left.push_front({part.first, part.count});
    ++job->reply.retries;
    count(*job, [](Counters& counters) { ++counters.retries; });
    if (job->is_open())
      enqueue(job);
    else if (job->count && job->pending == 0)
      end(job, nullptr, finished);  // it turned out to have no photons
  }
  work.notify_all();
}

/// Whether all of the job's parts have results. Throws Error: limit, device.
bool Service::State::add_part(const JobPointer& job, Part& part, double seconds) {
  const EventCounts& counts = part.counts;
  const std::uint64_t lost = lost_of(counts);
  const std::uint64_t hits = counts.ends[static_cast<std::size_t>(StepKind::detected)];
  Reply& reply = job->reply;
  count(*job, [&](Counters& counters) {
    counters.photons += part.count;
    counters.steps += counts.steps;
    counters.hits += hits;
    for (const std::uint64_t steps : part.end_values) counters.end_values += steps;
    counters.inconsistent += counts.ends[static_cast<std::size_t>(StepKind::inconsistent)];
    counters.lost += lost;
    counters.kernel_seconds += seconds;
  });
  if (lost != 0)
    throw Error(ErrorKind::device, std::to_string(lost) + " photons have no end", {},
                "this is an error in raylift: please report it");
  reply.photons += part.count;
  reply.steps += counts.steps;
  for (std::size_t i = 0; i != kStepKinds; ++i) reply.ends[i] += counts.ends[i];
  for (std::size_t i = 0; i != reply.births.size(); ++i) reply.births[i] += counts.births[i];
  for (std::size_t i = 0; i != kBulkProperties; ++i) reply.end_values[i] += part.end_values[i];
  reply.hit_count += hits;
  reply.kernel_seconds += seconds;
  ++reply.launches;
  add_bytes(*job, part.hit_words.size() * sizeof(std::uint32_t));
  const std::uint64_t bytes = reply.hit_count * job->request.hits.row_bytes() + result_bytes(job->request, *job->count);
  if (bytes > options.max_reply_bytes)
    throw Error(ErrorKind::limit,
                "the results of a request have more than the " + std::to_string(options.max_reply_bytes) +
                    " bytes that are allowed",
                {}, "want fewer columns, or fewer photons in a request");
  remove_pending(*job, part.count);
  job->parts.push_back(std::move(part));
  return job->pending == 0;
}

void Service::State::add_results(Launch& launch, const Worker& worker, std::vector<JobPointer>& finished) {
  std::uint64_t photons = 0;
  for (const Part& part : launch.parts) photons += part.error == nullptr ? part.count : 0;
  const double seconds = worker.lane->seconds();
  DeviceStatus& device = devices[worker.device];
  device.photons += photons;
  device.kernel_seconds += seconds;
  ++device.launches;
  const Clock::time_point now = Clock::now();
  if (photons != 0) {
    const double since_last = std::chrono::duration<double>(now - last_result).count();
    const double latest = static_cast<double>(photons) / std::max(1e-6, std::min(seconds, since_last));
    rate = rate == 0 ? latest : 0.8 * rate + 0.2 * latest;
    last_result = now;
  }
  for (std::size_t i = 0; i != launch.parts.size(); ++i) {
    const JobPointer& job = launch.jobs[i];
    Part& part = launch.parts[i];
    --job->running;
    if (job->ended) continue;
    if (part.error != nullptr) {
      end(job, part.error, finished);
      continue;
    }
    try {
      const double share = photons == 0 ? 0 : seconds * static_cast<double>(part.count) / static_cast<double>(photons);
      if (part.count == 0 ? job->pending == 0 : add_part(job, part, share)) end(job, nullptr, finished);
    } catch (const Error&) {
      end(job, std::current_exception(), finished);
    }
  }
}

/// Ends a job, with results or an error, but for its promise.
void Service::State::end(const JobPointer& job, std::exception_ptr error, std::vector<JobPointer>& finished) {
  job->ended = true;
  job->error = std::move(error);
  if (job->queued) {
    auto& queue = job->client->queue;
    queue.erase(std::find(queue.begin(), queue.end(), job));
    job->queued = false;
  }
  job->left.clear();
  remove_pending(*job, job->pending);
  bool is_cancelled = false;
  if (job->error != nullptr) {
    try {
      std::rethrow_exception(job->error);
    } catch (const Error& known) {
      is_cancelled = known.kind() == ErrorKind::cancelled;
    } catch (...) {  // any other failure
    }
  }
  count(*job, [&](Counters& counters) {
    --(job->begun ? counters.running_requests : counters.queued_requests);
    ++(job->error == nullptr ? counters.completed : is_cancelled ? counters.cancelled : counters.failed);
    counters.queue_bytes -= job->bytes;
  });
  jobs.erase(job->id);
  finished.push_back(job);
  ++ending;
}

/// Sets the promises of jobs that have ended.
void Service::State::deliver(std::vector<JobPointer>& finished) {
  for (const JobPointer& job : finished) {
    if (job->error == nullptr) {
      try {
        Reply& reply = job->reply;
        reply.event = job->request.event;
        reply.columns = job->request.hits;
        std::sort(job->parts.begin(), job->parts.end(), [](const Part& a, const Part& b) { return a.first < b.first; });
        for (Part& part : job->parts) {
          append(reply.hit_words, part.hit_words);
          append(reply.finals, part.finals);
          append(reply.sequences, part.sequences);
          append(reply.records, part.records);
        }
        job->promise.set_value(std::move(reply));
      } catch (const std::bad_alloc&) {
        job->promise.set_exception(std::make_exception_ptr(
            Error(ErrorKind::out_of_host_memory, "the results of a request do not fit into memory")));
      }
    } else {
      job->promise.set_exception(job->error);
    }
    if (job->request.when_ready) job->request.when_ready();
  }
  const std::size_t count = finished.size();
  finished.clear();  // their inputs are freed without the lock
  const std::lock_guard lock(mutex);
  ending -= count;
  ended.notify_all();
}

void Service::State::fail_device(std::size_t device, const std::string& why, std::vector<JobPointer>& finished) {
  if (devices[device].failure.empty()) devices[device].failure = why;
  work.notify_all();
  if (any_device()) return;
  const auto error = std::make_exception_ptr(
      Error(ErrorKind::device, "no device of the service works any more; the last one: " + why));
  while (!jobs.empty()) end(JobPointer(jobs.begin()->second), error, finished);
}

void Service::State::run(Worker& worker, Launch launch) {
  std::vector<JobPointer> finished;
  std::exception_ptr failure;
  std::optional<ErrorKind> kind;
  std::string why;
  try {
    worker.lane->run(launch.parts, [&] {
      const std::lock_guard lock(mutex);
      place(launch, worker.lane->room());
    });
  } catch (const Error& error) {
    failure = std::current_exception();
    kind = error.kind();
    why = error.what();
  } catch (const std::bad_alloc&) {
    kind = ErrorKind::out_of_host_memory;
    failure = std::make_exception_ptr(Error(*kind, "a launch does not fit into host memory"));
  } catch (const std::exception& error) {
    failure = std::current_exception();
    why = error.what();
  }
  {
    const std::lock_guard lock(mutex);
    const bool memory = kind == ErrorKind::out_of_device_memory || kind == ErrorKind::out_of_host_memory;
    if (failure == nullptr) {
      worker.max_parts = EventLane::kMaxParts;
      add_results(launch, worker, finished);
    } else if (kind == ErrorKind::device) {
      give_back(launch, worker.device, failure, finished);
      fail_device(worker.device, why, finished);
    } else if (launch.parts.size() > 1) {
      // One of them may be at fault: the others must not suffer.
      worker.max_parts = launch.parts.size() / 2;
      give_back(launch, worker.device, nullptr, finished);
    } else if (memory && worker.lane->halve()) {
      devices[worker.device].launch_photons = worker.lane->room();
      give_back(launch, worker.device, nullptr, finished);
    } else {
      for (const JobPointer& job : launch.jobs) {
        --job->running;
        if (!job->ended) end(job, failure, finished);
      }
    }
  }
  launch = {};
  deliver(finished);
}

void Service::State::serve(Worker& worker) {
  std::unique_lock lock(mutex);
  while (true) {
    const std::string& failure = devices[worker.device].failure;
    work.wait(lock, [&] { return quitting || !failure.empty() || has_work(); });
    if (quitting || !failure.empty()) return;
    Launch launch = take(worker);
    lock.unlock();
    run(worker, std::move(launch));
    lock.lock();
  }
}

void Service::State::cancel_if(const std::function<bool(const Job&)>& is_chosen) {
  std::vector<JobPointer> finished;
  {
    const std::lock_guard lock(mutex);
    std::vector<JobPointer> chosen;
    for (const auto& [id, job] : jobs)
      if (is_chosen(*job)) chosen.push_back(job);
    for (const JobPointer& job : chosen) end(job, cancelled(), finished);
  }
  deliver(finished);
}

void Service::State::finish(bool queued_too) {
  {
    const std::lock_guard lock(mutex);
    accepting = false;
  }
  if (!queued_too) cancel_if([](const Job& job) { return !job.begun; });
  std::unique_lock lock(mutex);
  ended.wait(lock, [&] { return jobs.empty() && ending == 0; });
}

Service::Service(std::vector<GpuGeometry> geometries, const ServiceOptions& options)
    : state_(std::make_unique<State>(std::move(geometries), options)) {}
Service::~Service() = default;

Service::ClientId Service::add_client(std::string name) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.clients.size() >= state.options.max_clients)
    throw Error(ErrorKind::limit, "the service has " + std::to_string(state.clients.size()) + " clients already");
  auto client = std::make_shared<State::Client>();
  client->id = static_cast<ClientId>(++state.last_client);
  client->name = std::move(name);
  state.clients.emplace(client->id, client);
  return client->id;
}

void Service::drop_client(ClientId client) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->clients.erase(client);  // from now on it can't submit
  }
  state_->cancel_if([&](const State::Job& job) { return job.client->id == client; });
}

Service::Submission Service::submit(ClientId client, const Request& request) {
  State& state = *state_;
  const std::optional<std::uint64_t> count = check_request(request);
  if (count) check_size(request, state.options, *count);
  const std::uint64_t bytes = input_bytes(request) + result_bytes(request, count.value_or(0));
  if (bytes > state.options.max_queue_bytes)
    throw Error(ErrorKind::limit,
                "a request of " + std::to_string(bytes) + " bytes exceeds the queue of " +
                    std::to_string(state.options.max_queue_bytes) + " bytes",
                {}, "split it");
  const std::uint64_t steps =
      gensteps_of(request).size() * (sizeof(Genstep) + sizeof(GenstepPlace) + sizeof(std::uint64_t));
  if (steps > state.genstep_room)
    throw Error(ErrorKind::out_of_device_memory,
                "gensteps of " + std::to_string(steps) + " bytes do not fit into the " +
                    std::to_string(state.genstep_room) + " bytes that a device has for those of a launch",
                {}, "split the request");

  auto job = std::make_shared<State::Job>();
  job->request = request;
  job->submitted = Clock::now();
  job->count = count;
  if (count && *count != 0) job->left.push_back({request.first, *count});
  Submission submission;
  std::vector<State::JobPointer> finished;
  {
    const std::lock_guard lock(state.mutex);
    const auto found = state.clients.find(client);
    if (found == state.clients.end()) throw Error(ErrorKind::usage, "the service has no such client");
    if (!state.accepting) throw Error(ErrorKind::cancelled, "the service accepts no more requests");
    if (!state.any_device()) throw Error(ErrorKind::device, "no device of the service works any more");
    job->client = found->second;
    if (!state.fits(*job->client, bytes)) {
      state.count(*job, [](Counters& counters) { ++counters.busy; });
      submission.retry_after = state.retry_after();
      return submission;
    }
    job->id = static_cast<RequestId>(++state.last_request);
    submission.id = job->id;
    submission.reply = job->promise.get_future();
    state.jobs.emplace(job->id, job);
    state.count(*job, [](Counters& counters) {
      ++counters.accepted;
      ++counters.queued_requests;
    });
    state.add_bytes(*job, bytes);
    if (count == 0) {
      state.end(job, nullptr, finished);
    } else {
      state.add_pending(*job, count.value_or(0));
      state.enqueue(job);
      state.work.notify_one();
    }
  }
  if (!finished.empty()) state.deliver(finished);
  return submission;
}

bool Service::cancel(RequestId request) {
  State& state = *state_;
  std::vector<State::JobPointer> finished;
  {
    const std::lock_guard lock(state.mutex);
    const auto found = state.jobs.find(request);
    if (found == state.jobs.end()) return false;
    state.end(State::JobPointer(found->second), cancelled(), finished);
  }
  state.deliver(finished);
  return true;
}

void Service::drain() {
  state_->finish(true);
}
void Service::stop() {
  state_->finish(false);
}

Service::Counters Service::counters() const {
  const std::lock_guard lock(state_->mutex);
  return state_->total;
}

Service::Counters Service::counters(ClientId client) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->clients.find(client);
  if (found == state_->clients.end()) throw Error(ErrorKind::usage, "the service has no such client");
  return found->second->counters;
}

std::vector<Service::ClientStatus> Service::clients() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<ClientStatus> all;
  for (const auto& [id, client] : state_->clients) all.push_back({id, client->name, client->counters});
  return all;
}

std::vector<Service::DeviceStatus> Service::devices() const {
  std::vector<DeviceStatus> all;
  {
    const std::lock_guard lock(state_->mutex);
    all = state_->devices;
  }
  for (std::size_t i = 0; i != all.size(); ++i) {
    if (!all[i].failure.empty()) continue;
    try {
      all[i].memory = state_->geometries[i].device().memory_info();
    } catch (const Error& error) {
      all[i].failure = error.what();
    }
  }
  return all;
}

const GpuGeometry& Service::geometry() const {
  return state_->geometries.front();
}

}  // namespace raylift::photon
