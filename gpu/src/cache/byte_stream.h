// SPDX-License-Identifier: Apache-2.0
// Values one after the other in bytes, as the metadata of cache files has them: little-endian, a text or a list behind
// its 64-bit count.
#pragma once

#include <raylift/geometry/error.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace raylift::detail {

class ByteOut {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    append(&value, sizeof value);
  }
  void put_count(std::size_t count) { put(std::uint64_t{count}); }
  void put_text(std::string_view text) {
    put_count(text.size());
    append(text.data(), text.size());
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(const void* from, std::size_t size) {
    const std::size_t end = bytes_.size();
    bytes_.resize(end + size);
    if (size != 0) std::memcpy(bytes_.data() + end, from, size);
  }
  std::vector<std::byte> bytes_;
};

/// Trusts nothing: reading past the end, or a count that the bytes can't hold, is an Error(malformed).
class ByteIn {
 public:
  ByteIn(std::span<const std::byte> bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  template <class T>
  [[nodiscard]] T get() {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  /// An enumeration whose last value is `last`.
  template <class T>
  [[nodiscard]] T get_enum(T last) {
    const auto value = get<std::underlying_type_t<T>>();
    if (value > static_cast<std::underlying_type_t<T>>(last)) fail();
    return static_cast<T>(value);
  }
  /// A count of things of at least `size` bytes each.
  [[nodiscard]] std::size_t get_count(std::size_t size) {
    const auto count = get<std::uint64_t>();
    if (count > bytes_.size() / size) fail();
    return static_cast<std::size_t>(count);
  }
  [[nodiscard]] std::string get_text() {
    const std::size_t size = get_count(1);
    const auto* const from = reinterpret_cast<const char*>(take(size));
    return {from, size};
  }
  void expect_end() const {
    if (!bytes_.empty()) fail();
  }
  [[noreturn]] void fail() const {
    throw Error(ErrorKind::malformed, "the cache file's description of its scene makes no sense", {file_, ""},
                "remove it; it will be made again");
  }

 private:
  const std::byte* take(std::size_t size) {
    if (size > bytes_.size()) fail();
    const std::byte* const from = bytes_.data();
    bytes_ = bytes_.subspan(size);
    return from;
  }
  std::span<const std::byte> bytes_;
  std::string file_;
};

}  // namespace raylift::detail
