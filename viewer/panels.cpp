// SPDX-License-Identifier: Apache-2.0
#include "panels.h"

#include <fmt/format.h>
#include <imgui.h>
#include <raylift/gpu/device/pool.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/quantity.h"
#include "cli/text.h"

namespace raylift::viewer {
namespace {

constexpr float kLeftWidth = 330;
constexpr float kRightWidth = 250;
constexpr float kSelectionWidth = 390;
constexpr float kGap = 10;
constexpr std::size_t kMostFound = 5000;  // rows of a search

void text(const std::string& words) {
  ImGui::TextUnformatted(words.data(), words.data() + words.size());
}

/// A line of a table of facts.
void fact(const char* name, const std::string& value) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextDisabled("%s", name);
  ImGui::TableNextColumn();
  ImGui::PushTextWrapPos();
  text(cli::printable(value));
  ImGui::PopTextWrapPos();
}

/// The values take what width the names leave: wrapped text has none of its own.
bool begin_facts(const char* id) {
  if (!ImGui::BeginTable(id, 2)) return false;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
  return true;
}

float selection_left(const Desk& desk, float height) {
  return desk.settings.axes ? 106 * std::clamp(height / 720, 0.75F, 4.0F) : kGap;  // the axes' size: see overlay.cpp
}

std::string place(const Eigen::Vector3d& p) {
  return fmt::format("{:.6g}  {:.6g}  {:.6g}", p.x(), p.y(), p.z());
}

template <std::size_t N>
bool combo(const char* label, const std::array<std::string_view, N>& names, std::size_t& chosen) {
  bool changed = false;
  if (!ImGui::BeginCombo(label, names[chosen].data())) return false;
  for (std::size_t i = 0; i < N; ++i)
    if (ImGui::Selectable(names[i].data(), i == chosen)) {
      changed = i != chosen;
      chosen = i;
    }
  ImGui::EndCombo();
  return changed;
}

}  // namespace

const std::vector<KeyHelp>& key_help() {
  static const std::vector<KeyHelp> keys{{"left drag", "orbit"},
                                         {"right or middle drag, Shift+left", "pan"},
                                         {"Ctrl+left drag", "look around"},
                                         {"wheel", "zoom to the cursor"},
                                         {"click / double click", "select the solid under the cursor / frame it"},
                                         {"W S A D Q E", "fly; faster with Shift"},
                                         {"1 3 7, with Ctrl", "front right top; back left bottom"},
                                         {"0 / 5", "view from a corner / orthographic"},
                                         {"Home, Enter", "frame the scene"},
                                         {"F", "frame the selected solid"},
                                         {"L / U", "hide the selected solid / show all"},
                                         {"M / G / N", "wireframe / edges / flat or smooth"},
                                         {"T / B", "transparency / back faces in red"},
                                         {"X, with Shift; [ ]", "clipping plane, next axis; move it"},
                                         {"C / K", "next colouring / next ray-cast picture"},
                                         {"I", "axes and scale bar"},
                                         {"Ctrl+D", "bookmark this view"},
                                         {"R, F5", "load the file again"},
                                         {"P / F11", "panels / full screen"},
                                         {"F12", "save the picture"},
                                         {"H", "this help"},
                                         {"Ctrl+Q", "quit"}};
  return keys;
}

void Panels::draw(Desk& desk, float width, float height) {
  if (listed_ != desk.solids.get()) {
    listed_ = desk.solids.get();
    open_.clear();
    rows_stale_ = true;
  }
  if (visible) {
    ImGui::SetNextWindowPos({kGap, kGap});
    ImGui::SetNextWindowSize({kLeftWidth, std::max(200.0F, 0.62F * height)}, ImGuiCond_FirstUseEver);
    if (ImGui::Begin("Scene", nullptr, ImGuiWindowFlags_NoMove)) {
      if (ImGui::BeginTabBar("tabs")) {
        if (ImGui::BeginTabItem("Solids")) {
          draw_solids(desk);
          ImGui::EndTabItem();
        }
        if (ImGui::BeginTabItem("Facts")) {
          draw_facts(desk);
          ImGui::EndTabItem();
        }
        if (ImGui::BeginTabItem("Device")) {
          draw_device(desk);
          ImGui::EndTabItem();
        }
        if (ImGui::BeginTabItem("Bookmarks")) {
          draw_bookmarks(desk);
          ImGui::EndTabItem();
        }
        ImGui::EndTabBar();
      }
    }
    ImGui::End();
    draw_picture(desk, width);
    if (desk.selection) draw_selection(desk, height);
  }
  draw_activity(desk, width, height);
  if (help) draw_help(width, height);
}

