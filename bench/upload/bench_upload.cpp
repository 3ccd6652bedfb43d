// SPDX-License-Identifier: Apache-2.0
// Uploads against what the link can do, and against the ways of other programs; every figure as a ratio within this
// run.
//
//   bench_upload [--device auto|host|cuda:N] [--bytes N] [--rounds N] [--chunk N] [--chunks N]
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/gpu/device/pool.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <sys/wait.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#ifdef RAYLIFT_WITH_CUDA
#include "bench/run_bench.h"
#include "read_rates.h"
#endif

namespace raylift {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double best_of(int rounds, const std::function<void()>& work) {
  double best = seconds(work);  // warms up, and counts if it is the best
  for (int round = 0; round != rounds; ++round) best = std::min(best, seconds(work));
  return best;
}

/// Random numbers without structure, made in parallel.
template <class T>
std::vector<T> random_numbers(std::size_t count) {
  std::vector<T> values(count);
  constexpr std::size_t kPiece = 1U << 20;
  tbb::parallel_for(std::size_t{0}, (count + kPiece - 1) / kPiece, [&](std::size_t piece) {
    std::mt19937_64 random(piece);
    for (std::size_t i = piece * kPiece; i != std::min(count, (piece + 1) * kPiece); ++i)
      values[i] = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53 * 2e4 - 1e4);
  });
  return values;
}

struct Settings {
  std::size_t bytes = std::size_t{1} << 30;  // of the array on the device
  int rounds = 7;
  UploadOptions upload;
  [[nodiscard]] std::size_t rows() const { return bytes / sizeof(Float3); }
};

void line(const char* what, double value, const char* unit, double ratio = 0, const char* of = "") {
  std::printf("%-66s %10.3f %-8s", what, value, unit);
  if (ratio != 0) std::printf(" %7.3f %s", ratio, of);
  std::printf("\n");
  std::fflush(stdout);
}

// Warm uploads ------------------------------------------------------------------------------------------------------

/// GB/s of a bare copy of the same bytes: on CUDA from pinned memory; on the host by all cores.
double bare_copy(const Device& device, const Settings& settings) {
  const std::size_t bytes = settings.rows() * sizeof(Float3);
  const DeviceBuffer<std::byte> target(device, bytes);
  const MappedBuffer<std::byte> source(device, bytes);
  constexpr std::size_t kPiece = 1U << 20;
  const auto in_pieces = [&](const auto& one) {
    tbb::parallel_for(std::size_t{0}, (bytes + kPiece - 1) / kPiece, [&](std::size_t piece) {
      const std::size_t begin = piece * kPiece;
      one(begin, std::min(bytes, begin + kPiece) - begin);
    });
  };
  in_pieces([&](std::size_t begin, std::size_t size) {
    std::memset(source.host().data() + begin, static_cast<int>(begin >> 20), size);
  });
  const Stream stream(device);
  const double time = best_of(settings.rounds, [&] {
    if (device.info().is_host) {
      in_pieces([&](std::size_t begin, std::size_t size) {
        std::memcpy(target.device() + begin, source.device() + begin, size);
      });
    } else {
      device.backend()->copy_to_device(target.device(), source.host().data(), bytes, stream.handle());
      stream.synchronize();
    }
  });
  return static_cast<double>(bytes) / time / 1e9;
}

template <class T>
void warm_upload(const Device& device, const Settings& settings, double bare, const char* what) {
  const std::vector<T> values = random_numbers<T>(3 * settings.rows());
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(values.data(), settings.rows()));
  // The time from the call until the array is complete. It includes the allocation of memory, but not its release.
  double time = 1e300;
  for (int round = 0; round <= settings.rounds; ++round) {
    const auto start = Clock::now();
    const ResidentArrays resident = upload({&source, 1}, device, settings.upload);
    time = std::min(time, std::chrono::duration<double>(Clock::now() - start).count());
    if (resident.arrays[0].where() != Residency::device)
      throw Error(ErrorKind::out_of_device_memory, "the array does not fit");
  }
  const double rate = static_cast<double>(settings.rows() * sizeof(Float3)) / time / 1e9;
  line(what, rate, "GB/s", rate / bare, "of the bare copy");
}

