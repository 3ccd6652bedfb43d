// SPDX-License-Identifier: Apache-2.0
// The device that an address belongs to.
#pragma once

namespace raylift {

/// CUDA's number of the device in whose memory an address lies, whoever in this process allocated it. -1 for an address
/// of host memory, pinned or not, for managed memory, for one that is unknown to CUDA, and without CUDA.
[[nodiscard]] int cuda_device_of(const void* address) noexcept;

}  // namespace raylift
