// SPDX-License-Identifier: Apache-2.0
#include "draw/kept_scene.h"

#include "model/setting_table.h"

namespace raylift::viewer {

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

}  // namespace raylift::viewer
