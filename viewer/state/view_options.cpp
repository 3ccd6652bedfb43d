// SPDX-License-Identifier: Apache-2.0
#include "state/view_options.h"

#include <raylift/geometry/error.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/parse_number.h"
#include "cli/describe.h"
#include "cli/options.h"
#include "cli/placement_options.h"
#include "cli/quantity.h"
#include "cli/text.h"
#include "state/view_config.h"

namespace raylift::viewer {
namespace {

using cli::add_parsed;

constexpr const char* kFooter = R"(
In the window, H shows keys and mouse gestures.

Configuration: a JSON object whose keys are long options without dashes, such as
  {"color": "solid", "edges": true, "resolution": "1920x1080", "hide": ["Pool*"]}
from --config FILE, else from ~/.config/raylift/view.json. The command line wins.
A pattern of it that matches nothing in a scene is a warning.

Examples:
  raylift-view detector.dae
  raylift-view detector.dae --clip x --output cut.png --resolution 1920x1080
  raylift-view *.dae --output 'images/{name}.png' --view iso
  raylift-view detector.dae --ray-cast shaded -o - | display
  raylift-view detector.dae --photons run --photon-filter 'TO * RE * SD' --color hits
  raylift-view detector.dae --photons run --photon-play --frames 250 -o 'film/{frame}.png'
  raylift-view --send select 'Sensor_12*'

Exit codes are those of raylift; 10: no OpenGL context could be made.)";

constexpr const char* kImage = "Image";
constexpr const char* kCamera = "Camera";
constexpr const char* kDrawing = "Drawing";
constexpr const char* kDevice = "Device";

double number(const std::string& text, double least, double most) {
  const auto value = base::parse_number<double>(base::without_plus(text));
  if (!value || !(*value >= least && *value <= most))
    throw Error(ErrorKind::usage, "'" + cli::printable(text) + "' is not a number from " + cli::short_number(least) +
                                      " to " + cli::short_number(most));
  return *value;
}

int integer(const std::string& text, int least, int most) {
  const double value = number(text, least, most);
  if (value != std::floor(value)) throw Error(ErrorKind::usage, "'" + cli::printable(text) + "' is not a whole number");
  return static_cast<int>(value);
}

void add_image_options(CLI::App& app, ViewOptions& options) {
  add_parsed(app, "--output,-o", "FILE", "",
             "Draw into a PNG file, without a window; -: standard output; {name} and {n}: the scene's name and number; "
             "{frame}: that of each of --frames, for a film",
             [&](const std::string& text) { options.output = text == "-" ? text : cli::parse_image_name(text); })
      ->group(kImage);
  add_parsed(app, "--resolution,-r", "WxH", "1280x720", "Size of the image, or of the window",
             [&](const std::string& text) { options.resolution = parse_resolution(text); })
      ->group(kImage);
  add_parsed(app, "--samples", "COUNT", "4; 1 on the CPU", "Multisampling: samples per pixel, 1 to 16",
             [&](const std::string& text) { options.samples = integer(text, 1, 16); })
      ->group(kImage);
  add_parsed(
      app, "--detail", "PIXELS", "0.75",
      "How far solids that are seen small may lie off, where they are simplified; 0: none is",
      [&](const std::string& text) { options.settings.detail = static_cast<float>(number(text, 0, kMaxDetail)); })
      ->group(kImage);
  add_parsed(app, "--background", "COLOR", "dark", "dark, light, white, black, none, #rrggbb or #rrggbb,#rrggbb",
             [&](const std::string& text) { options.settings.background = parse_background(text); })
      ->group(kImage);
  add_parsed(app, "--frames", "COUNT", "", "Without a window: draw COUNT frames of an orbit and print the frame rate",
             [&](const std::string& text) { options.frames = integer(text, 1, 1000000); })
      ->group(kImage);
  add_parsed(app, "--orbit", "DEGREES", "360; 0 with --photon-play", "How far the camera turns during these frames",
             [&](const std::string& text) { options.orbit = number(text, -36000, 36000); })
      ->group(kImage);
  app.add_flag("--offscreen", options.offscreen, "Open no window, even on a display; --output implies it")
      ->group(kImage);
  app.add_flag("--axes,!--no-axes", options.settings.axes, "Show the axes")->group(kImage);
  app.add_flag("--scale-bar,!--no-scale-bar", options.settings.scale_bar, "Show the scale bar")->group(kImage);
  app.add_flag("--legend,!--no-legend", options.legend, "Draw the legend of the colours into images of --output")
      ->group(kImage);
}

void add_camera_options(CLI::App& app, ViewOptions& options) {
  CameraOptions& camera = options.camera;
  const auto add = [&](const char* names, const char* type, const char* fallback, const char* help, auto read) {
    add_parsed(app, names, type, fallback, help, read)->group(kCamera);
  };
  cli::add_choice(app, "--view", "VIEW", "iso", "front, back, left, right, top, bottom or iso",
                  cli::words_of(kViewNames), [&](const std::string& text) { camera.view = standard_view(text); })
      ->group(kCamera);
  add("--eye", "X,Y,Z", "", "Position of the camera, mm",
      [&](const std::string& text) { camera.eye = cli::parse_point(text); });
  add("--target", "X,Y,Z", "the centre", "Point that the camera looks at, mm",
      [&](const std::string& text) { camera.target = cli::parse_point(text); });
  add("--camera-up", "X,Y,Z", "the scene's", "Upward direction of the image",
      [&](const std::string& text) { camera.up = cli::parse_point(text); });
  add("--azimuth", "DEGREES", "0", "Rotate the camera around the scene",
      [&](const std::string& text) { camera.azimuth = number(text, -36000, 36000); });
  add("--elevation", "DEGREES", "0", "Raise the camera",
      [&](const std::string& text) { camera.elevation = number(text, -180, 180); });
  add("--fov", "DEGREES", "40", "Vertical field of view",
      [&](const std::string& text) { camera.fov_degrees = number(text, 1, 170); });
  add("--zoom", "FACTOR", "1", "Magnification",
      [&](const std::string& text) { camera.zoom = number(text, 1e-6, 1e6); });
  add("--focus", "PATTERN", "", "Frame the solids whose names match, and draw all others faintly",
      [&](const std::string& text) { options.focus = text; });
  app.add_flag("--orthographic,!--perspective", camera.orthographic, "Parallel projection")->group(kCamera);
}

/// One value each, as what follows may be a file; all that are given count.
CLI::Option* repeated(CLI::Option* option, const char* type) {
  return option->type_name(type)->expected(1)->allow_extra_args(false)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll);
}