void Panels::list_rows(const Desk& desk) {
  rows_.clear();
  rows_stale_ = false;
  const Solids& solids = *desk.solids;
  if (search_[0] != '\0') {
    for (const std::uint32_t node : solids.search(search_.data(), kMostFound)) {
      const auto own = solids.instances(node);
      rows_.push_back({node, own.empty() ? kNone : own[0], 0, false, false});
    }
    return;
  }
  struct Open {
    std::uint32_t node;
    int depth;
  };
  std::vector<Open> todo;
  const auto push_children = [&](std::uint32_t node, int depth) {
    const auto children = solids.children(node);
    for (std::size_t i = children.size(); i-- > 0;) todo.push_back({children[i], depth});
  };
  push_children(kNone, 0);
  while (!todo.empty()) {
    const Open next = todo.back();
    todo.pop_back();
    const auto own = solids.instances(next.node);
    const bool has_children = !solids.children(next.node).empty();
    const bool is_open = has_children && open_.count(next.node) != 0;
    rows_.push_back({next.node, own.empty() ? kNone : own[0], next.depth, is_open, has_children});
    if (is_open) push_children(next.node, next.depth + 1);
  }
  for (const std::uint32_t instance : solids.instances(kNone)) rows_.push_back({kNone, instance, 0, false, false});
}

void Panels::draw_solids(Desk& desk) {
  if (!desk.solids) return ImGui::TextDisabled("no scene");
  Solids& solids = *desk.solids;
  const Scene& scene = *desk.scene;
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputTextWithHint("##search", "search by name", search_.data(), search_.size())) rows_stale_ = true;
  if (ImGui::SmallButton("show all")) {
    solids.show_all();
    desk.changed();
  }
  ImGui::SameLine();
  if (ImGui::SmallButton("hide found") && search_[0] != '\0') {
    solids.set_visible(solids.found(search_.data()), false);
    desk.changed();
  }
  ImGui::SameLine();
  if (ImGui::SmallButton("only found") && search_[0] != '\0') {
    solids.show_only(solids.found(search_.data()));
    desk.changed();
  }
  if (rows_stale_) list_rows(desk);
  ImGui::BeginChild("tree");
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows_.size()));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const Row& row = rows_[static_cast<std::size_t>(i)];
      ImGui::PushID(i);
      const bool searching = search_[0] != '\0';
      const std::vector<std::uint32_t> one{row.instance};
      const bool by_itself = row.node == kNone || (searching && row.instance != kNone);
      const int shown = !by_itself ? solids.shown(row.node) : solids.visible()[row.instance] != 0 ? 2 : 0;
      bool checked = shown != 0;
      ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {1, 0});
      if (shown == 1) ImGui::PushStyleColor(ImGuiCol_CheckMark, {0.6F, 0.6F, 0.6F, 1});
      if (ImGui::Checkbox("##shown", &checked)) {
        if (by_itself)
          solids.set_visible(row.node == kNone ? std::span<const std::uint32_t>(one) : solids.instances(row.node),
                             checked);
        else
          solids.set_visible(solids.below(row.node), checked);
        desk.changed();
      }
      if (shown == 1) ImGui::PopStyleColor();
      ImGui::PopStyleVar();
      ImGui::SameLine(0, 6 + 12 * static_cast<float>(row.depth));
      if (row.has_children) {
        if (ImGui::ArrowButton("##open", row.open ? ImGuiDir_Down : ImGuiDir_Right)) {
          if (row.open)
            open_.erase(row.node);
          else
            open_.insert(row.node);
          rows_stale_ = true;
        }
      } else {
        ImGui::Dummy({ImGui::GetFrameHeight(), 1});
      }
      ImGui::SameLine(0, 4);
      const std::string name = cli::printable(row.node == kNone ? scene.solid_name(scene.instances[row.instance])
                                                                : scene.nodes[row.node].name);
      const bool selected = desk.selection && row.instance == desk.selection->instance;
      if (ImGui::Selectable(name.c_str(), selected, ImGuiSelectableFlags_AllowDoubleClick)) {
        if (row.instance != kNone) desk.select(row.instance);
        if (ImGui::IsMouseDoubleClicked(0)) desk.focus(row.node == kNone ? one : solids.below(row.node));
      }
      ImGui::PopID();
    }
  if (search_[0] != '\0' && rows_.size() == kMostFound)
    ImGui::TextDisabled("the first %zu; the buttons take all", kMostFound);
  ImGui::EndChild();
}

