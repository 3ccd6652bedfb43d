// SPDX-License-Identifier: Apache-2.0
#include "state/options/view_options.h"

#include <raylift/geometry/error.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>

#include "base/parse_number.h"
#include "cli/describe.h"
#include "cli/options.h"
#include "cli/placement_options.h"
#include "cli/quantity.h"
#include "cli/text.h"
#include "state/options/camera_path.h"
#include "state/options/view_config.h"

namespace raylift::viewer {
namespace {

using Part = Setting::Part;

using cli::add_parsed;

constexpr const char* kFooter = R"(
In the window, H shows keys and mouse gestures.

Configuration: a JSON object whose keys are long options without dashes, such as
  {"color": "solid", "edges": true, "resolution": "1920x1080", "hide": ["Pool*"]}
from --config FILE, else from ~/.config/raylift/view.json. The command line wins.
A pattern in it that matches nothing in a scene gives a warning.

Examples:
  raylift-view detector.dae
  raylift-view detector.dae --clip x --output cut.png --resolution 1920x1080
  raylift-view *.dae --output 'images/{name}.png' --view iso
  raylift-view detector.dae --ray-cast shaded -o - | display
  raylift-view detector.dae --photons run --photon-filter 'TO * RE * SD' --color hits
  raylift-view detector.dae --photons run --photon-play --frames 250 -o 'film/{frame}.png'
  raylift-view detector.dae --path 'whole,inside,sensor' --frames 250 -o 'film/{frame}.png'
  raylift-view --send select 'Sensor_12*'

Exit codes are those of raylift; 10: no OpenGL context.)";

constexpr const char* kImage = "Image";
constexpr const char* kCamera = "Camera";
constexpr const char* kDrawing = "Drawing";
constexpr const char* kDevice = "Device";
constexpr const char* kWindow = "Window";

/// What only the checks of options need: those of the configuration come first.
struct Typed {
  std::vector<std::string> clips, measured;
  std::size_t configured_clips = 0, configured_measured = 0;
  bool offscreen = false;
};

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

void add_image_options(CLI::App& app, ViewOptions& options, Typed& typed) {
  add_parsed(
      app, "--output,-o", "FILE", "",
      "Draw into a PNG file, or the outlines into an SVG file, without a window; -: PNG to standard output. {name} and "
      "{n} become the scene's name and number, "
      "{frame} the number of a frame of --frames",
      [&](const std::string& text) { options.image.output = text == "-" ? text : cli::parse_drawing_name(text); })
      ->group(kImage);
  add_parsed(app, "--resolution,-r", "WxH", "1280x720", "Size of the image, or of the window",
             [&](const std::string& text) { options.image.resolution = parse_resolution(text); })
      ->group(kImage);
  add_parsed(app, "--samples", "COUNT", "4; 1 on the CPU", "Multisampling: samples per pixel, 1 to 16",
             [&](const std::string& text) { options.image.samples = integer(text, 1, 16); })
      ->group(kImage);
  add_parsed(app, "--frames", "COUNT", "", "Draw COUNT frames of an orbit without a window, and print the frame rate",
             [&](const std::string& text) { options.image.frames = integer(text, 1, 1000000); })
      ->group(kImage);
  add_parsed(app, "--orbit", "DEGREES", "360; 0 with --photon-play", "Angle of this orbit",
             [&](const std::string& text) { options.image.orbit = number(text, -36000, 36000); })
      ->group(kImage);
  add_parsed(app, "--path", "NAME,NAME,...", "",
             "With --frames: the camera moves smoothly through these bookmarks, in place of an orbit",
             [&](const std::string& text) { options.image.path = cli::split_at_commas(text); })
      ->group(kImage);
  app.add_flag("--offscreen", typed.offscreen, "Open no window; --output and --frames imply it")->group(kImage);
  app.add_flag("--legend,!--no-legend", options.image.legend, "Draw the legend of the colours into images of --output")
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
  add("--focus", "PATTERN", "", "Frame the solids that match, and draw all others faintly",
      [&](const std::string& text) { options.solids.focus = text; });
  app.add_flag("--orthographic,!--perspective", camera.orthographic, "Parallel projection")->group(kCamera);
}

/// An option that may be repeated. It takes one value each time, because a file may follow.
CLI::Option* repeated(CLI::Option* option, const char* type) {
  return option->type_name(type)->expected(1)->allow_extra_args(false)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll);
}

