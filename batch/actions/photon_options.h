// SPDX-License-Identifier: Apache-2.0
// What `raylift photons` is asked for.
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/gpu/upload/upload.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "cache_options.h"

namespace raylift::batch {

/// How rows of photons lie in files.
enum class PhotonFormat : std::uint8_t {
  opticks,  ///< one array of (N, 4, 4)
  chroma,   ///< a folder with an array for each quantity
};
inline constexpr std::array<std::string_view, 2> kPhotonFormats{"opticks", "chroma"};

/// What a scene that photons go through is read and uploaded by.
struct PhotonSceneOptions {
  std::string file;
  LoadOptions load;
  UploadOptions upload;
  CacheSettings cache;
  std::string device = "auto";
  bool strict = false;  ///< about solids that are too thin
};

struct PhotonOptions : PhotonSceneOptions {
  std::string source = "point:0,0,0";
  std::uint64_t photons = 1'000'000;
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::uint32_t most_steps = 10'000;
  float latest = std::numeric_limits<float>::infinity();  ///< ns
  std::string output;                                     ///< the folder
  PhotonFormat format = PhotonFormat::opticks;
  bool final = false;
  bool sequences = false;
  std::uint64_t record = 0;  ///< the first photons
  std::string record_file;   ///< or a .npy of numbers
  std::uint32_t time_bins = 0;
  float time_from = 0, time_to = 0;  ///< ns
  std::size_t batch = 0;
  double checkpoint_seconds = 10;
  bool resume = false;
};

}  // namespace raylift::batch
