// SPDX-License-Identifier: Apache-2.0
// The preflight's frame: elements by their ids, and the order of the other parts.
#include "collada.h"

#include "scene/names.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "collada_detail.h"
#include "collada_optics.h"
#include "stage.h"

namespace raylift::collada {
namespace {

std::string tag(pugi::xml_node element) {
  std::string text = std::string("<") + element.name();
  for (const char* name : {"id", "name", "source", "url", "semantic", "sid"})
    if (const pugi::xml_attribute attribute = element.attribute(name)) {
      text += std::string(" ") + name + "='" + attribute.value() + "'";
      break;
    }
  return text + ">";
}

}  // namespace

std::string describe(pugi::xml_node element) {
  std::string text = tag(element);
  for (pugi::xml_node outer = element.parent(); outer && std::strcmp(outer.name(), "COLLADA") != 0;
       outer = outer.parent())
    if (outer.attribute("id") || is(outer, "opticalsurface")) return text + " in " + tag(outer);
  return text;
}

void fail(ErrorKind kind, const std::string& problem, const Source& source, pugi::xml_node element,
          std::string_view advice) {
  throw Error(kind, problem, {source.file_of(element), describe(element)}, advice);
}

std::string_view text_of(pugi::xml_node element, std::string& joined) {
  // Comments cut a text into several nodes; most texts are one, and are not copied.
  const pugi::xml_node first = element.first_child();
  if (!first || !first.next_sibling()) return element.child_value();
  joined.clear();
  for (const pugi::xml_node child : element.children())
    if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) (joined += child.value()) += ' ';
  return joined;
}

Library::Library(Source& source, const char* library, const char* element, bool deep)
    : source_(source), library_(library), element_(element), deep_(deep) {
  index(source.root());
}

std::vector<pugi::xml_node> elements_of(pugi::xml_node root, const char* library, const char* element, bool deep) {
  std::vector<pugi::xml_node> elements;
  for (const pugi::xml_node outer : root.children(library)) {
    if (!deep) {
      for (const pugi::xml_node found : outer.children(element)) elements.push_back(found);
      continue;
    }
    // Pre-order without recursion: documents may be as deep as their author's malice.
    pugi::xml_node node = outer.first_child();
    while (node) {
      if (is(node, element)) elements.push_back(node);
      if (node.first_child()) {
        node = node.first_child();
        continue;
      }
      while (node && node != outer && !node.next_sibling()) node = node.parent();
      node = node == outer ? pugi::xml_node() : node.next_sibling();
    }
  }
  return elements;
}

void Library::index(pugi::xml_node root) {
  Ids& ids = ids_.emplace_back();
  for (const pugi::xml_node found : elements_of(root, library_, element_, deep_)) {
    elements_.push_back(found);
    const std::string_view id = found.attribute("id").value();
    if (id.empty()) continue;
    const auto [entry, inserted] = ids.plain.try_emplace(id, Entry{found});
    if (!inserted) entry->second.ambiguous = true;
    if (id.find_first_of("/#: ") != std::string_view::npos) ids.encoded[g4dae_name(id)] = entry->second;
  }
}

const Library::Entry* Library::entry(const Target& target) {
  while (ids_.size() <= target.document) index(source_.root(ids_.size()));
  const auto& [plain, by_encoded] = ids_[target.document];
  auto found = plain.find(target.id);
  if (found == plain.end()) found = plain.find(percent_decoded(target.id));
  if (found != plain.end()) return &found->second;
  const auto spelled = by_encoded.find(std::string(target.id));
  return spelled == by_encoded.end() ? nullptr : &spelled->second;
}

pugi::xml_node Library::by_id(std::string_view id, pugi::xml_node referrer) {
  const Entry* found = entry({source_.document_of(referrer), id});
  return found == nullptr ? pugi::xml_node() : found->element;
}

pugi::xml_node Library::by_url(std::string_view url, pugi::xml_node referrer) {
  const auto target = source_.target(url, referrer);
  const Entry* found = target ? entry(*target) : nullptr;
  return found == nullptr ? pugi::xml_node() : found->element;
}

pugi::xml_node Library::find(std::string_view url, pugi::xml_node referrer) {
  const std::string what = "'" + std::string(url) + "'";
  const std::string kind = std::string("<") + element_ + ">";
  if (url.empty()) fail(ErrorKind::malformed, "a reference to a " + kind + " is missing", source_, referrer);
  const auto target = source_.target(url, referrer);
  if (!target && url.find('#') == std::string_view::npos)
    fail(ErrorKind::unsupported, what + " refers to another document, and to no element of it", source_, referrer,
         "put '#' and the id of a " + kind + " behind it");
  if (!target)
    fail(ErrorKind::unsupported, what + " refers to another document", source_, referrer,
         "read it by LoadOptions::external, or merge the documents into one before loading");
  const Entry* found = entry(*target);
  if (found == nullptr)
    fail(ErrorKind::malformed,
         what + " names no " + kind + (target->document == source_.document_of(referrer) ? " of this" : " of that") +
             " document",
         source_, referrer);
  if (found->ambiguous)
    fail(ErrorKind::malformed, what + " names more than one " + kind, source_, referrer,
         "give each element an id of its own");
  return found->element;
}

Document preflight(std::string text, const std::string& file, const LoadOptions& options, const Progress& progress,
                   const std::string& entry) {
  const Stage stage(progress, "preflight");
  if (options.unit_mm && !(std::isfinite(*options.unit_mm) && *options.unit_mm > 0))
    throw Error(ErrorKind::usage, "the unit must be a positive, finite length");
  Source source(std::move(text), file, options, entry);
  Document document;
  Scene& scene = document.scene;
  scene.source = file;
  scene.generator = source.root().child("asset").child("contributor").child_value("authoring_tool");
  scene.format = "COLLADA";
  if (const pugi::xml_attribute version = source.root().attribute("version"))
    scene.format += std::string(" ") + version.value();
  GeometryReader geometries(source);
  try {
    read_scene(source, geometries, scene);
  } catch (const Error&) {
    geometries.read();  // what is wrong with a geometry comes before what is wrong behind its first instance
    throw;
  }
  geometries.read();
  read_optics(source, scene);
  std::move(geometries).finish(document);
  scene.files = source.take_files();
  return document;
}

}  // namespace raylift::collada