void add_setting(CLI::App& app, const Setting& row, Settings& settings) {
  const std::string name = "--" + row.option();
  std::string help(row.help);
  const auto set = [&](const std::string& text) { row.set(settings, read_value(row, text)); };
  CLI::Option* option = nullptr;
  switch (row.type) {
    case Setting::Type::flag:
      option = app.add_flag(name + ",!--" + row.negative_option(), row.flag(settings), help);
      break;
    case Setting::Type::choice:
      for (const std::string& word : row.words) help += (word == row.words.front() ? ": " : ", ") + word;
      option = cli::add_choice(app, name, std::string(row.metavar), row.fallback(), help, row.accepted_words(), set);
      break;
    case Setting::Type::number:
      help = with_range(help, row.least, row.most, row.unit);
      option = add_parsed(app, name, std::string(row.metavar), row.fallback(), help, set);
      break;
    case Setting::Type::text:
      option = add_parsed(app, name, std::string(row.metavar), row.fallback(), help, set);
      break;
  }
  option->group(row.in({Part::scene})               ? kDrawing
                : row.in({Part::light, Part::time}) ? "Light"
                : row.in({Part::window})            ? kWindow
                                                    : kImage);
}

void add_settings(CLI::App& app, const SettingTable& table, std::initializer_list<Setting::Part> parts,
                  Settings& settings) {
  for (const Setting& row : table)
    if (row.in(parts)) add_setting(app, row, settings);
}

void add_drawing_options(CLI::App& app, ViewOptions& options, Typed& typed) {
  const auto add = [&](const char* names, const char* type, const char* fallback, const char* help, auto read) {
    add_parsed(app, names, type, fallback, help, read)->group(kDrawing);
  };
  repeated(app.add_option("--clip", typed.clips,
                          "Clip at a plane: x, -y, z=100 (mm), 1,1,0=250; facing: cut the half that faces the camera; "
                          "off: no clipping. "
                          "Repeat the option for up to 6 planes"),
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
      "Show only the inside of a box: X,Y,Z,X,Y,Z, its minimum and maximum corner, mm; or PATTERN: the box around "
      "these solids; off: none",
      [&](const std::string& text) {
        if (text != "off") (void)parse_box(text);
        options.solids.clip_box = text == "off" ? "" : text;
      });
  app.add_flag("--clip-box-away,!--no-clip-box-away", options.solids.clip_box_away,
               "Cut away the inside of this box instead")
      ->group(kDrawing);
  app.add_option("--overlaps", options.overlaps,
                 "Mark the overlaps of solids in a report of 'raylift check --json'; find: search for them")
      ->type_name("FILE|find")
      ->group(kDrawing);
  repeated(app.add_option("--measure", typed.measured,
                          "Draw the distance between two points, mm, or centres of solids, and the angle at the second "
                          "of three. Repeat the option for each"),
           "X,Y,Z|PATTERN")
      ->check([](const std::string& text) {
        const bool numbers = text.find_first_not_of("0123456789+-.,eE ") == std::string::npos;
        return !numbers || cli::three_numbers(text)
                   ? std::string()
                   : "'" + cli::printable(text) + "' is not a point such as 0,-1500,2e4";
      })
      ->group(kDrawing);
  add("--ray-samples", "COUNT", "16", "Rays per pixel, 1 to 4096",
      [&](const std::string& text) { options.image.ray_samples = integer(text, 1, 4096); });
  const auto patterns = [&](const char* name, std::vector<std::string>& list, const char* help) {
    repeated(app.add_option(name, list, help), "PATTERN")->delimiter(',')->group(kDrawing);
  };
  patterns("--hide", options.solids.hide,
           "Hide solids by name, mesh, material, path or #COPY. Separate patterns by commas, or repeat the option");
  patterns("--only", options.solids.only, "Show only these solids; patterns as for --hide");
  const auto styled = [&](Style style) -> auto& {
    return options.solids.styled[static_cast<std::size_t>(style)];
  };
  patterns("--ghost", styled(Style::ghost), "Draw these solids faintly");
  patterns("--glass", styled(Style::glass),
           "Draw these solids transparent; PATTERN=SHARE: with an opacity of their own");
  patterns("--wireframe-of", styled(Style::wireframe), "Draw these solids as lines");
  patterns("--edges-of", styled(Style::edges), "Draw the triangles' edges over these solids");
  repeated(app.add_option("--color-of", options.solids.colored,
                          "Draw these solids in a colour of their own, such as 'material:Glass=#88ccff'; patterns as "
                          "for --hide, and depth:N in the tree"),
           "PATTERN=#RRGGBB")
      ->delimiter(',')
      ->check([](const std::string& text) {
        const std::size_t at = text.rfind('=');
        return at != 0 && at != std::string::npos && parse_color(std::string_view(text).substr(at + 1))
                   ? std::string()
                   : "'" + cli::printable(text) + "' is not PATTERN=#rrggbb, such as 'material:Glass=#88ccff'";
      })
      ->group(kDrawing);
}

