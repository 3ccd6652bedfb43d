// SPDX-License-Identifier: Apache-2.0
// Entities are replaced as text before the XML is parsed, since pugixml leaves them alone.
#include "gdml_text.h"

#include <raylift/geometry/error.h>

#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

#include "base/suggest.h"
#include "import/input_file.h"

namespace raylift::gdml {
namespace {

constexpr std::size_t kMaxNesting = 16;  // of entities
constexpr std::size_t kMaxEntityName = 1000;
constexpr std::string_view kXmlBlank = " \t\r\n";

struct Entity {
  std::string value;
  bool file = false;  // the value is a path
};
using Entities = std::map<std::string, Entity, std::less<>>;

[[noreturn]] void fail_text(const std::string& file, const std::string& problem,
                            ErrorKind kind = ErrorKind::malformed) {
  throw Error(kind, problem, {file, "<!DOCTYPE>"});
}

/// Reads the declarations of a DOCTYPE from left to right.
class Doctype {
 public:
  Doctype(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  /// Reads up to its '>', and returns what stands behind.
  std::string_view read(Entities& entities) {
    bool subset = false;
    while (true) {
      skip_blank();
      if (rest_.empty()) fail_text(file_, "it does not end");
      if (take("<!--")) {
        skip_behind("-->");
      } else if (take("<?")) {
        skip_behind("?>");
      } else if (subset && take("<!ENTITY")) {
        read_entity(entities);
      } else if (subset && take("<!")) {  // <!ELEMENT, <!ATTLIST, <!NOTATION
        skip_declaration();
      } else if (subset && take("%")) {
        fail_text(file_, "it has parameter entities, which are not read", ErrorKind::unsupported);
      } else if (subset && take("]")) {
        subset = false;
      } else if (take("[")) {
        subset = true;
      } else if (!subset && take(">")) {
        return rest_;
      } else if (rest_.front() == '"' || rest_.front() == '\'') {
        (void)quoted();
      } else {
        rest_.remove_prefix(1);
      }
    }
  }

 private:
  void skip_blank() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kXmlBlank), rest_.size())); }

  bool take(std::string_view wanted) {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(wanted.size());
    return true;
  }

  void skip_behind(std::string_view end) {
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos) fail_text(file_, "it does not end");
    rest_.remove_prefix(at + end.size());
  }

  std::string quoted() {
    skip_blank();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const std::size_t end = quote == '"' || quote == '\'' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail_text(file_, "a text in quotes is missing, or does not end");
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  void skip_declaration() {
    while (!take(">")) {
      if (rest_.empty()) fail_text(file_, "it does not end");
      if (rest_.front() == '"' || rest_.front() == '\'')
        (void)quoted();
      else
        rest_.remove_prefix(1);
    }
  }

  void read_entity(Entities& entities) {
    skip_blank();
    if (take("%")) fail_text(file_, "it has parameter entities, which are not read", ErrorKind::unsupported);
    const std::string name(rest_.substr(0, rest_.find_first_of(kXmlBlank)));
    rest_.remove_prefix(name.size());
    skip_blank();
    Entity entity;
    if (take("SYSTEM")) {
      entity.file = true;
    } else if (take("PUBLIC")) {
      entity.file = true;
      (void)quoted();
    }
    entity.value = quoted();
    skip_blank();
    if (!take(">")) fail_text(file_, "the declaration of the entity '" + name + "' is not understood");
    entities.try_emplace(name, std::move(entity));  // the first one holds, as XML has it
  }

  std::string_view rest_;
  const std::string& file_;
};

/// Replaces entities in a text, in those texts, and so on.
class Expander {
 public:
  Expander(const Entities& entities, Documents& documents) : entities_(entities), documents_(documents) {}

  void expand(std::string_view text, const std::string& path, std::string& result) {
    while (!text.empty()) {
      const std::size_t at = text.find_first_of("<&");
      result += text.substr(0, at);
      if (at == std::string_view::npos) return;
      text.remove_prefix(at);
      if (text.front() == '&')
        text.remove_prefix(reference(text, path, result));
      else
        text.remove_prefix(copy_markup(text, result));
    }
  }

 private:
  /// Copies a comment or a CDATA section, in which nothing is replaced, or a '<'; returns its size.
  static std::size_t copy_markup(std::string_view text, std::string& result) {
    std::size_t size = 1;
    for (const auto& [begin, end] :
         {std::pair<std::string_view, std::string_view>{"<!--", "-->"}, {"<![CDATA[", "]]>"}})
      if (text.starts_with(begin)) {
        const std::size_t at = text.find(end);
        size = at == std::string_view::npos ? text.size() : at + end.size();
      }
    result += text.substr(0, size);
    return size;
  }

