// SPDX-License-Identifier: Apache-2.0
#include "meshes/smooth_normals.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace raylift::viewer {

std::uint32_t pack_normal(const Eigen::Vector3f& normal) {
  const float sum = normal.cwiseAbs().sum();
  float x = normal.x() / sum;
  float y = normal.y() / sum;
  if (normal.z() < 0) {
    const float folded = (1 - std::abs(y)) * (x >= 0 ? 1.0F : -1.0F);
    y = (1 - std::abs(x)) * (y >= 0 ? 1.0F : -1.0F);
    x = folded;
  }
  const auto bits = [](float value) {
    return static_cast<std::uint32_t>(
        static_cast<std::uint16_t>(static_cast<std::int16_t>(std::lround(std::clamp(value, -1.0F, 1.0F) * 32767.0F))));
  };
  return bits(y) << 16 | bits(x);
}

Eigen::Vector3f unpack_normal(std::uint32_t packed) {
  const auto number = [](std::uint32_t bits) {
    return static_cast<float>(static_cast<std::int16_t>(static_cast<std::uint16_t>(bits & 0xFFFFU))) / 32767.0F;
  };
  Eigen::Vector3f normal(number(packed), number(packed >> 16), 0);
  normal.z() = 1 - std::abs(normal.x()) - std::abs(normal.y());
  if (normal.z() < 0) {
    const float x = (1 - std::abs(normal.y())) * (normal.x() >= 0 ? 1.0F : -1.0F);
    normal.y() = (1 - std::abs(normal.x())) * (normal.y() >= 0 ? 1.0F : -1.0F);
    normal.x() = x;
  }
  return normal.normalized();
}

namespace {

constexpr float kCrease = 0.80F;  // cosine: faces that meet at more than 37 degrees don't blend
constexpr float kFlat = 0.9999F;  // less than a degree apart: one plane
constexpr std::size_t kFan = 48;  // a vertex with this many faces is a pole, or the centre of a lid

struct Face {
  Eigen::Vector3f normal;
  float area;
};

/// The normal of a vertex: the mean over those of its faces that meet smoothly.
Eigen::Vector3f vertex_normal(std::span<const Face> faces) {
  Eigen::Vector3f all = Eigen::Vector3f::Zero();
  for (const Face& face : faces) all += face.area * face.normal;
  if (faces.size() > kFan) return all;
  // The face with the largest area of smoothly curved neighbours decides. Coplanar faces, itself included, count
  // little.
  const Face* best = nullptr;
  float best_score = -1;
  for (const Face& face : faces) {
    float score = 0;
    for (const Face& other : faces) {
      const float cosine = face.normal.dot(other.normal);
      if (cosine > kCrease) score += other.area * (cosine < kFlat ? 1.0F : 1e-3F);
    }
    if (score > best_score) {
      best_score = score;
      best = &face;
    }
  }
  if (best == nullptr) return all;
  Eigen::Vector3f sum = Eigen::Vector3f::Zero();
  for (const Face& face : faces)
    if (best->normal.dot(face.normal) > kCrease) sum += face.area * face.normal;
  return sum;
}

/// Whether the normals of a triangle's vertices fit its own.
bool fits(const std::uint32_t* vertices, const UInt3& triangle, const Eigen::Vector3f& normal) {
  bool all = true;
  for (const std::uint32_t v : {triangle.x, triangle.y, triangle.z})
    all = all && unpack_normal(vertices[v]).dot(normal) > 0.7F;
  return all;
}

void smooth_mesh(const Mesh& mesh, std::uint32_t* vertices, std::uint8_t* smooth) {
  const std::size_t triangles = mesh.triangles.size();
  // The unit may be tiny or large, and its square beyond a float: scale to about 1.
  float largest = 0;
  for (const Float3& v : mesh.vertices) largest = std::max({largest, std::abs(v.x), std::abs(v.y), std::abs(v.z)});
  const float scale = largest > 0 ? 1 / largest : 1;
  const auto point = [&](std::uint32_t i) {
    return Eigen::Vector3f(scale * mesh.vertices[i].x, scale * mesh.vertices[i].y, scale * mesh.vertices[i].z);
  };
  std::vector<Face> faces(triangles);
  std::vector<std::uint32_t> begin(mesh.vertices.size() + 1, 0);
  for (const UInt3& t : mesh.triangles)
    for (const std::uint32_t v : {t.x, t.y, t.z}) ++begin[v + 1];
  for (std::size_t v = 0; v != mesh.vertices.size(); ++v) begin[v + 1] += begin[v];
  std::vector<std::uint32_t> around(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i != triangles; ++i) {
    const UInt3& t = mesh.triangles[i];
    for (const std::uint32_t v : {t.x, t.y, t.z}) around[next[v]++] = static_cast<std::uint32_t>(i);
  }
  constexpr std::size_t kGrain = 4096;
  using Range = tbb::blocked_range<std::size_t>;
  tbb::parallel_for(Range(0, triangles, kGrain), [&](const Range& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      const UInt3& t = mesh.triangles[i];
      const Eigen::Vector3f a = point(t.x);
      const Eigen::Vector3f normal = (point(t.y) - a).cross(point(t.z) - a);
      const float length = normal.norm();
      faces[i] = {length > 0 ? Eigen::Vector3f(normal / length) : Eigen::Vector3f::Zero(), length};
    }
  });
  tbb::parallel_for(Range(0, mesh.vertices.size(), kGrain), [&](const Range& range) {
    std::vector<Face> local;
    for (std::size_t v = range.begin(); v != range.end(); ++v) {
      local.clear();
      for (std::uint32_t k = begin[v]; k != begin[v + 1]; ++k)
        if (faces[around[k]].area > 0) local.push_back(faces[around[k]]);
      const Eigen::Vector3f normal = vertex_normal(local);
      vertices[v] = pack_normal(normal.squaredNorm() > 0 ? normal : Eigen::Vector3f(0, 0, 1));
    }
  });
  tbb::parallel_for(Range(0, triangles, kGrain), [&](const Range& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      const UInt3& t = mesh.triangles[i];
      smooth[i] = fits(vertices, t, faces[i].normal) ? 1 : 0;
    }
  });
}

}  // namespace

