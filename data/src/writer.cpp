// SPDX-License-Identifier: Apache-2.0
#include "writer.h"

#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <string>

#include "block_output.h"

namespace raylift::detector {
namespace {

class Writer {
 public:
  Writer(const Detector& detector, const Optics& optics, const Parameters& parameters, BlockOutput& out)
      : detector_(detector), optics_(optics), parameters_(parameters), out_(out) {}

  void write() {
    out_.write(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" "
        "version=\"1.4.1\">\n",
        "  <asset>\n    <contributor>\n      <authoring_tool>raylift-make-detector</authoring_tool>\n    "
        "</contributor>\n",
        "    <created>2026-11-21T00:00:00</created>\n    <modified>2026-11-21T00:00:00</modified>\n  </asset>\n");
    write_effects();
    write_geometries();
    write_materials();
    write_nodes();
    out_.write(
        "  <library_visual_scenes>\n    <visual_scene id=\"DefaultScene\">\n      <node id=\"top\">\n        "
        "<instance_node url=\"#",
        mark("World_lv"), "\"/>\n      </node>\n    </visual_scene>\n  </library_visual_scenes>\n",
        "  <scene>\n    <instance_visual_scene url=\"#DefaultScene\"/>\n  </scene>\n</COLLADA>\n");
  }

 private:
  void write_effects() {
    out_.write("  <library_effects>\n");
    for (const MaterialOptics& material : optics_.materials)
      out_.write(
          "    <effect id=\"", mark(material.name + "_fx_"),
          "\">\n      <profile_COMMON>\n        <technique sid=\"t\">\n          <phong>\n            <diffuse>\n",
          "              <color>1 1 1 1</color>\n            </diffuse>\n            <transparency>\n              "
          "<float>0.5</float>\n",
          "            </transparency>\n          </phong>\n        </technique>\n      </profile_COMMON>\n    "
          "</effect>\n");
    out_.write("  </library_effects>\n");
  }

  void write_geometries() {
    out_.write("  <library_geometries>\n");
    write_geometry(detector_.world.name, detector_.world.surface, EigenTransform::Identity());
    for (const Volume& volume : detector_.nested)
      write_geometry(volume.name, volume.surface, EigenTransform::Identity());
    if (!parameters_.flat) {
      if (!detector_.placements.empty())
        for (const Volume& volume : detector_.sensor)
          write_geometry(volume.name, volume.surface, EigenTransform::Identity());
    } else {
      for (std::size_t i = 0; i != detector_.placements.size(); ++i)
        for (const Volume& volume : detector_.sensor)
          write_geometry(volume.name + "_" + std::to_string(i), volume.surface, detector_.placements[i]);
    }
    out_.write("  </library_geometries>\n");
  }

  void write_source(const std::string& id, std::uint64_t count, const auto& each) {
    out_.write("        <source id=\"", id, "\">\n          <float_array count=\"", 3 * count, "\" id=\"", id,
               "-array\">\n");
    for (std::uint64_t i = 0; i != count; ++i) {
      const Eigen::Vector3d v = each(i);
      out_.write("\t\t\t\t", v.x(), " ", v.y(), " ", v.z(), "\n");
    }
    out_.write("</float_array>\n          <technique_common>\n            <accessor count=\"", count, "\" source=\"#",
               id,
               "-array\" stride=\"3\">\n              <param name=\"X\" type=\"float\"/>\n              <param "
               "name=\"Y\" type=\"float\"/>\n",
               "              <param name=\"Z\" type=\"float\"/>\n            </accessor>\n          "
               "</technique_common>\n        </source>\n");
  }

