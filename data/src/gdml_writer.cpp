// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/scene/eigen.h>

#include <cmath>
#include <set>

#include "block_output.h"
#include "writer.h"

namespace raylift::detector {
namespace {

constexpr std::uint64_t kOutermostCopy = 1000;

class GdmlWriter {
 public:
  GdmlWriter(const Detector& detector, const Optics& optics, BlockOutput& out)
      : detector_(detector), optics_(optics), out_(out) {
    out.digits(15);
  }

  void write() {
    out_.write(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gdml "
        "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n");
    write_tables();
    write_materials();
    write_solids();
    write_structure();
    out_.write("  <setup name=\"Default\" version=\"1.0\">\n    <world ref=\"", volume_name(detector_.world),
               "\"/>\n  </setup>\n</gdml>\n");
  }

 private:
  static std::string volume_name(const Volume& volume) { return mark(volume.name + "_lv"); }
  static std::string solid_name(const Volume& volume) { return mark(volume.name + "_solid"); }
  static std::string table_name(const std::string& owner, const std::string& key) { return mark(owner + "_" + key); }

  void write_tables_of(const std::string& owner, const Properties& properties) {
    for (const Table& table : properties.tables) {
      out_.write("    <matrix name=\"", table_name(owner, table.key), "\" coldim=\"2\" values=\"");
      for (std::size_t i = 0; i != table.points.size(); ++i)
        out_.write(i == 0 ? "" : " ", table.points[i].first, " ", table.points[i].second);
      out_.write("\"/>\n");
    }
    for (const auto& [key, value] : properties.constants)
      out_.write("    <matrix name=\"", table_name(owner, key), "\" coldim=\"1\" values=\"", value, "\"/>\n");
  }
  void write_tables() {
    out_.write("  <define>\n");
    for (const MaterialOptics& material : optics_.materials) write_tables_of(material.name, material.properties);
    for (const SurfaceOptics& surface : optics_.surfaces) write_tables_of(surface.name, surface.properties);
    out_.write("  </define>\n");
  }

  void write_properties(const std::string& owner, const Properties& properties) {
    const auto refer = [&](const std::string& key) {
      out_.write("      <property name=\"", key, "\" ref=\"", table_name(owner, key), "\"/>\n");
    };
    for (const Table& table : properties.tables) refer(table.key);
    for (const auto& [key, value] : properties.constants) refer(key);
  }

  /// Light sees the optical properties alone. Geant4 wants an element and a density too: all are nitrogen.
  void write_materials() {
    out_.write("  <materials>\n");
    for (const MaterialOptics& material : optics_.materials) {
      out_.write("    <material name=\"", mark(material.name), "\" Z=\"7\">\n");
      write_properties(material.name, material.properties);
      out_.write("      <D unit=\"g/cm3\" value=\"1\"/>\n      <atom unit=\"g/mole\" value=\"14.007\"/>\n",
                 "    </material>\n");
    }
    out_.write("  </materials>\n");
  }

  static Bounds bounds_of(const Volume& volume) {
    Bounds bounds;
    for (const Eigen::Vector3d& vertex : volume.surface.vertices) bounds.add(vertex);
    return bounds;
  }
  /// GDML's boxes are centred; others have their origin.
  static Eigen::Vector3d center_of(const Volume& volume) {
    return volume.surface.profile.empty() ? to_eigen(bounds_of(volume).center()) : Eigen::Vector3d::Zero();
  }

  void write_solid(const Volume& volume) {
    if (volume.surface.profile.empty()) {
      const Double3 size = bounds_of(volume).size();
      out_.write("    <box name=\"", solid_name(volume), "\" x=\"", size.x, "\" y=\"", size.y, "\" z=\"", size.z,
                 "\" lunit=\"mm\"/>\n");
      return;
    }
    out_.write("    <genericPolycone name=\"", solid_name(volume),
               "\" startphi=\"0\" deltaphi=\"360\" aunit=\"deg\" lunit=\"mm\">\n");
    for (const auto& [r, z] : volume.surface.profile) out_.write("      <rzpoint r=\"", r, "\" z=\"", z, "\"/>\n");
    out_.write("    </genericPolycone>\n");
  }
  void write_solids() {
    out_.write("  <solids>\n");
    for (const SurfaceOptics& surface : optics_.surfaces) {
      out_.write("    <opticalsurface name=\"", surface.name, "\" model=\"", number(surface.model), "\" finish=\"",
                 number(surface.finish), "\" type=\"", number(surface.type), "\" value=\"", surface.value, "\">\n");
      write_properties(surface.name, surface.properties);
      out_.write("    </opticalsurface>\n");
    }
    write_solid(detector_.world);
    for (const Volume& volume : detector_.nested) write_solid(volume);
    if (!detector_.placements.empty())
      for (const Volume& volume : detector_.sensor) write_solid(volume);
    out_.write("  </solids>\n");
  }

