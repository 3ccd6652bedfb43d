// SPDX-License-Identifier: Apache-2.0
#include "draw/passes/light_pass.h"

#include <algorithm>

#include "draw/passes/solid_passes.h"
#include "model/settings/setting_table.h"

namespace raylift::viewer {
namespace {

/// Steps and points that any renderer draws at once.
constexpr double kLittleLight = 20000;

/// As much light as is read in the whole image.
LightShown readable(const PhotonLayer& photons, const Canvas& canvas) {
  return photons.readable(canvas.settings.photons, canvas.camera, canvas.full);
}

/// The share of light that is drawn. Few of all photons are enough for a coarse image, except at one time, when light
/// would vanish.
double drawn_share(const Canvas& canvas) {
  if (canvas.settings.photons.time) return 1;
  return static_cast<double>(canvas.target.size.width) / canvas.full.width * canvas.target.size.height /
         canvas.full.height;
}

}  // namespace

bool KeptScene::is_drawn(const Camera& camera, const Settings& settings) const {
  return view_ && view_->camera == camera && same_scene(view_->settings, settings);
}

KeptScene::Use KeptScene::begin(const Canvas& canvas, bool worth_keeping) {
  const bool again = is_drawn(canvas.camera, canvas.settings);
  if (!again) view_ = View{canvas.camera, canvas.settings};
  // While the camera turns, each image is drawn once: keeping it would cost more. An image in turns is a slow one.
  if (!worth_keeping || !(again || canvas.pace.limited())) return Use::none;
  if (!targets_.solid) targets_ = KeptTarget(canvas.target);
  return view_->whole ? Use::reuse : Use::record;
}

void KeptScene::keep_solids(const ImageTarget& from) const {
  blit(from.target, targets_.solid, from.size, GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

void KeptScene::keep_whole(const ImageTarget& from) {
  blit(from.target, targets_.whole, from.size, GL_COLOR_BUFFER_BIT);
  view_->whole = true;
}

void KeptScene::restore(const ImageTarget& to) const {
  blit(targets_.whole, to.target, to.size, GL_COLOR_BUFFER_BIT);
  blit(targets_.solid, targets_.light, to.size, GL_DEPTH_BUFFER_BIT);
}

void LightPass::draw(const Canvas& canvas) {
  // Lines have the same width after a coarse image is scaled.
  PhotonSettings scaled = canvas.settings.photons;
  const double scale = static_cast<double>(canvas.target.size.width) / canvas.full.width;
  scaled.size = std::max(1.0F, static_cast<float>(scale) * scaled.size);
  canvas.program.bind_frame();
  photons_.set_clipping(canvas.settings);
  photons_.draw(scaled, {canvas.target.size.width, canvas.target.size.height, canvas.target.samples},
                readable(photons_, canvas), drawn_share(canvas));
}

void LightPass::draw_little(const Canvas& canvas) {
  const LightShown shown = readable(photons_, canvas);
  if (drawn_share(canvas) * static_cast<double>(shown.steps + shown.points) > kLittleLight) return;
  glEnable(GL_DEPTH_TEST);
  draw(canvas);
  glDisable(GL_DEPTH_TEST);
}

void LightPass::draw_over(const KeptScene& kept, const Canvas& canvas) {
  kept.restore(canvas.target);
  const KeptTarget& targets = kept.targets();
  glBindFramebuffer(GL_FRAMEBUFFER, targets.light.name());
  draw(canvas);
  // Translucent light lies over faint solids.
  if (canvas.scene.draws(Look::faint) && canvas.settings.photons.opacity >= 1) {
    // A depth that nothing passes keeps faint solids from pixels without light.
    glBindFramebuffer(GL_FRAMEBUFFER, targets.lit_only.name());
    lit_depth_.use();
    glBindTextureUnit(0, targets.solid_depth.name());
    glBindTextureUnit(1, targets.light_depth.name());
    glDepthFunc(GL_ALWAYS);
    glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    lit_depth_.draw();
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glDepthFunc(GL_GREATER);
    // At once: it takes little time, and is none of the image's pieces.
    Pace unlimited;
    draw_faint({canvas.target, canvas.full, canvas.camera, canvas.settings, canvas.scene, canvas.program, unlimited});
  }
  canvas.target.bind();
}

void LightPass::draw_selected(const Canvas& canvas) {
  photons_.set_clipping(canvas.settings);
  photons_.draw_selected(canvas.settings.photons, canvas.target.size.width, canvas.target.size.height);
}

}  // namespace raylift::viewer
