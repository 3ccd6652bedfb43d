// SPDX-License-Identifier: Apache-2.0
#include "panels.h"

#include <imgui.h>

#include <algorithm>

#include "cli/text.h"
#include "panel_items.h"

namespace raylift::viewer {
namespace {

constexpr ImGuiWindowFlags kPlain = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                                    ImGuiWindowFlags_AlwaysAutoResize;

template <class Content>
void tab(const char* title, const Content& content) {
  if (!ImGui::BeginTabItem(title)) return;
  content();
  ImGui::EndTabItem();
}

}  // namespace

void Panels::draw(float width, float height) {
  left_ = right_ = 0;
  if (layout_.panels) {
    draw_scene(height);
    left_ = kLeftWidth + kGap;
    right_ = kRightWidth + kGap;
    draw_image_settings(state_, layout_, width);
    if (state_.selection()) draw_selection(state_, height);
    if (layout_.legend) legend_.draw(state_, frames_, width, height);
  }
  draw_activity(width, height);
  draw_message(width, height);
  if (layout_.help) draw_help(width, height);
}

std::pair<Eigen::Vector2d, Eigen::Vector2d> Panels::free_part(float width, float) const {
  constexpr float kLeast = 0.35F;
  if (width - left_ - right_ < kLeast * width) return {{0, 0}, {1, 1}};
  return {{left_ / width, 0}, {1 - right_ / width, 1}};
}

void Panels::draw_scene(float height) {
  ImGui::SetNextWindowPos({kGap, kGap});
  ImGui::SetNextWindowSize({kLeftWidth, std::max(200.0F, 0.62F * height)}, ImGuiCond_FirstUseEver);
  if (ImGui::Begin("Scene", nullptr, ImGuiWindowFlags_NoMove) && ImGui::BeginTabBar("tabs")) {
    tab("Solids", [&] { tree_.draw(state_); });
    tab("Facts", [&] { draw_facts(state_); });
    tab("Device", [&] { draw_device(state_, frames_); });
    tab("Bookmarks", [&] { draw_bookmarks(); });
    ImGui::EndTabBar();
  }
  ImGui::End();
}

void Panels::draw_bookmarks() {
  ImGui::SetNextItemWidth(-60);
  const bool entered = ImGui::InputTextWithHint("##name", "name", bookmark_.data(), bookmark_.size(),
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  if ((ImGui::Button("add") || entered) && bookmark_[0] != '\0') {
    state_.add_bookmark(bookmark_.data());
    bookmark_[0] = '\0';
  }
  for (std::size_t i = 0; i < state_.bookmarks().size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const Bookmark bookmark = state_.bookmarks()[i];
    const bool removed = ImGui::SmallButton("x");
    ImGui::SameLine();
    if (ImGui::Selectable(cli::printable(bookmark.name).c_str())) state_.go_to(bookmark);
    ImGui::PopID();
    if (removed) {
      state_.remove_bookmark(i);
      break;
    }
  }
  if (state_.bookmarks().empty()) ImGui::TextDisabled("none yet; Ctrl+D adds one");
}

void Panels::draw_activity(float width, float height) const {
  auto [stage, share] = loader_.activity();
  const auto rays = frames_.ray_progress(state_);
  if (stage.empty() && !loader_.loading() && rays) {
    stage = "rays";
    share = *rays;
  }
  if (loader_.loading() || !stage.empty()) {
    const float left =
        layout_.panels && state_.selection() ? selection_left(state_, height) + kSelectionWidth + kGap : 0;
    ImGui::SetNextWindowPos({std::max(0.5F * width, left + 190), height - 3 * kGap}, ImGuiCond_Always, {0.5F, 1});
    if (ImGui::Begin("##activity", nullptr, kPlain)) {
      text(loader_.loading() ? "loading " + cli::printable(state_.file()) : std::string("working"));
      ImGui::ProgressBar(std::max(share, 0.0F), {360, 0}, share < 0 ? stage.c_str() : nullptr);
      if (share >= 0) ImGui::TextDisabled("%s", stage.c_str());
    }
    ImGui::End();
  } else if (!state_.scene() && state_.error().empty()) {
    ImGui::SetNextWindowPos({0.5F * width, 0.5F * height}, ImGuiCond_Always, {0.5F, 0.5F});
    if (ImGui::Begin("##drop", nullptr, kPlain))
      text("Drop a scene here: .dae, .zae, .dae.gz, .obj, .stl, .ply, .gltf ...");
    ImGui::End();
  }
}

void Panels::draw_message(float width, float height) const {
  const bool failed = !state_.error().empty();
  const std::string message = failed ? state_.error() : state_.message();
  if (message.empty()) return;
  ImGui::SetNextWindowPos({0.5F * width, kGap}, ImGuiCond_Always, {0.5F, 0});
  ImGui::SetNextWindowSizeConstraints({0, 0}, {std::max(300.0F, width - 2 * (kLeftWidth + 3 * kGap)), height});
  if (ImGui::Begin("##message", nullptr, kPlain)) {
    ImGui::PushTextWrapPos(std::max(280.0F, width - 2 * (kLeftWidth + 4 * kGap)));
    if (failed) ImGui::PushStyleColor(ImGuiCol_Text, {1, 0.55F, 0.45F, 1});
    text(cli::printable(message));
    if (failed) ImGui::PopStyleColor();
    ImGui::PopTextWrapPos();
  }
  ImGui::End();
}

void Panels::draw_help(float width, float height) {
  ImGui::SetNextWindowPos({0.5F * width, 0.5F * height}, ImGuiCond_Always, {0.5F, 0.5F});
  if (ImGui::Begin("Keys and mouse", &layout_.help, ImGuiWindowFlags_NoResize | ImGuiWindowFlags_AlwaysAutoResize)) {
    // Two controls beside each other: a window of the default height holds all.
    if (ImGui::BeginTable("keys", 4, ImGuiTableFlags_SizingFixedFit)) {
      const std::size_t rows = (controls().size() + 1) / 2;
      for (std::size_t row = 0; row < rows; ++row) {
        ImGui::TableNextRow();
        for (std::size_t i = row; i < controls().size(); i += rows) {
          ImGui::TableNextColumn();
          text(controls()[i].all_names());
          ImGui::TableNextColumn();
          text(std::string(controls()[i].help) + "  ");
        }
      }
      ImGui::EndTable();
    }
  }
  ImGui::End();
}

}  // namespace raylift::viewer