void conversion(const Settings& settings) {
  const std::vector<double> doubles = random_numbers<double>(3 * settings.rows());
  std::vector<Float3> floats(settings.rows());
  const double bytes = static_cast<double>(settings.rows() * sizeof(Float3));
  constexpr std::size_t kPiece = 1U << 18;
  const double copy = best_of(settings.rounds, [&] {
    tbb::parallel_for(std::size_t{0}, (settings.rows() + kPiece - 1) / kPiece, [&](std::size_t piece) {
      const std::size_t begin = piece * kPiece;
      std::memcpy(floats.data() + begin, doubles.data() + begin,
                  (std::min(settings.rows(), begin + kPiece) - begin) * sizeof(Float3));
    });
  });
  line("memcpy of as many bytes as the floats have, all cores", bytes / copy / 1e9, "GB/s");
  for (const StoreMode target : {StoreMode::cached, StoreMode::write_combined}) {
    const double time =
        best_of(settings.rounds, [&] { to_float3(Rows(doubles.data(), settings.rows()), floats, target); });
    line(target == StoreMode::cached ? "double to float, all cores, ordinary stores"
                                     : "double to float, all cores, streaming stores",
         bytes / time / 1e9, "GB/s", copy / time, "of memcpy");
  }
}

// Cold uploads: in a process of its own each ------------------------------------------------------------------------

double cold_raylift(const Device& device, const Settings& settings, const std::vector<double>& values) {
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(values.data(), settings.rows()));
  return seconds([&] { (void)upload({&source, 1}, device, settings.upload); });
}

/// Chroma's way: full-size write-combined mapped memory, converted into by one thread, then device memory and one copy.
double cold_chroma(const Device& device, const Settings& settings, const std::vector<double>& values) {
  return seconds([&] {
    MappedBuffer<Float3> mapped(device, settings.rows());
    for (std::size_t i = 0; i != settings.rows(); ++i)
      mapped.host()[i] = {static_cast<float>(values[3 * i]), static_cast<float>(values[3 * i + 1]),
                          static_cast<float>(values[3 * i + 2])};
    const Stream stream(device);
    DeviceBuffer<Float3> target(device, settings.rows());
    target.copy_from(std::span<const Float3>(mapped.host()), stream);
    stream.synchronize();
  });
}

/// Runs this program again for one cold measurement, and reads the seconds that it prints.
double in_new_process(const std::string& device, const Settings& settings, const char* which) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "'" + program + "' --device " + device + " --bytes " + std::to_string(settings.bytes) +
                              " --chunk " + std::to_string(settings.upload.chunk_bytes) + " --chunks " +
                              std::to_string(settings.upload.chunks) + " --cold " + which;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  double result = 0;
  const bool read = pipe != nullptr && std::fscanf(pipe, "%lf", &result) == 1;
  if (pipe == nullptr || ::pclose(pipe) != 0 || !read) throw Error(ErrorKind::io, "a cold run failed: " + command);
  return result;
}

void cold(const Device& device, const Settings& settings) {
  double ours = 1e300;
  double theirs = 1e300;
  for (int round = 0; round != 3; ++round) {
    ours = std::min(ours, in_new_process(device.info().id, settings, "raylift"));
    theirs = std::min(theirs, in_new_process(device.info().id, settings, "chroma"));
  }
  line("cold: first upload of a process, ring allocated within the time", ours * 1e3, "ms");
  line("cold: Chroma's way, one thread, full-size mapped arrays", theirs * 1e3, "ms", theirs / ours,
       "times raylift's time");
}

// Many small meshes -------------------------------------------------------------------------------------------------

