// SPDX-License-Identifier: Apache-2.0
// The one exception that raylift throws, its kinds, and the exit code of each kind.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace raylift {

/// What went wrong, as far as a caller can act on it. A program's exit code follows from it: `exit_code`.
enum class ErrorKind {
  io,                    ///< a file can't be opened, read or written
  malformed,             ///< the input violates its own format, or has invalid numbers
  unsupported,           ///< legal input that raylift does not read
  limit,                 ///< a documented limit was reached: size, depth, count, time, memory of the import
  out_of_host_memory,    ///< ordinary or pinned host memory ran out
  out_of_device_memory,  ///< the device's memory, or the budget that stands for it, ran out
  device,                ///< no usable device, or a device call failed
  no_display,            ///< no OpenGL context could be made
  usage,                 ///< a wrong option or argument
  cancelled,             ///< the caller's Progress, or a signal, asked to stop
  system,                ///< the machine lacks what every input needs: a process, a file descriptor, a file system
};

/// The kind's name as it stands in reports: "out_of_device_memory".
[[nodiscard]] std::string_view to_string(ErrorKind kind) noexcept;

/// The kind of that name; throws Error(usage) for any other text.
[[nodiscard]] ErrorKind error_kind(std::string_view name);

/// The kind of a system call that failed with `code`: system if the machine is at fault (EAGAIN, EMFILE, ENFILE, EIO,
/// ESTALE, ENODEV, ENXIO, ENOTCONN, ETIMEDOUT), and io otherwise.
[[nodiscard]] ErrorKind kind_of_errno(int code) noexcept;

/// The exit code of a program that ends with this kind. 0 is success, 1 a negative answer (`raylift check`: not
/// watertight, or solids overlap), 2 usage; the rest is in the README's table.
[[nodiscard]] int exit_code(ErrorKind kind) noexcept;

/// raylift's only exception. `what()` reads: what is wrong, where, what to do.
class Error : public std::runtime_error {
 public:
  /// Where it lies: the file as the caller named it, and the element in it ("mesh 'pmt', triangle 17").
  struct Where {
    std::string file;
    std::string element;
  };

  Error(ErrorKind kind, std::string_view problem, Where where = {}, std::string_view advice = {}, int signal = 0);

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& file() const noexcept { return where_.file; }
  [[nodiscard]] const std::string& element() const noexcept { return where_.element; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] const std::string& advice() const noexcept { return advice_; }
  /// The number of the signal that ended an isolated import; otherwise 0.
  [[nodiscard]] int signal() const noexcept { return signal_; }

 private:
  ErrorKind kind_;
  std::string problem_;
  Where where_;
  std::string advice_;
  int signal_;
};

}  // namespace raylift
