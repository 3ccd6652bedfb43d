// SPDX-License-Identifier: Apache-2.0
// A service of photons within a program whose threads process events: each thread hands over the light of its event,
// and goes on with the next one while GPUs simulate it.
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/photon/service.h>

#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace raylift::photon;

constexpr std::uint64_t kThreads = 4, kEvents = 25, kPhotons = 400;  // events of a thread, photons of an event

/// Where Geant4's stepping action would collect gensteps: here a torch that emits into all directions of a plane.
std::vector<Genstep> light_of(std::uint64_t event) {
  Genstep step{Genstep::Type::torch, 0, 0, static_cast<std::uint32_t>(kPhotons / 4), {}, 0, {}};
  step.position = {10 * static_cast<float>(event % 10), 0, 0};
  Genstep::Torch torch{};
  torch.wavelength = 420;
  torch.shape = Genstep::Torch::Shape::point;
  std::vector<Genstep> steps;
  for (const raylift::Float3& direction : {raylift::Float3{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}}) {
    torch.direction = direction;
    set_details(step, torch);
    steps.push_back(step);
  }
  return steps;
}

/// The events of one thread. Returns the number of hits.
std::uint64_t process(Service& service, std::uint64_t thread) {
  const Service::ClientId client = service.add_client("thread " + std::to_string(thread));
  std::deque<std::future<Reply>> on_the_way;
  std::uint64_t hits = 0;
  const auto receive = [&] {
    const Reply reply = on_the_way.front().get();  // throws the request's Error
    for (const HitColumns::Brief& hit : reply.hits_as<HitColumns::Brief>())
      hits += hit.channel != raylift::kNoChannel ? 1 : 0;
    on_the_way.pop_front();
  };
  for (std::uint64_t i = 0; i != kEvents; ++i) {
    Request request;
    request.event = thread * kEvents + i;
    request.seed = request.event;
    request.source = SharedRows<Genstep>(light_of(request.event));
    request.hits = HitColumns::brief();
    Service::Submission submission = service.submit(client, request);
    while (!submission.accepted()) {
      std::this_thread::sleep_for(submission.retry_after);
      submission = service.submit(client, request);
    }
    on_the_way.push_back(std::move(submission.reply));
    if (on_the_way.size() == 8) receive();
  }
  while (!on_the_way.empty()) receive();
  return hits;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: example_service SCENE\n");
    return 2;
  }
  try {
    raylift::UploadOptions options;
    options.bvh = true;
    std::vector<raylift::GpuGeometry> geometries;  // one for each device
    geometries.push_back(raylift::upload(raylift::load(argv[1]), raylift::Device::choose(), options));
    Service service(std::move(geometries));
    std::array<std::uint64_t, kThreads> hits{};
    std::array<std::exception_ptr, kThreads> failures;
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i != kThreads; ++i)
      threads.emplace_back([&, i] {
        try {
          hits[i] = process(service, i);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
      if (failure != nullptr) std::rethrow_exception(failure);
    std::uint64_t sum = 0;
    for (const std::uint64_t some : hits) sum += some;
    const Service::Counters counters = service.counters();
    std::printf("%" PRIu64 " events, %" PRIu64 " photons, %" PRIu64 " hits\n", counters.completed, counters.photons,
                sum);
    return sum == counters.hits ? 0 : 1;
  } catch (const raylift::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return raylift::exit_code(error.kind());
  }
}
