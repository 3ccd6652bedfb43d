// SPDX-License-Identifier: Apache-2.0
// Conversion in two steps: blocks of rows go through a small buffer that stays in the first-level cache, and from there
// to the target in whole lines. So every source type and stride shares one writer, which is the only place that knows
// about write-combined memory.
#include <raylift/geometry/convert.h>
#include <raylift/geometry/error.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace raylift {
namespace {

constexpr std::size_t kBlock = 1024;         // rows converted at a time: 12 kB
constexpr std::size_t kGrain = kBlock * 64;  // rows per parallel task

// Streaming writes --------------------------------------------------------------------------------------------------

#if defined(__x86_64__)
void stream_bytes(const std::byte* source, std::byte* target, std::size_t bytes) {
  // Up to the target's next 16-byte boundary, then lines, then the rest. Compilers keep the order of streaming stores,
  // so that each line of 64 bytes is filled by four of them in a row and leaves the processor whole.
  const std::size_t head = std::min(bytes, (16 - (reinterpret_cast<std::uintptr_t>(target) & 15)) & 15);
  std::memcpy(target, source, head);
  source += head;
  target += head;
  bytes -= head;
  std::size_t i = 0;
  for (; i + 64 <= bytes; i += 64) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i + 16));
    const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i + 32));
    const __m128i d = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i + 48));
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + i), a);
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + i + 16), b);
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + i + 32), c);
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + i + 48), d);
  }
  std::memcpy(target + i, source + i, bytes - i);
}
void fence() {
  _mm_sfence();
}
#else
void stream_bytes(const std::byte* source, std::byte* target, std::size_t bytes) {
  std::memcpy(target, source, bytes);
}
void fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
#endif

void write_bytes(const void* source, void* target, std::size_t bytes, Target kind) {
  if (kind == Target::write_combined)
    stream_bytes(static_cast<const std::byte*>(source), static_cast<std::byte*>(target), bytes);
  else
    std::memcpy(target, source, bytes);
}

// Single numbers ----------------------------------------------------------------------------------------------------

/// Converts a number, and says whether it survived.
template <class From>
bool narrow(From from, float& to) {
  to = static_cast<float>(from);
  return std::isfinite(to);
}

template <class From>
bool narrow(From from, std::uint32_t& to) {
  if constexpr (std::is_floating_point_v<From>) {
    // The comparison is false for NaN as well.
    const bool fits = from >= 0 && from <= static_cast<From>(4294967295.0) && from < From{4294967296.0};
    to = fits ? static_cast<std::uint32_t>(from) : 0;
    return fits && static_cast<From>(to) == from;
  } else {
    to = static_cast<std::uint32_t>(from);
    return std::in_range<std::uint32_t>(from);
  }
}

/// Rows [first, first + count) into `out`, 3 numbers each. Whether all survived.
template <class From, class To>
bool gather(const Rows& rows, std::size_t first, std::size_t count, To* out) {
  const From* row = static_cast<const From*>(rows.data) + static_cast<std::ptrdiff_t>(first) * rows.row_stride;
  bool sound = true;
  if (rows.row_stride == 3 && rows.column_stride == 1) {
    // Packed rows are one run of numbers, which compilers make vector code of.
    for (std::size_t i = 0; i != 3 * count; ++i) {
      const bool fits = narrow(row[i], out[i]);
      sound = sound & fits;
    }
    return sound;
  }
  for (std::size_t i = 0; i != count; ++i, row += rows.row_stride) {
    const bool x = narrow(row[0], out[3 * i]);
    const bool y = narrow(row[rows.column_stride], out[3 * i + 1]);
    const bool z = narrow(row[2 * rows.column_stride], out[3 * i + 2]);
    sound = sound & x & y & z;
  }
  return sound;
}

#if defined(__x86_64__)
/// The common case of uploads, with the vector width that the processor has.
__attribute__((target("avx2"))) bool gather_packed_doubles_avx2(const double* in, std::size_t count, float* out) {
  const __m256 all_but_sign = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
  const __m256 largest = _mm256_set1_ps(std::numeric_limits<float>::max());
  __m256 sound = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128 low = _mm256_cvtpd_ps(_mm256_loadu_pd(in + i));
    const __m128 high = _mm256_cvtpd_ps(_mm256_loadu_pd(in + i + 4));
    const __m256 eight = _mm256_set_m128(high, low);
    sound = _mm256_and_ps(sound, _mm256_cmp_ps(_mm256_and_ps(eight, all_but_sign), largest, _CMP_LE_OQ));
    _mm256_storeu_ps(out + i, eight);
  }
  bool rest = true;
  for (; i != count; ++i) {
    const bool fits = narrow(in[i], out[i]);
    rest = rest & fits;
  }
  return rest && _mm256_movemask_ps(sound) == 0xFF;
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

