// SPDX-License-Identifier: Apache-2.0
// What sharing memory with OpenGL costs and saves; every comparison within this run.
//
//   bench_interop [--device auto|host|cuda:N] [--gl auto|device|software] [--bytes N] [--rounds N]
#include "bench/run_bench.h"
#include "best_of.h"

#include <GL/glew.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/interop/gl_context.h>
#include <raylift/interop/shared_geometry.h>
#include <raylift/interop/shared_image.h>
#include <raylift/interop/support.h>
#include <tbb/parallel_for.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <random>

namespace raylift {
namespace {

using bench::best_of;
using bench::seconds;

void line(const char* what, double value, const char* unit, double ratio = 0, const char* of = "") {
  std::printf("%-66s %10.3f %-8s", what, value, unit);
  if (ratio != 0) std::printf(" %7.3f %s", ratio, of);
  std::printf("\n");
  std::fflush(stdout);
}

struct Settings {
  std::size_t bytes = std::size_t{1} << 30;  // of vertices and triangles together
  int rounds = 7;
};

// Maps --------------------------------------------------------------------------------------------------------------

/// The median time of many runs, in microseconds; `before` precedes each run and is not timed.
double median_us(
    int times, const std::function<void()>& work, const std::function<void()>& before = [] {}) {
  for (int i = 0; i != 10; ++i) work();
  std::vector<double> all;
  for (int i = 0; i != times; ++i) {
    before();
    all.push_back(seconds(work) * 1e6);
  }
  std::nth_element(all.begin(), all.begin() + times / 2, all.end());
  return all[static_cast<std::size_t>(times / 2)];
}

void measure_maps(const Device& device) {
  const Stream stream(device);
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  constexpr int kTimes = 2000;
  std::optional<SharedBuffer<std::byte>> first;
  line("share a buffer of 256 MiB: make it and register it, once",
       seconds([&] { first.emplace(device, kBytes); }) * 1e3, "ms");
  SharedBuffer<std::byte> second(device, kBytes);
  line("map it for the first time, and unmap it", seconds([&] { (void)first->map(stream); }) * 1e6, "us");
  // What the calls cost where OpenGL and the stream are at rest, as between two frames; and what pairs of them cost one
  // after the other, when each waits for the device to change from OpenGL's work to CUDA's and back.
  line("map and unmap, both sides at rest, median of 500",
       median_us(
           500, [&] { (void)first->map(stream); },
           [&] {
             glFinish();
             stream.synchronize();
           }),
       "us");
  const double one = median_us(kTimes, [&] { (void)first->map(stream); });
  line("map and unmap without a pause, median of 2000", one, "us");
  // OpenGL draws in between, as in a program that shows images.
  const GLuint value = 7;
  const double busy = median_us(kTimes / 10, [&] {
    glClearNamedBufferSubData(second.id(), GL_R32UI, 0, 1024, GL_RED_INTEGER, GL_UNSIGNED_INT, &value);
    (void)second.map(stream);
  });
  line("OpenGL writes to it, then map and unmap", busy, "us");
  line("two buffers together, map and unmap", median_us(kTimes, [&] { (void)map_together(stream, *first, second); }),
       "us");
  line("two buffers one after the other",
       median_us(kTimes,
                 [&] {
                   (void)first->map(stream);
                   (void)second.map(stream);
                 }),
       "us");
}

// Uploads -----------------------------------------------------------------------------------------------------------

/// GB/s of a bare copy of `bytes` from pinned memory to `target`: on the host by all cores.
double bare_copy(const Device& device, std::byte* target, std::size_t bytes, int rounds) {
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
  const double time = best_of(rounds + 1, [&] {
    if (device.info().is_host) {
      in_pieces(
          [&](std::size_t begin, std::size_t size) { std::memcpy(target + begin, source.device() + begin, size); });
    } else {
      device.backend()->copy_to_device(target, source.host().data(), bytes, stream.handle());
      stream.synchronize();
    }
  });
  return static_cast<double>(bytes) / time / 1e9;
}

template <class T>
std::vector<T> random_bits(std::size_t count) {
  std::vector<T> values(count);
  constexpr std::size_t kPiece = 1U << 18;
  tbb::parallel_for(std::size_t{0}, (count + kPiece - 1) / kPiece, [&](std::size_t piece) {
    std::mt19937 random(static_cast<unsigned>(piece));
    for (std::size_t i = piece * kPiece; i != std::min(count, (piece + 1) * kPiece); ++i)
      values[i] = {static_cast<decltype(values[i].x)>(random()), static_cast<decltype(values[i].x)>(random()),
                   static_cast<decltype(values[i].x)>(random())};
  });
  return values;
}

/// One mesh of about so many bytes, half of them vertices: what they hold does not matter to an upload.
Scene random_scene(std::size_t bytes) {
  Scene scene;
  scene.meshes.resize(1);
  scene.meshes[0].vertices = random_bits<Float3>(bytes / 2 / sizeof(Float3));
  scene.meshes[0].triangles = random_bits<UInt3>(bytes / 2 / sizeof(UInt3));
  const auto vertices = static_cast<std::uint32_t>(scene.meshes[0].vertices.size());
  for (UInt3& t : scene.meshes[0].triangles) t = {t.x % vertices, t.y % vertices, t.z % vertices};
  scene.meshes[0].parts = {{0, static_cast<std::uint32_t>(scene.meshes[0].triangles.size())}};
  scene.bindings = {{kNone}};
  scene.nodes.push_back({"world", kNone, std::nullopt});
  scene.instances.push_back({0, 0, 0, kNone, Transform::Identity()});
  return scene;
}

void measure_uploads(const Device& device, const Settings& settings) {
  const Scene scene = random_scene(settings.bytes);
  const std::size_t vertices = scene.unique_vertices();
  const std::size_t triangles = scene.unique_triangles();
  const std::size_t bytes = vertices * sizeof(Float3) + triangles * sizeof(UInt3);
  const std::vector<ArraySource> sources{
      array_source("triangles", ArrayRank::triangles, std::span<const UInt3>(scene.meshes[0].triangles)),
      array_source("vertices", ArrayRank::vertices, std::span<const Float3>(scene.meshes[0].vertices))};
  double bare = 0;
  double bare_shared = 0;
  {
    const DeviceBuffer<std::byte> target(device, bytes);
    bare = bare_copy(device, target.device(), bytes, settings.rounds);
  }
  {
    SharedBuffer<std::byte> target(device, bytes);
    const Stream stream(device);
    const auto mapping = target.map(stream);
    bare_shared = bare_copy(device, mapping.span().data, bytes, settings.rounds);
  }
  line("bare copy into device memory", bare, "GB/s");
  line("bare copy into a mapped OpenGL buffer", bare_shared, "GB/s", bare_shared / bare, "of device memory");

  UploadOptions options;
  options.reserve = 0;
  const double own = best_of(settings.rounds + 1, [&] { (void)upload(sources, device, options); });
  line("upload of vertices and triangles into device memory", static_cast<double>(bytes) / own / 1e9, "GB/s",
       static_cast<double>(bytes) / own / 1e9 / bare, "of the bare copy");
  const SharedUpload shared(vertices, triangles, device, options);
  const double into = best_of(settings.rounds + 1, [&] { (void)upload(sources, device, shared.options()); });
  line("upload of vertices and triangles into OpenGL buffers", static_cast<double>(bytes) / into / 1e9, "GB/s",
       static_cast<double>(bytes) / into / 1e9 / bare, "of the bare copy");
}

void measure_bytes(const Device& device, const Settings& settings) {
  const Scene scene = random_scene(settings.bytes / 4);
  for (const Sharing sharing : {Sharing::automatic, Sharing::copied}) {
    device.trim();
    glFinish();
    const std::uint64_t before = device.memory_info().free_bytes;
    UploadOptions options;
    options.reserve = 0;
    options.bvh = false;
    const SharedGeometry geometry = upload_shared(scene, device, options, {}, sharing);
    glFinish();
    const std::uint64_t after = device.memory_info().free_bytes;
    const auto taken = static_cast<double>(before > after ? before - after : 0);
    line(geometry.shares() ? "device memory taken by geometry that OpenGL shares"
                           : "device memory taken where OpenGL has a copy",
         taken / 1e6, "MB", taken / static_cast<double>(geometry.report().bytes()), "of its arrays");
  }
}

// Images ------------------------------------------------------------------------------------------------------------

void measure_images(const Device& device, const Settings& settings) {
  const Stream stream(device);
  for (const std::uint32_t height : {1080U, 2160U}) {
    const std::uint32_t width = height / 9 * 16;
    const std::size_t pixels = std::size_t{width} * height;
    // Represents a kernel that renders at the rate of memory.
    const DeviceBuffer<std::uint32_t> rendered(device, pixels);
    const int frames = settings.rounds * 30;
    const auto show = [&](Sharing sharing) {
      SharedImage image(device, width, height, {SharedOptions::Access::write_discard, sharing});
      return median_us(frames,
                       [&] {
                         {
                           const auto mapping = image.map(stream);
                           device.backend()->copy_on_device(mapping.image().pixels, rendered.device(), pixels * 4,
                                                            stream.handle());
                         }
                         glFinish();
                       }) /
             1e3;
    };
    const double shared = show(Sharing::automatic);
    const double copied = show(Sharing::copied);
    // The way of a program without interop.
    const MappedBuffer<std::uint32_t> pinned(device, pixels, {true, true, false});
    GLuint texture = 0;
    glCreateTextures(GL_TEXTURE_2D, 1, &texture);
    glTextureStorage2D(texture, 1, GL_RGBA8, static_cast<GLsizei>(width), static_cast<GLsizei>(height));
    const double by_hand =
        median_us(frames,
                  [&] {
                    rendered.copy_to(pinned.host(), stream);
                    stream.synchronize();
                    glTextureSubImage2D(texture, 0, 0, 0, static_cast<GLsizei>(width), static_cast<GLsizei>(height),
                                        GL_RGBA, GL_UNSIGNED_BYTE, pinned.host().data());
                    glFinish();
                  }) /
        1e3;
    glDeleteTextures(1, &texture);
    std::printf("an image of %ux%u, from the kernel to the texture\n", width, height);
    line("  through host memory, by hand", by_hand, "ms");
    line("  SharedImage that copies", copied, "ms", by_hand / copied, "times as fast");
    line("  SharedImage that shares", shared, "ms", by_hand / shared, "times as fast");
  }
}

int main_of(int argc, char** argv) {
  CLI::App app("Sharing memory with OpenGL");
  Settings settings;
  std::string device_name = "auto";
  std::string gl = "auto";
  app.add_option("--device", device_name);
  app.add_option("--gl", gl);
  app.add_option("--bytes", settings.bytes)->check(CLI::Range(std::size_t{4096}, std::size_t{1} << 40));
  app.add_option("--rounds", settings.rounds)->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  const Device device = Device::parse(device_name);
  const GlContext context({gl_renderer(gl), -1, false, device});
  const InteropSupport support = interop_support(device);
  std::printf("device %s (%s), OpenGL %s on %s (%s): %s\n", device.info().id.c_str(), device.info().name.c_str(),
              context.info().version.c_str(), context.info().renderer.c_str(), context.info().platform.c_str(),
              support.available ? "memory is shared by CUDA" : support.why_not.c_str());
  measure_maps(device);
  measure_uploads(device, settings);
  measure_bytes(device, settings);
  measure_images(device, settings);
  return 0;
}

}  // namespace
}  // namespace raylift

int main(int argc, char** argv) {
  return raylift::run_bench("bench_interop", raylift::main_of, argc, argv);
}
