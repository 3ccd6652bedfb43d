// SPDX-License-Identifier: Apache-2.0
#include "gdml.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/words.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "edit_optics.h"
#include "gdml_values.h"
#include "property_faults.h"
#include "property_table.h"
#include "scene/names.h"

namespace raylift::detail {
namespace {

constexpr double kEvPerMev = 1e6;
constexpr std::size_t kMaxProperties = 1000;  // of a material or surface

/// The name by which the scene has what the file calls `name`; `name` where it has nothing. A file that was written,
/// read and written again has names with two pointers.
std::string as_in_scene(const std::string& name, const NameIndex& index) {
  for (std::string_view one = name;; one = base_name(one)) {
    for (const std::string& form : {std::string(one), g4dae_name(one)})
      if (!index.meant(literal_pattern(form)).empty()) return form;
    if (base_name(one) == one) return name;
  }
}

std::string attribute(const pugi::xml_node& node, const char* name, const std::string& file) {
  const std::string value = node.attribute(name).value();
  if (!value.empty()) return value;
  throw Error(ErrorKind::malformed, std::string("it lacks '") + name + "'",
              {file, std::string("<") + node.name() + "> '" + node.attribute("name").value() + "'"});
}

class Gdml {
 public:
  /// names: those of the scene's own file; null where the scene is another file's.
  Gdml(Scene& scene, const pugi::xml_node& root, const std::string& file, const GdmlStructure* names, GdmlTaken& taken)
      : scene_(scene), root_(root), file_(file), own_(names), taken_(taken), values_(root.child("define"), file) {}

  void read() {
    materials();
    surfaces();
    const pugi::xml_node structure = root_.child("structure");
    if (structure.child("skinsurface") || structure.child("bordersurface")) index_solids();
    for (const pugi::xml_node node : root_.child("structure").children("skinsurface")) skin(node);
    for (const pugi::xml_node node : root_.child("structure").children("bordersurface")) border(node);
  }

 private:
  void warn(const std::string& what) { scene_.report.warnings.push_back(file_ + ": " + what); }

  void materials() {
    NameIndex index;
    for (const Material& material : scene_.materials) index.add(material.name);
    for (const pugi::xml_node node : root_.child("materials").children("material")) {
      const bool first = taken_.materials.insert(node.attribute("name").value()).second;
      if (!node.child("property")) continue;
      const std::string name = attribute(node, "name", file_);
      if (!first) {
        warn("two materials are called '" + name + "', and the properties of the first one hold, as in Geant4");
        continue;
      }
      OpticalProperties properties;
      const std::string where = "material '" + name + "'";
      read(properties, node, PropertyOf::material, where);
      if (const pugi::xml_attribute kelvin = node.child("T").attribute("value");
          kelvin && properties.constant("ISOTHERMAL_COMPRESSIBILITY"))
        set_property(properties, OpticalProperties::Constant{"TEMPERATURE", values_.evaluate(kelvin.value(), where)});
      const auto meant = index.meant(literal_pattern(as_in_scene(name, index)));
      if (meant.empty()) warn("no material of the scene is called '" + name + "', which has optical properties");
      if (!meant.empty()) scene_.optics.materials.resize(scene_.materials.size());
      for (const std::uint32_t material : meant) merge(scene_.optics.materials[material], properties);
    }
  }

  static void merge(OpticalProperties& into, const OpticalProperties& from) {
    for (const OpticalTable& table : from.tables) set_property(into, table);
    for (const OpticalProperties::Constant& constant : from.constants) set_property(into, constant);
  }

  /// Older versions of Geant4 wrote numbers as tables of one value, over energies from -1 to 1.
  static bool is_one_number(const GdmlMatrix& matrix, const PropertyInfo* info) {
    for (std::size_t i = 3; i < matrix.values.size(); i += 2)
      if (matrix.values[i] != matrix.values[1]) return false;
    return info != nullptr ? !info->table : matrix.values.front() <= 0;
  }

