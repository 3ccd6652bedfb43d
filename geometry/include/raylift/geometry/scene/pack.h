// SPDX-License-Identifier: Apache-2.0
// A scene as one run of bytes, to send it to another process or to keep it: what Python's pickle uses.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace raylift {

struct Scene;

/// The whole scene, optics included. The bytes are for the same version of raylift, on a machine of the same byte order,
/// and no file format. Throws Error(usage) where the scene's indices and numbers make no sense.
[[nodiscard]] std::vector<std::byte> pack(const Scene& scene);

/// The scene that was packed. It trusts nothing: bytes of another version are an Error(unsupported), and those that hold
/// no valid scene an Error(malformed).
[[nodiscard]] Scene unpack(std::span<const std::byte> bytes);

}  // namespace raylift
