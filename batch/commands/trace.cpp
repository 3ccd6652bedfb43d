// SPDX-License-Identifier: Apache-2.0
// raylift trace: shoots rays into a scene on a device, reports their rate and hits, and draws it.
#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/gpu/memory/residency.h>

#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "base/json.h"
#include "batch/actions/cache_options.h"
#include "batch/actions/enclosure.h"
#include "batch/actions/hit_table.h"
#include "batch/actions/trace_rays.h"
#include "cli/image.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/quantity.h"
#include "cli/table.h"
#include "cli/text.h"
#include "commands.h"
#include "device_options.h"
#include "geometry/src/stage.h"
#include "gpu/src/cache/cache_files.h"
#include "hit_image.h"

namespace raylift::batch {
using namespace cli;
namespace {

constexpr std::uint64_t kDefaultRays = 1'000'000;
constexpr std::uint32_t kMaxPixels = 16384;  // per side of an image
constexpr std::size_t kMaxRows = 10;         // of the table of what was hit
constexpr std::array<std::string_view, 3> kPatterns{"isotropic", "camera", "surface"};
constexpr std::array<std::string_view, 2> kImageKinds{"depth", "normal"};

struct TraceCommandOptions {
  std::vector<std::string> files;
  LoadOptions load;
  UploadOptions upload;
  CacheSettings cache;
  RayOptions rays;
  std::optional<RayPattern> pattern;
  std::optional<std::uint64_t> count;
  std::string device = "auto";
  std::string image_file;
  ImageKind kind = ImageKind::depth;
  HitsBy by = HitsBy::solid;
  bool timings = false;
};

/// Rays are computed in floats, whose squares and differences must stay finite.
void check_distance(const char* option, double millimetres) {
  constexpr double kFarthest = 1e15;
  if (!(std::abs(millimetres) <= kFarthest))
    throw Error(ErrorKind::usage, fmt::format("{}: more than {} mm are too many", option, kFarthest));
}

/// Checks options against each other and sets their defaults.
void resolve(TraceCommandOptions& options) {
  if (options.rays.origin) check_distance("--origin", options.rays.origin->cwiseAbs().maxCoeff());
  if (options.rays.target) check_distance("--target", options.rays.target->cwiseAbs().maxCoeff());
  check_distance("--radius", options.rays.radius.value_or(0));
  check_distance("--near", options.rays.near);
  options.upload.bvh = true;
  options.rays.pattern =
      options.pattern.value_or(options.image_file.empty() ? RayPattern::isotropic : RayPattern::camera);
  const bool camera = options.rays.pattern == RayPattern::camera;
  if (!options.count) options.count = camera ? options.rays.pixels() : kDefaultRays;
  if (options.image_file.empty()) return;
  if (!camera)
    throw Error(ErrorKind::usage, "only the camera's rays make an image", {}, "leave out --pattern, or --image");
  if (options.files.size() != 1)
    throw Error(ErrorKind::usage, "one image can't show several scenes", {}, "give one file with --image");
  if (*options.count < options.rays.pixels())
    throw Error(ErrorKind::usage,
                fmt::format("{} rays are too few for an image of {} pixels", *options.count, options.rays.pixels()), {},
                "leave out --rays, or make the image smaller by --width and --height");
}

/// Throws Error(usage) for an option that these rays make no use of.
void refuse_unused(const CLI::App& app, const TraceCommandOptions& options) {
  const RayPattern pattern = options.rays.pattern;
  const bool isotropic = pattern == RayPattern::isotropic, camera = pattern == RayPattern::camera;
  const bool random = !camera || *options.count > options.rays.pixels();
  const std::string others = fmt::format("with {} rays", kPatterns[static_cast<std::size_t>(pattern)]);
  const struct {
    const char* option;
    bool used;
    std::string where;
  } uses[]{{"--radius", isotropic, others},
           {"--side", pattern == RayPattern::surface, others},
           {"--origin", isotropic || camera, others},
           {"--seed", random, "with one ray a pixel, through its middle"},
           {"--image-kind", !options.image_file.empty(), "without --image"},
           {"--target", camera, others},
           {"--fov", camera, others},
           {"--near", camera, others},
           {"--width", camera, others},
           {"--height", camera, others}};
  for (const auto& use : uses)
    if (!use.used && is_given(app, use.option))
      throw Error(ErrorKind::usage, fmt::format("{} has no effect {}", use.option, use.where), {},
                  "leave it out, or choose other rays by --pattern or --image");
}

std::string_view name(RayPattern pattern) {
  return kPatterns[static_cast<std::size_t>(pattern)];
}

/// One scene's outcome.
struct Outcome {
  TraceRun run;
  HitTable table;
  std::optional<std::uint32_t> enclosed_by;  // solid that no ray can leave

