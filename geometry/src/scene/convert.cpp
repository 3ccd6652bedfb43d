// SPDX-License-Identifier: Apache-2.0
// Conversion runs over 16 rows at a time, in loops of constant length that compilers turn into vector code. On the way
// to write-combined memory, blocks of rows stop in a small buffer in the first-level cache and leave it in whole lines.
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/convert.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <utility>

#include "base/atomics.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#define RAYLIFT_INLINE inline __attribute__((always_inline))
#else
#define RAYLIFT_INLINE inline
#endif

namespace raylift {
namespace {

constexpr std::size_t kRun = 16;           // rows converted at a time
constexpr std::size_t kBlock = 48 * kRun;  // rows that stop in the first-level cache: 9 KiB
constexpr std::size_t kChunk = 1U << 15;   // rows per parallel task
constexpr std::size_t kLine = 64;
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

// Writing -----------------------------------------------------------------------------------------------------------

#if defined(__x86_64__)
void stream_bytes(const std::byte* source, std::byte* target, std::size_t bytes) {
  // Up to the target's next 16-byte boundary, then lines, then the rest. Compilers keep the order of streaming stores,
  // so that each line of 64 bytes is filled by four of them in a row and leaves the processor whole.
  const std::size_t head = std::min(bytes, (16 - (reinterpret_cast<std::uintptr_t>(target) & 15)) & 15);
  if (head != 0) std::memcpy(target, source, head);
  const auto copy16 = [&](std::size_t at) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + at),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at)));
  };
  std::size_t i = head;
  for (; i + kLine <= bytes; i += kLine) {
    copy16(i);
    copy16(i + 16);
    copy16(i + 32);
    copy16(i + 48);
  }
  for (; i + 16 <= bytes; i += 16) copy16(i);
  if (i != bytes) std::memcpy(target + i, source + i, bytes - i);
}
void fence() {
  _mm_sfence();
}
#else
void stream_bytes(const std::byte* source, std::byte* target, std::size_t bytes) {
  if (bytes != 0) std::memcpy(target, source, bytes);
}
void fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
#endif

/// Elements before the first one that begins a cache line. (At most 15: twelve of four bytes each, and sixteen of
/// twelve, are lines.)
template <class Triple>
std::size_t before_line(std::span<Triple> target) {
  std::size_t count = 0;
  while (count < std::min(target.size(), kRun) && reinterpret_cast<std::uintptr_t>(target.data() + count) % kLine != 0)
    ++count;
  return count;
}

/// Has `fill(i, block)` make elements i to i + block.size() - 1 of the target, block by block, until it returns false.
template <class Triple, class Fill>
void write_blocks(std::span<Triple> target, StoreMode mode, const Fill& fill) {
  if (mode == StoreMode::cached) {
    for (std::size_t i = 0; i < target.size(); i += kBlock)
      if (!fill(i, target.subspan(i, std::min(kBlock, target.size() - i)))) return;
    return;
  }
  alignas(kLine) Triple block[kBlock];
  std::size_t next = before_line(target);
  for (std::size_t i = 0; i != target.size(); i = next, next = std::min(i + kBlock, target.size())) {
    if (!fill(i, std::span(block, next - i))) break;
    stream_bytes(reinterpret_cast<const std::byte*>(block), reinterpret_cast<std::byte*>(target.data() + i),
                 (next - i) * sizeof(Triple));
  }
  fence();
}

// Single numbers ----------------------------------------------------------------------------------------------------

/// The number as float; sets `bad` where it is not finite. Too large a double becomes infinite, as IEEE 754 has it.
template <class From>
RAYLIFT_INLINE float narrow(From from, float, std::uint32_t& bad) {
  const auto to = static_cast<float>(from);
  if constexpr (std::is_floating_point_v<From>) {
    constexpr std::uint32_t exponent = 0x7F800000U;
    bad |= (std::bit_cast<std::uint32_t>(to) & exponent) == exponent ? 1U : 0U;
  }
  return to;
}

