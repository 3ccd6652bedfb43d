// SPDX-License-Identifier: Apache-2.0
// What CUDA does to OpenGL's buffers. All with the buffer's context current, and for one CUDA device.
#pragma once

#include <raylift/gpu/device/backend.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace raylift::detail {

/// What a kernel does with a mapped buffer, as CUDA's flags.
enum class MapFlags { none, read_only, write_discard };

/// The CUDA devices that the current context is on; where there is none, why.
[[nodiscard]] std::vector<int> cuda_gl_devices(std::string& why_none);

/// Throws Error(device). The handle is for the functions below.
[[nodiscard]] void* cuda_register(int device, unsigned buffer, MapFlags flags);
void cuda_unregister(int device, void* resource) noexcept;
/// For the maps to come; not while mapped.
void cuda_set_flags(int device, void* resource, MapFlags flags);

/// Maps all at once. Work that follows on the stream comes after OpenGL's earlier commands.
void cuda_map(int device, std::span<void* const> resources, StreamHandle stream);
/// The device address of a mapped resource.
[[nodiscard]] std::byte* cuda_pointer(int device, void* resource, std::size_t bytes);
/// Unmaps all at once. OpenGL's later commands come after the work on the stream.
void cuda_unmap(int device, std::span<void* const> resources, StreamHandle stream);

}  // namespace raylift::detail
