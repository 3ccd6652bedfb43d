// SPDX-License-Identifier: Apache-2.0
#include "window/panels/light_panel.h"

#include <fmt/format.h>
#include <imgui.h>
#include <raylift/geometry/error.h>

#include "cli/text.h"
#include "geometry/src/scene/names.h"
#include "light/photon_colors.h"
#include "model/solids/display_name.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {
namespace {

void fill(std::array<char, 128>& field, const std::string& words) {
  field.fill('\0');
  words.copy(field.data(), field.size() - 1);
}

/// The value of a field's text; nothing where it is empty.
template <class T, class Parse>
std::optional<T> parsed(const std::array<char, 128>& field, const Parse& parse) {
  const std::string_view words(field.data());
  return words.empty() ? std::nullopt : std::optional<T>(parse(words));
}

void draw_counts(ViewerState& state, const LightShown& shown) {
  const PhotonSet& set = *state.photons().set();
  const PhotonChoice& choice = state.photons().choice(state.settings().photons.filter);
  const auto of = [](std::uint64_t drawn, std::uint64_t all, const char* kind) {
    return all == 0 ? std::string("none") : fmt::format("{} of {}{}", cli::grouped(drawn), cli::grouped(all), kind);
  };
  if (begin_facts("photons")) {
    if (!set.events.empty())
      fact("Event", fmt::format("{} of {}: {}", set.event + 1, set.events.size(), set.events[set.event]));
    fact("Paths", of(choice.paths, set.paths(), ", ") +
                      (set.paths() == 0 ? "" : cli::counted(choice.steps.size(), "step", "steps")));
    fact("Points", of(choice.points.size(), set.points.size(), ""));
    if (!set.times.empty())
      fact("Times", fmt::format("{} to {} ns", cli::short_number(static_cast<double>(set.times.low)),
                                cli::short_number(static_cast<double>(set.times.high))));
    ImGui::EndTable();
  }
  if (const std::string some = shown_text(state.settings().photons, shown, choice); !some.empty()) {
    wrapped("Showing " + some + '.');
    if (button("Show all", "Draw all of the light, however dense it is"))
      state.change_settings([](Settings& s) { s.photons.density = 0; });
  } else if (!(state.settings().photons.density > 0) &&
             button("Show fewer", "Draw as many paths and points as can be read")) {
    state.change_settings([](Settings& s) { s.photons.density = PhotonSettings().density; });
  }
  if (choice.without_history != 0) wrapped("Points have no histories: run 'raylift photons' with --seq.");
}

/// A slider of ns; its text at 0 is `zero`.
bool edit_ns(const char* label, double& value, double most, const char* zero, const char* help) {
  auto number = static_cast<float>(value);
  const std::string format = number > 0 ? "%.3g ns" : zero;
  if (!slider(label, number, 0, static_cast<float>(most), format.c_str(), help)) return false;
  value = static_cast<double>(number);
  return true;
}

bool edit_looks(PhotonSettings& light, const LightStatistics& statistics, WindowLayout& layout) {
  constexpr float kMaxWidth = 64;  // as of the option; the slider has those that are usual
  bool changed = choose("Colour by##light", kPhotonColorNames, light.color, "What the colours of light mean (O)");
  field_label("Scale");
  if (button("Map and range ...##light", "Change the map and the range of the legend's scale of times",
             shown_color(light, statistics) == PhotonColor::time ? nullptr : "Colours of times have a scale"))
    layout.scale = WindowLayout::Scale::light;
  changed |= checkbox("Paths", light.paths, "The steps of photons as lines");
  ImGui::SameLine();
  changed |= checkbox("Points", light.points, "Final photons, or hits, as points");
  changed |= checkbox("Clip light too", light.clip, "Clipping planes and the clipping box cut light, not only solids");
  changed |= slider("Width##light", light.size, 1, 10, "%.1f px", "Width of lines, in pixels; points are larger",
                    nullptr, kMaxWidth);
  changed |= slider("Opacity##light", light.opacity, static_cast<float>(kMinOpacity), 1, "%.2f", "Of light");
  return changed;
}

}  // namespace

void LightPanel::draw_time(ViewerState& state, PhotonSettings& light) {
  const LightStatistics& statistics = state.photons().statistics();
  if (!statistics.run()) return;
  const double low = statistics.first(), high = statistics.last();
  const auto change = [&] { state.change_settings([&](Settings& s) { s.photons = light; }); };
  bool all = !light.time;
  if (button(state.light().playing() ? "Stop" : "Play", "Let the time of light run, or stop it (Space)"))
    return state.light().play(!state.light().playing());
  ImGui::SameLine();
  if (checkbox("All times", all, "Light of all times at once (Shift+Space)")) {
    state.light().play(false);
    light.time = all ? std::nullopt : std::optional(high);
    change();
  }
  ImGui::SameLine();
  bool changed = checkbox("Loop", light.loop, "Play begins again at the end");
  // By where light is: most of it ends early, and would be in a small part of a slider of even times.
  auto place = static_cast<float>(statistics.position(light.time.value_or(high)));
  const std::string words = fmt::format("{:.4g} ns", light.time.value_or(high));
  if (slider("Time", place, 0, 1, words.c_str(),
             "Light as it is at this time (, and .). The slider is even in how much light there is",
             all ? "Light of all times is shown" : nullptr)) {
    state.light().play(false);
    light.time = statistics.time_at(static_cast<double>(place));
    changed = true;
  }
  double exact = light.time.value_or(high);
  field_label("At, ns");
  if (ImGui::InputDouble("##at", &exact, 0, 0, "%.6g", ImGuiInputTextFlags_EnterReturnsTrue)) {
    state.light().play(false);
    light.time = std::clamp(exact, low, high);
    changed = true;
  }
  tip("The same time as a number; Enter sets it");
  changed |= edit_ns("Trail", light.trail, high - low, "all", "So much of each path behind its head");
  changed |= edit_ns("Speed", light.speed, high - low, "all in 10 s",
                     "The time that a second of play shows; 0: all in 10 s, slower where there is more light");
  if (played_ != light.play_range) {
    played_ = light.play_range;
    fill(play_range_, played_ ? range_text(*played_) : "");
  }
  if (text_field("Play, ns", "all times, or such as 0-50", play_range_,
                 "The part of all times that play shows; Enter sets it", true))
    state.messages().attempt([&] {
      const std::string typed = play_range_.data();
      light.play_range = typed.empty() ? std::nullopt : std::optional(parse_scale_range(typed));
      changed = true;
    });
  if (changed) change();
}

