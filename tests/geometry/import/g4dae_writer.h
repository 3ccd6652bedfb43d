// SPDX-License-Identifier: Apache-2.0
// Documents in the layout of Geant4's exporter G4DAE, for tests: its elements, their order, its spelling of names and
// numbers, in both of its variants.
#pragma once

#include <array>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace raylift::test::g4dae {

/// Names are Geant4's own, with '/', '#' and ':'. Energies are in MeV.
struct Properties {
  std::vector<std::pair<std::string, std::vector<double>>> tables;  ///< key, and E v E v
  std::vector<std::pair<std::string, double>> constants;
};
struct Material {
  std::string name;
  Properties properties;
};
struct Placement {
  std::string name;    ///< of the physical volume
  std::string volume;  ///< the logical volume that it places
  int copy = 0;
  std::array<double, 3> at{};
};
struct Volume {
  std::string name, material;
  double half = 1;  ///< a cube
  std::vector<Placement> daughters;
};
struct Surface {
  std::string name;
  int finish = 0, model = 0, type = 0;
  double value = 1;
  Properties properties;
};
struct Skin {
  std::string name, surface, volume;
};
struct Border {
  std::string name, surface, from, to;  ///< physical volumes
  int copy_from = 0, copy_to = 0;
};
struct Detector {
  std::vector<Material> materials;
  std::vector<Volume> volumes;  ///< the world is the last one
  std::vector<Surface> surfaces;
  std::vector<Skin> skins;
  std::vector<Border> borders;
  bool values_in_attributes = false;  ///< the older variant
  bool pointers = true;               ///< behind names
  int pointer_digits = 7;
};

class Writer {
 public:
  explicit Writer(const Detector& detector) : detector_(detector) {}

  [[nodiscard]] std::string text() {
    out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\" ?>\n<COLLADA "
            "xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">\n\n  <asset>\n    "
            "<contributor>\n      <author/>\n    </contributor>\n    <created>2005-11-14T02:16:38Z</created>\n    "
            "<modified>2005-11-15T11:36:38Z</modified>\n    <revision>1.0</revision>\n  </asset>\n\n";
    effects();
    geometries();
    materials();
    nodes();
    out_ << "  <library_visual_scenes>\n    <visual_scene id=\"DefaultScene\">\n      <node id=\"top\">\n        "
            "<instance_node url=\"#"
         << encoded(marked(detector_.volumes.back().name))
         << "\"/>\n      </node>\n    </visual_scene>\n  </library_visual_scenes>\n\n  <scene>\n    "
            "<instance_visual_scene url=\"#DefaultScene\"/>\n  </scene>\n\n</COLLADA>\n";
    return out_.str();
  }

  /// With the pointer behind it, and without blanks.
  [[nodiscard]] std::string marked(const std::string& name) const {
    std::string result;
    for (const char c : name)
      if (c != ' ') result += c;
    if (!detector_.pointers) return result;
    unsigned long long pointer = 5381;
    for (const char c : name) pointer = pointer * 33 + static_cast<unsigned char>(c);
    const unsigned long long first = 1ULL << (4 * (detector_.pointer_digits - 1));
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", first + pointer % (first * 14));
    return result + text;
  }

  /// As in XML ids and references.
  static std::string encoded(const std::string& name) {
    std::string text;
    for (const char c : name) text += c == '/' ? "__" : c == '#' ? "--" : c == ':' ? ".." : std::string(1, c);
    return text;
  }

 private:
  [[nodiscard]] std::string id(const std::string& name) const { return encoded(marked(name)); }

  void effects() {
    out_ << "  <library_effects>\n";
    for (const Material& material : detector_.materials)
      out_
          << "    <effect id=\"" << id(material.name + "_fx_")
          << "\">\n      <profile_COMMON>\n        <technique sid=\"t\">\n          <phong>\n            <diffuse>\n   "
             "  "
             "         <color>1 1 1 1</color>\n            </diffuse>\n          </phong>\n        </technique>\n      "
             "</profile_COMMON>\n    </effect>\n";
    out_ << "  </library_effects>\n\n";
  }

  void geometries() {
    out_ << "  <library_geometries>\n";
    for (const Volume& volume : detector_.volumes) {
      const std::string geometry = marked(volume.name + "_box");  // not encoded
      out_ << "    <geometry id=\"" << geometry << "\" name=\"" << geometry
           << "\">\n      <mesh>\n        <source id=\"" << geometry
           << "-Pos\">\n          <float_array count=\"24\" id=\"" << geometry << "-Pos-array\">\n";
      for (int i = 0; i != 8; ++i)
        out_ << "\t\t\t\t" << sign(i & 1) * volume.half << ' ' << sign(i & 2) * volume.half << ' '
             << sign(i & 4) * volume.half << " \n";
      out_ << "</float_array>\n          <technique_common>\n            <accessor count=\"8\" source=\"#" << geometry
           << "-Pos-array\" stride=\"3\">\n              <param name=\"X\" type=\"float\"/>\n              <param "
              "name=\"Y\" type=\"float\"/>\n              <param name=\"Z\" type=\"float\"/>\n            "
              "</accessor>\n          </technique_common>\n        </source>\n        <vertices id=\""
           << geometry << "-Vtx\">\n          <input semantic=\"POSITION\" source=\"#" << geometry
           << "-Pos\"/>\n        </vertices>\n        <polylist count=\"6\" material=\"WHITE\">\n          <input "
              "offset=\"0\" semantic=\"VERTEX\" source=\"#"
           << geometry
           << "-Vtx\"/>\n          <vcount>4 4 4 4 4 4 </vcount>\n          <p>\n0 2 3 1\n4 5 7 6\n0 1 5 4\n2 6 7 3\n0 "
              "4 "
              "6 2\n1 3 7 5\n</p>\n        </polylist>\n      </mesh>\n    </geometry>\n";
    }
    out_ << "  </library_geometries>\n\n";
  }

