// SPDX-License-Identifier: Apache-2.0
#include "occupancy_of.h"

#include <algorithm>

#include "check.h"

namespace raylift {

Occupancy cuda::occupancy_of(int ordinal, const KernelNeeds& needs, int block_threads, std::size_t shared_bytes,
                             const std::function<int()>& most_blocks) {
  cudaDeviceProp machine{};
  check(cudaGetDeviceProperties(&machine, ordinal), "cudaGetDeviceProperties");
  const std::string asked = std::to_string(block_threads) + " threads and " + std::to_string(shared_bytes) +
                            " bytes of shared memory per block";
  if (block_threads <= 0 || block_threads > needs.most_threads)
    throw Error(ErrorKind::usage, asked + ": the kernel takes 1 to " + std::to_string(needs.most_threads) + " threads");
  if (needs.shared_bytes + shared_bytes > machine.sharedMemPerBlockOptin)
    throw Error(ErrorKind::usage,
                asked + ": a block has at most " + std::to_string(machine.sharedMemPerBlockOptin) + " bytes");

  Occupancy result;
  result.blocks = most_blocks();
  const int warps_per_block = (block_threads + machine.warpSize - 1) / machine.warpSize;
  result.warps = result.blocks * warps_per_block;
  result.most_warps = machine.maxThreadsPerMultiProcessor / machine.warpSize;
  result.fraction = static_cast<double>(result.warps) / result.most_warps;

  // Which resource allows that few blocks: the tightest of four simple counts. CUDA rounds registers up to 256 per
  // warp.
  const int by_threads = result.most_warps / warps_per_block;
  const int registers_per_block = (needs.registers * machine.warpSize + 255) / 256 * 256 * warps_per_block;
  const int by_registers = registers_per_block == 0 ? by_threads : machine.regsPerMultiprocessor / registers_per_block;
  const std::size_t shared = needs.shared_bytes + shared_bytes + machine.reservedSharedMemPerBlock;
  const int by_shared = static_cast<int>(machine.sharedMemPerMultiprocessor / std::max<std::size_t>(shared, 1));
  const int by_blocks = machine.maxBlocksPerMultiProcessor;
  const int tightest = std::min({by_threads, by_registers, by_shared, by_blocks});
  result.limited_by = by_threads == tightest     ? Occupancy::Limit::threads
                      : by_registers == tightest ? Occupancy::Limit::registers
                      : by_shared == tightest    ? Occupancy::Limit::shared_memory
                                                 : Occupancy::Limit::blocks;
  return result;
}

Occupancy occupancy(const Device& device, const void* kernel, int block_threads, std::size_t shared_bytes) {
  using cuda::check;
  if (device.info().is_host) throw Error(ErrorKind::device, "the host device has no occupancy");
  const int ordinal = device.info().cuda_device;
  const cuda::CurrentDevice current(ordinal);
  check(current.code(), "selecting " + device.info().id);
  cudaFuncAttributes needs{};
  check(cudaFuncGetAttributes(&needs, kernel), "cudaFuncGetAttributes");
  return cuda::occupancy_of(
      ordinal, {needs.maxThreadsPerBlock, needs.numRegs, needs.sharedSizeBytes}, block_threads, shared_bytes, [&] {
        int blocks = 0;
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block_threads, shared_bytes),
              "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        return blocks;
      });
}

}  // namespace raylift
