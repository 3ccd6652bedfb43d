// SPDX-License-Identifier: Apache-2.0
#include "read_vectors.h"

#include <raylift/geometry/error.h>

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/suggest.h"

namespace raylift::gdml {
namespace {

/// The rotation of `linear`, each column times its component of `scale`, and then `position`.
Transform scaled_and_placed(Transform linear, const Double3& scale, const Double3& position) {
  for (int row = 0; row != 3; ++row) {
    for (int column = 0; column != 3; ++column) linear(row, column) *= scale[column];
    linear(row, 3) = position[row];
  }
  return linear;
}

Transform transposed(const Transform& rotation) {
  Transform result;
  for (int row = 0; row != 3; ++row)
    for (int column = 0; column != 3; ++column) result(row, column) = rotation(column, row);
  return result;
}

/// Sine and cosine, exact at quarter turns: an axis-aligned box stays one.
std::pair<double, double> sine_cosine(double angle) {
  constexpr double kNothing = 1e-15;
  const auto exact = [](double value) {
    if (std::abs(value) < kNothing) return 0.;
    return 1 - std::abs(value) < kNothing ? std::copysign(1, value) : value;
  };
  return {exact(std::sin(angle)), exact(std::cos(angle))};
}

}  // namespace

Vectors::Vectors(const pugi::xml_node& define, detail::GdmlValues& values, std::string file)
    : values_(values), file_(std::move(file)) {
  for (const pugi::xml_node node : define.children()) {
    const std::string_view kind = node.name();
    const std::string name = node.attribute("name").value();
    // The last of two that share a name counts, as in Geant4.
    if (kind == "position") positions_[name] = node;
    if (kind == "rotation") rotations_[name] = node;
    if (kind == "scale") scales_[name] = node;
  }
}

double Vectors::number(const pugi::xml_node& element, const char* attribute, const std::string& where) const {
  const pugi::xml_attribute found = element.attribute(attribute);
  return found ? values_.evaluate(found.value(), where) : 0;
}

double Vectors::length_unit(const pugi::xml_node& element, const char* name, const std::string& where) const {
  const pugi::xml_attribute found = element.attribute(name);
  if (found && !detail::is_length_unit(found.value()))
    throw Error(ErrorKind::malformed, std::string("'") + found.value() + "' is no unit of a length", {file_, where});
  return found ? values_.evaluate(found.value(), where) : 1;
}

double Vectors::angle_unit(const pugi::xml_node& element, const char* name, const std::string& where) const {
  const pugi::xml_attribute found = element.attribute(name);
  if (found && !detail::is_angle_unit(found.value()))
    throw Error(ErrorKind::malformed, std::string("'") + found.value() + "' is no unit of an angle", {file_, where});
  return found ? values_.evaluate(found.value(), where) : 1;
}

double Vectors::length(const pugi::xml_node& element, const char* attribute, const std::string& where) const {
  return number(element, attribute, where) * length_unit(element, "lunit", where);
}

double Vectors::angle(const pugi::xml_node& element, const char* attribute, const std::string& where) const {
  return number(element, attribute, where) * angle_unit(element, "aunit", where);
}

std::string Vectors::name_in(const pugi::xml_node& element, const char* attribute, const std::string& where) const {
  const std::string name = element.attribute(attribute).value();
  if (name.empty())
    throw Error(ErrorKind::malformed, std::string("its <") + element.name() + "> lacks '" + attribute + "'",
                {file_, where});
  return expand_ ? expand_(name) : name;
}

pugi::xml_node Vectors::definition(const Definitions& definitions, const char* kind, const std::string& name,
                                   const std::string& where) const {
  if (const auto found = definitions.find(name); found != definitions.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [one, node] : definitions) names.push_back(one);
  throw Error(ErrorKind::malformed,
              std::string("it refers to the ") + kind + " '" + name + "', and <define> has none of that name" +
                  base::did_you_mean(name, names),
              {file_, where});
}

Double3 Vectors::vector(const pugi::xml_node& element, double otherwise, bool defined, const std::string& where) const {
  const auto component = [&](const char* name) {
    const pugi::xml_attribute found = element.attribute(name);
    if (!found) return otherwise;
    return defined ? values_.evaluate_defined(found.value(), where) : values_.evaluate(found.value(), where);
  };
  return {component("x"), component("y"), component("z")};
}

Double3 Vectors::resolved(const pugi::xml_node& element, const Definitions& definitions, const char* kind,
                          double otherwise, const std::string& where) const {
  const bool defined = std::string_view(element.name()).ends_with("ref");
  const pugi::xml_node own = defined ? definition(definitions, kind, name_in(element, "ref", where), where) : element;
  Double3 result = vector(own, otherwise, defined, where);
  if (&definitions == &scales_) return result;
  const double unit = &definitions == &positions_ ? length_unit(own, "unit", where) : angle_unit(own, "unit", where);
  for (int axis = 0; axis != 3; ++axis) result[axis] *= unit;
  return result;
}

Double3 Vectors::position(const pugi::xml_node& element, const std::string& where) const {
  return resolved(element, positions_, "position", 0, where);
}

Double3 Vectors::rotation(const pugi::xml_node& element, const std::string& where) const {
  return resolved(element, rotations_, "rotation", 0, where);
}

Double3 Vectors::scale(const pugi::xml_node& element, const std::string& where) const {
  const Double3 scale = resolved(element, scales_, "scale", 1, where);
  if (scale.x == 0 || scale.y == 0 || scale.z == 0)
    throw Error(ErrorKind::malformed, "a component of its scale is 0", {file_, where});
  return scale;
}

pugi::xml_node Vectors::child(const pugi::xml_node& element, const std::string& name) {
  const pugi::xml_node direct = element.child(name.c_str());
  return direct ? direct : element.child((name + "ref").c_str());
}

Double3 Vectors::named_position(const std::string& name, const std::string& where) const {
  const pugi::xml_node own = definition(positions_, "position", name, where);
  const double unit = length_unit(own, "unit", where);
  const Double3 result = vector(own, 0, true, where);
  return {unit * result.x, unit * result.y, unit * result.z};
}

Transform rotation_matrix(const Double3& angles) {
  const auto [sx, cx] = sine_cosine(angles.x);
  const auto [sy, cy] = sine_cosine(angles.y);
  const auto [sz, cz] = sine_cosine(angles.z);
  Transform r;
  r(0, 0) = cz * cy;
  r(0, 1) = cz * sy * sx - sz * cx;
  r(0, 2) = cz * sy * cx + sz * sx;
  r(1, 0) = sz * cy;
  r(1, 1) = sz * sy * sx + cz * cx;
  r(1, 2) = sz * sy * cx - cz * sx;
  r(2, 0) = -sy;
  r(2, 1) = cy * sx;
  r(2, 2) = cy * cx;
  return r;
}

Transform placed_by_operand(const Double3& position, const Double3& rotation, const Double3& scale) {
  return scaled_and_placed(rotation_matrix(rotation), scale, position);
}

Transform placed_by_physvol(const Double3& position, const Double3& rotation, const Double3& scale) {
  return scaled_and_placed(transposed(rotation_matrix(rotation)), scale, position);
}

}  // namespace raylift::gdml