/// As long as there are options of drawing: each is said once, in the order of the help.
void add_drawing_options(CLI::App& app, ViewOptions& options) {
  Settings& settings = options.settings;
  const auto add = [&](const char* names, const char* type, const char* fallback, const char* help, auto read) {
    add_parsed(app, names, type, fallback, help, read)->group(kDrawing);
  };
  const auto choice = [&](const char* name, const char* type, const char* fallback, const char* help, const auto& words,
                          auto read) {
    cli::add_choice(app, name, type, fallback, help, cli::words_of(words), read)->group(kDrawing);
  };
  choice("--color", "BY", "material", "material, solid, mesh, residency, normal or (optical) surface", kColorNames,
         [&](const std::string& text) { settings.color = color_by(text); });
  app.add_flag_callback(
         "--wireframe", [&] { settings.fill = Fill::wireframe; }, "Draw lines instead of surfaces")
      ->group(kDrawing);
  app.add_flag("--edges,!--no-edges", settings.edges, "Draw the triangles' edges over the surfaces")->group(kDrawing);
  app.add_flag("--feature-edges,!--all-edges", settings.feature_edges,
               "Draw feature edges alone, where faces meet at 40 degrees or more, or end; with --wireframe or without")
      ->group(kDrawing);
  app.add_flag("--smooth,!--flat", settings.smooth, "Smooth or flat shading")->group(kDrawing);
  app.add_flag("--back-faces,!--no-back-faces", settings.back_faces, "Show back faces in red stripes")->group(kDrawing);
  add("--opacity", "SHARE", "1", "Opacity of all surfaces, 0.01 to 1",
      [&](const std::string& text) { settings.opacity = static_cast<float>(number(text, kMinOpacity, 1)); });
  repeated(
      app.add_option(
          "--clip", options.clips,
          "Clip at a plane: x, -y, z=100, 1,1,0=250; facing: the half that faces the camera; off: no clipping; several "
          "planes: given again, up to 6"),
      "PLANE")
      ->check([](const std::string& text) {
        try {
          if (text != "off" && text != "facing") (void)parse_clip(text);
          return std::string();
        } catch (const Error& error) {
          return std::string(error.what());
        }
      })
      ->group(kDrawing);
  add("--clip-box", "BOX", "",
      "Show only what is in a box: X,Y,Z,X,Y,Z, its least corner and its greatest one, mm; or PATTERN: the box around "
      "these solids; off: none",
      [&](const std::string& text) {
        if (text != "off") (void)parse_box(text);
        options.clip_box = text == "off" ? "" : text;
      });
  app.add_flag("--clip-box-away,!--no-clip-box-away", options.clip_box_away, "Cut away what is in this box instead")
      ->group(kDrawing);
  repeated(app.add_option(
               "--measure", options.measured,
               "Draw the distance between two points, mm, and the angle at the second of three; given for each point"),
           "X,Y,Z")
      ->check([](const std::string& text) {
        return cli::three_numbers(text) ? std::string()
                                        : "'" + cli::printable(text) + "' is not a point such as 0,-1500,2e4";
      })
      ->group(kDrawing);
  choice("--shells", "LOOK", "faint",
         "Solids that enclose nearly all others: faint, solid or hidden; clipping opens all but the largest",
         kShellsNames, [&](const std::string& text) { settings.shells = shells_mode(text); });
  app.add_flag("--caps,!--no-caps", settings.caps, "Close solids where planes cut them, with their colours")
      ->group(kDrawing);
  choice("--ray-cast", "MODE", "off", "Cast rays instead of rasterising: shaded, depth, normal, solid or crossings",
         kRayModeNames, [&](const std::string& text) { settings.rays = ray_mode(text); });
  add("--ray-samples", "COUNT", "16", "Rays per pixel, 1 to 4096",
      [&](const std::string& text) { options.ray_samples = integer(text, 1, 4096); });
  const auto patterns = [&](const char* name, std::vector<std::string>& list, const char* help) {
    repeated(app.add_option(name, list, help), "PATTERN")->delimiter(',')->group(kDrawing);
  };
  patterns("--hide", options.hide,
           "Hide solids by name, mesh, material, path or #COPY; several by commas, or given again");
  patterns("--only", options.only, "Show only these solids, chosen likewise");
  const auto styled = [&](Style style) -> auto& {
    return options.styled[static_cast<std::size_t>(style)];
  };
  patterns("--ghost", styled(Style::ghost), "Draw these solids faintly");
  patterns("--glass", styled(Style::glass),
           "Draw these solids transparent; with an opacity of their own: PATTERN=SHARE");
  patterns("--wireframe-of", styled(Style::wireframe), "Draw these solids as lines");
  patterns("--edges-of", styled(Style::edges), "Draw the triangles' edges over these solids");
  add("--glass-opacity", "SHARE", "0.3", "Opacity of solids of --glass without one of their own, 0.01 to 1",
      [&](const std::string& text) { settings.glass = static_cast<float>(number(text, kMinOpacity, 1)); });
}

