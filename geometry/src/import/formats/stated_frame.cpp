// SPDX-License-Identifier: Apache-2.0
#include "stated_frame.h"

#include <assimp/metadata.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/parse_number.h"
#include "base/units.h"
#include "gltf_preflight.h"
#include "three_mf.h"

namespace raylift::imported {
namespace {

constexpr double kMetre = 1000;

bool is_one_of(std::string_view extension, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), extension) != list.end();
}

/// The file's beginning: units stand in headers.
std::string head(const InputFile& input) {
  constexpr std::size_t kHead = 1U << 20;
  std::string text(std::min<std::uint64_t>(input.size(), kHead), '\0');
  text.resize(input.read(0, text.data(), text.size()));
  return text;
}

/// The value of an attribute in the first tag of that name; nothing where there is none.
std::optional<std::string> attribute(std::string_view text, std::string_view tag, std::string_view name) {
  for (std::size_t at = text.find(tag); at != std::string_view::npos; at = text.find(tag, at + 1)) {
    const std::string_view inside = text.substr(at, text.find('>', at) - at);
    std::size_t found = inside.find(name);
    if (found == std::string_view::npos) continue;
    found = inside.find_first_of("'\"", found + name.size());
    if (found == std::string_view::npos) continue;
    const std::string_view value = inside.substr(found + 1);
    return std::string(value.substr(0, value.find(inside[found])));
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const InputFile& input, const std::string& text) {
  throw Error(ErrorKind::malformed, "the unit " + in_quotes(text) + " is none of the format",
              {input.path().string(), ""}, "state the unit with LoadOptions::unit_mm");
}

Frame frame_of_amf(const InputFile& input) {
  constexpr std::array kUnits{base::Unit{"millimeter", 1}, base::Unit{"millimeters", 1}, base::Unit{"inch", 25.4},
                              base::Unit{"feet", 304.8},   base::Unit{"foot", 304.8},    base::Unit{"meter", kMetre},
                              base::Unit{"micron", 1e-3}};
  Frame frame{1, Scene::Provenance::convention, UpAxis::z, Scene::Provenance::assumed};
  const auto unit = attribute(head(input), "<amf", "unit");
  if (!unit) return frame;
  const auto mm = base::value_of(*unit, kUnits);
  if (!mm) refuse(input, *unit);
  frame.unit_mm = *mm;
  frame.unit_from = Scene::Provenance::file;
  return frame;
}

Frame frame_of_x3d(const InputFile& input) {
  Frame frame{kMetre, Scene::Provenance::convention, UpAxis::y, Scene::Provenance::convention};
  const std::string text = head(input);
  for (std::size_t at = text.find("<unit"); at != std::string::npos; at = text.find("<unit", at + 1)) {
    const std::string_view tag = std::string_view(text).substr(at, text.find('>', at) - at + 1);
    if (attribute(tag, "<unit", "category") != "length") continue;
    const std::string factor = attribute(tag, "<unit", "conversionFactor").value_or("");
    const auto value = base::parse_number<double>(factor);
    if (!value || !(*value > 0)) refuse(input, factor);
    frame.unit_mm = *value * kMetre;
    frame.unit_from = Scene::Provenance::file;
  }
  return frame;
}

/// The variable $INSUNITS of the header, by its numbers in AutoCAD's "DXF Reference".
Frame frame_of_dxf(const InputFile& input) {
  constexpr std::array<double, 21> kUnits{0,    25.4, 304.8, 1609344, 1,   10,  1000, 1e6, 2.54e-5, 0.0254, 914.4,
                                          1e-7, 1e-6, 1e-3,  100,     1e4, 1e5, 1e12, 0,   0,       0};
  Frame frame{1, Scene::Provenance::assumed, UpAxis::z, Scene::Provenance::convention};
  const std::string text = head(input);
  const std::size_t at = text.find("$INSUNITS");
  if (at == std::string::npos) return frame;
  const std::string file = input.path().string();
  TextReader words(std::string_view(text).substr(at), file);
  (void)words.next_word();
  (void)words.next_word();  // the group's code, 70
  const std::string number(words.next_word());
  const auto value = base::parse_number<std::size_t>(number);
  if (!value) refuse(input, number);
  if (*value == 0) return frame;  // unitless
  if (*value >= kUnits.size() || kUnits[*value] == 0) refuse(input, number);
  frame.unit_mm = kUnits[*value];
  frame.unit_from = Scene::Provenance::file;
  return frame;
}

/// Metric (key = "distance") {float {metres}} and Metric (key = "up") {string {"z"}}.
Frame frame_of_open_gex(const InputFile& input) {
  Frame frame{kMetre, Scene::Provenance::convention, UpAxis::z, Scene::Provenance::convention};
  const std::string text = head(input);
  const auto value_of = [&text](std::string_view key) -> std::string {
    const std::size_t at = text.find("\"" + std::string(key) + "\"");
    const std::size_t outer = at == std::string::npos ? at : text.find('{', at);
    const std::size_t inner = outer == std::string::npos ? outer : text.find('{', outer + 1);
    const std::size_t end = inner == std::string::npos ? inner : text.find('}', inner);
    return end == std::string::npos ? ""
                                    : std::string(trimmed(std::string_view(text).substr(inner + 1, end - inner - 1)));
  };
  if (const std::string distance = value_of("distance"); !distance.empty()) {
    const auto value = base::parse_number<double>(distance);
    if (!value || !(*value > 0)) refuse(input, distance);
    frame.unit_mm = *value * kMetre;
    frame.unit_from = Scene::Provenance::file;
  }
  if (const std::string up = value_of("up"); up.size() == 3 && up[1] >= 'x' && up[1] <= 'z') {
    frame.up_axis = static_cast<UpAxis>(up[1] - 'x');
    frame.up_from = Scene::Provenance::file;
  }
  return frame;
}

Frame frame_of_fbx(const aiScene& imported) {
  Frame frame;
  float centimetres = 0;
  int axis = -1;
  if (imported.mMetaData == nullptr) return frame;
  if (imported.mMetaData->Get("UnitScaleFactor", centimetres) && std::isfinite(centimetres) && centimetres > 0) {
    frame.unit_mm = 10.0 * double{centimetres};
    frame.unit_from = Scene::Provenance::file;
  }
  if (imported.mMetaData->Get("UpAxis", axis) && axis >= 0 && axis <= 2) {
    frame.up_axis = static_cast<UpAxis>(axis);
    frame.up_from = Scene::Provenance::file;
  }
  return frame;
}

/// The decimal number of which Assimp made this float, unless it had more than six digits.
double shortest_decimal(float value) {
  char text[32];
  const char* const end = std::to_chars(text, text + sizeof text, value).ptr;
  return base::parse_number<double>(std::string_view(text, end)).value_or(value);
}

}  // namespace

