// SPDX-License-Identifier: Apache-2.0
// Where the bytes of an upload, or of a cache file, come from.
#pragma once

#include <raylift/geometry/scene/convert.h>
#include <raylift/gpu/memory/placement.h>
#include <raylift/gpu/upload/view_arrays.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace raylift {

namespace detail {
class ArrayOnDevice;
}  // namespace detail

/// Writes elements [first, first + count) of an array to `target`. Called from several threads at once, for different
/// elements. `target` may be write-combined memory: then it must not be read.
using Fill = std::function<void(std::size_t first, std::size_t count, std::byte* target, StoreMode mode)>;

/// An array that is to be uploaded.
struct ArraySource {
  std::string name;
  ArrayRank rank = ArrayRank::attributes;
  std::size_t element_bytes = 1;
  std::size_t count = 0;
  Fill fill;
  const std::byte* pinned = nullptr;  ///< the whole array, if it lies in pinned memory: then it needs no staging
  std::shared_ptr<detail::ArrayOnDevice> on_device = nullptr;  ///< the whole array, if it lies on a device already

  /// Writes bytes [begin, end), which need not start or end with an element: chunks and pages split elements.
  void fill_bytes(std::size_t begin, std::size_t end, std::byte* target, StoreMode mode) const;
};

namespace detail {

/// The elements, unconverted. A temporary array is moved into the result, others must outlive it.
template <std::ranges::contiguous_range Range>
[[nodiscard]] Fill fill_from(Range&& values) {
  using T = std::ranges::range_value_t<Range>;
  static_assert(std::is_trivially_copyable_v<T>);
  const auto copy = [](std::span<const T> all) {
    return [all](std::size_t first, std::size_t count, std::byte* target, StoreMode mode) {
      copy_bytes(all.data() + first, target, count * sizeof(T), mode);
    };
  };
  if constexpr (std::ranges::borrowed_range<Range>) {
    return copy(values);
  } else {
    auto kept = std::make_shared<const std::remove_cvref_t<Range>>(std::forward<Range>(values));
    return [fill = copy(*kept), kept](std::size_t first, std::size_t count, std::byte* target, StoreMode mode) {
      fill(first, count, target, mode);
    };
  }
}

}  // namespace detail

/// A source of an unconverted array: a vector, an array, a span. The array, or the memory of the span, must outlive the
/// source; a temporary vector or array is moved into it.
template <std::ranges::contiguous_range Range>
[[nodiscard]] ArraySource array_source(std::string name, ArrayRank rank, Range&& values) {
  const std::size_t count = std::ranges::size(values);
  return {std::move(name), rank, sizeof(std::ranges::range_value_t<Range>), count,
          detail::fill_from(std::forward<Range>(values))};
}
/// The caller's rows, converted during the upload. They must outlive the source.
[[nodiscard]] ArraySource float3_source(std::string name, ArrayRank rank, const Rows& rows);
[[nodiscard]] ArraySource uint3_source(std::string name, ArrayRank rank, const Rows& rows);

/// An array of a GeometryView, under its name and rank. Throws Error(usage) where its elements have another size than
/// `element_bytes`.
[[nodiscard]] ArraySource view_source(ViewArray array, std::size_t element_bytes, std::size_t count, Fill fill);
/// The same for an unconverted array, as array_source() takes it.
template <std::ranges::contiguous_range Range>
[[nodiscard]] ArraySource view_source(ViewArray array, Range&& values) {
  const std::size_t count = std::ranges::size(values);
  return view_source(array, sizeof(std::ranges::range_value_t<Range>), count,
                     detail::fill_from(std::forward<Range>(values)));
}
/// The same for a vector that the source shares.
template <class T, class Allocator>
[[nodiscard]] ArraySource view_source(ViewArray array, std::shared_ptr<const std::vector<T, Allocator>> values) {
  const std::size_t count = values->size();
  return view_source(array, sizeof(T), count,
                     [kept = std::move(values)](std::size_t first, std::size_t n, std::byte* target, StoreMode mode) {
                       copy_bytes(kept->data() + first, target, n * sizeof(T), mode);
                     });
}

}  // namespace raylift
