// SPDX-License-Identifier: Apache-2.0
// The items of panels. All controls are made here, so that each has a tip.
#include "window/items/panel_items.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <vector>

#include "cli/text.h"
#include "model/solids/display_name.h"
#include "model/word_help.h"
#include "window/items/icons.h"
#include "window/layout/dock_layout.h"
#include "window/layout/tab_places.h"
#include "window/layout/tip_place.h"

namespace raylift::viewer {
namespace {

constexpr float kTipWidth = 320;

/// How long the cursor has been on the control that was hovered last: in the storage of ImGui's own window, which each
/// frame has.
class TipClock {
 public:
  /// In the frame of the last item, which is hovered: whether the cursor has been on it for the delay.
  bool rests() {
    const ImVec2 low = ImGui::GetItemRectMin();
    const std::array<float, 4> place{low.x, low.y, ImGui::GetWindowPos().x, ImGui::GetWindowPos().y};
    const auto item = static_cast<int>(ImHashData(place.data(), sizeof place));
    const int frame = ImGui::GetFrameCount();
    if (kept_.GetInt(kItem) != item || frame > kept_.GetInt(kFrame) + 1) kept_.SetFloat(kSince, now());
    kept_.SetInt(kItem, item);
    kept_.SetInt(kFrame, frame);
    return now() >= kept_.GetFloat(kSince) + kDelay;
  }
  /// Seconds until its tooltip appears; none where it has, or nothing is hovered.
  [[nodiscard]] std::optional<double> rest() const {
    const float left = kept_.GetFloat(kSince) + kDelay - now();
    if (kept_.GetInt(kFrame, -1) != ImGui::GetFrameCount() || left <= 0) return std::nullopt;
    return static_cast<double>(left);
  }

 private:
  static constexpr float kDelay = 0.45F;                       // seconds
  static constexpr ImGuiID kItem = 1, kFrame = 2, kSince = 3;  // of the storage
  static constexpr double kRound = 16384;                      // seconds: floats stay exact to a millisecond
  static float now() { return static_cast<float>(std::fmod(ImGui::GetTime(), kRound)); }

