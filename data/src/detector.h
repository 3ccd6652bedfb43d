// SPDX-License-Identifier: Apache-2.0
// The model of a photon detector: nested liquids in a vessel, and photosensors that look at its centre.
#pragma once

#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <string>
#include <vector>

namespace raylift::detector {

enum class Shape { sphere, cylinder };

struct Parameters {
  Shape shape = Shape::sphere;
  std::uint32_t sensors = 500;
  std::uint32_t segments = 24;  ///< around the axis of a sensor; vessels get four times as many
  bool flat = false;            ///< every sensor as a geometry of its own
  bool normals = false;         ///< write normals, which raylift ignores, as Geant4 does
  std::uint64_t seed = 1;       ///< turns each sensor about its axis by a small random angle
};

/// A closed surface, of revolution about z (rings of vertices between two poles) or a box. Triangles are wound outward.
struct Surface {
  std::vector<Eigen::Vector3d> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;
  /// Radius and z from the bottom pole to the top one, both included; empty where it is a box.
  std::vector<std::pair<double, double>> profile;
};

/// `profile` holds radius and z of each ring, from the bottom pole to the top one, poles excluded.
[[nodiscard]] Surface revolve(double bottom, const std::vector<std::pair<double, double>>& profile, double top,
                              std::uint32_t segments);

/// A sphere around the origin, with its poles on the z axis.
[[nodiscard]] Surface sphere(double radius, std::uint32_t segments);

/// A volume: a solid filled with a material, inside its mother, holding daughters.
struct Volume {
  std::string name;  ///< of the logical volume
  std::string material;
  Surface surface;
};

/// A detector, from the outside in. `nested[0]` lies in the world and `nested[i + 1]` in `nested[i]`, all in one frame.
/// The sensors lie in `nested[sensors_in]`.
struct Detector {
  Volume world;
  std::vector<Volume> nested;
  std::size_t sensors_in = 0;
  /// A sensor: the glass, the vacuum in it, and the photocathode in that, say; each the mother of the next.
  std::vector<Volume> sensor;
  std::vector<EigenTransform> placements;  ///< of sensors, in their mother's frame
};

[[nodiscard]] Detector make(const Parameters& parameters);

/// Triangles of the file (each geometry once), and of the scene (each solid).
struct Counts {
  std::uint64_t unique = 0;
  std::uint64_t expanded = 0;
};
[[nodiscard]] Counts count(const Parameters& parameters);

/// Parameters whose expanded triangles come near `triangles`: more sensors for larger scenes, finer ones for the
/// largest.
[[nodiscard]] Parameters for_triangles(Parameters parameters, std::uint64_t triangles);

}  // namespace raylift::detector
