// SPDX-License-Identifier: Apache-2.0
// The panels that tell of the scene, the device and the selected solid.
#include <fmt/format.h>
#include <imgui.h>
#include <raylift/gpu/device/pool.h>

#include <algorithm>
#include <limits>

#include "cli/quantity.h"
#include "cli/text.h"
#include "panel_items.h"

namespace raylift::viewer {

float selection_left(const ViewerState& state, float height) {
  return state.settings().axes ? 106 * std::clamp(height / 720, 0.75F, 4.0F) : kGap;  // the axes' size in overlay.cpp
}

float em(float length) {
  return length * ImGui::GetFontSize() / kFontSize;
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

void text(const std::string& words) {
  ImGui::TextUnformatted(words.data(), words.data() + words.size());
}

void wrapped(const std::string& words) {
  ImGui::PushTextWrapPos();
  text(words);
  ImGui::PopTextWrapPos();
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

void point_fact(const char* name, const Eigen::Vector3d& p) {
  fact(name, fmt::format("{:.6g}  {:.6g}  {:.6g}", p.x(), p.y(), p.z()));
}

namespace {

void draw_check(const ViewerState& state) {
  if (!state.check()) return ImGui::TextDisabled("checking whether it is watertight ...");
  const SceneCheck& check = *state.check();
  if (check.watertight()) {
    ImGui::TextColored({0.5F, 0.85F, 0.5F, 1}, "watertight");
  } else {
    ImGui::TextColored({0.95F, 0.5F, 0.4F, 1}, "%s",
                       cli::counted(check.leaking_instances, "solid is", "solids are").c_str());
    ImGui::SameLine(0, 4);
    ImGui::TextUnformatted("not watertight");
  }
  if (begin_facts("flaws")) {
    for (std::size_t i = 0; i < kFlaws; ++i)
      if (check.counts[i] != 0)
        fact(std::string(to_string(static_cast<Flaw>(i))).c_str(), cli::grouped(check.counts[i]));
    ImGui::EndTable();
  }
  for (const std::string& warning : state.scene()->report.warnings) wrapped(cli::printable(warning));
}

void draw_arrays(const ResidencyReport& report) {
  if (!ImGui::BeginTable("arrays", 4, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit)) return;
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

}  // namespace

void draw_facts(const ViewerState& state) {
  if (!state.scene()) return ImGui::TextDisabled("no scene");
  const Scene& scene = *state.scene();
  if (begin_facts("facts")) {
    fact("file", state.file());
    fact("format", scene.format);
    fact("unit", with_micro(cli::unit_name(scene.unit_mm)));
    fact("meshes", cli::grouped(scene.meshes.size()));
    fact("solids", cli::grouped(scene.instances.size()));
    fact("triangles", fmt::format("{} ({} unique)", cli::grouped(scene.expanded_triangles()),
                                  cli::grouped(scene.unique_triangles())));
    fact("materials", cli::grouped(scene.materials.size()));
    point_fact("min, mm", scene.bounds.min);
    point_fact("max, mm", scene.bounds.max);
    ImGui::EndTable();
  }
  ImGui::Separator();
  draw_check(state);
}

void draw_device(const ViewerState& state, const FrameScheduler& frames) {
  if (begin_facts("opengl")) {
    fact("OpenGL", reinterpret_cast<const char*>(glGetString(GL_RENDERER)));
    fact("buffers", human_bytes(frames.renderer().buffer_bytes()));
    fact("drawn", cli::grouped(frames.renderer().drawn_triangles()) + " triangles");
    fact("frame", with_micro(human_seconds(frames.draw_seconds())));
    ImGui::EndTable();
  }
  const std::vector<float>& times = frames.draw_times();
  if (!times.empty())
    ImGui::PlotLines("##times", times.data(), static_cast<int>(times.size()), 0, nullptr, 0,
                     std::numeric_limits<float>::max(), {-1, 36});
  ImGui::Separator();
  if (!state.device_scene()) {
    ImGui::PushTextWrapPos();
    ImGui::TextDisabled("Not on a device yet. Casting rays, or colouring by residency, uploads the scene.");
    ImGui::PopTextWrapPos();
    return;
  }
  const DeviceScene& scene = *state.device_scene();
  const Device& device = scene.device();
  const MemoryInfo memory = device.memory_info();
  const Backend::PoolBytes pool = device.backend()->pool_bytes();
  if (begin_facts("device")) {
    fact("device", device.info().id + ", " + device.info().name);
    fact("free", human_bytes(memory.free_bytes) + " of " + human_bytes(memory.total_bytes));
    fact("reserve", human_bytes(scene.report().reserve));
    fact("pool", human_bytes(pool.held) + " held, " + human_bytes(pool.active) + " in use");
    fact("pinned pool", human_bytes(device.pinned_pool().managed_bytes()));
    fact("sharing", scene.sharing());
    ImGui::EndTable();
  }
  draw_arrays(scene.report());
}

void draw_selection(ViewerState& state, float height) {
  const Selection s = *state.selection();
  // As high as it needs, beside the axes; it scrolls before it covers the panel above it.
  ImGui::SetNextWindowPos({selection_left(state, height), height - kGap}, ImGuiCond_Always, {0, 1});
  ImGui::SetNextWindowSizeConstraints({kSelectionWidth, 0}, {kSelectionWidth, std::max(220.0F, 0.36F * height)});
  if (ImGui::Begin("Selected", nullptr,
                   ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoFocusOnAppearing |
                       ImGuiWindowFlags_AlwaysAutoResize)) {
    if (begin_facts("selected")) {
      fact("solid", s.name);
      fact("path", s.path);
      fact("mesh", s.mesh);
      fact("inside", s.inside);
      fact("outside", s.outside);
      if (!s.entering.empty()) fact("way in", s.entering);
      if (!s.leaving.empty()) fact("way out", s.leaving);
      if (s.triangle) fact("triangle", cli::grouped(*s.triangle));
      point_fact(s.triangle ? "point, mm" : "centre, mm", s.position);
      ImGui::EndTable();
    }
    draw_optics(*state.scene(), s);
    const std::array<std::uint32_t, 1> one{s.instance};
    if (ImGui::SmallButton("frame")) state.focus(one);
    ImGui::SameLine();
    if (ImGui::SmallButton("hide")) state.change_solids([&](Solids& solids) { solids.set_visible(one, false); });
    ImGui::SameLine();
    if (ImGui::SmallButton("only this")) state.change_solids([&](Solids& solids) { solids.show_only(one); });
  }
  ImGui::End();
}

}  // namespace raylift::viewer
