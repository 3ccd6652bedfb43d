// SPDX-License-Identifier: Apache-2.0
#include "state/shown/hover.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/src/scene/names.h"

namespace raylift::viewer {

HoverText hover_text(const ShownScene& shown, const Picked& picked, const Cursor& cursor) {
  const Scene& scene = *shown.scene;
  const Instance& instance = scene.instances[picked.instance];
  const Mesh& mesh = scene.meshes[instance.mesh];
  HoverText text;
  text.name = base_name(scene.solid_name(instance));
  const std::uint32_t triangle = shown.triangle_of(picked);
  const auto part = triangle == kNone ? std::nullopt : part_of(mesh, triangle);
  if (!mesh.parts.empty())
    if (const std::uint32_t material = scene.material(instance, part.value_or(0)); material != kNone)
      text.material = base_name(scene.materials[material].name);
  const auto point = shown.point_of(picked, cursor);
  if (!point) return text;
  const Camera& camera = shown.camera;
  const double pixel = camera.pixel_size(cursor.window.height, std::abs(camera.depth(*point)));
  const int digits = pixel > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(pixel))), 0, 9) : 9;
  text.position =
      fmt::format("{:.{}f}  {:.{}f}  {:.{}f} mm", point->x(), digits, point->y(), digits, point->z(), digits);
  return text;
}

}  // namespace raylift::viewer
