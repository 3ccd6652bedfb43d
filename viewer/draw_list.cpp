// SPDX-License-Identifier: Apache-2.0
#include "draw_list.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/surface_between.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "feature_edges.h"

namespace raylift::viewer {

std::optional<std::size_t> part_of(const Mesh& mesh, std::uint32_t triangle) {
  for (std::size_t part = 0; part != mesh.parts.size(); ++part)
    if (triangle - mesh.parts[part].first_triangle < mesh.parts[part].triangle_count) return part;
  return std::nullopt;
}

MeshOffsets mesh_offsets(const Scene& scene) {
  MeshOffsets offsets;
  offsets.first_vertex.reserve(scene.meshes.size());
  offsets.first_triangle.reserve(scene.meshes.size());
  for (const Mesh& mesh : scene.meshes) {
    offsets.first_vertex.push_back(static_cast<std::uint32_t>(offsets.vertices));
    offsets.first_triangle.push_back(static_cast<std::uint32_t>(offsets.triangles));
    offsets.vertices += mesh.vertices.size();
    offsets.triangles += mesh.triangles.size();
    // A command's first index has 32 bits too, and a triangle has three indices.
    if (offsets.vertices >= kNone || offsets.triangles >= kNone / 3)
      throw Error(ErrorKind::limit,
                  "the scene has more vertices or triangles than 32-bit indices can address: " +
                      std::to_string(scene.unique_vertices()) + " and " + std::to_string(scene.unique_triangles()),
                  {scene.source, ""}, "split the scene into several files");
  }
  return offsets;
}

// Never inline: at -O3, GCC 12 vectorises the loop in draw_instances in a way that makes every low part 0.
[[gnu::noinline]] std::array<float, 2> split(double value) {
  const auto high = static_cast<float>(value);
  return {high, static_cast<float>(value - static_cast<double>(high))};
}

std::vector<DrawInstance> draw_instances(const Scene& scene) {
  std::vector<DrawInstance> result(scene.instances.size());
  tbb::parallel_for(std::size_t{0}, result.size(), [&](std::size_t i) {
    const Instance& instance = scene.instances[i];
    const Transform& transform = instance.transform;
    DrawInstance& record = result[i];
    for (int row = 0; row < 3; ++row) {
      const auto r = static_cast<std::size_t>(row);
      for (int column = 0; column < 3; ++column)
        record.rows[r][static_cast<std::size_t>(column)] = static_cast<float>(transform.linear()(row, column));
      const auto [high, low] = split(transform.translation()[row]);
      record.rows[r][3] = high;
      record.low[r] = low;
    }
    record.flags = instance.mesh << 1 | (transform.linear().determinant() < 0 ? 1U : 0U);
  });
  return result;
}

std::vector<std::uint32_t> surfaces_of_solids(const Scene& scene) {
  std::vector<std::uint32_t> surfaces;
  if (scene.optics.surfaces.empty()) return surfaces;
  const SolidTree tree = solid_tree(scene);
  for (std::uint32_t solid = 0; solid != tree.size(); ++solid) {
    const SurfaceChoice in = surface_between(scene, tree, tree.mother[solid], solid);
    surfaces.push_back(in.surface != kNone ? in.surface
                                           : surface_between(scene, tree, solid, tree.mother[solid]).surface);
  }
  return surfaces;
}

DrawList draw_list(const Scene& scene, const MeshOffsets& offsets, std::span<const std::uint8_t> looks,
                   std::span<const std::uint32_t> surfaces, Look look) {
  // Instances by mesh, in their own order: a counting sort.
  std::vector<std::uint32_t> begin(scene.meshes.size() + 1, 0);
  const auto is_visible = [&](std::size_t i) {
    const Look own = looks.empty() ? Look::solid : static_cast<Look>(looks[i]);
    return own == look || (own == Look::open && look == Look::solid);
  };
  for (std::size_t i = 0; i != scene.instances.size(); ++i)
    if (is_visible(i)) ++begin[scene.instances[i].mesh + 1];
  for (std::size_t mesh = 0; mesh != scene.meshes.size(); ++mesh) begin[mesh + 1] += begin[mesh];
  std::vector<std::uint32_t> sorted(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i != scene.instances.size(); ++i)
    if (is_visible(i)) sorted[next[scene.instances[i].mesh]++] = static_cast<std::uint32_t>(i);

  DrawList list;
  for (std::size_t m = 0; m != scene.meshes.size(); ++m) {
    const std::span<const std::uint32_t> instances(sorted.data() + begin[m], begin[m + 1] - begin[m]);
    if (instances.empty()) continue;
    const Mesh& mesh = scene.meshes[m];
    for (std::size_t part = 0; part != mesh.parts.size(); ++part) {
      const MeshPart& run = mesh.parts[part];
      if (run.triangle_count == 0) continue;
      const std::uint32_t first = offsets.first_triangle[m] + run.first_triangle;
      list.commands.push_back({run.triangle_count * 3, static_cast<std::uint32_t>(instances.size()), first * 3, 0,
                               static_cast<std::uint32_t>(list.slots.size())});
      for (const std::uint32_t i : instances)
        list.slots.push_back(
            {i, scene.material(scene.instances[i], part), first, surfaces.empty() ? kNone : surfaces[i]});
      list.triangles += std::uint64_t{run.triangle_count} * instances.size();
    }
  }
  return list;
}

LineList line_list(const Scene& scene, const DrawList& list) {
  constexpr std::size_t kMostTriangles = 100000, kMostInstances = 64;
  LineList lines;
  std::uint32_t mesh_before = kNone;
  for (const DrawCommand& command : list.commands) {
    const std::uint32_t m = scene.instances[list.slots[command.base_instance].instance].mesh;
    if (m == mesh_before) continue;  // another part of it
    mesh_before = m;
    if (scene.meshes[m].triangles.size() > kMostTriangles || command.instance_count > kMostInstances) continue;
    const std::vector<Float3> edges = feature_edges(scene.meshes[m]);
    lines.commands.push_back({static_cast<std::uint32_t>(edges.size()), command.instance_count,
                              static_cast<std::uint32_t>(lines.points.size()), command.base_instance});
    lines.points.insert(lines.points.end(), edges.begin(), edges.end());
  }
  return lines;
}

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
      bool fits = true;
      for (const std::uint32_t v : {t.x, t.y, t.z})
        fits = fits && unpack_normal(vertices[v]).dot(faces[i].normal) > 0.7F;
      smooth[i] = fits ? 1 : 0;
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

}  // namespace raylift::viewer
