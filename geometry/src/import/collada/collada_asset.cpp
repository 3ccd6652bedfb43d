// SPDX-License-Identifier: Apache-2.0
#include "collada_asset.h"

#include "scene/names.h"

#include <cmath>
#include <utility>

#include "collada_text.h"

namespace raylift::collada {
namespace {

/// Geant4's exporter G4DAE writes millimetres and no <unit>, and optical properties below <extra>.
bool has_g4dae_optics(pugi::xml_node root) {
  for (const pugi::xml_node nodes : root.children("library_nodes"))
    for (const pugi::xml_node extra : nodes.children("extra"))
      if (extra.child("opticalsurface") || extra.child("skinsurface") || extra.child("bordersurface")) return true;
  for (const pugi::xml_node materials : root.children("library_materials"))
    for (const pugi::xml_node material : materials.children("material"))
      for (const pugi::xml_node extra : material.children("extra"))
        if ((extra.child("matrix") || extra.child("constant")) && extra.child("property")) return true;
  return false;
}

/// Whether a name ends in a pointer: five hexadecimal digits or more, as no object lies below 64 KiB.
bool has_pointer(std::string_view name) {
  return name.size() - base_name(name).size() >= std::string_view("0x10000").size();
}

/// A part cut out of such a file has no optics, but still Geant4's names, with pointers: most of those of its
/// geometries, materials, and nodes, logical volumes and what they place, and two at least.
bool has_geant4_names(pugi::xml_node root) {
  std::size_t with = 0, without = 0;
  const auto count = [&](pugi::xml_node element) {
    (has_pointer(element.attribute("id").value()) ? with : without) += 1;
  };
  const auto count_nodes = [&](pugi::xml_node around) {
    for (const pugi::xml_node node : around.children("node")) {
      count(node);
      for (const pugi::xml_node inner : node.children("node")) count(inner);
    }
  };
  for (const pugi::xml_node library : root.children()) {
    for (const pugi::xml_node geometry : library.children("geometry")) count(geometry);
    for (const pugi::xml_node material : library.children("material")) count(material);
    for (const pugi::xml_node scene : library.children("visual_scene")) count_nodes(scene);
    count_nodes(library);
  }
  return with >= 2 && with > without;
}

/// Millimetres per unit; nothing where <unit> does not state them.
std::optional<double> read_unit(const Source& source, pugi::xml_node unit) {
  const pugi::xml_attribute meter = unit.attribute("meter");
  if (!meter) return std::nullopt;
  const auto value = read_reals(meter.value());
  if (!value || value->size() != 1 || !std::isfinite(1000 * value->front()) || value->front() <= 0)
    fail(ErrorKind::malformed, std::string("the unit's length '") + meter.value() + "' is no positive number of metres",
         source, unit, "correct it, or override it with LoadOptions::unit_mm");
  return 1000 * value->front();
}

std::optional<UpAxis> read_axis(const Source& source, pugi::xml_node up) {
  if (!up) return std::nullopt;
  const std::string_view text = up.child_value();
  const auto letter = text.find_first_not_of(" \t\r\n");
  if (letter == std::string_view::npos || text.substr(letter + 1, 3) != "_UP" || text[letter] < 'X' ||
      text[letter] > 'Z')
    fail(ErrorKind::malformed, "the up axis '" + std::string(text) + "' is none of X_UP, Y_UP, Z_UP", source, up,
         "correct it, or override it with LoadOptions::up_axis");
  return static_cast<UpAxis>(text[letter] - 'X');
}

/// What holds where a document states no unit or no axis.
AssetFrame usual_frame(pugi::xml_node root) {
  const bool unit = root.child("asset").child("unit");
  const bool g4dae = has_g4dae_optics(root) || (!unit && has_geant4_names(root));
  return {g4dae && !unit ? 1.0 : 1000.0, g4dae ? UpAxis::z : UpAxis::y};
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

DocumentPlace inside(const DocumentPlace& outer, const Local& local) {
  DocumentPlace place = outer;
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
  const pugi::xml_node asset = source.root().child("asset");
  const LoadOptions& options = source.options();
  const AssetFrame usual = usual_frame(source.root());
  const auto unit = options.unit_mm ? std::nullopt : read_unit(source, asset.child("unit"));
  const auto up = options.up_axis ? std::nullopt : read_axis(source, asset.child("up_axis"));
  const auto from = [](bool option, bool file) {
    return option ? Scene::Provenance::option : file ? Scene::Provenance::file : Scene::Provenance::convention;
  };
  scene.unit_mm = options.unit_mm.value_or(unit.value_or(usual.unit_mm));
  scene.unit_from = from(options.unit_mm.has_value(), unit.has_value());
  scene.up_axis = options.up_axis.value_or(up.value_or(usual.up));
  scene.up_from = from(options.up_axis.has_value(), up.has_value());
}

StatedFrame Assets::stated(pugi::xml_node element) {
  // Up to an element that is known, and down again: documents may be as deep as their author's malice.
  std::vector<pugi::xml_node> path;
  StatedFrame frame;
  for (; element && element.parent() != element.root(); element = element.parent()) {
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

StatedFrame Assets::entered(pugi::xml_node from, pugi::xml_node to) {
  if (from.root() == to.root()) return {};
  const pugi::xml_node root = source_.root(source_.document_of(to));
  const auto [entry, inserted] = known_.try_emplace(root.internal_object());
  if (!inserted) return entry->second;
  const LoadOptions& options = source_.options();
  const AssetFrame usual = usual_frame(root);
  const pugi::xml_node asset = root.child("asset");
  StatedFrame& frame = entry->second;
  if (!options.unit_mm) frame.unit_mm = read_unit(source_, asset.child("unit")).value_or(usual.unit_mm);
  if (!options.up_axis) frame.up = read_axis(source_, asset.child("up_axis")).value_or(usual.up);
  warn_if_other(frame, "'" + source_.file_of(root) + "'");
  return frame;
}

void Assets::read(pugi::xml_node asset, StatedFrame& frame) {
  StatedFrame own;
  const LoadOptions& options = source_.options();
  if (const pugi::xml_node unit = asset.child("unit"); unit && !options.unit_mm)
    own.unit_mm = read_unit(source_, unit).value_or(1000);  // the schema's default
  if (!options.up_axis) own.up = read_axis(source_, asset.child("up_axis"));
  if (own.unit_mm) frame.unit_mm = own.unit_mm;
  if (own.up) frame.up = own.up;
  warn_if_other(own, describe(asset.parent()));
}

void Assets::warn_if_other(const StatedFrame& frame, const std::string& what) {
  const bool other =
      frame.unit_mm.value_or(scene_.unit_mm) != scene_.unit_mm || frame.up.value_or(scene_.up_axis) != scene_.up_axis;
  if (other && !std::exchange(warned_, true))
    scene_.report.warnings.push_back(what +
                                     " states a unit or an up axis of its own; the solids in it are converted to the "
                                     "document's");
}

}  // namespace raylift::collada
