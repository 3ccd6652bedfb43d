// SPDX-License-Identifier: Apache-2.0
// Replicas, divisions and parameterised volumes, as G4PVReplica, G4PVDivision and G4PVParameterised place them.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <type_traits>
#include <variant>

#include "base/units.h"
#include "import/gdml/elements/solid_element.h"
#include "structure_scope.h"

namespace raylift::gdml {
namespace {

constexpr double kMinSize = 1e-9, kMinTurn = 1e-9;  // Geant4's own tolerances
constexpr std::uint32_t kMaxResized = 100'000;      // copies with solids of their own: each is a mesh

struct AxisName {
  std::string_view in_replica, in_division;
  std::optional<Repeat::Along> along;  // nothing: rho
};
constexpr std::array kAxisNames{AxisName{"x", "kXAxis", Repeat::Along::x}, AxisName{"y", "kYAxis", Repeat::Along::y},
                                AxisName{"z", "kZAxis", Repeat::Along::z}, AxisName{"phi", "kPhi", Repeat::Along::phi},
                                AxisName{"rho", "kRho", std::nullopt}};

/// Solids whose sizes a parameter states by the attributes of the solid itself. Geant4 11.4 misreads those of a para
/// and a hype, and those of polycones and polyhedra have other attributes.
constexpr std::array<std::string_view, 9> kResizable{"box",    "trd", "trap",  "tube",     "cone",
                                                     "sphere", "orb", "torus", "ellipsoid"};

/// `<tube_dimensions>` and the like as the element of the solid.
pugi::xml_node as_solid(const pugi::xml_node& sizes, const std::string& kind, pugi::xml_document& into) {
  pugi::xml_node element = into.append_child(kind.c_str());
  constexpr std::array<std::array<std::string_view, 2>, 5> kOfTubes{
      {{"InR", "rmin"}, {"OutR", "rmax"}, {"hz", "z"}, {"StartPhi", "startphi"}, {"DeltaPhi", "deltaphi"}}};
  for (const pugi::xml_attribute attribute : sizes.attributes()) {
    std::string name = attribute.name();
    if (kind == "tube")
      for (const auto& [own, usual] : kOfTubes)
        if (name == own) name = usual;
    element.append_attribute(name.c_str()) = attribute.value();
  }
  return element;
}

bool is_angle(const AxisName& axis) {
  return axis.along == Repeat::Along::phi;
}

/// A tube or a box with another length along an axis.
double& extent(Box& box, Repeat::Along along) {
  return along == Repeat::Along::x ? box.x : along == Repeat::Along::y ? box.y : box.z;
}

}  // namespace

// The parts of an element
// ----------------------------------------------------------------------------------------------

std::uint32_t Copies::count_of(const pugi::xml_node& element, const char* attribute, const std::string& where) {
  const std::string text = scope_.attribute(element, attribute, where);
  const std::int64_t count = scope_.values->evaluate_integer(text, where);
  if (count < 1) scope_.fail("'" + text + "' is no number of copies", where);
  if (static_cast<std::uint64_t>(count) > std::min<std::uint64_t>(limits_.instances, 0x7FFFFFFF))
    scope_.fail("it has " + std::to_string(count) + " copies, and the limit is " + std::to_string(limits_.instances),
                where, ErrorKind::limit, "raise it with LoadLimits::instances");
  return static_cast<std::uint32_t>(count);
}

double Copies::quantity(const pugi::xml_node& element, bool angle, const std::string& where) {
  const std::string inside = where + ", " + element.name();
  const std::string value = scope_.attribute(element, "value", inside);
  // Geant4 takes one that is missing for 0, and so the whole for nothing.
  const std::string unit = scope_.attribute(element, "unit", inside);
  const double worth = scope_.values->evaluate(unit, inside);
  if (angle ? !detail::is_angle_unit(unit) : !detail::is_length_unit(unit))
    scope_.fail("'" + unit + "' is no unit of " + (angle ? "an angle" : "a length"), inside);
  return scope_.values->evaluate(value, inside) * worth;
}

const Solid& Copies::solid_of(const Volume& volume) const {
  if (const auto& failure = detector_.failures[volume.solid]) throw Error(*failure);
  return detector_.solids[volume.solid];
}

std::uint32_t Copies::with_solid(std::uint32_t volume, Shape shape, const std::string& suffix,
                                 const std::string& where) {
  const bool sound = std::visit(
      [](const auto& sizes) {
        using S = std::decay_t<decltype(sizes)>;
        const auto length = [](double value) { return value >= kMinSize && value <= base::kFarthestMm; };
        if constexpr (std::is_same_v<S, Box>) return length(sizes.x) && length(sizes.y) && length(sizes.z);
        if constexpr (std::is_same_v<S, Tube>)
          return sizes.rmin >= 0 && length(sizes.rmax - sizes.rmin) && length(sizes.rmax) && length(sizes.z) &&
                 sizes.phi.delta >= kMinTurn && std::abs(sizes.phi.start) < 1e6;
        return true;
      },
      shape);
  if (!sound)
    scope_.fail("the copy '" + detector_.solids[detector_.volumes[volume].solid].name + suffix +
                    "' has sizes of which no solid can be made",
                where);
  Volume copy = detector_.volumes[volume];
  const Solid& old = detector_.solids[copy.solid];
  Solid solid{old.name + suffix, old.kind, std::move(shape)};
  copy.solid = static_cast<std::uint32_t>(detector_.solids.size());
  detector_.solids.push_back(std::move(solid));
  detector_.failures.emplace_back();
  detector_.volumes.push_back(std::move(copy));
  return static_cast<std::uint32_t>(detector_.volumes.size() - 1);
}

void Copies::add(std::uint32_t volume, const std::string& name, std::int64_t copy, const Repeat& repeat,
                 Placements& placements) {
  placements.push_back({volume, name, copy, {}, repeat});
}

// The elements
// ---------------------------------------------------------------------------------------------------------

void Copies::replica(const pugi::xml_node& element, std::uint32_t child, const std::string& name,
                     Placements& placements) {
  const std::string where = "replicavol of '" + detector_.volumes[child].name + "'";
  const std::uint32_t count = count_of(element, "number", where);
  const pugi::xml_node along = element.child("replicate_along_axis");
  const AxisName* axis = nullptr;
  for (const AxisName& one : kAxisNames)
    if (const auto direction = along.child("direction").attribute(std::string(one.in_replica).c_str()))
      if (scope_.values->evaluate(direction.value(), where) == 1) axis = &one;
  if (axis == nullptr) scope_.fail("no component of its direction is 1: x, y, z, rho or phi", where);
  const double width = quantity(along.child("width"), is_angle(*axis), where);
  const double offset = along.child("offset") ? quantity(along.child("offset"), is_angle(*axis), where) : 0;
  if (!(width > 0)) scope_.fail("its width is not above 0", where);
  for (const pugi::xml_node part : along.children()) {
    const std::string_view kind = part.name();
    if (kind == "position" || kind == "positionref" || kind == "rotation" || kind == "rotationref")
      notes_.add("positions and rotations of replicas are not used, as in Geant4", where);
    else if (kind != "direction" && kind != "width" && kind != "offset")
      scope_.fail("it has an element <" + std::string(kind) + "> that GDML does not have there", where);
  }
  if (axis->along && !is_angle(*axis)) {
    if (offset != 0) notes_.add("offsets of replicas along x, y and z are not used, as in Geant4", where);
    return add(child, name, 0, {count, *axis->along, -0.5 * width * (count - 1), width}, placements);
  }
  if (is_angle(*axis)) return add(child, name, 0, {count, *axis->along, offset + 0.5 * width, width}, placements);
  const auto* const tube = std::get_if<Tube>(&solid_of(detector_.volumes[child]).shape);
  if (tube == nullptr)
    scope_.fail("replicas along rho are read of tubes alone", where, ErrorKind::unsupported,
                "write them as physical volumes, or go without them: LoadOptions::skip_failed_solids");
  if (count > kMaxResized)
    scope_.fail("more than " + std::to_string(kMaxResized) + " copies of different sizes", where, ErrorKind::limit);
  const Tube all = *tube;
  for (std::uint32_t i = 0; i != count; ++i) {
    Tube ring = all;
    ring.rmin = offset + i * width;
    ring.rmax = offset + (i + 1) * width;
    add(with_solid(child, ring, "_" + std::to_string(i), where), name, i, {}, placements);
  }
}

Copies::Division Copies::division_of(const pugi::xml_node& element, bool angle, double whole,
                                     const std::string& where) {
  const std::string unit_name = scope_.attribute(element, "unit", where);
  const double unit = scope_.values->evaluate(unit_name, where);
  if (angle ? !detail::is_angle_unit(unit_name) : !detail::is_length_unit(unit_name))
    scope_.fail("'" + unit_name + "' is no unit of " + (angle ? "an angle" : "a length"), where);
  const auto number = [&](const char* name) {
    const pugi::xml_attribute given = element.attribute(name);
    return given ? scope_.values->evaluate(given.value(), where) : 0;
  };
  Division result{0, number("width") * unit, number("offset") * unit};
  const double rest = whole - result.offset;
  constexpr double kRounding = 1e-9;
  if (element.attribute("number") && number("number") != 0) result.count = count_of(element, "number", where);
  if (result.count == 0) {
    if (!(result.width > 0)) scope_.fail("it has neither a number nor a width", where);
    const double count = std::floor(rest / result.width * (1 + kRounding));
    if (!(count >= 1 && count <= static_cast<double>(std::min<std::uint64_t>(limits_.instances, 0x7FFFFFFF))))
      scope_.fail("its width divides the mother into " + std::to_string(count), where, ErrorKind::limit);
    result.count = static_cast<std::uint32_t>(count);
  }
  if (result.width == 0) result.width = rest / result.count;
  if (!(result.width > 0 && result.offset >= 0 && result.count * result.width <= rest + kRounding * whole))
    scope_.fail("its divisions are larger than the mother", where);
  return result;
}

void Copies::division(const pugi::xml_node& element, std::uint32_t child, const std::string& name, const Volume& mother,
                      Placements& placements) {
  const std::string where = "divisionvol of '" + detector_.volumes[child].name + "' in '" + mother.name + "'";
  const std::string axis_name = scope_.attribute(element, "axis", where);
  const AxisName* axis = nullptr;
  for (const AxisName& one : kAxisNames)
    if (one.in_division == axis_name) axis = &one;
  if (axis == nullptr) scope_.fail("'" + axis_name + "' is no axis", where);
  (void)solid_of(detector_.volumes[child]);
  const Solid& whole = solid_of(mother);
  const auto repeat = [&](const Division& division, double from) {
    return Repeat{division.count, *axis->along, from + division.offset, division.width};
  };
  if (const auto* const found = std::get_if<Box>(&whole.shape); found != nullptr && axis->along && !is_angle(*axis)) {
    Box box = *found;
    const double length = extent(box, *axis->along);
    const Division division = division_of(element, false, length, where);
    extent(box, *axis->along) = division.width;
    const Repeat copies = repeat(division, 0.5 * (division.width - length));
    return add(with_solid(child, box, "", where), name, 0, copies, placements);
  }
  const auto* const found = std::get_if<Tube>(&whole.shape);
  if (found == nullptr || axis->along == Repeat::Along::x || axis->along == Repeat::Along::y)
    scope_.fail("divisions of a " + whole.kind + " along " + axis_name + " are not read", where, ErrorKind::unsupported,
                "write its parts as physical volumes, or go without them: LoadOptions::skip_failed_solids");
  Tube tube = *found;
  if (!axis->along) {
    const Division division = division_of(element, false, found->rmax - found->rmin, where);
    if (division.count > kMaxResized)
      scope_.fail("more than " + std::to_string(kMaxResized) + " copies of different sizes", where, ErrorKind::limit);
    const double from = tube.rmin + division.offset;
    for (std::uint32_t i = 0; i != division.count; ++i) {
      tube.rmin = from + i * division.width;
      tube.rmax = from + (i + 1) * division.width;
      add(with_solid(child, tube, "_" + std::to_string(i), where), name, i, {}, placements);
    }
    return;
  }
  if (is_angle(*axis)) {
    const double turn = std::min(tube.phi.delta, 2 * std::numbers::pi);
    const Division division = division_of(element, true, turn, where);
    tube.phi.delta = division.width;
    return add(with_solid(child, tube, "", where), name, 0, repeat(division, 0), placements);
  }
  const double length = tube.z;
  const Division division = division_of(element, false, length, where);
  tube.z = division.width;
  add(with_solid(child, tube, "", where), name, 0, repeat(division, 0.5 * (division.width - length)), placements);
}

void Copies::parameterised(const pugi::xml_node& element, std::uint32_t child, const std::string& name,
                           Placements& placements) {
  const std::string where = "paramvol of '" + detector_.volumes[child].name + "'";
  const std::size_t before = placements.size();
  scope_.loops->each(element, [&](pugi::xml_node part) {
    if (std::string_view(part.name()) == "volumeref") return;
    if (std::string_view(part.name()) != "parameterised_position_size")
      scope_.fail("it has an element <" + std::string(part.name()) + "> that GDML does not have there", where);
    scope_.loops->each(part, [&](pugi::xml_node set) {
      if (std::string_view(set.name()) != "parameters")
        scope_.fail("it has an element <" + std::string(set.name()) + "> that GDML does not have there", where);
      if (placements.size() - before == kMaxResized)
        scope_.fail("more than " + std::to_string(kMaxResized) + " parameters", where, ErrorKind::limit);
      parameters(set, child, name, where, placements);
      placements.back().copy_number = static_cast<std::int64_t>(placements.size() - before - 1);
    });
  });
  if (placements.size() == before) scope_.fail("it has no <parameters>", where);
}

void Copies::parameters(const pugi::xml_node& element, std::uint32_t child, const std::string& name,
                        const std::string& where, Placements& placements) {
  const Vectors& vectors = *scope_.vectors;
  Placement placement{child, name, 0, {}, {}};
  for (const pugi::xml_node part : element.children()) {
    if (part.type() != pugi::node_element) continue;
    const std::string_view kind = part.name();
    if (kind == "position" || kind == "positionref" || kind == "rotation" || kind == "rotationref") continue;
    const Solid& solid = solid_of(detector_.volumes[child]);
    const std::string inside = where + ", " + part.name();
    if (kind != solid.kind + "_dimensions" || std::ranges::count(kResizable, std::string_view(solid.kind)) == 0)
      scope_.fail("<" + std::string(kind) + "> of a " + solid.kind + " is not read", where, ErrorKind::unsupported,
                  "write its copies as physical volumes, or go without them: LoadOptions::skip_failed_solids");
    if (placement.volume != child) scope_.fail("a parameter has two sizes", inside);
    const std::string suffix = "_" + std::to_string(placements.size());
    pugi::xml_document scratch;
    const SolidElement own(as_solid(part, solid.kind, scratch), solid.name + suffix, vectors, *scope_.values);
    Shape shape = [&] {
      try {
        return read_primitive(own);
      } catch (const Error& error) {
        scope_.fail("the copy " + error.element() + " can't be made: " + error.problem(), inside, error.kind());
      }
    }();
    for (const std::string& attribute : own.unread())
      notes_.add("attributes that GDML does not have there are not read", inside + ", " + attribute);
    placement.volume = with_solid(child, std::move(shape), suffix, inside);
  }
  check_single(element, {"position", "rotation"}, [&](const std::string& problem) { scope_.fail(problem, where); });
  placement.placed = placed_by_physvol(vectors.position(Vectors::child(element, "position"), where),
                                       vectors.rotation(Vectors::child(element, "rotation"), where));
  placements.push_back(std::move(placement));
}

}  // namespace raylift::gdml