  /// Rows in any order, as Geant4 inserts them by their energy. A row that occurs twice counts once. Two values at one
  /// energy are a step, in the order of the file's energies; Geant4 exchanges them where energies ascend. One row is a
  /// constant.
  OpticalTable table_of(const GdmlMatrix& matrix, const std::string& key, const std::string& element) {
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i != matrix.values.size(); i += 2)
      points.emplace_back(matrix.values[i] * kEvPerMev, matrix.values[i + 1]);
    if (points.front().first > points.back().first) std::reverse(points.begin(), points.end());
    std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    OpticalTable table{key, OpticalTable::Axis::energy_ev, {}, {}};
    const auto add = [&table](double at, double value) {
      table.at.push_back(at);
      table.values.push_back(value);
    };
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i != points.size(); ++i) {
      const auto [at, value] = points[i];
      const bool again = i != 0 && at == points[i - 1].first;
      if (again && value == points[i - 1].second)
        warn(element + ": the point at " + std::to_string(at) + " eV is there twice, and taken once");
      else if (again)
        add(std::nextafter(table.at.back(), kInfinite), value);
      else
        add(at, value);
    }
    if (table.at.size() == 1) add(std::nextafter(table.at.front(), kInfinite), table.values.front());
    return table;
  }

  void read(OpticalProperties& properties, const pugi::xml_node& node, PropertyOf of, const std::string& owner) {
    std::set<std::string> keys;
    for (const pugi::xml_node property : node.children("property")) {
      const std::string key = attribute(property, "name", file_);
      const Error::Where where{file_, owner + ", " + key};
      if (keys.size() == kMaxProperties)  // each is looked up among those before it
        throw Error(ErrorKind::limit, "it has more than " + std::to_string(kMaxProperties) + " properties",
                    {file_, owner});
      if (!keys.insert(key).second) throw Error(ErrorKind::malformed, "it occurs twice", where, "keep one of them");
      const GdmlMatrix matrix = values_.matrix(attribute(property, "ref", file_), where.element);
      const PropertyInfo* info = find_property(of, key);
      std::optional<PropertyFault> fault;
      if (matrix.columns == 1 || is_one_number(matrix, info)) {
        if (matrix.columns == 1 && matrix.values.size() != 1)
          throw Error(ErrorKind::malformed, "it is a list of " + std::to_string(matrix.values.size()) + " numbers",
                      where, "a table has coldim=\"2\": energy and value");
        if (info != nullptr && info->table)
          throw Error(ErrorKind::malformed, "it is one number, and a table is expected", where, "give it points");
        fault = find_fault(matrix.values.back(), info);
        set_property(properties, OpticalProperties::Constant{key, matrix.values.back()});
      } else {
        OpticalTable table = table_of(matrix, key, where.element);
        fault = find_fault(table, info);
        set_property(properties, std::move(table));
      }
      if (fault) throw Error(ErrorKind::malformed, key + ' ' + fault->what, where, fault->advice);
    }
  }

  void surfaces() {
    NameIndex index;
    for (const OpticalSurface& surface : scene_.optics.surfaces) index.add(surface.name);
    for (const pugi::xml_node node : root_.child("solids").children("opticalsurface")) {
      const std::string name = attribute(node, "name", file_);
      const OpticalSurface read = surface(node, name);
      std::vector<std::uint32_t> meant = index.meant(literal_pattern(as_in_scene(name, index)));
      if (meant.empty()) {
        meant.push_back(static_cast<std::uint32_t>(scene_.optics.surfaces.size()));
        scene_.optics.surfaces.emplace_back().name = name;
      }
      for (const std::uint32_t one : meant) {
        OpticalSurface& target = scene_.optics.surfaces[one];
        target.model = read.model;
        target.finish = read.finish;
        target.type = read.type;
        target.value = read.value;
        merge(target.properties, read.properties);
      }
      if (!surfaces_.emplace(name, meant.front()).second)
        throw Error(ErrorKind::malformed, "two optical surfaces are called '" + name + "'", {file_, "<solids>"},
                    "keep one of them");
    }
  }

  OpticalSurface surface(const pugi::xml_node& node, const std::string& name) {
    const std::string where = "opticalsurface '" + name + "'";
    OpticalSurface result;
    result.name = name;
    const auto word = [&](const char* attribute, auto& target, auto parse) {
      const pugi::xml_attribute given = node.attribute(attribute);
      if (!given) return;
      const auto parsed = parse(given.value());
      if (!parsed)
        throw Error(ErrorKind::malformed,
                    std::string(attribute) + " is '" + given.value() + "', which is unknown to raylift", {file_, where},
                    "it has Geant4's names and numbers");
      target = *parsed;
    };
    word("model", result.model, surface_model);
    word("finish", result.finish, surface_finish);
    word("type", result.type, surface_type);
    if (const pugi::xml_attribute value = node.attribute("value"))
      result.value = values_.evaluate(value.value(), where);
    read(result.properties, node, PropertyOf::surface, where);
    return result;
  }