void add_device_options(CLI::App& app, ViewOptions& options) {
  cli::add_choice(app, "--gl", "WHERE", "auto", "OpenGL without a window: auto, device or software",
                  {"auto", "device", "software"}, [&](const std::string& text) { options.gl = gl_renderer(text); })
      ->group(kDevice);
  cli::add_device_option(app, options.device, "Device that casts rays: auto, host or cuda:N; see 'raylift devices'",
                         kDevice);
  cli::add_placement_options(app, options.upload, kDevice);
}

void add_options(CLI::App& app, ViewOptions& options, const MoreOptions& more) {
  app.footer(kFooter + more.footer);
  app.set_version_flag("--version", "raylift-view " RAYLIFT_VERSION, "Print the version");
  app.add_option("FILE", options.files, "COLLADA (.dae, .zae, .dae.gz), OBJ, STL, PLY, glTF and others");
  // config_file() reads these two.
  app.add_option("--config", "Read options from a JSON file")->type_name("FILE")->expected(1);
  app.add_flag_callback(
      "--no-config", [] {}, "Read no configuration, not even ~/.config/raylift/view.json");
  cli::add_choice(app, "--theme", "THEME", "dark", "Panels and background: dark or light", {"dark", "light"},
                  [&](const std::string& text) { options.light = text == "light"; });
  add_parsed(app, "--ui-scale", "FACTOR", "auto", "Size of the panels and their text, 0.5 to 4; auto: the monitor's",
             [&](const std::string& text) { options.ui_scale = number(text, 0.5, 4); });
  app.add_flag("--watch", options.watch, "Reload the scene when its file changes");
  app.add_option("--bookmarks", options.bookmarks, "The file of bookmarks")->type_name("FILE");
  app.add_option("--bookmark", options.bookmark, "Open with this bookmark's camera, colours, hidden solids and light")
      ->type_name("NAME");
  add_image_options(app, options);
  add_camera_options(app, options);
  add_drawing_options(app, options);
  add_photon_options(app, options);
  add_device_options(app, options);
  if (more.add) more.add(app);
  app.add_flag("--no-socket", options.no_socket, "Open a window that no other program reaches");
  cli::add_general_options(app, options.general, false);
  cli::add_load_options(app, options.load);
  // What comes later wins: the command line over the configuration.
  for (CLI::Option* option : app.get_options())
    if (option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw && option->get_name() != "FILE")
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  cli::add_generate_option(app);
}

