// SPDX-License-Identifier: Apache-2.0
// The layout of a container and the JSON's members are those of the glTF 2.0 specification, sections 3 and 4.
#include "gltf_preflight.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/json.h"

namespace raylift {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kMagic = 0x46546C67, kJsonChunk = 0x4E4F534A;  // "glTF", "JSON"
constexpr int kFloat = 5126;

class Gltf {
 public:
  explicit Gltf(const InputFile& input) : input_(input) {}

  [[nodiscard]] std::optional<std::uint64_t> check() const {
    base::JsonFault fault;
    const Json json = base::parse_json(json_text(), &fault);
    if (json.is_discarded())
      throw Error(fault.exceeds_limit ? ErrorKind::limit : ErrorKind::malformed, "the glTF's JSON: " + fault.what,
                  {file(), ""}, fault.exceeds_limit ? "keep buffers in files of their own, or use .glb" : "");
    if (!json.is_object()) throw Error(ErrorKind::malformed, "the glTF's JSON is no object", {file(), ""});
    check_required(json);
    check_instancing(json);
    check_positions(json);
    return triangles(json);
  }

 private:
  [[nodiscard]] std::string file() const { return input_.path().string(); }
  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(ErrorKind::malformed, problem, {file(), "chunk 0"}, "export the file again");
  }
  [[noreturn]] void refuse_extension(const std::string& name, const std::string& element) const {
    throw Error(ErrorKind::unsupported, "the glTF extension " + name + " is not read", {file(), element},
                "export the file without it");
  }

  /// The text of a .gltf, or of the first chunk of a container.
  [[nodiscard]] std::string json_text() const {
    std::array<std::uint32_t, 5> header{};  // magic, version, length; the chunk's length and type
    const std::size_t got = input_.read(0, header.data(), sizeof header);
    if (got < sizeof(std::uint32_t) || header[0] != kMagic) return input_.text();
    if (got < sizeof header) refuse("the container ends within its header");
    if (header[1] == 1) return R"({"meshes":0})";  // glTF 1.0: the header is another, and there were no such extensions
    if (header[2] > input_.size())
      refuse("the container is " + std::to_string(header[2]) + " bytes long by its header, and the file has " +
             std::to_string(input_.size()));
    const std::uint64_t length = header[3];
    if (header[4] != kJsonChunk) refuse("the first chunk is not of type JSON");
    if (length > input_.size() - sizeof header)
      refuse("the JSON chunk is " + std::to_string(length) + " bytes long, and the file has " +
             std::to_string(input_.size() - sizeof header) + " bytes left");
    if (length % 4 != 0) refuse("the JSON chunk's length, " + std::to_string(length) + " bytes, is no multiple of 4");
    std::string text(length, '\0');
    text.resize(input_.read(sizeof header, text.data(), length));
    return text;
  }

