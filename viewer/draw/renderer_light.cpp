// SPDX-License-Identifier: Apache-2.0
// How the renderer draws light, with the scene or over the scene as it was kept.
//
// What is faint lies over light, and hides none of it. So two images are kept: the solids with their depth, which light
// is drawn over, and the whole, which is what is seen where there is no light. Where there is light, the faint solids
// are drawn again; elsewhere a depth that nothing passes costs them only the test.
#include <algorithm>
#include <utility>

#include "draw/renderer.h"
#include "draw/shaders.h"

namespace raylift::viewer {
namespace {

/// Steps and points that any renderer draws at once.
constexpr double kQuickLight = 20000;

bool same(const Camera& a, const Camera& b) {
  return a.target == b.target && a.distance == b.distance && a.fov_degrees == b.fov_degrees &&
         a.orthographic == b.orthographic && a.up == b.up && a.free_middle == b.free_middle &&
         a.free_share == b.free_share && a.orientation().coeffs() == b.orientation().coeffs();
}

void copy(const Framebuffer& from, const Framebuffer& to, const Resolution& size, GLbitfield what) {
  glBlitNamedFramebuffer(from.name(), to.name(), 0, 0, size.width, size.height, 0, 0, size.width, size.height, what,
                         GL_NEAREST);
}

}  // namespace

void Renderer::draw_photons(const PhotonSettings& settings) {
  // Of a coarse image, lines have the same width in the end. Few of all photons are enough for it, but not at a time,
  // where light would vanish.
  const double scale = static_cast<double>(canvas_.size.width) / resolution_.width;
  const double share = settings.time ? 1 : scale * canvas_.size.height / resolution_.height;
  PhotonSettings scaled = settings;
  scaled.size = std::max(1.0F, static_cast<float>(scale) * settings.size);
  glBindBufferBase(GL_UNIFORM_BUFFER, 0, frame_.name());
  photons_.draw(scaled, {canvas_.size.width, canvas_.size.height, canvas_.samples}, share);
}

void Renderer::draw_quick_photons(const PhotonSettings& settings) {
  const double share = static_cast<double>(canvas_.size.width) * canvas_.size.height /
                       (static_cast<double>(resolution_.width) * resolution_.height);
  const auto light = static_cast<double>(photons_.steps() + photons_.points());
  if ((settings.time ? 1 : share) * light > kQuickLight) return;
  glEnable(GL_DEPTH_TEST);
  draw_photons(settings);
  glDisable(GL_DEPTH_TEST);
}

bool Renderer::keeps_scene(const Settings& settings) const {
  return software_ && samples_ == 1 && settings.photons.opacity >= 1 && photons_.draws(settings.photons);
}

bool Renderer::is_drawn(const Camera& camera, const Settings& settings) const {
  return view_ && same(view_->camera, camera) && same_scene(view_->settings, settings);
}

void Renderer::note_view(const Camera& camera, const Settings& settings) {
  const bool again = is_drawn(camera, settings);
  kept_whole_ = kept_whole_ && again;
  // Not where the camera turns: to keep what is drawn once alone is not worth it. An image that is drawn in turns is
  // slow.
  keeping_ = keeps_scene(settings) && (again || pace_ != nullptr);
  view_ = View{camera, settings};
  if (keeping_ && !kept_.solid) kept_ = KeptTarget(resolution_, image_);
}

void Renderer::keep_solids() {
  copy(image_.target, kept_.solid, resolution_, GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

void Renderer::keep_whole() {
  copy(image_.target, kept_.whole, resolution_, GL_COLOR_BUFFER_BIT);
  kept_whole_ = true;
}

void Renderer::draw_over_kept(const Settings& settings) {
  Pace* const pace = std::exchange(pace_, nullptr);  // all at once: it takes little, and comes anew in each image
  copy(kept_.whole, image_.target, resolution_, GL_COLOR_BUFFER_BIT);
  copy(kept_.solid, kept_.light, resolution_, GL_DEPTH_BUFFER_BIT);
  disable_clipping();
  glBindFramebuffer(GL_FRAMEBUFFER, kept_.light.name());
  draw_photons(settings.photons);
  if (scene_.draws(Look::faint)) {
    if (!lit_depth_) lit_depth_ = make_program(shaders::screen_vertex, shaders::lit_depth_fragment);
    glBindFramebuffer(GL_FRAMEBUFFER, kept_.lit_only.name());
    glUseProgram(lit_depth_.name());
    glBindTextureUnit(0, kept_.solid_depth.name());
    glBindTextureUnit(1, kept_.light_depth.name());
    glBindVertexArray(empty_.name());
    glDepthFunc(GL_ALWAYS);
    glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glDepthFunc(GL_GREATER);
    draw_faint(settings);
  }
  pace_ = pace;
  bind_canvas();
}

}  // namespace raylift::viewer
