// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/module/module.h>

#include <algorithm>
#include <utility>

#include "compile.h"
#include "loaded.h"

namespace raylift {

namespace detail {

/// A module, with the driver's kernels in the order of those that were compiled.
struct ModuleState {
  Device device;
  std::string name;
  Compiled compiled;
  std::unique_ptr<LoadedModule> loaded;
  std::vector<KernelHandle> handles;

  [[nodiscard]] KernelHandle handle(const Kernel& kernel) const {
    return handles[static_cast<std::size_t>(&kernel - compiled.kernels.data())];
  }
};

}  // namespace detail

namespace {

using namespace detail;

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

/// The arrays of a launch on the device: there before the kernel runs, and given back when it has.
class ArraysOnDevice {
 public:
  ArraysOnDevice(detail::Backend& backend, StreamHandle stream, std::span<KernelArgument> arguments)
      : backend_(backend), stream_(stream), arguments_(arguments) {
    try {
      for (const KernelArgument& argument : arguments_)
        if (argument.array != nullptr) copy_in(*argument.array);
    } catch (...) {
      release();
      throw;
    }
  }
  ~ArraysOnDevice() { release(); }
  ArraysOnDevice(const ArraysOnDevice&) = delete;
  ArraysOnDevice& operator=(const ArraysOnDevice&) = delete;

  void copy_back() {
    for (const KernelArgument& argument : arguments_)
      if (const HostArray* array = argument.array; array != nullptr && array->to != nullptr && array->bytes != 0)
        backend_.copy_to_host(array->to, array->device, array->bytes, stream_);
    backend_.synchronize(stream_);
  }

 private:
  void copy_in(HostArray& array) {
    if (array.bytes == 0) return;  // a null pointer
    array.device = backend_.allocate_on(stream_, array.bytes);
    if (array.from != nullptr) backend_.copy_to_device(array.device, array.from, array.bytes, stream_);
  }
  void release() noexcept {
    for (const KernelArgument& argument : arguments_)
      if (argument.array != nullptr && argument.array->device != nullptr)
        backend_.release_on(stream_, std::exchange(argument.array->device, nullptr));
  }
  detail::Backend& backend_;
  StreamHandle stream_;
  std::span<KernelArgument> arguments_;
};

}  // namespace

Module Module::compile(const Device& device, std::string_view source, const ModuleOptions& options) {
  if (device.info().is_host)
    throw Error(ErrorKind::device,
                "kernels that are compiled at run time need a CUDA device, and this is the host device", {},
                "mark the function RAYLIFT_HD, and call it in a loop there");
  Compiled compiled =
      detail::compile(Nvrtc::get(), source, device.info().compute_major * 10 + device.info().compute_minor, options);
  const auto state = std::make_shared<ModuleState>(ModuleState{device, options.name, std::move(compiled), nullptr, {}});
  state->loaded = load_module(device, state->compiled.image);
  for (const Kernel& kernel : state->compiled.kernels) state->handles.push_back(state->loaded->find(kernel.symbol));
  return Module(state);
}

Function Module::function(std::string_view name) const {
  const Kernel* found = nullptr;
  for (const Kernel& kernel : state_->compiled.kernels) {
    if (kernel.name != name && kernel.symbol != name) continue;
    if (found != nullptr)
      throw Error(ErrorKind::usage, "several kernels are called '" + std::string(name) + "'", {state_->name, ""},
                  "give them names of their own, or mark one extern \"C\"");
    found = &kernel;
  }
  if (found == nullptr)
    throw Error(ErrorKind::usage,
                "no kernel is called '" + std::string(name) + "'; those of the module: " + list_of(functions()),
                {state_->name, ""});
  return {state_, *found};
}

std::vector<std::string> Module::functions() const {
  std::vector<std::string> names;
  for (const Kernel& kernel : state_->compiled.kernels) names.push_back(kernel.name);
  return names;
}

bool Module::cached() const {
  return state_->compiled.cached;
}

const std::string& Function::name() const {
  return kernel_->name;
}

const std::vector<std::size_t>& Function::parameters() const {
  return kernel_->parameters;
}

Occupancy Function::occupancy(int block_threads, std::size_t shared_bytes) const {
  return state_->loaded->occupancy(state_->handle(*kernel_), block_threads, shared_bytes);
}

void Function::check(std::span<const std::size_t> bytes) const {
  check_arguments(*kernel_, bytes);
}

void Function::check_block(const Dim3& block, std::size_t shared_bytes) const {
  state_->loaded->check_block(state_->handle(*kernel_), kernel_->name, block, shared_bytes);
}

void Function::run(const Shape& shape, StreamHandle stream, std::span<detail::KernelArgument> arguments,
                   double* seconds) const {
  std::vector<std::size_t> bytes(arguments.size());
  std::vector<void*> values(arguments.size());
  std::transform(arguments.begin(), arguments.end(), bytes.begin(),
                 [](const KernelArgument& one) { return one.bytes; });
  std::transform(arguments.begin(), arguments.end(), values.begin(),
                 [](const KernelArgument& one) { return one.value; });
  check(bytes);
  check_block(shape.block, shape.shared_bytes);
  const bool arrays =
      std::any_of(arguments.begin(), arguments.end(), [](const KernelArgument& one) { return one.array != nullptr; });
  if (!arrays) return run_checked(shape, stream, values.data(), seconds);
  ArraysOnDevice on_device(*state_->device.backend(), stream, arguments);
  run_checked(shape, stream, values.data(), seconds);
  on_device.copy_back();
}

void Function::launch_bytes(Dim3 grid, Dim3 block, std::size_t shared_bytes, StreamRef stream,
                            std::span<const std::span<const std::byte>> arguments) const {
  std::vector<KernelArgument> list;
  list.reserve(arguments.size());
  for (const std::span<const std::byte>& one : arguments)
    list.push_back({const_cast<std::byte*>(one.data()), one.size(), nullptr});
  run({grid, block, shared_bytes}, stream.handle(), list, nullptr);
}

void Function::run_checked(const Shape& shape, StreamHandle stream, void** values, double* seconds) const {
  const LaunchShape launch{shape.grid, shape.block, shape.shared_bytes};
  const KernelHandle kernel = state_->handle(*kernel_);
  if (seconds == nullptr)
    state_->loaded->launch(kernel, launch, stream, values);
  else
    *seconds = state_->loaded->time(kernel, launch, stream, values);
}

}  // namespace raylift
