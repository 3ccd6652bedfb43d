// SPDX-License-Identifier: Apache-2.0
// The command line of raylift-view.
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/interop/gl_context.h>

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/camera.h"
#include "cli/cli11_forward.h"
#include "cli/session.h"
#include "model/settings.h"
#include "model/solids.h"
#include "state/bookmarks.h"

namespace raylift::viewer {

struct ViewOptions {
  std::vector<std::string> files;
  cli::GeneralOptions general;
  LoadOptions load;
  UploadOptions upload;
  std::string device = "auto";
  GlRenderer gl = GlRenderer::automatic;

  std::string output;  ///< empty: a window
  Resolution resolution;
  int samples = 0;              ///< 0: by the renderer
  int frames = 0;               ///< more than 0: draws this many and prints the frame rate
  int ray_samples = 16;         ///< per pixel
  std::optional<double> orbit;  ///< degrees that the camera turns about the scene during these frames
  bool offscreen = false;
  bool watch = false;
  bool no_socket = false;  ///< no other program reaches the window
  bool legend = false;     ///< in images that are written
  bool light = false;      ///< the panels' theme
  double ui_scale = 0;     ///< of font and panels; 0: the monitor's
  std::string bookmarks;   ///< the file; empty: in the configuration's folder
  std::string bookmark;    ///< the name of the one to open with

  std::string photons;         ///< a folder or an array; empty: none
  std::string photon_compare;  ///< another run: photons whose histories deviate from its
  std::uint64_t photon_limit = 1'000'000;
  bool play = false;   ///< time runs
  std::string source;  ///< of photons that the viewer follows itself; empty: none
  std::uint64_t source_photons = 1'000'000;
  std::uint64_t source_paths = 1000;
  std::uint64_t source_seed = 0;

  Settings settings;
  CameraOptions camera;
  std::vector<std::string> warnings;  ///< about options that have no effect
  std::vector<std::string> clips;     ///< as typed; settings.clip and more_clips follow from them
  std::vector<std::string> measured;  ///< as typed; settings.measured follows from them
  bool clip_facing = false;           ///< settings.clip follows from the camera
  std::string clip_box;               ///< as find_box() reads it; settings.clip_box follows from the scene
  bool clip_box_away = false;
  std::string focus;                                                ///< frames the solids that match
  std::vector<std::string> hide, only;                              ///< patterns of solids, as find() reads them
  std::array<std::vector<std::string>, kStyleNames.size()> styled;  ///< likewise, by Style
  /// What the configuration said of these: its patterns come first.
  struct Configured {
    std::size_t hide = 0, only = 0, clips = 0, measured = 0;
    std::string focus, clip_box;
    std::array<std::size_t, kStyleNames.size()> styled{};
  } configured;
};

/// The options of light.
void add_photon_options(CLI::App& app, ViewOptions& options);

/// The options that a program has besides.
struct MoreOptions {
  std::function<void(CLI::App&)> add;
  std::string footer;  ///< the end of --help
  std::string
      instead;  ///< an option with which files are other words: no configuration is read, and nothing is checked
};

/// Reads configuration and command line into `options`. Returns the text of --help or --version where one of them is
/// given, else nothing. Throws Error: usage; io, malformed for the configuration.
[[nodiscard]] std::string parse_view_options(int argc, char** argv, ViewOptions& options, const MoreOptions& more = {});

/// What the patterns of options found.
struct Notes {
  std::vector<std::string> counts;    ///< "'Pool*': 1 solid by name"
  std::vector<std::string> warnings;  ///< of the configuration's patterns that match nothing
};

/// Applies --hide, --only and the styles. Throws Error(usage) where a pattern of the command line matches nothing.
Notes apply_visibility(const ViewOptions& options, Solids& solids);

/// How a scene opens.
struct Opening {
  Camera camera;
  Settings settings;
  std::vector<std::uint32_t> focus;       ///< what is framed
  std::vector<std::uint32_t> in_the_way;  ///< of --focus, drawn faintly
  Notes notes;                            ///< of --focus
};

/// What the options say of a scene, with visibility as in `solids`. The image's free part is that of the camera
/// `before`. Throws Error(usage).
[[nodiscard]] Opening open_view(const ViewOptions& options, const Solids& solids, const Camera& before, double aspect);

/// The file of bookmarks; empty without a home. A scene's key in it: its absolute path.
[[nodiscard]] std::filesystem::path bookmarks_file(const ViewOptions& options);
[[nodiscard]] std::string bookmarks_key(const std::string& scene_file);
/// The settings with those of a bookmark: the window's own (axes, scale bar, background) and what is measured stay, and
/// so does light where the bookmark has none.
[[nodiscard]] Settings with_bookmark(const Settings& settings, const Bookmark& bookmark);
/// In place of the light of --photons or --photon-source.
void take_light(const LightOrigin& light, ViewOptions& options);

/// `pattern` with {name} replaced by the scene's file name without its ending (.dae, .dae.gz), and {n} by its number;
/// {frame} by that of a frame, from 0 on, with leading zeros.
[[nodiscard]] std::string output_name(const std::string& pattern, const std::string& file, std::size_t number,
                                      std::optional<int> frame = std::nullopt);
/// Whether each of --frames is written: --output has {frame}.
[[nodiscard]] bool writes_frames(const ViewOptions& options);

}  // namespace raylift::viewer