/// Throws Error(usage) where two scenes would have one image.
void check_output_names(const ViewOptions& options) {
  if (options.output.empty()) return;
  std::map<std::string, std::string> images;
  for (std::size_t i = 0; i != options.files.size(); ++i) {
    const std::string image = output_name(options.output, options.files[i], i + 1);
    const auto [other, fresh] = images.emplace(image, options.files[i]);
    if (fresh) continue;
    if (image == options.output)
      throw Error(ErrorKind::usage, "several scenes can't go into one image", {},
                  "name them by {name} or {n}, as in --output '{name}.png'");
    throw Error(ErrorKind::usage,
                "'" + cli::printable(other->second) + "' and '" + cli::printable(options.files[i]) +
                    "' would go into the same image, '" + cli::printable(image) + "'",
                {}, "tell them apart by {n}, as in --output '{n}_{name}.png'");
  }
}

/// The planes of --clip: those of the command line, or else of the configuration.
void settle_clips(ViewOptions& options) {
  std::vector<std::string> clips = options.clips;
  if (clips.size() > options.configured.clips)
    clips.erase(clips.begin(), clips.begin() + static_cast<std::ptrdiff_t>(options.configured.clips));
  const ClipPlanes parsed = parse_clips(clips);
  options.clip_facing = parsed.facing;
  options.settings.set_planes(parsed.planes);
  if (options.clip_box.empty() || parsed.planes.empty()) return;
  // The box takes all planes. What is given wins over the configuration.
  const bool planes_given = options.clips.size() > options.configured.clips;
  const bool box_given = options.clip_box != options.configured.clip_box;
  if (planes_given == box_given)
    throw Error(ErrorKind::usage, "--clip-box takes all clipping planes, and --clip gives others", {},
                "leave one of them out");
  if (planes_given) options.clip_box.clear();
  if (box_given) options.settings.set_planes({});
  if (box_given) options.clip_facing = false;
}

