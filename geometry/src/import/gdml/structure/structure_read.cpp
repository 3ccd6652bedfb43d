// SPDX-License-Identifier: Apache-2.0
// Reads documents in the order of their elements, as Geant4 does: a name means what was called so before.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>

#include "base/suggest.h"
#include "structure_scope.h"

namespace raylift::gdml {
namespace {

constexpr std::size_t kDeepestModule = 16;

std::vector<std::string> keys_of(const Numbers& numbers) {
  std::vector<std::string> names;
  for (const auto& [name, number] : numbers) names.push_back(name);
  return names;
}

/// Throws Error(limit) where elements are nested too deep for those who read them.
void check_depth(const pugi::xml_node& root, std::uint32_t limit, const std::string& file) {
  std::uint32_t depth = 1;
  for (pugi::xml_node node = root; node;) {
    if (depth > limit)
      throw Error(ErrorKind::limit, "elements are nested deeper than " + std::to_string(limit), {file, ""},
                  "raise the limit with LoadLimits::node_depth");
    if (node.first_child()) {
      node = node.first_child();
      ++depth;
      continue;
    }
    while (node != root && !node.next_sibling()) {
      node = node.parent();
      --depth;
    }
    node = node == root ? pugi::xml_node() : node.next_sibling();
  }
}

/// Moves the children of the others into the first one of a root's parts that are called so, and returns that.
pugi::xml_node join_parts(pugi::xml_node root, const char* name) {
  pugi::xml_node all = root.child(name);
  if (!all) all = root.append_child(name);
  for (pugi::xml_node other = all.next_sibling(name); other; other = other.next_sibling(name))
    while (other.first_child()) all.append_move(other.first_child());
  return all;
}

/// The same of <define>, which also stands in other parts.
pugi::xml_node join_defines(pugi::xml_node root) {
  pugi::xml_node all = join_parts(root, "define");
  for (const char* const part : {"materials", "solids", "structure"}) {
    const pugi::xml_node parent = join_parts(root, part);
    for (pugi::xml_node define : parent.children("define"))
      while (define.first_child()) all.append_move(define.first_child());
  }
  return all;
}

/// The solids that one is made of.
std::vector<Operand*> operands_of(Shape& shape) {
  if (auto* const boolean = std::get_if<Boolean>(&shape)) return {&boolean->first, &boolean->second};
  if (auto* const transformed = std::get_if<Transformed>(&shape)) return {&transformed->of};
  std::vector<Operand*> operands;
  if (auto* const all = std::get_if<MultiUnion>(&shape))
    for (Operand& part : all->parts) operands.push_back(&part);
  return operands;
}

class Reader {
 public:
  Reader(Documents& documents, const LoadOptions& options) : documents_(documents), options_(options) {}

  Detector read(std::string text) {
    Scope& scope = read_document(documents_.main(), std::move(text));
    detector_.world = world_of(scope);
    for (std::string& warning : notes_.warnings()) detector_.warnings.push_back(std::move(warning));
    return std::move(detector_);
  }

 private:
  // Documents
  // ----------------------------------------------------------------------------------------------------------