void small_meshes(const Device& device, const Settings& settings) {
  constexpr std::uint32_t kMeshes = 10'000;
  constexpr std::uint32_t kTriangles = 300;
  constexpr std::uint32_t kVertices = kTriangles / 2 + 2;
  Scene scene;
  scene.bindings.push_back({kNone});
  std::mt19937 random(1);
  for (std::uint32_t i = 0; i != kMeshes; ++i) {
    Mesh& mesh = scene.meshes.emplace_back();
    for (std::uint32_t v = 0; v != kVertices; ++v)
      mesh.vertices.push_back({static_cast<float>(random() % 1000), static_cast<float>(random() % 1000),
                               static_cast<float>(random() % 1000)});
    for (std::uint32_t t = 0; t != kTriangles; ++t)
      mesh.triangles.push_back({static_cast<std::uint32_t>(random() % kVertices),
                                static_cast<std::uint32_t>(random() % kVertices),
                                static_cast<std::uint32_t>(random() % kVertices)});
    mesh.parts.push_back({0, kTriangles});
    scene.instances.push_back({i, kNone, 0, kNone, Transform::Identity()});
  }
  UploadOptions arrays_alone = settings.upload;
  arrays_alone.bvh = false;
  const double ours = best_of(settings.rounds, [&] { (void)upload(scene, device, arrays_alone); });
  const double theirs = best_of(2, [&] {
    const Stream stream(device);
    std::vector<DeviceBuffer<Float3>> vertices;
    std::vector<DeviceBuffer<UInt3>> triangles;
    for (const Mesh& mesh : scene.meshes) {
      vertices.emplace_back(device, mesh.vertices.size()).copy_from(mesh.vertices, stream);
      triangles.emplace_back(device, mesh.triangles.size()).copy_from(mesh.triangles, stream);
    }
    stream.synchronize();
  });
  line("10,000 meshes of 300 triangles: raylift", ours * 1e3, "ms");
  line("10,000 meshes of 300 triangles: an allocation and a copy for each array", theirs * 1e3, "ms", theirs / ours,
       "times raylift's time");
}

// Split arrays ------------------------------------------------------------------------------------------------------

#ifdef RAYLIFT_WITH_CUDA
void split(const Device& device, const Settings& settings) {
  const std::vector<float> values = random_numbers<float>(3 * settings.rows());
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(values.data(), settings.rows()));
  const std::size_t bytes = settings.rows() * sizeof(Float3);
  std::printf("\n%-10s %-8s | %-22s %12s %12s | %-10s %12s %12s\n", "budget", "", "raylift", "stream GB/s",
              "random G/s", "Chroma", "stream GB/s", "random G/s");
  for (const unsigned percent : {0U, 25U, 50U, 75U, 90U, 100U}) {
    std::printf("%8u %% %-8s |", percent, "");
    for (const PlacementPolicy policy : {PlacementPolicy::automatic, PlacementPolicy::chroma}) {
      UploadOptions options = settings.upload;
      options.policy = policy;
      // 100 % is room for all of it: the rule compares strictly.
      options.budget = percent == 100 ? bytes + 1 : bytes / 100 * percent;
      const ResidentArrays resident = upload({&source, 1}, device, options);
      const bool near = resident.arrays[0].where() == Residency::device;
      const double stream =
          static_cast<double>(bytes) / bench::seconds_streaming(resident.arrays[0].device(), bytes, 3) / 1e9;
      const std::size_t gathers = near ? std::size_t{1} << 28 : std::size_t{1} << 24;
      const double random =
          static_cast<double>(gathers) / bench::seconds_random(resident.arrays[0].device(), bytes, gathers, 3) / 1e9;
      char where[64];
      std::snprintf(where, sizeof where, "%s, %.1f %% near", std::string(to_string(resident.arrays[0].where())).c_str(),
                    100.0 * static_cast<double>(resident.report.device_bytes()) / static_cast<double>(bytes));
      std::printf(
          policy == PlacementPolicy::automatic ? " %-22s %12.1f %12.3f |" : " %-10.10s %12.1f %12.3f\n",
          policy == PlacementPolicy::automatic ? where : std::string(to_string(resident.arrays[0].where())).c_str(),
          stream, random);
      std::fflush(stdout);
    }
  }
}
#endif

