// SPDX-License-Identifier: Apache-2.0
// COLLADA documents for tests, put together from the parts that a test is about.
#pragma once

#include <string>

namespace raylift::test {

/// The eight corners of a cube from 0 to 1, and its twelve triangles, outward.
inline constexpr const char* kCubePositions = "0 0 0  1 0 0  1 1 0  0 1 0  0 0 1  1 0 1  1 1 1  0 1 1";
inline constexpr const char* kCubeTriangles =
    "0 2 1 0 3 2  4 5 6 4 6 7  0 1 5 0 5 4  1 2 6 1 6 5  2 3 7 2 7 6  3 0 4 3 4 7";

/// <triangles> with positions alone.
inline std::string triangles(const std::string& indices, std::size_t count, const std::string& material = "") {
  return "<triangles count=\"" + std::to_string(count) + "\"" +
         (material.empty() ? "" : " material=\"" + material + "\"") +
         "><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>" + indices + "</p></triangles>";
}

/// A <geometry> of `points` positions and any primitives. Ids inside repeat from geometry to geometry, as exporters'
/// do.
inline std::string geometry(const std::string& id, const std::string& positions, std::size_t points,
                            const std::string& primitives) {
  return "<geometry id=\"" + id + "\" name=\"" + id + "\"><mesh><source id=\"p\"><float_array id=\"a\" count=\"" +
         std::to_string(points * 3) + "\">" + positions +
         "</float_array><technique_common><accessor source=\"#a\" count=\"" + std::to_string(points) +
         "\" stride=\"3\"><param name=\"X\" type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" "
         "type=\"float\"/>"
         "</accessor></technique_common></source><vertices id=\"v\"><input semantic=\"POSITION\" "
         "source=\"#p\"/></vertices>" +
         primitives + "</mesh></geometry>";
}

inline std::string cube(const std::string& id) {
  return geometry(id, kCubePositions, 8, triangles(kCubeTriangles, 12));
}

/// A <node> with transforms or children in `inside`, that instances `geometry` where one is named.
inline std::string node(const std::string& id, const std::string& geometry, const std::string& inside = "") {
  return "<node id=\"" + id + "\" name=\"" + id + "\">" + inside +
         (geometry.empty() ? "" : "<instance_geometry url=\"#" + geometry + "\"/>") + "</node>";
}

/// A whole document. Without an <asset> text it is in metres, Y up.
inline std::string document(const std::string& geometries, const std::string& nodes, const std::string& asset = "",
                            const std::string& libraries = "") {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
         "<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\"><asset>" +
         asset + "</asset>" + libraries + "<library_geometries>" + geometries +
         "</library_geometries><library_visual_scenes><visual_scene id=\"s\">" + nodes +
         "</visual_scene></library_visual_scenes><scene><instance_visual_scene url=\"#s\"/></scene></COLLADA>\n";
}

/// A document that holds one cube, once.
inline std::string cube_document() {
  return document(cube("cube"), node("box", "cube"));
}

/// A square grid of 2 * n * n triangles in one mesh.
inline std::string grid_document(std::size_t n) {
  std::string positions;
  std::string indices;
  for (std::size_t y = 0; y <= n; ++y)
    for (std::size_t x = 0; x <= n; ++x)
      positions += std::to_string(x) + " " + std::to_string(y) + " " + std::to_string((x * 7 + y * 3) % 11) + " ";
  for (std::size_t y = 0; y != n; ++y)
    for (std::size_t x = 0; x != n; ++x) {
      const std::string a = std::to_string(y * (n + 1) + x);
      const std::string b = std::to_string(y * (n + 1) + x + 1);
      const std::string c = std::to_string((y + 1) * (n + 1) + x);
      const std::string d = std::to_string((y + 1) * (n + 1) + x + 1);
      indices += a + " " + b + " " + d + " " + a + " " + d + " " + c + " ";
    }
  return document(geometry("grid", positions, (n + 1) * (n + 1), triangles(indices, 2 * n * n)), node("plane", "grid"));
}

}  // namespace raylift::test
