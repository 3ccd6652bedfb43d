// SPDX-License-Identifier: Apache-2.0
// Writing to standard output with errors reported, and JSON.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/geometry/vector_types.h>
#include <nlohmann/json.hpp>
#include <string_view>

namespace raylift::cli {

/// Keeps the order of members.
using Json = nlohmann::ordered_json;
/// [x, y, z].
[[nodiscard]] inline Json point_json(const Double3& point) {
  return Json::array({point.x, point.y, point.z});
}

/// An Error(io) of standard output: a full disk, a closed descriptor. It ends the program, unlike an error of an input
/// file. Its message is empty for a closed pipe, as `head` leaves it.
class OutputError : public Error {
 public:
  explicit OutputError(int code);
};

/// Writes to standard output at once. Throws OutputError.
void write_output(std::string_view text);

/// Reports write errors that only closing shows, as on network file systems. Throws OutputError.
void finish_output();

/// Opens /dev/null for each closed standard descriptor, so that no file opened later takes its number. It is open in
/// the wrong direction: its use fails.
void guard_standard_descriptors() noexcept;

}  // namespace raylift::cli