  ImGuiStorage& kept_ = ImGui::FindWindowByName("Debug##Default")->StateStorage;
};

/// The name of a field whose label stands before it.
std::string hidden(const char* label) {
  return std::strstr(label, "##") == label ? label : std::string("##") + label;
}

}  // namespace

float em(float length) {
  return length * ImGui::GetFontSize() / kFontSize;
}

const Theme& theme_now() {
  return theme(ImGui::GetStyleColorVec4(ImGuiCol_Text).x < 0.5F);
}

ImVec4 ink(const Color& color, float alpha) {
  return {color[0], color[1], color[2], alpha};
}

bool section(const char* title, bool& open) {
  ImGui::Separator();
  ImGui::SetNextItemOpen(open);
  ImGui::PushStyleColor(ImGuiCol_Text, ink(theme_now().accent));
  open = ImGui::TreeNodeEx(
      title, ImGuiTreeNodeFlags_SpanAvailWidth | ImGuiTreeNodeFlags_NoTreePushOnOpen | ImGuiTreeNodeFlags_FramePadding);
  ImGui::PopStyleColor();
  tip(open ? "Close this section" : "Open this section");
  return open;
}

void SectionScroll::end(std::size_t section, float top, bool wanted) {
  constexpr int kFrames = 4;
  const float bottom = ImGui::GetCursorPosY(), height = (bottom - top) / em(1);
  std::optional<float>& before = heights_[section];
  if (wanted || (before && height > *before + 1)) {
    last_ = section;
    frames_ = kFrames;
  }
  before = height;
  if (frames_ == 0 || last_ != section) return;
  --frames_;
  const float pad = ImGui::GetStyle().WindowPadding.y, title = ImGui::GetFrameHeight();
  const float least = bottom + pad - ImGui::GetWindowHeight(), most = top - pad - title;
  // Where the section is higher than the panel, its heading stays.
  ImGui::SetScrollY(std::max(0.0F, std::min(std::max(ImGui::GetScrollY(), least), most)));
}

void hint_more() {
  constexpr float kShade = 22, kSide = 6, kMark = 5, kHidden = 4;
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 full = ImGui::GetColorU32(ink(theme_now().ground)), none = full & ~IM_COL32_A_MASK;
  const float left = at.x + em(kSide), right = at.x + size.x - ImGui::GetStyle().ScrollbarSize, r = em(kMark);
  const float middle = 0.5F * (left + right);
  if (ImGui::GetScrollMaxY() - ImGui::GetScrollY() > em(kHidden)) {
    const float low = at.y + size.y - 1, high = std::max(at.y, low - em(kShade));
    list.AddRectFilledMultiColor({left, high}, {right, low}, none, none, full, full);
    list.AddTriangleFilled({middle - 1.4F * r, low - 2 * r}, {middle + 1.4F * r, low - 2 * r}, {middle, low - 0.7F * r},
                           ImGui::GetColorU32(ink(theme_now().accent)));
  }
}

bool tabs(std::span<const TabItem> items, std::size_t& chosen) {
  constexpr float kPadding = 4, kBetween = 2;
  const float gap = em(kBetween), high = ImGui::GetFrameHeight(), icon = has_icons() ? high : 0;
  std::vector<TabWish> wishes;
  for (const TabItem& item : items) wishes.push_back({ImGui::CalcTextSize(item.word).x + 2 * em(kPadding), icon});
  const std::vector<TabPlace> places = place_tabs(wishes, chosen, ImGui::GetContentRegionAvail().x, gap);
  const ImVec2 at = ImGui::GetCursorPos();
  bool changed = false;
  for (std::size_t i = 0; i != items.size(); ++i) {
    const bool on = i == chosen;
    ImGui::SetCursorPos({at.x + places[i].left, at.y + static_cast<float>(places[i].row) * (high + gap)});
    ImGui::PushID(items[i].word);
    ImGui::PushStyleColor(ImGuiCol_Button, ink(on ? theme_now().chosen : theme_now().ground, on ? 1 : 0));
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, ImGui::GetStyle().FramePadding.y});
    if (ImGui::Button(places[i].word ? items[i].word : items[i].icon, {places[i].width, high})) {
      changed |= !on;
      chosen = i;
    }
    ImGui::PopStyleVar(2);
    ImGui::PopStyleColor();
    ImGui::PopID();
    tip(places[i].word ? items[i].help : std::string(items[i].word) + ": " + items[i].help);
  }
  ImGui::Separator();
  return changed;
}

void tip(const std::string& words) {
  if (words.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) || !TipClock().rests()) return;
  const float wrap = em(kTipWidth), gap = em(kGap);
  const std::string lines = broken_lines(words, wrap);
  const ImVec2 text_size = ImGui::CalcTextSize(lines.c_str(), nullptr, false, wrap);
  const ImVec2 padding = ImGui::GetStyle().WindowPadding, window = ImGui::GetIO().DisplaySize;
  const auto rectangle = [](const ImVec2& low, const ImVec2& high) { return Rectangle{low.x, low.y, high.x, high.y}; };
  const ImVec2 corner = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const Rectangle at = tip_place({rectangle(ImGui::GetItemRectMin(), ImGui::GetItemRectMax()),
                                  rectangle(corner, {corner.x + size.x, corner.y + size.y}),
                                  text_size.x + 2 * padding.x, text_size.y + 2 * padding.y, window.x, window.y, gap});
  ImGui::SetNextWindowPos({at.left, at.top});
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(wrap + padding.x);
  text(lines);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

std::optional<double> seconds_to_tip() {
  return TipClock().rest();
}

