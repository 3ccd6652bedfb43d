// SPDX-License-Identifier: Apache-2.0
// The format is that of the 3MF Consortium's core specification 1.3 and production extension 1.1.
#include "three_mf.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <pugixml.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "base/units.h"
#include "import/archive.h"
#include "import/collada/collada_text.h"
#include "polygon_reader.h"

namespace raylift::imported {
namespace {

constexpr std::array kLengthUnits{base::Unit{"micron", 1e-3}, base::Unit{"millimeter", 1}, base::Unit{"centimeter", 10},
                                  base::Unit{"inch", 25.4},   base::Unit{"foot", 304.8},   base::Unit{"meter", 1000}};

/// Extensions that may be required and change no shape, or that are read.
constexpr std::array<std::string_view, 3> kExtensions{"http://schemas.microsoft.com/3dmanufacturing/production/",
                                                      "http://schemas.microsoft.com/3dmanufacturing/material/",
                                                      "http://schemas.microsoft.com/3dmanufacturing/trianglesets/"};

/// An element's or attribute's name without its namespace's prefix.
std::string_view local(std::string_view name) {
  return name.substr(name.find(':') + 1);
}
bool is(pugi::xml_node element, std::string_view name) {
  return local(element.name()) == name;
}
pugi::xml_node child(pugi::xml_node parent, std::string_view name) {
  return parent.find_child([&](pugi::xml_node node) { return is(node, name); });
}
pugi::xml_attribute attribute(pugi::xml_node element, std::string_view name) {
  return element.find_attribute([&](pugi::xml_attribute one) { return local(one.name()) == name; });
}

class ThreeMf {
 public:
  ThreeMf(const InputFile& input, const LoadOptions& options)
      : input_(input), file_(input.path().string()), options_(options) {}

  Document read() {
    const std::string main = main_path();
    Part& part = open(main);
    document_ = begin_document(input_, "3MF", part.frame, options_);
    Scene& scene = document_.scene;
    for (const pugi::xml_node one : part.model.children())
      if (is(one, "metadata") && std::string_view(one.attribute("name").value()) == "Application")
        scene.generator = one.child_value();
    EigenTransform unit = EigenTransform::Identity();
    unit.scale(scene.unit_mm);
    push_all(child(part.model, "build"), "item", part, 0, 1, unit, "<build> in " + main);
    while (!stack_.empty()) place();
    if (lattices_ != 0) scene.report.warnings.push_back(std::to_string(lattices_) + " beam lattices are not read");
    return std::move(document_);
  }

  [[nodiscard]] Frame frame() const {
    const std::string main = main_path();
    pugi::xml_document xml;
    parse(xml, main);
    return frame_of(xml.document_element(), "entry '" + main + "'");
  }

 private:
  /// A model part of the archive.
  struct Part {
    std::string path;
    pugi::xml_document xml;
    pugi::xml_node model;
    Frame frame;
    std::map<std::string, pugi::xml_node, std::less<>> objects;
    std::map<std::pair<std::string, std::uint64_t>, std::uint32_t> materials;  // by the group's id and the number in it
  };
  /// An object that is to be placed.
  struct Step {
    pugi::xml_node object;
    Part* part;
    std::uint32_t parent;
    std::uint32_t depth;
    EigenTransform transform;
  };

  [[noreturn]] void fail(const std::string& problem, const std::string& element, ErrorKind kind = ErrorKind::malformed,
                         std::string_view advice = {}) const {
    throw Error(kind, problem, {file_, element}, advice);
  }
  void check(std::uint64_t value, std::uint64_t limit, const char* what, const char* option) const {
    if (value > limit)
      fail("the scene has more than " + std::to_string(limit) + " " + what, "", ErrorKind::limit,
           std::string("raise the limit with ") + option);
  }

  // The archive ------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::string entry(const std::string& path) const {
    std::optional<std::string> text = read_zip_entry(input_.path(), path, options_.limits);
    if (!text) fail("the archive has no such entry", "entry '" + path + "'");
    return std::move(*text);
  }