Frame take_collada_frame(aiNode& root, std::string_view text, const InputFile& input) {
  // ColladaLoader.cpp of Assimp: the scale to metres, times the rotation that makes Y the up axis.
  const aiMatrix3x3 rotations[] = {{0, -1, 0, 1, 0, 0, 0, 0, 1}, {}, {1, 0, 0, 0, 0, 1, 0, -1, 0}};
  const aiMatrix4x4& all = root.mTransformation;
  const float metres = aiVector3D(all.a1, all.b1, all.c1).Length();
  for (const UpAxis axis : {UpAxis::x, UpAxis::y, UpAxis::z}) {
    aiMatrix4x4 scale;
    aiMatrix4x4::Scaling(aiVector3D(metres), scale);
    if (!std::isnormal(metres) || all != scale * aiMatrix4x4(rotations[static_cast<std::size_t>(axis)])) continue;
    root.mTransformation = {};
    const auto from = [&](const char* tag) {
      return text.find(tag) == std::string_view::npos ? Scene::Provenance::convention : Scene::Provenance::file;
    };
    return {kMetre * shortest_decimal(metres), from("<unit"), axis, from("<up_axis")};
  }
  throw Error(ErrorKind::malformed, "Assimp has read a unit that is no positive number of metres",
              {input.path().string(), ""},
              "correct it, or leave out LoadOptions::reader to read it by raylift's importer");
}

Frame stated_frame(const aiScene& imported, const InputFile& input, const LoadOptions& options) {
  const std::string& extension = input.extension();
  if (is_gltf(extension)) return {kMetre, Scene::Provenance::convention, UpAxis::y, Scene::Provenance::convention};
  if (extension == "fbx") return frame_of_fbx(imported);
  if (extension == "amf") return frame_of_amf(input);
  if (is_one_of(extension, {"x3d", "x3db"})) return frame_of_x3d(input);
  if (extension == "dxf") return frame_of_dxf(input);
  if (extension == "ogex") return frame_of_open_gex(input);
  // Assimp scales them by the unit that the file states, to metres.
  if (is_one_of(extension, {"ifc", "ifczip"}))
    return {kMetre, Scene::Provenance::file, UpAxis::y, Scene::Provenance::assumed};
  if (is_one_of(extension, {"lwo", "lws", "lxo"}))
    return {kMetre, Scene::Provenance::convention, UpAxis::y, Scene::Provenance::convention};
  if (extension == "3mf") return frame_of_three_mf(input, options);
  if (extension == "stl") return {.up_axis = UpAxis::z};
  if (extension == "blend") return {kMetre, Scene::Provenance::convention, UpAxis::z, Scene::Provenance::convention};
  return {};
}

}  // namespace raylift::imported