/// The number as index; sets `bad` where it is none.
template <class From>
RAYLIFT_INLINE std::uint32_t narrow(From from, std::uint32_t, std::uint32_t& bad) {
  if constexpr (std::is_floating_point_v<From>) {
    const double wide = from;
    const bool fits = wide >= 0 && wide <= 4294967295.0;  // false for NaN as well
    const auto whole = static_cast<std::int64_t>(fits ? wide : 0.0);
    bad |= !fits || static_cast<double>(whole) != wide ? 1U : 0U;
    return static_cast<std::uint32_t>(whole);
  } else {
    bad |= std::in_range<std::uint32_t>(from) ? 0U : 1U;
    return static_cast<std::uint32_t>(from);
  }
}

// Rows --------------------------------------------------------------------------------------------------------------

template <class From, class To>
RAYLIFT_INLINE std::uint32_t convert_run(const From* in, To* out) {
  std::uint32_t bad = 0;
  for (std::size_t k = 0; k != 3 * kRun; ++k) out[k] = narrow(in[k], To{}, bad);
  return bad;
}

/// Rows [first, first + count) into `out`, three numbers each. Whether all survived.
template <class From, class To>
RAYLIFT_INLINE bool convert_rows_of(const Rows& rows, std::size_t first, std::size_t count, To* out) {
  const From* const data = static_cast<const From*>(rows.data);
  const auto row = [&](std::size_t i) __attribute__((always_inline)) {
    return data + static_cast<std::ptrdiff_t>(first + i) * rows.row_stride;
  };
  std::uint32_t bad = 0;
  std::size_t i = 0;
  if (rows.row_stride == 3 && rows.column_stride == 1)
    for (; i + kRun <= count; i += kRun) bad |= convert_run(row(i), out + 3 * i);
  for (; i < count; i += kRun) {
    const std::size_t here = std::min(kRun, count - i);
    From in[3 * kRun] = {};
    for (std::size_t k = 0; k != here; ++k) {
      const From* const numbers = row(i + k);
      in[3 * k] = numbers[0];
      in[3 * k + 1] = numbers[rows.column_stride];
      in[3 * k + 2] = numbers[2 * rows.column_stride];
    }
    if (here == kRun) {
      bad |= convert_run(in, out + 3 * i);
    } else {
      To rest[3 * kRun];
      bad |= convert_run(in, rest);
      std::memcpy(out + 3 * i, rest, 3 * here * sizeof(To));
    }
  }
  return bad == 0;
}

template <class From, class To>
bool convert_here(const Rows& rows, std::size_t first, std::size_t count, To* out) {
  return convert_rows_of<From>(rows, first, count, out);
}