  /// Replaces the reference that a text begins with; returns its size.
  std::size_t reference(std::string_view text, const std::string& path, std::string& result) {
    const std::size_t end = text.substr(0, kMaxEntityName).find(';');
    const std::string_view name = text.substr(1, end == std::string_view::npos ? end : end - 1);
    const bool xml = name == "amp" || name == "lt" || name == "gt" || name == "quot" || name == "apos";
    if (end == std::string_view::npos || xml || name.starts_with('#')) {
      result += '&';
      return 1;
    }
    const auto entity = entities_.find(name);
    if (entity == entities_.end()) fail_unknown(name, path);
    for (const std::string_view open : open_)
      if (open == name) fail_text(documents_.file(path), "the entity '" + std::string(name) + "' contains itself");
    if (open_.size() == kMaxNesting)
      fail_text(documents_.file(path), "entities are nested deeper than " + std::to_string(kMaxNesting),
                ErrorKind::limit);
    open_.push_back(entity->first);
    replace(entity->second, "entity '" + entity->first + "'", path, result);
    open_.pop_back();
    return end + 1;
  }

  void replace(const Entity& entity, const std::string& where, const std::string& path, std::string& result) {
    if (!entity.file) {
      documents_.expand(entity.value.size());
      expand(entity.value, path, result);
      return;
    }
    const Documents::Text read = documents_.open(path, entity.value, where);
    documents_.expand(read.text.size());
    std::string_view text = read.text;
    if (text.starts_with("<?xml")) text.remove_prefix(std::min(text.find("?>"), text.size() - 2) + 2);
    expand(text, read.path, result);
  }

  [[noreturn]] void fail_unknown(std::string_view name, const std::string& path) const {
    std::vector<std::string> names;
    for (const auto& [known, entity] : entities_) names.push_back(known);
    throw Error(ErrorKind::malformed,
                "no entity is called '" + std::string(name.substr(0, 100)) + "'" + base::did_you_mean(name, names),
                {documents_.file(path), ""}, "declare it in <!DOCTYPE>");
  }

  const Entities& entities_;
  Documents& documents_;
  std::vector<std::string_view> open_;
};

/// Where a document's DOCTYPE begins; npos where it has none.
std::size_t find_doctype(std::string_view text) {
  std::size_t at = 0;
  while (true) {
    at = text.find('<', at);
    if (at == std::string_view::npos) return at;
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("<!DOCTYPE")) return at;
    const std::string_view end = rest.starts_with("<!--") ? "-->" : rest.starts_with("<?") ? "?>" : "";
    if (end.empty()) return std::string_view::npos;  // the root element
    at = text.find(end, at);
  }
}

}  // namespace

Documents::Text Documents::open(const std::string& from, const std::string& name, const std::string& element) {
  namespace fs = std::filesystem;
  const fs::path path = (fs::path(from).parent_path() / name).lexically_normal();
  if (name.empty() || path.is_absolute() || path.filename().empty() || *path.begin() == "..")
    throw Error(ErrorKind::malformed, "'" + name + "' is no file in the scene's folder or below it",
                {file(from), element}, "give a relative path");
  if (count_++ == limits_.documents)
    throw Error(ErrorKind::limit, "the scene has more than " + std::to_string(limits_.documents) + " documents",
                {file(from), element}, "raise the limit with LoadLimits::documents");
  std::optional<std::string> text = open_(path.string());
  if (!text) throw Error(ErrorKind::malformed, "there is no file '" + name + "'", {file(from), element});
  stored_ += text->size();
  return {path.string(), std::move(*text)};
}

void Documents::expand(std::uint64_t bytes) {
  expanded_ += bytes;
  if (!expands(expanded_, stored_, limits_) && expanded_ <= limits_.text_bytes) return;
  throw Error(ErrorKind::limit, "its entities expand to more than " + std::to_string(expanded_ - bytes) + " bytes",
              {main_, ""}, "raise the limit with LoadLimits::expansion or LoadLimits::text_bytes");
}

std::string Documents::file(const std::string& path) const {
  return (std::filesystem::path(main_).parent_path() / path).string();
}

std::string Documents::main() const {
  return std::filesystem::path(main_).filename().string();
}

std::string expand_entities(std::string text, const std::string& path, Documents& documents) {
  const std::size_t begin = find_doctype(text);
  if (begin == std::string::npos && text.find('&') == std::string::npos) return text;
  const std::string file = documents.file(path);
  Entities entities;
  const std::string_view whole = text;
  const std::string_view rest =
      begin == std::string::npos
          ? whole
          : Doctype(whole.substr(begin + std::string_view("<!DOCTYPE").size()), file).read(entities);
  std::string result(whole.substr(0, begin == std::string::npos ? 0 : begin));
  Expander(entities, documents).expand(rest, path, result);
  return result;
}

}  // namespace raylift::gdml
