// SPDX-License-Identifier: Apache-2.0
// Any bytes as what stands in G4DAE's <extra>, up to a form feed in that of a material and behind it in that of the
// nodes: optics that hold together, or an Error.
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/properties.h>
#include <raylift/geometry/optics/surface_between.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "geometry/src/scene/optics_bytes.h"
#include "import/collada/collada.h"
#include "optics/sensors.h"

namespace {

using namespace raylift;

/// World > tank > two sensors; all of one mesh.
std::string document(std::string_view material, std::string_view nodes) {
  const std::string geometry =
      "<instance_geometry url=\"#box\"><bind_material><technique_common><instance_material "
      "symbol=\"WHITE\" target=\"#Water0x12345\"/></technique_common></bind_material></instance_geometry>";
  const auto place = [](const std::string& name, const std::string& volume, const std::string& copy) {
    return "<node id=\"" + name + "\"><instance_node url=\"#" + volume + "\"/><extra><meta><copyNo>" + copy +
           "</copyNo></meta></extra></node>";
  };
  return "<COLLADA version=\"1.4.1\"><library_geometries><geometry id=\"box\"><mesh><source id=\"p\"><float_array "
         "id=\"a\" count=\"9\">0 0 0 1 0 0 0 1 0</float_array><technique_common><accessor source=\"#a\" count=\"3\" "
         "stride=\"3\"><param name=\"X\"/><param name=\"Y\"/><param name=\"Z\"/></accessor></technique_common></source>"
         "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices><triangles material=\"WHITE\" "
         "count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1 2</p></triangles></mesh></geometry>"
         "</library_geometries><library_materials><material id=\"Water0x12345\"><extra>" +
         std::string(material) + "</extra></material></library_materials><library_nodes><node id=\"Sensor0x1\">" +
         geometry + "</node><node id=\"Tank0x2\">" + geometry + place("pv__1", "Sensor0x1", "7") +
         place("pv__2", "Sensor0x1", "8") + "</node><node id=\"World0x3\">" + geometry +
         place("pvTank", "Tank0x2", "0") + "</node><extra>" + std::string(nodes) +
         "</extra></library_nodes><library_visual_scenes><visual_scene id=\"s\"><node id=\"top\"><instance_node "
         "url=\"#World0x3\"/></node></visual_scene></library_visual_scenes><scene><instance_visual_scene "
         "url=\"#s\"/></scene></COLLADA>";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(text.find('\f'), text.size());
  try {
    Scene scene = collada::preflight(document(text.substr(0, cut), text.substr(std::min(cut + 1, text.size()))),
                                     "fuzz.dae", {}, {})
                      .scene;
    if (scene.optics.empty()) return 0;
    detail::add_sensors(scene, true);
    check_optical_properties(scene);
    resolve_optics(scene);
    detail::check_optics(scene, [](const std::string&) { std::abort(); });
    const SolidTree tree = solid_tree(scene);
    for (std::uint32_t from = 0; from != scene.instances.size(); ++from)
      for (std::uint32_t to = 0; to != scene.instances.size(); ++to) (void)surface_between(scene, tree, from, to);
  } catch (const Error&) {
  }
  return 0;
}