  void parse(pugi::xml_document& xml, const std::string& path) const {
    const std::string text = entry(path);
    const pugi::xml_parse_result parsed = xml.load_buffer(text.data(), text.size());
    if (!parsed) fail(std::string("not well-formed XML: ") + parsed.description(), "entry '" + path + "'");
  }

  static std::string without_slash(std::string_view path) {
    while (path.starts_with('/')) path.remove_prefix(1);
    return std::string(path);
  }

  [[nodiscard]] std::string main_path() const {
    constexpr const char* kRelations = "_rels/.rels";
    pugi::xml_document xml;
    parse(xml, kRelations);
    for (const pugi::xml_node relation : xml.document_element().children())
      if (std::string_view(relation.attribute("Type").value()).ends_with("/3dmodel"))
        return without_slash(relation.attribute("Target").value());
    fail("the archive states no 3D model", std::string("entry '") + kRelations + "'");
  }

  Part& open(const std::string& path) {
    std::unique_ptr<Part>& place = parts_[path];
    if (place) return *place;
    check(parts_.size(), options_.limits.documents, "documents", "LoadLimits::documents");
    place = std::make_unique<Part>();
    Part& part = *place;
    part.path = path;
    parse(part.xml, path);
    part.model = part.xml.document_element();
    const std::string where = "entry '" + path + "'";
    if (!is(part.model, "model")) fail("the root element is not <model>", where);
    check_required(part.model, where);
    part.frame = frame_of(part.model, where);
    for (const pugi::xml_node resource : child(part.model, "resources").children()) {
      if (is(resource, "object") && !part.objects.emplace(resource.attribute("id").value(), resource).second)
        fail("the id " + in_quotes(resource.attribute("id").value()) + " occurs twice", where);
      if (is(resource, "basematerials")) read_materials(part, resource);
    }
    return part;
  }

  [[nodiscard]] Frame frame_of(pugi::xml_node model, const std::string& where) const {
    Frame frame{1, Scene::Provenance::convention, UpAxis::z, Scene::Provenance::convention};
    if (const pugi::xml_attribute unit = model.attribute("unit")) {
      const auto mm = base::value_of(unit.value(), kLengthUnits);
      if (!mm) fail("the unit " + in_quotes(unit.value()) + " is none of 3MF", where);
      frame.unit_mm = *mm;
      frame.unit_from = Scene::Provenance::file;
    }
    return frame;
  }

  void check_required(pugi::xml_node model, const std::string& where) const {
    std::string_view required = model.attribute("requiredextensions").value();
    for (std::string_view prefix = take_word(required); !prefix.empty(); prefix = take_word(required)) {
      const std::string_view name = model.attribute(("xmlns:" + std::string(prefix)).c_str()).value();
      if (std::none_of(kExtensions.begin(), kExtensions.end(),
                       [&](std::string_view known) { return name.starts_with(known); }))
        fail("the required extension " + in_quotes(prefix) + " (" + std::string(name.substr(0, 100)) + ") is not read",
             where, ErrorKind::unsupported, "export the file without it");
    }
  }

  void read_materials(Part& part, pugi::xml_node group) {
    std::uint64_t number = 0;
    for (const pugi::xml_node base : group.children()) {
      if (!is(base, "base")) continue;
      Material material{base.attribute("name").value(), {}};
      if (material.name.empty()) material.name = "material " + std::to_string(materials_.size());
      material.color = color(base.attribute("displaycolor").value());
      part.materials[{group.attribute("id").value(), number++}] = static_cast<std::uint32_t>(materials_.size());
      materials_.push_back(std::move(material));
    }
  }

  static std::array<float, 4> color(std::string_view text) {
    std::array<float, 4> result = Material{}.color;
    if (!text.starts_with('#')) return result;
    for (std::size_t i = 0; i != result.size() && 2 * i + 3 <= text.size(); ++i)
      if (const auto value = base::parse_number<unsigned>(text.substr(2 * i + 1, 2), 16))
        result[i] = static_cast<float>(*value) / 255;
    return result;
  }

  // Placing ----------------------------------------------------------------------------------------------------------

