// SPDX-License-Identifier: Apache-2.0
#include "state/shown/clipping.h"

#include <raylift/geometry/scene/eigen.h>

#include "model/solids/reveal.h"

namespace raylift::viewer {

void Clipping::toggle_box() {
  if (!shown_.settings.clip_box) return fit_box();
  shown_.settings.clip_box.reset();
  ++shown_.revision;
}

void Clipping::fit_box() {
  if (!shown_.scene) return;
  const Bounds box = box_around(*shown_.solids, selection_ ? selection_->solids : shown_solid(appearance_.looks()));
  if (box.empty()) return shown_.messages.show("nothing is there that a box could be put around");
  shown_.settings.set_clip_box({box, shown_.settings.cuts_away()});
  ++shown_.revision;
}

void Clipping::drag_face(std::size_t face, const Cursor& cursor) {
  if (!shown_.scene || !shown_.settings.clip_box) return;
  constexpr double kThinnest = 1e-6;  // of the scene
  Bounds& box = shown_.settings.clip_box->box;
  box = with_face_at(shown_.camera, box, face, cursor, kThinnest * to_eigen(shown_.scene->bounds.size()).norm());
  shown_.moved();
}

}  // namespace raylift::viewer