void Panels::draw_facts(const Desk& desk) {
  if (!desk.scene) return ImGui::TextDisabled("no scene");
  const Scene& scene = *desk.scene;
  if (begin_facts("facts")) {
    fact("file", desk.file);
    fact("format", scene.format);
    fact("unit", cli::unit_name(scene.unit_mm));
    fact("meshes", cli::grouped(scene.meshes.size()));
    fact("solids", cli::grouped(scene.instances.size()));
    fact("triangles", fmt::format("{} ({} unique)", cli::grouped(scene.expanded_triangles()),
                                  cli::grouped(scene.unique_triangles())));
    fact("materials", cli::grouped(scene.materials.size()));
    fact("min, mm", place(scene.bounds.min));
    fact("max, mm", place(scene.bounds.max));
    ImGui::EndTable();
  }
  ImGui::Separator();
  if (!desk.check) return ImGui::TextDisabled("checking whether it is watertight ...");
  if (desk.check->watertight()) {
    ImGui::TextColored({0.5F, 0.85F, 0.5F, 1}, "watertight");
  } else {
    ImGui::TextColored({0.95F, 0.5F, 0.4F, 1}, "%s",
                       cli::counted(desk.check->leaking_instances, "solid is", "solids are").c_str());
    ImGui::SameLine(0, 4);
    ImGui::TextUnformatted("not watertight");
  }
  if (begin_facts("flaws")) {
    for (std::size_t i = 0; i < kFlaws; ++i)
      if (desk.check->counts[i] != 0)
        fact(std::string(to_string(static_cast<Flaw>(i))).c_str(), cli::grouped(desk.check->counts[i]));
    ImGui::EndTable();
  }
  for (const std::string& warning : scene.report.warnings) {
    ImGui::PushTextWrapPos();
    text(cli::printable(warning));
    ImGui::PopTextWrapPos();
  }
}

void Panels::draw_device(const Desk& desk) {
  if (begin_facts("opengl")) {
    fact("OpenGL", reinterpret_cast<const char*>(glGetString(GL_RENDERER)));
    fact("buffers", human_bytes(desk.renderer.buffer_bytes()));
    fact("drawn", cli::grouped(desk.renderer.drawn_triangles()) + " triangles");
    fact("frame", fmt::format("{:.1f} ms", 1000 * desk.draw_seconds));
    ImGui::EndTable();
  }
  if (!desk.draw_times.empty())
    ImGui::PlotLines("##times", desk.draw_times.data(), static_cast<int>(desk.draw_times.size()), 0, nullptr, 0,
                     std::numeric_limits<float>::max(), {-1, 36});
  ImGui::Separator();
  if (!desk.device_scene) {
    ImGui::PushTextWrapPos();
    ImGui::TextDisabled("On no device yet: a ray-cast picture, or colours by residency, bring the scene there.");
    ImGui::PopTextWrapPos();
    return;
  }
  const Device& device = desk.device_scene->device();
  const ResidencyReport& report = desk.device_scene->report();
  const MemoryInfo memory = device.memory_info();
  const Backend::PoolBytes pool = device.backend()->pool_bytes();
  if (begin_facts("device")) {
    fact("device", device.info().id + ", " + device.info().name);
    fact("free", human_bytes(memory.free_bytes) + " of " + human_bytes(memory.total_bytes));
    fact("reserve", human_bytes(report.reserve));
    fact("pool", human_bytes(pool.held) + " held, " + human_bytes(pool.active) + " in use");
    fact("pinned pool", human_bytes(device.pinned_pool().managed_bytes()));
    fact("sharing", desk.device_scene->sharing());
    ImGui::EndTable();
  }
  if (ImGui::BeginTable("arrays", 4, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit)) {
    for (const char* title : {"array", "bytes", "where", "device"}) ImGui::TableSetupColumn(title);
    ImGui::TableHeadersRow();
    for (const ArrayResidency& array : report.arrays) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      text(array.name);
      if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", array.why.c_str());
      ImGui::TableNextColumn();
      text(human_bytes(array.bytes));
      ImGui::TableNextColumn();
      text(std::string(to_string(array.where)));
      ImGui::TableNextColumn();
      text(array.bytes == 0 ? "" : fmt::format("{} %", 100 * array.device_bytes / array.bytes));
    }
    ImGui::EndTable();
  }
}