  /// What the scene and the file call their volumes.
  void index_solids() {
    std::unordered_set<std::string> solids, volumes;
    for (const Instance& instance : scene_.instances) {
      if (solids.insert(scene_.solid_name(instance)).second) solids_.add(scene_.solid_name(instance));
      if (volumes.insert(scene_.volume_name(instance)).second) volumes_.add(scene_.volume_name(instance));
    }
    for (const Node& node : scene_.nodes) has_copy_numbers_ = has_copy_numbers_ || node.copy_number.has_value();
    if (own_ == nullptr) index_structure();
  }

  void index_structure() {
    for (const pugi::xml_node holder : root_.child("structure").children()) {
      if (holder.attribute("name")) in_file_.volumes.insert(holder.attribute("name").value());
      for (const pugi::xml_node placed : holder.children()) {
        const std::string_view kind = placed.name();
        if (kind != "physvol" && kind != "replicavol" && kind != "paramvol" && kind != "divisionvol") continue;
        if (placed.child("file"))
          warn("the file '" + std::string(placed.child("file").attribute("name").value()) +
               "' that it includes is not read");
        std::string name = placed.attribute("name").value();
        if (name.empty()) name = std::string(placed.child("volumeref").attribute("ref").value()) + "_PV";
        ++of_base_[std::string(base_name(name))];
        in_file_.place(name, placed.attribute("copynumber").value());
      }
    }
  }

  std::uint32_t surface_of(const pugi::xml_node& node, const std::string& where) const {
    const std::string name = attribute(node, "surfaceproperty", file_);
    if (const auto found = surfaces_.find(name); found != surfaces_.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [known, index] : surfaces_) names.push_back(known);
    throw Error(ErrorKind::malformed,
                "it refers to '" + name + "', and no opticalsurface is called so" + base::did_you_mean(name, names),
                {file_, where});
  }

  void skin(const pugi::xml_node& node) {
    SurfaceAssignment assignment;
    assignment.name = node.attribute("name").value();
    const std::string where = "skinsurface '" + assignment.name + "'";
    assignment.surface = surface_of(node, where);
    const pugi::xml_node volume = node.child("volumeref");
    const std::string name = attribute(volume, "ref", file_);
    if (!names().volumes.contains(name))
      throw Error(ErrorKind::malformed,
                  "it refers to '" + name + "', and no volume is called so" +
                      base::did_you_mean(name, {names().volumes.begin(), names().volumes.end()}),
                  {file_, where});
    if (!taken_.skins.insert(name).second)
      return warn(where + " is another skin of '" + name + "', and the first one holds, as in Geant4");
    if (is_elsewhere(name, volumes_, where)) return;
    assignment.from.volume = literal_pattern(as_in_scene(name, volumes_));
    scene_.optics.assignments.push_back(std::move(assignment));
  }

  void border(const pugi::xml_node& node) {
    SurfaceAssignment assignment;
    assignment.kind = SurfaceAssignment::Kind::border;
    assignment.name = node.attribute("name").value();
    const std::string where = "bordersurface '" + assignment.name + "'";
    assignment.surface = surface_of(node, where);
    const pugi::xml_node from = node.child("physvolref"), to = from.next_sibling("physvolref");
    if (!to || to.next_sibling("physvolref"))
      throw Error(ErrorKind::malformed, "it needs two physvolref, from and to", {file_, where});
    const std::string out_of = attribute(from, "ref", file_), into = attribute(to, "ref", file_);
    if (!taken_.borders.emplace(out_of, into).second)
      return warn(where + " is another border from '" + out_of + "' to '" + into +
                  "', and the first one holds, as in Geant4");
    assignment.from = selector(from, where);
    assignment.to = selector(to, where);
    for (const pugi::xml_node one : {from, to})
      if (is_elsewhere(one.attribute("ref").value(), solids_, where)) return;
    scene_.optics.assignments.push_back(std::move(assignment));
  }

  /// Whether what the scene's own file calls so is not in the chosen world. Another volume whose name differs in the
  /// pointer alone must not take its place.
  bool is_elsewhere(const std::string& name, const NameIndex& index, const std::string& where) {
    if (own_ == nullptr) return false;
    const auto meant = index.meant(literal_pattern(name));
    if (!meant.empty() && index.names()[meant.front()] == name) return false;
    warn(where + " holds nowhere, as '" + name + "' is not in the world");
    return true;
  }

