// SPDX-License-Identifier: Apache-2.0
// The rays that `raylift trace` shoots into a scene, by number: the same ones on any machine and in any order.
#pragma once

#include <raylift/geometry/bvh/ray.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/photon/source.h>

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <optional>

namespace raylift::batch {

enum class RayPattern : std::uint8_t {
  isotropic,  ///< from a ball, in all directions: incoherent
  camera,     ///< through the pixels of an image, row by row: coherent
  surface,    ///< from the scene's surfaces, as reflected light goes
};

/// Points and lengths in millimetres of the scene. What is not given follows from the scene's bounds.
struct RayOptions {
  RayPattern pattern = RayPattern::isotropic;
  std::optional<Eigen::Vector3d> origin;  ///< the ball's centre, by default the scene's; the camera's position
  std::optional<double> radius;           ///< of the ball; by default a quarter of the scene's smallest side
  std::optional<Eigen::Vector3d> target;  ///< what the camera looks at; by default the scene's centre
  double fov_degrees = 40;                ///< vertical
  double near = 0;                        ///< the camera sees nothing nearer
  std::uint32_t width = 1024, height = 768;
  bool outward = false;  ///< from surfaces to the side of their normals, away from the solid
  std::uint64_t seed = 0;

  [[nodiscard]] std::uint64_t pixels() const { return std::uint64_t{width} * height; }
};

/// The ball that isotropic rays start in.
struct Ball {
  Eigen::Vector3d center;
  double radius;
};
[[nodiscard]] Ball ball_of(const RayOptions& options, const Scene& scene);

/// Rays by number, in millimetres from the view's origin, their directions of unit length.
struct RayMaker {
  std::function<Ray(std::uint64_t i)> on_host;  ///< called from several threads; empty: the source makes them,
  photon::Source source;                        ///< on the device
  std::uint64_t seed = 0;
};

/// The scene must stay as long as the maker. `origin` is that of the GeometryView. Camera rays 0 to pixels() - 1 go
/// through the middles of the pixels, row by row from the top; those after them again, at random places in each. Throws
/// Error(usage) where the scene has no surface to start from, or the camera is at the point that it looks at.
[[nodiscard]] RayMaker make_rays(const RayOptions& options, const Scene& scene, const Eigen::Vector3d& origin);

}  // namespace raylift::batch
