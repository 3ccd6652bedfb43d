// SPDX-License-Identifier: Apache-2.0
// One array on several devices: striped over all links, beside a plain copy over each link, and beside one transfer
// that the first device passes on; and one device helped by its neighbours. Every figure is a ratio within this run.
//
//   bench_broadcast [--devices N] [--host] [--bytes N] [--rounds N] [--chunk N] [--chunks N]
#include "bench/best_of.h"
#include "bench/run_bench.h"

#include <raylift/geometry/error.h>
#include <raylift/gpu/device/pool.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/broadcast.h>
#include <tbb/parallel_for.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>

namespace raylift {
namespace {

using bench::best_of;

struct Settings {
  std::size_t bytes = std::size_t{1} << 30;
  int rounds = 7;
  UploadOptions upload;
};

class Bench {
 public:
  Bench(std::vector<Device> devices, const Settings& settings)
      : devices_(std::move(devices)), settings_(settings), pinned_(devices_[0], settings.bytes, {true, true, false}) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    values_.resize(settings.bytes / sizeof(double));  // rows of three doubles: half as many bytes on the device
    tbb::parallel_for(std::size_t{0}, (settings.bytes + kPiece - 1) / kPiece, [&](std::size_t piece) {
      const std::size_t begin = piece * kPiece;
      const std::size_t end = std::min(settings.bytes, begin + kPiece);
      std::memset(pinned_.host().data() + begin, static_cast<int>(piece * 37), end - begin);
      for (std::size_t i = begin / sizeof(double); i < std::min(end / sizeof(double), values_.size()); ++i)
        values_[i] = static_cast<double>(i % 1000003) * 0.01;
    });
    for (const Device& device : devices_) {
      targets_.emplace_back(device, settings.bytes);
      streams_.emplace_back(device);
    }
  }

  void run() {
    std::printf("%zu x %s, %zu MiB, chunks of %zu KiB, %zu per link in the ring; peers: %s\n\n", devices_.size(),
                devices_[0].info().name.c_str(), settings_.bytes >> 20, settings_.upload.chunk_bytes >> 10,
                settings_.upload.chunks, all_reach() ? "all reach all" : "not all reach all");
    std::printf("%-58s %9s %9s  %s\n", "", "ms", "GB/s", "");
    link_ = line("one device, one plain copy from pinned memory: the link", 1, [this] { plain({0}); });
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i != devices_.size(); ++i) all.push_back(i);
    line("all devices, a plain copy over each link", 1, [&] { plain(all); });
    if (all_reach()) line("all devices, one transfer, passed on by peer copies", 1, [this] { pass_on(); });
    targets_.clear();  // the uploads below allocate their own

    ArraySource pinned = array_source("array", ArrayRank::triangles, std::span<const std::byte>(pinned_.host()));
    pinned.pinned = pinned_.host().data();
    const ArraySource rows = float3_source("rows", ArrayRank::vertices, Rows(values_.data(), values_.size() / 3));
    const ArraySource copied =
        array_source("values", ArrayRank::triangles, std::span<const double>(values_.data(), values_.size()));
    for (const auto& [what, array] : {std::pair<const char*, const ArraySource*>{"pinned memory", &pinned},
                                      {"ordinary memory", &copied},
                                      {"double rows, converted", &rows}}) {
      const ArraySource* const source = array;  // Clang 14 captures no structured binding
      const double share =
          static_cast<double>(source->count * source->element_bytes) / static_cast<double>(settings_.bytes);
      const std::string from = std::string(", from ") + what;
      line("upload to one device" + from, share, [&] { (void)upload({source, 1}, devices_[0], settings_.upload); });
      UploadOptions helped = settings_.upload;
      helped.relay_devices.assign(devices_.begin() + 1, devices_.end());
      line("upload to one device, helped by the others" + from, share, [&] {
        (void)upload({source, 1}, devices_[0], helped);
      });
      line("broadcast to all devices" + from, share, [&] { (void)broadcast({source, 1}, devices_, settings_.upload); });
    }
    std::printf("\nGB/s: the array's bytes by the time until all have it; links: that rate in rates of one link\n");
  }

