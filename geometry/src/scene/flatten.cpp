// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/flatten.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <string>

#include "stage.h"

namespace raylift {
namespace {

using Range = tbb::blocked_range<std::size_t>;
constexpr std::size_t kGrain = 1U << 13;
constexpr std::uint64_t kMax = 0xFFFFFFFEU;
constexpr double kFineEnough = 131072;  // 2^17 mm: floats below are at most 2^-7 mm apart

bool is_finite(const Float3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

/// Whether parts follow each other and cover all triangles, as Mesh::Part promises; a scene made by hand may break
/// that.
bool parts_cover(const Mesh& mesh) {
  std::size_t next = 0;
  for (const Mesh::Part& part : mesh.parts) {
    if (part.first_triangle != next) return false;
    next += part.triangle_count;
  }
  return next == mesh.triangles.size();
}

class Flattener {
 public:
  Flattener(const Scene& scene, const Double3& origin, FlatScene& flat) : scene_(scene), flat_(flat) {
    flat_.origin = origin;
  }

  void run(const Stage& stage) {
    for (const Mesh& mesh : scene_.meshes)
      if (!parts_cover(mesh))
        throw Error(ErrorKind::malformed, "the parts of a mesh don't cover its triangles",
                    {scene_.source, "mesh '" + mesh.name + "'"});
    std::uint64_t vertices = 0;
    std::uint64_t triangles = 0;
    std::vector<std::uint64_t> first_vertex;
    std::vector<std::uint64_t> first_triangle;
    first_vertex.reserve(scene_.instances.size());
    first_triangle.reserve(scene_.instances.size());
    for (const Instance& instance : scene_.instances) {
      first_vertex.push_back(vertices);
      first_triangle.push_back(triangles);
      vertices += scene_.meshes[instance.mesh].vertices.size();
      triangles += scene_.meshes[instance.mesh].triangles.size();
    }
    if (std::max(vertices, triangles) > kMax)
      throw Error(ErrorKind::limit,
                  "flattened, the scene has " + std::to_string(vertices) + " vertices and " +
                      std::to_string(triangles) + " triangles, and 32-bit indices can number " + std::to_string(kMax),
                  {scene_.source, ""}, "keep its instances: do not flatten it");
    flat_.vertices.resize(vertices);
    flat_.triangles.resize(triangles);
    flat_.solid_ids.resize(triangles);
    flat_.material_codes.resize(triangles);
    flat_.colors.resize(triangles);
    detail::for_each_triangle_attribute([&](const auto& attribute) {
      if (detail::has_attribute(scene_, attribute)) (flat_.*attribute.flat).resize(triangles);
    });
    // In slices, so that progress moves and a cancel is heard; large instances are cut further below.
    constexpr std::size_t kSlice = 4096;
    for (std::size_t begin = 0; begin < scene_.instances.size(); begin += kSlice) {
      const std::size_t end = std::min(begin + kSlice, scene_.instances.size());
      tbb::parallel_for(begin, end, [&](std::size_t i) { expand(i, first_vertex[i], first_triangle[i]); });
      if (!finite_) fail_at_first_not_finite(first_vertex);
      stage.advance(end);
    }
  }

 private:
  void expand(std::size_t number, std::uint64_t first_vertex, std::uint64_t first_triangle) {
    const Instance& instance = scene_.instances[number];
    const Mesh& mesh = scene_.meshes[instance.mesh];
    EigenTransform transform = to_eigen(instance.transform);
    transform.translation() -= to_eigen(flat_.origin);
    tbb::parallel_for(Range(0, mesh.vertices.size(), kGrain), [&](const Range& range) {
      bool finite = true;
      for (std::size_t i = range.begin(); i != range.end(); ++i) {
        const Float3& v = mesh.vertices[i];
        const Eigen::Vector3d p = transform * Eigen::Vector3d(v.x, v.y, v.z);
        const Float3 flat{static_cast<float>(p.x()), static_cast<float>(p.y()), static_cast<float>(p.z())};
        finite = finite && is_finite(flat);
        flat_.vertices[first_vertex + i] = flat;
      }
      if (!finite) finite_ = false;
    });
    const bool mirrored = transform.linear().determinant() < 0;
    const auto offset = static_cast<std::uint32_t>(first_vertex);
    for (std::size_t part = 0; part != mesh.parts.size(); ++part) {
      const std::uint32_t material = scene_.material(instance, part);
      const MaterialCode code{MaterialCode::pack(material), MaterialCode::pack(instance.outside)};
      const std::uint32_t color = packed_color(scene_, material);
      const std::size_t begin = mesh.parts[part].first_triangle;
      tbb::parallel_for(Range(begin, begin + mesh.parts[part].triangle_count, kGrain), [&](const Range& range) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          UInt3 t = mesh.triangles[i];
          if (mirrored) std::swap(t.y, t.z);
          const std::size_t at = first_triangle + i;
          flat_.triangles[at] = {t.x + offset, t.y + offset, t.z + offset};
          flat_.solid_ids[at] = static_cast<std::uint32_t>(number);
          flat_.material_codes[at] = code;
          flat_.colors[at] = color;
        }
      });
    }
    detail::for_each_triangle_attribute([&](const auto& attribute) {
      const auto& values = mesh.*attribute.mesh;
      std::copy(values.begin(), values.end(),
                (flat_.*attribute.flat).begin() + static_cast<std::ptrdiff_t>(first_triangle));
    });
  }

