// SPDX-License-Identifier: Apache-2.0
#include "media_scenes.h"

#include <raylift/geometry/detail/arithmetic.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include "detector.h"

namespace raylift::bench {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using std::numbers::pi;

/// How a box's faces are cut into triangles: into `cells` x `cells` squares, and these along one diagonal or the other.
struct Cut {
  std::uint32_t cells = 1;
  bool other_diagonal = false;
};

/// Boxes with adjacent numbers differ in both.
Cut cut_of(std::size_t i) {
  return {i % 3 == 1 ? 3U : i % 3 == 2 ? 2U : 1U, i % 2 == 1};
}

void add_vertex(Mesh& mesh, const Vector3d& v) {
  const auto x = arithmetic_detail::split(v.x()), y = arithmetic_detail::split(v.y()),
             z = arithmetic_detail::split(v.z());
  mesh.vertices.push_back({x.high, y.high, z.high});
  mesh.rests.push_back({x.low, y.low, z.low});
}

/// Coordinates -half to half; points that faces share are the same point.
Mesh box_mesh(const Vector3d& half, const Cut& cut) {
  Mesh mesh;
  std::map<std::array<std::uint32_t, 3>, std::uint32_t> numbers;
  const std::uint32_t n = cut.cells;
  const auto at = [&](const std::array<std::uint32_t, 3>& grid) {
    const auto [place, added] = numbers.try_emplace(grid, static_cast<std::uint32_t>(mesh.vertices.size()));
    if (added) {
      Vector3d p;
      for (int a = 0; a != 3; ++a) p[a] = grid[a] == n ? half[a] : half[a] * (2.0 * grid[a] / n - 1);
      add_vertex(mesh, p);
    }
    return place->second;
  };
  for (std::uint32_t axis = 0; axis != 3; ++axis)
    for (const bool upper : {false, true})
      for (std::uint32_t i = 0; i != n; ++i)
        for (std::uint32_t j = 0; j != n; ++j) {
          const auto corner = [&](std::uint32_t u, std::uint32_t v) {
            std::array<std::uint32_t, 3> grid{};
            grid[axis] = upper ? n : 0;
            grid[(axis + 1) % 3] = u;
            grid[(axis + 2) % 3] = v;
            return at(grid);
          };
          std::array<std::uint32_t, 4> c{corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)};
          if (!upper) std::swap(c[1], c[3]);
          if (cut.other_diagonal) c = {c[1], c[2], c[3], c[0]};
          mesh.triangles.push_back({c[0], c[1], c[2]});
          mesh.triangles.push_back({c[0], c[2], c[3]});
        }
  return mesh;
}

Mesh surface_mesh(const detector::Surface& surface) {
  Mesh mesh;
  for (const Vector3d& v : surface.vertices) add_vertex(mesh, v);
  for (const auto& t : surface.triangles) mesh.triangles.push_back({t[0], t[1], t[2]});
  return mesh;
}

Mesh sphere_mesh(double radius, std::uint32_t segments) {
  std::vector<std::pair<double, double>> profile;
  const std::uint32_t rings = segments / 2;
  for (std::uint32_t i = 1; i != rings; ++i) {
    const double angle = pi * i / rings;
    profile.emplace_back(radius * std::sin(angle), -radius * std::cos(angle));
  }
  return surface_mesh(detector::revolve(-radius, profile, radius, segments));
}

class Builder {
 public:
  /// `frame` places the whole scene.
  explicit Builder(std::string name, const EigenTransform& frame = EigenTransform::Identity()) : frame_(frame) {
    result_.name = std::move(name);
    result_.scene.source = "made by bench/media/media_scenes.cpp";
  }

  std::uint32_t box(std::uint32_t mother, const Vector3d& center, const Vector3d& half,
                    const Matrix3d& turned = Matrix3d::Identity()) {
    const Cut cut = cut_of(result_.solids.size());
    const auto key = std::make_tuple(half.x(), half.y(), half.z(), cut.cells, cut.other_diagonal);
    const auto [place, added] = boxes_.try_emplace(key, static_cast<std::uint32_t>(result_.scene.meshes.size()));
    if (added) add_mesh(box_mesh(half, cut));
    WalkSolid solid{};
    solid.shape = SolidShape::box;
    for (int a = 0; a != 3; ++a) solid.size[a] = half[a];
    return add(mother, place->second, placed(center, turned), solid);
  }
  /// Adds a box by its corners, so that boxes that touch have equal numbers.
  std::uint32_t between(std::uint32_t mother, const Vector3d& low, const Vector3d& high,
                        const Matrix3d& turned = Matrix3d::Identity()) {
    return box(mother, 0.5 * (low + high), 0.5 * turned.cwiseAbs().transpose() * (high - low), turned);
  }