  /// Extensions of materials, textures and lights change no triangle. Assimp reads meshes that Draco has compressed,
  /// where it was built so; where it wasn't, triangles are missing.
  void check_required(const Json& json) const {
    const auto required = json.find("extensionsRequired");
    if (required == json.end() || !required->is_array()) return;
    constexpr std::array<std::string_view, 10> kHarmless{"KHR_draco_mesh_compression",
                                                         "KHR_technique",
                                                         "KHR_materials_",
                                                         "KHR_texture_",
                                                         "EXT_texture_",
                                                         "MSFT_texture_",
                                                         "KHR_lights_",
                                                         "EXT_lights_",
                                                         "KHR_xmp",
                                                         "EXT_materials_"};
    for (const Json& one : *required) {
      if (!one.is_string()) continue;
      const auto& name = one.get_ref<const std::string&>();
      if (std::none_of(kHarmless.begin(), kHarmless.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); }))
        refuse_extension(name.substr(0, 100), "extensionsRequired");
    }
  }

  /// Also where it isn't required: all instances but one would be lost.
  void check_instancing(const Json& json) const {
    constexpr const char* kInstancing = "EXT_mesh_gpu_instancing";
    each(json, "nodes", [&](const Json& node, std::size_t i) {
      const auto extensions = node.find("extensions");
      if (extensions != node.end() && extensions->is_object() && extensions->contains(kInstancing))
        refuse_extension(kInstancing, "node " + std::to_string(i));
    });
  }

  void check_positions(const Json& json) const {
    each(json, "meshes", [&](const Json& mesh, std::size_t i) {
      each(mesh, "primitives", [&](const Json& primitive, std::size_t) {
        const Json* const positions = accessor(json, position_of(primitive));
        if (positions == nullptr) return;
        const auto type = positions->find("componentType");
        if (type != positions->end() && type->is_number_integer() && *type != kFloat)
          refuse_extension("KHR_mesh_quantization (positions that are not float)", "mesh " + std::to_string(i));
      });
    });
  }

  /// The triangles of all meshes.
  [[nodiscard]] static std::optional<std::uint64_t> triangles(const Json& json) {
    constexpr int kTriangles = 4, kStrip = 5, kFan = 6;
    std::uint64_t sum = 0;
    bool sound = json.find("meshes") == json.end() || json["meshes"].is_array();
    each(json, "meshes", [&](const Json& mesh, std::size_t) {
      each(mesh, "primitives", [&](const Json& primitive, std::size_t) {
        const std::optional<std::uint64_t> corners = corner_count(json, primitive);
        const int mode = primitive.contains("mode") && primitive["mode"].is_number_integer()
                             ? primitive["mode"].get<int>()
                             : kTriangles;
        sound = sound && corners;
        if (!corners) return;
        if (mode == kTriangles) sum += *corners / 3;
        if (mode == kStrip || mode == kFan) sum += *corners > 2 ? *corners - 2 : 0;
      });
    });
    return sound ? std::optional(sum) : std::nullopt;
  }

  /// The number of a primitive's indices, or of its positions where it has none.
  [[nodiscard]] static std::optional<std::uint64_t> corner_count(const Json& json, const Json& primitive) {
    const auto indices = primitive.find("indices");
    const Json* const number = indices != primitive.end() ? &*indices : position_of(primitive);
    if (number == nullptr && primitive.contains("attributes") && primitive["attributes"].is_object())
      return 0;  // nothing to draw
    const Json* const corners = accessor(json, number);
    if (corners == nullptr) return std::nullopt;
    const auto count = corners->find("count");
    if (count == corners->end() || !count->is_number_unsigned()) return std::nullopt;
    return count->get<std::uint64_t>();
  }

  /// The number of the accessor of a primitive's positions; null where there is none.
  [[nodiscard]] static const Json* position_of(const Json& primitive) {
    const auto attributes = primitive.find("attributes");
    if (attributes == primitive.end() || !attributes->is_object()) return nullptr;
    const auto position = attributes->find("POSITION");
    return position == attributes->end() ? nullptr : &*position;
  }

  /// The accessor of that number; null where there is none.
  [[nodiscard]] static const Json* accessor(const Json& json, const Json* number) {
    const auto accessors = json.find("accessors");
    if (number == nullptr || !number->is_number_unsigned() || accessors == json.end() || !accessors->is_array())
      return nullptr;
    const auto index = number->get<std::uint64_t>();
    return index < accessors->size() && (*accessors)[index].is_object() ? &(*accessors)[index] : nullptr;
  }

  /// The objects of an array, where there is one.
  template <class Use>
  static void each(const Json& json, const char* key, const Use& use) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_array()) return;
    for (std::size_t i = 0; i != found->size(); ++i)
      if ((*found)[i].is_object()) use((*found)[i], i);
  }

  const InputFile& input_;
};

}  // namespace

bool is_gltf(const std::string& extension) {
  return extension == "gltf" || extension == "glb" || extension == "vrm";
}

std::optional<std::uint64_t> check_gltf(const InputFile& input) {
  return Gltf(input).check();
}

}  // namespace raylift
