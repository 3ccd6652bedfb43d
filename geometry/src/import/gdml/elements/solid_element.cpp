// SPDX-License-Identifier: Apache-2.0
#include "solid_element.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "base/units.h"

namespace raylift::gdml {
namespace {

using std::numbers::pi;
/// Geant4's own tolerances: what is smaller has no inside there.
constexpr double kMinLength = 1e-9, kMinAngle = 1e-9;
/// Corners, planes or sides: checks take the square of their number.
constexpr std::size_t kMaxCorners = 10'000;

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

std::string stated(const Size& size) {
  return std::string(size.name) + " is " + number_text(size.value);
}

}  // namespace

SolidElement::SolidElement(const pugi::xml_node& node, const std::string& name, const Vectors& vectors,
                           detail::GdmlValues& values)
    : node_(node),
      vectors_(vectors),
      values_(values),
      where_(std::string(node.name()) + " '" + name + "'"),
      lunit_(vectors.length_unit(node, "lunit", where_)),
      aunit_(vectors.angle_unit(node, "aunit", where_)) {}

void SolidElement::fail(const std::string& problem, ErrorKind kind, std::string_view advice) const {
  throw Error(kind, problem, {vectors_.file(), where_}, advice);
}

double SolidElement::number(const pugi::xml_node& child, const char* attribute, double otherwise) const {
  const pugi::xml_attribute found = child.attribute(attribute);
  if (child == node_) read_.emplace(attribute);
  return found ? values_.evaluate(found.value(), where_) : otherwise;
}

std::vector<std::string> SolidElement::unread() const {
  std::vector<std::string> names;
  for (const pugi::xml_attribute one : node_.attributes()) {
    const std::string_view name = one.name();
    const bool of_all = name == "name" || name == "lunit" || name == "aunit";
    const bool refers = name.starts_with("vertex");  // of <tet>
    if (!of_all && !refers && !read_.contains(name)) names.emplace_back(name);
  }
  return names;
}

double SolidElement::number(const char* attribute, double otherwise) const {
  return number(node_, attribute, otherwise);
}

double SolidElement::length(const pugi::xml_node& child, const char* attribute) const {
  const double value = number(child, attribute) * lunit_;
  if (!(std::abs(value) <= base::kFarthestMm)) fail(stated({attribute, value}) + " mm, which is too large");
  return value;
}

double SolidElement::angle(const char* attribute) const {
  const double value = number(attribute) * aunit_;
  constexpr double kMaxTurns = 1e6;
  if (!(std::abs(value) <= kMaxTurns)) fail(stated({attribute, value}) + " radians, which is too large");
  return value;
}

Turn SolidElement::turn() const {
  if (!node_.attribute("deltaphi")) fail("it lacks 'deltaphi'");
  const Turn turn{angle("startphi"), angle("deltaphi")};
  if (turn.delta < kMinAngle) fail(stated({"deltaphi", turn.delta}) + ", and has to be more than 0");
  return turn;
}

Turn SolidElement::turn_or_full() const {
  if (angle("deltaphi") == 0) return {angle("startphi"), 2 * pi};
  return turn();
}

std::uint32_t SolidElement::sides(const Turn& turn) const {
  const double sides = number("numsides");
  const double least = turn.delta >= 2 * pi - kMinAngle ? 3 : std::floor(turn.delta / pi) + 1;
  if (sides != std::floor(sides) || sides < least)
    fail(stated({"numsides", sides}) + ", and such a turn needs " + number_text(least) + " or more");
  if (sides > kMaxCorners) fail("it has more than " + std::to_string(kMaxCorners) + " sides", ErrorKind::limit);
  return static_cast<std::uint32_t>(sides);
}

std::vector<pugi::xml_node> SolidElement::children(const char* kind, std::size_t at_least) const {
  std::vector<pugi::xml_node> found;
  for (const pugi::xml_node child : node_.children(kind)) found.push_back(child);
  if (found.size() < at_least)
    fail("it has " + std::to_string(found.size()) + " <" + kind + ">, and needs " + std::to_string(at_least) +
         " or more");
  if (found.size() > kMaxCorners)
    fail("it has more than " + std::to_string(kMaxCorners) + " <" + kind + ">", ErrorKind::limit);
  return found;
}

void SolidElement::positive(std::initializer_list<Size> lengths) const {
  for (const Size& size : lengths) {
    if (size.value > 0 && size.value < kMinLength)
      fail(stated(size) + " mm, which is less than Geant4's tolerance of 1e-9 mm");
    if (!(size.value > 0)) fail(stated(size) + ", and has to be more than 0");
  }
}

void SolidElement::not_negative(std::initializer_list<Size> lengths) const {
  for (const Size& size : lengths)
    if (!(size.value >= 0)) fail(stated(size) + ", and must not be negative");
}

void SolidElement::less(const Size& smaller, const Size& larger) const {
  if (!(smaller.value < larger.value))
    fail(stated(smaller) + " and " + stated(larger) + ": the first has to be less than the second");
}

void SolidElement::at_most(const Size& smaller, const Size& larger) const {
  if (!(smaller.value <= larger.value))
    fail(stated(smaller) + " and " + stated(larger) + ": the first must not be more than the second");
}

void SolidElement::below_right_angle(std::initializer_list<Size> angles) const {
  for (const Size& size : angles)
    if (!(std::abs(size.value) < pi / 2 - kMinAngle))
      fail(stated(size) + " radians, and has to be less than a right angle");
}

}  // namespace raylift::gdml
