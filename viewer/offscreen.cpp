// SPDX-License-Identifier: Apache-2.0
#include "offscreen.h"

#include <fmt/format.h>
#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/import/load.h>
#include <raylift/gpu/memory/residency.h>
#include <raylift/photon/propagate.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <numbers>
#include <optional>
#include <utility>

#include "cli/image.h"
#include "cli/output.h"
#include "cli/output_file.h"
#include "cli/text.h"
#include "draw/legends.h"
#include "draw/photon_feed.h"
#include "draw/renderer.h"
#include "light/live_light.h"
#include "meshes/enclosed.h"
#include "model/reveal.h"
#include "rays/ray_caster.h"
#include "state/photon_source.h"

namespace raylift::viewer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kManyTriangles = 2'000'000;

/// A scene on the renderer, with its visibility, camera and rays.
class OffscreenScene {
 public:
  OffscreenScene(const ViewOptions& options, const std::string& file, const Scene& scene, Renderer& renderer,
                 const Progress& progress)
      : options_(options), light_(options.light.origin), scene_file_(file), solids_(scene), renderer_(renderer) {
    notes_ = apply_visibility(options, solids_);
    view_ = open_view(options, solids_, {},
                      static_cast<double>(options.image.resolution.width) / options.image.resolution.height);
    for (const auto& [more, all] :
         {std::pair(&view_.notes.counts, &notes_.counts), {&view_.notes.warnings, &notes_.warnings}})
      all->insert(all->end(), more->begin(), more->end());
    if (!options.bookmark.empty()) go_to_bookmark(scene);
    for (const auto& [name, value] : measured_lines(view_.settings.measured))
      notes_.counts.push_back(name + ": " + value);
    looks_ = looks(solids_, view_.settings, view_.in_the_way);
    const bool rays = view_.settings.ray_cast != RayMode::off;
    if (rays || view_.settings.color == ColorBy::residency) {
      UploadOptions upload = options.upload;
      upload.bvh = rays;
      geometry_.emplace(upload_for_view(scene, choose_device(options.device), upload, progress));
    }
    renderer_.set_scene(scene, geometry_ ? geometry_->buffers() : std::nullopt);
    renderer_.set_looks(looks_);
    renderer_.set_opacities(solids_.opacities());
    // Worth its time for many images, or for those of a slow renderer.
    if (!rays && (options.image.frames > 1 || renderer_.software()) && renderer_.shown_triangles() >= kManyTriangles)
      renderer_.set_enclosing(enclosing_solids(scene, raylift::check(scene, {}, progress), progress));
    if (geometry_) renderer_.set_device_triangles(geometry_->device_triangles());
    if (rays) caster_.emplace(scene, *geometry_);
    read_light(scene, progress);
  }

  [[nodiscard]] const Notes& notes() const { return notes_; }
  [[nodiscard]] Camera& camera() { return view_.camera; }
  /// A share of the photons' times, from 0 to 1.
  void set_time(double share) {
    if (!photons_.set() || photons_.set()->times.empty()) return;
    const ValueRange& times = photons_.set()->times;
    view_.settings.photons.time = std::lerp(static_cast<double>(times.low), static_cast<double>(times.high), share);
  }
  /// `ray_samples` per pixel, where rays are cast.
  void draw(cli::Session& session, int ray_samples) {
    feed_.feed(renderer_, photons_, view_.settings, solids_.scene());
    if (!caster_) {
      draw_legends(std::nullopt);
      renderer_.draw(view_.camera, view_.settings);
      return;
    }
    caster_->start(view_.camera, view_.settings, options_.image.resolution, looks_, ray_samples);
    draw_legends(caster_->depth_range());
    while (!caster_->advance(0.1)) session.stop_if_interrupted();
    renderer_.draw(view_.camera, view_.settings, caster_->image());
  }
  [[nodiscard]] const DeviceScene* geometry() const { return geometry_ ? &*geometry_ : nullptr; }
  [[nodiscard]] bool casts_rays() const { return caster_.has_value(); }