 private:
  /// `share`: of settings_.bytes, how much the work brings to its place.
  double line(const std::string& what, double share, const std::function<void()>& work) {
    const double time = best_of(settings_.rounds + 1, work);  // the first one warms up
    const double rate = share * static_cast<double>(settings_.bytes) / time / 1e9;
    const double link = link_ == 0 ? rate : link_;
    std::printf("%-58s %9.3f %9.2f  %.2f links, %.2f of %zu\n", what.c_str(), time * 1e3, rate, rate / link,
                rate / link / static_cast<double>(devices_.size()), devices_.size());
    std::fflush(stdout);
    return rate;
  }

  [[nodiscard]] bool all_reach() const {
    for (const Device& from : devices_)
      for (const Device& to : devices_)
        if (&from != &to && !from.backend()->reaches(*to.backend())) return false;
    return true;
  }

  void plain(const std::vector<std::size_t>& numbers) {
    for (const std::size_t i : numbers)
      devices_[i].backend()->copy_to_device(targets_[i].device(), pinned_.host().data(), settings_.bytes,
                                            streams_[i].handle());
    for (const std::size_t i : numbers) streams_[i].synchronize();
  }

  /// Copies in chunks, several at a time, each in a stream of its own.
  void pass_on() {
    std::vector<Stream> streams;
    for (int i = 0; i != 4; ++i) streams.emplace_back(devices_[0]);
    auto& first = *devices_[0].backend();
    const std::size_t chunk = settings_.upload.chunk_bytes;
    for (std::size_t begin = 0, turn = 0; begin < settings_.bytes; begin += chunk, ++turn) {
      const std::size_t bytes = std::min(chunk, settings_.bytes - begin);
      const StreamHandle stream = streams[turn % streams.size()].handle();
      first.copy_to_device(targets_[0].device() + begin, pinned_.host().data() + begin, bytes, stream);
      for (std::size_t i = 1; i != devices_.size(); ++i)
        first.copy_to_peer(*devices_[i].backend(), targets_[i].device() + begin, targets_[0].device() + begin, bytes,
                           stream);
    }
    for (const Stream& stream : streams) stream.synchronize();
  }

  std::vector<Device> devices_;
  Settings settings_;
  MappedBuffer<std::byte> pinned_;
  std::vector<double> values_;
  std::deque<DeviceBuffer<std::byte>> targets_;
  std::deque<Stream> streams_;
  double link_ = 0;
};

int run(int argc, char** argv) {
  CLI::App app("Broadcasts and helped uploads against what the links can do.");
  Settings settings;
  int count = 0;
  bool host = false;
  app.add_option("--devices", count, "How many CUDA devices; all by default; of host devices, 2");
  app.add_flag("--host", host, "Host devices instead");
  app.add_option("--bytes", settings.bytes, "Of the array");
  app.add_option("--rounds", settings.rounds, "The best counts");
  app.add_option("--chunk", settings.upload.chunk_bytes, "Bytes");
  app.add_option("--chunks", settings.upload.chunks, "In the ring, for each link");
  CLI11_PARSE(app, argc, argv);
  settings.bytes = settings.bytes / 24 * 24;  // whole rows of doubles
  std::vector<Device> devices;
  if (count == 0) count = host ? 2 : cuda_device_count();
  for (int i = 0; i != count; ++i) devices.push_back(host ? Device::host() : Device::cuda(i));
  if (devices.empty()) {
    std::fprintf(stderr, "bench_broadcast: there is no CUDA device; try --host\n");
    return 1;
  }
  Bench(std::move(devices), settings).run();
  return 0;
}

}  // namespace
}  // namespace raylift

int main(int argc, char** argv) {
  return raylift::run_bench("bench_broadcast", raylift::run, argc, argv);
}
