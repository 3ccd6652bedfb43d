// SPDX-License-Identifier: Apache-2.0
// Reads each kind of GDML's primitive solids, and refuses dimensions of which no solid can be made.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <utility>

#include "import/gdml/shapes/closed_surface.h"
#include "import/gdml/shapes/polygon.h"
#include "import/gdml/shapes/revolve.h"
#include "import/gdml/shapes/tessellate.h"
#include "solid_element.h"

namespace raylift::gdml {
namespace {

using std::numbers::pi;

Shape read_box(const SolidElement& e) {
  const Box box{e.length("x"), e.length("y"), e.length("z")};
  e.positive({{"x", box.x}, {"y", box.y}, {"z", box.z}});
  return box;
}

Shape read_orb(const SolidElement& e) {
  const Orb orb{e.length("r")};
  e.positive({{"r", orb.r}});
  return orb;
}

Shape read_sphere(const SolidElement& e) {
  Sphere sphere{e.length("rmin"), e.length("rmax"), e.turn(), {e.angle("starttheta"), e.angle("deltatheta")}};
  e.positive({{"rmax", sphere.rmax}, {"deltatheta", sphere.theta.delta}});
  e.not_negative({{"rmin", sphere.rmin}, {"starttheta", sphere.theta.start}});
  e.less({"rmin", sphere.rmin}, {"rmax", sphere.rmax});
  e.less({"starttheta", sphere.theta.start}, {"pi", pi});
  sphere.theta.delta = std::min(sphere.theta.delta, pi - sphere.theta.start);
  return sphere;
}

Tube tube_of(const SolidElement& e) {
  const Tube tube{e.length("rmin"), e.length("rmax"), e.length("z"), e.turn()};
  e.positive({{"rmax", tube.rmax}, {"z", tube.z}});
  e.not_negative({{"rmin", tube.rmin}});
  e.less({"rmin", tube.rmin}, {"rmax", tube.rmax});
  return tube;
}

Shape read_tube(const SolidElement& e) {
  return tube_of(e);
}

/// The least height of a cut tube. Heights are linear in x and y, so it is at a corner, or on the rim in the direction
/// in which they fall.
double least_height(const CutTube& cut) {
  const Tube& tube = cut.tube;
  const double gx = cut.low.x / cut.low.z - cut.high.x / cut.high.z;
  const double gy = cut.low.y / cut.low.z - cut.high.y / cut.high.z;
  double least = tube.z;
  const auto look = [&](double r, double phi) {
    least = std::min(least, tube.z + r * (gx * std::cos(phi) + gy * std::sin(phi)));
  };
  for (const double r : {tube.rmin, tube.rmax})
    for (const double phi : {tube.phi.start, tube.phi.start + tube.phi.delta}) look(r, phi);
  const double down = std::atan2(-gy, -gx);
  const double from_start = std::fmod(std::fmod(down - tube.phi.start, 2 * pi) + 2 * pi, 2 * pi);
  if (is_full(tube.phi) || from_start <= tube.phi.delta) look(tube.rmax, down);
  return least;
}

Shape read_cut_tube(const SolidElement& e) {
  const auto normal = [&](const char* x, const char* y, const char* z) {
    return Double3{e.number(x), e.number(y), e.number(z)};
  };
  const CutTube cut{tube_of(e), normal("lowX", "lowY", "lowZ"), normal("highX", "highY", "highZ")};
  e.less({"lowZ", cut.low.z}, {"0", 0});
  e.less({"0", 0}, {"highZ", cut.high.z});
  if (const double least = least_height(cut); !(least > 0))
    e.fail("the planes of its ends cross within it: where they are nearest, the upper one is " +
           std::to_string(-least) + " mm below the lower one");
  return cut;
}

Shape read_cone(const SolidElement& e) {
  const Cone cone{e.length("rmin1"), e.length("rmax1"), e.length("rmin2"), e.length("rmax2"), e.length("z"), e.turn()};
  e.positive({{"z", cone.z}});
  e.not_negative({{"rmin1", cone.rmin1}, {"rmin2", cone.rmin2}});
  e.at_most({"rmin1", cone.rmin1}, {"rmax1", cone.rmax1});
  e.at_most({"rmin2", cone.rmin2}, {"rmax2", cone.rmax2});
  if (cone.rmin1 == cone.rmax1) e.less({"rmin2", cone.rmin2}, {"rmax2", cone.rmax2});
  return cone;
}

Shape read_torus(const SolidElement& e) {
  const Torus torus{e.length("rmin"), e.length("rmax"), e.length("rtor"), e.turn()};
  e.positive({{"rmax", torus.rmax}});
  e.not_negative({{"rmin", torus.rmin}});
  e.less({"rmin", torus.rmin}, {"rmax", torus.rmax});
  e.less({"rmax", torus.rmax}, {"rtor", torus.rtor});
  return torus;
}

/// A profile may touch itself in points, but neither cross itself nor have no area.
void check_profile(const SolidElement& e, const Polygon& profile) {
  for (const Point2& point : profile) e.not_negative({{"r", point.x}});
  Polygon outline = profile;
  if (signed_area(outline) < 0) std::reverse(outline.begin(), outline.end());
  const std::vector<Polygon> loops = loops_of(outline);
  if (loops.empty()) e.fail("its profile has no area");
  const bool crossed = std::any_of(loops.begin(), loops.end(), [](const Polygon& loop) {
    return signed_area(loop) <= 0 || crosses_itself(loop, Touching::counts);
  });
  if (crossed || crosses_itself(profile, Touching::allowed)) e.fail("its profile in r and z crosses itself");
}

std::vector<ZPlane> planes_of(const SolidElement& e) {
  std::vector<ZPlane> planes;
  for (const pugi::xml_node& node : e.children("zplane", 2)) {
    const ZPlane plane{e.length(node, "rmin"), e.length(node, "rmax"), e.length(node, "z")};
    e.not_negative({{"rmin", plane.rmin}});
    e.at_most({"rmin", plane.rmin}, {"rmax", plane.rmax});
    if (!planes.empty() && planes.back().z == plane.z) {
      e.at_most({"rmin", plane.rmin}, {"rmax of the plane before", planes.back().rmax});
      e.at_most({"rmin of the plane before", planes.back().rmin}, {"rmax", plane.rmax});
    }
    planes.push_back(plane);
  }
  const bool ascends = std::is_sorted(planes.begin(), planes.end(), [](auto& a, auto& b) { return a.z < b.z; });
  const bool descends = std::is_sorted(planes.begin(), planes.end(), [](auto& a, auto& b) { return a.z > b.z; });
  if (!ascends && !descends) e.fail("z of its planes neither ascends nor descends");
  check_profile(e, profile_of(planes));
  return planes;
}

std::vector<RzPoint> corners_in_rz(const SolidElement& e) {
  std::vector<RzPoint> corners;
  for (const pugi::xml_node& node : e.children("rzpoint", 3))
    corners.push_back({e.length(node, "r"), e.length(node, "z")});
  check_profile(e, profile_of(corners));
  return corners;
}

Shape read_polycone(const SolidElement& e) {
  return Polycone{e.turn_or_full(), planes_of(e)};
}

Shape read_generic_polycone(const SolidElement& e) {
  return GenericPolycone{e.turn_or_full(), corners_in_rz(e)};
}

/// Each limit alone would allow 10^8 facets.
void limit_facets(const SolidElement& e, std::uint32_t sides, std::size_t corners) {
  constexpr std::uint64_t kMax = 1'000'000;
  if (std::uint64_t{sides} * corners > kMax)
    e.fail("it has more than " + std::to_string(kMax) + " facets: sides times corners", ErrorKind::limit);
}

Shape read_polyhedra(const SolidElement& e) {
  const Turn turn = e.turn_or_full();
  Polyhedra result{turn, e.sides(turn), planes_of(e)};
  limit_facets(e, result.sides, result.planes.size());
  return result;
}

Shape read_generic_polyhedra(const SolidElement& e) {
  const Turn turn = e.turn_or_full();
  GenericPolyhedra result{turn, e.sides(turn), corners_in_rz(e)};
  limit_facets(e, result.sides, result.corners.size());
  return result;
}

/// A pair of opposite sides may have no length at one end.
void check_pair(const SolidElement& e, const Size& one, const Size& other) {
  e.not_negative({one, other});
  if (one.value == 0) e.positive({other});
}

Shape read_trd(const SolidElement& e) {
  const Trd trd{e.length("x1"), e.length("x2"), e.length("y1"), e.length("y2"), e.length("z")};
  e.positive({{"z", trd.z}});
  check_pair(e, {"x1", trd.x1}, {"x2", trd.x2});
  check_pair(e, {"y1", trd.y1}, {"y2", trd.y2});
  return trd;
}

/// Geant4 refuses a trap of which a side is not plane.
void check_plane_sides(const SolidElement& e, const Trap& trap) {
  const std::array<Point2, 8> c = corners_of(trap);
  for (std::size_t k = 0; k != 4; ++k) {
    const std::size_t next = (k + 1) % 4;
    const Point2 low{c[next].x - c[k].x, c[next].y - c[k].y};
    const Point2 high{c[next + 4].x - c[k + 4].x, c[next + 4].y - c[k + 4].y};
    const double longest = std::max(std::hypot(low.x, low.y), std::hypot(high.x, high.y));
    constexpr double kPlaneMm = 1e-6, kPlaneRelative = 1e-6;
    if (std::abs(low.x * high.y - low.y * high.x) > longest * (kPlaneMm + kPlaneRelative * longest))
      e.fail("a side is not plane: its edges at both ends are not parallel", ErrorKind::malformed,
             "an arb8 may have such sides");
  }
}

Shape read_trap(const SolidElement& e) {
  const Trap trap{e.length("z"),     e.angle("theta"), e.angle("phi"), e.length("y1"), e.length("x1"),   e.length("x2"),
                  e.angle("alpha1"), e.length("y2"),   e.length("x3"), e.length("x4"), e.angle("alpha2")};
  e.positive({{"z", trap.z}});
  check_pair(e, {"y1", trap.y1}, {"y2", trap.y2});
  e.not_negative({{"x1", trap.x1}, {"x2", trap.x2}, {"x3", trap.x3}, {"x4", trap.x4}});
  e.positive({{"the longest of x1 to x4", std::max({trap.x1, trap.x2, trap.x3, trap.x4})}});
  e.below_right_angle({{"theta", trap.theta}, {"alpha1", trap.alpha1}, {"alpha2", trap.alpha2}});
  check_plane_sides(e, trap);
  return trap;
}

Shape read_para(const SolidElement& e) {
  const Para para{e.length("x"), e.length("y"), e.length("z"), e.angle("alpha"), e.angle("theta"), e.angle("phi")};
  e.positive({{"x", para.x}, {"y", para.y}, {"z", para.z}});
  e.below_right_angle({{"alpha", para.alpha}, {"theta", para.theta}});
  return para;
}

Shape read_xtru(const SolidElement& e) {
  Xtru xtru;
  for (const pugi::xml_node& node : e.children("twoDimVertex", 3))
    xtru.polygon.push_back({e.length(node, "x"), e.length(node, "y")});
  const Polygon outline = without_flat_corners(xtru.polygon);
  if (outline.empty()) e.fail("its polygon has no area");
  if (crosses_itself(outline, Touching::counts)) e.fail("its polygon crosses or touches itself");
  for (const pugi::xml_node& node : e.children("section", 2)) {
    const Xtru::Section section{e.length(node, "zPosition"),
                                {e.length(node, "xOffset"), e.length(node, "yOffset")},
                                e.number(node, "scalingFactor")};
    if (!xtru.sections.empty()) e.less({"zPosition", xtru.sections.back().z}, {"zPosition of the next", section.z});
    e.positive({{"scalingFactor", section.scale}});
    xtru.sections.push_back(section);
  }
  return xtru;
}

Shape read_eltube(const SolidElement& e) {
  const EllipticalTube tube{e.length("dx"), e.length("dy"), e.length("dz")};
  e.positive({{"dx", tube.dx}, {"dy", tube.dy}, {"dz", tube.dz}});
  return tube;
}

Shape read_ellipsoid(const SolidElement& e) {
  const Ellipsoid one{e.length("ax"), e.length("by"), e.length("cz"), e.length("zcut1"), e.length("zcut2")};
  e.positive({{"ax", one.ax}, {"by", one.by}, {"cz", one.cz}});
  if (one.zcut1 != 0 || one.zcut2 != 0) {
    e.less({"zcut1", one.zcut1}, {"zcut2", one.zcut2});
    e.less({"zcut1", one.zcut1}, {"cz", one.cz});
    e.less({"-cz", -one.cz}, {"zcut2", one.zcut2});
  }
  return one;
}

Shape read_elcone(const SolidElement& e) {
  const EllipticalCone cone{e.number("dx"), e.number("dy"), e.length("zmax"), e.length("zcut")};
  e.positive({{"dx", cone.dx}, {"dy", cone.dy}, {"zmax", cone.zmax}, {"zcut", cone.zcut}});
  return cone;
}

Shape read_paraboloid(const SolidElement& e) {
  const Paraboloid one{e.length("rlo"), e.length("rhi"), e.length("dz")};
  e.positive({{"dz", one.dz}, {"rhi", one.rhi}});
  e.not_negative({{"rlo", one.rlo}});
  e.less({"rlo", one.rlo}, {"rhi", one.rhi});
  return one;
}

Shape read_hype(const SolidElement& e) {
  const Hype hype{e.length("rmin"), e.length("rmax"), e.angle("inst"), e.angle("outst"), e.length("z")};
  e.positive({{"z", hype.z}, {"rmax", hype.rmax}});
  e.not_negative({{"rmin", hype.rmin}});
  e.below_right_angle({{"inst", hype.inst}, {"outst", hype.outst}});
  e.less({"rmin", hype.rmin}, {"rmax", hype.rmax});
  e.less({"rmin at the ends", std::hypot(hype.rmin, std::tan(hype.inst) * hype.z / 2)},
         {"rmax at the ends", std::hypot(hype.rmax, std::tan(hype.outst) * hype.z / 2)});
  return hype;
}

/// 1 where the corners turn counterclockwise, each by less than half a turn; -1 clockwise; 0 where they are a line.
int turn_of_end(const SolidElement& e, const Point2* corners) {
  int turn = 0;
  for (std::size_t k = 0; k != 4; ++k) {
    const Point2 &a = corners[k], &b = corners[(k + 1) % 4], &c = corners[(k + 2) % 4];
    const double cross = (b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x);
    constexpr double kStraight = 1e-12;
    if (std::abs(cross) <= kStraight * std::hypot(b.x - a.x, b.y - a.y) * std::hypot(c.x - b.x, c.y - b.y)) continue;
    const int one = cross > 0 ? 1 : -1;
    if (turn != 0 && one != turn) e.fail("an end is not convex, or crosses itself");
    turn = one;
  }
  return turn;
}

void check_twist(const SolidElement& e, const Arb8& arb8) {
  const int low = turn_of_end(e, arb8.corners.data()), high = turn_of_end(e, arb8.corners.data() + 4);
  if (low * high < 0) e.fail("its ends turn in opposite directions");
  for (std::size_t k = 0; k != 4; ++k) {
    const std::size_t next = (k + 1) % 4;
    const Point2 &a = arb8.corners[k], &b = arb8.corners[next], &c = arb8.corners[k + 4], &d = arb8.corners[next + 4];
    if ((b.x - a.x) * (d.x - c.x) + (b.y - a.y) * (d.y - c.y) < 0) e.fail("a side is twisted by more than 90 degrees");
  }
  constexpr std::uint32_t kLevels = 8;
  constexpr double kNoArea = 1e-12;
  double most = 0, size = 0;
  for (std::uint32_t i = 0; i <= kLevels; ++i) {
    const std::array<Point2, 4> section = section_of(arb8, i, kLevels);
    most = std::max(most, std::abs(signed_area({section.begin(), section.end()})));
    for (const Point2& p : section) size = std::max(size, std::hypot(p.x - section[0].x, p.y - section[0].y));
  }
  if (most <= kNoArea * size * size) e.fail("it has no volume: its corners lie in a plane");
}

Shape read_arb8(const SolidElement& e) {
  Arb8 arb8{{}, e.length("dz")};
  e.positive({{"dz", arb8.dz}});
  for (std::size_t k = 0; k != arb8.corners.size(); ++k) {
    const std::string name = "v" + std::to_string(k + 1);
    arb8.corners[k] = {e.length((name + "x").c_str()), e.length((name + "y").c_str())};
  }
  check_twist(e, arb8);
  return arb8;
}

/// A vertex by its name in <define>, times the unit of `node`, as Geant4 has it: the position has a unit already.
Double3 vertex_of(const SolidElement& e, const pugi::xml_node& node, const char* attribute) {
  const double unit = e.vectors().length_unit(node, "lunit", e.where());
  const Double3 p = e.vectors().named_position(e.vectors().name_in(node, attribute, e.where()), e.where());
  return {p.x * unit, p.y * unit, p.z * unit};
}

Shape read_tet(const SolidElement& e) {
  const auto corner = [&](const char* name) { return vertex_of(e, e.node(), name); };
  const Tet tet{{corner("vertex1"), corner("vertex2"), corner("vertex3"), corner("vertex4")}};
  double size = 0;
  for (const Double3& p : tet.corners)
    for (int axis = 0; axis != 3; ++axis) size = std::max(size, std::abs(p[axis] - tet.corners[0][axis]));
  constexpr double kNoVolume = 1e-12;
  if (enclosed_volume(tessellate(tet, {})) <= kNoVolume * size * size * size) e.fail("its corners lie in a plane");
  return tet;
}

/// Gathers the facets of a tessellated solid by vertices that lie at the same place.
class Facets {
 public:
  explicit Facets(const SolidElement& e) : e_(e) {}

