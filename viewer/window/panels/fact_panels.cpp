// SPDX-License-Identifier: Apache-2.0
// The panels of facts: the scene, its check, and the device.
#include <fmt/format.h>
#include <imgui.h>
#include <raylift/gpu/device/pool.h>

#include <algorithm>
#include <cmath>

#include "cli/quantity.h"
#include "cli/text.h"
#include "draw/overlay/overlay.h"
#include "model/word_help.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {
namespace {

void draw_check(const ViewerState& state) {
  if (!state.check()) return ImGui::TextDisabled("Checking whether it is watertight ...");
  const SceneCheck& check = *state.check();
  if (check.watertight()) {
    ImGui::TextColored(ink(theme_now().good), "Watertight");
  } else {
    ImGui::TextColored(ink(theme_now().error), "%s",
                       cli::counted(check.leaking_instances, "solid is", "solids are").c_str());
    ImGui::SameLine(0, 4);
    ImGui::TextUnformatted("not watertight");
  }
  if (begin_facts("flaws")) {
    for (std::size_t i = 0; i < MeshCheck::kFlaws; ++i)
      if (check.counts[i] != 0)
        fact(std::string(to_string(static_cast<MeshCheck::Flaw>(i))).c_str(), cli::grouped(check.counts[i]));
    ImGui::EndTable();
  }
  for (const std::string& warning : state.scene()->report.warnings) wrapped(cli::printable(warning));
}

/// The times of the last images as bars over lines at round times.
void draw_times(const std::vector<float>& times) {
  if (times.empty()) return;
  const float most = std::max(1.0F, *std::max_element(times.begin(), times.end()));
  const auto step = static_cast<float>(round_length(static_cast<double>(most) / 2));
  const float top = step * std::ceil(most / step);
  const float label = ImGui::CalcTextSize("0000 ms").x, width = ImGui::GetContentRegionAvail().x - label;
  const float line = ImGui::GetTextLineHeight(), height = em(70);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto y = [&](float time) { return at.y + 0.5F * line + height * (1 - time / top); };
  for (float time = 0; time <= top * 1.001F; time += step) {
    list.AddLine({at.x + label, y(time)}, {at.x + label + width, y(time)},
                 ImGui::GetColorU32(ImGuiCol_TextDisabled, 0.5F));
    const std::string words = fmt::format("{:g} ms", time);
    list.AddText({at.x + label - ImGui::CalcTextSize(words.c_str()).x - em(4), y(time) - 0.5F * line},
                 ImGui::GetColorU32(ImGuiCol_TextDisabled), words.c_str());
  }
  const float bar = width / static_cast<float>(FrameScheduler::kTimes);
  const float first = at.x + label + width - bar * static_cast<float>(times.size());  // the last is at the right
  for (std::size_t i = 0; i < times.size(); ++i) {
    const float left = first + bar * static_cast<float>(i);
    list.AddRectFilled({left, y(times[i])}, {left + std::max(1.0F, bar - 0.5F), y(0)},
                       ImGui::GetColorU32(ImGuiCol_PlotHistogram));
  }
  ImGui::Dummy({label + width, height + line});
  tip(fmt::format("the last {} images, the newest at the right: {:.3g} ms, at most {:.3g} ms", times.size(),
                  times.back(), most));
}

void draw_arrays(const ResidencyReport& report) {
  if (!ImGui::BeginTable("arrays", 4, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit)) return;
  for (const char* title : {"Array", "Bytes", "Where", "On device"}) ImGui::TableSetupColumn(title);
  ImGui::TableHeadersRow();
  for (const ResidencyReport::Array& array : report.arrays) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text(array.name);
    tip(array.why);
    ImGui::TableNextColumn();
    text(human_bytes(array.bytes));
    ImGui::TableNextColumn();
    text(std::string(to_string(array.where)));
    tip(explained(kResidencyWords, to_string(array.where)));
    ImGui::TableNextColumn();
    text(array.bytes == 0 ? "" : fmt::format("{} %", 100 * array.device_bytes / array.bytes));
  }
  ImGui::EndTable();
}

}  // namespace

void draw_properties(const ViewerState& state) {
  if (!state.scene()) return ImGui::TextDisabled("No scene");
  const Scene& scene = *state.scene();
  if (begin_facts("facts")) {
    fact("File", state.file());
    fact("Format", scene.format);
    fact("Unit", with_micro(cli::unit_name(scene.unit_mm)));
    fact("Meshes", cli::grouped(scene.meshes.size()));
    fact("Solids", cli::grouped(scene.instances.size()));
    fact("Triangles", fmt::format("{} ({} unique)", cli::grouped(scene.expanded_triangles()),
                                  cli::grouped(scene.unique_triangles())));
    fact("Materials", cli::grouped(scene.materials.size()));
    point_fact("Minimum, mm", scene.bounds.min);
    point_fact("Maximum, mm", scene.bounds.max);
    ImGui::EndTable();
  }
  ImGui::Separator();
  draw_check(state);
}

void draw_device(const ViewerState& state, const FrameScheduler& frames) {
  if (begin_facts("opengl")) {
    fact("OpenGL", reinterpret_cast<const char*>(glGetString(GL_RENDERER)));
    fact("Buffers", human_bytes(frames.renderer().buffer_bytes()));
    fact("Drawn", cli::grouped(frames.renderer().drawn_triangles()) + " of " +
                      cli::grouped(frames.renderer().shown_triangles()) + " triangles");
    fact("Frame time", with_micro(human_seconds(frames.draw_seconds())));
    ImGui::EndTable();
  }
  draw_times(frames.draw_times());
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
  const auto pool = device.backend()->pool_bytes();
  if (begin_facts("device")) {
    fact("Device", device.info().id + ", " + device.info().name);
    fact("Free", human_bytes(memory.free_bytes) + " of " + human_bytes(memory.total_bytes));
    fact("Reserve", human_bytes(scene.report().reserve));
    fact("Pool", human_bytes(pool.held) + " held, " + human_bytes(pool.active) + " in use");
    fact("Pinned pool", human_bytes(device.pinned_pool().managed_bytes()));
    fact("Sharing", scene.sharing());
    ImGui::EndTable();
  }
  draw_arrays(scene.report());
}

}  // namespace raylift::viewer