  [[noreturn]] void fail_at_first_not_finite(const std::vector<std::uint64_t>& first_vertex) const {
    const auto bad = static_cast<std::uint64_t>(
        std::find_if_not(flat_.vertices.begin(), flat_.vertices.end(), is_finite) - flat_.vertices.begin());
    const auto number = std::upper_bound(first_vertex.begin(), first_vertex.end(), bad) - first_vertex.begin() - 1;
    throw Error(
        ErrorKind::malformed, "a vertex lies beyond the range of a float",
        {scene_.source, "solid '" + scene_.path(scene_.instances[static_cast<std::size_t>(number)]) + "', vertex " +
                            std::to_string(bad - first_vertex[static_cast<std::size_t>(number)])},
        "check the solid's transform, and the unit of the scene");
  }

  const Scene& scene_;
  FlatScene& flat_;
  std::atomic<bool> finite_{true};
};

}  // namespace

Double3 default_origin(const Bounds& bounds) {
  if (bounds.empty()) return {};
  const Eigen::Vector3d low = to_eigen(bounds.min), high = to_eigen(bounds.max);
  const auto reach = [&](const Eigen::Vector3d& from) {
    return std::max((low - from).cwiseAbs().maxCoeff(), (high - from).cwiseAbs().maxCoeff());
  };
  const Eigen::Vector3d zero = Eigen::Vector3d::Zero();
  const Eigen::Vector3d center = (to_eigen(bounds.center()) / 1000).array().round() * 1000;
  return reach(zero) > kFineEnough && reach(center) <= reach(zero) / 2 ? center : zero;
}

std::uint32_t packed_color(const Scene& scene, std::uint32_t material) {
  if (material == kNone) return 0x33FFFFFFU;
  const std::array<float, 4>& rgba = scene.materials[material].color;
  const auto byte = [](float value) {
    return static_cast<std::uint32_t>(std::lround(std::clamp(value, 0.0F, 1.0F) * 255));
  };
  return (255 - byte(rgba[3])) << 24 | byte(rgba[0]) << 16 | byte(rgba[1]) << 8 | byte(rgba[2]);
}

void check_material_count(const Scene& scene) {
  if (scene.materials.size() > MaterialCode::none)
    throw Error(ErrorKind::limit,
                "the scene has " + std::to_string(scene.materials.size()) +
                    " materials, and material codes can number " + std::to_string(MaterialCode::none),
                {scene.source, ""}, "merge materials before exporting");
}

FlatScene flatten(const Scene& scene, const Double3& origin, const Progress& progress) {
  check_material_count(scene);
  const Stage stage(progress, "flatten", scene.instances.size());
  try {
    FlatScene flat;
    Flattener(scene, origin, flat).run(stage);
    return flat;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_host_memory,
                "no memory to flatten " + std::to_string(scene.expanded_triangles()) + " triangles", {scene.source, ""},
                "keep the scene's instances: do not flatten it");
  }
}

FlatScene flatten(const Scene& scene, const Progress& progress) {
  return flatten(scene, default_origin(scene.bounds), progress);
}

}  // namespace raylift
