// SPDX-License-Identifier: Apache-2.0
#include "window/panels/panels.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "cli/text.h"
#include "model/colors/color_map.h"
#include "model/solids/display_name.h"
#include "model/word_help.h"
#include "window/controls/solid_menu.h"
#include "window/items/icons.h"
#include "window/items/panel_items.h"
#include "window/panels/overlap_panel.h"
#include "window/panels/toolbar.h"

namespace raylift::viewer {
namespace {

constexpr ImGuiWindowFlags kPlain = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                                    ImGuiWindowFlags_AlwaysAutoResize;

using Section = WindowLayout::Section;
using Tab = WindowLayout::Tab;

constexpr TabItem kTabs[] = {
    {icon::kSolids, "Solids", "The tree of solids"},
    {icon::kSurfaces, "Surfaces", "The boundaries between materials, and their optical surfaces"},
    {icon::kLight, "Light", "Photons: what is drawn, and at what time"},
    {icon::kProperties, "File", "The properties of the file, and the flaws and overlaps of the scene"},
    {icon::kDevice, "Device", "Memory of the device, and times of the images"},
    {icon::kBookmarks, "Bookmarks", "Views that are kept, and the last files"}};

/// A row of a toolbar's menu, with the key that does the same.
bool menu_row(const KeyedRow& row, bool on = false) {
  return ImGui::MenuItem(row.label, key_of(row.help).c_str(), on);
}

}  // namespace

void Panels::draw(float width, float height) {
  const bool measuring = state_.measuring().active() || !state_.settings().measured.empty();
  const bool chosen = state_.selection() || state_.photons().selection();
  const bool panels = layout_.panels;
  if (layout_.scale != WindowLayout::Scale::none) layout_.legend = true;
  if (layout_.legend && (!legend_before_ || layout_.scale != WindowLayout::Scale::none)) docks_.use(Panel::legend);
  legend_before_ = layout_.legend;
  docks_.place(width, height, panels,
               {panels && layout_.scene, panels && chosen, panels && measuring, panels && layout_.image,
                panels && layout_.legend && legend_.update(state_, frames_)});
  tree_shown_ = false;
  if (panels) {
    draw_clip_handles(state_, width, height);
    draw_tools();
    draw_scene();
    if (chosen) draw_selected();
    if (measuring) draw_measurement();
    draw_image();
    draw_legend();
  }
  // Marks belong to the search that is seen, or to solids that are selected together.
  if (!tree_shown_ && !(state_.selection() && state_.selection()->is_set())) state_.selection().mark_found({});
  draw_activity(height);
  draw_message(height);
  open_.draw(state_, layout_, width, height);
}

std::optional<std::size_t> Panels::handle_under(const Cursor& cursor) const {
  const auto& clip = state_.settings().clip_box;
  if (!layout_.panels || !clip) return std::nullopt;
  return viewer::handle_under(state_.camera(), clip->box, cursor, static_cast<double>(em(1)));
}

std::pair<Eigen::Vector2d, Eigen::Vector2d> Panels::free_part(float width, float) const {
  const Rectangle& free = docks_.layout().free;
  if (free.empty()) return {{0, 0}, {1, 1}};
  return {{free.left / width, 0}, {free.right / width, 1}};
}

void Panels::draw_tools() {
  const auto toggle = [this](Panel panel, bool& open) {
    return [this, panel, &open] {
      open = !docks_.shown(panel);
      if (open) docks_.use(panel);
    };
  };
  const auto section = [this](Section which) {
    return [this, which] {
      bool& open = layout_.open(which);
      open = !(open && docks_.shown(Panel::image));
      if (!open) return;
      layout_.image = true;
      layout_.reveal = which;
      docks_.use(Panel::image);
    };
  };
  const auto tab = [this](Tab which) {
    return [this, which] {
      layout_.scene = !(docks_.shown(Panel::scene) && layout_.tab == which);
      if (!layout_.scene) return;
      layout_.next_tab = which;
      docks_.use(Panel::scene);
    };
  };
  const auto sectioned = [&](Section which) { return docks_.shown(Panel::image) && layout_.open(which); };
  const auto tabbed = [&](Tab which) { return docks_.shown(Panel::scene) && layout_.tab == which; };
  const bool measuring = state_.measuring().active();
  draw_toolbar(docks_.layout().toolbar,
               {{icon::kOpen, "Open", "Open a scene", "Open a scene (Ctrl+O)", layout_.opening, false,
                 [&] { layout_.opening = true; }},
                {icon::kView,
                 "View",
                 "Look from a side",
                 "Standard views, and what is framed",
                 false,
                 true,
                 {},
                 [&] { draw_view_menu(); }},
                {icon::kClip, "Clip", "Clip the scene", "Clipping planes and the clipping box (X, Ctrl+X)",
                 sectioned(Section::clipping), false, section(Section::clipping)},
                {icon::kMeasure, "Meas.", "Measure", "Measure distances and angles (Y)", measuring, false,
                 [&] { state_.measuring().set_active(!measuring); }},
                {icon::kLight, "Light", "Show photons", "Photons: what is drawn, and at what time", tabbed(Tab::light),
                 false, tab(Tab::light)},
                {icon::kRayCast,
                 "Rays",
                 "Cast rays",
                 "Ray casting (K)",
                 state_.settings().ray_cast != RayMode::off,
                 false,
                 {},
                 [&] { draw_ray_menu(); }},
                {icon::kPicture,
                 "Image",
                 "Save the image",
                 "Save the image, and what is drawn over it",
                 false,
                 false,
                 {},
                 [&] { draw_picture_menu(); }},
                {icon::kSolids, "Solids", "Find solids", "The tree of solids, and their search (Ctrl+F)",
                 tabbed(Tab::solids), true, tab(Tab::solids)},
                {icon::kImage, "Look", "Choose colours", "How the scene is drawn", docks_.shown(Panel::image), false,
                 toggle(Panel::image, layout_.image)},
                {icon::kLegend, "Key", "Show the legend", "The legend of the colours (J)", docks_.shown(Panel::legend),
                 false, toggle(Panel::legend, layout_.legend)},
                {icon::kCommands, "Cmd", "Find a command", "All commands, by their names (Ctrl+P)", layout_.palette,
                 true, [&] { layout_.palette = !layout_.palette; }},
                {icon::kHelp, "Help", "Show the keys", "Keys and mouse (H)", layout_.help, false,
                 [&] { layout_.help = !layout_.help; }}});
}

void Panels::draw_view_menu() {
  for (std::size_t i = 0; i != kViewRows.size(); ++i)
    if (menu_row(kViewRows[i])) state_.viewpoint().look(standard_view(kViewNames[i]));
  ImGui::Separator();
  const bool orthographic = state_.camera().orthographic;
  if (menu_row(kOrthographicRow, orthographic)) state_.viewpoint().set_orthographic(!orthographic);
  ImGui::Separator();
  if (menu_row(kFirstViewRow)) state_.viewpoint().go_home();
  if (menu_row(kFrameSceneRow)) state_.viewpoint().frame_all();
  if (menu_row(kFrameSelectionRow)) state_.viewpoint().focus_selection();
}

void Panels::draw_ray_menu() {
  for (std::size_t i = 0; i != kRayModeNames.size(); ++i) {
    const auto mode = static_cast<RayMode>(i);
    if (ImGui::MenuItem(std::string(kRayModeNames[i]).c_str(), nullptr, state_.settings().ray_cast == mode))
      state_.change_settings([&](Settings& s) { s.ray_cast = mode; });
    tip(explained(kRayWords, kRayModeNames[i]));
  }
}

void Panels::draw_picture_menu() {
  if (menu_row(kSaveRow)) frames_.save_new_image(state_);
  for (const int scale : {2, 4}) {
    const Resolution& window = state_.framebuffer();
    const std::string label = fmt::format("Save at {} x {} pixels", scale * window.width, scale * window.height);
    if (ImGui::MenuItem(label.c_str())) frames_.save_new_image(state_, ".png", scale);
  }
  if (ImGui::MenuItem("Save the outlines as SVG")) frames_.save_new_image(state_, ".svg");
  ImGui::Separator();
  const Settings& s = state_.settings();
  if (ImGui::BeginMenu("Background")) {
    for (const auto& [label, name] : {std::pair("Dark", "dark"),
                                      {"Light", "light"},
                                      {"White", "white"},
                                      {"Black", "black"},
                                      {"Transparent", "none"}}) {
      const Background one = parse_background(name);
      if (ImGui::MenuItem(label, nullptr, s.background == one))
        state_.change_settings([&](Settings& changed) { changed.background = one; });
      if (!one.transparent && !ground_of(one).dark())
        tip("On a light background, scales of colours run the other way round: what stands out is dark");
    }
    ImGui::EndMenu();
  }
  if (ImGui::MenuItem("Axes", nullptr, s.axes))
    state_.change_settings([](Settings& changed) { changed.axes = !changed.axes; });
  if (ImGui::MenuItem("Scale bar", nullptr, s.scale_bar))
    state_.change_settings([](Settings& changed) { changed.scale_bar = !changed.scale_bar; });
  if (menu_row(kLegendRow, layout_.legend)) layout_.legend = !layout_.legend;
  ImGui::Separator();
  if (menu_row(kFullScreenRow, layout_.full_screen)) layout_.full_screen = !layout_.full_screen;
}

void Panels::draw_scene() {
  // Where the panel has no room for its lines of tabs, search, count and buttons, they are one, which leaves the rest
  // to the tree. The other form must not seem to fit then: the panel would change between both.
  constexpr float kShort = 290, kLines = 110;  // units: a panel with five rows, and more than these lines take
  const bool compact = docks_.squeezed(Panel::scene, kShort);
  float more = compact ? em(kLines) : 0;
  if (docks_.begin(Panel::scene, "Scene", layout_.scene)) {
    if (layout_.next_tab) layout_.tab = *std::exchange(layout_.next_tab, std::nullopt);
    auto chosen = static_cast<std::size_t>(layout_.tab);
    if (compact ? tab_list(kTabs, chosen) : tabs(kTabs, chosen)) layout_.tab = static_cast<Tab>(chosen);
    ImGui::PushID(static_cast<int>(chosen));
    switch (layout_.tab) {
      case Tab::solids:
        tree_shown_ = true;
        more += tree_.draw(state_, layout_.search, compact);
        break;
      case Tab::surfaces:
        surfaces_.draw(state_);
        break;
      case Tab::light:
        light_.draw(state_, frames_, layout_);
        break;
      case Tab::properties:
        draw_properties(state_);
        draw_overlaps(state_);
        break;
      case Tab::device:
        draw_device(state_, frames_);
        break;
      case Tab::bookmarks:
        draw_bookmarks();
        break;
    }
    ImGui::PopID();
  }
  docks_.end(Panel::scene, more);
}

void Panels::draw_selected() {
  bool open = true;
  const bool photon = state_.photons().selection().has_value();
  if (docks_.begin(Panel::selection, photon ? "Photon###selection" : "Selection###selection", open))
    photon ? draw_photon(state_) : draw_selection(state_);
  docks_.end(Panel::selection);
  if (!open) state_.selection().select(std::nullopt);
}

void Panels::draw_measurement() {
  bool open = true;
  if (docks_.begin(Panel::measurement, "Measurement", open)) draw_measured(state_);
  docks_.end(Panel::measurement);
  if (!open) state_.measuring().set_active(false);
}

void Panels::draw_image() {
  if (docks_.begin(Panel::image, "Image", layout_.image)) draw_image_settings(state_, layout_, scroll_);
  docks_.end(Panel::image);
}

void Panels::draw_legend() {
  if (docks_.begin(Panel::legend, "Legend", layout_.legend)) legend_.draw(state_, layout_);
  docks_.end(Panel::legend);
}

void Panels::draw_bookmarks() {
  ImGui::SetNextItemWidth(em(-60));
  const bool entered = text_field("##name", "name", bookmark_, "The name of a new bookmark", true);
  ImGui::SameLine();
  if ((button("Add", "Keep this view, and what is hidden, by this name (Ctrl+D; Ctrl+0 to Ctrl+9 with a key)") ||
       entered) &&
      bookmark_[0] != '\0') {
    state_.add_bookmark(bookmark_.data());
    bookmark_[0] = '\0';
  }
  for (std::size_t i = 0; i < state_.bookmarks().all().size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const Bookmark bookmark = state_.bookmarks().all()[i];
    ImGui::BeginGroup();
    const float side = ImGui::GetFrameHeight();
    if (tool_button(icon::kRename, "Aa", "Rename this bookmark", renaming_ == bookmark.name, side)) {
      renaming_ = bookmark.name;
      renamed_.fill('\0');
      bookmark.name.copy(renamed_.data(), renamed_.size() - 1);
    }
    const bool removed = tool_button(icon::kRemove, "x", "Remove this bookmark", false, side);
    ImGui::EndGroup();
    ImGui::SameLine();
    if (draw_bookmark(bookmark)) state_.go_to(bookmark);
    if (renaming_ == bookmark.name) draw_renaming(i);
    ImGui::PopID();
    if (removed) {
      state_.remove_bookmark(i);
      renaming_.reset();
      break;
    }
  }
  if (state_.bookmarks().all().empty()) ImGui::TextDisabled("none yet; Ctrl+D keeps this view");
  draw_recent_files();
}

/// A field for the new name; Enter sets it.
void Panels::draw_renaming(std::size_t index) {
  ImGui::SetNextItemWidth(-1);
  if (!ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
  if (text_field("##rename", "name", renamed_, "The new name; Enter sets it, Escape keeps the one before", true)) {
    state_.rename_bookmark(index, renamed_.data());
    renaming_.reset();
  } else if (ImGui::IsItemDeactivated()) {
    renaming_.reset();
  }
}

/// A row with image, key and name; true where it was clicked.
bool Panels::draw_bookmark(const Bookmark& bookmark) {
  constexpr float kImageHeight = 54;
  const Thumbnails::Picture* picture = thumbnails_.find(state_.bookmarks().thumbnail_file(bookmark.name));
  const float high = em(kImageHeight);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const bool clicked = ImGui::Selectable("##bookmark", false, 0, {0, high});
  tip(bookmark.key ? "Go to this view (" + std::to_string(*bookmark.key) + ")" : "Go to this view");
  float left = corner.x;
  const float middle = corner.y + 0.5F * (high - ImGui::GetTextLineHeight());
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (picture != nullptr) {
    const float wide = high * static_cast<float>(picture->width) / static_cast<float>(picture->height);
    list.AddImage(reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(picture->texture.name())), corner,
                  {corner.x + wide, corner.y + high});
    left += wide + em(8);
  }
  if (bookmark.key)
    list.AddText({left, middle}, ImGui::GetColorU32(ImGuiCol_TextDisabled), std::to_string(*bookmark.key).c_str());
  list.AddText({left + em(16), middle}, ImGui::GetColorU32(ImGuiCol_Text), cli::printable(bookmark.name).c_str());
  return clicked;
}

void Panels::draw_recent_files() {
  constexpr auto kLookAgain = std::chrono::seconds(2);  // not in each frame: a file may be on a slow disk
  ImGui::Separator();
  ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("Recent files");
  ImGui::SameLine();
  if (button("Open ...", "Open another file (Ctrl+O)")) layout_.opening = true;
  const auto now = std::chrono::steady_clock::now();
  const bool same =
      std::equal(recent_.begin(), recent_.end(), state_.recent_files().begin(), state_.recent_files().end(),
                 [](const RecentFile& shown, const std::string& path) { return shown.path == path; });
  if (now >= recent_until_ || !same) {
    recent_.clear();
    for (const std::string& file : state_.recent_files()) recent_.push_back({file, why_not_opened(file)});
    recent_until_ = now + kLookAgain;
  }
  std::string opened;
  for (std::size_t i = 0; i != recent_.size(); ++i) {
    const auto& [path, why_not] = recent_[i];
    ImGui::PushID(static_cast<int>(i) + 1000);
    const std::string name = cli::printable(std::filesystem::path(path).filename().string());
    if (list_row(name.c_str(), cli::printable(path), why_not.empty() ? "" : cli::printable(path) + ": " + why_not))
      opened = path;
    ImGui::PopID();
  }
  if (!opened.empty()) state_.open(opened);
}

std::string Panels::new_names() {
  std::string names = open_.new_names();
  if (named_ == state_.recent_files()) return names;
  named_ = state_.recent_files();
  for (const std::string& file : named_) names += file;
  return names;
}

void Panels::draw_activity(float height) {
  SceneLoader::Activity work = loader_.activity();
  const auto rays = frames_.ray_progress(state_);
  if (work.what.empty() && rays) work = {"casting rays", "", *rays, false};
  if (!work.what.empty()) {
    const Rectangle& at = docks_.layout().progress;
    ImGui::SetNextWindowPos({0.5F * (at.left + at.right), at.bottom}, ImGuiCond_Always, {0.5F, 1});
    if (ImGui::Begin("##activity", nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove |
                         ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_AlwaysAutoResize)) {
      text(cli::printable(work.what));
      const float bar = std::max(em(40), std::min(em(300), at.width() - em(90)));
      ImGui::ProgressBar(std::max(work.share, 0.0F), {bar, 0}, work.share < 0 ? work.stage.c_str() : nullptr);
      if (work.can_stop) {
        ImGui::SameLine();
        if (button("Cancel", loader_.loading() ? "Stop reading this file (Escape)" : "Stop this work"))
          loader_.cancel();
      }
      if (work.share >= 0 && !work.stage.empty()) ImGui::TextDisabled("%s", work.stage.c_str());
    }
    ImGui::End();
  } else if (const auto share = frames_.drawn_share()) {
    const Rectangle& free = docks_.layout().free;
    ImGui::SetNextWindowPos({0.5F * (free.left + free.right), height - 3 * em(kGap)}, ImGuiCond_Always, {0.5F, 1});
    if (ImGui::Begin("##drawing", nullptr, kPlain)) text(fmt::format("drawing {:.0f} %", 100 * *share));
    ImGui::End();
  } else if (!state_.scene() && state_.messages().error().empty()) {
    const Rectangle& free = docks_.layout().free;
    ImGui::SetNextWindowPos({0.5F * (free.left + free.right), 0.5F * height}, ImGuiCond_Always, {0.5F, 0.5F});
    if (ImGui::Begin("##drop", nullptr, kPlain))
      text("Drop a scene here: .dae, .zae, .dae.gz, .gdml, .obj, .stl, .ply, .gltf ...\nor open one: Ctrl+O");
    ImGui::End();
  }
}

void Panels::draw_message(float height) const {
  const bool failed = !state_.messages().error().empty();
  const std::string message = failed ? state_.messages().error() : state_.messages().text();
  if (message.empty()) return;
  const Rectangle& at = docks_.layout().message;
  ImGui::SetNextWindowPos({0.5F * (at.left + at.right), at.top}, ImGuiCond_Always, {0.5F, 0});
  ImGui::SetNextWindowSizeConstraints({0, 0}, {std::max(em(60), at.width()), height});
  if (ImGui::Begin("##message", nullptr, kPlain)) {
    ImGui::PushTextWrapPos(std::max(em(50), at.width() - 2 * ImGui::GetStyle().WindowPadding.x));
    failed ? text_error(cli::printable(message)) : text(cli::printable(message));
    ImGui::PopTextWrapPos();
  }
  ImGui::End();
}

void draw_solid_menu(const ControlTarget& to) {
  using Menu = WindowLayout::Menu;
  constexpr const char* kPopup = "menu of a solid";
  Menu& menu = to.layout.menu;
  if (menu == Menu::opening) ImGui::OpenPopup(kPopup);
  if (!ImGui::BeginPopup(kPopup)) {
    menu = Menu::closed;
    return;
  }
  const std::vector<MenuRow> rows = solid_menu(to.state);
  if (menu == Menu::closed || rows.empty()) ImGui::CloseCurrentPopup();
  menu = rows.empty() ? Menu::closed : menu == Menu::opening ? Menu::open : menu;
  const MenuRow* chosen = nullptr;
  if (!rows.empty()) ImGui::TextDisabled("%s", cli::printable(display_name(to.state.selection()->name)).c_str());
  for (const MenuRow& row : rows) {
    if (row.first) ImGui::Separator();
    if (ImGui::MenuItem(std::string(row.label).c_str(), std::string(row.key).c_str(), row.chosen)) chosen = &row;
  }
  ImGui::EndPopup();
  if (chosen != nullptr) chosen->act(to);
}

}  // namespace raylift::viewer
