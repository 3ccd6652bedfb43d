// SPDX-License-Identifier: Apache-2.0
#include "collada_optics.h"

#include "scene/names.h"

#include <map>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/parse_number.h"
#include "optics/property_faults.h"

namespace raylift::collada {
namespace {

constexpr std::size_t kMaxSurfaces = 1'000'000;  // surfaces, skins and borders

/// Finds elements by a name in either spelling. One of the two names may lack Geant4's pointer; pointers that differ
/// are two elements.
class Names {
 public:
  struct Entry {
    std::string name;  ///< as the scene has it
    std::uint32_t number = 0;
    bool several = false;
  };

  void add(std::string_view id, std::string_view name, std::uint32_t number = 0) {
    const std::string key = g4dae_name(id);
    by_name_.try_emplace(key, Entry{std::string(name), number});
    if (const std::string_view base = base_name(key); base.size() != key.size()) {
      const auto [entry, inserted] = by_base_.try_emplace(std::string(base), Entry{std::string(name), number});
      entry->second.several = !inserted;
    }
  }

  /// Null where there is none. Of several that differ in their pointers alone, the name is the one without.
  [[nodiscard]] std::optional<Entry> find(std::string_view ref) const {
    const std::string key = g4dae_name(ref);
    if (const auto found = by_name_.find(key); found != by_name_.end()) return found->second;
    const std::string_view base = base_name(key);
    if (base.size() != key.size()) {
      const auto found = by_name_.find(std::string(base));
      return found == by_name_.end() ? std::nullopt : std::optional(found->second);
    }
    const auto found = by_base_.find(key);
    if (found == by_base_.end()) return std::nullopt;
    Entry entry = found->second;
    if (entry.several) entry.name = base_name(entry.name);
    return entry;
  }

 private:
  std::unordered_map<std::string, Entry> by_name_, by_base_;
};

class OpticsReader {
 public:
  OpticsReader(const Source& source, pugi::xml_node root, Scene& scene)
      : source_(source), root_(root), scene_(scene), optics_(scene.optics) {}

  void read() {
    for (const pugi::xml_node extra : extras()) {
      for (const pugi::xml_node element : extra.children("opticalsurface")) read_surface(element);
      for (const pugi::xml_node meta : extra.children("meta"))
        for (const pugi::xml_node element : meta.children("bsurf")) read_copy_numbers(element);
    }
    for (const pugi::xml_node extra : extras()) {
      for (const pugi::xml_node element : extra.children("skinsurface")) read_skin(element);
      for (const pugi::xml_node element : extra.children("bordersurface")) read_border(element);
    }
    for (const auto& [key, numbers] : copy_numbers_)
      if (!numbers.used) warn(describe(numbers.element) + " belongs to no <bordersurface>");
  }

 private:
  struct CopyNumbers {
    pugi::xml_node element;
    std::optional<std::int64_t> from, to;
    bool used = false;
  };

  [[nodiscard]] std::vector<pugi::xml_node> extras() const {
    std::vector<pugi::xml_node> found;
    for (const pugi::xml_node nodes : root_.children("library_nodes"))
      for (const pugi::xml_node extra : nodes.children("extra")) found.push_back(extra);
    return found;
  }

  void warn(const std::string& text) { scene_.report.warnings.push_back(text); }

  /// One of Geant4's numbers, from 0 to `most`.
  std::uint8_t enumerator(pugi::xml_node element, const char* attribute, unsigned most) {
    const std::string_view text = required(source_, element, attribute);
    const auto value = base::parse_number<unsigned>(text);
    if (!value || *value > most)
      fail(ErrorKind::malformed,
           std::string(attribute) + "='" + std::string(text) + "' is none of Geant4's, which are 0 to " +
               std::to_string(most),
           source_, element);
    return static_cast<std::uint8_t>(*value);
  }

  void read_surface(pugi::xml_node element) {
    OpticalSurface surface;
    surface.name = required(source_, element, "name");
    surface.model = static_cast<SurfaceModel>(enumerator(element, "model", 4));
    surface.finish = static_cast<SurfaceFinish>(enumerator(element, "finish", 255));
    surface.type = static_cast<SurfaceType>(enumerator(element, "type", 7));
    surface.value = number(source_, element, "value");
    surface.properties =
        read_properties(source_, scene_, {element}, PropertyOf::surface, "surface '" + surface.name + "'");
    const auto before = surfaces_.find(surface.name);
    if (before && g4dae_name(optics_.surfaces[before->number].name) == g4dae_name(surface.name)) {
      if (optics_.surfaces[before->number] == surface) return;
      fail(ErrorKind::malformed, "two optical surfaces are called '" + surface.name + "', and they differ", source_,
           element, "give each a name of its own");
    }
    check_count(element);
    surfaces_.add(surface.name, surface.name, static_cast<std::uint32_t>(optics_.surfaces.size()));
    optics_.surfaces.push_back(std::move(surface));
  }

  void check_count(pugi::xml_node element) const {
    if (optics_.surfaces.size() + optics_.assignments.size() == kMaxSurfaces)
      fail(ErrorKind::limit, "more than " + std::to_string(kMaxSurfaces) + " surfaces, skins and borders", source_,
           element);
  }

