// SPDX-License-Identifier: Apache-2.0
// An open file descriptor that is closed at the end of its scope.
#pragma once

#include <raylift/geometry/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace raylift::detail {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  /// Takes what a system call gave; throws an Error of kind_of_errno that names `what` where the call has failed.
  Descriptor(int value, const char* what) : value_(value) {
    if (value < 0) throw Error(kind_of_errno(errno), std::string(what) + ": " + std::strerror(errno));
  }
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int get() const { return value_; }
  void close() {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
  }

 private:
  int value_;
};

}  // namespace raylift::detail