  Scope& read_document(const std::string& path, std::string text) {
    Scope& scope = *scopes_.emplace(path, std::make_unique<Scope>()).first->second;
    scope.path = path;
    scope.file = documents_.file(path);
    reading_.push_back(path);
    text = expand_entities(std::move(text), path, documents_);
    auto xml = std::make_unique<pugi::xml_document>();
    const pugi::xml_parse_result parsed = xml->load_buffer(text.data(), text.size());
    if (!parsed)
      scope.fail(
          std::string("not well-formed XML: ") + parsed.description() + " at byte " + std::to_string(parsed.offset), "",
          ErrorKind::malformed, "was the file cut off?");
    scope.root = xml->document_element();  // its name is not looked at, as in Geant4
    check_depth(scope.root, options_.limits.node_depth, scope.file);
    detector_.sources.push_back({scope.file, std::move(xml)});
    const pugi::xml_node define = join_defines(scope.root);
    scope.values = std::make_unique<detail::GdmlValues>(define, scope.file);
    scope.vectors = std::make_unique<Vectors>(define, *scope.values, scope.file);
    scope.reader = std::make_unique<SolidReader>(*scope.vectors, *scope.values, scope.file);
    scope.reader->note_by([this](const std::string& what, const std::string& name) { notes_.add(what, name); });
    scope.loops = std::make_unique<Loops>(*scope.values, scope.file, options_.limits.instances);
    scope.vectors->expand_names_by([&scope](const std::string& name) { return scope.loops->name(name, ""); });
    for (const pugi::xml_node one : define.children()) check_definition(scope, one);
    read_materials(scope, scope.root.child("materials"));
    read_solids(scope, scope.root.child("solids"));
    scope.loops->each(scope.root.child("structure"), [&](pugi::xml_node element) { read_structure(scope, element); });
    for (const pugi::xml_node part : scope.root.children())
      if (part.type() == pugi::node_element) read_other(scope, part);
    reading_.pop_back();
    return scope;
  }

  void read_other(Scope& scope, const pugi::xml_node& part) {
    const std::string_view kind = part.name();
    if (kind == "setup") {
      check_attributes(part, {"name", "version"});
      scope.worlds.emplace_back(part.attribute("name").value(), scope.attribute(part.child("world"), "ref", "setup"));
    } else if (kind == "userinfo") {
      for (const pugi::xml_node one : part.children()) note_auxiliary(one, "userinfo");
    } else if (kind != "define" && kind != "materials" && kind != "solids" && kind != "structure") {
      notes_.add("elements of the document that are not read", std::string(kind));
    }
  }

  void check_attributes(const pugi::xml_node& element, std::initializer_list<std::string_view> known) {
    for (const pugi::xml_attribute attribute : element.attributes())
      if (std::find(known.begin(), known.end(), attribute.name()) == known.end())
        notes_.add(std::string("attributes of <") + element.name() + "> that are not read", attribute.name());
  }

  void check_definition(const Scope& scope, const pugi::xml_node& element) {
    static constexpr std::array<std::string_view, 8> kKinds{"constant", "quantity", "variable", "expression",
                                                            "matrix",   "position", "rotation", "scale"};
    const std::string_view kind = element.name();
    if (element.type() == pugi::node_element && std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end())
      scope.fail("it has an element <" + std::string(kind) + ">, which GDML does not have there", "define");
  }

  /// A module that `from` places.
  Scope& module(Scope& from, const std::string& name, const std::string& where) {
    const std::string path = (std::filesystem::path(from.path).parent_path() / name).lexically_normal().string();
    if (std::find(reading_.begin(), reading_.end(), path) != reading_.end())
      from.fail("the module '" + name + "' contains itself", where);
    if (const auto known = scopes_.find(path); known != scopes_.end()) return *known->second;
    if (reading_.size() > kDeepestModule)
      from.fail("modules are nested deeper than " + std::to_string(kDeepestModule), where, ErrorKind::limit);
    Documents::Text module = documents_.open(from.path, name, where);
    return read_document(module.path, std::move(module.text));
  }

  std::uint32_t world_of(Scope& scope) {
    if (scope.worlds.empty())
      scope.fail("it has no <setup>, which names the world", "", ErrorKind::malformed, "give the whole file");
    const auto named = [&](const std::string& name) {
      return std::find_if(scope.worlds.begin(), scope.worlds.end(), [&](const auto& one) { return one.first == name; });
    };
    auto setup = named(options_.setup.empty() ? "Default" : options_.setup);
    if (setup == scope.worlds.end() && !options_.setup.empty()) {
      std::vector<std::string> names;
      std::string list;
      for (const auto& [name, world] : scope.worlds) {
        names.push_back(name);
        list += (list.empty() ? "'" : ", '") + name + "'";
      }
      scope.fail("no setup is called '" + options_.setup + "'" + base::did_you_mean(options_.setup, names), "",
                 ErrorKind::malformed, "give one of them to LoadOptions::setup: " + list);
    }
    if (setup == scope.worlds.end()) setup = scope.worlds.begin();
    if (options_.setup.empty())
      for (const auto& [name, world] : scope.worlds)
        if (name != setup->first) notes_.add("setups that were not chosen, with LoadOptions::setup", name);
    return volume_of(scope, setup->second, "setup '" + setup->first + "'");
  }

