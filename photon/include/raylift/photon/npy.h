// SPDX-License-Identifier: Apache-2.0
// NumPy's array files (.npy): written row by row, and read with every header checked.
// Format: NEP 1, A Simple File Format for NumPy Arrays, versions 1.0 and 2.0; little endian and C order alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace raylift::photon {

enum class NpyType : std::uint8_t { float32, int32, uint32, uint64 };
[[nodiscard]] constexpr std::size_t bytes_of(NpyType type) {
  return type == NpyType::uint64 ? 8 : 4;
}

class NpyFile;

/// Writes rows of one shape. The file is `path` + ".part" until finish() renames it, so a file of that name is
/// complete.
class NpyWriter {
 public:
  /// `row_shape` is the array's shape without its first axis; empty for an array of numbers. With `resume`, an earlier
  /// writer's part file is continued after its first `rows` rows. Throws Error: io, and malformed if that file is
  /// missing or has fewer rows.
  NpyWriter(std::filesystem::path path, NpyType type, std::vector<std::uint64_t> row_shape);
  struct Resume {
    std::uint64_t rows;
  };
  NpyWriter(std::filesystem::path path, NpyType type, std::vector<std::uint64_t> row_shape, Resume resume);
  /// Without finish(), removes the part file, unless keep() was called.
  ~NpyWriter();
  NpyWriter(const NpyWriter&) = delete;
  NpyWriter& operator=(const NpyWriter&) = delete;

  /// Whole rows. Throws Error: io, usage.
  void append(std::span<const std::byte> rows);
  template <class T>
  void append(std::span<const T> rows) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(std::as_bytes(rows));
  }
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// Waits until the rows so far are on the disk: a writer that resumes finds them after a crash of the machine too.
  void sync() const;
  /// Leaves the part file where this is not finished, for a writer that resumes.
  void keep() noexcept { keep_ = true; }
  /// Writes the number of rows into the header and gives the file its name. Throws Error(io).
  void finish();

 private:
  void open(int flags);
  void write(std::string_view bytes, std::uint64_t at) const;
  [[noreturn]] void fail(int code) const;
  [[nodiscard]] std::string header() const;

  std::filesystem::path path_, part_;
  NpyType type_;
  std::vector<std::uint64_t> row_shape_;
  std::uint64_t row_bytes_, rows_ = 0;
  std::uint64_t begun_ = 0;  // bytes whose writing to the disk has begun
  std::unique_ptr<NpyFile> file_;
  bool keep_ = false;
};

/// An open array file, whose header has been checked against its size.
class NpyReader {
 public:
  /// Throws Error: io; malformed (not such a file, a broken header, truncated, too long); unsupported (another version,
  /// type, byte order or Fortran's order, or an array without an axis).
  explicit NpyReader(std::filesystem::path path);
  /// Such a file's bytes; `path` is what errors call it.
  NpyReader(std::string bytes, std::filesystem::path path);
  ~NpyReader();
  NpyReader(NpyReader&& other) noexcept;
  NpyReader& operator=(NpyReader&& other) noexcept;

  [[nodiscard]] NpyType type() const { return type_; }
  [[nodiscard]] const std::vector<std::uint64_t>& shape() const { return shape_; }
  [[nodiscard]] std::uint64_t rows() const { return shape_.front(); }
  [[nodiscard]] std::uint64_t row_bytes() const { return row_bytes_; }
  /// Throws Error(malformed), with the expected and the actual ones, if type or shape of the rows differ.
  void expect(NpyType type, std::span<const std::uint64_t> row_shape) const;
  /// Throws Error: usage where rows have another size, limit where memory can't hold them.
  void check_rows(std::size_t bytes_of_row) const;
  /// Whole rows from `first` on. Throws Error: io, usage.
  void read(std::span<std::byte> rows, std::uint64_t first) const;

 private:
  void parse(std::uint64_t size);
  [[nodiscard]] std::string read_header(std::uint64_t size);
  [[nodiscard]] std::size_t read_at(std::span<std::byte> to, std::uint64_t at) const;

  std::filesystem::path path_;
  NpyType type_ = NpyType::float32;
  std::vector<std::uint64_t> shape_;
  std::uint64_t row_bytes_ = 0, begin_ = 0;
  std::unique_ptr<NpyFile> file_;  // none: bytes_ has the array
  std::string bytes_;
};

/// All rows of a file, each of which is a T. Throws what NpyReader does, and limit where they don't fit into memory.
template <class T>
[[nodiscard]] std::vector<T> read_npy(const NpyReader& file, NpyType type, std::span<const std::uint64_t> row_shape) {
  static_assert(std::is_trivially_copyable_v<T>);
  file.expect(type, row_shape);
  file.check_rows(sizeof(T));
  std::vector<T> rows(static_cast<std::size_t>(file.rows()));
  file.read(std::as_writable_bytes(std::span(rows)), 0);
  return rows;
}
template <class T>
[[nodiscard]] std::vector<T> read_npy(const std::filesystem::path& path, NpyType type,
                                      std::span<const std::uint64_t> row_shape) {
  return read_npy<T>(NpyReader(path), type, row_shape);
}

}  // namespace raylift::photon