  std::uint32_t sphere(std::uint32_t mother, const Vector3d& center, double radius, std::uint32_t segments,
                       const Matrix3d& turned = Matrix3d::Identity()) {
    add_mesh(sphere_mesh(radius, segments));
    WalkSolid solid{};
    solid.shape = SolidShape::sphere;
    solid.size[0] = radius;
    solid.segments = segments;
    return add(mother, last_mesh(), placed(center, turned), solid);
  }

  std::uint32_t mesh_solid(std::uint32_t mother, std::uint32_t mesh, const EigenTransform& transform) {
    WalkSolid solid{};
    solid.shape = SolidShape::mesh;
    solid.mesh = mesh;
    return add(mother, mesh, transform, solid);
  }
  std::uint32_t add_mesh(Mesh mesh) {
    mesh.name = "mesh_" + std::to_string(result_.scene.meshes.size());
    mesh.parts = {{0, static_cast<std::uint32_t>(mesh.triangles.size())}};
    result_.scene.meshes.push_back(std::move(mesh));
    return last_mesh();
  }

  /// Solids after this one have their vertices in the world, without a transform, every second one.
  void bake_every_second() { bake_ = true; }

  MediaScene finish(const Vector3d& start_center, const Vector3d& start_half) {
    // The box around the start region, as it is turned.
    const Vector3d center = frame_ * start_center, half = frame_.linear().cwiseAbs() * start_half;
    result_.start_min = center - half;
    result_.start_max = center + half;
    result_.scene.bounds = world_bounds(result_.scene);
    return std::move(result_);
  }
  MediaScene overlapping(const Vector3d& start_center, const Vector3d& start_half) {
    result_.consistent = false;
    return finish(start_center, start_half);
  }

 private:
  static EigenTransform placed(const Vector3d& center, const Matrix3d& turned) {
    EigenTransform transform = EigenTransform::Identity();
    transform.linear() = turned;
    transform.translation() = center;
    return transform;
  }
  [[nodiscard]] std::uint32_t last_mesh() const { return static_cast<std::uint32_t>(result_.scene.meshes.size() - 1); }

  std::uint32_t add(std::uint32_t mother, std::uint32_t mesh, const EigenTransform& local, WalkSolid solid) {
    Scene& scene = result_.scene;
    const auto id = static_cast<std::uint32_t>(scene.instances.size());
    const EigenTransform transform = frame_ * local;
    const EigenTransform inverse = transform.inverse();
    for (int k = 0; k != 12; ++k) solid.to_solid[k] = inverse(k / 4, k % 4);
    solid.depth = mother == kNone ? 0 : result_.solids[mother].depth + 1;
    result_.solids.push_back(solid);
    scene.materials.push_back({"m" + std::to_string(id), {}});
    scene.bindings.push_back({id});
    scene.nodes.push_back({"solid_" + std::to_string(id), mother, std::nullopt});
    Instance instance{mesh, id, id, mother, transform};
    if (bake_ && id % 2 == 1) {
      const Mesh& own = scene.meshes[mesh];
      Mesh baked;
      baked.triangles = own.triangles;
      for (std::size_t i = 0; i != own.vertices.size(); ++i)
        add_vertex(baked, transform * (to_eigen(own.vertices[i]) + to_eigen(own.rests[i])));
      instance.mesh = add_mesh(std::move(baked));
      instance.transform = Transform::Identity();
    }
    scene.instances.push_back(instance);
    return id;
  }

  EigenTransform frame_;
  MediaScene result_;
  std::map<std::tuple<double, double, double, std::uint32_t, bool>, std::uint32_t> boxes_;
  bool bake_ = false;
};

EigenTransform moved(const Vector3d& by) {
  EigenTransform frame = EigenTransform::Identity();
  frame.translation() = by;
  return frame;
}

EigenTransform turned_and_moved(const Vector3d& by) {
  EigenTransform frame = moved(by);
  frame.rotate(Eigen::AngleAxisd(0.83, Vector3d(2, -1, 3).normalized()));
  return frame;
}

/// A quarter turn about an axis, without rounding.
Matrix3d quarter_turn(int axis) {
  Matrix3d turn = Matrix3d::Zero();
  turn(axis, axis) = 1;
  turn((axis + 2) % 3, (axis + 1) % 3) = 1;
  turn((axis + 1) % 3, (axis + 2) % 3) = -1;
  return turn;
}

