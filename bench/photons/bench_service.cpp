// SPDX-License-Identifier: Apache-2.0
// Requests of clients to photon::Service in this process: latency and photons per second for several sizes of requests
// and numbers of clients, beside one simulation of many photons. Each client is a thread that waits for its oldest
// request, and keeps --depth of them on their way. Requests are Cerenkov gensteps of 200 photons each in a tank with
// sensors: docs/performance.md.
#include "bench/best_of.h"
#include "tank.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/photon/gensteps.h>
#include <raylift/photon/service.h>
#include <raylift/photon/simulation.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace raylift::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t kPhotonsOfGenstep = 200;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Steps of 2 cm along a track through the tank's centre, in a direction of its own for each event.
std::vector<photon::Genstep> track(std::uint64_t event, std::uint64_t photons) {
  std::vector<photon::Genstep> steps;
  const double angle = 0.1 * static_cast<double>(event % 63);
  const Float3 along{static_cast<float>(20 * std::cos(angle)), static_cast<float>(20 * std::sin(angle)), 0};
  for (std::uint64_t done = 0; done < photons; done += kPhotonsOfGenstep) {
    const auto i = static_cast<float>(static_cast<double>(done / kPhotonsOfGenstep % 400) - 200);
    photon::Genstep step{photon::Genstep::Type::cerenkov,
                         1,
                         0,
                         static_cast<std::uint32_t>(std::min<std::uint64_t>(kPhotonsOfGenstep, photons - done)),
                         {i * along.x, i * along.y, 0},
                         0,
                         {}};
    photon::Genstep::Cerenkov details{};
    details.displacement = along;
    details.length = 20;
    details.charge = -1;
    details.beta_inverse = 1.001F;
    details.shortest = 300;
    details.longest = 600;
    details.yield = details.yield_at_end = 1;
    photon::set_details(step, details);
    steps.push_back(step);
  }
  return steps;
}

/// Photons per second of one simulation on one device, whose hits come to the host.
double simulate(const GpuGeometry& geometry, std::uint64_t photons) {
  const Stream stream(geometry.device());
  const photon::Gensteps gensteps(geometry, track(0, photons), 1, stream);
  photon::Simulation simulation(geometry);
  std::uint64_t hits = 0;
  photon::Simulation::Results results;
  results.hits = [&](std::span<const photon::PhotonRow> rows) { hits += rows.size(); };
  const double time =
      best_of(2, [&] { (void)simulation.run(gensteps.source(), {.seed = 1}, gensteps.photons(), results); });
  return static_cast<double>(gensteps.photons()) / time;
}

struct Load {
  std::uint64_t photons;  ///< of a request
  std::uint32_t clients;
  std::uint32_t depth;
  double seconds;
};

/// What the clients saw.
struct Seen {
  std::mutex mutex;
  std::vector<double> latencies;  // seconds
  double kernel = 0, queue = 0;   // seconds, sums
  std::uint64_t photons = 0, hits = 0, busy = 0;
};

void be_client(photon::Service& service, const Load& load, std::uint32_t number, Seen& seen) {
  const photon::Service::ClientId client = service.add_client();
  const photon::SharedRows<photon::Genstep> steps(track(number, load.photons));
  struct Sent {
    Clock::time_point at;
    std::future<photon::Reply> reply;
  };
  std::deque<Sent> sent;
  std::vector<double> latencies;
  double kernel = 0, queue = 0;
  std::uint64_t photons = 0, hits = 0, busy = 0, event = 0;
  const Clock::time_point start = Clock::now();
  const auto receive = [&] {
    const photon::Reply reply = sent.front().reply.get();
    latencies.push_back(since(sent.front().at));
    sent.pop_front();
    kernel += reply.kernel_seconds;
    queue += reply.queue_seconds;
    photons += reply.photons;
    hits += reply.hit_count;
  };
  while (event == 0 || since(start) < load.seconds) {
    photon::Request request;
    request.event = event;
    request.seed = number * 1'000'000ULL + event;
    request.source = steps;
    request.hits = photon::HitColumns::brief();
    const Clock::time_point at = Clock::now();
    photon::Service::Submission submission = service.submit(client, request);
    if (!submission.accepted()) {
      ++busy;
      std::this_thread::sleep_for(submission.retry_after);
      continue;
    }
    ++event;
    sent.push_back({at, std::move(submission.reply)});
    if (sent.size() == load.depth) receive();
  }
  while (!sent.empty()) receive();
  service.drop_client(client);
  const std::lock_guard lock(seen.mutex);
  seen.latencies.insert(seen.latencies.end(), latencies.begin(), latencies.end());
  seen.kernel += kernel;
  seen.queue += queue;
  seen.photons += photons;
  seen.hits += hits;
  seen.busy += busy;
}