bool tab_list(std::span<const TabItem> items, std::size_t& chosen) {
  const auto name = [](const TabItem& item) { return has_icons() ? item.icon : item.word; };
  ImGui::SetNextItemWidth(ImGui::CalcTextSize(name(items[chosen])).x + 2 * ImGui::GetStyle().FramePadding.x +
                          ImGui::GetFrameHeight());
  if (!ImGui::BeginCombo("##tabs", name(items[chosen]), ImGuiComboFlags_HeightLargest)) {
    tip(std::string(items[chosen].word) + ": " + items[chosen].help);
    return false;
  }
  const std::size_t before = chosen;
  for (std::size_t i = 0; i != items.size(); ++i) {
    const std::string label = (has_icons() ? std::string(items[i].icon) + "  " : std::string()) + items[i].word;
    if (ImGui::Selectable(label.c_str(), i == chosen)) chosen = i;
    tip(items[i].help);
  }
  ImGui::EndCombo();
  return chosen != before;
}

std::string with_micro(std::string words) {
  for (const char* unit : {"um", "us"})
    if (words == unit || words.ends_with(std::string(" ") + unit)) words.replace(words.size() - 2, 1, "µ");
  return words;
}

void field_label(const char* label) {
  constexpr float kColumn = 104, kShare = 0.4F;
  const char* end = std::strstr(label, "##");
  if (end == nullptr) end = label + std::strlen(label);
  if (end == label) return;
  const float start = ImGui::GetCursorPosX();
  const float column = std::max(std::min(em(kColumn), kShare * ImGui::GetContentRegionAvail().x),
                                ImGui::CalcTextSize(label, end).x + ImGui::GetStyle().ItemInnerSpacing.x);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(label, end);
  ImGui::SameLine(start + column);
  ImGui::SetNextItemWidth(-FLT_MIN);
}

void text(const std::string& words) {
  ImGui::TextUnformatted(words.data(), words.data() + words.size());
}

std::string broken_lines(const std::string& words, float room) {
  std::string lines;
  std::size_t line = 0;  // where the last one begins
  const auto fits = [&](const std::string& more) {
    return ImGui::CalcTextSize((lines.substr(line) + more).c_str()).x <= room;
  };
  const auto new_line = [&] {
    lines += '\n';
    line = lines.size();
  };
  for (std::size_t at = 0; at < words.size();) {
    if (words[at] == '\n') {
      new_line();
      ++at;
      continue;
    }
    const std::size_t end = std::min(words.find_first_of(" \n", words.find_first_not_of(' ', at)), words.size());
    std::string word = words.substr(at, end - at);
    at = end;
    if (lines.size() > line && !fits(word)) {
      new_line();
      word.erase(0, word.find_first_not_of(' '));
    }
    // A path that is wider than a line breaks before its names.
    for (std::size_t from = 0; from < word.size();) {
      const std::size_t to = fits(word.substr(from)) ? word.size() : std::min(word.find('/', from + 1), word.size());
      const std::string part = word.substr(from, to - from);
      if (from != 0 && !fits(part)) new_line();
      lines += part;
      from = to;
    }
  }
  return lines;
}

void wrapped(const std::string& words) {
  const std::string lines = broken_lines(words, ImGui::GetContentRegionAvail().x);
  ImGui::PushTextWrapPos();
  text(lines);
  ImGui::PopTextWrapPos();
}

void text_error(const std::string& words) {
  ImGui::PushStyleColor(ImGuiCol_Text, ink(theme_now().error));
  text(words);
  ImGui::PopStyleColor();
}

bool begin_facts(const char* id) {
  if (!ImGui::BeginTable(id, 2)) return false;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);  // wrapped text has no width of its own
  return true;
}

void fact(const char* name, const std::string& value, const std::string& whole) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextDisabled("%s", name);
  ImGui::TableNextColumn();
  wrapped(cli::printable(value));
  if (!whole.empty() && whole != value) tip(cli::printable(whole));
}

void name_fact(const char* name, const std::string& value) {
  // A surface is followed by the rule that chose it: "Mirror0x5f, skin of the solid".
  const std::size_t end = std::min(value.find(", "), value.size());
  fact(name, display_name(value.substr(0, end)) + value.substr(end), value);
}

std::string capital(std::string words) {
  if (!words.empty() && words.front() >= 'a' && words.front() <= 'z') words.front() += 'A' - 'a';
  return words;
}

