// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/colors.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <string>
#include <vector>

#include "color_kernels.h"
#include "device/run_on.h"

namespace raylift {
namespace {

/// The array that holds a geometry's colours.
Memory& colors_of(GpuGeometry& geometry) {
  return geometry.array(geometry.view().solid_ids != nullptr ? ViewArray::colors : ViewArray::solid_colors);
}

/// launch(colors, count) on the geometry's device, or run(colors, i) for each colour on the host.
template <class Launch, class Run>
void recolor(GpuGeometry& geometry, const Launch& launch, const Run& run) {
  Memory& memory = colors_of(geometry);
  auto* const colors = memory.as<std::uint32_t>();
  const auto count = static_cast<std::uint32_t>(memory.bytes() / sizeof(std::uint32_t));
  if (count == 0) return;
  detail::run_on(
      geometry.device(), "recolouring", [&] { return launch(colors, count); },
      [&] { tbb::parallel_for(std::uint32_t{0}, count, [&](std::uint32_t i) { run(colors, i); }); });
}

}  // namespace

void set_colors(GpuGeometry& geometry, std::span<const std::uint32_t> colors, StreamRef stream) {
  Memory& memory = colors_of(geometry);
  if (memory.bytes() != colors.size_bytes())
    throw Error(ErrorKind::usage, std::to_string(colors.size()) + " colours were given for " +
                                      std::to_string(memory.bytes() / sizeof(std::uint32_t)) +
                                      (geometry.view().solid_ids != nullptr ? " triangles" : " solids"));
  if (colors.empty()) return;
  memory.copy_from(std::as_bytes(colors), stream);
  geometry.device().synchronize(stream);
}

void color_solids(GpuGeometry& geometry, std::span<const std::uint32_t> solids, std::uint32_t color, StreamRef stream) {
  if (solids.empty()) return;
  const std::uint32_t highest = *std::max_element(solids.begin(), solids.end());
  // A flat scene that was uploaded on its own has no solids.
  if (geometry.view().solids != nullptr ? highest >= geometry.view().solid_count : highest == kNone)
    throw Error(ErrorKind::usage, "the geometry has no solid " + std::to_string(highest));
  std::vector<std::uint32_t> words(highest / 32 + 1, 0);
  for (const std::uint32_t solid : solids) words[solid / 32] |= 1U << solid % 32;
  {
    PooledBuffer<std::uint32_t> marks(geometry.device(), stream, words.size());
    marks.copy_from(std::span<const std::uint32_t>(words), stream);
    const detail::MarkedSolids marked{marks.device(), highest + 1};
    recolor(
        geometry,
        [&](std::uint32_t* colors, std::uint32_t count) {
          return cuda::launch_color_solids(geometry.view(), colors, count, marked, color, stream.handle());
        },
        [&](std::uint32_t* colors, std::uint32_t i) { detail::color_one(geometry.view(), colors, i, marked, color); });
  }
  geometry.device().synchronize(stream);
}

void reset_colors(GpuGeometry& geometry, StreamRef stream) {
  const GeometryView& view = geometry.view();
  if (view.solid_ids != nullptr && view.material_colors == nullptr && view.triangle_count != 0)
    throw Error(ErrorKind::usage, "the flat scene was uploaded without its materials' colours");
  recolor(
      geometry,
      [&](std::uint32_t* colors, std::uint32_t count) {
        return cuda::launch_reset_colors(view, colors, count, stream.handle());
      },
      [&](std::uint32_t* colors, std::uint32_t i) { detail::reset_one(view, colors, i); });
  geometry.device().synchronize(stream);
}

}  // namespace raylift
