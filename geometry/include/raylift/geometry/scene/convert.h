// SPDX-License-Identifier: Apache-2.0
// Rows of three numbers, of any type and layout, into packed Float3 and UInt3.
#pragma once

#include <raylift/geometry/vector_types.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace raylift {

namespace detail {

// Eigen's expressions by what they have, so that this header needs no Eigen.

/// With three columns, or a number that is known at run time only.
template <class Matrix>
concept ThreeColumns = requires(const Matrix& m) {
  typename Matrix::Scalar;
  m.rows();
  m.cols();
  requires int{Matrix::ColsAtCompileTime} == 3 || int{Matrix::ColsAtCompileTime} == -1;
};
/// It lies in memory; others have to be evaluated first.
template <class Matrix>
concept InMemory = requires(const Matrix& m) {
  m.data();
  m.rowStride();
  m.colStride();
};

}  // namespace detail

/// (N, 3) numbers somewhere in memory: element (row, column) is data[row * row_stride + column * column_stride].
/// Row-major NumPy arrays have strides 3 and 1, column-major Eigen matrices 1 and N. Strides count elements, and may be
/// negative.
struct Rows {
  enum class Type : std::uint8_t { f32, f64, i8, u8, i16, u16, i32, u32, i64, u64 };

  const void* data = nullptr;
  Type type = Type::f64;
  std::size_t count = 0;  ///< N
  std::ptrdiff_t row_stride = 3;
  std::ptrdiff_t column_stride = 1;

  Rows() = default;
  template <class T>
  Rows(const T* first, std::size_t rows, std::ptrdiff_t row = 3, std::ptrdiff_t column = 1)
      : data(first), type(type_of<T>()), count(rows), row_stride(row), column_stride(column) {}
  Rows(std::span<const Float3> rows) : Rows(rows.empty() ? nullptr : &rows.front().x, rows.size()) {}
  Rows(std::span<const UInt3> rows) : Rows(rows.empty() ? nullptr : &rows.front().x, rows.size()) {}
  /// Any Eigen matrix, map, block or transpose that lies in memory, and has three columns: Error(usage) where it has
  /// another number of them. An expression has to be evaluated first.
  template <detail::ThreeColumns Matrix>
  requires detail::InMemory<Matrix> Rows(const Matrix& m)
      : Rows(m.data(), static_cast<std::size_t>(m.rows()), m.rowStride(), m.colStride()) {
    if (m.cols() != 3) refuse_columns(m.cols());
  }

  template <class T>
  static constexpr Type type_of() {
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, bool> &&
                  !std::is_same_v<T, long double>);
    if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? Type::f32 : Type::f64;
    constexpr Type kSigned[] = {Type::i8, Type::i16, Type::i32, Type::i64};
    constexpr Type kUnsigned[] = {Type::u8, Type::u16, Type::u32, Type::u64};
    constexpr int size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[size] : kUnsigned[size];
  }

 private:
  [[noreturn]] static void refuse_columns(std::ptrdiff_t columns);
};

/// What kind of memory a conversion writes to.
enum class StoreMode : std::uint8_t {
  cached,          ///< ordinary memory
  write_combined,  ///< written past the caches, in whole lines, and never read
};

/// Converts all rows, in parallel. Numbers must be representable: NaN, infinity, a number that overflows a float, and
/// an index that has a fraction or does not fit into 32 unsigned bits are an Error(malformed), which names the first
/// such row. The target's contents are unspecified then. A target of another size than rows.count is an Error(usage).
void to_float3(const Rows& rows, std::span<Float3> target, StoreMode mode = StoreMode::cached);
void to_uint3(const Rows& rows, std::span<UInt3> target, StoreMode mode = StoreMode::cached);

/// Vertices far from the origin, whose floats would be coarse, around their middle: (0, 0, 0) unless the middle of their
/// box is further from the origin than four times the box's longest edge, and otherwise the middle, in whole numbers. It
/// is subtracted in double and returned: translate the transform of whatever places the mesh by it. Errors as
/// to_float3().
[[nodiscard]] Double3 to_centered_float3(const Rows& rows, std::span<Float3> target);

/// The same for Eigen's expressions that don't lie in memory: they are evaluated first.
template <detail::ThreeColumns Matrix>
requires(!detail::InMemory<Matrix>) void to_float3(const Matrix& rows, std::span<Float3> target,
                                                   StoreMode mode = StoreMode::cached) {
  to_float3(Rows(rows.eval()), target, mode);
}
template <detail::ThreeColumns Matrix>
requires(!detail::InMemory<Matrix>) void to_uint3(const Matrix& rows, std::span<UInt3> target,
                                                  StoreMode mode = StoreMode::cached) {
  to_uint3(Rows(rows.eval()), target, mode);
}

/// The same for rows [first, first + target.size()), on the calling thread alone: the inner loop of the two above and
/// of uploads. Writes to write-combined memory are visible to other agents when it returns; they are whole cache lines
/// where the target begins and ends at a multiple of 64 bytes.
void convert_rows(const Rows& rows, std::size_t first, std::span<Float3> target, StoreMode mode);
/// `offset` is added to each index; the sum must fit into 32 bits too.
void convert_rows(const Rows& rows, std::size_t first, std::span<UInt3> target, StoreMode mode,
                  std::uint32_t offset = 0);

/// Copies bytes; past the caches where the target is write-combined. On the calling thread.
void copy_bytes(const void* source, void* target, std::size_t bytes, StoreMode mode);

}  // namespace raylift
