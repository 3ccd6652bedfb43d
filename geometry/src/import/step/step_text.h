// SPDX-License-Identifier: Apache-2.0
// The preflight of STEP files (ISO 10303-21): Open CASCADE takes a file that was cut off, or whose references lead
// nowhere, for a smaller one.
#pragma once

#include <raylift/geometry/import/load.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace raylift::step {

/// What a file states.
struct StepText {
  std::uint64_t entities = 0;
  std::uint64_t tessellated = 0;  ///< of these, shapes of AP242 that are triangles
  std::string schema;             ///< the first one: "AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }"
  std::string generator;          ///< the program that wrote it
};

/// Checks sections, strings, parentheses, and that each entity is defined once and each that is referred to at all.
/// Throws Error: malformed, with the line; unsupported for what is in other files; limit.
[[nodiscard]] StepText check_step_text(std::string_view text, const std::string& file, const LoadLimits& limits);

/// A string of the file as UTF-8: without the escapes \X\, \X2\, \X4\ and \S\. What is malformed stays as it is.
[[nodiscard]] std::string decoded(std::string_view text);

}  // namespace raylift::step
