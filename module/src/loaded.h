// SPDX-License-Identifier: Apache-2.0
// A compiled module on a CUDA device.
#pragma once

#include <raylift/module/module.h>

#include <memory>
#include <string>

namespace raylift::detail {

/// The driver's handle of a kernel: CUfunction.
using KernelHandle = void*;

struct LaunchShape {
  Dim3 grid, block;
  std::size_t shared_bytes = 0;
};

/// Unloaded with its last owner. All functions may be called from any thread, and throw Error(device).
class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  [[nodiscard]] virtual KernelHandle find(const std::string& symbol) const = 0;
  /// Throws Error(usage) where such a block can't run on the device. Allows what dynamic shared memory it asks for.
  virtual void check_block(KernelHandle kernel, const std::string& name, const Dim3& block,
                           std::size_t shared_bytes) const = 0;
  virtual void launch(KernelHandle kernel, const LaunchShape& shape, StreamHandle stream, void** values) const = 0;
  /// The same, and waits: the seconds between two events around it.
  [[nodiscard]] virtual double time(KernelHandle kernel, const LaunchShape& shape, StreamHandle stream,
                                    void** values) const = 0;
  [[nodiscard]] virtual Occupancy occupancy(KernelHandle kernel, int block_threads, std::size_t shared_bytes) const = 0;
};

[[nodiscard]] std::unique_ptr<LoadedModule> load_module(const Device& device, const std::string& image);

}  // namespace raylift::detail