 private:
  void draw_legends(std::optional<std::pair<double, double>> depths) {
    if (!options_.image.legend) return;
    renderer_.set_legends(make_legends(solids_.scene(), view_.settings, looks_, depths, photons_, feed_.hits(),
                                       most_legend_entries(options_.image.resolution.height)));
  }

  void go_to_bookmark(const Scene& scene) {
    const Bookmarks bookmarks(bookmarks_file(options_), bookmarks_key(scene_file_));
    const Bookmark* found = bookmarks.find(options_.bookmark);
    if (found == nullptr)
      throw Error(ErrorKind::usage, "no bookmark has the name '" + cli::printable(options_.bookmark) + "'",
                  {scene.source, ""}, "Ctrl+D in the window makes one");
    view_.camera = found->camera;
    view_.settings = with_bookmark(view_.settings, *found);
    view_.in_the_way.clear();
    restore_solids(*found, solids_);
    if (found->light.empty()) return;
    light_ = found->light;
  }

  /// The photons of --photons, --photon-source or a bookmark, where there are some.
  void read_light(const Scene& scene, const Progress& progress) {
    std::shared_ptr<const PhotonSet> set;
    if (!light_.photons.empty())
      set = std::make_shared<const PhotonSet>(load_photons(light_, options_, scene, progress));
    if (!light_.source.empty()) set = follow_light(scene, progress);
    if (!set) return;
    notes_.warnings.insert(notes_.warnings.end(), set->notes.begin(), set->notes.end());
    photons_ = Photons(set, scene);
    const PhotonChoice& choice = photons_.choice(view_.settings.photons.filter);
    notes_.counts.push_back(fmt::format("light: {} in {}, {}", cli::counted(choice.steps.size(), "step", "steps"),
                                        cli::counted(choice.paths, "path", "paths"),
                                        cli::counted(choice.points.size(), "point", "points")));
    if (choice.steps.empty() && choice.points.empty() && !set->empty())
      notes_.warnings.push_back(
          "no photon is what the filters of --photon-filter, --photon-wavelength and "
          "--photon-channel ask for: no light is drawn");
    if (choice.without_history != 0)
      notes_.warnings.push_back(
          "points have no histories that --photon-filter could read: run 'raylift photons' with --seq");
  }

  /// The photons of a source.
  std::shared_ptr<const PhotonSet> follow_light(const Scene& scene, const Progress& progress) {
    UploadOptions upload_options = options_.upload;
    upload_options.bvh = true;
    photon::refuse_unsimulated(scene);
    light_geometry_.emplace(upload(scene, choose_device(options_.device), upload_options, progress));
    live_.emplace(*light_geometry_);
    live_->start({light_.source, light_.moved, options_.light.count, options_.light.record, options_.light.seed,
                  !view_.settings.photons.filter.history.empty()});
    const Stage stage(progress, "photons", options_.light.count);
    while (!live_->advance(0.2)) stage.advance(live_->followed());
    notes_.counts.push_back(
        fmt::format("followed {} on {}, {} steps with OpenGL", human_rate(live_->photons_per_second(), "photons"),
                    light_geometry_->device().info().name, live_->shares() ? "sharing" : "copying"));
    return live_->photons();
  }

  const ViewOptions& options_;
  LightOrigin light_;  // of the options, or of the bookmark
  std::string scene_file_;
  Solids solids_;
  Renderer& renderer_;
  Opening view_;
  Notes notes_;
  std::vector<std::uint8_t> looks_;
  std::optional<DeviceScene> geometry_;
  std::optional<RayCaster> caster_;
  std::optional<GpuGeometry> light_geometry_;
  std::optional<LiveLight> live_;
  Photons photons_;
  PhotonFeed feed_;
};

/// Into a folder that is made where a name with words in braces asks for it: a typing error makes none.
void write_image(const ViewOptions& options, const Image& image, const std::string& file) {
  std::error_code ignored;  // what is wrong with the folder, the file says
  if (const auto folder = std::filesystem::path(file).parent_path();
      !folder.empty() && options.image.output.find('{') != std::string::npos)
    std::filesystem::create_directories(folder, ignored);
  write_png(image, file);
}

