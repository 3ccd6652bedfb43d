// SPDX-License-Identifier: Apache-2.0
#include "body_mesh.h"

#include <cmath>
#include <utility>

#include "import/gdml/booleans/refine.h"
#include "import/gdml/shapes/closed_surface.h"

namespace raylift::step {
namespace {

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

MadeMesh make_body_mesh(const Model& model, std::uint32_t product, std::uint32_t body, const Fineness& fineness) {
  const double size = model.size(product, body);
  const double volume = model.volume(product, body), area = model.area(product, body);
  if (!(std::isfinite(size) && size > 0 && std::isfinite(volume) && std::isfinite(area)))
    throw Failure("it has no finite size");
  MadeMesh made;
  std::uint64_t bare = 0;
  gdml::Cut cut = gdml::cut_of(size, 0, fineness);
  bool closed = false;
  for (int attempt = 0; attempt < 2 && !closed; ++attempt) {
    if (attempt > 0) cut.meshing.deflection *= 0.2;  // coarse facets may cut through each other
    const auto mesh = [&](const gdml::occt::Meshing& meshing) {
      BodyMesh one = model.mesh(product, body, meshing);
      bare = one.bare_faces;
      return std::move(one.surface);
    };
    made.surface = gdml::refined(mesh, cut, std::abs(volume), area).surface;
    gdml::merge_close(made.surface, 1e-9 * size);
    closed = gdml::closed(made.surface);
    if (!model.contents().products[product].bodies[body].solid) break;  // an open sheet stays open
  }
  if (made.surface.triangles.empty()) throw Failure("none of its faces can be cut into triangles");
  made.complete = bare == 0;
  if (bare != 0) made.faults.push_back(std::to_string(bare) + " of its faces could not be cut into triangles");
  if (!closed) {
    made.faults.emplace_back("its surface is open, so that it has no inside");
    return made;
  }
  const double enclosed = gdml::enclosed_volume(made.surface);
  if (enclosed < 0) {
    for (UInt3& t : made.surface.triangles) std::swap(t.y, t.z);
    made.faults.emplace_back("its faces look inwards, and were turned");
  }
  if (!(std::abs(std::abs(enclosed) - std::abs(volume)) <= 1e-2 * std::abs(volume)))
    made.faults.push_back("its triangles enclose " + text_of(std::abs(enclosed)) + " mm3, and its faces " +
                          text_of(std::abs(volume)) + " mm3");
  gdml::separate(made.surface);
  return made;
}

}  // namespace raylift::step
