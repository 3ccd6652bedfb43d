// SPDX-License-Identifier: Apache-2.0
// simulator SCENE OUT.npy [PHOTONS [SOURCE]]: follows photons from a source (docs/photons.md has its form) to the
// sensors, and writes the pulses of each channel as a NumPy array of 64-bit integers, (channels, 5): see Channel.
// mpirun simulator ...: each rank follows a range of the photons.
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/photon/npy.h>
#include <raylift/photon/parse_source.h>
#include <raylift/photon/propagate.h>
#include <raylift/photon/simulation.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "respond.h"
#ifdef SIMULATOR_MPI
#include <mpi.h>
#endif

using raylift::Error, raylift::ErrorKind;

const char* launch_anchor(const Task& task, photon::Anchor* anchor, void* stream);
const char* launch_photons(const Task& task, void* stream);

/// One process, or those that mpirun has started.
class Ranks {
 public:
#ifdef SIMULATOR_MPI
  Ranks(int& argc, char**& argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &on_node);
    MPI_Comm_free(&node);
  }
  ~Ranks() {
    MPI_Finalize();
  }
  /// Rank 0 gets all channels.
  void join(std::vector<Channel>& channels) const {
    for (Channel& channel : channels) {
      const Channel own = channel;
      MPI_Reduce(&own.photons, &channel.photons, 3, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
      MPI_Reduce(&own.first, &channel.first, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, 0, MPI_COMM_WORLD);
    }
  }
  [[noreturn]] void end(int code) const {
    if (count > 1) MPI_Abort(MPI_COMM_WORLD, code);
    std::exit(code);
  }
#else
  Ranks(int&, char**&) {}
  void join(std::vector<Channel>&) const {}
  [[noreturn]] void end(int code) const {
    std::exit(code);
  }
#endif
  int rank = 0, count = 1, on_node = 0;
};

/// A GPU where there is one: of several, each rank of a node has its own.
raylift::Device choose([[maybe_unused]] const Ranks& ranks) {
#ifdef SIMULATOR_CUDA
  if (ranks.count == 1) return raylift::Device::choose();
  const std::vector<raylift::Device> all = raylift::Device::all();
  std::vector<raylift::Device> gpus;
  std::copy_if(all.begin(), all.end(), std::back_inserter(gpus), [](const auto& one) { return !one.info().is_host; });
  if (!gpus.empty()) return gpus[static_cast<std::size_t>(ranks.on_node) % gpus.size()];
#endif
  return raylift::Device::host();
}

void run_on_host(const Task& task) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    const auto add = [](Channel& channel, const Pulse& pulse, bool counts) {
      std::atomic_ref(channel.photons).fetch_add(1);
      if (!counts) return;
      std::atomic_ref(channel.pulses).fetch_add(1);
      std::atomic_ref(channel.charge).fetch_add(pulse.charge);
      std::atomic_ref first(channel.first);
      for (unsigned long long seen = first; pulse.time < seen;)
        if (first.compare_exchange_weak(seen, pulse.time)) break;
    };
    for (std::size_t begin; (begin = next.fetch_add(1024)) < task.photons;)
      for (std::size_t i = begin; i != std::min(begin + 1024, task.photons); ++i) simulate(task, i, add);
  };
  std::vector<std::jthread> threads(std::max(1u, std::thread::hardware_concurrency()));
  for (std::jthread& thread : threads) thread = std::jthread(work);
}

void run([[maybe_unused]] const raylift::Device& device, Task& task, [[maybe_unused]] const raylift::Stream& stream) {
#ifdef SIMULATOR_CUDA
  if (!device.info().is_host) {
    const auto check = [](const char* failure) {
      if (failure != nullptr) throw Error(ErrorKind::device, failure);
    };
    const raylift::DeviceBuffer<photon::Anchor> anchor(device, 1);
    check(launch_anchor(task, anchor.device(), stream.handle()));
    anchor.copy_to({&task.anchor, 1}, stream);
    stream.synchronize();
    check(launch_photons(task, stream.handle()));
    return;
  }
#endif
  task.anchor = photon::anchor_of(task.geometry, task.source);
  run_on_host(task);
}

void simulate_scene(const Ranks& ranks, const std::string& path, const std::string& out, std::uint64_t photons,
                    const std::string& source) {
  const raylift::Scene scene = raylift::load(path);
  photon::refuse_unsimulated(scene);
  const raylift::Device device = choose(ranks);
  raylift::UploadOptions options;
  options.bvh = true;
  const raylift::GpuGeometry geometry = raylift::upload(scene, device, options);
  if (ranks.rank == 0) std::fputs(geometry.report().table().c_str(), stdout);

  const photon::Simulation simulation(geometry);  // has the scene's channels
  const std::vector<std::int32_t>& numbers = simulation.nothing().channels;
  if (numbers.empty() || numbers.front() < 0) throw Error(ErrorKind::usage, "has no sensors with channels", {path, {}});
  std::vector<Channel> channels(static_cast<std::size_t>(numbers.back()) + 1);
  for (std::size_t i = 0; i != channels.size(); ++i) channels[i] = {i, 0, 0, 0, Channel::kNever};

  const auto part = [&](int rank) { return photons * static_cast<std::uint64_t>(rank) / ranks.count; };
  const raylift::Stream stream(device);
  raylift::DeviceBuffer<Channel> on_device(device, channels.size());
  on_device.copy_from(channels, stream);
  Task task{geometry.view(), photon::parse_source(source), {.seed = 1}, 0, on_device.device(), {}};
  task.run.first = part(ranks.rank);
  task.photons = part(ranks.rank + 1) - task.run.first;
  run(device, task, stream);
  on_device.copy_to(channels, stream);
  stream.synchronize();
  ranks.join(channels);
  if (ranks.rank != 0) return;

  photon::NpyWriter file(out, photon::NpyType::uint64, {sizeof(Channel) / 8});
  Channel all{};
  for (const std::int32_t number : numbers) {
    const Channel& channel = channels[static_cast<std::size_t>(number)];
    file.append(std::span(&channel, 1));
    all.photons += channel.photons;
    all.pulses += channel.pulses;
  }
  file.finish();
  std::printf("%llu photons by %d ranks: %llu detected by %zu channels, %llu pulses in %s\n",
              static_cast<unsigned long long>(photons), ranks.count, all.photons, numbers.size(), all.pulses,
              out.c_str());
}

int main(int argc, char** argv) {
  const Ranks ranks(argc, argv);
  const long long photons = argc > 3 ? std::atoll(argv[3]) : 1'000'000;
  if (argc < 3 || argc > 5 || photons <= 0) {
    std::fprintf(stderr, "usage: simulator SCENE OUT.npy [PHOTONS [SOURCE]]\n");
    ranks.end(2);
  }
  try {
    simulate_scene(ranks, argv[1], argv[2], static_cast<std::uint64_t>(photons), argc > 4 ? argv[4] : "point:0,0,0");
  } catch (const Error& error) {
    std::fprintf(stderr, "simulator: error: %s\n", error.what());
    ranks.end(raylift::exit_code(error.kind()));
  }
}