  // Materials and solids
  // -----------------------------------------------------------------------------------------------

  void read_materials(Scope& scope, const pugi::xml_node& materials) {
    for (const pugi::xml_node element : materials.children("material")) {
      const std::string name = scope.attribute(element, "name", "material");
      (void)add_material(name);
      if (!scope.materials.insert(name).second)
        notes_.add("materials that are called as another one, and are one with it", name);
    }
  }

  std::pair<std::uint32_t, bool> add_material(const std::string& name) {
    const auto [entry, inserted] = materials_.try_emplace(name, static_cast<std::uint32_t>(detector_.materials.size()));
    if (inserted) detector_.materials.emplace_back().name = name;
    return {entry->second, inserted};
  }

  std::uint32_t material_of(const Scope& scope, const std::string& name, const std::string& where) {
    if (const auto found = materials_.find(name); found != materials_.end()) return found->second;
    if (name.starts_with("G4_")) return add_material(name).first;  // of Geant4's own table
    scope.fail("no material is called '" + name + "'" + base::did_you_mean(name, keys_of(materials_)), where);
  }

  void read_solids(Scope& scope, const pugi::xml_node& solids) {
    scope.loops->each(solids, [&](pugi::xml_node element) {
      const std::string_view kind = element.name();
      if (kind == "opticalsurface") return unroll(scope, element);
      if (kind == "define") return;
      const std::string name =
          scope.loops->name(scope.attribute(element, "name", std::string(kind)), std::string(kind));
      const auto number = static_cast<std::uint32_t>(detector_.solids.size());
      if (!scope.solids.try_emplace(name, number).second)
        return notes_.add("solids that are called as another one, of which the first one is taken", name);
      try {
        scope.reader->read(element, name);
        detector_.solids.push_back(scope.reader->solids().back());
        for (Operand* const operand : operands_of(detector_.solids.back().shape))
          operand->solid = scope.numbers[operand->solid];
        scope.numbers.push_back(number);
        detector_.failures.emplace_back();
      } catch (const Error& error) {
        detector_.solids.push_back({name, std::string(kind), {}});
        detector_.failures.emplace_back(failed_operand(scope, element, name).value_or(error));
      }
    });
  }

  /// A surface of a loop becomes one before the loop, with what names and numbers stand for now: the optics read it
  /// there.
  static void unroll(Scope& scope, pugi::xml_node surface) {
    if (!scope.loops->inside()) return;
    const std::string where = std::string(surface.name()) + " '" + surface.attribute("name").value() + "'";
    pugi::xml_node loop = surface.parent();
    while (std::string_view(loop.parent().name()) == "loop") loop = loop.parent();
    pugi::xml_node copy = loop.parent().insert_copy_before(surface, loop);
    const auto expand = [&](pugi::xml_node element) {
      for (const char* const name : {"name", "ref", "surfaceproperty"})
        if (pugi::xml_attribute one = element.attribute(name))
          one.set_value(scope.values->expand_name(one.value(), where).c_str());
    };
    expand(copy);
    for (const pugi::xml_node child : copy.children()) expand(child);
    if (pugi::xml_attribute value = copy.attribute("value")) {
      char number[32];
      std::snprintf(number, sizeof number, "%.17g", scope.values->evaluate(value.value(), where));
      value.set_value(number);
    }
  }

