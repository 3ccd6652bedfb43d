// SPDX-License-Identifier: Apache-2.0
// Scenes, options and errors as bytes, for the way between a program and its import process. Both are built together,
// so the layout is this machine's own; it is no file format.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace raylift {

/// Bytes, appended in order. Large arrays are kept by reference until write_to: they must live that long.
class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    own_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(std::string_view text);
  template <class T>
  void put_array(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(std::uint64_t{values.size()});
    put_reference({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  /// Writes all to a file descriptor. Throws Error(io).
  void write_to(int descriptor) const;

 private:
  struct Piece {
    std::size_t own_before;  // bytes of own_ that come first
    std::string_view outside;
  };
  void put_reference(std::string_view bytes) { pieces_.push_back({own_.size(), bytes}); }
  std::string own_;
  std::vector<Piece> pieces_;
};

/// Reads what ByteWriter wrote, and trusts nothing: reading past the end throws Error(malformed).
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  [[nodiscard]] T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  [[nodiscard]] std::string get_text();
  template <class T>
  [[nodiscard]] std::vector<T> get_array() {
    const std::size_t count = get_count(sizeof(T));
    std::vector<T> values(count);
    if (count != 0) std::memcpy(values.data(), take(count * sizeof(T)), count * sizeof(T));
    return values;
  }
  /// A count of things of at least `size` bytes each, so that a wrong one can't ask for more memory than was sent.
  [[nodiscard]] std::size_t get_count(std::size_t size);
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  [[nodiscard]] const char* take(std::size_t size);
  std::string_view bytes_;
};

void put_options(ByteWriter& writer, const LoadOptions& options);
[[nodiscard]] LoadOptions get_options(ByteReader& reader);

/// References the scene's arrays: it must outlive the writer.
void put_scene(ByteWriter& writer, const Scene& scene);
/// Checks every index that the scene holds. Throws Error(malformed).
[[nodiscard]] Scene get_scene(ByteReader& reader);

void put_error(ByteWriter& writer, const Error& error);
[[nodiscard]] Error get_error(ByteReader& reader);

}  // namespace raylift