SmoothNormals smooth_normals(const Scene& scene, const MeshOffsets& offsets) {
  SmoothNormals result;
  result.vertices.resize(offsets.vertices);
  result.smooth.resize((offsets.triangles + 31) / 32);
  std::vector<std::uint8_t> smooth(offsets.triangles);
  tbb::parallel_for(std::size_t{0}, scene.meshes.size(), [&](std::size_t m) {
    smooth_mesh(scene.meshes[m], result.vertices.data() + offsets.first_vertex[m],
                smooth.data() + offsets.first_triangle[m]);
  });
  for (std::size_t i = 0; i != smooth.size(); ++i) result.smooth[i / 32] |= std::uint32_t{smooth[i]} << i % 32;
  return result;
}

void add_smooth_triangles(const Scene& scene, const MeshOffsets& offsets, std::span<const UInt3> triangles,
                          std::span<const std::uint32_t> meshes, SmoothNormals& normals) {
  std::vector<std::uint8_t> smooth(triangles.size());
  tbb::parallel_for(std::size_t{0}, triangles.size(), [&](std::size_t i) {
    const Mesh& mesh = scene.meshes[meshes[i]];
    const std::uint32_t first = offsets.first_vertex[meshes[i]];
    const UInt3& t = triangles[i];
    const auto point = [&](std::uint32_t v) {
      const Float3& p = mesh.vertices[v - first];
      return Eigen::Vector3d(static_cast<double>(p.x), static_cast<double>(p.y), static_cast<double>(p.z));
    };
    const Eigen::Vector3d normal = (point(t.y) - point(t.x)).cross(point(t.z) - point(t.x)).normalized();
    smooth[i] = fits(normals.vertices.data(), t, normal.cast<float>()) ? 1 : 0;
  });
  normals.smooth.resize((offsets.triangles + triangles.size() + 31) / 32);
  for (std::size_t i = 0; i != smooth.size(); ++i) {
    const std::size_t bit = offsets.triangles + i;
    normals.smooth[bit / 32] |= std::uint32_t{smooth[i]} << bit % 32;
  }
}

}  // namespace raylift::viewer