MediaScene spheres(const std::string& name, double distance) {
  Builder b(name, moved(distance * Vector3d(1, -0.6, 0.3)));
  b.bake_every_second();
  const std::uint32_t world = b.box(kNone, {0, 0, 0}, {1500, 1500, 1500});
  const auto turn = [](double angle) {
    return Eigen::AngleAxisd(angle, Vector3d(1, 2, -1).normalized()).toRotationMatrix();
  };
  const std::uint32_t outer = b.sphere(world, {0, 0, 0}, 1000, 200);
  const std::uint32_t shell = b.sphere(outer, {0, 0, 0}, 999, 200, turn(0.4));
  const std::uint32_t middle = b.sphere(shell, {30, -20, 10}, 600, 64, turn(1.1));
  const std::uint32_t small = b.sphere(middle, {-200, 100, 50}, 200, 32, turn(2));
  b.sphere(small, {-190, 90, 60}, 100, 24);
  b.sphere(middle, {250, 0, 0}, 100, 24, turn(0.7));
  return b.finish({0, 0, 0}, {1100, 1100, 1100});
}

MediaScene row_of_boxes() {
  Builder b("boxes in a row");
  const std::uint32_t world = b.box(kNone, {0, 0, 0}, {1000, 800, 800});
  b.bake_every_second();
  for (int i = 0; i != 7; ++i) {
    const Matrix3d turn = i % 2 == 0 ? Matrix3d(Matrix3d::Identity()) : quarter_turn(i % 3);
    b.between(world, {-420.3 + 120.1 * i, -60, -70}, {-420.3 + 120.1 * (i + 1), 60, 70}, turn);
  }
  return b.finish({0, 0, 0}, {450, 90, 90});
}

MediaScene block_of_boxes(const std::string& name, const EigenTransform& frame) {
  Builder b(name, frame);
  const std::uint32_t world = b.box(kNone, {0, 0, 0}, {700, 700, 700});
  for (int i = 0; i != 27; ++i) {
    const Vector3d low(i % 3, i / 3 % 3, i / 9);
    const Matrix3d turn = i % 4 == 3 ? Matrix3d(Matrix3d::Identity()) : quarter_turn(i % 4);
    b.between(world, 100.7 * (low - Vector3d(1.5, 1.5, 1.5)), 100.7 * (low - Vector3d(0.5, 0.5, 0.5)), turn);
  }
  return b.finish({0, 0, 0}, {200, 200, 200});
}

MediaScene flush_daughters(const std::string& name, const EigenTransform& frame) {
  Builder b(name, frame);
  const std::uint32_t world = b.between(kNone, {-600, -500, -400}, {600.3, 500.1, 400.7});
  const Vector3d low(-200.3, -150.1, -100.7), high(200.3, 150.1, 100.7);
  const std::uint32_t mother = b.between(world, low, high);
  b.between(mother, {100, -40, -30}, {high.x(), 40, 30});                 // one face
  b.between(mother, {-50, 60, -80}, {50, high.y(), high.z()});            // two
  const std::uint32_t corner = b.between(mother, low, {-120, -70, -20});  // three
  const std::uint32_t inner = b.between(corner, low, {-160, -110, -60});  // and its own daughter
  b.between(inner, {-190, low.y(), -90}, {-170, -130, -70});              // and its own
  b.between(mother, {100, 40, -30}, {high.x(), 80, 30});                  // beside a sibling
  const std::uint32_t sibling = b.between(world, {high.x(), low.y(), low.z()}, {400, high.y(), high.z()});
  b.between(sibling, {high.x(), -40, -30}, {300, 40, 30});  // flush with its mother and its cousin
  const std::uint32_t at_wall = b.between(world, {400, -100, -100}, {600.3, 100, 400.7});  // flush with the world
  b.between(at_wall, {500, 0, 300}, {600.3, 100, 400.7});
  return b.finish({100, 0, 0}, {520, 300, 300});
}

MediaScene foils(const std::string& name, const EigenTransform& frame) {
  Builder b(name, frame);
  const std::uint32_t world = b.box(kNone, {0, 0, 0}, {90, 90, 60});
  const double thickness[] = {20, 0.02, 0.05, 0.2, 0.5, 1, 20};
  double z = -20.3;
  for (const double each : thickness) {
    b.between(world, {-50, -50, z}, {50, 50, z + each});
    z += each;
  }
  return b.finish({0, 0, 0.6}, {52, 52, 3});
}

