// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/memory/buffer.h>

namespace raylift {

RegisteredMemory::RegisteredMemory(const Device& device, std::span<std::byte> memory, PinnedFlags flags)
    : Owner(device.backend(), [&] {
        if (memory.empty()) throw Error(ErrorKind::usage, "there is no memory to register");
        return device.backend()->register_host(memory.data(), memory.size(), flags);
      }()) {}

}  // namespace raylift