  /// What a solid fails by whose operand has failed.
  std::optional<Error> failed_operand(const Scope& scope, const pugi::xml_node& element,
                                      const std::string& name) const {
    std::vector<std::string> references{element.attribute("solid").value()};
    for (const pugi::xml_node child : element.children()) {
      references.emplace_back(child.attribute("ref").value());
      references.emplace_back(child.child("solid").attribute("ref").value());
    }
    for (const std::string& reference : references) {
      const auto found = scope.solids.find(reference);
      if (found == scope.solids.end() || found->second >= detector_.failures.size()) continue;
      if (const auto& failure = detector_.failures[found->second])
        return Error(failure->kind(), "its operand '" + reference + "' can't be made: " + failure->problem(),
                     {scope.file, std::string(element.name()) + " '" + name + "'"}, failure->advice());
    }
    return std::nullopt;
  }

  /// The number of a solid that a volume names.
  std::uint32_t solid_of(const Scope& scope, const std::string& name, const std::string& where) const {
    if (const auto found = scope.solids.find(name); found != scope.solids.end()) return found->second;
    fail_unknown(scope, "solid", "solids", name, scope.solids, where);
  }

  [[noreturn]] static void fail_unknown(const Scope& scope, const std::string& what, const char* part,
                                        const std::string& name, const Numbers& known, const std::string& where) {
    if (scope.root.child(part).find_child_by_attribute("name", name.c_str()))
      scope.fail("the " + what + " '" + name + "' is defined further below", where, ErrorKind::malformed,
                 "write it before what refers to it, as Geant4 demands");
    scope.fail("no " + what + " is called '" + name + "'" + base::did_you_mean(name, keys_of(known)), where);
  }

  // The structure
  // ------------------------------------------------------------------------------------------------------

  void read_structure(Scope& scope, const pugi::xml_node& element) {
    const std::string_view kind = element.name();
    if (kind == "volume")
      read_volume(scope, element);
    else if (kind == "assembly")
      read_assembly(scope, element);
    else if (kind == "skinsurface" || kind == "bordersurface") {
      unroll(scope, element);
    } else if (kind != "define") {
      scope.fail("it has an element <" + std::string(kind) + ">, which GDML does not have there", "structure");
    }
  }

  std::uint32_t volume_of(const Scope& scope, const std::string& name, const std::string& where) const {
    if (const auto found = scope.volumes.find(name); found != scope.volumes.end()) return found->second;
    if (name == scope.open) scope.fail("the volume contains itself", where);
    fail_unknown(scope, "volume", "structure", name, scope.volumes, where);
  }

  /// A volume, or else an assembly, as Geant4 looks for them: an assembly first.
  std::uint32_t placed_volume(const Scope& scope, const std::string& name, const std::string& where) const {
    if (const auto found = scope.assemblies.find(name); found != scope.assemblies.end()) return found->second;
    return volume_of(scope, name, where);
  }

  /// Adds a volume of which all but the daughters is read.
  void add_volume(Scope& scope, Volume volume, Placements daughters, Numbers& numbers) {
    volume.daughters = std::make_shared<const Placements>(std::move(daughters));
    numbers.emplace(volume.name, static_cast<std::uint32_t>(detector_.volumes.size()));
    detector_.names.volumes.insert(volume.name);
    detector_.volumes.push_back(std::move(volume));
    scope.open.clear();
  }

  void read_volume(Scope& scope, const pugi::xml_node& element) {
    Volume volume;
    volume.name = scope.loops->name(scope.attribute(element, "name", "volume"), "volume");
    const std::string where = "volume '" + volume.name + "'";
    check_attributes(element, {"name"});
    if (scope.volumes.contains(volume.name))
      return notes_.add("volumes that are called as another one, of which the first one is taken", volume.name);
    scope.open = volume.name;
    const auto part = [&](const char* name) {
      const pugi::xml_node found = element.child(name);
      if (!found) scope.fail(std::string("it lacks <") + name + ">", where);
      return scope.reference(found, where);
    };
    volume.material = material_of(scope, part("materialref"), where);
    volume.solid = solid_of(scope, part("solidref"), where);
    Placements daughters;
    scope.loops->each(element, [&](pugi::xml_node child) { read_content(scope, child, volume, daughters); });
    add_volume(scope, std::move(volume), std::move(daughters), scope.volumes);
  }

