// SPDX-License-Identifier: Apache-2.0
#include "cache_options.h"

#include <utility>

#include "cli/options.h"
#include "gpu/src/cache/cache_files.h"

namespace raylift::batch {
using namespace cli;

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

void CacheSettings::hash_ahead(const std::vector<std::string>& files, const LoadOptions& load) {
  if (enabled && !files.empty())
    options.source_hash = std::make_shared<const SourceHashAhead>(hash_source_ahead(files.front(), load));
}

Json CacheSettings::json(const CachedUpload& uploaded) const {
  if (!enabled) return {};
  return {{"hit", uploaded.hit}, {"file", uploaded.cache ? Json(uploaded.cache->path().string()) : Json()}};
}

void add_cache_folder(CLI::App& app, CacheSettings& settings, const std::string& help) {
  add_flag_with_value(
      app, "--cache",
      [&settings](const std::string& folder) {
        settings.enabled = true;
        settings.options.folder = folder;
      },
      help);
}

void add_cache_options(CLI::App& app, CacheSettings& settings) {
  add_cache_folder(app, settings,
                   "Use the geometry cache in $RAYLIFT_CACHE_DIR or ~/.cache/raylift; with --cache=DIR that in DIR");
}

}  // namespace raylift::batch
