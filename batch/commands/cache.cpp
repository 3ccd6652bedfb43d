// SPDX-License-Identifier: Apache-2.0
// raylift cache: puts scenes into the geometry cache, and lists, checks and removes its files.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <raylift/geometry/error.h>

#include <ctime>
#include <memory>

#include "base/json.h"
#include "batch/actions/cache_options.h"
#include "cli/options.h"
#include "cli/placement_options.h"
#include "cli/table.h"
#include "cli/text.h"
#include "commands.h"
#include "gpu/src/cache/cache_files.h"

namespace raylift::batch {
using namespace cli;
namespace {

namespace fs = std::filesystem;

struct CacheCommandOptions {
  std::vector<std::string> files;
  LoadOptions load;
  UploadOptions upload;
  CacheSettings cache;
  bool again = false;

  [[nodiscard]] fs::path folder() const {
    return cache.options.folder.empty() ? default_cache_folder() : cache.options.folder;
  }
};

std::string time_text(std::int64_t seconds) {
  std::tm parts{};
  const std::time_t time = seconds;
  if (::gmtime_r(&time, &parts) == nullptr) return "?";
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", parts);
}

std::vector<std::string> texts(const std::vector<fs::path>& paths) {
  std::vector<std::string> result;
  for (const fs::path& path : paths) result.push_back(path.string());
  return result;
}

int make(Session& session, const CacheCommandOptions& options) {
  if (options.files.empty()) throw Error(ErrorKind::usage, "a file is missing", {}, "see 'raylift cache --help'");
  return session.for_each_file(options.files, [&](const std::string& file, Json& json) {
    CacheSettings cache = options.cache;
    cache.enabled = true;
    cache.options.read = !options.again;
    const CacheMade made = make_cache(file, options.load, options.upload, cache.with(session), session.progress());
    const CacheSummary summary = cache_summary(made.file);
    if (!made.hit)
      for (const std::string& warning : summary.report.warnings) session.warn(file + ": " + warning);
    if (session.options().json)
      json = {{"file", file},
              {"cache_file", made.file.path().string()},
              {"was_there", made.hit},
              {"bytes", made.file.file_bytes()},
              {"triangles", summary.triangles},
              {"instances", summary.instances},
              {"flattened", summary.flattened}};
    else
      session.write(fmt::format("{}: {}, {}, {} in {}\n", printable(file),
                                made.hit ? "was in the cache" : "is in the cache now",
                                counted(summary.triangles, "triangle", "triangles"),
                                human_bytes(made.file.file_bytes()), printable(made.file.path().string())));
    return 0;
  });
}

int list(Session& session, const CacheCommandOptions& options) {
  const CacheContents contents = cache_contents(options.folder());
  Json files = Json::array();
  Table table({{"file", Align::left},
               {"bytes"},
               {"made", Align::left},
               {"triangles"},
               {"instances"},
               {"options", Align::left},
               {"source", Align::left}});
  std::uint64_t bytes = 0;
  for (const fs::path& path : contents.files) {
    session.stop_if_interrupted();
    const std::string name = path.filename().string();
    try {
      const CacheFile file(path);
      const CacheSummary summary = cache_summary(file);
      bytes += file.file_bytes();
      files.push_back({{"file", path.string()},
                       {"bytes", file.file_bytes()},
                       {"made", time_text(file.created())},
                       {"source", summary.source},
                       {"source_bytes", file.key().source_bytes},
                       {"format", summary.format},
                       {"triangles", summary.triangles},
                       {"vertices", summary.vertices},
                       {"meshes", summary.meshes},
                       {"instances", summary.instances},
                       {"flattened", summary.flattened},
                       {"options", summary.options}});
      const std::string stem = path.stem().string();
      table.add({stem.substr(0, 8) + ".." + stem.substr(stem.size() - 8), human_bytes(file.file_bytes()),
                 time_text(file.created()), grouped(summary.triangles), grouped(summary.instances),
                 summary.options.empty() ? "-" : summary.options, summary.source});
    } catch (const Error& error) {
      std::error_code gone;
      if (!fs::exists(path, gone)) continue;  // removed meanwhile
      session.warn(error.what());
      files.push_back({{"file", path.string()}, {"error", to_json(error)}});
    }
  }
  if (session.options().json) {
    const Json json{{"folder", options.folder().string()},
                    {"files", files},
                    {"bytes", bytes},
                    {"left_over", texts(contents.left_over)}};
    session.write(base::json_text(json, 2) + '\n');
    return 0;
  }
  std::string text = table.empty() ? "" : table.text() + '\n';
  text += fmt::format("{} in {}, {}\n", counted(files.size(), "file", "files"), printable(options.folder().string()),
                      human_bytes(bytes));
  if (!contents.left_over.empty())
    text += counted(contents.left_over.size(), "file", "files") +
            " left over by programs that were killed or are at work\n";
  session.write(text);
  return 0;
}

int verify(Session& session, const CacheCommandOptions& options) {
  std::vector<std::string> files = options.files;
  if (files.empty()) files = texts(cache_contents(options.folder()).files);
  const int code = session.for_each_file(files, [&](const std::string& path, Json& json) {
    const CacheFile file(path);
    file.verify(session.progress());
    const CacheSummary summary = cache_summary(file);
    (void)cached_outline(file);
    if (session.options().json)
      json = {{"file", path}, {"bytes", file.file_bytes()}, {"source", summary.source}, {"intact", true}};
    else
      session.write(fmt::format("{}: intact, {}, from {}\n", printable(path), human_bytes(file.file_bytes()),
                                printable(summary.source)));
    return 0;
  });
  return code;
}

int clear(Session& session, const CacheCommandOptions& options) {
  const CacheCleared cleared = clear_cache(options.folder());
  if (session.options().json) {
    const Json json{{"folder", options.folder().string()}, {"files", cleared.files}, {"bytes", cleared.bytes}};
    session.write(base::json_text(json, 2) + '\n');
  } else {
    session.write(fmt::format("{} removed from {}, {}\n", counted(cleared.files, "file", "files"),
                              printable(options.folder().string()), human_bytes(cleared.bytes)));
  }
  return 0;
}

}  // namespace

void add_cache(CLI::App& program, GeneralOptions& general, CommandRun& run) {
  auto options = std::make_shared<CacheCommandOptions>();
  CLI::App* app = add_command(program, "cache",
                              "Store scenes, as they are uploaded, in the geometry cache; list, verify or clear it");
  add_words(*app, "FILE", options->files, "Scene files, as of 'raylift info'", false);
  add_flag(*app, "--flatten", options->upload.flatten, "Copy each instance's mesh into one mesh in world coordinates");
  options->upload.bvh = true;
  add_flag(
      *app, "--no-bvh", [options] { options->upload.bvh = false; },
      "Leave out the BVH (bounding volume hierarchy) that ray queries need");
  add_precision_options(*app, options->upload, options->load);
  add_flag(*app, "--again", options->again, "Replace a cache file that exists");
  const char* const where =
      "With --cache=DIR, the folder of the cache instead of $RAYLIFT_CACHE_DIR or ~/.cache/raylift";
  add_cache_folder(*app, options->cache, where);
  add_general_options(*app, general, true);
  add_load_options(*app, options->load);
  finish_command(*app, R"(
Commands: raylift cache list, raylift cache verify, raylift cache clear.

The key of a cache file is the contents of the scene file and the options that change its arrays. 'raylift upload --cache'
reads the cache and stores scenes that it lacks. Write ./list for a scene file whose name is list, verify or clear.

Examples:
  raylift cache scene.dae
  raylift cache --cache=/scratch/cache *.dae
  raylift cache list
  raylift cache verify && raylift cache clear)",
                 [app, options, &run] {
                   if (!has_command(*app)) run = [options](Session& session) { return make(session, *options); };
                 });

  const auto add = [&](const char* name, const char* help, bool files, auto function) {
    CLI::App* command = add_command(*app, name, help);
    if (files) add_words(*command, "FILE", options->files, "Cache files; all files of the cache by default", false);
    add_cache_folder(*command, options->cache, where);
    add_general_options(*command, general, true);
    finish_command(*command, "", [options, function, name, files, &run] {
      if (!files && !options->files.empty())
        throw Error(ErrorKind::usage, std::string("'raylift cache ") + name + "' takes no files",
                    {options->files.front(), ""}, "a file of that name is given as ./" + std::string(name));
      run = [options, function](Session& session) { return function(session, *options); };
    });
  };
  add("list", "List the scenes in the cache", false, list);
  add("verify", "Read and check every byte; the first error gives the exit code", true, verify);
  add("clear", "Remove all files of the cache", false, clear);
}

}  // namespace raylift::batch