/// Draws frames while the camera orbits, or time runs, and prints the frame rate. Those of a film are written, each
/// with all its rays; else rays have one sample a pixel.
void draw_frames(const ViewOptions& options, OffscreenScene& drawn, Renderer& renderer, cli::Session& session,
                 const std::function<std::string(int)>& name_of_frame) {
  const bool film = writes_frames(options);
  if (!film) drawn.draw(session, 1);  // warms up: normals, programs
  renderer.finish();
  const double turn =
      options.image.orbit.value_or(options.light.play ? 0 : 360) * std::numbers::pi / 180 / options.image.frames;
  const auto start = Clock::now();
  for (int i = 0; i < options.image.frames; ++i) {
    session.stop_if_interrupted();
    if (options.light.play) drawn.set_time(static_cast<double>(i) / std::max(1, options.image.frames - 1));
    drawn.draw(session, film ? options.image.ray_samples : 1);
    if (film) write_image(options, renderer.read(), name_of_frame(i));
    drawn.camera().orbit(turn, 0);
  }
  renderer.finish();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const PhotonLayer& light = renderer.photons();
  const std::string photons = light.steps() + light.points() == 0
                                  ? ""
                                  : fmt::format(", {} and {} of light", cli::counted(light.steps(), "step", "steps"),
                                                cli::counted(light.points(), "point", "points"));
  const bool simplified = !drawn.casts_rays() && renderer.drawn_triangles() < renderer.shown_triangles();
  const std::string drawn_text =
      simplified ? fmt::format(", {} drawn at the end", cli::grouped(renderer.drawn_triangles())) : "";
  session.write(fmt::format("{} frames{}{} of {} x {}, {} samples, {} triangles{}{}: {}, {} each\n",
                            options.image.frames, drawn.casts_rays() ? ", ray-cast," : "", film ? ", written," : "",
                            options.image.resolution.width, options.image.resolution.height,
                            drawn.casts_rays() ? 1 : renderer.samples(), cli::grouped(renderer.shown_triangles()),
                            drawn_text, photons, human_rate(options.image.frames / seconds, "frames"),
                            human_seconds(seconds / options.image.frames)));
}

}  // namespace

int draw_offscreen(const ViewOptions& options, cli::Session& session) {
  std::optional<GlContext> context;
  std::optional<Renderer> renderer;
  std::size_t number = 0;
  if (!options.image.output.empty()) cli::protect_scenes(options.files, options.load);
  return session.for_each_file(options.files, [&](const std::string& file, cli::Json&) {
    ++number;
    const Progress progress = session.progress();
    // Makes the context while the file loads.
    std::future<Scene> loading = std::async(std::launch::async, [&] { return load(file, options.load, progress); });
    if (!context) {
      context.emplace(GlContextOptions{options.image.gl, -1, false});
      session.debug("OpenGL: " + context->info().renderer + ", " + context->info().version + ", by " +
                    context->info().platform);
      renderer.emplace();
      renderer->resize(options.image.resolution, options.image.samples);
    }
    const Scene scene = loading.get();
    cli::report_loaded(session, file, scene);
    OffscreenScene drawn(options, file, scene, *renderer, progress);
    for (const std::string& count : drawn.notes().counts) session.debug(count);
    for (const std::string& warning : drawn.notes().warnings) session.warn(file + ": " + warning);
    if (const DeviceScene* geometry = drawn.geometry())
      session.debug("device: " + geometry->device().info().name + "; " + geometry->sharing());
    if (options.image.frames > 0)
      draw_frames(options, drawn, *renderer, session,
                  [&](int frame) { return output_name(options.image.output, file, number, frame); });
    if (options.image.output.empty() || writes_frames(options)) return 0;
    drawn.draw(session, options.image.ray_samples);
    const Image image = renderer->read();
    if (options.image.output == "-")
      cli::write_output(encode_png(image));
    else
      write_image(options, image, output_name(options.image.output, file, number));
    return 0;
  });
}

}  // namespace raylift::viewer
