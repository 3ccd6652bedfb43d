// SPDX-License-Identifier: Apache-2.0
// The panel with the image's legend. Dear ImGui.
#include <imgui.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cli/text.h"
#include "draw/overlay/legends.h"
#include "model/colors/color_map.h"
#include "model/colors/palette.h"
#include "model/word_help.h"
#include "window/items/panel_items.h"
#include "window/layout/dock_layout.h"
#include "window/panels/legend_panel.h"

namespace raylift::viewer {
namespace {

ImU32 as_imgui(const Color& color) {
  return packed(color);
}

/// Colours from low to high as one bar, with the labels below it.
void draw_ramp(const Legend& legend, float width) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float bar = ImGui::GetFontSize();
  const auto steps = static_cast<float>(legend.ramp.size() - 1);
  for (std::size_t i = 0; i + 1 < legend.ramp.size(); ++i) {
    const float from = width * static_cast<float>(i) / steps, to = width * static_cast<float>(i + 1) / steps;
    const ImU32 a = as_imgui(legend.ramp[i]), b = as_imgui(legend.ramp[i + 1]);
    list.AddRectFilledMultiColor({at.x + from, at.y}, {at.x + to, at.y + bar}, a, b, b, a);
  }
  for (const Tick& tick : legend.ticks) {
    const float words = ImGui::CalcTextSize(tick.label.c_str()).x, middle = width * tick.place;
    list.AddLine({at.x + middle, at.y + bar}, {at.x + middle, at.y + bar + 3}, ImGui::GetColorU32(ImGuiCol_Text));
    const float left = std::clamp(middle - 0.5F * words, 0.0F, std::max(0.0F, width - words));
    list.AddText({at.x + left, at.y + bar + 2}, ImGui::GetColorU32(ImGuiCol_Text), tick.label.c_str());
  }
  ImGui::Dummy({width, 2 * bar + 4});
}

/// What a light background does to a scale; empty on a dark one.
const char* turned_round(const Settings& settings) {
  return ground_of(settings.background).dark()
             ? ""
             : "The background is light: the map runs the other way round, so that what stands out is dark";
}

/// Map, logarithm and range of a scale, in place of its settings' or light's. `now`: its ends as it is drawn; none: the
/// image alone decides them.
bool edit_scale(ScaleSettings& scale, const std::optional<Between<double>>& now) {
  bool changed = choose("Map", kColorMapNames, scale.map,
                        "The colours, from low to high: bright is high on a dark background, dark on a light one");
  if (!now) return changed;
  changed |= checkbox("Logarithmic", scale.log, "Equal lengths for equal factors");
  bool automatic = !scale.range;
  if (checkbox("Range of the data", automatic, "From the lowest value to the highest that is usual")) {
    scale.range = automatic ? std::nullopt : now;
    changed = true;
  }
  if (!scale.range) return changed;
  std::array<double, 2> ends{scale.range->low, scale.range->high};
  field_label("From, to");
  if (ImGui::InputScalarN("##from, to", ImGuiDataType_Double, ends.data(), 2, nullptr, nullptr, "%.6g",
                          ImGuiInputTextFlags_EnterReturnsTrue) &&
      ends[0] < ends[1]) {
    scale.range = {ends[0], ends[1]};
    changed = true;
  }
  tip("The values at the ends of the scale; Enter sets them");
  return changed;
}

constexpr float kEditorWidth = 260;

/// Whether the settings have its map: not where colours are those of wavelengths.
bool has_scale(const Legend& legend) {
  return !legend.ramp.empty() && (legend.range || !legend.of_light);
}

/// The scale's colours; a click, or `open`, opens its settings.
void edit_ramp(ViewerState& state, const Legend& legend, float inner, bool open) {
  const ImVec2 at = ImGui::GetCursorPos();
  draw_ramp(legend, inner);
  if (!has_scale(legend)) return;
  const ImVec2 after = ImGui::GetCursorPos();
  ImGui::SetCursorPos(at);
  if (ImGui::InvisibleButton("scale", {inner, ImGui::GetFontSize()}) || open) ImGui::OpenPopup("scale of colours");
  const std::string turned = turned_round(state.settings());
  tip("Click to change the colours" + std::string(legend.range ? ", the range and a logarithmic scale" : "") +
      (turned.empty() ? "" : "\n" + turned));
  ImGui::SetCursorPos(after);
  // Beside the panel, so that the scale and its numbers stay in sight.
  const ImVec2 panel = ImGui::GetWindowPos();
  if (panel.x >= em(kEditorWidth)) ImGui::SetNextWindowPos({panel.x - em(kGap), panel.y}, ImGuiCond_Always, {1, 0});
  ImGui::SetNextWindowSize({em(kEditorWidth), 0});
  if (!ImGui::BeginPopup("scale of colours")) return;
  ScaleSettings scale = legend.of_light ? state.settings().photons.scale() : state.settings().scale();
  if (edit_scale(scale, legend.range))
    state.change_settings([&](Settings& s) { legend.of_light ? s.photons.set_scale(scale) : s.set_scale(scale); });
  if (!turned.empty()) wrapped(turned + ".");
  ImGui::EndPopup();
}

/// The colour of an entry; a click opens a picker for the solids that have it.
void edit_entry_color(ViewerState& state, const Legend::Entry& entry) {
  if (entry.solids.empty()) return;
  if (ImGui::IsItemClicked()) ImGui::OpenPopup("colour of solids");
  if (ImGui::BeginPopup("colour of solids")) {
    edit_color(state, entry.solids, entry.color);
    ImGui::EndPopup();
  }
}

void draw_legend(ViewerState& state, const Legend& legend, float inner, bool open) {
  if (!legend.ramp.empty()) edit_ramp(state, legend, inner, open);
  for (const Legend::Entry& entry : legend.entries) {
    ImGui::PushID(static_cast<int>(&entry - legend.entries.data()));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float side = ImGui::GetFontSize();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + side, at.y + side}, as_imgui(entry.color), 2);
    list.AddRect(at, {at.x + side, at.y + side}, ImGui::GetColorU32(ImGuiCol_Text, 0.5F), 2);
    ImGui::InvisibleButton("colour", {side, side});
    const auto named = [&entry](const char* advice) {
      std::string all = cli::printable(entry.name);
      if (!entry.solids.empty()) all += advice;
      if (!entry.hint.empty()) all += "\n" + cli::printable(entry.hint);
      return all;
    };
    tip(named(". Click to give these solids another colour"));
    edit_entry_color(state, entry);
    ImGui::SameLine();
    text(cli::printable(entry.text()));
    tip(named(". A click on the square changes the colour"));
    ImGui::PopID();
  }
  if (legend.more != 0) ImGui::TextDisabled("and %s more", cli::grouped(legend.more).c_str());
  if (legend.note.empty()) return;
  ImGui::TextDisabled("%s", legend.note.c_str());
  if (legend.of_light) tip("No more than can be read; Show all in the tab Light draws the rest");
}

}  // namespace