void point_fact(const char* name, const Double3& p) {
  fact(name, fmt::format("{:.9g}  {:.9g}  {:.9g}", p.x, p.y, p.z));
}

bool button(const char* label, const char* help, const char* why_not) {
  ImGui::BeginDisabled(why_not != nullptr);
  const bool pressed = ImGui::Button(label);
  ImGui::EndDisabled();
  tip(why_not != nullptr ? why_not : help);
  return pressed;
}

bool button_beside(const char* label, const char* help, const char* why_not) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const float right =
      ImGui::GetItemRectMax().x + style.ItemSpacing.x + ImGui::CalcTextSize(label).x + 2 * style.FramePadding.x;
  if (right <= ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x) ImGui::SameLine();
  return button(label, help, why_not);
}

bool checkbox(const char* label, bool& value, const char* help, const char* why_not) {
  ImGui::BeginDisabled(why_not != nullptr);
  const bool changed = ImGui::Checkbox(label, &value);
  ImGui::EndDisabled();
  tip(why_not != nullptr ? why_not : help);
  return changed;
}

bool slider(const char* label, float& value, float least, float most, const char* format, const char* help,
            const char* why_not, float limit) {
  constexpr float kNumber = 80, kShare = 0.55F;  // of the room
  constexpr float kLeastRoom = 100;              // beside the label; else the slider is below it
  ImGui::BeginDisabled(why_not != nullptr);
  field_label(label);
  if (ImGui::GetContentRegionAvail().x < em(kLeastRoom)) ImGui::NewLine();
  ImGui::BeginGroup();
  const ImGuiStyle& style = ImGui::GetStyle();
  // A number can be typed where the text is the value, and not a word or another quantity.
  const bool typed = std::string_view(format).find("%.") != std::string_view::npos;
  const float room = ImGui::GetContentRegionAvail().x;
  const float words = typed ? 0 : ImGui::CalcTextSize(format).x;
  const float number = std::min(std::max(em(kNumber), words), kShare * room);
  ImGui::SetNextItemWidth(room - number - style.ItemInnerSpacing.x);
  bool changed = ImGui::SliderFloat(hidden(label).c_str(), &value, least, most, "", ImGuiSliderFlags_NoInput);
  ImGui::SameLine(0, style.ItemInnerSpacing.x);
  ImGui::SetNextItemWidth(number);
  if (typed) {
    float exact = value;
    if (ImGui::InputFloat((hidden(label) + " number").c_str(), &exact, 0, 0, format,
                          ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll)) {
      value = std::clamp(exact, least, std::max(most, limit));
      changed = true;
    }
  } else {
    ImGui::AlignTextToFramePadding();
    text(format);
  }
  ImGui::EndGroup();
  ImGui::EndDisabled();
  tip(why_not != nullptr ? why_not : help);
  return changed;
}

bool tool_button(const char* icon, const char* word, const std::string& help, bool on, float side) {
  ImGui::PushID(word);
  ImGui::PushStyleColor(ImGuiCol_Button, ink(on ? theme_now().chosen : theme_now().ground, on ? 1 : 0));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, 0});
  constexpr float kWords = 0.72F;
  if (!has_icons()) ImGui::SetWindowFontScale(kWords);
  const bool pressed = ImGui::Button(has_icons() ? icon : word, {side, side});
  ImGui::SetWindowFontScale(1);
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
  ImGui::PopID();
  tip(help);
  return pressed;
}

bool list_row(const char* label, const std::string& help, const std::string& why_not) {
  ImGui::BeginDisabled(!why_not.empty());
  const bool chosen = ImGui::Selectable(label);
  ImGui::EndDisabled();
  tip(why_not.empty() ? help : why_not);
  return chosen;
}

