// SPDX-License-Identifier: Apache-2.0
#include "offscreen.h"

#include <fmt/format.h>
#include <raylift/geometry/import/load.h>
#include <raylift/gpu/memory/residency.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <numbers>
#include <optional>

#include "cli/image.h"
#include "cli/output.h"
#include "cli/text.h"
#include "ray_caster.h"
#include "renderer.h"
#include "reveal.h"

namespace raylift::viewer {
namespace {

using Clock = std::chrono::steady_clock;

/// A scene on the renderer, with its visibility, camera and rays.
class OffscreenScene {
 public:
  OffscreenScene(const ViewOptions& options, const std::string& file, const Scene& scene, Renderer& renderer,
                 const Progress& progress)
      : options_(options), scene_file_(file), solids_(scene), renderer_(renderer) {
    notes_ = apply_visibility(options, solids_);
    view_ = open_view(options, solids_, {}, static_cast<double>(options.resolution.width) / options.resolution.height);
    for (const auto& [more, all] :
         {std::pair(&view_.notes.counts, &notes_.counts), {&view_.notes.warnings, &notes_.warnings}})
      all->insert(all->end(), more->begin(), more->end());
    if (!options.bookmark.empty()) go_to_bookmark(scene);
    looks_ = looks(solids_, view_.settings, view_.in_the_way);
    const bool rays = view_.settings.rays != RayMode::off;
    if (rays || view_.settings.color == ColorBy::residency) {
      UploadOptions upload = options.upload;
      upload.bvh = rays;
      geometry_.emplace(upload_for_view(scene, choose_device(options.device), upload, progress));
    }
    renderer_.set_scene(scene, geometry_ ? geometry_->buffers() : std::nullopt);
    renderer_.set_looks(looks_);
    if (geometry_) renderer_.set_device_triangles(geometry_->device_triangles());
    if (rays) caster_.emplace(scene, *geometry_);
  }

  [[nodiscard]] const Notes& notes() const { return notes_; }
  [[nodiscard]] Camera& camera() { return view_.camera; }
  /// `ray_samples` per pixel, where rays are cast.
  void draw(cli::Session& session, int ray_samples) {
    if (!caster_) return renderer_.draw(view_.camera, view_.settings);
    caster_->start(view_.camera, view_.settings, options_.resolution, looks_, ray_samples);
    while (!caster_->advance(0.1)) session.stop_if_interrupted();
    renderer_.draw(view_.camera, view_.settings, caster_->image());
  }
  [[nodiscard]] const DeviceScene* geometry() const { return geometry_ ? &*geometry_ : nullptr; }
  [[nodiscard]] bool casts_rays() const { return caster_.has_value(); }

 private:
  void go_to_bookmark(const Scene& scene) {
    const Bookmarks bookmarks(bookmarks_file(options_), bookmarks_key(scene_file_));
    const Bookmark* found = bookmarks.find(options_.bookmark);
    if (found == nullptr)
      throw Error(ErrorKind::usage, "no bookmark has the name '" + cli::printable(options_.bookmark) + "'",
                  {scene.source, ""}, "Ctrl+D in the window makes one");
    view_.camera = found->camera;
    view_.settings = with_bookmark(view_.settings, *found);
    view_.in_the_way.clear();
    if (found->whole) solids_.set_all(visibility(solids_, found->hidden));
  }

  const ViewOptions& options_;
  std::string scene_file_;
  Solids solids_;
  Renderer& renderer_;
  Opening view_;
  Notes notes_;
  std::vector<std::uint8_t> looks_;
  std::optional<DeviceScene> geometry_;
  std::optional<RayCaster> caster_;
};

/// Draws frames while the camera orbits once, and prints the frame rate. Rays: one sample a pixel.
void print_speed(const ViewOptions& options, OffscreenScene& drawn, Renderer& renderer, cli::Session& session) {
  drawn.draw(session, 1);  // warms up: normals, programs
  renderer.finish();
  const auto start = Clock::now();
  for (int i = 0; i < options.frames; ++i) {
    session.stop_if_interrupted();
    drawn.draw(session, 1);
    drawn.camera().orbit(2 * std::numbers::pi / options.frames, 0);
  }
  renderer.finish();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  session.write(fmt::format("{} frames{} of {} x {}, {} samples, {} triangles: {}, {} each\n", options.frames,
                            drawn.casts_rays() ? ", ray-cast," : "", options.resolution.width,
                            options.resolution.height, drawn.casts_rays() ? 1 : renderer.samples(),
                            cli::grouped(renderer.drawn_triangles()), human_rate(options.frames / seconds, "frames"),
                            human_seconds(seconds / options.frames)));
}

}  // namespace

int draw_offscreen(const ViewOptions& options, cli::Session& session) {
  std::optional<GlContext> context;
  std::optional<Renderer> renderer;
  std::size_t number = 0;
  return session.for_each_file(options.files, [&](const std::string& file, cli::Json&) {
    ++number;
    const Progress progress = session.progress();
    // Makes the context while the file loads.
    std::future<Scene> loading = std::async(std::launch::async, [&] { return load(file, options.load, progress); });
    if (!context) {
      context.emplace(GlContextOptions{options.gl, -1, false});
      session.debug("OpenGL: " + context->info().renderer + ", " + context->info().version + ", by " +
                    context->info().platform);
      renderer.emplace();
      renderer->resize(options.resolution, options.samples);
    }
    const Scene scene = loading.get();
    for (const std::string& warning : scene.report.warnings) session.warn(file + ": " + warning);
    OffscreenScene drawn(options, file, scene, *renderer, progress);
    for (const std::string& count : drawn.notes().counts) session.debug(count);
    for (const std::string& warning : drawn.notes().warnings) session.warn(file + ": " + warning);
    if (const DeviceScene* geometry = drawn.geometry())
      session.debug("device: " + geometry->device().info().name + "; " + geometry->sharing());
    if (options.frames > 0) print_speed(options, drawn, *renderer, session);
    if (options.output.empty()) return 0;
    drawn.draw(session, options.ray_samples);
    const Image image = renderer->read();
    if (options.output == "-")
      cli::write_output(encode_png(image));
    else
      write_png(image, output_name(options.output, file, number));
    return 0;
  });
}

}  // namespace raylift::viewer