/// The points of --measure: those of the command line, or else of the configuration.
void settle_measured(ViewOptions& options) {
  const std::size_t configured = options.configured.measured, all = options.measured.size();
  options.settings.measured.clear();
  for (std::size_t i = all > configured ? configured : 0; i != all; ++i)
    options.settings.measured.push_back(cli::parse_point(options.measured[i]));
  const std::size_t points = options.settings.measured.size();
  if (points == 1 || points > kMaxMeasured)
    throw Error(ErrorKind::usage, "--measure is given for two or three points, and not for " + std::to_string(points),
                {}, "as in --measure 0,0,0 --measure 0,0,1000");
}

/// What follows from several options together. Throws Error(usage).
void settle(ViewOptions& options, bool background_given) {
  if (options.light && !background_given) options.settings.background = parse_background("light");
  settle_clips(options);
  settle_measured(options);
  check_output_names(options);
  if (options.output == "-" && options.frames > 0)
    throw Error(ErrorKind::usage, "--frames prints to standard output, where the image goes", {},
                "name a file: --output FILE.png");
  if (options.output.find("{frame}") != std::string::npos && options.frames == 0)
    throw Error(ErrorKind::usage, "--output has {frame}, and there are no frames", {}, "say how many: --frames COUNT");
  if (!options.photons.empty() && !options.source.empty())
    throw Error(ErrorKind::usage, "--photons and --photon-source can't both say what light there is");
  if (!options.photon_compare.empty() && options.photons.empty())
    throw Error(ErrorKind::usage, "--photon-compare needs a run to compare", {}, "name it: --photons DIR");
  const bool no_window = !options.output.empty() || options.frames > 0;
  if (options.offscreen && !no_window)
    throw Error(ErrorKind::usage, "--offscreen draws nothing by itself", {}, "add --output FILE.png");
  if (no_window && options.files.empty()) throw Error(ErrorKind::usage, "a scene's file is missing");
  Settings& s = options.settings;
  const auto styled = [&](Style style) { return !options.styled[static_cast<std::size_t>(style)].empty(); };
  const bool lines = styled(Style::wireframe) || styled(Style::edges);
  if (s.feature_edges && !lines) s.set_feature_edges(true);
  if (s.rays != RayMode::off && (s.opacity < 1 || s.fill == Fill::wireframe || s.edges))
    options.warnings.emplace_back("--ray-cast shows opaque surfaces, without --opacity, --wireframe and --edges");
  if (s.rays != RayMode::off && (lines || styled(Style::glass)))
    options.warnings.emplace_back("--ray-cast shows opaque surfaces, without --glass, --wireframe-of and --edges-of");
  if (s.rays != RayMode::off && !options.photons.empty()) options.warnings.emplace_back("--ray-cast shows no photons");
}

}  // namespace

std::string parse_view_options(int argc, char** argv, ViewOptions& options, const MoreOptions& more) {
  CLI::App app("Shows scenes of triangles: in a window, or drawn into PNG files.", "raylift-view");
  add_options(app, options, more);
  const auto parse = [&app](std::vector<std::string> arguments) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    return cli::parse_command_line(app, static_cast<int>(pointers.size()), pointers.data());
  };
  std::vector<std::string> arguments{argc > 0 ? argv[0] : "raylift-view"};
  if (const std::string path = config_file(argc, argv, more.instead); !path.empty()) {
    for (std::string& argument : read_config(path, app)) arguments.push_back(std::move(argument));
    // By itself first, so that its errors name the file. The second time sets the same again.
    try {
      (void)parse(arguments);
    } catch (const Error& error) {
      throw Error(error.kind(), error.problem(), {path, ""}, "correct the configuration, or leave it out: --no-config");
    }
    options.configured = {options.hide.size(),
                          options.only.size(),
                          options.clips.size(),
                          options.measured.size(),
                          options.focus,
                          options.clip_box,
                          {}};
    for (std::size_t i = 0; i != options.styled.size(); ++i) options.configured.styled[i] = options.styled[i].size();
  }
  for (int i = 1; i < argc; ++i) arguments.emplace_back(argv[i]);
  std::string text = parse(std::move(arguments));
  if (text.empty() && (more.instead.empty() || app.count(more.instead) == 0))
    settle(options, app.count("--background") != 0);
  return text;
}

}  // namespace raylift::viewer
