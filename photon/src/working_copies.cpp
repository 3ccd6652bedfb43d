// SPDX-License-Identifier: Apache-2.0
#include "working_copies.h"

#include <raylift/geometry/error.h>

#include <algorithm>

namespace raylift::photon {
namespace {

/// Whether most steps read the array. Pairs hold the vertices of their triangles; colours are for viewers; a face's
/// materials are read where its mesh has several.
bool is_read(const GpuGeometry& geometry, ViewArray array) {
  switch (array) {
    case ViewArray::triangles:
    case ViewArray::vertex_rests:
      return geometry.has(ViewArray::vertex_rests);
    case ViewArray::vertices:
    case ViewArray::material_colors:
    case ViewArray::material_codes:
    case ViewArray::triangle_parts:
    case ViewArray::part_materials:
    case ViewArray::colors:
    case ViewArray::solid_colors:
      return false;
    default:
      return true;
  }
}

}  // namespace

WorkingCopies::WorkingCopies(const GpuGeometry& geometry, StreamRef stream, std::uint64_t worthwhile,
                             std::uint64_t most)
    : view_(geometry.view()) {
  std::vector<const ResidencyReport::Array*> far;
  for (const ResidencyReport::Array& row : geometry.report().arrays) {
    const ViewArrayInfo* const array = find_view_array(row.name);
    if (array != nullptr && is_read(geometry, array->array) && row.host_bytes != 0 && row.host_bytes <= worthwhile)
      far.push_back(&row);
  }
  std::ranges::stable_sort(far, {}, &ResidencyReport::Array::bytes);
  for (const ResidencyReport::Array* const row : far) {
    if (row->bytes > most - bytes_) return;
    try {
      copies_.push_back({row->name, Memory::pooled(geometry.device(), stream, row->bytes)});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_device_memory) throw;
      return;
    }
    bytes_ += row->bytes;
    const ViewArrayInfo& array = info(row->name);
    array.set(view_, copies_.back().memory.device(), static_cast<std::uint32_t>(row->bytes / array.element_bytes), 0);
  }
}

void WorkingCopies::copy(const GpuGeometry& geometry, StreamRef stream) {
  for (Copy& copy : copies_) geometry.array(copy.name).copy_to(copy.memory, stream);
}

}  // namespace raylift::photon
