// SPDX-License-Identifier: Apache-2.0
// Functions that the parts of the COLLADA preflight share: finding elements by id, naming them in errors, reading,
// writing.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <cstdint>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collada.h"
#include "collada_source.h"

namespace raylift::collada {

/// "<accessor source='#x'> in <geometry id='g'>": an element as its author would look for it.
[[nodiscard]] std::string describe(pugi::xml_node element);

/// Throws an Error about an element, with the file of its document.
[[noreturn]] void fail(ErrorKind kind, const std::string& problem, const Source& source, pugi::xml_node element,
                       std::string_view advice = {});

/// Every <element> child of every <library> child of a document's root; with `deep`, every <element> at any depth.
[[nodiscard]] std::vector<pugi::xml_node> elements_of(pugi::xml_node root, const char* library, const char* element,
                                                      bool deep);

/// The elements of one kind in all libraries of one kind, by id, of all documents that are open.
class Library {
 public:
  /// Indexes every <element> child of every <library> child of a document's root; with `deep`, every <element> at any
  /// depth.
  Library(Source& source, const char* library, const char* element, bool deep = false);

  /// The element that `url` of `referrer` names. Throws what Source::target does, unsupported for an element of a
  /// document that is not read, malformed where there is none or more than one.
  [[nodiscard]] pugi::xml_node find(std::string_view url, pugi::xml_node referrer);
  /// The same; an empty node where there is none, or where the document is not read.
  [[nodiscard]] pugi::xml_node by_url(std::string_view url, pugi::xml_node referrer);
  /// The element of that bare id in the document of `referrer`.
  [[nodiscard]] pugi::xml_node by_id(std::string_view id, pugi::xml_node referrer);
  [[nodiscard]] const std::vector<pugi::xml_node>& elements() const { return elements_; }

 private:
  struct Entry {
    pugi::xml_node element;
    bool ambiguous = false;
  };
  void index(pugi::xml_node root);
  [[nodiscard]] const Entry* entry(const Target& target);

  Source& source_;
  const char* library_;
  const char* element_;
  bool deep_;
  std::vector<pugi::xml_node> elements_;
  struct Ids {
    std::unordered_map<std::string_view, Entry> plain;
    std::unordered_map<std::string, Entry> encoded;  // where that differs: G4DAE encodes references alone
  };
  std::vector<Ids> ids_;  // of each document
};

/// Reads the geometries that a document uses: which they are at first, then the numbers of all, in parallel.
class GeometryReader {
 public:
  explicit GeometryReader(Source& source) : source_(source), library_(source, "library_geometries", "geometry") {}

  /// The mesh number of the geometry that `url` names. Only its name and its symbols are read.
  std::uint32_t use(std::string_view url, pugi::xml_node referrer);
  /// Whether there is a geometry that `url` names.
  [[nodiscard]] bool has(std::string_view url, pugi::xml_node referrer) {
    return !library_.by_url(url, referrer).empty();
  }
  [[nodiscard]] const Geometry& operator[](std::uint32_t number) const { return geometries_[number]; }
  [[nodiscard]] pugi::xml_node element(std::uint32_t number) const { return elements_[number]; }

  /// Reads and checks all that is in the geometries in use. Throws what is wrong with the first of them.
  void read();
  /// Moves what was found into `document`.
  void finish(Document& document) &&;

 private:
  Source& source_;
  Library library_;
  std::unordered_map<const void*, std::uint32_t> numbers_;  // by the element
  std::vector<Geometry> geometries_;
  std::vector<pugi::xml_node> elements_;
  std::vector<std::string> names_;
  std::uint64_t ignored_primitives_ = 0;
};

/// Reads units and axes, materials, bindings and the node tree into `scene`; asks `geometries` for each mesh that it
/// meets.
void read_scene(Source& source, GeometryReader& geometries, Scene& scene);

/// The text of an element whose children are text and comments alone.
[[nodiscard]] std::string_view text_of(pugi::xml_node element, std::string& joined);

/// Sixteen numbers, row by row, that are an affine transform.
[[nodiscard]] EigenTransform matrix(const Source& source, pugi::xml_node element);
/// A node's transformation elements, composed in document order.
[[nodiscard]] EigenTransform local_transform(const Source& source, pugi::xml_node node);

[[nodiscard]] bool is(pugi::xml_node element, const char* name);

constexpr std::uint64_t kMaxPoints = 0xFFFFFFFEU;  ///< of one primitive element: Assimp counts in 32 bits
/// An attribute that must be an integer from 0 to kMaxPoints, where it is there.
[[nodiscard]] std::uint64_t unsigned_attribute(pugi::xml_node element, const char* name, std::uint64_t missing,
                                               const Source& source);

}  // namespace raylift::collada
