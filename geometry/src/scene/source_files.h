// SPDX-License-Identifier: Apache-2.0
// The files that a scene is read from beside its own: where they may lie, and whether they have changed.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <filesystem>
#include <system_error>

namespace raylift::detail {

/// The file at `place`, which is relative to `folder`, without links. Empty where it is not beneath the folder, or,
/// with an error, where it is not there.
[[nodiscard]] std::filesystem::path beneath(const std::filesystem::path& folder, const std::filesystem::path& place,
                                            std::error_code& error);

/// A file's entry in Scene::files, as it is now; all zeros where it can't be looked at.
[[nodiscard]] Scene::SourceFile source_file(const std::filesystem::path& path, const std::filesystem::path& place);

}  // namespace raylift::detail
