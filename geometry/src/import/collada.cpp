// SPDX-License-Identifier: Apache-2.0
// The preflight's frame: XML, <asset>, and the order of the other parts.
#include "collada.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "collada_detail.h"
#include "collada_text.h"

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

std::size_t line_of(std::string_view text, std::ptrdiff_t offset) {
  const std::size_t end = std::min(text.size(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
}

}  // namespace

std::string describe(pugi::xml_node element) {
  std::string text = tag(element);
  for (pugi::xml_node outer = element.parent(); outer && std::strcmp(outer.name(), "COLLADA") != 0;
       outer = outer.parent())
    if (outer.attribute("id")) return text + " in " + tag(outer);
  return text;
}

void fail(ErrorKind kind, const std::string& problem, const std::string& file, pugi::xml_node element,
          std::string_view advice) {
  throw Error(kind, problem, {file, describe(element)}, advice);
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

Library::Library(pugi::xml_node root, const char* library, const char* element, bool deep) : element_(element) {
  const auto add = [this](pugi::xml_node found) {
    elements_.push_back(found);
    const std::string_view id = found.attribute("id").value();
    if (id.empty()) return;
    const auto [entry, inserted] = by_id_.try_emplace(id, Entry{found});
    if (!inserted) entry->second.ambiguous = true;
  };
  for (const pugi::xml_node outer : root.children(library)) {
    if (!deep) {
      for (const pugi::xml_node found : outer.children(element)) add(found);
      continue;
    }
    // Pre-order without recursion: documents may be as deep as their author's malice.
    pugi::xml_node node = outer.first_child();
    while (node) {
      if (std::strcmp(node.name(), element) == 0) add(node);
      if (node.first_child()) {
        node = node.first_child();
        continue;
      }
      while (node && node != outer && !node.next_sibling()) node = node.parent();
      node = node == outer ? pugi::xml_node() : node.next_sibling();
    }
  }
}

const Library::Entry* Library::entry(std::string_view id) const {
  auto found = by_id_.find(id);
  if (found == by_id_.end()) found = by_id_.find(percent_decoded(id));
  return found == by_id_.end() ? nullptr : &found->second;
}

pugi::xml_node Library::by_id(std::string_view id) const {
  const Entry* found = entry(id);
  return found == nullptr ? pugi::xml_node() : found->element;
}

pugi::xml_node Library::find(std::string_view url, const Source& source, pugi::xml_node referrer) const {
  const std::string& file = source.file;
  const std::string what = "'" + std::string(url) + "'";
  if (url.empty()) fail(ErrorKind::malformed, "a reference to a <" + element_ + "> is missing", file, referrer);
  const auto id = local_id(source, url);
  if (!id)
    fail(ErrorKind::unsupported, what + " refers to another document", file, referrer,
         "merge the documents into one before loading");
  const Entry* found = entry(*id);
  if (found == nullptr)
    fail(ErrorKind::malformed, what + " names no <" + element_ + "> of this document", file, referrer);
  if (found->ambiguous)
    fail(ErrorKind::malformed, what + " names more than one <" + element_ + ">", file, referrer,
         "give each element an id of its own");
  return found->element;
}

Document preflight(std::string text, const std::string& file, const LoadOptions& options, const Progress& progress,
                   const std::string& entry) {
  const Stage stage(progress, "preflight");
  if (options.unit_mm && !(std::isfinite(*options.unit_mm) && *options.unit_mm > 0))
    throw Error(ErrorKind::usage, "the unit must be a positive, finite length");
  if (text.size() > options.limits.text_bytes)
    throw Error(ErrorKind::limit,
                "the document has " + std::to_string(text.size()) + " bytes, and the limit is " +
                    std::to_string(options.limits.text_bytes),
                {file, ""}, "raise it with --max-text-size");

  pugi::xml_document xml;
  constexpr unsigned kFlags = pugi::parse_cdata | pugi::parse_escapes | pugi::parse_wconv_attribute;
  const pugi::xml_parse_result parsed = xml.load_buffer_inplace(text.data(), text.size(), kFlags);
  if (!parsed) {
    if (parsed.status == pugi::status_out_of_memory) throw std::bad_alloc();
    throw Error(ErrorKind::malformed, std::string("not well-formed XML: ") + parsed.description(),
                {file, "line " + std::to_string(line_of(text, parsed.offset))});
  }
  const Source source{file, options, xml.child("COLLADA"), own_paths(file, entry)};
  if (!source.root)
    throw Error(ErrorKind::malformed, "the root element is not <COLLADA>",
                {file, xml.first_child() ? tag(xml.first_child()) : std::string()});

  Document document;
  Scene& scene = document.scene;
  scene.source = file;
  scene.generator = source.root.child("asset").child("contributor").child_value("authoring_tool");
  scene.format = "COLLADA";
  if (const pugi::xml_attribute version = source.root.attribute("version"))
    scene.format += std::string(" ") + version.value();
  GeometryReader geometries(source, text.size());
  read_scene(source, geometries, scene);
  std::move(geometries).finish(document);
  return document;
}

}  // namespace raylift::collada
