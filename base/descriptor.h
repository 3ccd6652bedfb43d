// SPDX-License-Identifier: Apache-2.0
// An open file descriptor that is closed at the end of its scope, and writing to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

/// Reads up to the end of the bytes or of the file, from a place of the file on, and counts in `done` what it has read.
/// Returns 0, or the errno of what has failed.
[[nodiscard]] int read_all(int descriptor, std::span<std::byte> bytes, std::uint64_t at, std::size_t& done) noexcept;

}  // namespace raylift::base
