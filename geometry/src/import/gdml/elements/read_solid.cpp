// SPDX-License-Identifier: Apache-2.0
#include "read_solid.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/suggest.h"
#include "solid_element.h"

namespace raylift::gdml {
namespace {

std::optional<BooleanKind> boolean_kind(std::string_view element) {
  if (element == "union") return BooleanKind::add;
  if (element == "subtraction") return BooleanKind::subtract;
  if (element == "intersection") return BooleanKind::intersect;
  return std::nullopt;
}

/// What elements of solids hold. Anything else would be left out silently.
constexpr std::array<std::string_view, 21> kParts{"first",
                                                  "second",
                                                  "solid",
                                                  "solidref",
                                                  "multiUnionNode",
                                                  "position",
                                                  "positionref",
                                                  "rotation",
                                                  "rotationref",
                                                  "firstposition",
                                                  "firstpositionref",
                                                  "firstrotation",
                                                  "firstrotationref",
                                                  "scale",
                                                  "scaleref",
                                                  "zplane",
                                                  "rzpoint",
                                                  "twoDimVertex",
                                                  "section",
                                                  "triangular",
                                                  "quadrangular"};

void check_parts(const pugi::xml_node& element, const std::string& file, const std::string& where) {
  for (const pugi::xml_node child : element.children()) {
    const std::string_view name = child.name();
    if (child.type() != pugi::node_element || std::ranges::count(kParts, name) != 0) continue;
    throw Error(ErrorKind::unsupported, "it holds <" + std::string(name) + ">, which raylift does not read",
                {file, where}, "write what it stands for in its place");
  }
}

}  // namespace

SolidReader::SolidReader(const Vectors& vectors, detail::GdmlValues& values, std::string file)
    : vectors_(vectors), values_(values), file_(std::move(file)) {}

void SolidReader::read(const pugi::xml_node& element, const std::string& name) {
  if (find(name)) return;
  solids_.push_back({name, element.name(), shape_of(element, name)});
  numbers_.emplace(name, static_cast<std::uint32_t>(solids_.size() - 1));
}

std::optional<std::uint32_t> SolidReader::find(std::string_view name) const {
  const auto found = numbers_.find(std::string(name));
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::uint32_t SolidReader::referred(const pugi::xml_node& node, const char* attribute, const std::string& where) const {
  const std::string name = vectors_.name_in(node, attribute, where);
  if (const auto number = find(name)) return *number;
  std::vector<std::string> names;
  for (const Solid& solid : solids_) names.push_back(solid.name);
  throw Error(
      ErrorKind::malformed,
      "it refers to the solid '" + name + "', and none before it is called so" + base::did_you_mean(name, names),
      {file_, where});
}

Operand SolidReader::operand(const pugi::xml_node& parent, const char* solid, const std::string& prefix,
                             const std::string& where) const {
  const pugi::xml_node reference = parent.child(solid);
  if (!reference) throw Error(ErrorKind::malformed, std::string("it lacks <") + solid + ">", {file_, where});
  const auto child = [&](const char* kind) { return Vectors::child(parent, prefix + kind); };
  return {referred(reference, "ref", where),
          placed_by_operand(vectors_.position(child("position"), where), vectors_.rotation(child("rotation"), where))};
}

Operand SolidReader::reflected(const pugi::xml_node& element, const std::string& where) const {
  const auto length = [&](const char* name) { return vectors_.length(element, name, where); };
  const auto angle = [&](const char* name) { return vectors_.angle(element, name, where); };
  const auto scale = [&](const char* name) {
    const double value = element.attribute(name) ? vectors_.number(element, name, where) : 1;
    if (value == 0) throw Error(ErrorKind::malformed, std::string("its ") + name + " is 0", {file_, where});
    return value;
  };
  return {referred(element, "solid", where),
          placed_by_operand({length("dx"), length("dy"), length("dz")}, {angle("rx"), angle("ry"), angle("rz")},
                            {scale("sx"), scale("sy"), scale("sz")})};
}

Shape SolidReader::shape_of(const pugi::xml_node& element, const std::string& name) const {
  const std::string_view kind = element.name();
  const std::string where = std::string(kind) + " '" + name + "'";
  check_parts(element, file_, where);
  const auto single = [&](const pugi::xml_node& one, std::initializer_list<std::string_view> kinds) {
    check_single(one, kinds, [&](const std::string& problem) {
      throw Error(ErrorKind::malformed, problem, {file_, where});
    });
  };
  single(element, {"first", "second", "position", "rotation", "firstposition", "firstrotation", "scale"});
  if (const auto boolean = boolean_kind(kind))
    return Boolean{*boolean, operand(element, "first", "first", where), operand(element, "second", "", where)};
  if (kind == "multiUnion") {
    MultiUnion result;
    for (const pugi::xml_node node : element.children("multiUnionNode")) {
      check_parts(node, file_, where);
      single(node, {"solid", "position", "rotation"});
      result.parts.push_back(operand(node, "solid", "", where));
    }
    if (result.parts.empty()) throw Error(ErrorKind::malformed, "it has no <multiUnionNode>", {file_, where});
    return result;
  }
  if (kind == "scaledSolid") {
    const pugi::xml_node scale = Vectors::child(element, "scale");
    if (!scale) throw Error(ErrorKind::malformed, "it lacks <scale>", {file_, where});
    Operand of{operand(element, "solidref", "", where).solid, {}};
    of.placed = placed_by_operand({}, {}, vectors_.scale(scale, where));
    return Transformed{of};
  }
  if (kind == "reflectedSolid") return Transformed{reflected(element, where)};
  const SolidElement own(element, name, vectors_, values_);
  Shape shape = read_primitive(own);
  for (const std::string& attribute : own.unread())
    if (note_) note_("attributes that GDML does not have there are not read", where + ", " + attribute);
  return shape;
}

}  // namespace raylift::gdml
