// SPDX-License-Identifier: Apache-2.0
// Sizes and items that several panels use, and the panels that only one function draws.
#pragma once

#include <string>

#include "controls.h"
#include "frame_scheduler.h"
#include "viewer_state.h"

namespace raylift::viewer {

/// Lengths are in pixels at scale 1, where the font is kFontSize high; em() gives those of this window.
inline constexpr float kFontSize = 14;
[[nodiscard]] float em(float length);

inline constexpr float kLeftWidth = 330;
inline constexpr float kRightWidth = 250;
inline constexpr float kSelectionWidth = 390;
inline constexpr float kGap = 10;

/// The left edge of the selection's panel, which leaves the axes free.
[[nodiscard]] float selection_left(const ViewerState& state, float height);

/// With the letter µ for the u that stands for it: "20 us".
[[nodiscard]] std::string with_micro(std::string words);

/// What the last control does, while the mouse rests on it.
void tip(const std::string& words);
void text(const std::string& words);
/// The same, wrapped at the panel's edge.
void wrapped(const std::string& words);

/// Begins a table of facts. False where it is not visible; else fact() adds lines until ImGui::EndTable().
bool begin_facts(const char* id);
void fact(const char* name, const std::string& value);
void point_fact(const char* name, const Eigen::Vector3d& point);

/// Within a tab: the file's facts, and whether it is watertight.
void draw_facts(const ViewerState& state);
/// Within a tab: OpenGL, the device, and where each array lies.
void draw_device(const ViewerState& state, const FrameScheduler& frames);
/// Panels of their own.
void draw_image_settings(ViewerState& state, WindowLayout& layout, float width);
void draw_selection(ViewerState& state, float height);
/// Within the selection's panel: the optical properties of the material inside, and those of its surfaces.
void draw_optics(const Scene& scene, const Selection& selection);

}  // namespace raylift::viewer
