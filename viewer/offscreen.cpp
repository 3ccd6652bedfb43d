// SPDX-License-Identifier: Apache-2.0
#include "offscreen.h"

#include <fmt/format.h>
#include <raylift/gpu/memory/residency.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <numbers>
#include <optional>

#include "cli/image.h"
#include "cli/output.h"
#include "cli/output_file.h"
#include "cli/quantity.h"
#include "cli/text.h"

namespace raylift::viewer {
namespace {

using Clock = std::chrono::steady_clock;

/// Into a folder that is made where a name with words in braces asks for it: a typing error makes none.
void write_image(const ImageOptions& options, OffscreenScene& drawn, const Renderer& renderer,
                 const std::string& file) {
  std::error_code ignored;  // what is wrong with the folder, the file says
  if (const auto folder = std::filesystem::path(file).parent_path();
      !folder.empty() && options.output.find('{') != std::string::npos)
    std::filesystem::create_directories(folder, ignored);
  if (cli::is_svg_name(file))
    cli::write_file(file, drawn.svg(), "the drawing");
  else
    write_png(renderer.read(), file);
}

/// What the options found in the scene, and where it lies.
void report(const OffscreenScene& drawn, const std::string& file, cli::Session& session) {
  for (const std::string& count : drawn.notes().counts) session.debug(count);
  for (const std::string& warning : drawn.notes().warnings) session.warn(file + ": " + warning);
  if (const DeviceScene* geometry = drawn.geometry())
    session.debug("device: " + geometry->device().info().name + "; " + geometry->sharing());
}

/// Draws frames while the camera orbits, or time runs, and prints the frame rate. Those of a film are written, each
/// with all its rays; else rays have one sample a pixel.
void draw_frames(const ImageOptions& options, OffscreenScene& drawn, Renderer& renderer, cli::Session& session,
                 const std::function<std::string(int)>& name_of_frame) {
  const bool film = options.writes_frames();
  if (!film) drawn.draw(session, 1);  // warms up: normals, programs
  renderer.finish();
  const double turn = options.orbit.value_or(drawn.plays() ? 0 : 360) * std::numbers::pi / 180 / options.frames;
  const auto start = Clock::now();
  for (int i = 0; i < options.frames; ++i) {
    session.stop_if_interrupted();
    const double share = static_cast<double>(i) / std::max(1, options.frames - 1);
    if (!options.path.empty()) drawn.go_along_path(share);
    if (drawn.plays()) drawn.set_time(share);
    drawn.draw(session, film ? options.ray_samples : 1);
    if (film) write_image(options, drawn, renderer, name_of_frame(i));
    if (options.path.empty()) drawn.camera().orbit(turn, 0);
  }
  renderer.finish();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const PhotonLayer& light = renderer.photons();
  const LightShown& shown = light.shown();
  const std::string photons = shown.steps + shown.points == 0
                                  ? ""
                                  : fmt::format(", {} and {} of light", cli::counted(shown.steps, "step", "steps"),
                                                cli::counted(shown.points, "point", "points"));
  const bool simplified = !drawn.casts_rays() && renderer.drawn_triangles() < renderer.shown_triangles();
  const std::string drawn_text =
      simplified ? fmt::format(", {} drawn at the end", cli::grouped(renderer.drawn_triangles())) : "";
  session.write(fmt::format("{} frames{}{} of {} x {}, {} samples, {} triangles{}{}: {}, {} each\n", options.frames,
                            drawn.casts_rays() ? ", ray-cast," : "", film ? ", written," : "", options.resolution.width,
                            options.resolution.height, drawn.casts_rays() ? 1 : renderer.samples(),
                            cli::grouped(renderer.shown_triangles()), drawn_text, photons,
                            human_rate(options.frames / seconds, "frames"), human_seconds(seconds / options.frames)));
}

}  // namespace

int draw_offscreen(const ImageOptions& options, const OffscreenScenes& scenes, cli::Session& session) {
  std::optional<GlContext> context;
  std::optional<Renderer> renderer;
  std::size_t number = 0;
  return session.for_each_file(scenes.files(), [&](const std::string& file, cli::Json&) {
    ++number;
    const Progress progress = session.progress();
    // Makes the context while the file loads.
    std::future<Scene> reading = scenes.read(file, progress);
    if (!context) {
      context.emplace(GlContextOptions{options.gl, -1, false});
      session.debug("OpenGL: " + context->info().renderer + ", " + context->info().version + ", by " +
                    context->info().platform);
      renderer.emplace();
      renderer->resize(options.resolution, options.samples);
    }
    const Scene scene = reading.get();
    cli::report_loaded(session, file, scene);
    OffscreenScene drawn = scenes.open(file, scene, *renderer, progress);
    report(drawn, file, session);
    if (options.frames > 0)
      draw_frames(options, drawn, *renderer, session,
                  [&](int frame) { return output_name(options.output, file, number, frame); });
    if (options.output.empty() || options.writes_frames()) return 0;
    drawn.draw(session, options.ray_samples);
    if (options.output == "-")
      cli::write_output(encode_png(renderer->read()));
    else
      write_image(options, drawn, *renderer, output_name(options.output, file, number));
    return 0;
  });
}

}  // namespace raylift::viewer
