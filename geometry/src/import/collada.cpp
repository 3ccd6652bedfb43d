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

/// G4DAE writes millimetres and no <unit>, and marks its files by optical properties below <extra>.
bool has_g4dae_optics(pugi::xml_node root) {
  for (const pugi::xml_node nodes : root.children("library_nodes"))
    for (const pugi::xml_node extra : nodes.children("extra"))
      if (extra.child("opticalsurface") || extra.child("skinsurface") || extra.child("bordersurface")) return true;
  for (const pugi::xml_node materials : root.children("library_materials"))
    for (const pugi::xml_node material : materials.children("material"))
      for (const pugi::xml_node extra : material.children("extra"))
        if (extra.child("matrix") && extra.child("property")) return true;
  return false;
}

void read_asset(const Source& source, Scene& scene) {
  const pugi::xml_node asset = source.root.child("asset");
  scene.generator = asset.child("contributor").child_value("authoring_tool");
  scene.format = "COLLADA";
  if (const pugi::xml_attribute version = source.root.attribute("version"))
    scene.format += std::string(" ") + version.value();
  const bool g4dae = has_g4dae_optics(source.root);

  const pugi::xml_node unit = asset.child("unit");
  if (source.options.unit_mm) {
    scene.unit_mm = *source.options.unit_mm;
    scene.unit_from = Provenance::option;
  } else if (const pugi::xml_attribute meter = unit.attribute("meter")) {
    const auto value = read_reals(meter.value());
    if (!value || value->size() != 1 || !std::isfinite(value->front()) || value->front() <= 0)
      fail(ErrorKind::malformed,
           std::string("the unit's length '") + meter.value() + "' is no positive number of metres", source.file, unit,
           "correct it, or override it with --unit");
    scene.unit_mm = 1000 * value->front();
    scene.unit_from = Provenance::file;
  } else {
    scene.unit_mm = g4dae && !unit ? 1 : 1000;
    scene.unit_from = Provenance::convention;
  }

  const pugi::xml_node up = asset.child("up_axis");
  if (source.options.up_axis) {
    scene.up_axis = *source.options.up_axis;
    scene.up_from = Provenance::option;
  } else if (up) {
    const std::string_view text = up.child_value();
    const auto letter = text.find_first_not_of(" \t\r\n");
    if (letter == std::string_view::npos || text.substr(letter + 1, 3) != "_UP" || text[letter] < 'X' ||
        text[letter] > 'Z')
      fail(ErrorKind::malformed, "the up axis '" + std::string(text) + "' is none of X_UP, Y_UP, Z_UP", source.file, up,
           "correct it, or override it with --up");
    scene.up_axis = static_cast<UpAxis>(text[letter] - 'X');
    scene.up_from = Provenance::file;
  } else {
    scene.up_axis = g4dae ? UpAxis::z : UpAxis::y;
    scene.up_from = Provenance::convention;
  }
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

pugi::xml_node Library::by_id(std::string_view id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? pugi::xml_node() : found->second.element;
}

pugi::xml_node Library::find(std::string_view url, const std::string& file, pugi::xml_node referrer) const {
  const std::string what = "'" + std::string(url) + "'";
  if (url.empty()) fail(ErrorKind::malformed, "a reference to a <" + element_ + "> is missing", file, referrer);
  if (url.front() != '#')
    fail(ErrorKind::unsupported, what + " refers to another document", file, referrer,
         "merge the documents into one before loading");
  const auto found = by_id_.find(url.substr(1));
  if (found == by_id_.end())
    fail(ErrorKind::malformed, what + " names no <" + element_ + "> of this document", file, referrer);
  if (found->second.ambiguous)
    fail(ErrorKind::malformed, what + " names more than one <" + element_ + ">", file, referrer,
         "give each element an id of its own");
  return found->second.element;
}

Document preflight(std::string text, const std::string& file, const LoadOptions& options, const Progress& progress) {
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
  const Source source{file, options, xml.child("COLLADA")};
  if (!source.root)
    throw Error(ErrorKind::malformed, "the root element is not <COLLADA>",
                {file, xml.first_child() ? tag(xml.first_child()) : std::string()});

  Document document;
  document.scene.source = file;
  read_asset(source, document.scene);
  GeometryReader geometries(source, text.size());
  read_scene(source, geometries, document.scene);
  std::move(geometries).finish(document);
  return document;
}

}  // namespace raylift::collada