bool LegendPanel::update(const ViewerState& state, const FrameScheduler& frames) {
  if (!state.scene()) return false;
  const auto depths = frames.depths(state);
  const Settings& settings = state.settings();
  const Photons& photons = state.photons();
  Key key;
  key.scene = state.scene().get();
  key.looks = state.appearance().version();
  key.own_colors = state.solids()->opacity_version();
  key.color = settings.color;
  key.rays = settings.ray_cast;
  key.depths = depths;
  key.light_color = settings.photons.color;
  key.scale = settings.scale();
  key.light_scale = settings.photons.scale();
  key.ground = ground_of(settings.background);
  if (settings.color == ColorBy::surface) {
    key.planes = settings.planes();
    key.seen_through = settings.wireframe || settings.opacity < 1;
  }
  const bool light = photons.set() && settings.ray_cast == RayMode::off;
  const bool by_hits = settings.colors_hits() && settings.ray_cast == RayMode::off;
  if (light) {
    (void)photons.choice(settings.photons.filter);
    key.light = photons.choice_version();
    key.shown = frames.renderer().photons().shown();
  }
  if (by_hits && frames.hits()) key.hits = {frames.hits()->most, {frames.hits()->times.low, frames.hits()->times.high}};
  if (key_ != key) {
    legends_ = make_legends(*state.solids(), settings, state.appearance().looks(), depths, photons, frames.hits(),
                            frames.renderer().photons().shown());
    key_ = key;
  }
  return !legends_.empty();
}

void LegendPanel::draw(ViewerState& state, WindowLayout& layout) const {
  const float inner = ImGui::GetContentRegionAvail().x;
  const auto wanted = std::exchange(layout.scale, WindowLayout::Scale::none);
  const bool of_light = wanted == WindowLayout::Scale::light;
  // Where both share a scale, it is light's.
  const auto own = std::find_if(legends_.begin(), legends_.end(),
                                [&](const Legend& one) { return has_scale(one) && one.of_light == of_light; });
  const auto opened = wanted == WindowLayout::Scale::none ? legends_.end()
                      : own != legends_.end()             ? own
                                                          : std::find_if(legends_.begin(), legends_.end(), has_scale);
  for (std::size_t i = 0; i != legends_.size(); ++i) {
    if (i != 0) ImGui::Separator();
    ImGui::TextColored(ink(theme_now().accent), "%s", capital(legends_[i].title).c_str());
    tip(explained(kColorWords, legends_[i].title));
    ImGui::PushID(static_cast<int>(i));
    draw_legend(state, legends_[i], inner, opened != legends_.end() && &*opened == &legends_[i]);
    ImGui::PopID();
  }
}

}  // namespace raylift::viewer
