// SPDX-License-Identifier: Apache-2.0
// References: a document may name itself, in a relative path or in a file URI (RFC 3986, RFC 8089), and others beneath
// the folder of the scene's document, in a relative path.
#include "collada_source.h"

#include "scene/source_files.h"

#include <algorithm>
#include <cctype>
#include <new>

#include "collada_detail.h"
#include "import/archive.h"
#include "import/input_file.h"

namespace raylift::collada {
namespace {

namespace fs = std::filesystem;

int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) {
           return a == std::tolower(static_cast<unsigned char>(b));
         });
}

bool has_scheme(std::string_view reference) {
  return reference.substr(0, reference.find('/')).find(':') != std::string_view::npos;
}

/// The path of a file URI or a relative reference; nothing where the reference has another scheme or host.
std::optional<std::string> path_of(std::string_view reference) {
  if (starts_with_ignoring_case(reference, "file:")) {
    reference.remove_prefix(5);
    if (reference.starts_with("//")) {
      reference.remove_prefix(2);
      if (starts_with_ignoring_case(reference, "localhost/")) reference.remove_prefix(9);
      if (!reference.starts_with('/')) return std::nullopt;
    }
  } else if (has_scheme(reference) || reference.starts_with("//")) {
    return std::nullopt;
  }
  return percent_decoded(reference);
}

/// Absolute paths of a document itself: as it was named, and without links.
std::vector<std::string> own_paths(const std::string& file) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const fs::path& path : {fs::absolute(file, error).lexically_normal(), fs::weakly_canonical(file, error)}) {
    if (path.empty()) continue;
    if (path.extension() == ".gz") paths.push_back(fs::path(path).replace_extension().string());
    paths.push_back(path.string());
  }
  return paths;
}

