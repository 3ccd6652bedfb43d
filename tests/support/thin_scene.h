// SPDX-License-Identifier: Apache-2.0
// A film in a large box, as COLLADA, and optics for it.
#pragma once

#include <regex>
#include <sstream>
#include <string>

namespace raylift::test {

/// A box by half its lengths, in mm.
inline std::string collada_box(const std::string& id, double x, double y, double z) {
  std::ostringstream corners;
  corners.precision(17);
  for (int i = 0; i != 8; ++i)
    corners << ((i & 1) != 0 ? x : -x) << ' ' << ((i & 2) != 0 ? y : -y) << ' ' << ((i & 4) != 0 ? z : -z) << ' ';
  std::string text =
      R"(<geometry id="ID" name="ID"><mesh><source id="IDp"><float_array id="IDa" count="24">CORNERS</float_array>
<technique_common><accessor source="#IDa" count="8" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source><vertices id="IDv"><input semantic="POSITION"
source="#IDp"/></vertices><triangles count="12" material="W"><input semantic="VERTEX" source="#IDv" offset="0"/>
<p>0 2 3 0 3 1 4 5 7 4 7 6 0 1 5 0 5 4 2 6 7 2 7 3 0 4 6 0 6 2 1 3 7 1 7 5</p></triangles></mesh></geometry>)";
  text = std::regex_replace(text, std::regex("ID"), id);
  return std::regex_replace(text, std::regex("CORNERS"), corners.str());
}

/// A film of that many mm in a box of 20 m, `films` times side by side.
inline std::string thin_film(double thickness, int films = 1) {
  const std::string node = R"(<node name="filmNUMBER"><translate>PLACE 0 0</translate><instance_geometry url="#f">
<bind_material><technique_common><instance_material symbol="W" target="#Argon"/></technique_common></bind_material>
</instance_geometry></node>)";
  std::string nodes;
  for (int i = 0; i != films; ++i)
    nodes += std::regex_replace(std::regex_replace(node, std::regex("NUMBER"), std::to_string(i)), std::regex("PLACE"),
                                std::to_string(100 * i));
  return R"(<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>
<unit name="mm" meter="0.001"/><up_axis>Z_UP</up_axis></asset><library_effects><effect id="fx"><profile_COMMON>
<technique sid="t"><phong/></technique></profile_COMMON></effect></library_effects><library_materials><material id="Argon">
<instance_effect url="#fx"/></material></library_materials><library_geometries>)" +
         collada_box("f", thickness / 2, 500, 500) + collada_box("w", 10'000, 10'000, 10'000) +
         R"(</library_geometries><library_visual_scenes><visual_scene id="s"><node name="world"><instance_geometry url="#w">
<bind_material><technique_common><instance_material symbol="W" target="#Argon"/></technique_common></bind_material>
</instance_geometry>)" +
         nodes +
         R"(</node></visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>)";
}

inline constexpr const char* kThinOptics = R"({"raylift_optics": 1, "materials": {"*": {
  "RINDEX": {"wavelength_nm": [100, 1000], "values": [1.2, 1.2]},
  "ABSLENGTH": {"wavelength_nm": [100, 1000], "values": [100, 100], "unit": "mm"}}}})";

}  // namespace raylift::test