  SolidSelector selector(const pugi::xml_node& reference, const std::string& where) {
    const std::string name = attribute(reference, "ref", file_);
    const auto found = names().placed.find(name);
    if (found == names().placed.end()) {
      std::vector<std::string> placed;
      for (const auto& [known, first] : names().placed) placed.push_back(known);
      // Geant4 calls daughters of assemblies so: av_1_impr_2_VOLUME_pv_3.
      const bool imprint = name.starts_with("av_") && name.find("_impr_") != std::string::npos;
      throw Error(
          ErrorKind::malformed,
          "it refers to '" + name + "', and no physvol is called so" + base::did_you_mean(name, placed), {file_, where},
          imprint ? "a daughter of an assembly keeps the name that its physvol has in the assembly: refer to that"
                  : "");
    }
    SolidSelector selector;
    const std::string there = as_in_scene(name, solids_);
    selector.solid = literal_pattern(there);
    const GdmlStructure::Placed& placed = found->second;
    if (own_ != nullptr) {
      separate(selector, placed, name, where);
      return selector;
    }
    // Pointers differ from one export to the next. Copy numbers separate what the pointers separated.
    const auto meant = solids_.meant(selector.solid);
    const bool exact = meant.size() == 1 && solids_.names()[meant.front()] == there;
    if (exact || of_base_[std::string(base_name(name))] < 2 || !has_copy_numbers_ || placed.copy_number.empty())
      return selector;
    selector.copy_number = values_.evaluate_integer(placed.copy_number, where);
    return selector;
  }

  /// Geant4 takes the first of the physical volumes that share a name.
  void separate(SolidSelector& selector, const GdmlStructure::Placed& placed, const std::string& name,
                const std::string& where) {
    if (placed.count == 1) return;
    if (!placed.copy_number.empty() && placed.as_first == 1)
      selector.copy_number = values_.evaluate_integer(placed.copy_number, where);
    else
      warn(where + ": " + std::to_string(placed.count) + " physical volumes are called '" + name +
           "'. Geant4 takes the first one, and all are taken here");
  }

  [[nodiscard]] const GdmlStructure& names() const { return own_ != nullptr ? *own_ : in_file_; }

  Scene& scene_;
  pugi::xml_node root_;
  const std::string& file_;
  const GdmlStructure* own_;
  GdmlTaken& taken_;
  GdmlValues values_;
  std::unordered_map<std::string, std::uint32_t> surfaces_;  // the file's, and where the scene has them
  NameIndex solids_, volumes_;                               // the scene's
  bool has_copy_numbers_ = false;
  GdmlStructure in_file_;
  std::unordered_map<std::string, std::size_t> of_base_;  // how many physical volumes share a name but for its pointer
};

}  // namespace

void GdmlStructure::place(const std::string& name, const std::string& copy_number) {
  const auto [entry, inserted] = placed.try_emplace(name, Placed{copy_number, 1, 1});
  if (inserted) return;
  ++entry->second.count;
  if (entry->second.copy_number == copy_number) ++entry->second.as_first;
}

void read_own_gdml(Scene& scene, const pugi::xml_node& root, const GdmlStructure& names, GdmlTaken& taken,
                   const std::string& file) {
  Gdml(scene, root, file, &names, taken).read();
}

void read_gdml(Scene& scene, const std::string& text, const std::string& file) {
  pugi::xml_document document;
  const pugi::xml_parse_result result =
      document.load_buffer(text.data(), text.size(), pugi::parse_default | pugi::parse_doctype);
  if (!result)
    throw Error(
        ErrorKind::malformed,
        std::string("no well-formed XML: ") + result.description() + " at byte " + std::to_string(result.offset),
        {file, ""});
  for (const pugi::xml_node node : document.children())
    if (node.type() == pugi::node_doctype && std::string_view(node.value()).find("<!ENTITY") != std::string_view::npos)
      throw Error(ErrorKind::unsupported, "the file has parts of its own elsewhere (<!ENTITY>), which are not read",
                  {file, ""}, "write it as one file, as Geant4 does");
  // Its name is not looked at, as in Geant4: files with extensions have <gdml_simple_extension> and others.
  const pugi::xml_node root = document.document_element();
  if (!root.child("structure") && !root.child("materials") && !root.child("solids") && !root.child("define"))
    throw Error(ErrorKind::malformed,
                std::string("no GDML: <") + root.name() + "> has no <structure>, <materials>, <solids> or <define>",
                {file, ""});
  GdmlTaken taken;
  Gdml(scene, root, file, nullptr, taken).read();
}

}  // namespace raylift::detail