  void read_content(Scope& scope, const pugi::xml_node& element, const Volume& mother, Placements& daughters) {
    const std::string_view kind = element.name();
    if (kind == "materialref" || kind == "solidref") return;
    if (kind == "auxiliary") return note_auxiliary(element, mother.name);
    if (kind == "physvol") return read_physvol(scope, element, "volume '" + mother.name + "'", daughters);
    if (kind != "replicavol" && kind != "divisionvol" && kind != "paramvol")
      return notes_.add("elements in volumes that are not read", std::string(kind));
    const std::string where = std::string(kind) + " in '" + mother.name + "'";
    if (kind == "replicavol")
      check_attributes(element, {"name", "number"});
    else if (kind == "divisionvol")
      check_attributes(element, {"name", "axis", "number", "width", "offset", "unit"});
    else
      check_attributes(element, {"name", "ncopies"});
    if (!daughters.empty()) scope.fail("the mother has other daughters, and a replicated volume fills it alone", where);
    const std::string name = scope.reference(element.child("volumeref"), where);
    if (scope.assemblies.contains(name)) scope.fail("'" + name + "' is an assembly, which is not replicated", where);
    const std::uint32_t child = volume_of(scope, name, where);
    const std::string physical = physical_name(scope, element, child, where);
    try {
      Copies copies(scope, detector_, notes_, options_.limits);
      if (kind == "replicavol")
        copies.replica(element, child, physical, daughters);
      else if (kind == "divisionvol")
        copies.division(element, child, physical, mother, daughters);
      else
        copies.parameterised(element, child, physical, daughters);
    } catch (const Error& error) {
      // The solids of copies are made from others.
      const auto failed = [&](const Volume& volume) { return detector_.failures[volume.solid].has_value(); };
      const bool by_solid =
          error.kind() == ErrorKind::unsupported || failed(mother) || failed(detector_.volumes[child]);
      if (!options_.skip_failed_solids || !by_solid) throw;
      daughters.clear();
      detector_.warnings.push_back("left out, with its copies: " + where + ": " +
                                   Error(error.kind(), error.problem(), {error.file(), error.element()}).what());
    }
    detector_.names.place(physical, "");  // one physical volume, however many copies it has
  }

  void read_assembly(Scope& scope, const pugi::xml_node& element) {
    Volume volume;
    volume.assembly = true;
    volume.name = scope.loops->name(scope.attribute(element, "name", "assembly"), "assembly");
    if (scope.assemblies.contains(volume.name))
      return notes_.add("assemblies that are called as another one, of which the first one is taken", volume.name);
    scope.open = volume.name;
    Placements daughters;
    scope.loops->each(element, [&](pugi::xml_node child) {
      if (std::string_view(child.name()) == "physvol")
        read_physvol(scope, child, "assembly '" + volume.name + "'", daughters);
      else
        notes_.add("elements in assemblies that are not read", child.name());
    });
    add_volume(scope, std::move(volume), std::move(daughters), scope.assemblies);
  }

  /// The name of a physical volume. Geant4 expands the brackets of these names everywhere.
  std::string physical_name(const Scope& scope, const pugi::xml_node& element, std::uint32_t child,
                            const std::string& where) const {
    const std::string name = element.attribute("name").value();
    return name.empty() ? detector_.volumes[child].name + "_PV" : scope.values->expand_name(name, where);
  }

