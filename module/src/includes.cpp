// SPDX-License-Identifier: Apache-2.0
// Which files a source may include: what a cached kernel depends on besides its own text. All of them are found, and
// maybe some more: the preprocessor's conditions are not looked at.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <span>

#include "compile_cache.h"

namespace raylift::detail {
namespace {

namespace fs = std::filesystem;

bool built_in(const std::string& name) {
  const std::span headers(kBuiltInHeaders, kBuiltInHeaderCount);
  return std::any_of(headers.begin(), headers.end(), [&](const BuiltInHeader& header) { return header.name == name; });
}

class Includes {
 public:
  explicit Includes(const std::vector<fs::path>& folders) : folders_(folders) {}

  /// Adds the includes of a text in a folder. False where an #include names no file, or can't be parsed.
  [[nodiscard]] bool add_all(std::string_view text, const fs::path& beside) {
    for (std::size_t end = 0; end < text.size(); text.remove_prefix(std::min(end + 1, text.size()))) {
      end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      if (!skip(line, "#") || !skip(line, "include")) {
        // A directive in another spelling: behind a comment, as a digraph, over several lines.
        const std::string_view whole = text.substr(0, end);
        const bool directive = whole.find('#') != std::string_view::npos || whole.find("%:") != std::string_view::npos;
        if (directive && (whole.find("include") != std::string_view::npos || whole.ends_with("#\\"))) return false;
        continue;
      }
      line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
      const std::size_t close = line.find_first_of(">\"", 1);
      if (line.empty() || (line[0] != '<' && line[0] != '"') || close == std::string_view::npos) return false;
      const std::string name(line.substr(1, close - 1));
      if (built_in(name)) continue;
      if (!add(beside / name)) return false;
      for (const fs::path& folder : folders_)
        if (!add(folder / name)) return false;
    }
    return true;
  }
  [[nodiscard]] std::string take() { return std::move(texts_); }

 private:
  static constexpr const char* kBlanks = " \t\v\f\r";
  /// Takes a word, and blanks before it, off the front.
  static bool skip(std::string_view& line, std::string_view word) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (!line.starts_with(word)) return false;
    line.remove_prefix(word.size());
    return true;
  }
  [[nodiscard]] bool add(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error) || !seen_.insert(path.lexically_normal().string()).second) return true;
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    texts_ += path.lexically_normal().string() + '\0' + std::to_string(text.size()) + '\0' + text;
    return add_all(text, path.parent_path());
  }

  const std::vector<fs::path>& folders_;
  std::set<std::string> seen_;
  std::string texts_;
};

}  // namespace

std::optional<std::string> included_texts(std::string_view source, const std::vector<fs::path>& folders) {
  Includes includes(folders);
  if (!includes.add_all(source, fs::path("."))) return std::nullopt;
  return includes.take();
}

}  // namespace raylift::detail
