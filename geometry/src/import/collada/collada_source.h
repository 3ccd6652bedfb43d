// SPDX-License-Identifier: Apache-2.0
// The documents that a COLLADA scene is read from: its own, and where LoadOptions::external asks for it, those that it
// refers to. Each is opened once, when something in it is first asked for.
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/scene.h>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace raylift::collada {

/// What a reference names: an id in a document, by its number.
struct Target {
  std::size_t document;
  std::string_view id;
};

class Source {
 public:
  /// The scene's own document. `file` names it in errors, and `entry` is its path in an archive. Throws Error: limit,
  /// malformed.
  Source(std::string text, const std::string& file, const LoadOptions& options, const std::string& entry);

  [[nodiscard]] const LoadOptions& options() const { return options_; }
  /// <COLLADA> of a document; number 0 is the scene's own.
  [[nodiscard]] pugi::xml_node root(std::size_t document = 0) const { return documents_[document].root; }
  [[nodiscard]] std::size_t documents() const { return documents_.size(); }
  [[nodiscard]] std::uint64_t text_bytes() const;  ///< of all documents
  /// The number of an element's document, and the name of its file. Neither depends on how deep the element is.
  [[nodiscard]] std::size_t document_of(pugi::xml_node element) const;
  [[nodiscard]] const std::string& file_of(pugi::xml_node element) const {
    return documents_[document_of(element)].file;
  }

  /// What `url` of an element of `referrer`'s document names: of "#id", and of "scene.dae#id", "./scene.dae#id" or
  /// "file:///folder/scene.dae#id", percent-encoded or not, in scene.dae, an id of the document itself. Nothing where
  /// it names no id. Does not look at the file system.
  [[nodiscard]] std::optional<std::string_view> own_id(std::string_view url, pugi::xml_node referrer) const;
  /// The same in any document, which is opened where that is asked for. Nothing where it is not, or where there is no
  /// id. Throws Error: unsupported for a document that is not beneath the folder of the scene's; io, malformed, limit.
  [[nodiscard]] std::optional<Target> target(std::string_view url, pugi::xml_node referrer);

  /// The files of the other documents.
  [[nodiscard]] std::vector<Scene::SourceFile> take_files() { return std::move(files_); }

 private:
  struct Document {
    std::string file;  // for errors
    std::string text;  // what the nodes point into
    pugi::xml_document xml;
    pugi::xml_node root;
    std::filesystem::path place;     // relative to the scene's folder, or in the archive
    std::vector<std::string> paths;  // absolute ones of the document itself: as it was named, and without links
  };

  Document& add(std::string text, const std::string& file);
  [[nodiscard]] std::size_t open(std::string_view reference, pugi::xml_node referrer);
  [[nodiscard]] std::size_t open_file(const std::filesystem::path& place, std::string_view reference,
                                      pugi::xml_node referrer);
  [[nodiscard]] std::size_t open_entry(const std::filesystem::path& place, pugi::xml_node referrer);
  void expect_room(pugi::xml_node referrer) const;
  [[noreturn]] void refuse(std::string_view reference, pugi::xml_node referrer, const std::string& why) const;

  const LoadOptions& options_;
  std::filesystem::path folder_;  // the scene's, as it is named
  std::string archive_;           // or the archive that it is in
  std::deque<Document> documents_;
  std::unordered_map<const void*, std::size_t> numbers_;      // by the XML document
  std::unordered_map<std::string, std::size_t> by_identity_;  // the path without links, or in the archive
  std::vector<Scene::SourceFile> files_;
  std::uint64_t bytes_ = 0;
};

/// "a%20b" is "a b".
[[nodiscard]] std::string percent_decoded(std::string_view text);

}  // namespace raylift::collada
