// SPDX-License-Identifier: Apache-2.0
// An open file descriptor that is closed at the end of its scope, and writing to one.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace raylift::base {

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  [[nodiscard]] int get() const { return value_; }
  /// Gives the descriptor away, which is not closed then.
  [[nodiscard]] int release() { return std::exchange(value_, -1); }
  /// Returns 0, or the errno of a failure: network file systems report a full disk here.
  int close() noexcept;

 private:
  int value_;
};

/// Writes all of the bytes, where `at` is not negative from that place of the file on. Returns 0, or the errno of what
/// has failed.
[[nodiscard]] int write_all(int descriptor, std::string_view bytes, std::int64_t at = -1) noexcept;

}  // namespace raylift::base
