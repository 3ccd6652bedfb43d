// SPDX-License-Identifier: Apache-2.0
// What a batch can do with a scene: a table with one function for each action.
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache_options.h"
#include "cli/output.h"
#include "gpu/src/cache/cache_files.h"

namespace raylift::batch {

/// What holds for all scenes of a batch.
struct ActionOptions {
  LoadOptions load;
  UploadOptions upload;
  CacheSettings cache;
  bool fill_cache = false;       ///< the action "cache" is among those to be done
  std::uint64_t rays = 100'000;  ///< that the action "trace" traces
  std::string pictures;          ///< the folder that pictures go to
};

/// A scene on its way through the actions, each of which finds what those before it made.
class SceneWork {
 public:
  SceneWork(std::string file, const ActionOptions& options, const Device* device, Progress progress)
      : file_(std::move(file)), options_(options), device_(device), progress_(std::move(progress)) {}

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const ActionOptions& options() const { return options_; }
  [[nodiscard]] const Progress& progress() const { return progress_; }
  /// Loads it at the first call, by way of the cache where that is asked for.
  [[nodiscard]] const Scene& scene();
  /// Sees to it at the first call that the cache holds it. Throws Error also where it is the cache that fails.
  [[nodiscard]] const CacheFile& cached();
  /// Uploads it at the first call.
  [[nodiscard]] const GpuGeometry& geometry();
  /// Marks the answer as a negative one.
  void set_negative() { negative_ = true; }
  [[nodiscard]] bool negative() const { return negative_; }

 private:
  std::string file_;
  const ActionOptions& options_;
  const Device* device_;
  Progress progress_;
  std::optional<Scene> scene_;
  std::optional<CacheFile> cached_;
  std::optional<GpuGeometry> geometry_;
  bool negative_ = false;
};

struct Action {
  std::string_view name;
  bool needs_device;
  /// What stands in the scene's row: the same each time, so no times. Throws Error.
  cli::Json (*run)(SceneWork&);
  /// Throws Error where the action can't be done on this machine, or not with these options.
  void (*check)(const ActionOptions&) = nullptr;
};

/// In the order in which they are done.
[[nodiscard]] std::span<const Action> all_actions();

/// "info,check": the actions of a list, each once, in their order. Throws Error(usage) for an unknown one.
[[nodiscard]] std::vector<const Action*> parse_actions(std::string_view text);

}  // namespace raylift::batch