  static int sign(int bit) { return bit != 0 ? 1 : -1; }

  void properties(const Properties& all) {
    for (const auto& [key, numbers] : all.tables) {
      const std::string name = marked(key);
      std::ostringstream values;  // six significant digits
      for (std::size_t i = 0; i != numbers.size(); ++i) values << (i == 0 ? "" : " ") << numbers[i];
      if (detector_.values_in_attributes)
        out_ << "        <matrix coldim=\"2\" name=\"" << name << "\" values=\"" << values.str().substr(0, 255)
             << "\"/>\n";
      else
        out_ << "        <matrix coldim=\"2\" name=\"" << name << "\">" << values.str() << "</matrix>\n";
      out_ << "        <property name=\"" << key << "\" ref=\"" << name << "\"/>\n";
    }
    for (const auto& [key, value] : all.constants)
      out_ << "        <constant name=\"" << key << "\" value=\"" << precise(value) << "\"/>\n        <property name=\""
           << key << "\" ref=\"" << key << "\"/>\n";
  }

  static std::string precise(double value) {
    std::ostringstream text;
    text.precision(15);
    text << value;
    return text.str();
  }

  void materials() {
    out_ << "  <library_materials>\n";
    for (const Material& material : detector_.materials) {
      out_ << "    <material id=\"" << id(material.name) << "\">\n      <instance_effect url=\"#"
           << id(material.name + "_fx_") << "\"/>\n      <extra>\n";
      properties(material.properties);
      out_ << "      </extra>\n    </material>\n";
    }
    out_ << "  </library_materials>\n\n";
  }

  void nodes() {
    out_ << "  <library_nodes>\n";
    for (const Volume& volume : detector_.volumes) {
      out_ << "    <node id=\"" << id(volume.name) << "\">\n      <instance_geometry url=\"#"
           << id(volume.name + "_box")
           << "\">\n        <bind_material>\n          <technique_common>\n            <instance_material "
              "symbol=\"WHITE\" target=\"#"
           << id(volume.material)
           << "\"/>\n          </technique_common>\n        </bind_material>\n      </instance_geometry>\n";
      for (const Placement& one : volume.daughters)
        out_ << "      <node id=\"" << id(one.name) << "\">\n        <matrix>\n\t\t\t\t1 0 0 " << one.at[0]
             << "\n0 1 0 " << one.at[1] << "\n0 0 1 " << one.at[2]
             << "\n0.0 0.0 0.0 1.0\n</matrix>\n        <instance_node url=\"#" << id(one.volume)
             << "\"/>\n        <extra>\n          <meta id=\"" << marked(one.name) << "\">\n            <copyNo>"
             << one.copy
             << "</copyNo>\n            <ModuleName/>\n          </meta>\n        </extra>\n      </node>\n";
      out_ << "    </node>\n";
    }
    if (!detector_.surfaces.empty()) surfaces();
    out_ << "  </library_nodes>\n\n";
  }

  void surfaces() {
    out_ << "    <extra>\n";
    for (const Surface& surface : detector_.surfaces) {
      out_ << "      <opticalsurface finish=\"" << surface.finish << "\" model=\"" << surface.model << "\" name=\""
           << encoded(surface.name) << "\" type=\"" << surface.type << "\" value=\"" << precise(surface.value)
           << "\">\n";
      properties(surface.properties);
      out_ << "      </opticalsurface>\n";
    }
    for (const Skin& skin : detector_.skins)
      out_ << "      <skinsurface name=\"" << encoded(skin.name) << "\" surfaceproperty=\"" << encoded(skin.surface)
           << "\">\n        <volumeref ref=\"" << id(skin.volume) << "\"/>\n      </skinsurface>\n";
    for (const Border& border : detector_.borders)
      out_ << "      <bordersurface name=\"" << encoded(border.name) << "\" surfaceproperty=\""
           << encoded(border.surface) << "\">\n        <physvolref ref=\"" << id(border.from)
           << "\"/>\n        <physvolref ref=\"" << id(border.to) << "\"/>\n      </bordersurface>\n";
    out_ << "      <meta>\n";
    for (const Border& border : detector_.borders) {
      out_ << "        <bsurf name=\"" << encoded(border.name) << "\" surfaceproperty=\"" << encoded(border.surface)
           << "\">\n";
      for (const auto& [name, copy] : {std::pair(border.from, border.copy_from), {border.to, border.copy_to}})
        out_ << "          <pv copyNo=\"" << copy << "\" name=\"" << encoded(name) << "\" ref=\"" << id(name)
             << "\"/>\n";
      out_ << "        </bsurf>\n";
    }
    out_ << "      </meta>\n    </extra>\n";
  }

  const Detector& detector_;
  std::ostringstream out_;
};

inline std::string write(const Detector& detector) {
  return Writer(detector).text();
}

}  // namespace raylift::test::g4dae
