// SPDX-License-Identifier: Apache-2.0
// A service of photons: each request's bytes are those of a simulation of it alone, whatever shares its launches, and
// whatever fails on the way.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/photon/service.h>
#include <raylift/photon/simulation.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "gensteps.h"
#include "gpu/test_backend.h"
#include "photon/src/share_out.h"
#include "support/expect_error.h"

namespace raylift::photon {
namespace {

using namespace std::chrono_literals;

/// A backend whose copies to the host wait while it is held, and fail once it is broken.
class HeldBackend : public test::TestBackend {
 public:
  using TestBackend::TestBackend;
  void hold() {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  /// From now on all copies to the host fail, as those of a GPU after a fault of a kernel.
  void break_down() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    held_ = false;
    changed_.notify_all();
  }
  /// Until a launch waits.
  void wait_for_launch() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ != 0; });
  }
  [[nodiscard]] bool launches_waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_ != 0;
  }
  void copy_to_host(void* host, const void* device, std::size_t bytes, StreamHandle on) override {
    {
      std::unique_lock lock(mutex_);
      ++waiting_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return !held_; });
      --waiting_;
      if (broken_) throw Error(ErrorKind::device, "injected fault");
    }
    TestBackend::copy_to_host(host, device, bytes, on);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false, broken_ = false;
  int waiting_ = 0;
};

/// What a simulation of a request's photons alone gives.
struct Alone {
  std::vector<PhotonRow> hits, finals;
  std::vector<Sequence> sequences;
  std::vector<PhotonRow> records;
  Tally tally;
};

class Serve : public OfGensteps {
 protected:
  /// All kinds of ends, a channel, scintillation, and photons with more than 32 steps.
  static Scene scene() {
    const OpticalTable spectrum{
        "SCINTILLATIONCOMPONENT1", OpticalTable::Axis::wavelength_nm, {390, 400, 410}, {0, 1, 0}};
    Scene scene = test::shells({{3000, {dispersive(), flat("ABSLENGTH", 5000), flat("RAYLEIGH", 300)}},
                                {2000,
                                 {flat("RINDEX", 1.5), flat("ABSLENGTH", 3000), flat("MIEHG", 100), spectrum},
                                 {{"MIEHG_FORWARD", 0.1}, {"SCINTILLATIONYIELD", 100}}},
                                {900, {flat("RINDEX", 1.2), flat("ABSLENGTH", 4000)}}});
    test::move_away_with_sensor(scene);
    return scene;
  }
  [[nodiscard]] static GpuGeometry upload_to(const Device& device) { return test::upload_away(scene(), device); }
  /// Geometries on the device of the test.
  [[nodiscard]] std::vector<GpuGeometry> geometries(std::size_t count = 1) const {
    std::vector<GpuGeometry> all;
    for (std::size_t i = 0; i != count; ++i) all.push_back(upload_to(device()));
    return all;
  }
  [[nodiscard]] static std::vector<GpuGeometry> geometries_on(
      std::initializer_list<std::shared_ptr<raylift::detail::Backend>> backends) {
    std::vector<GpuGeometry> all;
    for (const std::shared_ptr<raylift::detail::Backend>& backend : backends) all.push_back(upload_to(Device(backend)));
    return all;
  }
  [[nodiscard]] std::shared_ptr<HeldBackend> held() const { return std::make_shared<HeldBackend>(device().backend()); }

