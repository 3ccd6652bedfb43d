// SPDX-License-Identifier: Apache-2.0
// scene.optics.json, without the file: what load() lays over a scene's own optics. docs/optics.schema.json has its
// form.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <string>
#include <vector>

#include "sidecar_table.h"

namespace raylift::detail {

/// Changes the first half of Scene::optics as a sidecar says; adds warnings to Scene::report. `file` is for messages.
/// Throws Error: malformed, limit, unsupported (a later version), and what `read` throws.
void read_sidecar(Scene& scene, const std::string& text, const std::string& file, const ReadFile& read);

/// The files that a sidecar refers to, each once, in their order. Throws Error as above.
[[nodiscard]] std::vector<std::string> files_of_sidecar(const std::string& text, const std::string& file);

}  // namespace raylift::detail