  void write_geometry(const std::string& name, const Surface& surface, const EigenTransform& transform) {
    const std::string id = mark(name + "_solid");
    out_.write("    <geometry id=\"", id, "\" name=\"", id, "\">\n      <mesh>\n");
    write_source(id + "-Pos", surface.vertices.size(),
                 [&](std::uint64_t i) -> Eigen::Vector3d { return transform * surface.vertices[i]; });
    if (parameters_.normals)
      write_source(id + "-Norm", surface.triangles.size(), [&](std::uint64_t i) -> Eigen::Vector3d {
        const auto& t = surface.triangles[i];
        const Eigen::Vector3d a = surface.vertices[t[0]];
        const Eigen::Vector3d normal = (surface.vertices[t[1]] - a).cross(surface.vertices[t[2]] - a);
        return transform.linear() * normal.normalized();
      });
    out_.write("        <vertices id=\"", id, "-Vtx\">\n          <input semantic=\"POSITION\" source=\"#", id,
               "-Pos\"/>\n        </vertices>\n");
    const std::uint64_t count = surface.triangles.size();
    out_.write("        <polylist count=\"", count,
               "\" material=\"WHITE\">\n          <input offset=\"0\" semantic=\"VERTEX\" source=\"#", id,
               "-Vtx\"/>\n");
    if (parameters_.normals)
      out_.write("          <input offset=\"1\" semantic=\"NORMAL\" source=\"#", id, "-Norm\"/>\n");
    out_.write("          <vcount>");
    for (std::uint64_t i = 0; i != count; ++i) out_.put("3 ");
    out_.write("</vcount>\n          <p>\n");
    for (std::uint64_t i = 0; i != count; ++i) {
      for (const std::uint32_t vertex : surface.triangles[i]) {
        out_.write(std::uint64_t{vertex}, " ");
        if (parameters_.normals) out_.write(i, " ");
      }
      out_.write("\n");
    }
    out_.write("</p>\n        </polylist>\n      </mesh>\n    </geometry>\n");
  }

  void write_properties(const std::string& owner, const Properties& properties) {
    for (const Table& table : properties.tables) {
      const std::string id = mark(owner + table.key).substr(owner.size());
      out_.write("        <matrix coldim=\"2\" name=\"", id, "\">");
      for (std::size_t i = 0; i != table.points.size(); ++i)
        out_.write(i == 0 ? "" : " ", table.points[i].first, " ", table.points[i].second);
      out_.write("</matrix>\n        <property name=\"", table.key, "\" ref=\"", id, "\"/>\n");
    }
    for (const auto& [key, value] : properties.constants)
      out_.write("        <constant name=\"", key, "\" value=\"", value, "\"/>\n        <property name=\"", key,
                 "\" ref=\"", key, "\"/>\n");
  }

  void write_materials() {
    out_.write("  <library_materials>\n");
    for (const MaterialOptics& material : optics_.materials) {
      out_.write("    <material id=\"", mark(material.name), "\">\n      <instance_effect url=\"#",
                 mark(material.name + "_fx_"), "\"/>\n      <extra>\n");
      write_properties(material.name, material.properties);
      out_.write("      </extra>\n    </material>\n");
    }
    out_.write("  </library_materials>\n");
  }

  void write_matrix(const EigenTransform& transform) {
    out_.write("        <matrix>\n\t\t\t\t");
    for (int row = 0; row != 3; ++row) {
      for (int column = 0; column != 4; ++column) out_.write(transform(row, column), " ");
      out_.write("\n\t\t\t\t");
    }
    out_.write("0.0 0.0 0.0 1.0\n</matrix>\n");
  }

  void open_logical(const std::string& name, const std::string& solid, const std::string& material) {
    out_.write("    <node id=\"", mark(name + "_lv"), "\">\n      <instance_geometry url=\"#", mark(solid + "_solid"),
               "\">\n        <bind_material>\n          <technique_common>\n            <instance_material "
               "symbol=\"WHITE\" target=\"#",
               mark(material),
               "\"/>\n          </technique_common>\n        </bind_material>\n      </instance_geometry>\n");
  }
  void place(const std::string& name, const std::string& logical, const EigenTransform& transform, std::uint64_t copy) {
    const std::string id = mark(name + "_pv");
    out_.write("      <node id=\"", id, "\">\n");
    write_matrix(transform);
    out_.write("        <instance_node url=\"#", mark(logical + "_lv"), "\"/>\n        <extra>\n          <meta id=\"",
               id, "\">\n            <copyNo>", copy,
               "</copyNo>\n            <ModuleName>raylift</ModuleName>\n          </meta>\n        </extra>\n      "
               "</node>\n");
  }
  void close() { out_.write("    </node>\n"); }

  /// A sensor's three logical volumes, daughters first, so that references point backwards, as G4DAE writes them.
  void write_sensor(const std::string& suffix) {
    for (std::size_t i = detector_.sensor.size(); i-- != 0;) {
      const Volume& volume = detector_.sensor[i];
      open_logical(volume.name + suffix, volume.name + suffix, volume.material);
      if (i + 1 != detector_.sensor.size()) {
        const std::string daughter = detector_.sensor[i + 1].name + suffix;
        place(daughter, daughter, EigenTransform::Identity(), 0);
      }
      close();
    }
  }

