// SPDX-License-Identifier: Apache-2.0
// What a launch of a kernel that was compiled at run time costs the host, beside the driver's own call; and what it
// takes to compile one, and to take one from the cache. Needs a CUDA device.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/module/module.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <vector>

namespace raylift {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kSource = R"(
  #include <raylift/gpu/rays/query.h>
  extern "C" __global__ void step(float* p, float by, int n, unsigned long long seed) {
    if (threadIdx.x < n) p[threadIdx.x] += by * seed;
  }
  __global__ void hits(raylift::GeometryView view, const raylift::Ray* rays, raylift::Hit* hits) {
    hits[threadIdx.x] = raylift::closest_hit(view, rays[threadIdx.x]);
  })";

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Seconds per call: the median of rounds, each so short that the queue of the stream does not fill.
template <class Call>
double seconds_per_call(const Stream& stream, const Call& call) {
  constexpr int kCalls = 200, kRounds = 400;
  std::vector<double> rounds;
  for (int round = 0; round != kRounds; ++round) {
    stream.synchronize();
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i != kCalls; ++i) call();
    rounds.push_back(seconds_since(begin) / kCalls);
  }
  stream.synchronize();
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

/// The same kernel in a module of the driver's own, launched by cuLaunchKernel alone.
class PlainKernel {
 public:
  PlainKernel() {
    find("cuModuleLoadData", load_);
    find("cuModuleGetFunction", function_of_);
    find("cuLaunchKernel", launch_);
    constexpr const char* kPtx =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry step(.param .u64 a, .param .f32 b, .param .u32 c, .param .u64 d) { ret; }\n";
    CUmodule module = nullptr;
    if (load_(&module, kPtx) != CUDA_SUCCESS || function_of_(&function_, module, "step") != CUDA_SUCCESS)
      throw Error(ErrorKind::device, "the plain kernel can't be loaded");
  }
  void launch(CUfunction function, const Stream& stream, float* p, float by, int n, unsigned long long seed) const {
    void* values[] = {&p, &by, &n, &seed};
    if (launch_(function, 1, 1, 1, 128, 1, 1, 0, static_cast<CUstream>(stream.handle()), values, nullptr) !=
        CUDA_SUCCESS)
      throw Error(ErrorKind::device, "cuLaunchKernel failed");
  }
  [[nodiscard]] CUfunction function() const { return function_; }

 private:
  template <class Function>
  static void find(const char* name, Function& function) {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    (void)cudaGetDriverEntryPointByVersion(name, &address, 12020, cudaEnableDefault, &result);
#else
    (void)cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &result);
#endif
    function = reinterpret_cast<Function>(address);
  }
  decltype(&cuModuleLoadData) load_ = nullptr;
  decltype(&cuModuleGetFunction) function_of_ = nullptr;
  decltype(&cuLaunchKernel) launch_ = nullptr;
  CUfunction function_ = nullptr;
};

void run(int ordinal) {
  const Device device = Device::cuda(ordinal);
  cudaSetDevice(ordinal);
  const Stream stream(device);
  std::string pattern = (std::filesystem::temp_directory_path() / "bench-module-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw Error(ErrorKind::io, "no temporary folder");
  ModuleOptions options;
  options.cache_folder = pattern;
  Clock::time_point begin = Clock::now();
  const Module module = Module::compile(device, kSource, options);
  const double compiled = seconds_since(begin);
  begin = Clock::now();
  const Module again = Module::compile(device, kSource, options);
  const double cached = seconds_since(begin);
  std::filesystem::remove_all(pattern);

  DeviceBuffer<float> buffer(device, 128);
  const Function step = module.function("step");
  const auto prepared = step.prepare<float*, float, int, unsigned long long>(128);
  const PlainKernel plain;
  const auto by_driver = [&] { plain.launch(plain.function(), stream, buffer.device(), 1.0F, 128, 7ULL); };
  const auto by_prepared = [&] { prepared.launch(1, stream, buffer.device(), 1.0F, 128, 7ULL); };
  const auto by_launch = [&] { step.launch(1, 128, 0, stream, buffer, 1.0F, 128, 7ULL); };
  (void)seconds_per_call(stream, by_driver);  // warm
  const double driver = seconds_per_call(stream, by_driver), ready = seconds_per_call(stream, by_prepared),
               full = seconds_per_call(stream, by_launch);
  std::printf("%s\n", device.info().name.c_str());
  std::printf("compile %.3f s, from the cache %.4f s (%s)\n", compiled, cached, again.cached() ? "hit" : "miss");
  std::printf("cuLaunchKernel %.2f us\n", 1e6 * driver);
  std::printf("prepared launch %.2f us, %.2f times that\n", 1e6 * ready, ready / driver);
  std::printf("launch %.2f us, %.2f times that\n", 1e6 * full, full / driver);
}

}  // namespace
}  // namespace raylift

int main(int argc, char** argv) {
  CLI::App app("What launches of kernels that were compiled at run time cost");
  int ordinal = 0;
  app.add_option("--device", ordinal, "number of the CUDA device");
  CLI11_PARSE(app, argc, argv);
  try {
    raylift::run(ordinal);
  } catch (const raylift::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return raylift::exit_code(error.kind());
  }
  return 0;
}
