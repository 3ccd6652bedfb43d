// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/upload/view_arrays.h>

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

namespace raylift {
namespace {

template <class T>
GeometryView& part_of(GeometryView& view, T GeometryView::*) {
  return view;
}
template <class T>
BvhView& part_of(GeometryView& view, T BvhView::*) {
  return view.bvh;
}

template <class T>
OpticsView& part_of(GeometryView& view, T OpticsView::*) {
  return view.optics;
}

template <class View, class T>
constexpr std::size_t element_bytes(const T* View::*) {
  return sizeof(T);
}

/// `kMember` points to the array's first element; `kCount` says how many there are, and `kOnHost` how many of these lie
/// in host memory, where a view has such members.
template <auto kMember, auto kCount = nullptr, auto kOnHost = nullptr>
constexpr ViewArrayInfo row(ViewArray array, std::string_view name, ArrayRank rank, ViewArrayInfo::Presence presence,
                            ViewArrayInfo::Extent extent) {
  const auto set = [](GeometryView& view, const std::byte* data, std::uint32_t count, std::uint32_t on_host) {
    auto& part = part_of(view, kMember);
    part.*kMember = reinterpret_cast<std::remove_reference_t<decltype(part.*kMember)>>(data);
    if constexpr (!std::is_null_pointer_v<decltype(kCount)>) part.*kCount = count;
    if constexpr (!std::is_null_pointer_v<decltype(kOnHost)>) part.*kOnHost = on_host;
  };
  return {array, name, rank, presence, extent, element_bytes(kMember), set};
}

using A = ViewArray;
using R = ArrayRank;
using P = ViewArrayInfo::Presence;
using E = ViewArrayInfo::Extent;
using V = GeometryView;
using O = OpticsView;

constexpr std::array<ViewArrayInfo, kViewArrays> kTable{
    row<&BvhView::nodes, &BvhView::node_count, &BvhView::host_nodes>(A::nodes, "nodes", R::nodes, P::bvh, E::other),
    row<&BvhView::pairs, &BvhView::pair_count, &BvhView::host_pairs>(A::pairs, "pairs", R::triangles, P::bvh, E::pair),
    row<&BvhView::ids, nullptr, &BvhView::host_ids>(A::pair_ids, "pair_ids", R::triangles, P::bvh, E::pair),
    row<&V::triangles, &V::triangle_count>(A::triangles, "triangles", R::triangles, P::always, E::triangle),
    row<&V::vertices, &V::vertex_count>(A::vertices, "vertices", R::vertices, P::always, E::vertex),
    row<&V::meshes, &V::mesh_count>(A::meshes, "meshes", R::nodes, P::always, E::mesh),
    row<&V::instances, &V::instance_count>(A::instances, "instances", R::nodes, P::always, E::instance),
    row<&V::material_colors, &V::material_count>(A::material_colors, "material_colors", R::attributes, P::always,
                                                 E::material),
    row<&V::triangle_parts>(A::triangle_parts, "triangle_parts", R::attributes, P::two_levels, E::triangle),
    row<&V::part_materials>(A::part_materials, "part_materials", R::attributes, P::two_levels, E::other),
    row<&V::material_codes>(A::material_codes, "material_codes", R::attributes, P::flattened, E::triangle),
    row<&V::solid_ids>(A::solid_ids, "solid_ids", R::attributes, P::flattened, E::triangle),
    row<&V::colors>(A::colors, "colors", R::attributes, P::flattened, E::triangle),
    row<&V::solids, &V::solid_count>(A::solids, "solids", R::nodes, P::always, E::solid),
    row<&V::daughters>(A::daughters, "daughters", R::attributes, P::always, E::other),
    row<&V::solid_colors>(A::solid_colors, "solid_colors", R::attributes, P::two_levels, E::solid),
    row<&BvhView::frames>(A::frames, "frames", R::nodes, P::fine, E::instance),
    row<&V::vertex_rests>(A::vertex_rests, "vertex_rests", R::attributes, P::rests, E::vertex),
    row<&O::rows>(A::optical_rows, "optical_rows", R::nodes, P::optics, E::other),
    row<&O::buckets>(A::optical_buckets, "optical_buckets", R::nodes, P::optics, E::other),
    row<&O::materials>(A::optical_materials, "optical_materials", R::nodes, P::optics, E::other),
    row<&O::surfaces, &O::surface_count>(A::optical_surfaces, "optical_surfaces", R::nodes, P::optics, E::other),
    row<&O::points>(A::optical_points, "optical_points", R::nodes, P::optics, E::other),
    row<&O::borders, &O::border_bucket_count>(A::border_surfaces, "border_surfaces", R::attributes, P::optics,
                                              E::other),
    row<&O::channels>(A::channels, "channels", R::attributes, P::optics, E::other),
    row<&O::channel_types, &O::channel_type_count>(A::channel_types, "channel_types", R::attributes, P::optics,
                                                   E::other),
};
static_assert(
    [] {
      for (std::size_t i = 0; i != kTable.size(); ++i)
        if (static_cast<std::size_t>(kTable[i].array) != i) return false;
      return true;
    }(),
    "the rows are in the order of ViewArray");

}  // namespace

const ViewArrayInfo& info(ViewArray array) noexcept {
  return kTable[static_cast<std::size_t>(array)];
}

const ViewArrayInfo& info(std::string_view name) {
  if (const ViewArrayInfo* const row = find_view_array(name)) return *row;
  throw Error(ErrorKind::usage, "a view has no array '" + std::string(name) + "'");
}

std::span<const ViewArrayInfo, kViewArrays> view_arrays() noexcept {
  return kTable;
}

const ViewArrayInfo* find_view_array(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(kTable.begin(), kTable.end(), [name](const ViewArrayInfo& row) { return row.name == name; });
  return found == kTable.end() ? nullptr : found;
}

}  // namespace raylift