std::size_t line_of(std::string_view text, std::ptrdiff_t offset) {
  const std::size_t end = std::min(text.size(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
}

/// A namespace may have a prefix: <c:COLLADA xmlns:c="...">, and so on in each element. pugixml keeps it in the names.
void remove_prefix(pugi::xml_node root) {
  const std::string_view name = root.name();
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos || name.substr(colon) != ":COLLADA") return;
  const std::string prefix(name.substr(0, colon + 1));
  if (!std::string_view(root.attribute(("xmlns:" + prefix.substr(0, colon)).c_str()).value()).starts_with("http"))
    return;
  for (pugi::xml_node node = root; node;) {
    if (std::string_view(node.name()).starts_with(prefix))
      node.set_name(std::string(node.name() + prefix.size()).c_str());
    pugi::xml_node next = node.first_child();
    for (; !next && node != root; node = node.parent()) next = node.next_sibling();
    node = next;
  }
}

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i != text.size(); ++i) {
    const bool encoded = text[i] == '%' && i + 2 < text.size();
    const int high = encoded ? hexadecimal(text[i + 1]) : -1;
    const int low = encoded ? hexadecimal(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      decoded += text[i];
      continue;
    }
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

Source::Source(std::string text, const std::string& file, const LoadOptions& options, const std::string& entry)
    : options_(options), folder_(fs::path(file).parent_path()), archive_(entry.empty() ? "" : file) {
  Document& document = add(std::move(text), file);
  document.place = entry.empty() ? fs::path(file).filename() : fs::path(entry).lexically_normal();
  document.paths = entry.empty() ? own_paths(file) : std::vector{("/" / document.place).string()};
  by_identity_.emplace(document.paths.back(), 0);
}

Source::Document& Source::add(std::string text, const std::string& file) {
  bytes_ += text.size();
  const std::string what = documents_.empty() ? "the document has " : "with this one, the scene's documents have ";
  if (bytes_ > options_.limits.text_bytes)
    throw Error(
        ErrorKind::limit,
        what + std::to_string(bytes_) + " bytes, and the limit is " + std::to_string(options_.limits.text_bytes),
        {file, ""}, "raise it with LoadLimits::text_bytes");
  check_memory(file, bytes_, options_.limits);
  Document& document = documents_.emplace_back();
  document.file = file;
  document.text = std::move(text);
  constexpr unsigned kFlags = pugi::parse_cdata | pugi::parse_escapes | pugi::parse_wconv_attribute;
  const pugi::xml_parse_result parsed =
      document.xml.load_buffer_inplace(document.text.data(), document.text.size(), kFlags);
  if (!parsed) {
    if (parsed.status == pugi::status_out_of_memory) throw std::bad_alloc();
    throw Error(ErrorKind::malformed, std::string("not well-formed XML: ") + parsed.description(),
                {file, "line " + std::to_string(line_of(document.text, parsed.offset))});
  }
  remove_prefix(document.xml.document_element());
  document.root = document.xml.child("COLLADA");
  if (!document.root)
    throw Error(ErrorKind::malformed, "the root element is not <COLLADA>",
                {file, document.xml.first_child() ? describe(document.xml.first_child()) : std::string()});
  numbers_.emplace(document.xml.internal_object(), documents_.size() - 1);
  return document;
}

std::uint64_t Source::text_bytes() const {
  std::uint64_t bytes = 0;
  for (const Document& document : documents_) bytes += document.text.size();
  return bytes;
}

std::size_t Source::document_of(pugi::xml_node element) const {
  return documents_.size() < 2 ? 0 : numbers_.at(element.root().internal_object());
}

std::optional<std::string_view> Source::own_id(std::string_view url, pugi::xml_node referrer) const {
  const auto hash = url.find('#');
  if (hash == std::string_view::npos) return std::nullopt;
  const std::string_view id = url.substr(hash + 1);
  if (hash == 0) return id;
  const auto path = path_of(url.substr(0, hash));
  if (!path) return std::nullopt;
  const std::vector<std::string>& paths = documents_[document_of(referrer)].paths;
  const bool own = std::any_of(paths.begin(), paths.end(), [&](const fs::path& self) {
    return (self.parent_path() / *path).lexically_normal() == self;
  });
  return own ? std::optional(id) : std::nullopt;
}

std::optional<Target> Source::target(std::string_view url, pugi::xml_node referrer) {
  if (const auto id = own_id(url, referrer)) return Target{document_of(referrer), *id};
  const auto hash = url.find('#');
  if (!options_.external || hash == std::string_view::npos) return std::nullopt;
  return Target{open(url.substr(0, hash), referrer), url.substr(hash + 1)};
}

void Source::refuse(std::string_view reference, pugi::xml_node referrer, const std::string& why) const {
  fail(ErrorKind::unsupported, "'" + std::string(reference) + "' " + why, *this, referrer,
       "put the document beneath the folder of the scene's, and refer to it by a relative path");
}

std::size_t Source::open(std::string_view reference, pugi::xml_node referrer) {
  const auto path = has_scheme(reference) ? std::nullopt : path_of(reference);
  if (!path || path->starts_with('/')) refuse(reference, referrer, "is no relative path to another document");
  const fs::path place = (documents_[document_of(referrer)].place.parent_path() / *path).lexically_normal();
  if (*place.begin() == "..") refuse(reference, referrer, "leads out of the folder of the scene's document");
  if (place == documents_.front().place) return 0;  // by its name, wherever that leads
  return archive_.empty() ? open_file(place, reference, referrer) : open_entry(place, referrer);
}

void Source::expect_room(pugi::xml_node referrer) const {
  if (documents_.size() >= options_.limits.documents)
    fail(ErrorKind::limit,
         "the scene consists of more than " + std::to_string(options_.limits.documents) + " documents", *this, referrer,
         "raise the limit with LoadLimits::documents");
}

std::size_t Source::open_file(const fs::path& place, std::string_view reference, pugi::xml_node referrer) {
  std::error_code error;
  const fs::path file = detail::beneath(folder_, place, error);
  if (error)
    fail(kind_of_errno(error.value()), "'" + std::string(reference) + "' can't be opened: " + error.message(), *this,
         referrer);
  if (file.empty()) refuse(reference, referrer, "leads out of the folder of the scene's document");
  const auto [known, added] = by_identity_.try_emplace(file.string(), documents_.size());
  if (!added) return known->second;
  expect_room(referrer);
  const std::string extension = extension_of(place);
  if (extension == "zae" || !is_collada(extension))
    refuse(reference, referrer, "is no document that can be referred to: its name does not end in .dae or .dae.gz");
  const InputFile input(file, options_.limits);
  files_.push_back(detail::source_file(file, place));
  const std::string name = (folder_ / place).string();
  Document& document = add(extension == "dae.gz" ? read_gzip(input, options_.limits) : input.text(), name);
  document.place = place;
  document.paths = own_paths(name);
  return documents_.size() - 1;
}

std::size_t Source::open_entry(const fs::path& place, pugi::xml_node referrer) {
  const std::string entry = ("/" / place).string();
  const auto [known, added] = by_identity_.try_emplace(entry, documents_.size());
  if (!added) return known->second;
  expect_room(referrer);
  Document& document = add(read_zae_entry(archive_, place.string(), options_.limits), archive_ + entry);
  document.place = place;
  document.paths = {entry};
  return documents_.size() - 1;
}

}  // namespace raylift::collada
