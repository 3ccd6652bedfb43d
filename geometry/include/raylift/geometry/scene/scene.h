// SPDX-License-Identifier: Apache-2.0
// A scene on the host: unique meshes, instances that place them, materials by name, and the tree of named nodes.
#pragma once

#include <raylift/geometry/index.h>
#include <raylift/geometry/scene/optics.h>
#include <raylift/geometry/vector_types.h>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace raylift {

/// An axis-aligned box; empty (min > max) until something is added. Lengths in millimetres unless said otherwise.
struct Bounds {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  Double3 min{kInfinity, kInfinity, kInfinity};
  Double3 max{-kInfinity, -kInfinity, -kInfinity};

  [[nodiscard]] bool empty() const { return min.x > max.x || min.y > max.y || min.z > max.z; }
  /// The lengths of its edges; zero if it is empty.
  [[nodiscard]] Double3 size() const {
    return empty() ? Double3{} : Double3{max.x - min.x, max.y - min.y, max.z - min.z};
  }
  /// Zero if it is empty.
  [[nodiscard]] Double3 center() const {
    return empty() ? Double3{} : Double3{0.5 * (min.x + max.x), 0.5 * (min.y + max.y), 0.5 * (min.z + max.z)};
  }
  /// The largest coordinate of its corners, in magnitude; infinite if it is empty.
  [[nodiscard]] double reach() const {
    double largest = 0;
    for (const double coordinate : {min.x, min.y, min.z, max.x, max.y, max.z}) {
      const double magnitude = coordinate < 0 ? -coordinate : coordinate;
      if (magnitude > largest) largest = magnitude;
    }
    return largest;
  }
  void add(const Double3& point) {
    extend(min.x, max.x, point.x, point.x);
    extend(min.y, max.y, point.y, point.y);
    extend(min.z, max.z, point.z, point.z);
  }
  void add(const Bounds& box) {
    extend(min.x, max.x, box.min.x, box.max.x);
    extend(min.y, max.y, box.min.y, box.max.y);
    extend(min.z, max.z, box.min.z, box.max.z);
  }
  [[nodiscard]] bool contains(const Bounds& box) const {
    return box.empty() || (box.min.x >= min.x && box.min.y >= min.y && box.min.z >= min.z &&  //
                           box.max.x <= max.x && box.max.y <= max.y && box.max.z <= max.z);
  }

 private:
  static void extend(double& low, double& high, double from, double to) {
    if (from < low) low = from;
    if (to > high) high = to;
  }
};

/// A bulk material: a name, by which optical tables are found, and a colour for images.
struct Material {
  std::string name;
  std::array<float, 4> color{0.8F, 0.8F, 0.8F, 1.0F};  ///< diffuse RGBA, 0 to 1
};

/// Vertices and triangles, once, in the mesh's own frame and unit, exactly as the file gave them: an
/// Instance's transform brings them to the world.
struct Mesh {
  /// A run of triangles that share a material. Parts follow each other and cover all its triangles.
  struct Part {
    std::uint32_t first_triangle = 0;
    std::uint32_t triangle_count = 0;
  };

  /// How far facets lie from the surface that they stand for, at most, in the mesh's unit. Both are 0 where the facets
  /// are the surface, as in all formats that hold triangles.
  struct Deviation {
    double outward = 0;  ///< beyond the surface, so that the mesh takes space that the solid does not
    double inward = 0;   ///< behind it, so that the mesh lacks space that the solid takes

    bool operator==(const Deviation&) const = default;
  };

  std::string name;
  std::vector<Float3> vertices;
  std::vector<UInt3> triangles;
  std::vector<Part> parts;
  /// What each vertex lacks to the file's numbers, at most half a float step; or empty: nothing is known of it. load()
  /// keeps it for scenes with thin layers.
  std::vector<Float3> rests{};
  /// load() sets it for solids that it tessellates, which are those of GDML.
  Deviation deviation{};
};

/// A node of the file's tree, kept for its name and place in it. A COLLADA node that only instances another one
/// (Geant4's physical volume, which places a logical one) is merged with it into one Node, and keeps its own name.
struct Node {
  std::string name;
  std::uint32_t parent = kNone;             ///< index in Scene::nodes; parents stand before their children
  std::optional<std::int64_t> copy_number;  ///< Geant4's copy number, where the file carries one
  std::uint32_t volume = kNone;             ///< index in Scene::volumes of what it places
};