  static Float3 point(std::uint64_t i) {
    return {5000 + static_cast<float>(i % 7) * 150, -300 + static_cast<float>(i % 5) * 200, 70 + 1000};
  }
  static Request base(std::uint64_t event) {
    Request request;
    request.event = event;
    request.seed = 1000 + event;
    request.most_steps = 60;
    request.finals = request.sequences = true;
    return request;
  }
  /// Several gensteps of all kinds, one of them with photons by physics where `counts`.
  static Request steps(std::uint64_t event, std::uint32_t photons, bool counts = false) {
    Request request = base(event);
    std::vector<Genstep> rows;
    for (std::uint32_t part = 0; part != 3; ++part) {
      Genstep step = part == 0   ? cerenkov(point(event), 30, 0.99, photons / 3)
                     : part == 1 ? scintillation(photons / 3)
                                 : torch(point(event + 1), photons - 2 * (photons / 3));
      step.position = point(event + part);
      rows.push_back(step);
    }
    if (counts) {
      Genstep::Scintillation details = details_of<Genstep::Scintillation>(rows[1]);
      details.deposit = static_cast<float>(photons) / 100;
      set_details(rows[1], details);
      rows[1].photons = kPhotonsOfPhysics;
    }
    request.source = SharedRows<Genstep>(std::move(rows));
    return request;
  }
  static Request ball(std::uint64_t event, std::uint64_t photons) {
    Request request = base(event);
    Source source;
    // In several solids, close to a face and far from all.
    source.center = event % 8 == 5 ? Double3(5000, -300, 70) : Double3(point(event));
    source.radius = 300;
    source.time_constant = 5;
    source.spectrum = uniform_spectrum(300, 790 + 10 * static_cast<float>(event % 10));  // also beyond the tables
    request.source = source;
    request.count = photons;
    return request;
  }
  /// Some of them without a polarisation, for which random numbers are drawn.
  static Request given(std::uint64_t event, std::uint64_t photons) {
    Request request = base(event);
    std::vector<StartPhoton> rows;
    for (std::uint64_t i = 0; i != photons; ++i) {
      StartPhoton photon{};
      photon.position = point(event + i);
      photon.direction = {0.1F * static_cast<float>(i % 11) - 0.5F, 0.3F, 1};
      if (i % 2 == 0) photon.polarization = {1, 0, 0};
      photon.wavelength = 420;
      photon.flags = i % 3 == 0 ? flag_of(BirthKind::cerenkov) : 0;
      rows.push_back(photon);
    }
    request.source = SharedRows<StartPhoton>(std::move(rows));
    return request;
  }
  static Request of_kind(std::uint64_t event, std::uint32_t photons) {
    switch (event % 4) {
      case 0:
        return steps(event, photons);
      case 1:
        return ball(event, photons);
      case 2:
        return given(event, photons);
      default:
        return steps(event, photons, true);
    }
  }

  /// The same by Simulation, whose launches have one event.
  [[nodiscard]] static Alone alone(const GpuGeometry& geometry, const Request& request) {
    Alone all;
    const auto append = [](auto& to) { return [&to](auto rows) { to.insert(to.end(), rows.begin(), rows.end()); }; };
    Simulation::Results results;
    results.hits = append(all.hits);
    results.finals = append(all.finals);
    results.sequences = append(all.sequences);
    photon::Run how{request.seed, request.first, request.most_steps, request.latest, request.shift_profile};
    const Stream stream(geometry.device());
    std::optional<Gensteps> gensteps;
    std::optional<DeviceBuffer<StartPhoton>> photons;
    Source source;
    std::uint64_t count = request.count;
    if (const auto* made = std::get_if<Source>(&request.source)) source = *made;
    if (const auto* rows = std::get_if<SharedRows<Genstep>>(&request.source)) {
      gensteps.emplace(geometry, rows->rows(), request.seed, stream);
      source = gensteps->source();
      if (count == photon::kAllPhotons) count = gensteps->photons() - request.first;
    }
    if (const auto* rows = std::get_if<SharedRows<StartPhoton>>(&request.source)) {
      photons.emplace(geometry.device(), rows->rows().size());
      photons->copy_from(rows->rows(), stream);
      stream.synchronize();
      source.photons = photons->device();
      source.photon_count = rows->rows().size();
      if (count == photon::kAllPhotons) count = source.photon_count - request.first;
    }
    Simulation simulation(geometry);
    all.tally = simulation.run(source, how, count, results);
    if (request.records) all.records = record(geometry, source, how, static_cast<std::size_t>(count));
    return all;
  }
  static void expect_alone(const Reply& reply, const Request& request, const Alone& one) {
    SCOPED_TRACE("event " + std::to_string(request.event));
    EXPECT_EQ(reply.event, request.event);
    EXPECT_EQ(reply.photons, one.tally.photons());
    EXPECT_EQ(reply.steps, one.tally.steps());
    for (std::size_t kind = 0; kind != kStepKinds; ++kind)
      EXPECT_EQ(reply.ends[kind], one.tally.of(static_cast<StepKind>(kind))) << kind;
    for (const BirthKind kind : {BirthKind::cerenkov, BirthKind::scintillation, BirthKind::torch})
      EXPECT_EQ(reply.births[Tally::Layout::birth(kind) - 1], one.tally.born(kind));
    for (std::uint32_t property = 0; property != kBulkProperties; ++property) {
      std::uint64_t steps = 0;
      for (std::uint32_t material = 0; material != one.tally.layout.materials; ++material)
        steps += one.tally.end_values(material, static_cast<BulkProperty>(property));
      EXPECT_EQ(reply.end_values[property], steps) << property;
    }
    EXPECT_EQ(reply.hit_count, one.hits.size());
    if (request.hits == HitColumns::rows()) {
      EXPECT_TRUE(test::same_bytes(reply.hits_as<PhotonRow>(), one.hits));
    }
    EXPECT_TRUE(test::same_bytes(reply.finals, request.finals ? one.finals : std::vector<PhotonRow>{}));
    EXPECT_TRUE(test::same_bytes(reply.records, one.records));
    EXPECT_TRUE(test::same_bytes(reply.sequences, request.sequences ? one.sequences : std::vector<Sequence>{}));
  }
  static std::future<Reply> submit(Service& service, Service::ClientId client, const Request& request) {
    Service::Submission submission = service.submit(client, request);
    EXPECT_TRUE(submission.accepted());
    return std::move(submission.reply);
  }
};
RAYLIFT_ON_BOTH_DEVICES(Serve);

