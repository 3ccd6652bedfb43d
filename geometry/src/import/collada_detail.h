// SPDX-License-Identifier: Apache-2.0
// What the parts of the COLLADA preflight share: finding elements by id, naming them in errors, reading and writing.
#pragma once

#include <raylift/geometry/error.h>
#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "collada.h"

namespace raylift::collada {

/// "<accessor source='#x'> in <geometry id='g'>": an element as its author would look for it.
[[nodiscard]] std::string describe(pugi::xml_node element);

/// Throws an Error about an element of `file`.
[[noreturn]] void fail(ErrorKind kind, const std::string& problem, const std::string& file, pugi::xml_node element,
                       std::string_view advice = {});

/// The document and where it came from, for the parts that read it.
struct Source {
  const std::string& file;
  const LoadOptions& options;
  pugi::xml_node root;             ///< <COLLADA>
  std::vector<std::string> paths;  ///< absolute ones of the document itself: as it was named, and without links
};

/// The id that `url` names in this document: of "#id", and of "scene.dae#id", "./scene.dae#id" or
/// "file:///folder/scene.dae#id", percent-encoded or not, in scene.dae. Nothing where it refers to another document, or
/// to no element. Does not look at the file system.
[[nodiscard]] std::optional<std::string_view> local_id(const Source& source, std::string_view url);
/// What to take for Source::paths. An archive is the root of the paths in it.
[[nodiscard]] std::vector<std::string> own_paths(const std::string& file, const std::string& entry);
/// "a%20b" is "a b".
[[nodiscard]] std::string percent_decoded(std::string_view text);

/// The elements of one kind in all libraries of one kind, by id.
class Library {
 public:
  Library() = default;
  /// Takes every <element> child of every <library> child of `root`; with `deep`, every <element> at any depth.
  Library(pugi::xml_node root, const char* library, const char* element, bool deep = false);

  /// The element that `url` of `referrer` names. Throws: unsupported for another document's element, malformed
  /// where there is none or more than one.
  [[nodiscard]] pugi::xml_node find(std::string_view url, const Source& source, pugi::xml_node referrer) const;
  /// The same by bare id; an empty node where there is none.
  [[nodiscard]] pugi::xml_node by_id(std::string_view id) const;
  [[nodiscard]] const std::vector<pugi::xml_node>& elements() const { return elements_; }

 private:
  struct Entry {
    pugi::xml_node element;
    bool ambiguous = false;
  };
  [[nodiscard]] const Entry* entry(std::string_view id) const;

  std::string element_;
  std::vector<pugi::xml_node> elements_;
  std::unordered_map<std::string_view, Entry> by_id_;
};

/// Checks the geometries that a document uses, and writes them anew for Assimp.
class GeometryReader {
 public:
  /// `bytes` is the document's size, about that of what is written.
  GeometryReader(const Source& source, std::size_t bytes);

  /// The mesh number of the geometry that `url` names. Checks its structure and all its numbers when first asked for.
  std::uint32_t use(std::string_view url, pugi::xml_node referrer);
  /// Whether the document has a geometry of that id.
  [[nodiscard]] bool has(std::string_view id) const { return !library_.by_id(id).empty(); }
  [[nodiscard]] const Geometry& operator[](std::uint32_t number) const { return geometries_[number]; }
  [[nodiscard]] pugi::xml_node element(std::uint32_t number) const { return elements_[number]; }

  /// Ends the writing and moves what was found into `document`.
  void finish(Document& document) &&;

 private:
  struct Positions;
  Positions write_positions(pugi::xml_node mesh);
  void write_primitive(Geometry& geometry, const Positions& positions, pugi::xml_node element);

  const Source& source_;
  Library library_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::vector<Geometry> geometries_;
  std::vector<pugi::xml_node> elements_;
  std::vector<std::string> names_;
  std::string text_;
  std::uint64_t triangles_ = 0;
  std::uint64_t ignored_primitives_ = 0;
  bool needs_triangulation_ = false;
};

/// Reads units and axes, materials, bindings and the node tree into `scene`; asks `geometries` for each mesh that it
/// meets.
void read_scene(const Source& source, GeometryReader& geometries, Scene& scene);

/// The text of an element whose children are text and comments alone.
[[nodiscard]] std::string_view text_of(pugi::xml_node element, std::string& joined);

/// Sixteen numbers, row by row, that are an affine transform.
[[nodiscard]] Transform matrix(const Source& source, pugi::xml_node element);
/// A node's transformation elements, composed in document order.
[[nodiscard]] Transform local_transform(const Source& source, pugi::xml_node node);

[[nodiscard]] bool is(pugi::xml_node element, const char* name);

constexpr std::uint64_t kMostPoints = 0xFFFFFFFEU;  ///< of one primitive element: Assimp counts in 32 bits
/// An attribute that must be an integer from 0 to kMostPoints, where it is there.
[[nodiscard]] std::uint64_t unsigned_attribute(pugi::xml_node element, const char* name, std::uint64_t missing,
                                               const std::string& file);

void append(std::string& text, std::uint64_t number);
/// Appends pieces, which follow each other, numbers and texts alike.
template <class... Pieces>
void write(std::string& text, const Pieces&... pieces) {
  const auto one = [&](const auto& piece) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(piece)>>)
      append(text, piece);
    else
      text += piece;
  };
  (one(pieces), ...);
}

}  // namespace raylift::collada