MediaScene edges_and_corners(const std::string& name, const EigenTransform& frame) {
  Builder b(name, frame);
  const std::uint32_t world = b.box(kNone, {0, 0, 0}, {900, 600, 600});
  // Three boxes that meet in an edge, one of them with its face.
  const Vector3d at(-300.1, 20.3, 7.7);
  b.between(world, at + Vector3d(-100, -80, -150), at + Vector3d(0, 0, 150));
  b.between(world, at + Vector3d(0, -120, -150), at + Vector3d(90, 0, 150));
  b.between(world, at + Vector3d(-70, 0, -150), at + Vector3d(110, 100, 150));
  // Five of eight boxes around a corner, two of them in touch along an edge and two in the corner only.
  const Vector3d corner(300.7, -10.3, 30.1);
  for (const int octant : {0, 3, 5, 6, 7}) {
    const Vector3d side(octant & 1 ? 1 : -1, octant & 2 ? 1 : -1, octant & 4 ? 1 : -1);
    const Vector3d far = corner + side.cwiseProduct(Vector3d(100 + 10 * octant, 110, 120));
    b.between(world, corner.cwiseMin(far), corner.cwiseMax(far));
  }
  return b.finish({0, 0, 20}, {450, 150, 170});
}

MediaScene overlapping_boxes() {
  Builder b("overlaps");
  const std::uint32_t world = b.box(kNone, {0, 0, 0}, {600, 600, 600});
  const std::uint32_t first = b.between(world, {-200, -100, -100}, {50, 100, 100});
  b.between(world, {-50, -110, -90}, {200, 90, 110});
  b.between(first, {-250, -20, -20}, {-100, 20, 20});  // reaches out of its mother
  return b.overlapping({0, 0, 0}, {260, 130, 130});
}

}  // namespace

std::vector<MediaScene> media_scenes() {
  const EigenTransform here = EigenTransform::Identity();
  std::vector<MediaScene> scenes;
  const auto add = [&](std::vector<MediaScene> kind) {
    for (MediaScene& scene : kind) {
      scene.alike = static_cast<int>(kind.size());
      scenes.push_back(std::move(scene));
    }
  };
  add({spheres("spheres", 0)});
  add({spheres("spheres at 5 m", 5000)});
  add({spheres("spheres at 20 m", 20000)});
  add({spheres("spheres at 100 m", 100000)});
  add({row_of_boxes(), block_of_boxes("block", here),
       block_of_boxes("block, turned", turned_and_moved({120, -370, 240}))});
  add({flush_daughters("flush daughters", here),
       flush_daughters("flush, turned", turned_and_moved({1200, 370, -240}))});
  add({foils("foils", here), foils("foils at 1 m", moved({1000, 300.3, -700.1})),
       foils("foils at 1 m, turned", turned_and_moved({1000, 300.3, -700.1}))});
  add({edges_and_corners("edges, corners", here), edges_and_corners("edges, turned", turned_and_moved({0, 0, 0}))});
  add({overlapping_boxes()});
  return scenes;
}

MediaScene detector_scene(std::uint32_t sensors) {
  detector::Parameters parameters;
  parameters.sensors = sensors;
  const detector::Detector detector = detector::make(parameters);
  Builder b("detector");
  const double half = 3 * detector.nested.front().surface.vertices.back().z();
  std::uint32_t mother = b.box(kNone, {0, 0, 0}, {half, half, half}), around_sensors = mother;
  for (std::size_t i = 0; i != detector.nested.size(); ++i) {
    mother = b.mesh_solid(mother, b.add_mesh(surface_mesh(detector.nested[i].surface)), EigenTransform::Identity());
    if (i == detector.sensors_in) around_sensors = mother;
  }
  std::vector<std::uint32_t> meshes;
  for (const detector::Volume& volume : detector.sensor) meshes.push_back(b.add_mesh(surface_mesh(volume.surface)));
  for (const EigenTransform& placement : detector.placements) {
    std::uint32_t outer = around_sensors;
    for (const std::uint32_t mesh : meshes) outer = b.mesh_solid(outer, mesh, placement);
  }
  const double reach = 0.62 * detector.nested[detector.sensors_in].surface.vertices.back().z();
  return b.finish({0, 0, 0}, {reach, reach, reach});
}

double media_tolerance(const MediaScene& scene) {
  return 16 * 0x1p-24 * scene.scene.bounds.reach();
}

}  // namespace raylift::bench