void add_device_options(CLI::App& app, ViewOptions& options) {
  cli::add_choice(app, "--gl", "WHERE", "auto", "OpenGL without a window: auto, device or software",
                  {"auto", "device", "software"},
                  [&](const std::string& text) { options.image.gl = gl_renderer(text); })
      ->group(kDevice);
  cli::add_device_option(app, options.device, "Device that casts rays: auto, host or cuda:N; see 'raylift devices'",
                         kDevice);
  cli::add_placement_options(app, options.upload, options.load, kDevice);
}

void add_options(CLI::App& app, ViewOptions& options, Typed& typed, const MoreOptions& more) {
  app.footer(kFooter + more.footer);
  app.set_version_flag("--version", "raylift-view " RAYLIFT_VERSION, "Print the version");
  cli::add_files(app, options.files, false);
  // config_file() has read these two.
  app.add_option("--config", "Read options from a JSON file; the default is ~/.config/raylift/view.json")
      ->type_name("FILE")
      ->expected(1);
  app.add_flag_callback(
      "--no-config", [] {}, "Read no configuration file");
  cli::add_choice(app, "--theme", "THEME", "auto",
                  "Panels and background: dark, light, or auto: as the desktop's, and without a window dark",
                  {kThemeNames.begin(), kThemeNames.end()}, [&](const std::string& text) {
                    options.window.theme = text == "light"  ? ThemeChoice::light
                                           : text == "dark" ? ThemeChoice::dark
                                                            : ThemeChoice::automatic;
                  });
  add_parsed(app, "--ui-scale", "FACTOR", "auto", "Size of the panels and their text, 0.5 to 4; auto: the monitor's",
             [&](const std::string& text) { options.window.ui_scale = number(text, 0.5, 4); });
  app.add_flag("--watch", options.window.watch, "Reload the scene when its file changes");
  app.add_option("--bookmarks", options.bookmarks, "File of bookmarks; the default is ~/.config/raylift/bookmarks.json")
      ->type_name("FILE");
  app.add_option("--bookmark", options.bookmark, "Open with this bookmark's camera, colours, hidden solids and light")
      ->type_name("NAME");
  add_image_options(app, options, typed);
  add_camera_options(app, options);
  add_settings(app, more.settings, {Part::scene, Part::background, Part::overlay, Part::window}, options.settings);
  add_drawing_options(app, options, typed);
  add_photon_options(app, options);
  add_settings(app, more.settings, {Part::light, Part::time}, options.settings);
  add_device_options(app, options);
  if (more.add) more.add(app);
  app.add_flag("--no-socket", options.window.no_socket, "Open a window that no other program reaches");
  cli::add_general_options(app, options.general, false);
  cli::add_load_options(app, options.load);
  // The last value counts, so the command line overrides the configuration.
  for (CLI::Option* option : app.get_options())
    if (option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw && option->get_name() != "FILE")
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  cli::add_generate_option(app);
}

