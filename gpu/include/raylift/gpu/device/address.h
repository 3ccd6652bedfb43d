// SPDX-License-Identifier: Apache-2.0
// Whose memory an address is of.
#pragma once

namespace raylift::inline v0_1 {

/// CUDA's number of the device in whose memory an address lies, allocated by whomever in this process. -1 for an
/// address of host memory, pinned or not, for managed memory, for one that CUDA does not know, and without CUDA.
[[nodiscard]] int cuda_device_of(const void* address) noexcept;

}  // namespace raylift::inline v0_1
