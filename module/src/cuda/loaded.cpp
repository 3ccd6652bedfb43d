// SPDX-License-Identifier: Apache-2.0
// Loading and launching by the driver's functions: its modules belong to the device's primary context, as all else
// does.
#include "loaded.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <utility>

#include "device/cuda/check.h"
#include "device/cuda/driver.h"
#include "device/cuda/occupancy_of.h"

namespace raylift::detail {
namespace {

/// The driver's functions for modules.
struct ModuleFunctions {
  decltype(&cuModuleLoadData) load = nullptr;
  decltype(&cuModuleUnload) unload = nullptr;
  decltype(&cuModuleGetFunction) function = nullptr;
  decltype(&cuLaunchKernel) launch = nullptr;
  decltype(&cuFuncGetAttribute) get = nullptr;
  decltype(&cuFuncSetAttribute) set = nullptr;
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) blocks = nullptr;
  decltype(&cuGetErrorName) error_name = nullptr;
  decltype(&cuGetErrorString) error_string = nullptr;

  /// Throws Error(device) where the driver lacks one.
  static const ModuleFunctions& get_all() {
    static const ModuleFunctions all = find();
    return all;
  }
  void check(CUresult code, const std::string& what) const {
    if (code == CUDA_SUCCESS) return;
    const char *name = nullptr, *text = nullptr;
    (void)error_name(code, &name);
    (void)error_string(code, &text);
    throw Error(ErrorKind::device, what + " failed: " + (name != nullptr ? name : "unknown error") + ", " +
                                       (text != nullptr ? text : std::to_string(static_cast<int>(code))));
  }

