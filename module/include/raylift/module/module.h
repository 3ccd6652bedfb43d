// SPDX-License-Identifier: Apache-2.0
// Kernels compiled at run time, as PyCUDA's SourceModule does it. raylift's headers for kernels are built in.
//
//   const raylift::Module module = raylift::Module::compile(device, R"(
//     #include <raylift/gpu/rays/query.h>
//     __global__ void distances(raylift::GeometryView geometry, const raylift::Ray* rays, float* t, int n) {
//       const int i = blockIdx.x * blockDim.x + threadIdx.x;
//       if (i < n) t[i] = raylift::closest_hit(geometry, rays[i]).t;
//     })");
//   const raylift::Function distances = module.function("distances");
//   distances.launch((n + 127) / 128, 128, 0, stream, geometry.view(), raylift::In(rays), raylift::Out(t), n);
//
// Streams are raylift's or any cudaStream_t. docs/modules.md has PyCUDA's tutorial beside it.
#pragma once

#include <raylift/gpu/device/device.h>
#include <raylift/gpu/device/occupancy.h>
#include <raylift/module/arguments.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace raylift {

namespace detail {
struct ModuleState;
struct Kernel;
}  // namespace detail

/// Blocks of a grid, or threads of a block.
struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr Dim3() = default;
  constexpr Dim3(unsigned x_, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

struct ModuleOptions {
  std::string name = "kernel.cu";                      ///< of the source, in messages
  std::vector<std::string> compiler;                   ///< NVRTC's options: "-lineinfo", "-DN=4", "--maxrregcount=64"
  std::vector<std::filesystem::path> include_folders;  ///< for headers of the caller's own
  bool cache = true;                                   ///< keep what was compiled on disk
  std::filesystem::path cache_folder;                  ///< empty: "kernels" in default_cache_folder()
  std::function<void(const std::string&)> warn;        ///< called with a line for each fault of the cache
};

/// A kernel of a module, which it keeps alive. A value.
class Function {
 public:
  template <class... Types>
  class Prepared;

  [[nodiscard]] const std::string& name() const;
  /// The size of each parameter in bytes.
  [[nodiscard]] const std::vector<std::size_t>& parameters() const;

  /// Runs the kernel in the stream's order. Arguments are values, which are copied, as are pointers to memory that the
  /// device reads; buffers of raylift's, for their device(); and In, Out or InOut for arrays of the host. With one of
  /// these the call returns when the kernel and the copies are done, otherwise at once. Throws Error: usage where
  /// number or size of the arguments are not the kernel's, or the block can't run; device; out_of_device_memory.
  template <class... Arguments>
  void launch(Dim3 grid, Dim3 block, std::size_t shared_bytes, StreamRef stream, Arguments&&... arguments) const {
    run_with({grid, block, shared_bytes}, stream.handle(), nullptr, std::forward<Arguments>(arguments)...);
  }
  /// The same for arguments that are known only at run time: the bytes of each, a pointer's or a value's.
  void launch_bytes(Dim3 grid, Dim3 block, std::size_t shared_bytes, StreamRef stream,
                    std::span<const std::span<const std::byte>> arguments) const;
  /// The same as launch(), and waits. Returns the kernel's time on the device in seconds, without that of the copies.
  template <class... Arguments>
  double timed_launch(Dim3 grid, Dim3 block, std::size_t shared_bytes, StreamRef stream,
                      Arguments&&... arguments) const {
    double seconds = 0;
    run_with({grid, block, shared_bytes}, stream.handle(), &seconds, std::forward<Arguments>(arguments)...);
    return seconds;
  }
  /// For many launches with arguments of the same types, which are checked here, once. Throws Error(usage).
  template <class... Types>
  [[nodiscard]] Prepared<Types...> prepare(Dim3 block, std::size_t shared_bytes = 0) const {
    return {*this, block, shared_bytes};
  }

  /// Its occupancy: see <raylift/gpu/device/occupancy.h>.
  [[nodiscard]] Occupancy occupancy(int block_threads, std::size_t shared_bytes = 0) const;

 private:
  friend class Module;
  struct Shape {
    Dim3 grid, block;
    std::size_t shared_bytes;
  };

  Function(std::shared_ptr<const detail::ModuleState> state, const detail::Kernel& kernel)
      : state_(std::move(state)), kernel_(&kernel) {}
  template <class... Arguments>
  void run_with(const Shape& shape, StreamHandle stream, double* seconds, Arguments&&... arguments) const {
    auto held = std::tuple(detail::held_argument(arguments)...);
    std::apply(
        [&](auto&... one) {
          detail::KernelArgument list[sizeof...(one) + 1] = {detail::kernel_argument(one)...};
          run(shape, stream, {list, sizeof...(one)}, seconds);
        },
        held);
  }
  void check(std::span<const std::size_t> bytes) const;
  void check_block(const Dim3& block, std::size_t shared_bytes) const;
  void run(const Shape& shape, StreamHandle stream, std::span<detail::KernelArgument> arguments, double* seconds) const;
  void run_checked(const Shape& shape, StreamHandle stream, void** values, double* seconds) const;

  std::shared_ptr<const detail::ModuleState> state_;
  const detail::Kernel* kernel_;
};

/// A kernel with its block, for arguments of these types. A launch costs about as much as the driver's own.
template <class... Types>
class Function::Prepared {
  static_assert((std::is_trivially_copyable_v<Types> && ...), "a kernel's arguments are copied byte by byte");

 public:
  /// Returns at once; the kernel runs in the stream's order.
  void launch(Dim3 grid, StreamRef stream, Types... arguments) const {
    void* values[] = {static_cast<void*>(&arguments)..., nullptr};
    function_.run_checked({grid, block_, shared_bytes_}, stream.handle(), values, nullptr);
  }
  /// Waits, and returns the kernel's time on the device in seconds.
  double timed_launch(Dim3 grid, StreamRef stream, Types... arguments) const {
    void* values[] = {static_cast<void*>(&arguments)..., nullptr};
    double seconds = 0;
    function_.run_checked({grid, block_, shared_bytes_}, stream.handle(), values, &seconds);
    return seconds;
  }

 private:
  friend class Function;
  Prepared(Function function, Dim3 block, std::size_t shared_bytes)
      : function_(std::move(function)), block_(block), shared_bytes_(shared_bytes) {
    const std::size_t bytes[] = {sizeof(Types)..., 0};
    function_.check({bytes, sizeof...(Types)});
    function_.check_block(block, shared_bytes);
  }

  Function function_;
  Dim3 block_;
  std::size_t shared_bytes_;
};

/// Compiled kernels on a device. A value: copies stand for the same module.
class Module {
 public:
  /// Compiles CUDA C++ for a CUDA device by NVRTC, as C++20, or loads the result from the cache. Throws Error:
  /// malformed for an invalid source, with its name and line and the compiler's messages; usage for options that NVRTC
  /// refuses; device on the host device, and where NVRTC is not installed.
  [[nodiscard]] static Module compile(const Device& device, std::string_view source, const ModuleOptions& options = {});

  /// A kernel by its name in the source: "distances", "my::kernel", "scale<float>". Templates must be instantiated
  /// there: `template __global__ void scale<float>(float*, int);`. Throws Error(usage) where there is no such kernel,
  /// or where several of that name differ in their parameters.
  [[nodiscard]] Function function(std::string_view name) const;
  /// The names of all kernels.
  [[nodiscard]] std::vector<std::string> functions() const;
  /// Whether it came from the cache.
  [[nodiscard]] bool cached() const;

 private:
  explicit Module(std::shared_ptr<const detail::ModuleState> state) : state_(std::move(state)) {}
  std::shared_ptr<const detail::ModuleState> state_;
};

}  // namespace raylift