void measure(photon::Service& service, const Load& load, double rate_alone) {
  Seen seen;
  std::uint64_t launches = 0;
  for (const photon::Service::DeviceStatus& device : service.devices()) launches += device.launches;
  const double time = seconds([&] {
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i != load.clients; ++i)
      threads.emplace_back([&, i] { be_client(service, load, i, seen); });
    for (std::thread& thread : threads) thread.join();
  });
  std::uint64_t launches_after = 0;
  for (const photon::Service::DeviceStatus& device : service.devices()) launches_after += device.launches;
  std::sort(seen.latencies.begin(), seen.latencies.end());
  const std::size_t requests = seen.latencies.size();
  const double rate = static_cast<double>(seen.photons) / time;
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%10llu %8u %6u %9zu %9llu %10.3f %10.3f %10.3f %10.2f %7.3f %6llu %7.2f\n",
              static_cast<unsigned long long>(load.photons), load.clients, load.depth, requests,
              static_cast<unsigned long long>(launches_after - launches), 1e3 * seen.latencies[requests / 2],
              1e3 * seen.latencies[requests * 99 / 100], 1e3 * seen.kernel / static_cast<double>(requests), rate / 1e6,
              rate / rate_alone, static_cast<unsigned long long>(seen.busy),
              static_cast<double>(usage.ru_maxrss) / 1e6);
  std::fflush(stdout);
}

}  // namespace
}  // namespace raylift::bench

int main(int argc, char** argv) {
  using namespace raylift;
  CLI::App app("Latency and photons per second of requests to a service in this process");
  std::string file;
  std::vector<std::string> devices{"auto"};
  std::uint32_t sensors = 20'000, depth = 2;
  std::vector<std::uint64_t> photons{1'000, 100'000, 10'000'000};
  std::vector<std::uint32_t> clients{1, 8, 64};
  std::uint64_t alone = 40'000'000;
  double seconds = 3;
  photon::ServiceOptions options;
  app.add_option("--device", devices, "auto, host, or cuda:N; several, each with a copy of the scene")->delimiter(',');
  app.add_option("--sensors", sensors, "How many");
  app.add_option("--scene", file, "A scene with optics, instead of the tank");
  app.add_option("--photons", photons, "Of each request");
  app.add_option("--clients", clients, "At a time");
  app.add_option("--depth", depth, "Requests of a client on their way at a time")->check(CLI::PositiveNumber);
  app.add_option("--seconds", seconds, "Of each row, at least");
  app.add_option("--alone", alone, "Photons of the simulation beside");
  app.add_option("--launch", options.launch_photons, "ServiceOptions::launch_photons");
  CLI11_PARSE(app, argc, argv);
  try {
    const Scene scene = file.empty() ? bench::tank(sensors) : load(file);
    UploadOptions upload_options;
    upload_options.bvh = true;
    std::vector<GpuGeometry> geometries;
    for (const std::string& device : devices)
      geometries.push_back(upload(scene, Device::parse(device), upload_options));
    const double rate = bench::simulate(geometries.front(), alone) * static_cast<double>(devices.size());
    std::printf("%zu of %s; one simulation of %llu photons on each: %.2f million photons/s\n", devices.size(),
                geometries.front().device().info().name.c_str(), static_cast<unsigned long long>(alone), rate / 1e6);
    std::printf("%10s %8s %6s %9s %9s %10s %10s %10s %10s %7s %6s %7s\n", "photons", "clients", "depth", "requests",
                "launches", "median ms", "99% ms", "kernel ms", "million/s", "ratio", "busy", "RSS GB");
    options.max_queue_bytes = std::uint64_t{16} << 30;
    photon::Service service(std::move(geometries), options);
    bench::measure(service, {photons.front(), 1, 1, 0.5}, rate);  // warm
    for (const std::uint64_t count : photons)
      for (const std::uint32_t some : clients) bench::measure(service, {count, some, depth, seconds}, rate);
    service.drain();
    const photon::Service::Counters counters = service.counters();
    std::printf("%llu requests, %llu photons, %llu lost, %llu inconsistent, %llu failed\n",
                static_cast<unsigned long long>(counters.completed), static_cast<unsigned long long>(counters.photons),
                static_cast<unsigned long long>(counters.lost), static_cast<unsigned long long>(counters.inconsistent),
                static_cast<unsigned long long>(counters.failed));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
