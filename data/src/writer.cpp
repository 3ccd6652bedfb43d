// SPDX-License-Identifier: Apache-2.0
#include "writer.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <span>
#include <string_view>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/output_file.h"

namespace raylift::detector {
namespace {

/// A file, or standard output, that is written in large blocks.
class BlockOutput {
 public:
  explicit BlockOutput(const std::filesystem::path& path) {
    if (path != "-") file_.emplace(path);
  }

  void put(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBlock) flush();
  }
  /// Six significant digits, as C++ streams print by default.
  void put(double value) {
    if (value == 0) value = 0;  // no "-0"
    char digits[32];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), value, std::chars_format::general, 6).ptr;
    put(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  void put(std::uint64_t value) {
    char digits[20];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
    put(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  template <class... Pieces>
  void write(const Pieces&... pieces) {
    (put(pieces), ...);
  }

  void finish() {
    flush();
    if (file_)
      file_->finish();
    else
      cli::finish_output();
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{4} << 20;

  void flush() {
    if (cli::interrupted_by() != 0) throw Error(ErrorKind::cancelled, "interrupted");
    if (file_)
      file_->write(buffer_);
    else
      cli::write_output(buffer_);
    buffer_.clear();
  }

  std::optional<cli::OutputFile> file_;
  std::string buffer_;
};

struct Table {
  const char* name;
  std::array<double, 8> values;
};

struct MaterialData {
  const char* name;
  std::vector<Table> tables;
};

// Photon energies in MeV, ascending, as Geant4 keeps them: 800 nm to 200 nm. The values are plausible, no measurement.
constexpr std::array<double, 8> kEnergies{1.55e-06, 2.0e-06, 2.48e-06, 2.95e-06, 3.26e-06, 3.54e-06, 4.13e-06, 6.2e-06};

const std::vector<MaterialData>& materials() {
  static const std::vector<MaterialData> all{
      {"Vacuum", {{"RINDEX", {1, 1, 1, 1, 1, 1, 1, 1}}}},
      {"Rock", {}},
      {"Water",
       {{"RINDEX", {1.329, 1.332, 1.336, 1.341, 1.345, 1.349, 1.358, 1.39}},
        {"ABSLENGTH", {490, 3200, 24000, 33000, 29000, 20000, 9000, 800}},
        {"RAYLEIGH", {900000, 500000, 250000, 130000, 90000, 65000, 36000, 7000}}}},
      {"StainlessSteel", {{"ABSLENGTH", {0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001}}}},
      {"MineralOil",
       {{"RINDEX", {1.453, 1.456, 1.461, 1.468, 1.474, 1.48, 1.495, 1.6}},
        {"ABSLENGTH", {8000, 12000, 11000, 9500, 6500, 2500, 120, 1}},
        {"RAYLEIGH", {850000, 400000, 170000, 83000, 56000, 40000, 21000, 4000}}}},
      {"Acrylic",
       {{"RINDEX", {1.484, 1.488, 1.493, 1.499, 1.504, 1.51, 1.525, 1.6}},
        {"ABSLENGTH", {5000, 7000, 8000, 6000, 2000, 300, 2, 0.1}}}},
      {"LiquidScintillator",
       {{"RINDEX", {1.475, 1.479, 1.485, 1.494, 1.502, 1.511, 1.535, 1.8}},
        {"ABSLENGTH", {15000, 22000, 20000, 12000, 1500, 60, 2, 0.5}},
        {"RAYLEIGH", {500000, 230000, 90000, 42000, 27000, 19000, 9800, 1800}},
        {"REEMISSIONPROB", {0, 0, 0, 0.1, 0.5, 0.8, 0.8, 0.8}}}},
      {"Glass",
       {{"RINDEX", {1.465, 1.469, 1.474, 1.48, 1.485, 1.49, 1.5, 1.55}},
        {"ABSLENGTH", {1000, 1000, 1000, 800, 400, 100, 3, 0.1}}}},
      {"Bialkali",
       {{"RINDEX", {2.9, 2.9, 3.0, 2.7, 2.4, 2.0, 1.7, 1.5}},
        {"EFFICIENCY", {0, 0.03, 0.17, 0.26, 0.27, 0.25, 0.15, 0.02}}}},
  };
  return all;
}

/// Geant4 marks names by the object's address; here by a number that is the same in every run.
std::string mark(std::string_view name) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  char text[16];
  std::snprintf(text, sizeof text, "0x%07x", hash & 0xFFFFFFFU);
  return std::string(name) + text;
}

class Writer {
 public:
  Writer(const Detector& detector, const Parameters& parameters, BlockOutput& out)
      : detector_(detector), parameters_(parameters), out_(out) {}

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
    for (const MaterialData& material : materials())
      out_.write(
          "    <effect id=\"", mark(std::string(material.name) + "_fx_"),
          "\">\n      <profile_COMMON>\n        <technique sid=\"t\">\n          <phong>\n            <diffuse>\n",
          "              <color>1 1 1 1</color>\n            </diffuse>\n            <transparency>\n              "
          "<float>0.5</float>\n",
          "            </transparency>\n          </phong>\n        </technique>\n      </profile_COMMON>\n    "
          "</effect>\n");
    out_.write("  </library_effects>\n");
  }

  void write_geometries() {
    out_.write("  <library_geometries>\n");
    const double half = 3 * detector_.nested.front().surface.vertices.back().z();
    write_geometry("World", revolve(-half, {{half, -half}, {half, half}}, half, 4), Transform::Identity());
    for (const Volume& volume : detector_.nested) write_geometry(volume.name, volume.surface, Transform::Identity());
    if (!parameters_.flat) {
      if (!detector_.placements.empty())
        for (const Volume& volume : detector_.sensor)
          write_geometry(volume.name, volume.surface, Transform::Identity());
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

  void write_geometry(const std::string& name, const Surface& surface, const Transform& transform) {
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

  void write_table(const std::string& indent, const std::string& owner, const Table& table) {
    const std::string id = mark(owner + table.name);
    out_.write(indent, "<matrix coldim=\"2\" name=\"", id, "\">");
    for (std::size_t i = 0; i != kEnergies.size(); ++i) out_.write(kEnergies[i], " ", table.values[i], " ");
    out_.write("</matrix>\n", indent, "<property name=\"", table.name, "\" ref=\"", id, "\"/>\n");
  }

  void write_materials() {
    out_.write("  <library_materials>\n");
    for (const MaterialData& material : materials()) {
      out_.write("    <material id=\"", mark(material.name), "\">\n      <instance_effect url=\"#",
                 mark(std::string(material.name) + "_fx_"), "\"/>\n");
      if (!material.tables.empty()) {
        out_.write("      <extra>\n");
        for (const Table& table : material.tables) write_table("        ", material.name, table);
        out_.write("      </extra>\n");
      }
      out_.write("    </material>\n");
    }
    out_.write("  </library_materials>\n");
  }

  void write_matrix(const Transform& transform) {
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
  void place(const std::string& name, const std::string& logical, const Transform& transform, std::uint64_t copy) {
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
        place(daughter, daughter, Transform::Identity(), 0);
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
        place(detector_.nested[i + 1].name, detector_.nested[i + 1].name, Transform::Identity(), 0);
      if (i == detector_.sensors_in)
        for (std::size_t k = 0; k != sensors; ++k) {
          const std::string number = "_" + std::to_string(k);
          // Flat geometries stand in their places already.
          place("Sensor" + number, parameters_.flat ? "Sensor" + number : "Sensor",
                parameters_.flat ? Transform::Identity() : detector_.placements[k], k);
        }
      close();
    }
    open_logical("World", "World", "Rock");
    place(detector_.nested.front().name, detector_.nested.front().name, Transform::Identity(), 1000);
    close();
    write_surfaces();
    out_.write("  </library_nodes>\n");
  }

  void write_surfaces() {
    out_.write(
        "    <extra>\n      <opticalsurface finish=\"3\" model=\"1\" name=\"TankSurface\" type=\"0\" value=\"1\">\n");
    write_table("        ", "TankSurface", {"REFLECTIVITY", {0.35, 0.36, 0.38, 0.37, 0.33, 0.28, 0.2, 0.1}});
    out_.write(
        "      </opticalsurface>\n      <opticalsurface finish=\"0\" model=\"0\" name=\"CathodeSurface\" type=\"0\" "
        "value=\"1\">\n");
    write_table("        ", "CathodeSurface", {"EFFICIENCY", {0, 0.03, 0.17, 0.26, 0.27, 0.25, 0.15, 0.02}});
    out_.write(
        "      </opticalsurface>\n      <skinsurface name=\"CathodeSkin\" surfaceproperty=\"CathodeSurface\">\n        "
        "<volumeref ref=\"",
        mark("Photocathode_lv"),
        "\"/>\n      </skinsurface>\n      <bordersurface name=\"TankBorder\" surfaceproperty=\"TankSurface\">\n       "
        " <physvolref ref=\"",
        mark("Buffer_pv"), "\"/>\n        <physvolref ref=\"", mark("Tank_pv"),
        "\"/>\n      </bordersurface>\n      <meta id=\"bsurf\">\n        <bsurf name=\"TankBorder\">\n          <pv "
        "copyNo=\"0\" name=\"",
        mark("Buffer_pv"), "\" ref=\"", mark("Buffer_pv"), "\"/>\n          <pv copyNo=\"0\" name=\"", mark("Tank_pv"),
        "\" ref=\"", mark("Tank_pv"), "\"/>\n        </bsurf>\n      </meta>\n    </extra>\n");
  }

  const Detector& detector_;
  const Parameters& parameters_;
  BlockOutput& out_;
};

}  // namespace

void write_collada(const Detector& detector, const Parameters& parameters, const std::filesystem::path& path) {
  BlockOutput out(path);
  Writer(detector, parameters, out).write();
  out.finish();
}

}  // namespace raylift::detector
