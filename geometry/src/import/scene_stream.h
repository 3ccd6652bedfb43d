// SPDX-License-Identifier: Apache-2.0
// Options and errors as bytes, for the way between a program and its import process. Both are built together,
// so the layout is this machine's own.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>

#include <string>

#include "scene/scene_bytes.h"

namespace raylift {

using detail::ByteReader;
using detail::ByteWriter;
using detail::get_scene;
using detail::put_scene;

/// Throws Error(malformed): the import process returned an invalid scene.
[[noreturn]] void refuse_import(const std::string& what);

void put_options(ByteWriter& writer, const LoadOptions& options);
[[nodiscard]] LoadOptions get_options(ByteReader& reader);

void put_error(ByteWriter& writer, const Error& error);
[[nodiscard]] Error get_error(ByteReader& reader);

}  // namespace raylift