  Tessellated read() {
    for (const pugi::xml_node node : e_.node().children()) {
      const std::string_view kind = node.name();
      if (kind == "triangular") add(node, 3);
      if (kind == "quadrangular") add(node, 4);
    }
    check_closed();
    return std::move(result_);
  }

 private:
  using Place = std::array<long long, 3>;

  std::uint32_t number_of(const Double3& p) {
    // Sums of relative positions are rounded; Geant4 takes places as near as this for one.
    constexpr double kSamePlaceMm = 1e-9;
    Place place{};
    for (int axis = 0; axis != 3; ++axis) {
      if (!(std::abs(p[axis]) < 9e9)) e_.fail("a vertex is farther than 9e9 mm from the origin");
      place[static_cast<std::size_t>(axis)] = std::llround(p[axis] / kSamePlaceMm);
    }
    const auto [found, fresh] = places_.try_emplace(place, static_cast<std::uint32_t>(result_.vertices.size()));
    if (fresh) result_.vertices.push_back(p);
    return found->second;
  }

  void add(const pugi::xml_node& node, std::size_t corners) {
    constexpr std::array kNames{"vertex1", "vertex2", "vertex3", "vertex4"};
    const bool relative = std::string_view(node.attribute("type").value()) == "RELATIVE";
    std::vector<std::uint32_t> facet;
    Double3 first;
    for (std::size_t k = 0; k != corners; ++k) {
      Double3 p = vertex_of(e_, node, kNames[k]);
      if (k == 0) first = p;
      if (relative && k != 0) p = {p.x + first.x, p.y + first.y, p.z + first.z};
      const std::uint32_t number = number_of(p);
      if (facet.empty() || (facet.back() != number && facet.front() != number)) facet.push_back(number);
    }
    if (facet.size() < 3) return;  // without an area, as Geant4 has it
    for (std::size_t k = 0; k != facet.size(); ++k) ++edges_[{facet[k], facet[(k + 1) % facet.size()]}];
    result_.facets.push_back({facet[0], facet[1], facet[2], facet.back()});
  }

