// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/device/occupancy.h>

#include <algorithm>
#include <cstdlib>

#include "check.h"

namespace raylift {

Occupancy occupancy(const Device& device, const void* kernel, int block_threads, std::size_t shared_bytes) {
  using cuda::check;
  if (device.info().is_host) throw Error(ErrorKind::device, "the host device has no occupancy");
  const int ordinal = std::atoi(device.info().id.c_str() + 5);
  const cuda::CurrentDevice current(ordinal);
  check(current.code(), "selecting " + device.info().id);
  cudaDeviceProp machine{};
  check(cudaGetDeviceProperties(&machine, ordinal), "cudaGetDeviceProperties");
  cudaFuncAttributes needs{};
  check(cudaFuncGetAttributes(&needs, kernel), "cudaFuncGetAttributes");
  const std::string asked = std::to_string(block_threads) + " threads and " + std::to_string(shared_bytes) +
                            " bytes of shared memory per block";
  if (block_threads <= 0 || block_threads > needs.maxThreadsPerBlock)
    throw Error(ErrorKind::usage,
                asked + ": the kernel takes 1 to " + std::to_string(needs.maxThreadsPerBlock) + " threads");
  if (needs.sharedSizeBytes + shared_bytes > machine.sharedMemPerBlockOptin)
    throw Error(ErrorKind::usage,
                asked + ": a block has at most " + std::to_string(machine.sharedMemPerBlockOptin) + " bytes");

  Occupancy result;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&result.blocks, kernel, block_threads, shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const int warps_per_block = (block_threads + machine.warpSize - 1) / machine.warpSize;
  result.warps = result.blocks * warps_per_block;
  result.most_warps = machine.maxThreadsPerMultiProcessor / machine.warpSize;
  result.fraction = static_cast<double>(result.warps) / result.most_warps;

  // Which resource allows that few blocks: the tightest of four simple counts. CUDA rounds registers up to 256 per
  // warp.
  const int by_threads = result.most_warps / warps_per_block;
  const int registers_per_block = (needs.numRegs * machine.warpSize + 255) / 256 * 256 * warps_per_block;
  const int by_registers = registers_per_block == 0 ? by_threads : machine.regsPerMultiprocessor / registers_per_block;
  const std::size_t shared = needs.sharedSizeBytes + shared_bytes + machine.reservedSharedMemPerBlock;
  const int by_shared = static_cast<int>(machine.sharedMemPerMultiprocessor / std::max<std::size_t>(shared, 1));
  const int by_blocks = machine.maxBlocksPerMultiProcessor;
  const int tightest = std::min({by_threads, by_registers, by_shared, by_blocks});
  result.limited_by = by_threads == tightest     ? Occupancy::Limit::threads
                      : by_registers == tightest ? Occupancy::Limit::registers
                      : by_shared == tightest    ? Occupancy::Limit::shared_memory
                                                 : Occupancy::Limit::blocks;
  return result;
}

}  // namespace raylift