void Panels::draw_bookmarks(Desk& desk) {
  ImGui::SetNextItemWidth(-60);
  const bool entered = ImGui::InputTextWithHint("##name", "name", bookmark_.data(), bookmark_.size(),
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  if ((ImGui::Button("add") || entered) && bookmark_[0] != '\0') {
    desk.add_bookmark(bookmark_.data());
    bookmark_[0] = '\0';
  }
  for (std::size_t i = 0; i < desk.bookmarks.all().size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const Bookmark bookmark = desk.bookmarks.all()[i];
    const bool removed = ImGui::SmallButton("x");
    ImGui::SameLine();
    if (ImGui::Selectable(cli::printable(bookmark.name).c_str())) desk.go_to(bookmark);
    ImGui::PopID();
    if (removed) {
      desk.remove_bookmark(i);
      break;
    }
  }
  if (desk.bookmarks.all().empty()) ImGui::TextDisabled("none yet; Ctrl+D adds one");
}

void Panels::draw_picture(Desk& desk, float width) {
  ImGui::SetNextWindowPos({width - kRightWidth - kGap, kGap});
  ImGui::SetNextWindowSize({kRightWidth, 0});
  if (ImGui::Begin("Picture", nullptr, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_AlwaysAutoResize)) {
    Settings& s = desk.settings;
    bool changed = false;
    ImGui::PushItemWidth(130);
    if (desk.options.files.size() > 1 && ImGui::BeginCombo("scene", desk.file.c_str())) {
      for (const std::string& file : desk.options.files)
        if (ImGui::Selectable(file.c_str(), file == desk.file) && file != desk.file) desk.open(file);
      ImGui::EndCombo();
    }
    auto color = static_cast<std::size_t>(s.color);
    if (combo("colour", kColorNames, color)) {
      s.color = static_cast<ColorBy>(color);
      changed = true;
    }
    auto rays = static_cast<std::size_t>(s.rays);
    if (combo("rays", kRayModeNames, rays)) {
      s.rays = static_cast<RayMode>(rays);
      changed = true;
    }
    bool wireframe = s.fill == Fill::wireframe;
    if (ImGui::Checkbox("wireframe", &wireframe)) {
      s.fill = wireframe ? Fill::wireframe : Fill::surface;
      changed = true;
    }
    ImGui::SameLine(120);
    changed |= ImGui::Checkbox("edges", &s.edges);
    changed |= ImGui::Checkbox("smooth", &s.smooth);
    ImGui::SameLine(120);
    changed |= ImGui::Checkbox("back faces", &s.back_faces);
    changed |= ImGui::SliderFloat("opacity", &s.opacity, 0.02F, 1, "%.2f");
    bool clip = s.clip.has_value();
    if (ImGui::Checkbox("clip", &clip)) {
      if (clip)
        s.clip.emplace();
      else
        s.clip.reset();
      changed = true;
    }
    if (s.clip && desk.scene) {
      ImGui::SameLine(120);
      changed |= ImGui::Checkbox("caps", &s.caps);
      for (int axis_number = 0; axis_number < 3; ++axis_number) {
        if (axis_number > 0) ImGui::SameLine();
        const char label[2] = {static_cast<char>('x' + axis_number), 0};
        if (ImGui::SmallButton(label)) {
          s.clip = ClipPlane{Eigen::Vector3d::Unit(axis_number), std::nullopt};
          changed = true;
        }
      }
      ImGui::SameLine();
      if (ImGui::SmallButton("flip")) {
        const double offset = s.clip->offset_in(desk.scene->bounds);
        s.clip = ClipPlane{-s.clip->normal, -offset};
        changed = true;
      }
      const double reach = 0.5 * desk.scene->bounds.size().norm();
      const double middle = s.clip->normal.dot(desk.scene->bounds.center());
      auto offset = static_cast<float>(s.clip->offset_in(desk.scene->bounds) - middle);
      if (ImGui::SliderFloat("mm", &offset, static_cast<float>(-reach), static_cast<float>(reach), "%.6g")) {
        s.clip->offset = middle + static_cast<double>(offset);
        changed = true;
      }
    }
    if (ImGui::Checkbox("orthographic", &desk.camera.orthographic)) changed = true;
    changed |= ImGui::Checkbox("axes", &s.axes);
    ImGui::SameLine(120);
    changed |= ImGui::Checkbox("scale bar", &s.scale_bar);
    for (const char* view : {"front", "right", "top", "iso"}) {
      if (ImGui::SmallButton(view)) {
        desk.camera.look(standard_view(view));
        desk.frame_all();
      }
      ImGui::SameLine();
    }
    if (ImGui::SmallButton("?")) help = !help;
    ImGui::PopItemWidth();
    if (changed) desk.changed();
  }
  ImGui::End();
}

void Panels::draw_selection(Desk& desk, float height) {
  const Selection& s = *desk.selection;
  // As high as it needs, beside the axes.
  ImGui::SetNextWindowPos({selection_left(desk, height), height - kGap}, ImGuiCond_Always, {0, 1});
  ImGui::SetNextWindowSize({kSelectionWidth, 0});
  if (ImGui::Begin("Selected", nullptr,
                   ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoFocusOnAppearing)) {
    if (begin_facts("selected")) {
      fact("solid", s.name);
      fact("path", s.path);
      fact("mesh", s.mesh);
      fact("inside", s.inside);
      fact("outside", s.outside);
      if (s.triangle) fact("triangle", cli::grouped(*s.triangle));
      fact(s.triangle ? "point, mm" : "centre, mm", place(s.position));
      ImGui::EndTable();
    }
    const std::array<std::uint32_t, 1> one{s.instance};
    if (ImGui::SmallButton("frame")) desk.focus(one);
    ImGui::SameLine();
    if (ImGui::SmallButton("hide")) {
      desk.solids->set_visible(one, false);
      desk.changed();
    }
    ImGui::SameLine();
    if (ImGui::SmallButton("only this")) {
      desk.solids->show_only(one);
      desk.changed();
    }
  }
  ImGui::End();
}

void Panels::draw_activity(const Desk& desk, float width, float height) {
  constexpr ImGuiWindowFlags kPlain = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs |
                                      ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                                      ImGuiWindowFlags_AlwaysAutoResize;
  const auto [stage, share] = desk.activity();
  const bool idle = !desk.loading() && stage.empty();
  if (!idle) {
    const float left = visible && desk.selection ? selection_left(desk, height) + kSelectionWidth + kGap : 0;
    ImGui::SetNextWindowPos({std::max(0.5F * width, left + 190), height - 3 * kGap}, ImGuiCond_Always, {0.5F, 1});
    if (ImGui::Begin("##activity", nullptr, kPlain)) {
      text(desk.loading() ? "loading " + cli::printable(desk.file) : std::string("working"));
      ImGui::ProgressBar(std::max(share, 0.0F), {360, 0}, share < 0 ? stage.c_str() : nullptr);
      if (share >= 0) ImGui::TextDisabled("%s", stage.c_str());
    }
    ImGui::End();
  } else if (!desk.scene && desk.error.empty()) {
    ImGui::SetNextWindowPos({0.5F * width, 0.5F * height}, ImGuiCond_Always, {0.5F, 0.5F});
    if (ImGui::Begin("##drop", nullptr, kPlain))
      text("Drop a scene here: .dae, .zae, .dae.gz, .obj, .stl, .ply, .gltf ...");
    ImGui::End();
  }
  const bool message = std::chrono::steady_clock::now() < desk.message_until;
  if (!desk.error.empty() || message) {
    ImGui::SetNextWindowPos({0.5F * width, kGap}, ImGuiCond_Always, {0.5F, 0});
    ImGui::SetNextWindowSizeConstraints({0, 0}, {std::max(300.0F, width - 2 * (kLeftWidth + 3 * kGap)), height});
    if (ImGui::Begin("##message", nullptr, kPlain)) {
      ImGui::PushTextWrapPos(std::max(280.0F, width - 2 * (kLeftWidth + 4 * kGap)));
      if (!desk.error.empty()) ImGui::PushStyleColor(ImGuiCol_Text, {1, 0.55F, 0.45F, 1});
      text(cli::printable(desk.error.empty() ? desk.message : desk.error));
      if (!desk.error.empty()) ImGui::PopStyleColor();
      ImGui::PopTextWrapPos();
    }
    ImGui::End();
  }
}

void Panels::draw_help(float width, float height) {
  ImGui::SetNextWindowPos({0.5F * width, 0.5F * height}, ImGuiCond_Always, {0.5F, 0.5F});
  if (ImGui::Begin("Keys and mouse", &help, ImGuiWindowFlags_NoResize | ImGuiWindowFlags_AlwaysAutoResize)) {
    if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) {
      for (const KeyHelp& key : key_help()) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        text(std::string(key.keys));
        ImGui::TableNextColumn();
        text(std::string(key.what));
      }
      ImGui::EndTable();
    }
  }
  ImGui::End();
}

}  // namespace raylift::viewer
