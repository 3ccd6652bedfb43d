// SPDX-License-Identifier: Apache-2.0
// An open file descriptor that is closed at the end of its scope.
#pragma once

#include <utility>

namespace raylift::detail {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  /// Takes what a system call gave; throws an Error of kind_of_errno that names `what` where the call has failed.
  Descriptor(int value, const char* what);
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int get() const { return value_; }
  void close();

 private:
  int value_;
};

}  // namespace raylift::detail