void leaks(const Device& device, const Settings& settings) {
  const std::vector<float> values = random_numbers<float>(3'000'000);
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(values.data(), 1'000'000));
  UploadOptions options = settings.upload;
  (void)upload({&source, 1}, device, options);
  const std::uint64_t before = device.memory_info().free_bytes;
  for (int round = 0; round != 1000; ++round) {
    options.budget = round % 3 == 0 ? UINT64_MAX : round % 3 == 1 ? 6'000'000 : 0;
    (void)upload({&source, 1}, device, options);
  }
  const std::uint64_t after = device.memory_info().free_bytes;
  std::printf("\n1,000 uploads and frees (device, split, mapped in turn): free before %llu, after %llu bytes: %s\n",
              static_cast<unsigned long long>(before), static_cast<unsigned long long>(after),
              before == after ? "equal" : "NOT EQUAL");
}

int run(int argc, char** argv) {
  Settings settings;
  std::string device_name = "auto";
  std::string cold_run;
  settings.upload.reserve = 0;
  CLI::App app{"Uploads against what the link can do, and against the ways of other programs."};
  app.add_option("--device", device_name, "auto, host or cuda:N");
  app.add_option("--bytes", settings.bytes, "Bytes of the array on the device");
  app.add_option("--rounds", settings.rounds, "Repetitions; the best counts");
  app.add_option("--chunk", settings.upload.chunk_bytes, "Bytes of a staging chunk");
  app.add_option("--chunks", settings.upload.chunks, "Chunks in the ring");
  bool write_combined = false;
  app.add_flag("--write-combined", write_combined, "Staging blocks in write-combined memory");
  bool warm_only = false;
  app.add_flag("--warm-only", warm_only, "Only the warm uploads");
  app.add_option("--cold", cold_run, "One cold measurement: raylift or chroma")->group("");
  CLI11_PARSE(app, argc, argv);

  const Device chosen = Device::parse(device_name, settings.bytes * 4 + (std::size_t{1} << 30));
  const Device device(chosen.backend(), {true, true, write_combined});
  if (!cold_run.empty()) {
    const std::vector<double> values = random_numbers<double>(3 * settings.rows());
    std::printf("%.6f\n",
                cold_run == "chroma" ? cold_chroma(device, settings, values) : cold_raylift(device, settings, values));
    return 0;
  }
  std::printf("%s, %s, %u cores; array of %zu bytes, chunks of %zu bytes, %zu of them, %s; best of %d\n\n",
              device.info().id.c_str(), device.info().name.c_str(), std::thread::hardware_concurrency(),
              settings.rows() * sizeof(Float3), settings.upload.chunk_bytes, settings.upload.chunks,
              write_combined ? "write-combined" : "cached", settings.rounds + 1);
  conversion(settings);
  const double bare = bare_copy(device, settings);
  line(device.info().is_host ? "bare copy, all cores" : "bare copy from pinned memory", bare, "GB/s");
  warm_upload<double>(device, settings, bare, "warm upload, doubles converted on the way");
  warm_upload<float>(device, settings, bare, "warm upload, floats");
  if (warm_only) return 0;
  cold(device, settings);
  small_meshes(device, settings);
#ifdef RAYLIFT_WITH_CUDA
  if (!device.info().is_host && device.info().splits_arrays) split(device, settings);
#endif
  leaks(device, settings);
  return 0;
}

}  // namespace
}  // namespace raylift

int main(int argc, char** argv) {
  return raylift::run_bench("bench_upload", raylift::run, argc, argv);
}