/// Throws Error(usage) where two scenes would have one image.
void check_output_names(const ViewOptions& options) {
  if (options.image.output.empty()) return;
  std::map<std::string, std::string> images;
  for (std::size_t i = 0; i != options.files.size(); ++i) {
    const std::string image = output_name(options.image.output, options.files[i], i + 1);
    const auto [other, fresh] = images.emplace(image, options.files[i]);
    if (fresh) continue;
    if (image == options.image.output)
      throw Error(ErrorKind::usage, "several scenes can't go into one image", {},
                  "name them by {name} or {n}, as in --output '{name}.png'");
    throw Error(ErrorKind::usage,
                "'" + cli::printable(other->second) + "' and '" + cli::printable(options.files[i]) +
                    "' would go into the same image, '" + cli::printable(image) + "'",
                {}, "distinguish them by {n}, as in --output '{n}_{name}.png'");
  }
}

/// Sets the planes of --clip: those of the command line, or else of the configuration.
void resolve_clips(ViewOptions& options, const Typed& typed) {
  std::vector<std::string> clips = typed.clips;
  if (clips.size() > typed.configured_clips)
    clips.erase(clips.begin(), clips.begin() + static_cast<std::ptrdiff_t>(typed.configured_clips));
  const ClipPlanes parsed = parse_clips(clips);
  options.clip_facing = parsed.facing;
  options.settings.set_planes(parsed.planes);
  if (options.solids.clip_box.empty() || parsed.planes.empty()) return;
  // A box uses all planes. The command line takes precedence over the configuration.
  const bool planes_given = typed.clips.size() > typed.configured_clips;
  const bool box_given = options.solids.clip_box != options.solids.configured.clip_box;
  if (planes_given == box_given)
    throw Error(ErrorKind::usage, "--clip-box uses all clipping planes, so --clip can't add others", {},
                "leave one of them out");
  if (planes_given) options.solids.clip_box.clear();
  if (box_given) options.settings.set_planes({});
  if (box_given) options.clip_facing = false;
}

/// Sets the points of --measure: those of the command line, or else of the configuration.
void resolve_measured(ViewOptions& options, const Typed& typed) {
  const std::size_t configured = typed.configured_measured, all = typed.measured.size();
  options.solids.configured.measured = all == configured;
  options.solids.measured.assign(
      typed.measured.begin() + static_cast<std::ptrdiff_t>(all > configured ? configured : 0), typed.measured.end());
  const std::size_t points = options.solids.measured.size();
  if (points == 1 || points > kMaxMeasured)
    throw Error(ErrorKind::usage, "--measure needs two or three points, not " + std::to_string(points), {},
                "as in --measure 0,0,0 --measure 0,0,1000, or --measure SOLID --measure SOLID");
}

