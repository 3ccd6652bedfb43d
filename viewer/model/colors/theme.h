// SPDX-License-Identifier: Apache-2.0
// The colours of the window's panels, dark and light, as docs/viewer_design.md lists them. No GL.
#pragma once

#include "model/settings/settings.h"

namespace raylift::viewer {

struct Theme {
  Color ground;  ///< of panels
  Color raised;  ///< titles, tabs, buttons
  Color field;   ///< what is typed into, or chosen from
  Color border;  ///< of a field
  Color text;
  Color dim;     ///< names of properties, hints
  Color accent;  ///< headings, marks, sliders
  Color chosen;  ///< a chosen row, a pressed tool
  Color warning;
  Color error;
  Color good;
};

[[nodiscard]] const Theme& theme(bool light);

/// The contrast of two colours by WCAG 2.1, from 1 to 21.
[[nodiscard]] double contrast_ratio(const Color& a, const Color& b);

}  // namespace raylift::viewer
