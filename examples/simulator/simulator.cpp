// SPDX-License-Identifier: Apache-2.0
// simulator SCENE OUT.npy [RAYS [X Y Z]]: sends isotropic rays from a point (the middle of the scene, or X Y Z in mm),
// and writes each solid's mean path length per ray in mm, what is nested in it included, as a NumPy array.
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "path_length.h"

using raylift::Error, raylift::ErrorKind;

const char* launch_path_lengths(const Task& task, void* stream);

void run(const raylift::Device& device, const Task& task, const raylift::Stream& stream) {
#ifdef SIMULATOR_CUDA
  if (!device.info().is_host) {
    if (const char* failure = launch_path_lengths(task, stream.handle())) throw Error(ErrorKind::device, failure);
    return;
  }
#endif
  (void)device, (void)stream;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t first; (first = next.fetch_add(1024)) < task.rays;)
      for (std::size_t ray = first; ray < std::min(first + 1024, task.rays); ++ray)
        follow(task, ray, [&](std::uint32_t solid, unsigned long long units) {
          std::atomic_ref(task.lengths[solid]).fetch_add(units, std::memory_order_relaxed);
        });
  };
  std::vector<std::jthread> threads(std::max(1u, std::thread::hardware_concurrency()));
  for (std::jthread& thread : threads) thread = std::jthread(work);
}

void write_npy(const std::string& path, const std::vector<double>& values) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(values.size()) + ",), }";
  header.append(63 - (10 + header.size()) % 64, ' ') += '\n';  // data begins at a multiple of 64 bytes
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size()) << static_cast<char>(header.size() >> 8)
       << header;
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(double)));
  if (!file.flush()) throw Error(ErrorKind::io, "can't write the result", {path, ""});
}

int main(int argc, char** argv) {
  const long long wanted = argc > 3 ? std::strtoll(argv[3], nullptr, 10) : 1'000'000;
  const auto rays = static_cast<std::size_t>(wanted);
  if ((argc != 3 && argc != 4 && argc != 7) || wanted <= 0) {
    std::fprintf(stderr, "usage: simulator SCENE OUT.npy [RAYS [X Y Z]]\n");
    return 2;
  }
  try {
    const raylift::Scene scene = raylift::load(argv[1]);
    Eigen::Vector3d source = scene.bounds.center();
    for (int axis = 0; argc == 7 && axis != 3; ++axis) source[axis] = std::strtod(argv[4 + axis], nullptr);

#ifdef SIMULATOR_CUDA
    const raylift::Device device = raylift::Device::choose();  // a GPU where there is one
#else
    const raylift::Device device = raylift::Device::host();
#endif
    std::vector<unsigned long long> lengths(scene.instances.size());
    raylift::UploadOptions options;
    options.bvh = true;
    options.reserve = 100'000'000 + lengths.size() * sizeof lengths[0];  // what this program takes, and some air
    const raylift::GpuGeometry geometry = raylift::upload(scene, device, options);
    std::fputs(geometry.report().table().c_str(), stdout);

    const raylift::Stream stream(device);
    raylift::DeviceBuffer<unsigned long long> sums(device, lengths.size());
    sums.copy_from(lengths, stream);
    const double* origin = geometry.view().origin;
    const auto from = [&](int axis) { return static_cast<float>(source[axis] - origin[axis]); };
    run(device, {geometry.view(), {from(0), from(1), from(2)}, sums.device(), rays}, stream);
    sums.copy_to(lengths, stream);
    stream.synchronize();

    std::vector<double> means;
    for (const unsigned long long units : lengths)
      means.push_back(static_cast<double>(static_cast<long long>(units)) / kUnitsPerMm / static_cast<double>(rays));
    write_npy(argv[2], means);
    const auto longest = static_cast<std::size_t>(std::max_element(means.begin(), means.end()) - means.begin());
    std::printf("%zu rays from (%g, %g, %g) mm; %zu solids in %s", rays, source[0], source[1], source[2], means.size(),
                argv[2]);
    if (!means.empty())
      std::printf("; longest: %.3f mm in %s", means[longest], scene.solid_name(scene.instances[longest]).c_str());
    std::puts("");
  } catch (const Error& error) {
    std::fprintf(stderr, "simulator: error: %s\n", error.what());
    return raylift::exit_code(error.kind());
  }
}
