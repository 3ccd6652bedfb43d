// SPDX-License-Identifier: Apache-2.0
// Requests to a running `raylift serve`: latency and photons per second. Each client is a connection with a thread that
// waits for its oldest request, and keeps --depth of them on their way. A request has Cerenkov gensteps of 200 photons
// each along a track through the origin. bench/service.sh runs it.
#include <raylift/client/gensteps.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
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

std::vector<client::Genstep> track(std::uint64_t photons) {
  std::vector<client::Genstep> steps;
  for (std::uint64_t done = 0; done < photons; done += kPhotonsOfGenstep) {
    const double at = static_cast<double>(done / kPhotonsOfGenstep % 400) - 200;
    client::Collector collector;
    client::Step step;
    step.position[0] = 0.8 * at;
    step.position[1] = 0.6 * at;
    const double along[3]{0.8, 0.6, 0};
    step.go(along, 1);
    step.charge = -1;
    step.beta = 0.999;
    step.cerenkov_photons = static_cast<std::uint32_t>(std::min<std::uint64_t>(kPhotonsOfGenstep, photons - done));
    collector.add(step);
    steps.push_back(collector.gensteps().front());
    steps.back().rest.cerenkov.shortest = 350;
    steps.back().rest.cerenkov.longest = 550;
  }
  return steps;
}

/// As a .npy file, for `raylift photons --source gensteps:FILE`.
void write(const std::string& path, const std::vector<client::Genstep>& steps) {
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(steps.size()) + ", 6, 4), }";
  header.resize(128 - 10 - 1, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  const char size[2]{static_cast<char>(header.size()), 0};
  file.write(size, 2);
  file << header;
  file.write(reinterpret_cast<const char*>(steps.data()), static_cast<std::streamsize>(steps.size() * sizeof steps[0]));
}

struct Load {
  std::uint64_t photons = 0;
  std::uint32_t clients = 1, depth = 2;
  double seconds = 0;
  std::uint64_t requests = 0;  ///< of all clients; 0: by the time
};

struct Seen {
  std::mutex mutex;
  std::vector<float> latencies;
  double kernel = 0;
  std::uint64_t photons = 0, hits = 0;
  std::atomic<std::uint64_t> begun{0};
};

void be_client(const client::Options& options, const std::vector<client::Genstep>& steps, const Load& load,
               std::uint64_t number, Seen& seen) {
  client::Client client(options);
  struct Sent {
    Clock::time_point at;
    client::Ticket ticket;
  };
  std::deque<Sent> sent;
  std::vector<float> latencies;
  double kernel = 0;
  std::uint64_t photons = 0, hits = 0, event = 0;
  const auto receive = [&] {
    const client::Result result = client.wait(sent.front().ticket);
    latencies.push_back(static_cast<float>(since(sent.front().at)));
    sent.pop_front();
    kernel += 1e-6 * static_cast<double>(result.counts.kernel_microseconds);
    photons += result.photons;
    hits += result.hits;
  };
  const Clock::time_point start = Clock::now();
  while (load.requests != 0 ? seen.begun++ < load.requests : event == 0 || since(start) < load.seconds) {
    const Clock::time_point at = Clock::now();
    client::Request request = client::gensteps(steps, event, number * 1'000'000ULL + event);
    request.layout = client::Layout::compact;
    sent.push_back({at, client.submit(std::move(request))});
    ++event;
    if (sent.size() == load.depth) receive();
  }
  while (!sent.empty()) receive();
  const std::lock_guard<std::mutex> lock(seen.mutex);
  seen.latencies.insert(seen.latencies.end(), latencies.begin(), latencies.end());
  seen.kernel += kernel;
  seen.photons += photons;
  seen.hits += hits;
}

void measure(const std::string& way, const client::Options& options, const Load& load, double rate_alone) {
  const std::vector<client::Genstep> steps = track(load.photons);
  Seen seen;
  const Clock::time_point start = Clock::now();
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i != load.clients; ++i)
    threads.emplace_back([&, i] { be_client(options, steps, load, i, seen); });
  for (std::thread& thread : threads) thread.join();
  const double time = since(start);
  std::sort(seen.latencies.begin(), seen.latencies.end());
  const std::size_t requests = seen.latencies.size();
  if (requests == 0) return;
  const double rate = static_cast<double>(seen.photons) / time;
  std::printf("%-7s %10llu %8u %6u %9zu %10.3f %10.3f %10.3f %10.3f %7.3f\n", way.c_str(),
              static_cast<unsigned long long>(load.photons), load.clients, load.depth, requests,
              1e3 * static_cast<double>(seen.latencies[requests / 2]),
              1e3 * static_cast<double>(seen.latencies[requests * 99 / 100]),
              1e3 * seen.kernel / static_cast<double>(requests), rate / 1e6, rate_alone > 0 ? rate / rate_alone : 0.0);
  std::fflush(stdout);
}

}  // namespace
}  // namespace raylift::bench

int main(int argc, char** argv) {
  using namespace raylift;
  CLI::App app("Latency and photons per second of requests to `raylift serve`");
  std::string address, keys, way = "ipc", file;
  std::vector<std::uint64_t> photons{1'000, 100'000, 10'000'000};
  std::vector<std::uint32_t> clients{1, 8, 64};
  bench::Load load{0, 1, 2, 3, 0};
  double alone = 0;
  bool shared = false, head = false;
  app.add_option("--address", address, "Of the server; by default the user's");
  app.add_option("--keys", keys, "client.key, for TCP");
  app.add_option("--photons", photons, "Of each request");
  app.add_option("--clients", clients, "At a time");
  app.add_option("--depth", load.depth, "Requests of a client on their way at a time")->check(CLI::PositiveNumber);
  app.add_option("--seconds", load.seconds, "Of each row, at least");
  app.add_option("--requests", load.requests, "Of each row, instead of a time");
  app.add_option("--alone", alone, "Photons per second of `raylift photons`, for the ratio");
  app.add_option("--way", way, "The first column");
  app.add_flag("--shared", shared, "Pass bodies in shared memory");
  app.add_flag("--head", head, "Print the columns' names");
  app.add_option("--write", file, "Write the gensteps of --photons to a .npy file, and end");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!file.empty()) {
      bench::write(file, bench::track(photons.front()));
      return 0;
    }
    client::Options options;
    if (!address.empty()) options.addresses = {address};
    if (!keys.empty()) options.keys = client::read_keys(keys);
    options.shared_memory = shared;
    if (head)
      std::printf("%-7s %10s %8s %6s %9s %10s %10s %10s %10s %7s\n", "way", "photons", "clients", "depth", "requests",
                  "median ms", "99% ms", "kernel ms", "million/s", "ratio");
    for (const std::uint64_t count : photons)
      for (const std::uint32_t some : clients) {
        load.photons = count;
        load.clients = some;
        bench::measure(way, options, load, alone);
      }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
