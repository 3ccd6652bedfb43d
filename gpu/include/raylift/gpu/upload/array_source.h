// SPDX-License-Identifier: Apache-2.0
// Where the bytes of an upload, or of a cache file, come from.
#pragma once

#include <raylift/geometry/scene/convert.h>
#include <raylift/gpu/memory/placement.h>
#include <raylift/gpu/upload/view_arrays.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace raylift::inline v0_1 {

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

  /// Writes bytes [begin, end), which need not start or end with an element: chunks and pages do not care for elements.
  void fill_bytes(std::size_t begin, std::size_t end, std::byte* target, StoreMode mode) const;
};

/// The caller's array as it is. It must stay until the source is not used any more.
template <class T>
[[nodiscard]] ArraySource array_source(std::string name, ArrayRank rank, std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {std::move(name), rank, sizeof(T), values.size(),
          [values](std::size_t first, std::size_t count, std::byte* target, StoreMode mode) {
            copy_bytes(values.data() + first, target, count * sizeof(T), mode);
          }};
}
/// The caller's rows, converted on the way. They must stay likewise.
[[nodiscard]] ArraySource float3_source(std::string name, ArrayRank rank, const Rows& rows);
[[nodiscard]] ArraySource uint3_source(std::string name, ArrayRank rank, const Rows& rows);

/// An array of a GeometryView, under its name and rank. Throws Error(usage) where its elements have another size than
/// `element_bytes`.
[[nodiscard]] ArraySource view_source(ViewArray array, std::size_t element_bytes, std::size_t count, Fill fill);
/// The same of the caller's array, which must stay.
template <class T>
[[nodiscard]] ArraySource view_source(ViewArray array, std::span<const T> values) {
  return view_source(array, sizeof(T), values.size(), array_source({}, {}, values).fill);
}
/// The same of a vector that the source shares, or keeps.
template <class T, class Allocator>
[[nodiscard]] ArraySource view_source(ViewArray array, std::shared_ptr<const std::vector<T, Allocator>> values) {
  const std::size_t count = values->size();
  return view_source(array, sizeof(T), count,
                     [kept = std::move(values)](std::size_t first, std::size_t n, std::byte* target, StoreMode mode) {
                       copy_bytes(kept->data() + first, target, n * sizeof(T), mode);
                     });
}
template <class T, class Allocator>
[[nodiscard]] ArraySource view_source(ViewArray array, std::vector<T, Allocator>&& values) {
  return view_source(array, std::make_shared<const std::vector<T, Allocator>>(std::move(values)));
}

}  // namespace raylift::inline v0_1