/// Checks combinations of options, and sets what follows from several of them. Throws Error(usage).
void resolve(ViewOptions& options, const Typed& typed, bool background_given) {
  if (options.window.theme == ThemeChoice::light && !background_given)
    options.settings.background = parse_background("light");
  const bool svg = cli::is_svg_name(options.image.output);
  if (svg && !background_given) options.settings.background = parse_background("white");
  resolve_clips(options, typed);
  resolve_measured(options, typed);
  check_output_names(options);
  if (options.image.output == "-" && options.image.frames > 0)
    throw Error(ErrorKind::usage, "--frames prints to standard output, where the image goes", {},
                "name a file: --output FILE.png");
  if (!options.image.path.empty() && options.image.frames == 0)
    throw Error(ErrorKind::usage, "--path has no frames", {}, "add --frames COUNT, and --output 'film/{frame}.png'");
  if (!options.image.path.empty() && options.image.orbit)
    throw Error(ErrorKind::usage, "--path and --orbit are alternatives");
  if (!options.image.path.empty() && !options.bookmark.empty())
    throw Error(ErrorKind::usage, "--path and --bookmark are alternatives", {}, "begin the path with this bookmark");
  if (options.image.output.find("{frame}") != std::string::npos && options.image.frames == 0)
    throw Error(ErrorKind::usage, "--output has {frame}, and there are no frames", {}, "add --frames COUNT");
  if (!options.light.origin.photons.empty() && !options.light.origin.source.empty())
    throw Error(ErrorKind::usage, "--photons and --photon-source are alternatives");
  if (!options.light.origin.compare.empty() && options.light.origin.photons.empty())
    throw Error(ErrorKind::usage, "--photon-compare needs a run to compare", {}, "name it: --photons DIR");
  const bool no_window = !options.image.output.empty() || options.image.frames > 0;
  if (typed.offscreen && !no_window)
    throw Error(ErrorKind::usage, "--offscreen draws nothing by itself", {}, "add --output FILE.png");
  if (no_window && options.files.empty()) throw Error(ErrorKind::usage, "a scene's file is missing");
  Settings& s = options.settings;
  const auto styled = [&](Style style) { return !options.solids.styled[static_cast<std::size_t>(style)].empty(); };
  const bool lines = styled(Style::wireframe) || styled(Style::edges);
  if (s.feature_edges && !lines) s.set_feature_edges(true);
  if (s.ray_cast != RayMode::off && (s.opacity < 1 || s.wireframe || s.edges))
    options.warnings.emplace_back("--ray-cast shows opaque surfaces, without --opacity, --wireframe and --edges");
  if (s.ray_cast != RayMode::off && (lines || styled(Style::glass)))
    options.warnings.emplace_back("--ray-cast shows opaque surfaces, without --glass, --wireframe-of and --edges-of");
  if (svg && s.ray_cast != RayMode::off)
    throw Error(ErrorKind::usage, "an SVG file has outlines, and none of them is cast by rays", {},
                "write a PNG file, or leave --ray-cast out");
  if (svg && (!options.light.origin.photons.empty() || !options.light.origin.source.empty()))
    options.warnings.emplace_back("an SVG file shows no photons");
  if (s.ray_cast != RayMode::off && !options.light.origin.photons.empty())
    options.warnings.emplace_back("--ray-cast shows no photons");
}

}  // namespace

std::string parse_view_options(int argc, char** argv, ViewOptions& options, const MoreOptions& more) {
  CLI::App app("Shows scenes of triangles: in a window, or drawn into PNG files.", "raylift-view");
  Typed typed;
  add_options(app, options, typed, more);
  const auto parse = [&app](std::vector<std::string> arguments) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    return cli::parse_command_line(app, static_cast<int>(pointers.size()), pointers.data());
  };
  std::vector<std::string> arguments{argc > 0 ? argv[0] : "raylift-view"};
  if (const std::string path = config_file(argc, argv, more.instead); !path.empty()) {
    for (std::string& argument : read_config(path, app)) arguments.push_back(std::move(argument));
    // First alone, so that errors name the file. The second parse sets the same values again.
    try {
      (void)parse(arguments);
    } catch (const Error& error) {
      throw Error(error.kind(), error.problem(), {path, ""}, "correct the configuration, or leave it out: --no-config");
    }
    SolidOptions& solids = options.solids;
    solids.configured = {
        solids.hide.size(), solids.only.size(), solids.colored.size(), solids.focus, solids.clip_box, {}, false};
    for (std::size_t i = 0; i != solids.styled.size(); ++i) solids.configured.styled[i] = solids.styled[i].size();
    typed.configured_clips = typed.clips.size();
    typed.configured_measured = typed.measured.size();
  }
  for (int i = 1; i < argc; ++i) arguments.emplace_back(argv[i]);
  std::string text = parse(std::move(arguments));
  if (text.empty() && (more.instead.empty() || app.count(more.instead) == 0))
    resolve(options, typed, app.count("--background") != 0);
  return text;
}

}  // namespace raylift::viewer
