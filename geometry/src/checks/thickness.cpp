// SPDX-License-Identifier: Apache-2.0
// Solids of one mesh that differ by a rotation, a mirror and a scale have one shape, which is measured once.
#include <raylift/geometry/checks/thickness.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/flatten.h>
#include <Eigen/QR>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "for_each_mesh.h"
#include "mesh_thickness.h"
#include "stage.h"

namespace raylift {
namespace {

constexpr std::uint64_t kMinRays = 16;  // from each mesh
constexpr double kAlike = 2e-5;         // relative differences of shapes and scales that don't count
constexpr double kPlain = 1e-12;        // those that rounding makes

/// What a transform does to lengths: `linear`, whose columns are about as long as the unit, and then a scale.
struct Stretch {
  Eigen::Matrix3d linear;
  double scale;
};

/// None where numbers are not finite, or all lengths become 0. By Q and R instead of by the square of the matrix: where
/// a box is made a film by a scale of 1e-9, the square would lose its thickness.
std::optional<Stretch> stretch_of(const Transform& transform) {
  const Eigen::Matrix3d matrix = to_eigen(transform).linear();
  const double scale = matrix.norm() / std::sqrt(3.0);
  if (!std::isfinite(scale) || !(scale > 0)) return std::nullopt;
  Eigen::Matrix3d linear =
      Eigen::HouseholderQR<Eigen::Matrix3d>(matrix / scale).matrixQR().triangularView<Eigen::Upper>();
  for (int row = 0; row != 3; ++row)
    if (linear(row, row) < 0) linear.row(row) = -linear.row(row).eval();
  if ((linear - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff() < kPlain) linear.setIdentity();
  return Stretch{linear, scale};
}

std::int64_t logarithm(double length) {
  constexpr double kMin = 1e-300;
  return std::llround(std::log(std::max(length, kMin)) / kAlike);
}

/// A mesh and its shape: each column's length and direction.
using ShapeKey = std::array<std::int64_t, 13>;
ShapeKey key_of(std::uint32_t mesh, const Eigen::Matrix3d& linear) {
  ShapeKey key{mesh};
  std::size_t next = 1;
  for (int column = 0; column != 3; ++column) {
    const double length = linear.col(column).norm();
    key[next++] = logarithm(length);
    for (int row = 0; row != 3; ++row)
      key[next++] = length > 0 ? std::llround(linear(row, column) / length / kAlike) : 0;
  }
  return key;
}

/// Solids of one shape, and the sizes that it has.
struct Placed {
  std::uint32_t mesh = 0;
  Eigen::Matrix3d linear;
  struct Size {
    double scale = 1;
    std::vector<std::uint32_t> solids;
  };
  std::map<std::int64_t, Size> sizes;
  std::uint64_t rays = 0;
  thickness::MeshThickness result;
};

std::vector<Placed> find_shapes(const Scene& scene, ThicknessReport& report) {
  std::vector<Placed> shapes;
  std::map<ShapeKey, std::size_t> known;
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i) {
    const Instance& instance = scene.instances[i];
    if (instance.mesh >= scene.meshes.size())
      throw Error(ErrorKind::usage, "an instance refers to a mesh that the scene does not have",
                  {scene.source, "instance " + std::to_string(i)});
    if (scene.meshes[instance.mesh].triangles.empty()) continue;
    const std::optional<Stretch> stretch = stretch_of(instance.transform);
    if (!stretch) {
      ++report.unmeasured_solids;
      continue;
    }
    const auto [found, fresh] = known.try_emplace(key_of(instance.mesh, stretch->linear), shapes.size());
    if (fresh) shapes.push_back({instance.mesh, stretch->linear, {}, 0, {}});
    Placed::Size& size = shapes[found->second].sizes[logarithm(stretch->scale)];
    if (size.solids.empty()) size.scale = stretch->scale;
    size.solids.push_back(i);
  }
  return shapes;
}

/// Shares the rays: as many as are useful, or a part of that.
void share_rays(const Scene& scene, const ThicknessReport::Options& options, std::vector<Placed>& shapes) {
  double all = 0;
  for (Placed& shape : shapes) {
    shape.rays = thickness::useful_rays(scene.meshes[shape.mesh].triangles.size());
    all += static_cast<double>(shape.rays);
  }
  const double part = static_cast<double>(options.rays) / std::max(all, 1.0);
  if (part >= 1) return;
  for (Placed& shape : shapes)
    shape.rays = std::max(kMinRays, static_cast<std::uint64_t>(part * static_cast<double>(shape.rays)));
}

void measure(const Scene& scene, Placed& shape) {
  const Mesh& mesh = scene.meshes[shape.mesh];
  const auto fail = [&](const std::string& problem, const std::string& element) {
    throw Error(ErrorKind::malformed, problem, {scene.source, "mesh '" + mesh.name + "', " + element});
  };
  thickness::Shape in_double;
  in_double.triangles = mesh.triangles;
  in_double.linear = shape.linear;
  in_double.vertices.reserve(mesh.vertices.size());
  for (std::size_t i = 0; i != mesh.vertices.size(); ++i) {
    in_double.vertices.push_back(to_eigen(mesh.vertices[i]));
    if (!mesh.rests.empty()) in_double.vertices.back() += to_eigen(mesh.rests[i]);
    if (!in_double.vertices.back().allFinite())
      fail("a coordinate is NaN or infinite", "vertex " + std::to_string(in_double.vertices.size() - 1));
  }
  for (std::size_t i = 0; i != mesh.triangles.size(); ++i) {
    const UInt3& t = mesh.triangles[i];
    if (std::max({t.x, t.y, t.z}) >= mesh.vertices.size())
      fail("a vertex index is out of range: the mesh has " + std::to_string(mesh.vertices.size()) + " vertices",
           "triangle " + std::to_string(i));
  }
  shape.result = thickness::measure(in_double, shape.rays);
}

void measure_all(const Scene& scene, std::vector<Placed>& shapes, const Progress& progress) {
  std::uint64_t total = 0;
  for (const Placed& shape : shapes) total += shape.rays;
  const Stage stage(progress, "thickness", total);
  // In slices of about so many triangles: small meshes side by side, large ones on their own.
  constexpr std::size_t kSlice = 1U << 18;
  std::uint64_t done = 0;
  for (std::size_t begin = 0; begin != shapes.size();) {
    std::size_t end = begin;
    for (std::size_t triangles = 0; end != shapes.size(); ++end) {
      triangles += scene.meshes[shapes[end].mesh].triangles.size();
      if (end != begin && triangles > kSlice) break;
    }
    detail::for_each_mesh(begin, end, [&](std::size_t i) { measure(scene, shapes[i]); });
    for (; begin != end; ++begin) done += shapes[begin].rays;
    stage.advance(done);
  }
}

/// The largest coordinate, millimetres.
double reach_of(const Scene& scene) {
  const Bounds bounds = scene.bounds.empty() ? world_bounds(scene) : scene.bounds;
  if (bounds.empty()) return 0;
  const Eigen::Vector3d origin = to_eigen(default_origin(bounds));
  return Bounds{to_eigen(bounds.min) - origin, to_eigen(bounds.max) - origin}.reach();
}

ThicknessReport::Solids finding(const Scene& scene, const Placed& shape, const Placed::Size& size, double step) {
  const auto finding_of = [&](const thickness::Sample& sample) {
    ThicknessReport::Solids found;
    found.solids = size.solids;
    found.thickness = size.scale * sample.thickness;
    found.resolution = std::max(step, size.scale * sample.file_step);
    found.place = to_eigen(scene.instances[size.solids.front()].transform) * sample.place;
    found.rays = shape.rays;
    return found;
  };
  ThicknessReport::Solids thinnest = finding_of(shape.result.thinnest);
  if (!shape.result.coarsest.found()) return thinnest;
  ThicknessReport::Solids coarsest = finding_of(shape.result.coarsest);
  const bool is_coarser = coarsest.thickness * thinnest.resolution < thinnest.thickness * coarsest.resolution;
  return is_coarser && !coarsest.resolved() ? coarsest : thinnest;
}

ThicknessReport measure_scene(const Scene& scene, const ThicknessReport::Options& options, const Progress& progress) {
  ThicknessReport report;
  std::vector<Placed> shapes = find_shapes(scene, report);
  share_rays(scene, options, shapes);
  measure_all(scene, shapes, progress);
  const double step = options.position_step * reach_of(scene);
  for (const Placed& shape : shapes) {
    report.rays += shape.rays;
    for (const auto& [key, size] : shape.sizes) {
      if (!shape.result.thinnest.found()) {
        report.unmeasured_solids += size.solids.size();
        continue;
      }
      report.found.push_back(finding(scene, shape, size, step));
      report.measured_solids += size.solids.size();
      if (!report.found.back().resolved()) report.unresolved_solids += size.solids.size();
    }
  }
  std::sort(report.found.begin(), report.found.end(),
            [](const ThicknessReport::Solids& a, const ThicknessReport::Solids& b) {
              return std::pair(a.thickness, a.solids.front()) < std::pair(b.thickness, b.solids.front());
            });
  return report;
}

}  // namespace

ThicknessReport measure_thickness(const Scene& scene, const ThicknessReport::Options& options,
                                  const Progress& progress) {
  try {
    return measure_scene(scene, options, progress);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_host_memory, "no memory to measure how thick solids are", {scene.source, ""},
                "measure the scene in parts");
  }
}

}  // namespace raylift
