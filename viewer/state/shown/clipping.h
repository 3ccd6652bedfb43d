// SPDX-License-Identifier: Apache-2.0
// The clipping box: around solids, and by its handles.
#pragma once

#include <cstddef>

#include "state/shown/appearance.h"

namespace raylift::viewer {

class Clipping {
 public:
  Clipping(ShownScene& shown, const Selection& selection, const Appearance& appearance)
      : shown_(shown), selection_(selection), appearance_(appearance) {}

  /// Removes the box, or puts one around the selected solids, or around those that are shown where none is selected.
  void toggle_box();
  /// Puts the box around the same. It still cuts what is inside, or outside.
  void fit_box();
  /// Moves a face to the cursor.
  void drag_face(std::size_t face, const Cursor& cursor);

 private:
  ShownScene& shown_;
  const Selection& selection_;
  const Appearance& appearance_;
};

}  // namespace raylift::viewer
