// SPDX-License-Identifier: Apache-2.0
#include "cache_options.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace raylift::batch {
using namespace cli;
namespace {

constexpr const char* kDefaultFolder = "*";  // what --cache without a value stands for

}  // namespace

CacheOptions CacheSettings::with(Session& session) const {
  return with([&session](const std::string& line) { session.warn(line); });
}

CacheOptions CacheSettings::with(std::function<void(const std::string&)> warn) const {
  CacheOptions result = options;
  result.read = result.read && enabled;
  result.write = result.write && enabled;
  result.warn = std::move(warn);
  return result;
}

Json CacheSettings::json(const CachedUpload& uploaded) const {
  if (!enabled) return {};
  return {{"hit", uploaded.hit}, {"file", uploaded.cache ? Json(uploaded.cache->path().string()) : Json()}};
}

void add_cache_folder(CLI::App& app, CacheSettings& settings, const std::string& help) {
  // A flag with a value after '=', so that it never takes the file that follows it.
  app.add_flag(std::string("--cache{") + kDefaultFolder + '}')
      ->type_name("")
      ->each([&settings](const std::string& folder) {
        settings.enabled = true;
        settings.options.folder = folder == kDefaultFolder ? std::filesystem::path() : std::filesystem::path(folder);
      })
      ->description(help);
}

void add_cache_options(CLI::App& app, CacheSettings& settings) {
  add_cache_folder(app, settings,
                   "Use the geometry cache, of $RAYLIFT_CACHE_DIR or ~/.cache/raylift; as --cache=DIR that of DIR");
  app.add_flag_callback(
      "--no-cache", [&settings] { settings.enabled = false; }, "Leave the cache alone, as is the default");
}

}  // namespace raylift::batch
