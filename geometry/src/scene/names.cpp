// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <fnmatch.h>

#include <algorithm>

namespace raylift {

std::string_view base_name(std::string_view name) {
  const std::size_t mark = name.rfind("0x");
  if (mark == std::string_view::npos || mark == 0) return name;
  const std::string_view digits = name.substr(mark + 2);
  const bool pointer = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
  return pointer ? name.substr(0, mark) : name;
}

std::string g4dae_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '/')
      text += "__";
    else if (c == '#')
      text += "--";
    else if (c == ':')
      text += "..";
    else if (c != ' ')
      text += c;
  }
  return text;
}

bool matches(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool matches_name(const std::string& pattern, const std::string& name) {
  if (matches(pattern, name)) return true;
  const std::string_view base = base_name(name);
  return base.size() != name.size() && matches(pattern, std::string(base));
}

bool has_wildcard(std::string_view pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      ++i;
    } else if (pattern[i] == '*' || pattern[i] == '?' || pattern[i] == '[') {
      return true;
    }
  }
  return false;
}

std::string literal_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string literal_text(std::string_view pattern) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    text += pattern[i];
  }
  return text;
}

}  // namespace raylift