  void open(const Volume& volume) {
    out_.write("    <volume name=\"", volume_name(volume), "\">\n      <materialref ref=\"", mark(volume.material),
               "\"/>\n      <solidref ref=\"", solid_name(volume), "\"/>\n");
  }
  void close() { out_.write("    </volume>\n"); }

  /// GDML rotates a placed volume by the inverse of Rz Ry Rx.
  void place(const std::string& name, const Volume& volume, const EigenTransform& transform, std::uint64_t copy) {
    out_.write("      <physvol name=\"", mark(name + "_pv"), "\" copynumber=\"", copy, "\">\n        <volumeref ref=\"",
               volume_name(volume), "\"/>\n");
    const Eigen::Vector3d at = transform.translation();
    if (!at.isZero())
      out_.write("        <position x=\"", at.x(), "\" y=\"", at.y(), "\" z=\"", at.z(), "\" unit=\"mm\"/>\n");
    const Eigen::Matrix3d r = transform.linear().transpose();
    if (!r.isIdentity(0))
      out_.write("        <rotation x=\"", std::atan2(r(2, 1), r(2, 2)), "\" y=\"", -std::asin(r(2, 0)), "\" z=\"",
                 std::atan2(r(1, 0), r(0, 0)), "\" unit=\"rad\"/>\n");
    out_.write("      </physvol>\n");
  }
  void place_nested(const Volume& volume, const Volume& mother, std::uint64_t copy) {
    place(volume.name, volume, EigenTransform(Eigen::Translation3d(center_of(volume) - center_of(mother))), copy);
  }

  /// Daughters first, since references point backwards.
  void write_structure() {
    out_.write("  <structure>\n");
    const auto& sensor = detector_.sensor;
    if (!detector_.placements.empty())
      for (std::size_t i = sensor.size(); i-- != 0;) {
        open(sensor[i]);
        if (i + 1 != sensor.size()) place_nested(sensor[i + 1], sensor[i], 0);
        close();
      }
    for (std::size_t i = detector_.nested.size(); i-- != 0;) {
      const Volume& volume = detector_.nested[i];
      open(volume);
      if (i + 1 != detector_.nested.size()) place_nested(detector_.nested[i + 1], volume, 0);
      if (i == detector_.sensors_in)
        for (std::size_t k = 0; k != detector_.placements.size(); ++k)
          place(sensor.front().name + "_" + std::to_string(k), sensor.front(), detector_.placements[k], k);
      close();
    }
    open(detector_.world);
    place_nested(detector_.nested.front(), detector_.world, kOutermostCopy);
    close();
    write_surfaces();
    out_.write("  </structure>\n");
  }

  void write_surfaces() {
    std::set<std::string> names{detector_.world.name};
    for (const Volume& volume : detector_.nested) names.insert(volume.name);
    if (!detector_.placements.empty())
      for (const Volume& volume : detector_.sensor) names.insert(volume.name);
    for (const Skin& skin : optics_.skins)
      if (names.contains(skin.volume))
        out_.write("    <skinsurface name=\"", skin.name, "\" surfaceproperty=\"", skin.surface,
                   "\">\n      <volumeref ref=\"", mark(skin.volume + "_lv"), "\"/>\n    </skinsurface>\n");
    for (const Border& border : optics_.borders)
      out_.write("    <bordersurface name=\"", border.name, "\" surfaceproperty=\"", border.surface,
                 "\">\n      <physvolref ref=\"", mark(border.from + "_pv"), "\"/>\n      <physvolref ref=\"",
                 mark(border.to + "_pv"), "\"/>\n    </bordersurface>\n");
  }

  static std::uint64_t number(int value) { return static_cast<std::uint64_t>(value); }

  const Detector& detector_;
  const Optics& optics_;
  BlockOutput& out_;
};

}  // namespace

void write_gdml(const Detector& detector, const Optics& optics, const std::filesystem::path& path) {
  BlockOutput out(path);
  GdmlWriter(detector, optics, out).write();
  out.finish();
}

}  // namespace raylift::detector