  void check_closed() const {
    std::size_t open = 0;
    for (const auto& [edge, times] : edges_) {
      const auto back = edges_.find({edge.second, edge.first});
      if (times != 1 || back == edges_.end() || back->second != 1) ++open;
    }
    if (edges_.empty() || open != 0)
      e_.fail("its facets do not close: " + std::to_string(open) + " of " + std::to_string(edges_.size()) +
                  " edges have no facet, or several, on their other side",
              ErrorKind::malformed, "mend the facets, or their directions");
  }

  const SolidElement& e_;
  Tessellated result_;
  std::map<Place, std::uint32_t> places_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges_;
};

Shape read_tessellated(const SolidElement& e) {
  return Facets(e).read();
}

Shape read_twisted_box(const SolidElement& e) {
  const TwistedBox box{e.angle("PhiTwist"), e.length("x"), e.length("y"), e.length("z")};
  e.positive({{"x", box.x}, {"y", box.y}, {"z", box.z}});
  e.below_right_angle({{"PhiTwist", box.twist}});
  return box;
}

Shape read_twisted_trd(const SolidElement& e) {
  const TwistedTrd trd{e.angle("PhiTwist"), e.length("x1"), e.length("x2"),
                       e.length("y1"),      e.length("y2"), e.length("z")};
  e.positive({{"x1", trd.x1}, {"x2", trd.x2}, {"y1", trd.y1}, {"y2", trd.y2}, {"z", trd.z}});
  e.below_right_angle({{"PhiTwist", trd.twist}});
  return trd;
}

Shape read_twisted_trap(const SolidElement& e) {
  const TwistedTrap trap{e.angle("PhiTwist"), e.length("z"),  e.angle("Theta"), e.angle("Phi"),
                         e.length("y1"),      e.length("x1"), e.length("x2"),   e.length("y2"),
                         e.length("x3"),      e.length("x4"), e.angle("Alph")};
  e.positive({{"z", trap.z}, {"y1", trap.y1}, {"x1", trap.x1}, {"x2", trap.x2}});
  e.positive({{"y2", trap.y2}, {"x3", trap.x3}, {"x4", trap.x4}});
  e.below_right_angle({{"PhiTwist", trap.twist}, {"Theta", trap.theta}, {"Alph", trap.alpha}});
  return trap;
}

Shape read_twisted_tube(const SolidElement& e) {
  const TwistedTube tube{e.angle("twistedangle"), e.length("endinnerrad"), e.length("endouterrad"), e.length("zlen"),
                         e.angle("phi")};
  e.positive({{"endinnerrad", tube.inner_r}, {"zlen", tube.z}, {"phi", tube.phi}});
  e.less({"endinnerrad", tube.inner_r}, {"endouterrad", tube.outer_r});
  e.less({"phi", tube.phi}, {"a full turn", 2 * pi - 1e-9});
  e.less({"twistedangle", std::abs(tube.twist)}, {"half a turn", pi - 1e-9});
  return tube;
}

using Reader = Shape (*)(const SolidElement&);
constexpr std::array kReaders{std::pair<std::string_view, Reader>{"box", read_box},
                              std::pair<std::string_view, Reader>{"orb", read_orb},
                              std::pair<std::string_view, Reader>{"sphere", read_sphere},
                              std::pair<std::string_view, Reader>{"tube", read_tube},
                              std::pair<std::string_view, Reader>{"cutTube", read_cut_tube},
                              std::pair<std::string_view, Reader>{"cone", read_cone},
                              std::pair<std::string_view, Reader>{"torus", read_torus},
                              std::pair<std::string_view, Reader>{"polycone", read_polycone},
                              std::pair<std::string_view, Reader>{"genericPolycone", read_generic_polycone},
                              std::pair<std::string_view, Reader>{"polyhedra", read_polyhedra},
                              std::pair<std::string_view, Reader>{"genericPolyhedra", read_generic_polyhedra},
                              std::pair<std::string_view, Reader>{"trd", read_trd},
                              std::pair<std::string_view, Reader>{"trap", read_trap},
                              std::pair<std::string_view, Reader>{"para", read_para},
                              std::pair<std::string_view, Reader>{"xtru", read_xtru},
                              std::pair<std::string_view, Reader>{"eltube", read_eltube},
                              std::pair<std::string_view, Reader>{"ellipsoid", read_ellipsoid},
                              std::pair<std::string_view, Reader>{"elcone", read_elcone},
                              std::pair<std::string_view, Reader>{"paraboloid", read_paraboloid},
                              std::pair<std::string_view, Reader>{"hype", read_hype},
                              std::pair<std::string_view, Reader>{"arb8", read_arb8},
                              std::pair<std::string_view, Reader>{"tet", read_tet},
                              std::pair<std::string_view, Reader>{"tessellated", read_tessellated},
                              std::pair<std::string_view, Reader>{"twistedbox", read_twisted_box},
                              std::pair<std::string_view, Reader>{"twistedtrd", read_twisted_trd},
                              std::pair<std::string_view, Reader>{"twistedtrap", read_twisted_trap},
                              std::pair<std::string_view, Reader>{"twistedtubs", read_twisted_tube}};

}  // namespace

Shape read_primitive(const SolidElement& element) {
  for (const auto& [kind, reader] : kReaders)
    if (kind == element.node().name()) return reader(element);
  element.fail(std::string("solids of the kind <") + element.node().name() + "> are not read", ErrorKind::unsupported);
}

}  // namespace raylift::gdml
