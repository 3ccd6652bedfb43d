// SPDX-License-Identifier: Apache-2.0
// A scene as a file of another format, for programs that read no GDML or that are not for physics.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <string>
#include <vector>

namespace raylift {

/// A file that export_scene() makes.
struct ExportedFile {
  std::string name;
  std::string bytes;
};

/// Makes a file by Assimp's exporters. The ending of `name` says the format: .dae (COLLADA), .glb, .gltf (glTF 2),
/// .obj, .stl or .ply. The file itself is first; those that it refers to (.mtl, .bin) follow, beside it.
///
/// Instances, the tree of nodes with its names, materials and colours are kept where the format has them: COLLADA and
/// glTF have all, OBJ has copies of meshes with their names and materials, STL and PLY have one mesh. Positions are
/// floats, transforms too. A mesh of several materials becomes one of each. COLLADA states millimetres and the scene's
/// up axis; glTF is in metres, y upward; the others state nothing and are in millimetres. Copy numbers are in COLLADA
/// alone. Optics are not written: transfer_optics() gives them to what is read again, and optics_json() writes them.
///
/// Throws Error: usage (another ending), unsupported (Assimp refuses the scene), out_of_host_memory.
[[nodiscard]] std::vector<ExportedFile> export_scene(const Scene& scene, const std::string& name);

/// The endings of export_scene(), without the dot.
[[nodiscard]] const std::vector<std::string>& export_extensions();

}  // namespace raylift
