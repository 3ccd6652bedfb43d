// SPDX-License-Identifier: Apache-2.0
#include "draw/renderer.h"

#include <raylift/interop/gl_context.h>

#include <algorithm>

#include "draw/overlay/legends.h"
#include "draw/overlay/line_drawing.h"
#include "draw/overlay/svg.h"
#include "meshes/levels.h"
#include "meshes/outlines.h"

namespace raylift::viewer {
namespace {

/// Steps and points of light that make up for the passes over the image that compute shaders need.
constexpr std::uint64_t kMuchLight = 20000;

/// The solids that the image shows, and faint ones, which it does not count.
std::vector<std::uint32_t> seen_or_faint(const DepthImage& seen, std::span<const std::uint8_t> looks) {
  std::vector<std::uint32_t> solids;
  for (std::uint32_t i = 0; i != looks.size(); ++i)
    if (static_cast<Look>(looks[i]) == Look::faint) solids.push_back(i);
  std::vector<std::uint32_t> shown = seen.solids;
  std::sort(shown.begin(), shown.end());
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  for (const std::uint32_t id : shown)
    if (id != 0) solids.push_back(id - 1);
  return solids;
}

/// OpenGL's state as passes expect it.
void set_state() {
  for (const GLenum off : {GL_SCISSOR_TEST, GL_CULL_FACE, GL_BLEND, GL_DEPTH_TEST}) glDisable(off);
  glEnable(GL_MULTISAMPLE);
  glEnable(GL_FRAMEBUFFER_SRGB);
  glClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);
  glClearColor(0, 0, 0, 0);
  glClearDepth(0);
  glDepthMask(GL_TRUE);
}

/// OpenGL's defaults, as ImGui expects them.
void reset_state() {
  glDisable(GL_FRAMEBUFFER_SRGB);
  glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
  glDepthFunc(GL_LESS);
  glBindVertexArray(0);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

}  // namespace

Renderer::Renderer() : software_(gl_info().software), program_(software_) {
  if (!software_) photons().set_computed_from(kMuchLight);
  resize({}, 4);
}

void Renderer::set_scene(const Scene& scene, std::optional<SharedGeometryBuffers> shared) {
  photons().clear();
  changed().set_scene(scene, shared);
}

void Renderer::resize(const Resolution& resolution, int samples) {
  if (samples == 0) samples = software_ ? 1 : 4;
  GLint most = 1;
  glGetIntegerv(GL_MAX_SAMPLES, &most);
  samples = std::clamp(samples, 1, std::max(most, 1));
  if (image_.target && resolution == image_.size && samples == image_.samples) return;
  // The old targets go first: two large ones may not fit together.
  kept_ = KeptScene();
  marks_.release();
  ids_.release();
  image_ = ImageTarget();
  image_.size = resolution;
  image_.samples = samples;
  image_ = make_image_target(resolution, samples);
}

bool Renderer::keeps_scene(const Settings& settings) const {
  return software_ && image_.samples == 1 && light_.photons().draws(settings.photons);
}

bool Renderer::draw(const Camera& camera, const Settings& settings, std::optional<ForeignImage> image,
                    std::optional<Coarse> coarse, Pace* pace) {
  Pace unlimited;
  const Canvas whole = canvas(image_, camera, settings, pace != nullptr && !image && !coarse ? *pace : unlimited);
  if (pace != nullptr) pace->begin_turn();
  set_state();
  if (coarse && !image) draw_coarse(camera, settings, *coarse, pace != nullptr ? *pace : unlimited);
  image_.bind();
  if (image || coarse) screen_.draw_background(settings.background);
  if (image) screen_.draw_image(*image, image_.size);
  if (coarse && !image) screen_.draw_scaled(coarse_);
  const bool complete = image || coarse || draw_scene(whole);
  if (complete) {
    marks_.draw(whole);
    overlay_.draw(whole);
    image_.resolve();
  }
  reset_state();
  check_gl("drawing");
  return complete;
}

bool Renderer::draw_scene(const Canvas& canvas) {
  const KeptScene::Use use = kept_.begin(canvas, keeps_scene(canvas.settings));
  if (use != KeptScene::Use::reuse) canvas.pace.piece([&] { screen_.draw_background(canvas.settings.background); });
  draw_layers(canvas, use);
  return !canvas.pace.stopped();
}

void Renderer::draw_coarse(const Camera& camera, const Settings& settings, const Coarse& coarse, Pace& pace) {
  const Resolution& size = coarse.size;
  if (!coarse_.target || coarse_.size != size) {
    coarse_ = ImageTarget();
    coarse_ = ImageTarget(size, 1);
    glTextureParameteri(coarse_.resolved_color.name(), GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTextureParameteri(coarse_.resolved_color.name(), GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTextureParameteri(coarse_.resolved_color.name(), GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  }
  Canvas fewer = canvas(coarse_, camera, settings, pace);
  fewer.most = coarse.triangles;
  coarse_.bind();
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  draw_layers(fewer, KeptScene::Use::none);
  // An image that lacks solids still has its light.
  if (pace.stopped()) light_.draw_little(fewer);
  coarse_.resolve();
}

void Renderer::draw_layers(const Canvas& canvas, KeptScene::Use use) {
  using Use = KeptScene::Use;
  if (!scene_.draws_any() && !light_.photons().draws(canvas.settings.photons)) return;
  canvas.set_frame();
  Sight sight = sight_of(canvas.camera, canvas.settings, scene_.bounds(), canvas.target.size);
  sight.most = canvas.most;
  scene_.look(sight);
  if (canvas.settings.smooth && canvas.draws_surfaces()) scene_.ensure_normals();
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_GREATER);
  if (use != Use::reuse) {
    draw_opaque(canvas);
    blended_.draw(canvas);
    const bool translucent = canvas.settings.photons.opacity < 1;  // over faint solids, which hide none of it
    canvas.pace.piece([&] {
      if (use != Use::none)
        kept_.keep_solids(canvas.target);
      else if (!translucent)
        light_.draw(canvas);
    });
    draw_faint(canvas);
    if (use == Use::none && translucent) canvas.pace.piece([&] { light_.draw(canvas); });
  }
  if (use == Use::record) canvas.pace.piece([&] { kept_.keep_whole(canvas.target); });
  // Light over the kept scene is none of the pieces: it is drawn anew in each image.
  const bool over = use != Use::none && kept_.is_whole();
  if (over) light_.draw_over(kept_, canvas);
  glDisable(GL_DEPTH_TEST);
  if (use == Use::none) canvas.pace.piece([&] { light_.draw_selected(canvas); });
  if (over) light_.draw_selected(canvas);
}

void Renderer::present(GLuint framebuffer, int width, int height) const {
  const bool same = image_.size == Resolution{width, height};
  glBlitNamedFramebuffer(image_.resolved.name(), framebuffer, 0, 0, image_.size.width, image_.size.height, 0, 0, width,
                         height, GL_COLOR_BUFFER_BIT, same ? GL_NEAREST : GL_LINEAR);
}

void Renderer::finish() const {
  glFinish();
}

std::optional<Picked> Renderer::pick(const Camera& camera, const Settings& settings, int x, int y) {
  Pace unlimited;
  return ids_.pick(canvas(image_, camera, settings, unlimited), x, y);
}

std::optional<PickedPhoton> Renderer::pick_photon(const Camera& camera, const Settings& settings, int x, int y) {
  Pace unlimited;
  return ids_.pick_photon(canvas(image_, camera, settings, unlimited), photons(), x, y);
}

std::string Renderer::svg(const Camera& camera, const Settings& settings) {
  const Resolution& size = image_.size;
  Overlay overlay = make_overlay(camera, settings, size.width, size.height);
  add_legends(overlay_.legends(), size.width, size.height, overlay, settings.background);
  std::vector<LineStyle> styles;
  std::vector<Polyline> lines;
  if (scene_.has_scene()) {
    // More pixels than the drawing has: what hides lines is known that well.
    constexpr int kMaxPixels = 4096, kMaxTimes = 3;
    const int times = std::clamp(kMaxPixels / std::max(size.width, size.height), 1, kMaxTimes);
    ImageTarget large;
    large.size = {size.width * times, size.height * times};
    Pace unlimited;
    IdPass pass;
    const DepthImage seen = pass.depths(canvas(large, camera, settings, unlimited));
    check_gl("drawing what hides lines");
    const Scene& scene = *scene_.scene();
    LineDrawing drawing(camera, settings, scene.bounds, size, seen);
    const LineColors colors(scene, settings, !overlay_.legends().empty(), scene_.own_colors());
    std::vector<double> reach;  // of meshes
    for (const Mesh& mesh : scene.meshes) reach.push_back(2 * static_cast<double>(ball_around(mesh.vertices).radius));
    for_outlines(scene, settings, camera, scene_.looks(), seen_or_faint(seen, scene_.looks()),
                 [&](std::span<const Outline> outlines) {
                   if (outlines.empty()) return;
                   const Instance& placed = scene.instances[outlines.front().solid];
                   const LineStyle style = colors.style(outlines.front());
                   auto at = std::find(styles.begin(), styles.end(), style);
                   if (at == styles.end()) at = styles.insert(styles.end(), style);
                   for (const Outline& line : outlines)
                     drawing.add(line, reach[placed.mesh] * largest_scale(placed.transform),
                                 static_cast<std::uint32_t>(at - styles.begin()));
                 });
    lines = drawing.polylines();
  }
  return svg_text(size, settings.background, lines, styles, overlay);
}

IdImage Renderer::ids(const Camera& camera, const Settings& settings) {
  Pace unlimited;
  return ids_.read(canvas(image_, camera, settings, unlimited));
}

}  // namespace raylift::viewer