bool arrow(const char* label, bool open, float wide) {
  const bool pressed = ImGui::InvisibleButton(label, {wide, ImGui::GetFrameHeight()});
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const ImVec2 middle(0.5F * (low.x + high.x), 0.5F * (low.y + high.y));
  const float r = em(4);
  const ImU32 color = ImGui::GetColorU32(ImGui::IsItemHovered() ? ImGuiCol_Text : ImGuiCol_TextDisabled);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (open)
    list.AddTriangleFilled({middle.x - r, middle.y - 0.5F * r}, {middle.x + r, middle.y - 0.5F * r},
                           {middle.x, middle.y + 0.75F * r}, color);
  else
    list.AddTriangleFilled({middle.x - 0.5F * r, middle.y - r}, {middle.x + 0.75F * r, middle.y},
                           {middle.x - 0.5F * r, middle.y + r}, color);
  tip(open ? "Close" : "Show what is below");
  return pressed;
}

bool has_icons() {
  return ImGui::GetFont()->FindGlyphNoFallback(icon::kFirst + 0x7C) != nullptr;
}

bool visibility_box(bool& shown, bool partly) {
  constexpr const char* kHelp = "Whether this solid, and what is below it, is shown";
  if (!has_icons()) {
    if (partly) ImGui::PushStyleColor(ImGuiCol_CheckMark, ink(theme_now().dim));
    const bool changed = checkbox("##shown", shown, kHelp);
    if (partly) ImGui::PopStyleColor();
    return changed;
  }
  ImGui::PushStyleColor(ImGuiCol_Text, ink(shown && !partly ? theme_now().text : theme_now().dim));
  const bool pressed = tool_button(shown ? icon::kShown : icon::kHidden, "##shown",
                                   partly ? "Some of what is below is hidden" : kHelp, false, ImGui::GetFrameHeight());
  ImGui::PopStyleColor();
  if (pressed) shown = !shown;
  return pressed;
}

bool begin_list(const char* label, const char* shown, const char* help) {
  field_label(label);
  const bool open = ImGui::BeginCombo(hidden(label).c_str(), shown);
  if (!open) tip(help);
  return open;
}

std::size_t choose_name(const char* label, std::span<const std::string_view> names, std::size_t chosen,
                        const char* help, std::string_view words) {
  const std::string now = explained(words, names[chosen]);
  const std::string tips = help + (now.empty() ? "" : "\n" + now);
  if (!begin_list(label, names[chosen].data(), tips.c_str())) return chosen;
  for (std::size_t i = 0; i != names.size(); ++i) {
    if (ImGui::Selectable(names[i].data(), i == chosen)) chosen = i;
    tip(explained(words, names[i]));
  }
  ImGui::EndCombo();
  return chosen;
}

bool point_field(const char* label, Double3& point, const char* help) {
  std::array<double, 3> typed{point.x, point.y, point.z};
  field_label(label);
  const bool changed = ImGui::InputScalarN(hidden(label).c_str(), ImGuiDataType_Double, typed.data(), 3, nullptr,
                                           nullptr, "%.9g", ImGuiInputTextFlags_EnterReturnsTrue);
  tip(help);
  if (changed) point = {typed[0], typed[1], typed[2]};
  return changed;
}

bool text_field(const char* label, const char* hint, std::span<char> buffer, const char* help, bool until_enter) {
  field_label(label);
  const bool changed = ImGui::InputTextWithHint(hidden(label).c_str(), hint, buffer.data(), buffer.size(),
                                                until_enter ? ImGuiInputTextFlags_EnterReturnsTrue : 0);
  tip(help);
  return changed;
}

bool search_field(const char* label, const char* hint, std::span<char> buffer, const char* help, float beside) {
  const float side = ImGui::GetFrameHeight();
  const bool typed = buffer.front() != '\0';
  ImGui::SetNextItemWidth((typed ? -side - ImGui::GetStyle().ItemSpacing.x : -1) - beside);
  bool changed = ImGui::InputTextWithHint(label, hint, buffer.data(), buffer.size(), ImGuiInputTextFlags_AutoSelectAll);
  tip(help);
  if (!typed) return changed;
  ImGui::SameLine();
  ImGui::PushID(label);
  if (ImGui::Button(has_icons() ? icon::kClear : "x", {side, side})) {
    buffer.front() = '\0';
    changed = true;
  }
  tip("Clear the search");
  ImGui::PopID();
  return changed;
}

}  // namespace raylift::viewer
