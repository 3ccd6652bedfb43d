// SPDX-License-Identifier: Apache-2.0
// The items of panels. All controls are made here, so that each has a tip.
#include "window/panel_items.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "cli/text.h"

namespace raylift::viewer {

float em(float length) {
  return length * ImGui::GetFontSize() / kFontSize;
}

bool is_small(float width, float height) {
  return width < em(kLeftWidth + kRightWidth + 180) || height < em(440);
}

bool is_light() {
  return ImGui::GetStyleColorVec4(ImGuiCol_Text).x < 0.5F;
}

float panel_width(float own, float width) {
  return std::min(em(own), 0.48F * width);
}

void tip(const std::string& words) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(em(320));
  text(words);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

std::string with_micro(std::string words) {
  for (const char* unit : {"um", "us"})
    if (words == unit || words.ends_with(std::string(" ") + unit)) words.replace(words.size() - 2, 1, "µ");
  return words;
}

void second_column() {
  constexpr float kSecondColumn = 120;
  ImGui::SameLine(em(kSecondColumn));
}

void text(const std::string& words) {
  ImGui::TextUnformatted(words.data(), words.data() + words.size());
}

void wrapped(const std::string& words) {
  ImGui::PushTextWrapPos();
  text(words);
  ImGui::PopTextWrapPos();
}

void text_error(const std::string& words) {
  ImGui::PushStyleColor(ImGuiCol_Text, is_light() ? ImVec4{0.7F, 0.1F, 0, 1} : ImVec4{1, 0.55F, 0.45F, 1});
  text(words);
  ImGui::PopStyleColor();
}

bool begin_facts(const char* id) {
  if (!ImGui::BeginTable(id, 2)) return false;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);  // wrapped text has no width of its own
  return true;
}

void fact(const char* name, const std::string& value) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextDisabled("%s", name);
  ImGui::TableNextColumn();
  wrapped(cli::printable(value));
}

void point_fact(const char* name, const Double3& p) {
  fact(name, fmt::format("{:.6g}  {:.6g}  {:.6g}", p.x, p.y, p.z));
}

bool button(const char* label, const char* help) {
  const bool pressed = ImGui::Button(label);
  tip(help);
  return pressed;
}

bool button_beside(const char* label, const char* help) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const float right =
      ImGui::GetItemRectMax().x + style.ItemSpacing.x + ImGui::CalcTextSize(label).x + 2 * style.FramePadding.x;
  if (right <= ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x) ImGui::SameLine();
  return button(label, help);
}

bool checkbox(const char* label, bool& value, const char* help, const char* why_not) {
  ImGui::BeginDisabled(why_not != nullptr);
  const bool changed = ImGui::Checkbox(label, &value);
  ImGui::EndDisabled();
  tip(why_not != nullptr ? why_not : help);
  return changed;
}

bool slider(const char* label, float& value, float least, float most, const char* format, const char* help,
            const char* why_not) {
  ImGui::BeginDisabled(why_not != nullptr);
  const bool changed = ImGui::SliderFloat(label, &value, least, most, format);
  ImGui::EndDisabled();
  tip(why_not != nullptr ? why_not : help);
  return changed;
}

bool list_row(const char* label, const std::string& help, const std::string& why_not) {
  ImGui::BeginDisabled(!why_not.empty());
  const bool chosen = ImGui::Selectable(label);
  ImGui::EndDisabled();
  tip(why_not.empty() ? help : why_not);
  return chosen;
}

bool arrow(const char* label, bool open) {
  const bool pressed = ImGui::ArrowButton(label, open ? ImGuiDir_Down : ImGuiDir_Right);
  tip(open ? "Close" : "Show what is below");
  return pressed;
}

bool begin_list(const char* label, const char* shown, const char* help) {
  const bool open = ImGui::BeginCombo(label, shown);
  if (!open) tip(help);
  return open;
}

std::size_t choose_name(const char* label, std::span<const std::string_view> names, std::size_t chosen,
                        const char* help) {
  if (!begin_list(label, names[chosen].data(), help)) return chosen;
  for (std::size_t i = 0; i != names.size(); ++i)
    if (ImGui::Selectable(names[i].data(), i == chosen)) chosen = i;
  ImGui::EndCombo();
  return chosen;
}

bool point_field(const char* label, Double3& point, const char* help) {
  std::array<double, 3> typed{point.x, point.y, point.z};
  const bool changed = ImGui::InputScalarN(label, ImGuiDataType_Double, typed.data(), 3, nullptr, nullptr, "%.6g",
                                           ImGuiInputTextFlags_EnterReturnsTrue);
  tip(help);
  if (changed) point = {typed[0], typed[1], typed[2]};
  return changed;
}

bool text_field(const char* label, const char* hint, std::span<char> buffer, const char* help, bool until_enter) {
  const bool changed = ImGui::InputTextWithHint(label, hint, buffer.data(), buffer.size(),
                                                until_enter ? ImGuiInputTextFlags_EnterReturnsTrue : 0);
  tip(help);
  return changed;
}

bool begin_lower_panel(const char* title, float wide, float left, float width, float height, float share) {
  wide = std::min(em(wide), width - left - em(kGap));
  ImGui::SetNextWindowPos({left, height - em(kGap)}, ImGuiCond_Always, {0, 1});
  ImGui::SetNextWindowSizeConstraints({wide, 0}, {wide, std::max(em(120), share * height)});
  return ImGui::Begin(title, nullptr,
                      ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoFocusOnAppearing |
                          ImGuiWindowFlags_AlwaysAutoResize);
}

}  // namespace raylift::viewer
