// SPDX-License-Identifier: Apache-2.0
// From the geometry cache onto the device, against loading the source, the link, and reads out of the page cache: all
// in one run.
//
//   bench_cache FILE [--device D] [--rounds N] [--folder DIR]
#include "bench/best_of.h"
#include "bench/run_bench.h"
#include "gpu/src/cache/cache_files.h"

#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/pool.h>
#include <raylift/gpu/memory/buffer.h>
#include <sys/mman.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <thread>

namespace raylift {
namespace {

using bench::best_of;

double rate(std::uint64_t bytes, double seconds) {
  return static_cast<double>(bytes) / seconds / 1e9;
}

/// Each thread reads the next piece of the file into its own buffer, which stays in its cache: nothing that needs
/// the bytes can be faster.
double seconds_read(const CacheFile& file, int rounds, bool mapped) {
  constexpr std::size_t kPiece = std::size_t{512} << 10;
  const std::size_t bytes = file.file_bytes();
  const int descriptor = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw Error(ErrorKind::io, "can't open the cache file");
  std::atomic<bool> failed{false};
  const double seconds = best_of(rounds, [&] {
    auto* map = static_cast<std::byte*>(mapped ? ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0)
                                               : static_cast<void*>(nullptr));
    std::atomic<std::size_t> next{0};
    tbb::parallel_for(std::size_t{0}, std::size_t{std::thread::hardware_concurrency()}, [&](std::size_t) {
      const auto buffer = std::make_unique<std::byte[]>(kPiece);
      for (std::size_t begin = kPiece * next++; begin < bytes; begin = kPiece * next++) {
        const std::size_t here = std::min(kPiece, bytes - begin);
        if (mapped) {
          ::madvise(map + begin, here, MADV_POPULATE_READ);
          std::memcpy(buffer.get(), map + begin, here);
        } else if (::pread(descriptor, buffer.get(), here, static_cast<off_t>(begin)) != static_cast<ssize_t>(here)) {
          failed = true;
        }
      }
    });
    if (mapped) ::munmap(map, bytes);
    return 0;
  });
  ::close(descriptor);
  if (failed) throw Error(ErrorKind::io, "can't read the cache file");
  return seconds;
}

/// The link alone: the same bytes from pinned memory, in one copy; on the host device, by all threads.
double seconds_copied(const Device& device, std::size_t bytes, int rounds) {
  const Stream stream(device);
  const MappedBuffer<std::byte> from(device, bytes, PinnedFlags{true, true, false});
  std::memset(from.host().data(), 1, bytes);
  DeviceBuffer<std::byte> to(device, bytes);
  return best_of(rounds + 1, [&] {
    if (device.info().is_host) {
      constexpr std::size_t kPiece = std::size_t{1} << 20;
      tbb::parallel_for(std::size_t{0}, (bytes + kPiece - 1) / kPiece, [&](std::size_t piece) {
        const std::size_t begin = piece * kPiece;
        std::memcpy(to.device() + begin, from.host().data() + begin, std::min(kPiece, bytes - begin));
      });
    } else {
      to.copy_from(from.host(), stream);
      stream.synchronize();
    }
    return 0;
  });
}

void line(const char* what, double seconds, const char* note = "", double figure = 0, const char* unit = "") {
  std::printf("%-58s %10.3f ms", what, seconds * 1e3);
  if (*note != '\0') std::printf("   %s", note);
  if (*unit != '\0') std::printf("   %8.2f %s", figure, unit);
  std::printf("\n");
  std::fflush(stdout);
}

void measure(const std::string& source, const Device& device, const CacheOptions& cache, int rounds, bool bvh) {
  UploadOptions options;
  options.reserve = 0;
  options.bvh = bvh;
  std::printf("%s\n", bvh ? "with the BVH for rays" : "without a BVH");
  const double from_source = best_of(2, [&] { return upload(load(source), device, options); });
  line("source to device: load, weld, build, upload", from_source);
  CacheOptions anew = cache;
  anew.read = false;
  const double writing = best_of(1, [&] { return make_cache(source, {}, options, anew); });
  const CacheFile file = make_cache(source, {}, options, cache).file;
  std::uint64_t bytes = 0;
  for (const CacheSection& section : file.sections())
    if (section.kind == CacheSection::Kind::array) bytes += section.bytes();
  line("source to cache file, on the disk", writing);

  const double copied = seconds_copied(device, bytes, rounds);
  const double read = seconds_read(file, rounds, false);
  const double mapped = seconds_read(file, rounds, true);
  const double key = best_of(rounds, [&] { return cache_key(source, {}, options); });
  double upload_alone = std::numeric_limits<double>::infinity();
  const double from_file = best_of(rounds + 1, [&] {
    const CacheFile again(file.path());
    GpuGeometry geometry = upload_cached(again, device, options);
    upload_alone = std::min(upload_alone, geometry.report().upload_seconds);
    return geometry;
  });
  const double with_key = best_of(rounds, [&] {
    CachedUpload uploaded = upload(source, {}, device, options, cache);
    if (!uploaded.hit) throw Error(ErrorKind::io, "the cache was missed");
    return uploaded;
  });
  line("the link alone, as many bytes", copied, "", rate(bytes, copied), "GB/s");
  line("page cache alone, read calls, all threads", read, "", rate(file.file_bytes(), read), "GB/s");
  line("page cache alone, mapped and copied, all threads", mapped, "", rate(file.file_bytes(), mapped), "GB/s");
  line("hashing the source", key, "", rate(file.key().source_bytes, key), "GB/s");
  line("cache file to device, all of it checked", from_file, "", rate(bytes, from_file), "GB/s");
  line("  of which the bytes' way alone", upload_alone, "", rate(bytes, upload_alone), "GB/s");
  line("source's name to device, by the cache", with_key);
  const double bound = std::min(rate(bytes, copied), rate(file.file_bytes(), read));
  std::printf("%-58s %10.3f   (the bytes' way alone: %.3f)\n", "cache file to device / min(page cache, link)",
              rate(bytes, from_file) / bound, rate(bytes, upload_alone) / bound);
  std::printf("%-58s %10.1f\n", "source to device / cache file to device", from_source / from_file);
  std::printf("%-58s %10.1f\n\n", "source to device / source's name to device, by the cache", from_source / with_key);
}

int run(int argc, char** argv) {
  std::string source;
  std::string device_name = "auto";
  std::string folder;
  int rounds = 10;
  CLI::App app{"The geometry cache against loading, the link and the page cache."};
  app.add_option("FILE", source, "A scene")->required();
  app.add_option("--device", device_name, "auto, host or cuda:N");
  app.add_option("--rounds", rounds, "Repetitions; the best counts");
  app.add_option("--folder", folder, "Where the cache is made; a temporary folder by default");
  CLI11_PARSE(app, argc, argv);
  const Device device = Device::parse(device_name, std::uint64_t{4} << 30);
  const bool own = folder.empty();
  if (own) {
    std::string pattern = (std::filesystem::temp_directory_path() / "raylift-cache-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw Error(ErrorKind::io, "no temporary folder");
    folder = pattern;
  }
  CacheOptions cache;
  cache.folder = folder;
  cache.warn = [](const std::string& text) { std::fprintf(stderr, "bench_cache: %s\n", text.c_str()); };
  std::printf("%s, %s, %u cores; %s, %llu bytes; best of %d\n\n", device.info().id.c_str(), device.info().name.c_str(),
              std::thread::hardware_concurrency(), std::filesystem::path(source).filename().c_str(),
              static_cast<unsigned long long>(std::filesystem::file_size(source)), rounds);
  for (const bool bvh : {false, true}) measure(source, device, cache, rounds, bvh);
  if (own) std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace raylift

int main(int argc, char** argv) {
  return raylift::run_bench("bench_cache", raylift::run, argc, argv);
}
