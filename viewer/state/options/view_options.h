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
#include "model/settings/setting_table.h"
#include "model/solids/solids.h"
#include "state/options/bookmarks.h"

namespace raylift::viewer {

/// Images that are written or timed without a window.
struct ImageOptions {
  std::string output;  ///< PNG file; empty: none
  Resolution resolution;
  GlContextOptions::Renderer gl = GlContextOptions::Renderer::automatic;
  int samples = 0;              ///< per pixel; 0: chosen by the renderer
  int frames = 0;               ///< more than 0: draw this many, and print the frame rate
  int ray_samples = 16;         ///< per pixel
  std::optional<double> orbit;  ///< angle of the camera's orbit during these frames, degrees
  bool legend = false;
  std::vector<std::string> path;  ///< bookmarks that the camera passes during these frames, in place of an orbit

  /// Whether each of `frames` is written: `output` has {frame}.
  [[nodiscard]] bool writes_frames() const { return frames > 0 && output.find("{frame}") != std::string::npos; }
};

/// The theme of the panels; automatic: as the desktop's, and without a window dark.
enum class ThemeChoice { automatic, dark, light };
inline constexpr std::array<std::string_view, 3> kThemeNames{"auto", "dark", "light"};

struct WindowOptions {
  bool watch = false;      ///< reload a file that changes
  bool no_socket = false;  ///< no other program reaches the window
  ThemeChoice theme = ThemeChoice::automatic;
  double ui_scale = 0;  ///< of text and panels; 0: the monitor's
};

/// Photons that are drawn.
struct LightOptions {
  LightOrigin origin;
  std::uint64_t limit = 1'000'000;  ///< maximum number of paths, and of points
  std::uint64_t count = 1'000'000;  ///< photons of a source
  std::uint64_t record = 1000;      ///< photons of a source whose steps are drawn
  std::uint64_t seed = 0;           ///< of a source
  bool play = false;                ///< time runs
};

/// Patterns of solids, in the form of find().
struct SolidOptions {
  std::vector<std::string> hide, only;
  std::array<std::vector<std::string>, kStyleNames.size()> styled;  ///< by Style
  std::string focus;                                                ///< the solids that the camera frames
  std::vector<std::string> colored;                                 ///< PATTERN=#rrggbb
  std::string clip_box;                                             ///< in the form of find_box()
  bool clip_box_away = false;
  std::vector<std::string> measured;  ///< two or three, or none, in the form of find_point()
  /// The patterns of the configuration, which come first.
  struct Configured {
    std::size_t hide = 0, only = 0, colored = 0;
    std::string focus, clip_box;
    std::array<std::size_t, kStyleNames.size()> styled{};
    bool measured = false;  ///< all of them
  } configured;
};

struct ViewOptions {
  std::vector<std::string> files;
  cli::GeneralOptions general;
  LoadOptions load;
  UploadOptions upload;
  std::string device = "auto";
  ImageOptions image;
  WindowOptions window;
  std::string overlaps;   ///< a report of raylift check, or "find"; empty: none are marked
  std::string bookmarks;  ///< the file; empty: in the folder of the configuration
  std::string bookmark;   ///< the name of the bookmark that scenes open with
  LightOptions light;
  SolidOptions solids;
  Settings settings;
  CameraOptions camera;
  bool clip_facing = false;           ///< settings.clip follows from the camera
  std::vector<std::string> warnings;  ///< of options that have no effect
};

/// The options that choose photons.
void add_photon_options(CLI::App& app, ViewOptions& options);

/// The options that a program has besides.
struct MoreOptions {
  std::function<void(CLI::App&)> add;
  std::string footer;  ///< the end of --help
  /// An option with which FILE... are other words: no configuration is read, and nothing is checked.
  std::string instead;
  const SettingTable& settings = setting_table();
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

/// Throws Error(malformed) where no triangle of the scene has an area: an image of it would be empty.
void refuse_flat(const Scene& scene);

/// How a scene opens.
struct Opening {
  Camera camera;
  Settings settings;
  std::vector<Eigen::Vector3d> framed;    ///< the points that the camera frames; none where it is stated
  std::vector<std::uint32_t> in_the_way;  ///< of --focus, drawn faintly
  Notes notes;                            ///< of --focus
};

/// The first view of a scene by the options, with visibility as in `solids`. The image's free part is that of the
/// camera `before`. Throws Error(usage).
[[nodiscard]] Opening open_view(const ViewOptions& options, const Solids& solids, const Camera& before, double aspect);

/// The file of bookmarks; empty without a home. A scene's key in it: its absolute path.
[[nodiscard]] std::filesystem::path bookmarks_file(const ViewOptions& options);
[[nodiscard]] std::string bookmarks_key(const std::string& scene_file);
/// The settings with those of a bookmark: the window's own (axes, scale bar, background) and what is measured stay, and
/// so does light where the bookmark has none.
[[nodiscard]] Settings with_bookmark(const Settings& settings, const Bookmark& bookmark);
/// `pattern` with {name} replaced by the scene's file name without its ending (.dae, .dae.gz), and {n} by its number;
/// {frame} by that of a frame, from 0 on, with leading zeros.
[[nodiscard]] std::string output_name(const std::string& pattern, const std::string& file, std::size_t number,
                                      std::optional<int> frame = std::nullopt);

}  // namespace raylift::viewer