TEST_P(Serve, GivesEachEventTheBytesOfASimulationOfItAlone) {
  const GpuGeometry reference = upload_to(device());
  std::vector<Request> requests;
  for (std::uint64_t event = 0; event != 24; ++event) {
    requests.push_back(of_kind(event, event % 5 == 4 ? 2'500 : 20 + 37 * static_cast<std::uint32_t>(event)));
    requests.back().records = event % 3 == 1;
  }
  std::vector<Alone> all;
  std::uint64_t hits = 0;
  for (const Request& request : requests) {
    all.push_back(alone(reference, request));
    hits += all.back().hits.size();
  }
  EXPECT_GT(hits, 200U);
  // From launches that hold all events to launches that hold a part of one.
  for (const std::size_t launch : {1U << 17, 2'000U, 1'024U}) {
    const auto backend = held();
    Service service(geometries_on({backend}), {.launch_photons = launch});
    const Service::ClientId client = service.add_client();
    backend->hold();  // so that requests are queued, and share launches
    std::vector<std::future<Reply>> replies;
    for (const Request& request : requests) replies.push_back(submit(service, client, request));
    backend->let_go();
    for (std::size_t i = 0; i != requests.size(); ++i) expect_alone(replies[i].get(), requests[i], all[i]);
    std::uint64_t launches = service.devices().front().launches;
    if (launch == 1U << 17) {
      EXPECT_LE(launches, 8U) << "kinds and events that came before the launch was held";
    } else {
      EXPECT_GT(launches, 8U);
    }
    service.drain();
    const Service::Counters counters = service.counters();
    EXPECT_EQ(counters.completed, requests.size());
    EXPECT_EQ(counters.hits, hits);
    EXPECT_GT(counters.end_values, 0U);
    EXPECT_EQ(counters.lost, 0U);
    EXPECT_EQ(counters.queued_requests + counters.running_requests + counters.queued_photons + counters.queue_bytes,
              0U);
  }
}

TEST_P(Serve, NumbersThePhotonsOfAStepAcrossLaunches) {
  // A photon's place on a line follows from its number in its step.
  std::vector<Genstep> rows;
  for (std::uint32_t i = 0; i != 4; ++i) {
    rows.push_back(torch(point(i), i == 2 ? 0 : 1'900));
    rows.back().position = point(i);
    auto details = details_of<Genstep::Torch>(rows.back());
    details.shape = Genstep::Torch::Shape::line;
    details.radius = 50;
    set_details(rows.back(), details);
  }
  Request request = base(3);
  request.source = SharedRows<Genstep>(std::move(rows));
  Service service(geometries(), {.launch_photons = 1'024});
  const Reply reply = submit(service, service.add_client(), request).get();
  EXPECT_GE(reply.launches, 6U);
  expect_alone(reply, request, alone(upload_to(device()), request));
}

TEST_P(Serve, GivesTheRangeOfPhotonsThatIsWanted) {
  const GpuGeometry reference = upload_to(device());
  Service service(geometries(), {.launch_photons = 1'024});
  const Service::ClientId client = service.add_client();
  for (std::uint64_t event = 0; event != 4; ++event)
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1'500}, photon::kAllPhotons}) {
      Request request = of_kind(event, 4'000);
      request.first = 700;
      if (event % 4 == 1 && count == photon::kAllPhotons) continue;
      request.count = count;
      const Reply reply = submit(service, client, request).get();
      if (count == 0) {
        EXPECT_EQ(reply.photons, 0U);
      } else {
        expect_alone(reply, request, alone(reference, request));
      }
    }
}

TEST_P(Serve, UploadsPhotonsInPieces) {
  // A piece has 65,536. Outside of all solids photons end at once.
  std::vector<StartPhoton> rows(140'000);
  for (std::size_t i = 0; i != rows.size(); ++i) {
    rows[i].position = {1e6F, static_cast<float>(i), 0};
    rows[i].direction = {1, 0, 0};
    rows[i].wavelength = 420;
  }
  Service service(geometries(), {.launch_photons = 1U << 18});
  const Service::ClientId client = service.add_client();
  std::vector<Request> requests{base(1), given(2, 100)};
  requests[0].source = SharedRows<StartPhoton>(std::move(rows));
  std::vector<std::future<Reply>> replies;
  for (Request& request : requests) {
    request.sequences = false;
    replies.push_back(submit(service, client, request));
  }
  const GpuGeometry reference = upload_to(device());
  for (std::size_t i = 0; i != requests.size(); ++i)
    expect_alone(replies[i].get(), requests[i], alone(reference, requests[i]));
}

TEST_P(Serve, GivesTheColumnsThatAreWanted) {
  const auto backend = held();
  Service service(geometries_on({backend}));
  const Service::ClientId client = service.add_client();
  backend->hold();
  const std::initializer_list<HitColumns> wanted{
      HitColumns::rows(), HitColumns::brief(), HitColumns(),
      HitColumns{HitColumns::Column::number, HitColumns::Column::solid, HitColumns::Column::end}};
  std::vector<std::future<Reply>> replies;
  for (const HitColumns& columns : wanted) {
    Request request = ball(1, 3'000);
    request.hits = columns;
    request.finals = columns.size() == 4;
    request.sequences = columns.size() == 3;
    replies.push_back(submit(service, client, request));
  }
  backend->let_go();
  const Reply all = replies[0].get();
  const auto rows = all.hits_as<PhotonRow>();
  ASSERT_GT(rows.size(), 50U);
  EXPECT_TRUE(all.finals.empty() && all.sequences.empty());
  const Reply brief = replies[1].get();
  EXPECT_EQ(brief.finals.size(), 3'000U);
  const auto hits = brief.hits_as<HitColumns::Brief>();
  ASSERT_EQ(hits.size(), rows.size());
  EXPECT_TRUE(brief.hits_as<PhotonRow>().empty()) << "of another size";
  const Reply none = replies[2].get();
  EXPECT_EQ(none.hit_count, rows.size());
  EXPECT_TRUE(none.hit_words.empty());
  const Reply three = replies[3].get();
  EXPECT_EQ(three.sequences.size(), 3'000U);
  struct Three {
    std::uint32_t number, solid;
    std::uint16_t flag, surface;
  };
  const auto columns = three.hits_as<Three>();
  ASSERT_EQ(columns.size(), rows.size());
  for (std::size_t i = 0; i != rows.size(); ++i) {
    EXPECT_EQ(hits[i].channel, 4711);
    EXPECT_EQ(hits[i].time, rows[i].time);
    EXPECT_EQ(hits[i].wavelength, rows[i].wavelength);
    EXPECT_EQ(hits[i].flags, rows[i].flags);
    EXPECT_EQ(columns[i].number, rows[i].number);
    EXPECT_EQ(columns[i].solid, rows[i].solid);
    EXPECT_EQ(columns[i].flag, rows[i].flag);
    EXPECT_EQ(columns[i].surface, rows[i].surface);
  }
}

TEST_P(Serve, TakesRequestsOfManyThreads) {
  const GpuGeometry reference = upload_to(device());
  constexpr std::uint64_t kThreads = 4, kEvents = 8;
  std::vector<Alone> all;
  for (std::uint64_t event = 0; event != kEvents; ++event) all.push_back(alone(reference, of_kind(event, 300)));
  Service service(geometries(2), {.launch_photons = 2'000});
  std::atomic<std::uint64_t> ready{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t != kThreads; ++t)
    threads.emplace_back([&, t] {
      const Service::ClientId client = service.add_client("thread " + std::to_string(t));
      std::vector<std::future<Reply>> replies;
      for (std::uint64_t i = 0; i != kEvents; ++i) {
        Request request = of_kind((i + t) % kEvents, 300);
        request.when_ready = [&] { ++ready; };
        replies.push_back(submit(service, client, request));
      }
      for (std::uint64_t i = 0; i != kEvents; ++i) {
        const std::uint64_t event = (i + t) % kEvents;
        expect_alone(replies[i].get(), of_kind(event, 300), all[event]);
      }
      EXPECT_EQ(service.counters(client).completed, kEvents);
      if (t % 2 == 0) service.drop_client(client);
    });
  for (std::thread& thread : threads) thread.join();
  service.drain();
  EXPECT_EQ(ready, kThreads * kEvents);
  EXPECT_EQ(service.counters().completed, kThreads * kEvents);
  EXPECT_EQ(service.clients().size(), kThreads / 2);
}

TEST_P(Serve, RunsTheRequestsOfADeviceThatFailsOnAnother) {
  const GpuGeometry reference = upload_to(device());
  std::vector<Alone> all;
  for (std::uint64_t event = 0; event != 8; ++event) all.push_back(alone(reference, of_kind(event, 3'000)));
  const auto first = held(), second = held();
  Service service(geometries_on({first, second}), {.launch_photons = 2'000});
  const Service::ClientId client = service.add_client();
  first->hold();
  second->hold();
  std::vector<std::future<Reply>> replies;
  for (std::uint64_t event = 0; event != 8; ++event) replies.push_back(submit(service, client, of_kind(event, 3'000)));
  first->wait_for_launch();
  second->wait_for_launch();
  first->break_down();
  second->let_go();
  for (std::uint64_t event = 0; event != 8; ++event)
    expect_alone(replies[event].get(), of_kind(event, 3'000), all[event]);
  service.drain();
  const std::vector<Service::DeviceStatus> devices = service.devices();
  EXPECT_NE(devices[0].failure.find("injected fault"), std::string::npos);
  EXPECT_EQ(devices[0].launches, 0U);
  EXPECT_TRUE(devices[1].failure.empty());
  EXPECT_GT(devices[1].launches, 0U);
  EXPECT_GE(service.counters().retries, 1U);
  EXPECT_EQ(service.counters().completed, 8U);
  EXPECT_EQ(service.counters().photons, service.devices()[1].photons) << "each is counted once";
}

TEST_P(Serve, EndsRequestsWhereNoDeviceWorks) {
  const auto backend = held();
  Service service(geometries_on({backend}));
  const Service::ClientId client = service.add_client();
  backend->hold();
  std::vector<std::future<Reply>> replies;
  for (std::uint64_t event = 0; event != 6; ++event) replies.push_back(submit(service, client, of_kind(event, 100)));
  backend->wait_for_launch();
  backend->break_down();
  for (std::future<Reply>& reply : replies) test::expect_error(ErrorKind::device, [&] { (void)reply.get(); });
  test::expect_error(ErrorKind::device, [&] { (void)service.submit(client, ball(1, 10)); });
  service.drain();
  EXPECT_EQ(service.counters().failed, 6U);
  EXPECT_EQ(service.counters().queue_bytes, 0U);
}

// A request that makes devices fail must not take all of them.
TEST_P(Serve, EndsARequestWhoseDevicesFail) {
  const auto first = held(), second = held(), third = held();
  Service service(geometries_on({first, second, third}), {.max_failures = 2});
  const Service::ClientId client = service.add_client();
  for (const auto& backend : {first, second, third}) backend->hold();
  std::future<Reply> bad = submit(service, client, ball(1, 100));
  std::vector<std::shared_ptr<HeldBackend>> left{first, second, third};
  for (int failures = 0; failures != 2; ++failures) {
    // The request waits on one of them.
    std::size_t at = left.size();
    while (at == left.size()) {
      for (std::size_t i = 0; i != left.size() && at == left.size(); ++i)
        if (left[i]->launches_waiting()) at = i;
      std::this_thread::sleep_for(1ms);
    }
    left[at]->break_down();
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
  }
  left.front()->let_go();
  test::expect_error(ErrorKind::device, [&] { (void)bad.get(); });
  const Request good = ball(2, 100);
  expect_alone(submit(service, client, good).get(), good, alone(upload_to(device()), good));
}

TEST_P(Serve, HalvesLaunchesWhereMemoryDoesNotSuffice) {
  const Request request = ball(5, 20'000);
  const Alone one = alone(upload_to(device()), request);
  const auto backend = std::make_shared<test::TestBackend>(device().backend());
  Service service(geometries_on({backend}), {.launch_photons = 16'384});
  const Service::ClientId client = service.add_client();
  // Finals are allocated by the first launch that wants them.
  backend->fail(test::TestBackend::device_allocation, 0, 2);
  expect_alone(submit(service, client, request).get(), request, one);
  EXPECT_LT(service.devices().front().launch_photons, 16'384U);
  EXPECT_TRUE(service.devices().front().failure.empty());
  EXPECT_GE(service.counters().retries, 1U);
}

TEST_P(Serve, AnswersBusyWhereTheQueueIsFull) {
  const auto backend = held();
  ServiceOptions options;
  options.max_queued_requests = 8;
  options.max_queue_bytes = 1'000'000;
  Service service(geometries_on({backend}), options);
  const Service::ClientId greedy = service.add_client("greedy"), other = service.add_client("other");
  backend->hold();
  std::vector<std::future<Reply>> replies;
  const auto fill = [&](Service::ClientId client, const Request& request) {
    int accepted = 0;
    while (true) {
      Service::Submission submission = service.submit(client, request);
      if (!submission.accepted()) {
        EXPECT_GE(submission.retry_after, 1ms);
        return accepted;
      }
      replies.push_back(std::move(submission.reply));
      ++accepted;
    }
  };
  Request small = ball(1, 50);
  small.finals = small.sequences = false;
  EXPECT_EQ(fill(greedy, small), 4) << "half is left for others";
  EXPECT_EQ(fill(other, small), 2);
  EXPECT_EQ(service.counters(greedy).busy, 1U);
  backend->let_go();
  for (std::future<Reply>& reply : replies) (void)reply.get();
  (void)submit(service, other, small).get();
  // By bytes: 96 for each final photon and its history.
  backend->hold();
  EXPECT_EQ(fill(greedy, ball(1, 2'000)), 2) << "500 kB, of 200 kB each";
  Request large = ball(1, 2'000);
  large.count = 20'000;
  test::expect_error(ErrorKind::limit, [&] { (void)service.submit(other, large); });
  backend->let_go();
  service.drain();
  EXPECT_EQ(service.counters().queue_bytes, 0U);
}

TEST_P(Serve, RefusesWhatCanNeverRun) {
  ServiceOptions options;
  options.max_photons = 10'000;
  options.max_reply_bytes = 500'000;
  Service service(geometries(), options);
  const Service::ClientId client = service.add_client();
  const auto refused = [&](ErrorKind kind, const Request& request) {
    test::expect_error(kind, [&] { (void)service.submit(client, request); });
  };
  refused(ErrorKind::limit, ball(1, 10'001));
  refused(ErrorKind::limit, ball(1, 9'000));  // results
  refused(ErrorKind::usage, ball(1, photon::kAllPhotons));
  Request request = ball(1, 10);
  request.first = photon::kAllPhotons - 5;
  refused(ErrorKind::usage, request);
  request = ball(1, 10);
  request.latest = std::numeric_limits<float>::quiet_NaN();
  refused(ErrorKind::usage, request);
  request = ball(1, 10);
  std::get<Source>(request.source).half_angle = 7;
  refused(ErrorKind::usage, request);
  request = ball(1, 10);
  std::get<Source>(request.source).photons = reinterpret_cast<const StartPhoton*>(&request);
  refused(ErrorKind::usage, request);
  request = given(1, 10);
  request.count = 11;
  refused(ErrorKind::usage, request);
  Request wrong = base(1);
  wrong.source = SharedRows<StartPhoton>(std::vector<StartPhoton>(3));
  refused(ErrorKind::malformed, wrong);
  Genstep bad = torch(point(0), 3);
  bad.type = static_cast<Genstep::Type>(77);
  wrong.source = SharedRows<Genstep>({torch(point(0), 3), bad});
  EXPECT_EQ(test::expect_error(ErrorKind::unsupported, [&] { (void)service.submit(client, wrong); }).element(),
            "genstep 1");
  test::expect_error(ErrorKind::usage, [&] { (void)service.submit(static_cast<Service::ClientId>(99), ball(1, 10)); });
  test::expect_error(ErrorKind::usage, [&] { (void)service.counters(static_cast<Service::ClientId>(99)); });
  EXPECT_EQ(service.counters().accepted, 0U);
}

// Physics says how many photons there are, and what a step lacks, once it has been placed: others must not suffer.
TEST_P(Serve, FailsARequestAlone) {
  const auto backend = held();
  Service service(geometries_on({backend}));
  const Service::ClientId client = service.add_client();
  backend->hold();
  Request dark = base(1);
  Genstep step = scintillation(50);
  step.position = {5000, -300, 70};  // in the innermost solid, which does not scintillate
  dark.source = SharedRows<Genstep>({torch(point(0), 10), step});
  Request many = steps(2, 3'000, true);
  many.max_photons = 500;
  Request beyond = steps(3, 3'000, true);
  beyond.first = 1'000'000;
  const Request good = steps(4, 3'000, true);
  std::vector<std::future<Reply>> replies;
  for (const Request& request : {dark, many, beyond, good}) replies.push_back(submit(service, client, request));
  backend->let_go();
  EXPECT_EQ(test::expect_error(ErrorKind::malformed, [&] { (void)replies[0].get(); }).element(), "genstep 1")
      << "by its number in its event";
  test::expect_error(ErrorKind::limit, [&] { (void)replies[1].get(); });
  test::expect_error(ErrorKind::usage, [&] { (void)replies[2].get(); });
  expect_alone(replies[3].get(), good, alone(upload_to(device()), good));
  service.drain();
  EXPECT_EQ(service.counters().failed, 3U);
}

TEST_P(Serve, EndsRepliesThatExceedTheirLimit) {
  ServiceOptions options;
  options.max_reply_bytes = 20'000;
  Service service(geometries(), options);
  Request request = ball(1, 20'000);
  request.finals = request.sequences = false;
  const Service::ClientId client = service.add_client();
  test::expect_error(ErrorKind::limit, [&] { (void)submit(service, client, request).get(); });
  request.hits = {};
  EXPECT_GT(submit(service, client, request).get().hit_count * 64, 20'000U);
}

TEST_P(Serve, SharesLaunchesFairlyBetweenClients) {
  const auto backend = held();
  Service service(geometries_on({backend}), {.launch_photons = 2'048});
  const Service::ClientId large = service.add_client("large"), small = service.add_client("small"),
                          other = service.add_client("of another kind");
  backend->hold();
  const auto plain = [](Request request) {
    request.finals = request.sequences = false;
    return request;
  };
  std::future<Reply> slow = submit(service, large, plain(ball(1, 40'000)));
  backend->wait_for_launch();
  // The events of others need not wait for the large request, nor for the requests after it.
  std::vector<std::future<Reply>> more, quick;
  for (std::uint64_t event = 2; event != 6; ++event) more.push_back(submit(service, large, plain(ball(event, 20'000))));
  for (std::uint64_t event = 2; event != 6; ++event) quick.push_back(submit(service, small, plain(ball(event, 500))));
  for (std::uint64_t event = 2; event != 6; ++event) quick.push_back(submit(service, other, plain(steps(event, 300))));
  backend->let_go();
  for (std::future<Reply>& reply : quick) EXPECT_GE(reply.get().photons, 300U);
  EXPECT_EQ(slow.wait_for(0s), std::future_status::timeout);
  EXPECT_LT(service.counters(large).photons, 20'000U) << "of 120,000";
  EXPECT_EQ(slow.get().photons, 40'000U);
  service.stop();
}

// A launch has room for some of the clients: the others are not left out of the next one.
TEST_P(Serve, GivesEachOfManyClientsItsTurn) {
  constexpr std::size_t kClients = 12, kRequests = 3;
  const auto backend = held();
  Service service(geometries_on({backend}), {.launch_photons = 1'024});
  std::vector<Service::ClientId> clients;
  for (std::size_t i = 0; i != kClients; ++i) clients.push_back(service.add_client());
  backend->hold();
  std::mutex mutex;
  std::vector<std::size_t> order;  // which of a client's requests ended
  std::vector<std::future<Reply>> replies;
  for (std::size_t number = 0; number != kRequests; ++number)
    for (std::size_t i = 0; i != kClients; ++i) {
      Request request = ball(number * kClients + i, 500);
      request.finals = request.sequences = false;
      request.when_ready = [&, number] {
        const std::lock_guard lock(mutex);
        order.push_back(number);
      };
      replies.push_back(submit(service, clients[i], request));
    }
  backend->let_go();
  for (std::future<Reply>& reply : replies) (void)reply.get();
  service.drain();
  ASSERT_EQ(order.size(), kClients * kRequests);
  const auto last_first = std::find(order.rbegin(), order.rend(), 0U).base();
  EXPECT_EQ(std::count(order.begin(), last_first, 2U), 0) << "a client's third request before another's first";
}

TEST_P(Serve, FreesWhatIsCancelled) {
  const auto backend = held();
  Service service(geometries_on({backend}), {.launch_photons = 1'024});
  const Service::ClientId client = service.add_client(), dropped = service.add_client();
  backend->hold();
  const Request request = ball(1, 3'000);
  Service::Submission running = service.submit(client, request);
  backend->wait_for_launch();
  Service::Submission queued = service.submit(client, ball(2, 3'000));
  std::atomic<int> ready{0};
  Request called = ball(3, 3'000);
  called.when_ready = [&] { ++ready; };
  Service::Submission gone = service.submit(dropped, called);
  EXPECT_TRUE(service.cancel(queued.id));
  EXPECT_FALSE(service.cancel(queued.id));
  test::expect_error(ErrorKind::cancelled, [&] { (void)queued.reply.get(); });
  service.drop_client(dropped);
  EXPECT_EQ(ready, 1);
  test::expect_error(ErrorKind::cancelled, [&] { (void)gone.reply.get(); });
  test::expect_error(ErrorKind::usage, [&] { (void)service.submit(dropped, called); });
  EXPECT_EQ(service.counters(client).queued_photons, 3'000U);
  EXPECT_EQ(service.counters().queued_photons, 3'000U) << "nothing of the others";
  EXPECT_TRUE(service.cancel(running.id));
  test::expect_error(ErrorKind::cancelled, [&] { (void)running.reply.get(); });
  EXPECT_EQ(service.counters().queue_bytes, 0U);
  backend->let_go();
  const Request next = ball(7, 2'000);
  expect_alone(submit(service, client, next).get(), next, alone(upload_to(device()), next));
  EXPECT_EQ(service.counters().cancelled, 3U);
}

// Clients come, cancel and go at any moment, and a device fails meanwhile: each request ends once, and nothing of any
// is kept.
TEST_P(Serve, KeepsNothingOfClientsThatComeAndGo) {
  const GpuGeometry reference = upload_to(device());
  constexpr std::uint64_t kThreads = 4, kRounds = 6, kRequests = 8, kKinds = 4;
  std::vector<Alone> all;
  for (std::uint64_t event = 0; event != kKinds; ++event) all.push_back(alone(reference, of_kind(event, 200)));
  const auto first = held(), second = held();
  Service service(geometries_on({first, second}), {.launch_photons = 1'024});
  std::atomic<std::uint64_t> ready{0}, completed{0}, cancelled{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t != kThreads; ++t)
    threads.emplace_back([&, t] {
      RandomStream random(42, t);
      for (std::uint64_t round = 0; round != kRounds; ++round) {
        const Service::ClientId client = service.add_client();
        std::vector<Service::Submission> sent;
        for (std::uint64_t i = 0; i != kRequests; ++i) {
          Request request = of_kind(i % kKinds, 200);
          request.when_ready = [&] { ++ready; };
          sent.push_back(service.submit(client, request));
          ASSERT_TRUE(sent.back().accepted());
          if (random.bits() % 3 == 0) (void)service.cancel(sent[random.bits() % sent.size()].id);
        }
        if (t == 0 && round == kRounds / 2) first->break_down();
        if (random.bits() % 2 == 0) service.drop_client(client);
        for (std::uint64_t i = 0; i != kRequests; ++i) {
          try {
            const Reply reply = sent[i].reply.get();
            EXPECT_TRUE(test::same_bytes(reply.hits_as<PhotonRow>(), all[i % kKinds].hits));
            EXPECT_TRUE(test::same_bytes(reply.finals, all[i % kKinds].finals));
            ++completed;
          } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::cancelled) << error.what();
            ++cancelled;
          }
        }
        service.drop_client(client);
      }
    });
  for (std::thread& thread : threads) thread.join();
  service.drain();
  const Service::Counters counters = service.counters();
  EXPECT_EQ(ready, kThreads * kRounds * kRequests);
  EXPECT_EQ(counters.accepted, kThreads * kRounds * kRequests);
  EXPECT_EQ(counters.completed, completed);
  EXPECT_EQ(counters.cancelled, cancelled);
  EXPECT_GT(completed, 0U);
  EXPECT_GT(cancelled, 0U);
  EXPECT_EQ(counters.queued_requests + counters.running_requests + counters.queued_photons + counters.queue_bytes, 0U);
  EXPECT_EQ(counters.failed, 0U);
}

TEST_P(Serve, FinishesWhatRunsWhenItStops) {
  const Request request = ball(1, 5'000);
  const Alone one = alone(upload_to(device()), request);
  const auto backend = held();
  Service service(geometries_on({backend}), {.launch_photons = 1'024});
  const Service::ClientId client = service.add_client();
  backend->hold();
  std::future<Reply> running = submit(service, client, request);
  backend->wait_for_launch();
  // Both of the device's launches are of the first request, so these have not begun.
  Request behind = ball(2, 100);
  behind.most_steps = 50;
  std::future<Reply> queued = submit(service, client, behind);
  std::thread stopping([&] { service.stop(); });
  test::expect_error(ErrorKind::cancelled, [&] { (void)queued.get(); });
  test::expect_error(ErrorKind::cancelled, [&] { (void)service.submit(client, behind); });
  backend->let_go();
  stopping.join();
  ASSERT_EQ(running.wait_for(0s), std::future_status::ready);
  expect_alone(running.get(), request, one);
}

TEST_P(Serve, RefusesGeometriesThatDiffer) {
  test::expect_error(ErrorKind::usage, [&] { const Service service({}); });
  std::vector<GpuGeometry> two = geometries();
  two.push_back(water());
  test::expect_error(ErrorKind::usage, [&] { const Service service(std::move(two)); });
  ServiceOptions options;
  options.max_clients = 1;
  Service service(geometries(), options);
  (void)service.add_client();
  test::expect_error(ErrorKind::limit, [&] { (void)service.add_client(); });
}

TEST(ShareOut, IsEqualButForThoseThatWantLess) {
  const auto shares = [](std::vector<std::uint64_t> wanted, std::uint64_t room) { return share_out(wanted, room); };
  using Shares = std::vector<std::uint64_t>;
  EXPECT_EQ(shares({}, 10), Shares{});
  EXPECT_EQ(shares({3, 4}, 10), (Shares{3, 4}));
  EXPECT_EQ(shares({100, 2, 100}, 12), (Shares{5, 2, 5}));
  EXPECT_EQ(shares({100, 100, 100}, 10), (Shares{4, 3, 3}));
  EXPECT_EQ(shares({photon::kAllPhotons, photon::kAllPhotons, 1}, 9), (Shares{4, 4, 1}));
}

}  // namespace
}  // namespace raylift::photon
