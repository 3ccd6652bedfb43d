// SPDX-License-Identifier: Apache-2.0
// A run of an Assimp::Importer, whose errors become Error.
#pragma once

#include <assimp/scene.h>

#include <assimp/Importer.hpp>
#include <functional>
#include <memory>
#include <string>

namespace raylift {

/// Calls `read`, which reads by `importer`, and owns the result. Throws Error: malformed or out_of_host_memory where
/// Assimp throws or reports an error, and the Error that `read` throws; `file` names the input.
[[nodiscard]] std::unique_ptr<aiScene> run_importer(Assimp::Importer& importer, const std::string& file,
                                                    const std::function<const aiScene*()>& read);

}  // namespace raylift