  /// Has all <item> or <component> of an element placed, in order.
  void push_all(pugi::xml_node list, const char* name, Part& part, std::uint32_t parent, std::uint32_t depth,
                const EigenTransform& above, const std::string& where) {
    const std::size_t before = stack_.size();
    for (const pugi::xml_node one : list.children())
      if (is(one, name)) push(one, part, parent, depth, above, where);
    std::reverse(stack_.begin() + static_cast<std::ptrdiff_t>(before), stack_.end());
  }

  void push(pugi::xml_node reference, Part& part, std::uint32_t parent, std::uint32_t depth,
            const EigenTransform& above, const std::string& where) {
    const pugi::xml_attribute path = attribute(reference, "path");
    Part& target = path ? open(without_slash(path.value())) : part;
    if (target.frame.unit_mm != part.frame.unit_mm)
      fail("the parts of the archive are in different units", "entry '" + target.path + "'", ErrorKind::unsupported);
    const std::string_view id = reference.attribute("objectid").value();
    const auto object = target.objects.find(id);
    if (object == target.objects.end()) fail("there is no object of id " + in_quotes(id) + " in " + target.path, where);
    EigenTransform transform = above;
    if (const pugi::xml_attribute text = reference.attribute("transform")) {
      const auto numbers = collada::read_reals(text.value());
      if (!numbers || numbers->size() != 12) fail("a transform that is not twelve numbers", where);
      EigenTransform local;
      for (int row = 0; row != 3; ++row)
        for (int column = 0; column != 4; ++column)
          local.matrix()(row, column) = (*numbers)[static_cast<std::size_t>(3 * column + row)];
      transform = above * local;
    }
    stack_.push_back({object->second, &target, parent, depth, transform});
  }

  void place() {
    const Step step = stack_.back();
    stack_.pop_back();
    Scene& scene = document_.scene;
    const std::string where = describe(step);
    check(step.depth, options_.limits.node_depth, "levels of components", "LoadLimits::node_depth");
    check(scene.nodes.size() + 1, options_.limits.nodes, "nodes", "LoadLimits::nodes");
    const auto here = static_cast<std::uint32_t>(scene.nodes.size());
    scene.nodes.push_back({name_of(step), step.parent, std::nullopt, kNone});
    names_.add(scene.nodes.back().name);
    if (const pugi::xml_node mesh = child(step.object, "mesh")) {
      check(scene.instances.size() + 1, options_.limits.instances, "solids", "LoadLimits::instances");
      const std::uint32_t number = use(step, mesh, where);
      scene.instances.push_back({number, here, number, kNone, step.transform});
    } else if (const pugi::xml_node components = child(step.object, "components")) {
      push_all(components, "component", *step.part, here, step.depth + 1, step.transform, where);
    } else {
      fail("an object with neither a mesh nor components", where, ErrorKind::unsupported, "export it as a mesh");
    }
  }

  static std::string describe(const Step& step) {
    return "object " + std::string(step.object.attribute("id").value()) + " in " + step.part->path;
  }
  static std::string name_of(const Step& step) {
    const std::string name = step.object.attribute("name").value();
    return name.empty() ? "object " + std::string(step.object.attribute("id").value()) : name;
  }

  // Meshes -----------------------------------------------------------------------------------------------------------

  /// The number of the object's mesh, which is read when it is first placed.
  std::uint32_t use(const Step& step, pugi::xml_node mesh, const std::string& where) {
    Scene& scene = document_.scene;
    const auto [place, inserted] =
        meshes_.try_emplace(mesh.internal_object(), static_cast<std::uint32_t>(scene.meshes.size()));
    if (!inserted) return place->second;
    Geometry geometry;
    geometry.id = name_of(step);
    read_vertices(mesh, geometry.positions, where);
    scene.meshes.emplace_back().name = geometry.id;
    scene.bindings.push_back(read_triangles(step, mesh, geometry, where));
    document_.geometries.push_back(std::move(geometry));
    for (const pugi::xml_node other : mesh.children()) lattices_ += is(other, "beamlattice") ? 1 : 0;
    return place->second;
  }

