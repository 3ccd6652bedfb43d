// SPDX-License-Identifier: Apache-2.0
// References: a document may name itself, in a relative path or in a file URI (RFC 3986, RFC 8089).
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "collada_detail.h"

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

/// The path of a file URI or a relative reference; nothing where the reference has another scheme or host.
std::optional<std::string> path_of(std::string_view reference) {
  if (starts_with_ignoring_case(reference, "file:")) {
    reference.remove_prefix(5);
    if (reference.starts_with("//")) {
      reference.remove_prefix(2);
      if (starts_with_ignoring_case(reference, "localhost/")) reference.remove_prefix(9);
      if (!reference.starts_with('/')) return std::nullopt;
    }
  } else if (reference.substr(0, reference.find('/')).find(':') != std::string_view::npos ||
             reference.starts_with("//")) {
    return std::nullopt;
  }
  return percent_decoded(reference);
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

std::vector<std::string> own_paths(const std::string& file, const std::string& entry) {
  if (!entry.empty()) return {fs::path("/" + entry).lexically_normal().string()};
  std::vector<std::string> paths;
  std::error_code error;
  for (const fs::path& path : {fs::absolute(file, error).lexically_normal(), fs::weakly_canonical(file, error)}) {
    if (path.empty()) continue;
    paths.push_back(path.string());
    if (path.extension() == ".gz") paths.push_back(fs::path(path).replace_extension().string());
  }
  return paths;
}

std::optional<std::string_view> local_id(const Source& source, std::string_view url) {
  const auto hash = url.find('#');
  if (hash == std::string_view::npos) return std::nullopt;
  const std::string_view id = url.substr(hash + 1);
  if (hash == 0) return id;
  const auto path = path_of(url.substr(0, hash));
  if (!path) return std::nullopt;
  const bool own = std::any_of(source.paths.begin(), source.paths.end(), [&](const fs::path& self) {
    return (self.parent_path() / *path).lexically_normal() == self;
  });
  return own ? std::optional(id) : std::nullopt;
}

}  // namespace raylift::collada
