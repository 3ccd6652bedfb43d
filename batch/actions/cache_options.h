// SPDX-License-Identifier: Apache-2.0
// The option --cache, for all commands that load scenes.
#pragma once

#include <raylift/gpu/cache/cache.h>
#include <functional>
#include <string>
#include <vector>

#include "cli/cli11_forward.h"
#include "cli/session.h"

namespace raylift::batch {

struct CacheSettings {
  bool enabled = false;
  CacheOptions options;

  /// The options as the library takes them: with the session for warnings, and nothing read or written where the cache
  /// is not to be used.
  [[nodiscard]] CacheOptions with(cli::Session& session) const;
  [[nodiscard]] CacheOptions with(std::function<void(const std::string&)> warn) const;
  /// Begins to hash the first of some files on another thread, where the cache is to be used: CUDA starts meanwhile.
  void hash_ahead(const std::vector<std::string>& files, const LoadOptions& load);
  /// For --json; null where the cache was not to be used.
  [[nodiscard]] cli::Json json(const CachedUpload& uploaded) const;
};

/// --cache[=DIR] alone, with its text in the help.
void add_cache_folder(CLI::App& app, CacheSettings& settings, const std::string& help);

/// --cache[=DIR].
void add_cache_options(CLI::App& app, CacheSettings& settings);

}  // namespace raylift::batch