template <class To>
bool gather_any(const Rows& rows, std::size_t first, std::size_t count, To* out) {
  switch (rows.type) {
    case Rows::Type::f32:
      return gather<float>(rows, first, count, out);
    case Rows::Type::f64:
#if defined(__x86_64__)
      if constexpr (std::is_same_v<To, float>)
        if (rows.row_stride == 3 && rows.column_stride == 1 && has_avx2())
          return gather_packed_doubles_avx2(static_cast<const double*>(rows.data) + 3 * first, 3 * count, out);
#endif
      return gather<double>(rows, first, count, out);
    case Rows::Type::i8:
      return gather<std::int8_t>(rows, first, count, out);
    case Rows::Type::u8:
      return gather<std::uint8_t>(rows, first, count, out);
    case Rows::Type::i16:
      return gather<std::int16_t>(rows, first, count, out);
    case Rows::Type::u16:
      return gather<std::uint16_t>(rows, first, count, out);
    case Rows::Type::i32:
      return gather<std::int32_t>(rows, first, count, out);
    case Rows::Type::u32:
      return gather<std::uint32_t>(rows, first, count, out);
    case Rows::Type::i64:
      return gather<std::int64_t>(rows, first, count, out);
    case Rows::Type::u64:
      return gather<std::uint64_t>(rows, first, count, out);
  }
  return false;
}

/// Something in rows [first, first + count) did not survive: finds the first such row.
template <class To>
[[noreturn]] void fail_at(const Rows& rows, std::size_t first, std::size_t count, std::uint64_t offset) {
  std::size_t row = first;
  for (To number[3]; row != first + count; ++row) {
    if (!gather_any(rows, row, 1, number)) break;
    if (offset != 0 && std::any_of(number, number + 3, [offset](To n) {
          return static_cast<double>(n) + static_cast<double>(offset) > 4294967295.0;
        }))
      break;
  }
  throw Error(ErrorKind::malformed,
              std::is_same_v<To, float> ? "a number is NaN, infinite, or too large for a float"
                                        : "an index is negative, fractional, or too large for 32 bits",
              {"", "row " + std::to_string(row)});
}

template <class Triple, class Number, class Finish>
void convert(const Rows& rows, std::size_t first, std::span<Triple> target, Target kind, std::uint64_t offset,
             const Finish& finish) {
  if (first > rows.count || target.size() > rows.count - first)
    throw Error(ErrorKind::usage, "the rows asked for are not all there: " + std::to_string(target.size()) + " from " +
                                      std::to_string(first) + " on, of " + std::to_string(rows.count));
  alignas(64) Number block[3 * kBlock];
  for (std::size_t done = 0; done != target.size();) {
    const std::size_t count = std::min(kBlock, target.size() - done);
    if (!gather_any(rows, first + done, count, block) || !finish(block, 3 * count))
      fail_at<Number>(rows, first + done, count, offset);
    write_bytes(block, target.data() + done, count * sizeof(Triple), kind);
    done += count;
  }
  if (kind == Target::write_combined) fence();
}

template <class Triple>
void in_parallel(const Rows& rows, std::span<Triple> target, Target kind) {
  if (rows.count != target.size())
    throw Error(ErrorKind::usage,
                std::to_string(rows.count) + " rows do not fill a target of " + std::to_string(target.size()));
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, target.size(), kGrain),
                    [&](const tbb::blocked_range<std::size_t>& range) {
                      convert_rows(rows, range.begin(), target.subspan(range.begin(), range.size()), kind);
                    });
}

}  // namespace

void convert_rows(const Rows& rows, std::size_t first, std::span<float3> target, Target kind) {
  convert<float3, float>(rows, first, target, kind, 0, [](const float*, std::size_t) { return true; });
}

void convert_rows(const Rows& rows, std::size_t first, std::span<uint3> target, Target kind, std::uint32_t offset) {
  convert<uint3, std::uint32_t>(rows, first, target, kind, offset, [offset](std::uint32_t* numbers, std::size_t count) {
    if (offset == 0) return true;
    std::uint32_t wrapped = 0;
    for (std::size_t i = 0; i != count; ++i) {
      const std::uint32_t sum = numbers[i] + offset;
      wrapped |= sum < numbers[i] ? 1U : 0U;
      numbers[i] = sum;
    }
    return wrapped == 0;
  });
}

void to_float3(const Rows& rows, std::span<float3> target, Target kind) {
  in_parallel(rows, target, kind);
}
void to_uint3(const Rows& rows, std::span<uint3> target, Target kind) {
  in_parallel(rows, target, kind);
}

void copy_bytes(const void* source, void* target, std::size_t bytes, Target kind) {
  write_bytes(source, target, bytes, kind);
  if (kind == Target::write_combined) fence();
}

}  // namespace raylift
