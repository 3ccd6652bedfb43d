// SPDX-License-Identifier: Apache-2.0
// The solids of a GDML file as numbers: lengths in millimetres, angles in radians, as the file states them (GDML gives
// most lengths in full, and some in halves). Each is centred at its origin as Geant4 has it.
#pragma once

#include <raylift/geometry/import/fineness.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/geometry/vector_types.h>

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace raylift::gdml {

/// A part of a turn about z, from `start` on by `delta`; delta >= 2 pi is all of it.
struct Turn {
  double start = 0;
  double delta = 0;
};
struct Point2 {
  double x = 0, y = 0;
};
struct RzPoint {
  double r = 0, z = 0;
};
struct ZPlane {
  double rmin = 0, rmax = 0, z = 0;
};

struct Box {
  double x = 0, y = 0, z = 0;  // full
};
struct Orb {
  double r = 0;
};
struct Sphere {
  double rmin = 0, rmax = 0;
  Turn phi;
  Turn theta;  // from +z; delta >= pi is all of it
};
struct Tube {
  double rmin = 0, rmax = 0, z = 0;  // z is full
  Turn phi;
};
struct CutTube {
  Tube tube;
  Double3 low, high;  // outward normals of the ends, through (0, 0, -z / 2) and (0, 0, z / 2)
};
struct Cone {
  double rmin1 = 0, rmax1 = 0, rmin2 = 0, rmax2 = 0, z = 0;  // 1 at -z / 2; z is full
  Turn phi;
};
struct Torus {
  double rmin = 0, rmax = 0, rtor = 0;
  Turn phi;
};
struct Polycone {
  Turn phi;
  std::vector<ZPlane> planes;
};
struct GenericPolycone {
  Turn phi;
  std::vector<RzPoint> corners;
};
struct Polyhedra {
  Turn phi;
  std::uint32_t sides = 0;
  std::vector<ZPlane> planes;  // radii of the tangent circles
};
struct GenericPolyhedra {
  Turn phi;
  std::uint32_t sides = 0;
  std::vector<RzPoint> corners;  // radii of the corners
};
struct Trd {
  double x1 = 0, x2 = 0, y1 = 0, y2 = 0, z = 0;  // full
};
struct Trap {
  double z = 0, theta = 0, phi = 0;  // lengths are full
  double y1 = 0, x1 = 0, x2 = 0, alpha1 = 0;
  double y2 = 0, x3 = 0, x4 = 0, alpha2 = 0;
};
struct Para {
  double x = 0, y = 0, z = 0;  // full
  double alpha = 0, theta = 0, phi = 0;
};
struct Xtru {
  struct Section {
    double z = 0;
    Point2 offset;
    double scale = 1;
  };
  std::vector<Point2> polygon;
  std::vector<Section> sections;  // in the file's order
};
struct EllipticalTube {
  double dx = 0, dy = 0, dz = 0;  // half
};
struct Ellipsoid {
  double ax = 0, by = 0, cz = 0;  // semi-axes
  double zcut1 = 0, zcut2 = 0;    // both 0: uncut
};
struct EllipticalCone {
  double dx = 0, dy = 0;  // without unit: semi-axes per length below the tip, at z = zmax
  double zmax = 0, zcut = 0;
};
struct Paraboloid {
  double rlo = 0, rhi = 0, dz = 0;  // dz is half
};
struct Hype {
  double rmin = 0, rmax = 0, inst = 0, outst = 0, z = 0;  // z is full
};
struct Arb8 {
  std::array<Point2, 8> corners;  // four at -dz, four at dz
  double dz = 0;                  // half
};
struct Tet {
  std::array<Double3, 4> corners;
};
struct Tessellated {
  std::vector<Double3> vertices;
  std::vector<std::array<std::uint32_t, 4>> facets;  // triangles repeat their last corner
};
struct TwistedBox {
  double twist = 0, x = 0, y = 0, z = 0;  // full
};
struct TwistedTrd {
  double twist = 0, x1 = 0, x2 = 0, y1 = 0, y2 = 0, z = 0;  // full
};
struct TwistedTrap {
  double twist = 0, z = 0, theta = 0, phi = 0;  // lengths are full
  double y1 = 0, x1 = 0, x2 = 0, y2 = 0, x3 = 0, x4 = 0, alpha = 0;
};
struct TwistedTube {
  double twist = 0, inner_r = 0, outer_r = 0, z = 0, phi = 0;  // z is full; phi: the segment's angle
};

/// A solid of the same file, placed.
struct Operand {
  std::uint32_t solid = 0;  // index among the file's solids; they stand before those that use them
  Transform placed;
};
enum class BooleanKind : std::uint8_t { add, subtract, intersect };  // union, subtraction, intersection
struct Boolean {
  BooleanKind kind{};
  Operand first, second;
};
struct MultiUnion {
  std::vector<Operand> parts;
};
/// A scaled or a reflected solid: the same solid, transformed.
struct Transformed {
  Operand of;
};

using Shape =
    std::variant<Box, Orb, Sphere, Tube, CutTube, Cone, Torus, Polycone, GenericPolycone, Polyhedra, GenericPolyhedra,
                 Trd, Trap, Para, Xtru, EllipticalTube, Ellipsoid, EllipticalCone, Paraboloid, Hype, Arb8, Tet,
                 Tessellated, TwistedBox, TwistedTrd, TwistedTrap, TwistedTube, Boolean, MultiUnion, Transformed>;

struct Solid {
  std::string name;
  std::string kind;  // the element's name, for messages: "tube"
  Shape shape;
};

/// A closed surface, wound so that normals point outward.
struct Surface {
  std::vector<Double3> vertices;
  std::vector<UInt3> triangles;
  Mesh::Deviation deviation{};  // of the triangles from the solid
};

using raylift::Fineness;
using Fit = raylift::Fineness::Fit;

}  // namespace raylift::gdml