 private:
  template <class Function>
  static void find_one(const char* name, Function& function) {
    cuda::find_driver_function(name, function);
    if (function == nullptr) throw Error(ErrorKind::device, std::string("the driver has no ") + name);
  }
  static ModuleFunctions find() {
    ModuleFunctions found;
    find_one("cuModuleLoadData", found.load);
    find_one("cuModuleUnload", found.unload);
    find_one("cuModuleGetFunction", found.function);
    find_one("cuLaunchKernel", found.launch);
    find_one("cuFuncGetAttribute", found.get);
    find_one("cuFuncSetAttribute", found.set);
    find_one("cuOccupancyMaxActiveBlocksPerMultiprocessor", found.blocks);
    find_one("cuGetErrorName", found.error_name);
    find_one("cuGetErrorString", found.error_string);
    return found;
  }
};

CUfunction function_of(KernelHandle kernel) {
  return static_cast<CUfunction>(kernel);
}

/// Events that measure time, which a backend's do not.
class Timer {
 public:
  Timer() {
    cuda::check(cudaEventCreate(&begin_), "cudaEventCreate");
    if (const cudaError_t code = cudaEventCreate(&end_); code != cudaSuccess) {
      (void)cudaEventDestroy(begin_);
      cuda::check(code, "cudaEventCreate");
    }
  }
  ~Timer() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  void begin(cudaStream_t stream) { cuda::check(cudaEventRecord(begin_, stream), "cudaEventRecord"); }
  [[nodiscard]] double end(cudaStream_t stream) {
    cuda::check(cudaEventRecord(end_, stream), "cudaEventRecord");
    cuda::check(cudaEventSynchronize(end_), "a kernel");
    float milliseconds = 0;
    cuda::check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return 1e-3 * double{milliseconds};
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

class CudaModule : public LoadedModule {
 public:
  CudaModule(const Device& device, const std::string& image)
      : device_(device), ordinal_(device.info().cuda_device), driver_(ModuleFunctions::get_all()) {
    const cuda::CurrentDevice current = enter();
    driver_.check(driver_.load(&module_, image.data()), "loading a module on " + device.info().id);
    cuda::check(cudaDeviceGetAttribute(&most_shared_, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal_),
                "cudaDeviceGetAttribute");
  }
  ~CudaModule() override {
    const cuda::CurrentDevice current(ordinal_);
    if (current.code() == cudaSuccess) (void)driver_.unload(module_);
  }
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  [[nodiscard]] KernelHandle find(const std::string& symbol) const override {
    const cuda::CurrentDevice current = enter();
    CUfunction function = nullptr;
    driver_.check(driver_.function(&function, module_, symbol.c_str()), "finding the kernel '" + symbol + "'");
    return function;
  }

  void check_block(KernelHandle kernel, const std::string& name, const Dim3& block,
                   std::size_t shared_bytes) const override {
    const cuda::CurrentDevice current = enter();
    const auto threads = std::size_t{block.x} * block.y * block.z;
    const auto most = static_cast<std::size_t>(attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    if (threads == 0 || threads > most)
      throw Error(ErrorKind::usage, "the kernel '" + name + "' takes blocks of 1 to " + std::to_string(most) +
                                        " threads, and was given " + std::to_string(threads));
    const auto fixed = static_cast<std::size_t>(attribute(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    if (fixed + shared_bytes > static_cast<std::size_t>(most_shared_))
      throw Error(ErrorKind::usage, "a block of the kernel '" + name + "' has at most " +
                                        std::to_string(static_cast<std::size_t>(most_shared_) - fixed) +
                                        " bytes of dynamic shared memory, and was given " +
                                        std::to_string(shared_bytes));
    // More than 48 KiB has to be asked for.
    if (shared_bytes > static_cast<std::size_t>(attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)))
      driver_.check(driver_.set(function_of(kernel), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                static_cast<int>(shared_bytes)),
                    "asking for shared memory");
  }

  void launch(KernelHandle kernel, const LaunchShape& shape, StreamHandle stream, void** values) const override {
    const cuda::CurrentDevice current = enter();
    launch_here(kernel, shape, stream, values);
  }

  [[nodiscard]] double time(KernelHandle kernel, const LaunchShape& shape, StreamHandle stream,
                            void** values) const override {
    const cuda::CurrentDevice current = enter();
    Timer timer;
    timer.begin(static_cast<cudaStream_t>(stream));
    launch_here(kernel, shape, stream, values);
    return timer.end(static_cast<cudaStream_t>(stream));
  }

  [[nodiscard]] Occupancy occupancy(KernelHandle kernel, int block_threads, std::size_t shared_bytes) const override {
    const cuda::CurrentDevice current = enter();
    const cuda::KernelNeeds needs{attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
                                  attribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS),
                                  static_cast<std::size_t>(attribute(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES))};
    return cuda::occupancy_of(ordinal_, needs, block_threads, shared_bytes, [&] {
      int blocks = 0;
      driver_.check(driver_.blocks(&blocks, function_of(kernel), block_threads, shared_bytes),
                    "asking for the occupancy");
      return blocks;
    });
  }

 private:
  [[nodiscard]] cuda::CurrentDevice enter() const { return cuda::CurrentDevice(ordinal_); }
  [[nodiscard]] int attribute(KernelHandle kernel, CUfunction_attribute which) const {
    int value = 0;
    driver_.check(driver_.get(&value, which, function_of(kernel)), "cuFuncGetAttribute");
    return value;
  }
  void launch_here(KernelHandle kernel, const LaunchShape& shape, StreamHandle stream, void** values) const {
    const CUresult code = driver_.launch(function_of(kernel), shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x,
                                         shape.block.y, shape.block.z, static_cast<unsigned>(shape.shared_bytes),
                                         static_cast<CUstream>(stream), values, nullptr);
    if (code != CUDA_SUCCESS) driver_.check(code, "launching a kernel");
  }

  Device device_;  // keeps its context
  int ordinal_;
  const ModuleFunctions& driver_;
  CUmodule module_ = nullptr;
  int most_shared_ = 0;
};

}  // namespace

std::unique_ptr<LoadedModule> load_module(const Device& device, const std::string& image) {
  return std::make_unique<CudaModule>(device, image);
}

}  // namespace raylift::detail