#if defined(__x86_64__)
/// What uploads of large arrays spend their time in, with the vector length that the processor has.
template <class From, class To>
__attribute__((target("avx2"))) bool convert_avx2(const Rows& rows, std::size_t first, std::size_t count, To* out) {
  return convert_rows_of<From>(rows, first, count, out);
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

template <class From, class To>
bool convert_block(const Rows& rows, std::size_t first, std::size_t count, To* out) {
#if defined(__x86_64__)
  if constexpr (std::is_same_v<To, float> && std::is_floating_point_v<From>)
    if (has_avx2()) return convert_avx2<From>(rows, first, count, out);
#endif
  return convert_here<From>(rows, first, count, out);
}

template <class Function>
auto with_type(Rows::Type type, const Function& function) {
  switch (type) {
    case Rows::Type::f32:
      return function(float{});
    case Rows::Type::f64:
      return function(double{});
    case Rows::Type::i8:
      return function(std::int8_t{});
    case Rows::Type::u8:
      return function(std::uint8_t{});
    case Rows::Type::i16:
      return function(std::int16_t{});
    case Rows::Type::u16:
      return function(std::uint16_t{});
    case Rows::Type::i32:
      return function(std::int32_t{});
    case Rows::Type::u32:
      return function(std::uint32_t{});
    case Rows::Type::i64:
      return function(std::int64_t{});
    case Rows::Type::u64:
      return function(std::uint64_t{});
  }
  throw Error(ErrorKind::usage, "rows of an unknown type");
}

/// A row, in double.
template <class From>
Double3 row_of(const Rows& rows, std::size_t row) {
  const From* const at = static_cast<const From*>(rows.data) + static_cast<std::ptrdiff_t>(row) * rows.row_stride;
  return {static_cast<double>(at[0]), static_cast<double>(at[rows.column_stride]),
          static_cast<double>(at[2 * rows.column_stride])};
}

/// By what rows are shifted to be around the origin; not by anything where they are near it, or not finite.
Double3 far_middle(const Rows& rows) {
  using Range = tbb::blocked_range<std::size_t>;
  const Bounds box = with_type(rows.type, [&]<class From>(From) {
    return tbb::parallel_reduce(
        Range(0, rows.count, kChunk), Bounds{},
        [&](const Range& range, Bounds part) {
          for (std::size_t row = range.begin(); row != range.end(); ++row) part.add(row_of<From>(rows, row));
          return part;
        },
        [](Bounds a, const Bounds& b) {
          a.add(b);
          return a;
        });
  });
  if (!to_eigen(box.min).allFinite() || !to_eigen(box.max).allFinite()) return {};
  const Eigen::Vector3d middle = to_eigen(box.center()).array().round();
  const bool far = middle.allFinite() && middle.cwiseAbs().maxCoeff() > 4 * to_eigen(box.size()).maxCoeff();
  return far ? Double3(middle) : Double3{};
}

/// Adds the offset to each number. Whether no sum leaves 32 bits.
bool add_offset(std::span<std::uint32_t> numbers, std::uint32_t offset) {
  std::uint32_t wrapped = 0;
  for (std::uint32_t& number : numbers) {
    number += offset;
    wrapped |= number < offset ? 1U : 0U;
  }
  return wrapped == 0;
}

/// Converts rows from `first` on, as many as the target has. The first row that does not survive, or kNowhere.
template <class Triple>
std::size_t convert_range(const Rows& rows, std::size_t first, std::span<Triple> target, StoreMode mode,
                          std::uint32_t offset) {
  using To = decltype(Triple::x);
  return with_type(rows.type, [&]<class From>(From) {
    const auto convert = [&](std::size_t row, std::size_t count, Triple* out) {
      To* const numbers = &out->x;
      if (!convert_block<From>(rows, row, count, numbers)) return false;
      if constexpr (std::is_same_v<To, std::uint32_t>)
        if (offset != 0) return add_offset({numbers, 3 * count}, offset);
      return true;
    };
    std::size_t bad = kNowhere;
    write_blocks(target, mode, [&](std::size_t i, std::span<Triple> block) {
      if (convert(first + i, block.size(), block.data())) return true;
      Triple one;
      for (bad = first + i; convert(bad, 1, &one);) ++bad;
      return false;
    });
    return bad;
  });
}

template <class Triple>
[[noreturn]] void fail_at(const Rows& rows, std::size_t row) {
  std::ostringstream numbers;
  numbers.precision(17);
  with_type(rows.type, [&]<class From>(From) {
    const From* const at = static_cast<const From*>(rows.data) + static_cast<std::ptrdiff_t>(row) * rows.row_stride;
    numbers << '(' << +at[0] << ", " << +at[rows.column_stride] << ", " << +at[2 * rows.column_stride] << ')';
  });
  throw Error(ErrorKind::malformed,
              std::is_same_v<Triple, Float3>
                  ? "a number is NaN, infinite, or too large for a float: " + numbers.str()
                  : "an index is negative, fractional, or too large for 32 bits: " + numbers.str(),
              {"", "row " + std::to_string(row)});
}

template <class Triple>
void convert(const Rows& rows, std::size_t first, std::span<Triple> target, StoreMode mode, std::uint32_t offset) {
  if (first > rows.count || target.size() > rows.count - first)
    throw Error(ErrorKind::usage, "the rows asked for are not all there: " + std::to_string(target.size()) + " from " +
                                      std::to_string(first) + " on, of " + std::to_string(rows.count));
  if (target.empty()) return;
  if (rows.data == nullptr) throw Error(ErrorKind::usage, "rows without data");
  const std::size_t bad = convert_range(rows, first, target, mode, offset);
  if (bad != kNowhere) fail_at<Triple>(rows, bad);
}

template <class Triple>
void convert_parallel(const Rows& rows, std::span<Triple> target, StoreMode mode) {
  if (rows.count != target.size())
    throw Error(ErrorKind::usage,
                std::to_string(rows.count) + " rows do not fill a target of " + std::to_string(target.size()));
  if (target.size() <= kChunk) return convert(rows, 0, target, mode, 0);
  if (rows.data == nullptr) throw Error(ErrorKind::usage, "rows without data");
  // Chunks begin where a cache line does: no line is written by two threads.
  const std::size_t head = before_line(target);
  const std::size_t chunks = (target.size() - head + kChunk - 1) / kChunk;
  std::atomic<std::size_t> first_bad{kNowhere};
  tbb::parallel_for(std::size_t{0}, chunks, [&](std::size_t chunk) {
    const std::size_t begin = chunk == 0 ? 0 : head + chunk * kChunk;
    const std::size_t end = std::min(target.size(), head + (chunk + 1) * kChunk);
    if (first_bad.load(std::memory_order_relaxed) < begin) return;
    const std::size_t bad = convert_range(rows, begin, target.subspan(begin, end - begin), mode, 0);
    base::atomic_min(first_bad, bad);
  });
  if (first_bad != kNowhere) fail_at<Triple>(rows, first_bad);
}

}  // namespace