  void write_nodes() {
    out_.write("  <library_nodes>\n");
    const std::size_t sensors = detector_.placements.size();
    if (!parameters_.flat && sensors != 0) write_sensor("");
    if (parameters_.flat)
      for (std::size_t i = 0; i != sensors; ++i) write_sensor("_" + std::to_string(i));
    for (std::size_t i = detector_.nested.size(); i-- != 0;) {
      const Volume& volume = detector_.nested[i];
      open_logical(volume.name, volume.name, volume.material);
      if (i + 1 != detector_.nested.size())
        place(detector_.nested[i + 1].name, detector_.nested[i + 1].name, EigenTransform::Identity(), 0);
      if (i == detector_.sensors_in)
        for (std::size_t k = 0; k != sensors; ++k) {
          const std::string& name = detector_.sensor.front().name;
          const std::string number = "_" + std::to_string(k);
          // Flat geometries stand in their places already.
          place(name + number, parameters_.flat ? name + number : name,
                parameters_.flat ? EigenTransform::Identity() : detector_.placements[k], k);
        }
      close();
    }
    open_logical(detector_.world.name, detector_.world.name, detector_.world.material);
    place(detector_.nested.front().name, detector_.nested.front().name, EigenTransform::Identity(), kOutermostCopy);
    close();
    write_surfaces();
    out_.write("  </library_nodes>\n");
  }

  void write_surfaces() {
    out_.write("    <extra>\n");
    for (const SurfaceOptics& surface : optics_.surfaces) {
      out_.write("      <opticalsurface finish=\"", number(surface.finish), "\" model=\"", number(surface.model),
                 "\" name=\"", surface.name, "\" type=\"", number(surface.type), "\" value=\"", surface.value, "\">\n");
      write_properties(surface.name, surface.properties);
      out_.write("      </opticalsurface>\n");
    }
    for (const Skin& skin : optics_.skins) write_skin(skin);
    for (const Border& border : optics_.borders)
      out_.write("      <bordersurface name=\"", border.name, "\" surfaceproperty=\"", border.surface,
                 "\">\n        <physvolref ref=\"", mark(border.from + "_pv"), "\"/>\n        <physvolref ref=\"",
                 mark(border.to + "_pv"), "\"/>\n      </bordersurface>\n");
    out_.write("      <meta>\n");
    for (const Border& border : optics_.borders) {
      out_.write("        <bsurf name=\"", border.name, "\" surfaceproperty=\"", border.surface, "\">\n");
      for (const std::string& volume : {border.from, border.to})
        out_.write("          <pv copyNo=\"", volume == detector_.nested.front().name ? kOutermostCopy : 0,
                   "\" name=\"", volume, "_pv\" ref=\"", mark(volume + "_pv"), "\"/>\n");
      out_.write("        </bsurf>\n");
    }
    out_.write("      </meta>\n    </extra>\n");
  }

  /// Writes a skin; in a flat scene, one for each sensor's own copy of the volume.
  void write_skin(const Skin& skin) {
    const bool sensor = std::any_of(detector_.sensor.begin(), detector_.sensor.end(),
                                    [&](const Volume& volume) { return volume.name == skin.volume; });
    const std::size_t copies = !sensor            ? 1
                               : parameters_.flat ? detector_.placements.size()
                                                  : !detector_.placements.empty();
    for (std::size_t i = 0; i != copies; ++i) {
      const std::string suffix = sensor && parameters_.flat ? "_" + std::to_string(i) : "";
      out_.write("      <skinsurface name=\"", skin.name, suffix, "\" surfaceproperty=\"", skin.surface,
                 "\">\n        <volumeref ref=\"", mark(skin.volume + suffix + "_lv"), "\"/>\n      </skinsurface>\n");
    }
  }

  static std::uint64_t number(int value) { return static_cast<std::uint64_t>(value); }

  static constexpr std::uint64_t kOutermostCopy = 1000;

  const Detector& detector_;
  const Optics& optics_;
  const Parameters& parameters_;
  BlockOutput& out_;
};

}  // namespace

void write_collada(const Detector& detector, const Optics& optics, const Parameters& parameters,
                   const std::filesystem::path& path) {
  BlockOutput out(path);
  Writer(detector, optics, parameters, out).write();
  out.finish();
}

}  // namespace raylift::detector