  [[nodiscard]] std::uint64_t missed() const { return run.figures.rays - run.figures.hits; }
  [[nodiscard]] double hit_fraction() const {
    return run.figures.rays == 0 ? 0 : static_cast<double>(run.figures.hits) / static_cast<double>(run.figures.rays);
  }
  [[nodiscard]] double rate() const {
    return run.trace_seconds > 0 ? static_cast<double>(run.figures.rays) / run.trace_seconds : 0;
  }
};

Json json_of(const std::string& file, const Scene& scene, const GpuGeometry& geometry,
             const TraceCommandOptions& options, const Outcome& outcome) {
  const TraceFigures& figures = outcome.run.figures;
  const auto of_hits = [&](double value) { return figures.hits == 0 ? Json() : Json(value); };
  Json json = {
      {"file", file},
      {"triangles", geometry.view().triangle_count},
      {"instances", geometry.view().instance_count},
      {"flattened", options.upload.flatten},
      {"device", geometry.report().device_id},
      {"pattern", name(options.rays.pattern)},
      {"seed", options.rays.seed},
      {"rays", figures.rays},
      {"hits", figures.hits},
      {"missed", outcome.missed()},
      {"hit_fraction", outcome.hit_fraction()},
      {"hits_from_inside", figures.from_inside},
      {"mean_distance_mm", of_hits(figures.mean())},
      {"nearest_mm", of_hits(static_cast<double>(figures.nearest))},
      {"farthest_mm", of_hits(static_cast<double>(figures.farthest))},
      {"enclosed_by", outcome.enclosed_by ? Json(scene.solid_name(scene.instances[*outcome.enclosed_by])) : Json()},
      {"lost", outcome.enclosed_by ? Json(outcome.missed()) : Json()},
      {"rays_per_second", outcome.rate()},
      {"seconds",
       {{"make_rays", outcome.run.make_seconds},
        {"copy", outcome.run.copy_seconds},
        {"trace", outcome.run.trace_seconds}}},
      {"batch_rays", outcome.run.batch_rays},
      {"hits_by", outcome.table.json(options.by)}};
  if (!options.image_file.empty())
    json["image"] = {{"file", options.image_file},
                     {"kind", kImageKinds[static_cast<std::size_t>(options.kind)]},
                     {"width", options.rays.width},
                     {"height", options.rays.height}};
  json["residency"] = base::parse_json<Json>(geometry.report().json());
  return json;
}

std::string length_text(double millimetres) {
  return short_number(millimetres) + " mm";
}

std::string text_of(const std::string& file, const Scene& scene, const GpuGeometry& geometry,
                    const TraceCommandOptions& options, const Outcome& outcome) {
  const TraceFigures& figures = outcome.run.figures;
  const ResidencyReport& report = geometry.report();
  Table facts({{"", Align::left}, {"", Align::left}});
  facts.add({"device", fmt::format("{} ({}), {} of {} on it", report.device_id, report.device_name,
                                   human_bytes(report.device_bytes()), human_bytes(report.bytes()))});
  facts.add({"rays", fmt::format("{} {}", grouped(figures.rays), name(options.rays.pattern))});
  facts.add({"hits", fmt::format("{} ({:.4f} %)", grouped(figures.hits), 100 * outcome.hit_fraction())});
  if (figures.hits != 0) {
    facts.add({"from inside", grouped(figures.from_inside)});
    facts.add({"mean distance", fmt::format("{} (from {} to {})", length_text(figures.mean()),
                                            length_text(static_cast<double>(figures.nearest)),
                                            length_text(static_cast<double>(figures.farthest)))});
  }
  if (outcome.enclosed_by)
    facts.add({"lost", fmt::format("{} (all start within the closed solid '{}')", grouped(outcome.missed()),
                                   scene.solid_name(scene.instances[*outcome.enclosed_by]))});
  facts.add({"rate", human_rate(outcome.rate(), "rays")});
  facts.add({"time", fmt::format("trace {}, make rays {}, copy {}", human_seconds(outcome.run.trace_seconds),
                                 human_seconds(outcome.run.make_seconds), human_seconds(outcome.run.copy_seconds))});
  if (!options.image_file.empty()) facts.add({"image", options.image_file});
  return fmt::format("{}\n{}, {}{}\n", printable(file),
                     counted(geometry.view().triangle_count, "triangle", "triangles"),
                     counted(geometry.view().instance_count, "instance", "instances"),
                     options.upload.flatten ? ", flattened" : "") +
         facts.text(2) + (figures.hits == 0 ? "" : "\nwhat was hit\n" + outcome.table.text(options.by, kMaxRows));
}

/// The scene that was uploaded: rays start within it. What was cached flattened has lost it.
Scene scene_of(CachedUpload& uploaded, const std::string& file, const TraceCommandOptions& options,
               const CacheOptions& cache, const Progress& progress) {
  if (uploaded.scene) return std::move(*uploaded.scene);
  return options.upload.flatten ? load(file, options.load, cache, progress) : cached_scene(*uploaded.cache);
}

int trace_files(Session& session, const CLI::App& app, TraceCommandOptions& options) {
  resolve(options);
  refuse_unused(app, options);
  if (!options.image_file.empty()) {
    protect_scenes(options.files, options.load);
    refuse_input(options.image_file);
  }
  options.cache.hash_ahead(options.files, options.load);
  const Device device = open_device(session, options.device);
  bool first = true;
  return session.for_each_file(options.files, [&](const std::string& file, Json& json) {
    std::vector<Progress::StageTime> times;
    const auto start = std::chrono::steady_clock::now();
    const Progress progress = session.progress(&times);
    const CacheOptions cache = options.cache.with(session);
    CachedUpload uploaded = upload(file, options.load, device, options.upload, cache, progress);
    const GpuGeometry& geometry = uploaded.geometry;
    const Scene scene = scene_of(uploaded, file, options, cache, progress);
    report_loaded(session, file, scene);
    warn_of_steps(session, file, geometry);
    const double* origin = geometry.view().origin;
    const RayMaker make = make_rays(options.rays, scene, {origin[0], origin[1], origin[2]});
    std::optional<HitImage> image;
    if (!options.image_file.empty()) image.emplace(options.kind, options.rays.width, options.rays.height);
    Outcome outcome{{}, HitTable(scene, options.upload.flatten), {}};
    outcome.run =
        trace_rays(geometry, make, *options.count, progress, [&](std::uint64_t number, std::span<const Hit> hits) {
          if (image) image->add(number, hits);
          outcome.table.add(hits);
        });
    if (options.rays.pattern == RayPattern::isotropic) {
      const Stage stage(progress, "enclosure");
      outcome.enclosed_by = enclosing_solid(scene, ball_of(options.rays, scene));
    }
    if (outcome.enclosed_by && outcome.missed() != 0)
      session.warn(fmt::format("{}: {} were lost: they left a closed solid without a hit, which is an error in raylift",
                               file, counted(outcome.missed(), "ray", "rays")));
    if (image) write_png(image->image(), options.image_file);
    times = with_total(std::move(times), start);
    if (session.options().json) {
      json = json_of(file, scene, geometry, options, outcome);
      json["cache"] = options.cache.json(uploaded);
      if (options.timings) json["timings"] = timings_json(times);
    } else {
      std::string text = (first ? "" : "\n") + text_of(file, scene, geometry, options, outcome);
      if (options.timings) text += "\ntimings\n" + timings_text(times);
      session.write(text);
    }
    first = false;
    return 0;
  });
}

}  // namespace

/// As long as the command has options, in the order of its help.
void add_trace(CLI::App& program, GeneralOptions& general, CommandRun& run) {
  auto options = std::make_shared<TraceCommandOptions>();
  RayOptions& rays = options->rays;
  CLI::App* app =
      add_command(program, "trace", "Trace rays through scenes on a device: rays per second, what they hit, an image");
  add_files(*app, options->files);
  add_parsed(*app, "--rays", "COUNT", exact_count(kDefaultRays) + "; the camera: one a pixel", "Number of rays",
             [options](const std::string& text) { options->count = above_0(parse_count(text)); });
  add_choice(*app, "--pattern", "PATTERN", "isotropic",
             "isotropic: from points in a ball, in all directions; camera: one through each pixel; surface: from "
             "random points "
             "of surfaces",
             words_of(kPatterns),
             [options](const std::string& text) { options->pattern = enum_of<RayPattern>(text, kPatterns); });
  add_parsed(*app, "--origin", "X,Y,Z", "from the scene's bounds",
             "Centre of the ball, or position of the camera, in mm",
             [&rays](const std::string& text) { rays.origin = parse_point(text); });
  add_parsed(*app, "--radius", "LENGTH", "from the scene's bounds", "Radius of the ball that isotropic rays start in",
             [&rays](const std::string& text) { rays.radius = parse_length(text); });
  add_choice(*app, "--side", "SIDE", "inside",
             "Side of the surface to which surface rays go: inside or outside the volume", {"inside", "outside"},
             [&rays](const std::string& text) { rays.outward = text == "outside"; });
  add_choice(*app, "--by", "WHAT", "solid",
             "Rows of the table of hits: solid (a placed volume, with its materials), material or mesh",
             words_of(kHitsByNames),
             [options](const std::string& text) { options->by = enum_of<HitsBy>(text, kHitsByNames); });
  add_parsed(*app, "--seed", "NUMBER", "0", "Seed of the random numbers",
             [&rays](const std::string& text) { rays.seed = parse_count(text); });
  add_parsed(*app, "--image", "FILE", "", "Write the camera's image to a PNG file; implies --pattern camera",
             [options](const std::string& text) { options->image_file = parse_image_name(text); });
  add_choice(*app, "--image-kind", "KIND", "depth", "depth: white is near, black no hit; normal: x, y, z as colours",
             words_of(kImageKinds),
             [options](const std::string& text) { options->kind = enum_of<ImageKind>(text, kImageKinds); });
  for (const auto& [side, pixels] : {std::pair{"--width", &rays.width}, std::pair{"--height", &rays.height}})
    add_parsed(*app, side, "PIXELS", std::to_string(*pixels), "Size of the camera's image",
               [pixels = pixels](const std::string& text) {
                 const std::uint64_t number = parse_count(text);
                 if (number == 0 || number > kMaxPixels)
                   throw Error(ErrorKind::usage, fmt::format("from 1 to {} are possible", kMaxPixels));
                 *pixels = static_cast<std::uint32_t>(number);
               });
  add_parsed(*app, "--target", "X,Y,Z", "the scene's centre", "Point that the camera looks at, in mm",
             [&rays](const std::string& text) { rays.target = parse_point(text); });
  add_parsed(*app, "--fov", "DEGREES", short_number(rays.fov_degrees), "Vertical field of view",
             [&rays](const std::string& text) { rays.fov_degrees = parse_degrees(text, 170); });
  add_parsed(*app, "--near", "LENGTH", "0", "Ignore hits nearer than this, to look through outer hulls",
             [&rays](const std::string& text) { rays.near = parse_length(text); });
  set_group(*app, "Camera", {"--image", "--image-kind", "--width", "--height", "--target", "--fov", "--near"});
  add_device_options(*app, options->device, options->upload, options->load);
  add_flag(*app, "--timings", options->timings, "Print the time of each stage");
  add_general_options(*app, general, true);
  add_load_options(*app, options->load);
  add_cache_options(*app, options->cache);
  finish_command(*app, R"(
The rate is of tracing alone: generating rays, and copying rays and hits, are not part of it. A ray is lost if it leaves a
closed volume without a hit. Lost rays are counted for isotropic rays whose ball lies in one closed volume.

Examples:
  raylift trace scene.dae
  raylift trace --rays 100M --device cuda:0 --budget 1GB scene.dae
  raylift trace --rays 10M --origin 0,0,0 --radius 5m scene.dae
  raylift trace --by material scene.dae
  raylift trace --image depth.png --near 20m scene.dae
  raylift trace --json *.dae | jq '.[] | {file, rays_per_second, lost}')",
                 [app, options, &run] {
                   run = [app, options](Session& session) { return trace_files(session, *app, *options); };
                 });
}

}  // namespace raylift::batch