void Rows::refuse_columns(std::ptrdiff_t columns) {
  throw Error(ErrorKind::usage, "a matrix of " + std::to_string(columns) + " columns, where three are needed");
}

void convert_rows(const Rows& rows, std::size_t first, std::span<Float3> target, StoreMode mode) {
  convert(rows, first, target, mode, 0);
}

void convert_rows(const Rows& rows, std::size_t first, std::span<UInt3> target, StoreMode mode, std::uint32_t offset) {
  convert(rows, first, target, mode, offset);
}

void to_float3(const Rows& rows, std::span<Float3> target, StoreMode mode) {
  convert_parallel(rows, target, mode);
}
void to_uint3(const Rows& rows, std::span<UInt3> target, StoreMode mode) {
  convert_parallel(rows, target, mode);
}

Double3 to_centered_float3(const Rows& rows, std::span<Float3> target) {
  const bool complete = rows.count == target.size() && rows.data != nullptr;
  const Double3 middle = complete ? far_middle(rows) : Double3{};
  if (middle == Double3{}) {  // also reports what is not complete or not finite
    to_float3(rows, target);
    return {};
  }
  std::atomic<std::size_t> first_bad{kNowhere};
  with_type(rows.type, [&]<class From>(From) {
    using Range = tbb::blocked_range<std::size_t>;
    tbb::parallel_for(Range(0, rows.count, kChunk), [&](const Range& range) {
      for (std::size_t row = range.begin(); row != range.end(); ++row) {
        const Double3 at = row_of<From>(rows, row);
        target[row] = {static_cast<float>(at.x - middle.x), static_cast<float>(at.y - middle.y),
                       static_cast<float>(at.z - middle.z)};
        const Float3& stored = target[row];
        if (!std::isfinite(stored.x) || !std::isfinite(stored.y) || !std::isfinite(stored.z))
          return base::atomic_min(first_bad, row);
      }
    });
  });
  if (first_bad != kNowhere) fail_at<Float3>(rows, first_bad);
  return middle;
}

void copy_bytes(const void* source, void* target, std::size_t bytes, StoreMode mode) {
  if (mode == StoreMode::write_combined) {
    stream_bytes(static_cast<const std::byte*>(source), static_cast<std::byte*>(target), bytes);
    fence();
  } else if (bytes != 0) {
    std::memcpy(target, source, bytes);
  }
}

}  // namespace raylift