void LightPanel::edit_filter(PhotonFilter& filter) {
  if (shown_ != filter) {  // an option, or another scene
    shown_ = filter;
    fill(history_, filter.history);
    fill(wavelength_, filter.wavelength ? range_text(*filter.wavelength) : "");
    fill(channel_, filter.channel ? range_text(*filter.channel) : "");
    problem_.clear();
  }
  bool changed =
      text_field("History", "TO * RE * SD", history_,
                 "Photons of these histories: * for any events, ? for one. A single event: photons that have it");
  changed |= text_field("Wavelength, nm", "350-500", wavelength_, "Light of these wavelengths");
  changed |= text_field("Channel", "12 or 10-19", channel_, "Photons that these channels detected");
  if (changed) try {
      PhotonFilter typed;
      typed.history = history_.data();
      const photon::HistoryPattern pattern(typed.history);  // for its errors
      typed.wavelength = parsed<Between<float>>(wavelength_, parse_wavelengths);
      typed.channel = parsed<Between<std::int32_t>>(channel_, parse_channels);
      filter = shown_ = typed;
      problem_.clear();
    } catch (const Error& error) {
      problem_ = error.problem();
    }
  if (!problem_.empty()) wrapped(cli::printable(problem_));
}

void LightPanel::edit_source(ViewerState& state, const FrameScheduler& frames) {
  if (shown_source_ != state.options().light.origin.source) {
    shown_source_ = state.options().light.origin.source;
    fill(source_, shown_source_);
  }
  if (text_field("Source", "point:0,0,0", source_,
                 "Follow photons of this source, once Enter is pressed. Ctrl+right drag moves it", true))
    state.messages().attempt([&] { state.light().set_source(source_.data()); });
  if (const LiveLight* live = frames.live_light(); live != nullptr && live->request() && begin_facts("live")) {
    fact("Simulated", cli::grouped(live->followed()) + ", " + human_rate(live->photons_per_second(), "photons"));
    if (const auto position = state.light().source_position())
      fact("Position", fmt::format("{:.7g}, {:.7g}, {:.7g} mm", position->x(), position->y(), position->z()));
    ImGui::EndTable();
    if (state.light().source_position() &&
        button("Copy as --source", "Copy the source where it is now, for 'raylift photons --source'")) {
      ImGui::SetClipboardText(state.light().source_text().c_str());
      state.messages().show("copied: " + state.light().source_text());
    }
  }
}

void LightPanel::draw(ViewerState& state, const FrameScheduler& frames, WindowLayout& layout) {
  if (state.options().light.origin.photons.empty()) edit_source(state, frames);
  if (!state.photons().set()) {
    wrapped(state.options().light.origin.photons.empty() && state.options().light.origin.source.empty()
                ? "No photons. Open a run of 'raylift photons' with --photons DIR, or name a source."
                : "No photons yet.");
    return;
  }
  draw_counts(state, frames.renderer().photons().shown());
  PhotonSettings light = state.settings().photons;
  draw_time(state, light);
  ImGui::Separator();
  light = state.settings().photons;
  bool changed = edit_looks(light, state.photons().statistics(), layout);
  ImGui::Separator();
  const PhotonFilter before = light.filter;
  edit_filter(light.filter);
  changed |= before != light.filter;
  if (changed) state.change_settings([&](Settings& s) { s.photons = light; });
}

void draw_photon(const ViewerState& state) {
  const PhotonSelection& photon = *state.photons().selection();
  wrapped(fmt::format("Photon {}{}{}", photon.number, photon.history.empty() ? "" : ":  " + photon.history,
                      photon.channel < 0 ? "" : fmt::format(", channel {}", photon.channel)));
  if (ImGui::BeginTable("events", 6, ImGuiTableFlags_SizingStretchProp)) {
    for (const char* title : {"Interaction", "t, ns", "Step, mm", "nm", "Solid", "Material"})
      ImGui::TableSetupColumn(title);
    ImGui::TableHeadersRow();
    for (const PhotonEvent& event : photon.events) {
      ImGui::TableNextRow();
      const auto cell = [](const std::string& words, const std::string& more) {
        ImGui::TableNextColumn();
        text(cli::printable(words));
        tip(cli::printable(more));
      };
      cell(event.event.substr(0, event.event.find(',')), event.event);
      cell(fmt::format("{:.6g}", event.time), "time");
      cell(fmt::format("{:.5g}", event.step), fmt::format("from the event before; at {:.7g}, {:.7g}, {:.7g}",
                                                          event.position.x, event.position.y, event.position.z));
      cell(fmt::format("{:.4g}", event.wavelength), "wavelength after it");
      cell(display_name(event.solid), event.solid + (event.surface.empty() ? "" : ", surface " + event.surface));
      cell(std::string(base_name(event.medium)), "the material that light goes on through: " + event.medium);
    }
    ImGui::EndTable();
  }
}

}  // namespace raylift::viewer
