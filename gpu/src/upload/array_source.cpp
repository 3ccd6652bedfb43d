// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/upload/array_source.h>

#include <algorithm>

namespace raylift {

void ArraySource::fill_bytes(std::size_t begin, std::size_t end, std::byte* target, StoreMode mode) const {
  const auto partial = [&](std::size_t element, std::size_t from, std::size_t to, std::byte* out) {
    const auto whole = std::make_unique<std::byte[]>(element_bytes);
    fill(element, 1, whole.get(), StoreMode::cached);
    copy_bytes(whole.get() + from, out, to - from, mode);
  };
  std::size_t first = begin / element_bytes;
  if (const std::size_t inside = begin % element_bytes; inside != 0) {
    const std::size_t stop = std::min(element_bytes, end - first * element_bytes);
    partial(first, inside, stop, target);
    target += stop - inside;
    ++first;
  }
  const std::size_t last = end / element_bytes;
  if (last > first) {
    fill(first, last - first, target, mode);
    target += (last - first) * element_bytes;
  }
  if (last >= first && end % element_bytes != 0) partial(last, 0, end % element_bytes, target);
}

ArraySource float3_source(std::string name, ArrayRank rank, const Rows& rows) {
  return {std::move(name), rank, sizeof(Float3), rows.count,
          [rows](std::size_t first, std::size_t count, std::byte* target, StoreMode mode) {
            convert_rows(rows, first, std::span(reinterpret_cast<Float3*>(target), count), mode);
          }};
}

ArraySource uint3_source(std::string name, ArrayRank rank, const Rows& rows) {
  return {std::move(name), rank, sizeof(UInt3), rows.count,
          [rows](std::size_t first, std::size_t count, std::byte* target, StoreMode mode) {
            convert_rows(rows, first, std::span(reinterpret_cast<UInt3*>(target), count), mode);
          }};
}

ArraySource view_source(ViewArray array, std::size_t element_bytes, std::size_t count, Fill fill) {
  const ViewArrayInfo& row = info(array);
  if (row.element_bytes != element_bytes)
    throw Error(ErrorKind::usage, "elements of array '" + std::string(row.name) + "' have " +
                                      std::to_string(row.element_bytes) + " bytes, not " +
                                      std::to_string(element_bytes));
  return {std::string(row.name), row.rank, element_bytes, count, std::move(fill)};
}

}  // namespace raylift
