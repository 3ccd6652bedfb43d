// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <unordered_set>

#include "cli/text.h"
#include "gpu/src/cache/cache_files.h"

namespace raylift::batch {
namespace {

namespace fs = std::filesystem;

/// The endings that a folder is searched for. Those left out are read too, where such a file is named, but are mostly
/// something else: data, projects, motions, archives.
std::vector<std::string> scene_extensions() {
  std::vector<std::string> all = supported_extensions();
  std::erase_if(all, [](const std::string& one) {
    constexpr std::array kOthers{"3d",  "ask", "bvh", "csm", "md5anim", "md5camera", "mot", "pk3",
                                 "prj", "raw", "scn", "ter", "uc",      "vta",       "xml"};
    return std::find(kOthers.begin(), kOthers.end(), one) != kOthers.end();
  });
  return all;
}

class Expansion {
 public:
  void add(const std::string& name, bool from_list = false) {
    std::error_code error;
    const fs::file_status status = fs::status(name, error);
    if (fs::is_directory(status)) return add_folder(name);
    if (fs::exists(status)) return add_file(name);
    if (!from_list && name.size() > 1 && name.front() == '@') return add_list(name.substr(1));
    if (name.find_first_of("*?[") != std::string::npos) return add_pattern(name);
    fail(name, "there is no such file or folder");
  }
  std::vector<Input> take() { return std::move(inputs_); }

 private:
  void add_file(const std::string& path) {
    std::string identity = identity_(path);
    if (!seen_.insert(identity).second) return;
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(path, error);
    inputs_.push_back({path, std::move(identity), identity_.folder(path).file_system, error ? 0 : bytes, std::nullopt});
  }

  void add_folder(const fs::path& folder) {
    std::vector<std::string> files;
    std::vector<std::pair<std::string, std::string>> unreadable;
    std::vector<fs::path> open{folder};
    while (!open.empty()) {
      const fs::path here = std::move(open.back());
      open.pop_back();
      std::error_code error;
      for (fs::directory_iterator entry(here, error); !error && entry != fs::directory_iterator();
           entry.increment(error)) {
        std::error_code ignored;
        if (entry->path().filename().string().front() == '.') continue;  // hidden: backups, version control
        if (entry->is_directory(ignored) && !entry->is_symlink(ignored))
          open.push_back(entry->path());
        else if (entry->is_regular_file(ignored) && is_scene(entry->path()))
          files.push_back(entry->path().string());
      }
      if (error) unreadable.emplace_back(here.string(), error.message());
    }
    if (files.empty() && unreadable.empty())
      return fail(folder.string(), "the folder holds no file whose ending is a scene's");
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) add_file(file);
    // Such a folder is a row of its own: what lies beside it is done all the same.
    std::sort(unreadable.begin(), unreadable.end());
    for (const auto& [name, why] : unreadable) fail(name, "can't list the folder: " + why);
  }

  void add_pattern(const std::string& pattern) {
    // glob() calls itself for each part of a path, and ends on the stack where a line is full of them.
    if (pattern.size() >= PATH_MAX) return fail(pattern, "the pattern is longer than a file's name can be");
    glob_t found{};
    const int code = ::glob(pattern.c_str(), 0, nullptr, &found);
    std::vector<std::string> names;
    for (std::size_t i = 0; code == 0 && i != found.gl_pathc; ++i) names.emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
    if (names.empty()) fail(pattern, "the pattern matches no file");
    for (const std::string& name : names) add(name, true);
  }

  void add_list(const std::string& name) {
    std::ifstream file;
    if (name != "-") file.open(name, std::ios::binary);
    std::istream& in = name == "-" ? std::cin : file;
    if (!in) return fail(name, "can't read the list");
    for (std::string line; std::getline(in, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!line.empty() && line.front() != '#') add(line, true);
    }
    if (in.bad()) fail(name, "can't read the list");
  }

  void fail(const std::string& name, const std::string& problem) {
    std::string identity = identity_(name);
    if (!seen_.insert(identity).second) return;
    inputs_.push_back({name, std::move(identity), 0, 0, Error(ErrorKind::io, problem, {name, ""})});
  }

  /// Whether the name has an ending of scenes: of "a.dae.gz", "dae.gz" as well as "gz".
  [[nodiscard]] bool is_scene(const fs::path& path) const {
    const std::string name = cli::lower(path.filename().string());
    return std::any_of(extensions_.begin(), extensions_.end(), [&](const std::string& extension) {
      return name.size() > extension.size() + 1 && name.ends_with(extension) &&
             name[name.size() - extension.size() - 1] == '.';
    });
  }

  std::vector<std::string> extensions_ = scene_extensions();
  std::vector<Input> inputs_;
  FileIdentity identity_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

const Folder& FileIdentity::folder(const std::string& path) {
  const fs::path parent = (fs::path(base_) / path).parent_path();
  const auto [found, added] = folders_.try_emplace(parent.string());
  if (!added) return found->second;
  std::error_code error;
  const fs::path here = parent.empty() ? fs::path(".") : parent;
  const fs::path resolved = fs::weakly_canonical(here, error);
  found->second.path = error ? fs::absolute(here, error).lexically_normal().string() : resolved.string();
  struct stat info {};
  if (::stat(here.c_str(), &info) == 0) found->second.file_system = info.st_dev;
  return found->second;
}

std::string FileIdentity::operator()(const std::string& path) {
  return (fs::path(folder(path).path) / fs::path(path).filename()).string();
}

bool folder_vanished(const Input& input) {
  FileIdentity now;
  const std::uint64_t file_system = now.folder(input.path).file_system;
  return file_system != input.file_system;
}

std::string source_hash(const std::string& path, std::uint64_t most, const Progress& progress) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > most || error) return {};
  return hash_source(path, progress).hash.hex();
}

std::string scene_hash(const std::string& path, const LoadOptions& load, std::uint64_t most, const Progress& progress) {
  const std::string source = source_hash(path, most, progress);
  const std::string optics = source.empty() ? "none" : optics_hash(path, load);
  return source + (optics == "none" ? "" : '+' + optics);
}

std::vector<Input> expand_inputs(const std::vector<std::string>& given) {
  Expansion expansion;
  for (const std::string& name : given) expansion.add(name);
  return expansion.take();
}

}  // namespace raylift::batch
