// SPDX-License-Identifier: Apache-2.0
// The protocol between a program and its import process.
#pragma once

#include "scene/scene_bytes.h"

#include <cstdint>

namespace raylift::import {

// File descriptors that the process finds open.
inline constexpr int kRequest = 3;   ///< memory: Header, the parent's process id (int), options, paths
inline constexpr int kResult = 4;    ///< memory: Header, outcome, then scene and stage times, or the error
inline constexpr int kProgress = 5;  ///< pipe: ProgressRecords; one without a stage: the scene is written
inline constexpr int kInput = 6;     ///< the file, opened and checked by the parent
inline constexpr int kOptics = 7;    ///< the sidecar or GDML file likewise, where the request has a path of one

/// The version of request and result.
inline constexpr std::uint64_t kVersion = detail::kStreamVersion;

enum class Outcome : std::uint32_t { scene = 1, error = 2 };

/// Small enough to be written to a pipe whole.
struct ProgressRecord {
  char stage[48];
  std::uint64_t done;
  std::uint64_t total;
};

}  // namespace raylift::import