/// A mesh placed in the world: one solid.
struct Instance {
  std::uint32_t mesh = 0;         ///< index in Scene::meshes
  std::uint32_t node = kNone;     ///< index in Scene::nodes
  std::uint32_t binding = 0;      ///< index in Scene::bindings: the material inside, part by part
  std::uint32_t outside = kNone;  ///< material outside: that of the nearest enclosing node's solid; kNone at the top
  Transform transform;            ///< mesh's frame and unit -> world, millimetres
};

enum class UpAxis : std::uint8_t { x, y, z };

/// What loading found and did. Counts are of unique meshes, not of their instances.
struct LoadReport {
  std::uint64_t degenerate_triangles = 0;  ///< with two equal indices or no area; kept unless asked otherwise
  std::uint64_t dropped_triangles = 0;     ///< by repair or drop_degenerate
  std::uint64_t repaired_vertices = 0;     ///< NaN or infinite vertices that repair took away with their triangles
  std::uint64_t ignored_primitives = 0;    ///< points and lines
  std::uint64_t vertices_before_weld = 0;
  bool faces_checked = false;  ///< the faces that were read are known to be all that the file states (docs/formats.md)
  /// Names of volumes that the file marks as sensitive detectors (GDML: SensDet), ascending. What detects is decided by
  /// the optics: Optics::channels.
  std::vector<std::string> sensitive_volumes;
  std::vector<std::string> warnings;
};

/// A scene on the host. The world keeps the file's axes, and `up_axis` is the one that points up. Only parts of the
/// file that state other axes are rotated.
struct Scene {
  /// Where the unit or the up axis comes from.
  enum class Provenance : std::uint8_t {
    file,        ///< the file states it
    convention,  ///< the format, or G4DAE's optical `<extra>`, implies it
    assumed,     ///< not stated anywhere: the default
    option,      ///< the caller overrode it
  };

  /// A file that was read beside the scene's own: another COLLADA document, materials of an OBJ file, buffers of glTF.
  struct SourceFile {
    std::string path;          ///< relative to the folder of the scene's own, and beneath it
    std::uint64_t bytes = 0;   ///< when it was read
    std::int64_t changed = 0;  ///< nanoseconds from 1970 to the last change (ctime) before it was read
  };

  std::string source;             ///< the path that was loaded
  std::vector<SourceFile> files;  ///< what was read beside it, in the order of their paths
  std::string format;             ///< its display name: "COLLADA", "glTF", ...
  std::string generator;          ///< the program that wrote the file, where it says
  double unit_mm = 1;             ///< millimetres per unit of the file; parts of it may state their own
  Provenance unit_from = Provenance::assumed;
  UpAxis up_axis = UpAxis::y;
  Provenance up_from = Provenance::assumed;

  std::vector<Mesh> meshes;
  std::vector<Material> materials;
  std::vector<std::vector<std::uint32_t>> bindings;  ///< each: a material (or kNone) for every part of a mesh; shared
  std::vector<Node> nodes;
  std::vector<std::string> volumes;  ///< names of COLLADA's nodes that hold a mesh: Geant4's logical volumes
  std::vector<Instance> instances;
  Optics optics;
  Bounds bounds;  ///< of all instances' vertices, exact, millimetres
  LoadReport report;

  /// The solid's name: that of its node, or of its mesh where it has none.
  [[nodiscard]] const std::string& solid_name(const Instance& instance) const;
  /// The name of the logical volume that the solid places; that of its mesh if the file has none.
  [[nodiscard]] const std::string& volume_name(const Instance& instance) const;
  /// Names from the root to the node, each preceded by '/': "/World/Vessel/pmt_17".
  [[nodiscard]] std::string path(const Instance& instance) const;
  /// Geant4's copy number of the solid's node, where the file has one.
  [[nodiscard]] std::optional<std::int64_t> copy_number(const Instance& instance) const;
  /// The material inside part `part` of an instance, or kNone.
  [[nodiscard]] std::uint32_t material(const Instance& instance, std::size_t part) const;

  [[nodiscard]] std::uint64_t unique_vertices() const;
  [[nodiscard]] std::uint64_t unique_triangles() const;
  [[nodiscard]] std::uint64_t expanded_vertices() const;   ///< each instance counted
  [[nodiscard]] std::uint64_t expanded_triangles() const;  ///< each instance counted
};

/// The box of a mesh's vertices in its own frame and unit. Vertices that no triangle uses count too.
[[nodiscard]] Bounds mesh_bounds(const Mesh& mesh);

/// Whether any mesh has `rests`.
[[nodiscard]] bool has_rests(const Scene& scene);

/// The exact box of all instances' vertices in the world, in millimetres. Only instances whose transformed mesh box
/// reaches beyond the box so far are examined vertex by vertex, so many instances cost little.
[[nodiscard]] Bounds world_bounds(const Scene& scene);

}  // namespace raylift