  void read_vertices(pugi::xml_node mesh, Positions& positions, const std::string& where) const {
    for (const pugi::xml_node vertex : child(mesh, "vertices").children()) {
      if (!is(vertex, "vertex")) continue;
      for (const char* axis : {"x", "y", "z"}) {
        const std::optional<float> value = collada::read_float(vertex.attribute(axis).value());
        if (!value)
          fail(in_quotes(vertex.attribute(axis).value()) + " is no number: " + axis,
               where + ", vertex " + std::to_string(positions.count));
        positions.numbers.push_back(*value);
      }
      ++positions.count;
    }
  }

  /// Reads the triangles, a primitive for each material, and returns the materials.
  std::vector<std::uint32_t> read_triangles(const Step& step, pugi::xml_node mesh, Geometry& geometry,
                                            const std::string& where) {
    const PolygonReader polygons(file_, options_, document_.scene.report);
    const std::string group = step.object.attribute("pid").value();
    const std::uint32_t whole = material(*step.part, group, step.object.attribute("pindex").as_ullong());
    std::vector<std::uint32_t> materials;
    std::uint64_t number = 0;
    for (const pugi::xml_node triangle : child(mesh, "triangles").children()) {
      if (!is(triangle, "triangle")) continue;
      const auto element = [&] { return where + ", triangle " + std::to_string(number); };
      std::array<std::uint64_t, 3> corners{};
      constexpr std::array<const char*, 3> kCorners{"v1", "v2", "v3"};
      for (std::size_t i = 0; i != corners.size(); ++i) {
        const std::string_view text = triangle.attribute(kCorners[i]).value();
        const auto value = base::parse_number<std::uint64_t>(text);
        if (!value) fail(in_quotes(text) + " is no number of a vertex", element());
        corners[i] = *value;
      }
      const pugi::xml_attribute own = triangle.attribute("pid"), index = triangle.attribute("p1");
      const std::uint32_t which = index ? material(*step.part, own ? own.value() : group, index.as_ullong()) : whole;
      const auto part = std::find(materials.begin(), materials.end(), which);
      const auto at = static_cast<std::size_t>(part - materials.begin());
      if (part == materials.end()) {
        materials.push_back(which);
        geometry.primitives.emplace_back();
      }
      polygons.add(geometry.primitives[at], corners, geometry.positions.count, element);
      ++number;
    }
    for (std::size_t i = materials.size(); i-- != 0;)
      if (geometry.primitives[i].corners.empty()) {
        geometry.primitives.erase(geometry.primitives.begin() + static_cast<std::ptrdiff_t>(i));
        materials.erase(materials.begin() + static_cast<std::ptrdiff_t>(i));
      }
    return materials;
  }

  /// Base materials have names; colours and textures are none.
  std::uint32_t material(const Part& part, const std::string& group, std::uint64_t index) {
    const auto found = part.materials.find({group, index});
    if (found == part.materials.end()) return kNone;
    const auto [place, inserted] =
        used_.try_emplace(found->second, static_cast<std::uint32_t>(document_.scene.materials.size()));
    if (inserted) document_.scene.materials.push_back(materials_[found->second]);
    return place->second;
  }

  const InputFile& input_;
  std::string file_;
  const LoadOptions& options_;
  NodeNames names_{file_, input_.size(), options_.limits};
  Document document_;
  std::map<std::string, std::unique_ptr<Part>> parts_;
  std::vector<Material> materials_;              // of all parts
  std::map<std::uint32_t, std::uint32_t> used_;  // number among those -> in the scene
  std::map<const void*, std::uint32_t> meshes_;  // by the element
  std::vector<Step> stack_;
  std::uint64_t lattices_ = 0;
};

}  // namespace

Document read_three_mf(const InputFile& input, const LoadOptions& options) {
  return ThreeMf(input, options).read();
}

Frame frame_of_three_mf(const InputFile& input, const LoadOptions& options) {
  return ThreeMf(input, options).frame();
}

}  // namespace raylift::imported
