// SPDX-License-Identifier: Apache-2.0
// Closed shapes with long, thin and flat triangles, and rays that start inside of them. For tests and benchmarks.
//
// Each shape is a model in double, placed by a scale, a rotation and an offset, and only then rounded to float. A
// placement enlarges a model whose details the floats there don't resolve, so the rounded shape stays closed, and no
// two of its faces cross.
#pragma once

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "conversions.h"
#include "triangles_and_rays.h"

namespace raylift::test {

using Eigen::Vector3d;

/// A closed shape in double, around the origin; normals point outward.
struct ShapeModel {
  std::string name;
  std::vector<Vector3d> vertices{};
  std::vector<UInt3> triangles{};
  Vector3d axis{0, 0, 1};  ///< along which the shape is longest, or flattest
  double feature = 1;      ///< the least length that must be resolved
  bool convex = true;      ///< up to rounding
};

/// Where a model goes. The rotation is about a random axis; 0: none.
struct ShapePlacement {
  double scale = 1;
  Vector3d offset{0, 0, 0};
  std::uint32_t turn = 0;
  bool noise = false;  ///< keeps coordinates that are zero but for rounding, as a cosine of pi / 2 is
};

/// A model as floats.
struct ClosedShape {
  std::string name;
  Triangles mesh;
  Vector3d axis;
  Vector3d center;  ///< about the middle
  bool convex;
};

/// The step of floats at a magnitude.
inline double float_step(double magnitude) {
  const auto f = static_cast<float>(std::abs(magnitude));
  return static_cast<double>(std::nextafter(f, std::numeric_limits<float>::infinity())) - static_cast<double>(f);
}

namespace shapes {

/// A prism over a regular polygon, along z; both ends are fans around their middle. 4 * sides triangles.
inline ShapeModel prism(std::string name, std::uint32_t sides, double radius, double length) {
  ShapeModel model{std::move(name)};
  for (const double z : {-0.5 * length, 0.5 * length})
    for (std::uint32_t i = 0; i < sides; ++i) {
      const double phi = 2 * std::numbers::pi * i / sides;
      model.vertices.push_back({radius * std::cos(phi), radius * std::sin(phi), z});
    }
  const std::uint32_t low = 2 * sides, high = low + 1;
  model.vertices.push_back({0, 0, -0.5 * length});
  model.vertices.push_back({0, 0, 0.5 * length});
  for (std::uint32_t i = 0; i < sides; ++i) {
    const std::uint32_t j = (i + 1) % sides;
    model.triangles.insert(model.triangles.end(),
                           {{i, j, sides + j}, {i, sides + j, sides + i}, {low, j, i}, {high, sides + i, sides + j}});
  }
  model.feature = std::min(2 * radius * std::sin(std::numbers::pi / sides), length);
  return model;
}

/// Two cones base to base, along z; the lower one may have no height.
inline ShapeModel cone(std::string name, std::uint32_t sides, double radius, double above, double below) {
  ShapeModel model{std::move(name)};
  for (std::uint32_t i = 0; i < sides; ++i) {
    const double phi = 2 * std::numbers::pi * i / sides;
    model.vertices.push_back({radius * std::cos(phi), radius * std::sin(phi), 0});
  }
  model.vertices.push_back({0, 0, above});
  model.vertices.push_back({0, 0, -below});
  for (std::uint32_t i = 0; i < sides; ++i) {
    const std::uint32_t j = (i + 1) % sides;
    model.triangles.push_back({i, j, sides});
    model.triangles.push_back({j, i, sides + 1});
  }
  model.feature = std::min(2 * radius * std::sin(std::numbers::pi / sides), above + below);
  // A flat bicone's facets differ by an angle of about 2 height / radius * sin(pi / sides); a steep one's like a
  // prism's.
  if (above + below < radius) model.feature *= 0.25;
  return model;
}

/// A box of twelve triangles.
inline ShapeModel box(std::string name, double x, double y, double z) {
  ShapeModel model{std::move(name)};
  for (int k = 0; k < 8; ++k)
    model.vertices.push_back({k & 1 ? 0.5 * x : -0.5 * x, k & 2 ? 0.5 * y : -0.5 * y, k & 4 ? 0.5 * z : -0.5 * z});
  model.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                     {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  model.feature = std::min({x, y, z});
  return model;
}

/// A cube of edge 2 whose faces are fans from a point near the middle of an edge: one triangle of each is nearly
/// collinear, of height `gap`.
inline ShapeModel caps(std::string name, double gap) {
  ShapeModel model = box(std::move(name), 2, 2, 2);
  model.triangles.clear();
  // Corners of the faces, counterclockwise from outside.
  const std::uint32_t faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (const auto& face : faces) {
    const auto corner = [&](int k) -> const Vector3d& { return model.vertices[face[k]]; };
    const Vector3d inward = (corner(2) - corner(1)).normalized();
    const Vector3d point = 0.5 * (corner(0) + corner(1)) + gap * inward;
    const auto apex = static_cast<std::uint32_t>(model.vertices.size());
    model.vertices.push_back(point);
    for (int k = 0; k < 4; ++k) model.triangles.push_back({face[k], face[(k + 1) % 4], apex});
  }
  model.feature = gap;
  return model;
}

/// A box whose upper and lower face are cut into strips along x.
inline ShapeModel strips(std::string name, std::uint32_t count, double x, double y, double z) {
  ShapeModel model{std::move(name)};
  for (std::uint32_t i = 0; i <= count; ++i)
    for (int k = 0; k < 4; ++k)
      model.vertices.push_back({k & 1 ? 0.5 * x : -0.5 * x, y * (double(i) / count - 0.5), k & 2 ? 0.5 * z : -0.5 * z});
  const auto quad = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    model.triangles.push_back({a, b, c});
    model.triangles.push_back({a, c, d});
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t a = 4 * i, b = a + 4;
    quad(a, b, b + 1, a + 1);          // below
    quad(a + 2, a + 3, b + 3, b + 2);  // above
    quad(a, a + 2, b + 2, b);          // -x
    quad(a + 1, b + 1, b + 3, a + 3);  // +x
  }
  const std::uint32_t e = 4 * count;
  quad(0, 1, 3, 2);
  quad(e, e + 2, e + 3, e + 1);
  model.axis = {1, 0, 0};
  model.feature = std::min({x, y / count, z});
  return model;
}

/// A wedge: a prism along y over the triangle (0, 0), (length, 0), (length, height).
inline ShapeModel wedge(std::string name, double length, double width, double height) {
  ShapeModel model{std::move(name)};
  for (const double y : {-0.5 * width, 0.5 * width}) {
    model.vertices.push_back({-0.5 * length, y, 0});
    model.vertices.push_back({0.5 * length, y, 0});
    model.vertices.push_back({0.5 * length, y, height});
  }
  model.triangles = {{0, 1, 2}, {3, 5, 4}, {0, 3, 4}, {0, 4, 1}, {1, 4, 5}, {1, 5, 2}, {0, 2, 5}, {0, 5, 3}};
  model.axis = {1, 0, 0};
  model.feature = height;
  return model;
}

/// A tetrahedron with one edge of `length` along x and the opposite one of `thickness` across its middle.
inline ShapeModel tetrahedron(std::string name, double length, double thickness) {
  ShapeModel model{std::move(name)};
  const double w = 0.5 * thickness;
  model.vertices = {{-0.5 * length, -w, -w}, {0.5 * length, -w, -w}, {0.1 * length, 2 * w, -w}, {0, 0, 2 * w}};
  model.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  model.axis = {1, 0, 0};
  model.feature = 0.5 * thickness;
  return model;
}

/// A longitude-latitude sphere of `rings` and `sides`, whose first and last ring lie at the angle `cap` from the poles.
inline ShapeModel sphere(std::string name, std::uint32_t rings, std::uint32_t sides, double radius, double cap) {
  ShapeModel model{std::move(name)};
  const double pi = std::numbers::pi;
  for (std::uint32_t i = 0; i < rings; ++i) {
    // Angles from the nearer pole grow geometrically.
    const double nearer = std::min(i, rings - 1 - i), half = 0.5 * (rings - 1);
    const double angle = cap * std::pow(0.5 * pi / cap, nearer / half);
    const double theta = 2 * i < rings ? angle : pi - angle;
    for (std::uint32_t j = 0; j < sides; ++j) {
      const double phi = 2 * pi * j / sides;
      model.vertices.push_back({radius * std::sin(theta) * std::cos(phi), radius * std::sin(theta) * std::sin(phi),
                                radius * std::cos(theta)});
    }
  }
  const std::uint32_t north = rings * sides, south = north + 1;
  model.vertices.push_back({0, 0, radius});
  model.vertices.push_back({0, 0, -radius});
  for (std::uint32_t j = 0; j < sides; ++j) {
    const std::uint32_t k = (j + 1) % sides, last = (rings - 1) * sides;
    model.triangles.push_back({north, j, k});
    model.triangles.push_back({south, last + k, last + j});
    for (std::uint32_t i = 0; i + 1 < rings; ++i) {
      const std::uint32_t a = i * sides, b = a + sides;
      model.triangles.push_back({a + j, b + j, b + k});
      model.triangles.push_back({a + j, b + k, a + k});
    }
  }
  model.feature = 2 * radius * std::sin(cap) * std::sin(pi / sides);
  return model;
}

/// A torus about z. Not convex.
inline ShapeModel torus(std::string name, std::uint32_t around, std::uint32_t sides, double radius, double tube) {
  ShapeModel model{std::move(name)};
  const double pi = std::numbers::pi;
  for (std::uint32_t i = 0; i < around; ++i)
    for (std::uint32_t j = 0; j < sides; ++j) {
      const double phi = 2 * pi * i / around, psi = 2 * pi * j / sides, r = radius + tube * std::cos(psi);
      model.vertices.push_back({r * std::cos(phi), r * std::sin(phi), tube * std::sin(psi)});
    }
  for (std::uint32_t i = 0; i < around; ++i)
    for (std::uint32_t j = 0; j < sides; ++j) {
      const std::uint32_t a = i * sides, b = (i + 1) % around * sides, k = (j + 1) % sides;
      model.triangles.push_back({a + j, b + j, b + k});
      model.triangles.push_back({a + j, b + k, a + k});
    }
  model.feature = std::min(2 * tube * std::sin(pi / sides), 2 * radius * std::sin(pi / around));
  model.convex = false;
  return model;
}

}  // namespace shapes

/// The zoo. Lengths are millimetres; the ratio of a shape's extent to its thickness goes from 1 to 10^6.
inline std::vector<ShapeModel> shape_zoo() {
  return {
      shapes::box("cube", 2, 2, 2),
      shapes::prism("fibre", 32, 0.5, 2000),        // a scintillating fibre
      shapes::prism("wire", 32, 0.0125, 3000),      // of a drift chamber
      shapes::prism("rod", 64, 5, 2000),            // a rod
      shapes::prism("hair", 3, 0.0005, 500),        // 10^6
      shapes::prism("coin", 64, 500, 0.02),         // flat, its ends fans of slivers
      shapes::cone("spike", 64, 0.5, 2000, 1),      // an apex of slivers
      shapes::cone("spindle", 16, 0.01, 500, 500),  // two
      shapes::cone("lens", 32, 500, 1, 1),          // flat
      shapes::box("plate", 1000, 1000, 0.001),      // 10^6
      shapes::box("foil", 300, 2, 0.001),           //
      shapes::strips("strips", 40, 400, 4, 1),      // faces of strips 4000 times as long as wide
      shapes::wedge("wedge", 1000, 100, 0.01),      // a dihedral angle of 10^-5
      shapes::tetrahedron("sliver", 1000, 0.001),   // 10^6
      shapes::tetrahedron("flat", 10, 0.001),       //
      shapes::caps("caps", 1e-3),                   // nearly collinear corners
      shapes::caps("fine caps", 1e-5),              //
      shapes::sphere("poles", 12, 24, 100, 1e-3),   // slivers at both poles
      shapes::torus("torus", 48, 12, 100, 10),      //
      shapes::torus("ring", 64, 6, 500, 0.05),      // 10^4
  };
}

/// Rounds a model to float where the placement puts it. Enlarges it until 16 steps of the floats there resolve its
/// details.
inline ClosedShape place(const ShapeModel& model, const ShapePlacement& placement = {}) {
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  if (placement.turn != 0) {
    std::mt19937 random(placement.turn);
    std::normal_distribution<double> normal;
    const double w = normal(random), x = normal(random), y = normal(random), z = normal(random);
    rotation = Eigen::Quaterniond(w, x, y, z).normalized().toRotationMatrix();
  }
  ClosedShape shape{model.name, {{}, model.triangles}, rotation * model.axis, placement.offset, model.convex};
  // A shape along the axes keeps most of its coordinates equal, so only the offset matters.
  double scale = placement.scale;
  const auto largest = [&] {
    double all = placement.offset.cwiseAbs().maxCoeff();
    if (placement.turn != 0)
      for (const Vector3d& v : model.vertices)
        all = std::max(all, (scale * rotation * v + placement.offset).cwiseAbs().maxCoeff());
    return all;
  };
  while (scale * model.feature < 16 * float_step(largest())) scale *= 1.25;
  Vector3d sum = Vector3d::Zero();
  for (const Vector3d& v : model.vertices) {
    Vector3d local = v;
    for (int a = 0; a < 3 && !placement.noise; ++a)
      if (std::abs(v[a]) < 1e-9 * model.feature) local[a] = 0;
    const Vector3d point = scale * rotation * local + placement.offset;
    shape.mesh.vertices.push_back(to_float(point));
    sum += to_double(shape.mesh.vertices.back());
  }
  shape.center = sum / static_cast<double>(model.vertices.size());
  return shape;
}

}  // namespace raylift::test