  /// The two <pv> of a <bsurf>: the copy numbers of what a border surface of the same name lies between.
  void read_copy_numbers(pugi::xml_node element) {
    CopyNumbers numbers{element, {}, {}};
    std::string key(required(source_, element, "name"));
    std::size_t count = 0;
    for (const pugi::xml_node pv : element.children("pv")) {
      key += '\n' + g4dae_name(required(source_, pv, "ref"));
      if (const pugi::xml_attribute copy = pv.attribute("copyNo")) {
        const std::string_view text = copy.value();
        const auto value = base::parse_number<std::int64_t>(text);
        if (!value)
          fail(ErrorKind::malformed, "copyNo='" + std::string(text) + "' is no copy number", source_, element);
        (count == 0 ? numbers.from : numbers.to) = *value;
      }
      if (++count > 2) break;
    }
    if (count != 2) fail(ErrorKind::malformed, "a border surface lies between two <pv>", source_, element);
    copy_numbers_.try_emplace(std::move(key), numbers);
  }

  std::uint32_t find_surface(pugi::xml_node element) const {
    const std::string_view name = required(source_, element, "surfaceproperty");
    const auto found = surfaces_.find(name);
    if (!found)
      fail(ErrorKind::malformed, "'" + std::string(name) + "' names no <opticalsurface> of this document", source_,
           element);
    return found->number;
  }

  /// The pattern of the name that the scene has for the node of a <volumeref> or <physvolref>. Nothing, and a warning,
  /// where the document has no such node: parts of a geometry are exported with all of its surfaces.
  std::optional<std::string> find_node(pugi::xml_node element, pugi::xml_node reference) {
    if (!nodes_) {
      nodes_.emplace();
      for (const char* library : {"library_nodes", "library_visual_scenes"})
        for (const pugi::xml_node node : elements_of(root_, library, "node", true)) {
          const char* name = node.attribute("name").value();
          nodes_->add(node.attribute("id").value(), *name != '\0' ? name : node.attribute("id").value());
        }
    }
    const std::string_view ref = required(source_, reference, "ref");
    const auto found = nodes_->find(ref);
    if (!found) {
      warn(describe(element) + " refers to the volume '" + std::string(ref) +
           "', which is not in the file; it is left out");
      return std::nullopt;
    }
    return literal_pattern(found->name);
  }

  void read_skin(pugi::xml_node element) {
    SurfaceAssignment skin{
        SurfaceAssignment::Kind::skin, std::string(required(source_, element, "name")), find_surface(element), {}, {}};
    const pugi::xml_node reference = element.child("volumeref");
    if (!reference) fail(ErrorKind::malformed, "the skin surface has no <volumeref>", source_, element);
    const auto volume = find_node(element, reference);
    if (!volume) return;
    if (!skins_.insert(*volume).second) {
      warn(describe(element) + ": '" + std::string(reference.attribute("ref").value()) +
           "' has a skin surface already, which holds, as in Geant4");
      return;
    }
    skin.from.volume = *volume;
    check_count(element);
    optics_.assignments.push_back(std::move(skin));
  }

  void read_border(pugi::xml_node element) {
    SurfaceAssignment border{SurfaceAssignment::Kind::border,
                             std::string(required(source_, element, "name")),
                             find_surface(element),
                             {},
                             {}};
    const auto references = element.children("physvolref");
    const std::vector<pugi::xml_node> pair(references.begin(), references.end());
    if (pair.size() != 2)
      fail(ErrorKind::malformed,
           "the border surface has " + std::to_string(pair.size()) + " <physvolref>, and lies between two", source_,
           element);
    const auto key = [&](std::size_t i) { return '\n' + g4dae_name(pair[i].attribute("ref").value()); };
    if (const auto found = copy_numbers_.find(border.name + key(0) + key(1)); found != copy_numbers_.end()) {
      border.from.copy_number = found->second.from;
      border.to.copy_number = found->second.to;
      found->second.used = true;
    }
    const auto from = find_node(element, pair[0]);
    const auto to = find_node(element, pair[1]);
    if (!from || !to) return;
    border.from.solid = *from;
    border.to.solid = *to;
    if (!borders_.insert({border.from.solid, border.from.copy_number, border.to.solid, border.to.copy_number}).second) {
      warn(describe(element) + ": another border surface lies between these volumes already, and holds, as in Geant4");
      return;
    }
    check_count(element);
    optics_.assignments.push_back(std::move(border));
  }

  const Source& source_;
  pugi::xml_node root_;
  Scene& scene_;
  Optics& optics_;
  Names surfaces_;  // number: in Optics::surfaces
  std::optional<Names> nodes_;
  std::map<std::string, CopyNumbers> copy_numbers_;  // by border surface, from, to
  std::unordered_set<std::string> skins_;
  using Copy = std::optional<std::int64_t>;
  std::set<std::tuple<std::string, Copy, std::string, Copy>> borders_;
};

}  // namespace

void read_material_optics(const Source& source, pugi::xml_node element, std::uint32_t material, Scene& scene) {
  const auto extras = element.children("extra");
  OpticalProperties properties = read_properties(source, scene, {extras.begin(), extras.end()}, PropertyOf::material,
                                                 "material '" + scene.materials[material].name + "'");
  if (properties.empty()) return;
  scene.optics.materials.resize(scene.materials.size());
  scene.optics.materials[material] = std::move(properties);
}

void read_optics(const Source& source, Scene& scene) {
  if (!scene.optics.materials.empty()) scene.optics.materials.resize(scene.materials.size());
  for (std::size_t i = 0; i != source.documents(); ++i) OpticsReader(source, source.root(i), scene).read();
  detail::check_property_values(scene);
}

}  // namespace raylift::collada