  static std::string copy_text(const Placement& placement) {
    return placement.copy_number ? std::to_string(*placement.copy_number) : std::string();
  }

  void read_physvol(Scope& scope, const pugi::xml_node& element, const std::string& mother, Placements& daughters) {
    const std::string where = "physvol '" + std::string(element.attribute("name").value()) + "' in " + mother;
    Placement placement;
    std::vector<std::string_view> seen;
    for (const pugi::xml_node part : element.children()) {
      if (part.type() != pugi::node_element) continue;
      const std::string_view kind = part.name();
      const bool volume = kind == "volumeref" || kind == "file";
      const std::string_view what = volume ? "volume" : kind.substr(0, kind.size() - (kind.ends_with("ref") ? 3 : 0));
      if (std::find(seen.begin(), seen.end(), what) != seen.end())
        scope.fail("it has two elements for its " + std::string(what), where);
      seen.push_back(what);
      if (volume) {
        placement.volume = kind == "file" ? module_volume(scope, part, where)
                                          : placed_volume(scope, scope.reference(part, where), where);
      } else if (kind != "position" && kind != "rotation" && kind != "scale" && kind != "positionref" &&
                 kind != "rotationref" && kind != "scaleref") {
        scope.fail("it has an element <" + std::string(kind) + ">, which GDML does not have there", where);
      }
    }
    if (std::find(seen.begin(), seen.end(), "volume") == seen.end())
      scope.fail("it has neither <volumeref> nor <file>", where);
    check_attributes(element, {"name", "copynumber"});
    if (const pugi::xml_attribute copy = element.attribute("copynumber"))
      placement.copy_number = scope.values->evaluate_integer(copy.value(), where);
    const auto vector = [&](const char* name) { return Vectors::child(element, name); };
    placement.placed = placed_by_physvol(scope.vectors->position(vector("position"), where),
                                         scope.vectors->rotation(vector("rotation"), where),
                                         scope.vectors->scale(vector("scale"), where));
    placement.name = physical_name(scope, element, placement.volume, where);
    detector_.names.place(placement.name, copy_text(placement));
    daughters.push_back(std::move(placement));
  }

  std::uint32_t module_volume(Scope& scope, const pugi::xml_node& element, const std::string& where) {
    Scope& other = module(scope, scope.attribute(element, "name", where), where);
    const std::string name = element.attribute("volname").value();
    if (!name.empty()) return volume_of(other, name, where);
    if (other.worlds.empty()) other.fail("it has no <setup>, and its file is placed without a 'volname'", "");
    const auto standard =
        std::find_if(other.worlds.begin(), other.worlds.end(), [](const auto& one) { return one.first == "Default"; });
    return volume_of(other, (standard == other.worlds.end() ? other.worlds.front() : *standard).second, where);
  }

  void note_auxiliary(const pugi::xml_node& element, const std::string& owner) {
    const std::string type = element.attribute("auxtype").value();
    if (type == "SensDet")
      detector_.sensitive_volumes.insert(owner);
    else if (element.type() == pugi::node_element)
      notes_.add("<auxiliary> that are not read", type);
  }

  Documents& documents_;
  const LoadOptions& options_;
  Detector detector_;
  detail::Notes notes_;
  std::map<std::string, std::unique_ptr<Scope>> scopes_;  // by path
  std::vector<std::string> reading_;                      // paths, the innermost last
  Numbers materials_;
};

}  // namespace

std::string Scope::attribute(const pugi::xml_node& element, const char* name, const std::string& where) const {
  std::string value = element.attribute(name).value();
  if (value.empty()) fail(std::string("it lacks '") + name + "'", where);
  return value;
}

std::string Scope::reference(const pugi::xml_node& element, const std::string& where) const {
  return loops->name(attribute(element, "ref", where), where);
}

Detector read_detector(std::string text, Documents& documents, const LoadOptions& options) {
  return Reader(documents, options).read(std::move(text));
}

}  // namespace raylift::gdml
