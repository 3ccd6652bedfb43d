// SPDX-License-Identifier: Apache-2.0
#include "collada_asset.h"

#include <array>
#include <cmath>

#include "collada_text.h"

namespace raylift::collada {
namespace {

/// G4DAE writes millimetres and no <unit>, and marks its files by optical properties below <extra>.
bool has_g4dae_optics(pugi::xml_node root) {
  for (const pugi::xml_node nodes : root.children("library_nodes"))
    for (const pugi::xml_node extra : nodes.children("extra"))
      if (extra.child("opticalsurface") || extra.child("skinsurface") || extra.child("bordersurface")) return true;
  for (const pugi::xml_node materials : root.children("library_materials"))
    for (const pugi::xml_node material : materials.children("material"))
      for (const pugi::xml_node extra : material.children("extra"))
        if (extra.child("matrix") && extra.child("property")) return true;
  return false;
}

/// Millimetres per unit; nothing where <unit> does not state them.
std::optional<double> read_unit(const Source& source, pugi::xml_node unit) {
  const pugi::xml_attribute meter = unit.attribute("meter");
  if (!meter) return std::nullopt;
  const auto value = read_reals(meter.value());
  if (!value || value->size() != 1 || !std::isfinite(1000 * value->front()) || value->front() <= 0)
    fail(ErrorKind::malformed, std::string("the unit's length '") + meter.value() + "' is no positive number of metres",
         source.file, unit, "correct it, or override it with --unit");
  return 1000 * value->front();
}

std::optional<UpAxis> read_axis(const Source& source, pugi::xml_node up) {
  if (!up) return std::nullopt;
  const std::string_view text = up.child_value();
  const auto letter = text.find_first_not_of(" \t\r\n");
  if (letter == std::string_view::npos || text.substr(letter + 1, 3) != "_UP" || text[letter] < 'X' ||
      text[letter] > 'Z')
    fail(ErrorKind::malformed, "the up axis '" + std::string(text) + "' is none of X_UP, Y_UP, Z_UP", source.file, up,
         "correct it, or override it with --up");
  return static_cast<UpAxis>(text[letter] - 'X');
}

/// The directions right, up and in (towards the viewer) in the axes of each <up_axis>: COLLADA 1.4.1, <up_axis>.
Eigen::Matrix3d right_up_in(UpAxis up) {
  Eigen::Matrix3d rows;
  switch (up) {
    case UpAxis::x:
      rows << 0, -1, 0, 1, 0, 0, 0, 0, 1;
      break;
    case UpAxis::y:
      rows << 1, 0, 0, 0, 1, 0, 0, 0, 1;
      break;
    case UpAxis::z:
      rows << 1, 0, 0, 0, 0, 1, 0, -1, 0;
      break;
  }
  return rows;
}

}  // namespace

Place inside(const Place& outer, const Local& local) {
  Place place = outer;
  if (const auto unit = local.frame.unit_mm; unit && *unit != outer.frame.unit_mm) {
    place.frame.unit_mm = *unit;
    place.to_world.scale(*unit / outer.frame.unit_mm);
  }
  if (const auto up = local.frame.up; up && *up != outer.frame.up) {
    place.frame.up = *up;
    place.to_world.rotate(Eigen::Matrix3d(right_up_in(outer.frame.up).transpose() * right_up_in(*up)));
  }
  place.to_world = place.to_world * local.transform;
  return place;
}

Assets::Assets(const Source& source, Scene& scene) : source_(source), scene_(scene) {
  const pugi::xml_node asset = source.root.child("asset");
  const bool g4dae = has_g4dae_optics(source.root);
  const pugi::xml_node unit = asset.child("unit");
  scene.unit_mm = g4dae && !unit ? 1 : 1000;
  scene.unit_from = Provenance::convention;
  if (source.options.unit_mm) {
    scene.unit_mm = *source.options.unit_mm;
    scene.unit_from = Provenance::option;
  } else if (const auto stated = read_unit(source, unit)) {
    scene.unit_mm = *stated;
    scene.unit_from = Provenance::file;
  }
  scene.up_axis = g4dae ? UpAxis::z : UpAxis::y;
  scene.up_from = Provenance::convention;
  if (source.options.up_axis) {
    scene.up_axis = *source.options.up_axis;
    scene.up_from = Provenance::option;
  } else if (const auto stated = read_axis(source, asset.child("up_axis"))) {
    scene.up_axis = *stated;
    scene.up_from = Provenance::file;
  }
}

StatedFrame Assets::stated(pugi::xml_node element) {
  // Up to an element that is known, and down again: documents may be as deep as their author's malice.
  std::vector<pugi::xml_node> path;
  StatedFrame frame;
  for (; element && element != source_.root; element = element.parent()) {
    if (const auto known = known_.find(element.internal_object()); known != known_.end()) {
      frame = known->second;
      break;
    }
    path.push_back(element);
  }
  for (; !path.empty(); path.pop_back()) {
    if (const pugi::xml_node asset = path.back().child("asset")) read(asset, frame);
    known_.emplace(path.back().internal_object(), frame);
  }
  return frame;
}

void Assets::read(pugi::xml_node asset, StatedFrame& frame) {
  bool differs = false;
  if (const pugi::xml_node unit = asset.child("unit"); unit && !source_.options.unit_mm) {
    frame.unit_mm = read_unit(source_, unit).value_or(1000);  // the schema's default
    differs = *frame.unit_mm != scene_.unit_mm;
  }
  if (const auto up = source_.options.up_axis ? std::nullopt : read_axis(source_, asset.child("up_axis"))) {
    frame.up = up;
    differs = differs || *up != scene_.up_axis;
  }
  if (differs && !warned_)
    scene_.report.warnings.push_back(describe(asset.parent()) +
                                     " states a unit or an up axis of its own; the solids in it are converted to the "
                                     "document's");
  warned_ = warned_ || differs;
}

}  // namespace raylift::collada
