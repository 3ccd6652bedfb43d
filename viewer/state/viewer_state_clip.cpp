// SPDX-License-Identifier: Apache-2.0
// The state's clipping box.
#include "model/clip_box.h"
#include "model/reveal.h"
#include "state/viewer_state.h"

namespace raylift::viewer {

void ViewerState::toggle_clip_box() {
  if (!settings_.clip_box) return fit_clip_box();
  settings_.clip_box.reset();
  ++revision_;
}

void ViewerState::fit_clip_box() {
  if (!scene_) return;
  const Bounds box = box_around(*solids_, selection_ ? selection_->solids : shown_solid(looks()));
  if (box.empty()) return say("nothing is there that a box could be put around");
  settings_.set_clip_box({box, settings_.cuts_away()});
  ++revision_;
}

void ViewerState::drag_clip_face(std::size_t face, const Cursor& cursor) {
  if (!scene_ || !settings_.clip_box) return;
  constexpr double kThinnest = 1e-6;  // of the scene
  Bounds& box = settings_.clip_box->box;
  box = with_face_at(camera_, box, face, cursor, kThinnest * scene_->bounds.size().norm());
  moved();
}

}  // namespace raylift::viewer
