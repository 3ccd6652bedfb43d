// SPDX-License-Identifier: Apache-2.0
#include "window/controls.h"

#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/measurement.h"
#include "window/solid_menu.h"

namespace raylift::viewer {
namespace {

using Kind = Control::Kind;
using Target = const ControlTarget&;
using Event = const ControlEvent&;

// Radians for each pixel of a drag.
constexpr double kOrbit = 0.0075, kTurn = 0.003;
// Shares of the camera's distance in a second.
constexpr double kFly = 0.7, kFlyFast = 2.5;
constexpr double kWheel = 0.88;  // the camera's distance after a step of the wheel, as a share

/// The next value of an enumeration, after the last the first.
template <class Enum, std::size_t N>
Enum after(Enum value, const std::array<std::string_view, N>&) {
  return static_cast<Enum>((static_cast<std::size_t>(value) + 1) % N);
}

void pan(Camera& camera, Event event) {
  const double pixel = camera.pixel_size(event.cursor.window.height);
  camera.pan(-event.dx * pixel, event.dy * pixel);
}

void zoom(Target to, Event event) {
  const Eigen::Vector3d point = to.state.viewpoint().point_under(event.cursor);
  to.state.viewpoint().move([&](Camera& camera) { camera.zoom(std::pow(kWheel, event.steps), point); });
}

void move_source(Target to, Event event) {
  to.state.light().move_source(event.dx, -event.dy, event.cursor.window);
}

void fly(Target to, Event event) {
  const double step =
      to.state.camera().distance * event.seconds * (event.shift ? kFlyFast : kFly) * to.state.viewpoint().fly_speed();
  const auto along = [&](char plus, char minus) {
    return event.key.front() == plus ? step : event.key.front() == minus ? -step : 0;
  };
  to.state.viewpoint().move([&](Camera& camera) { camera.move(along('W', 'S'), along('D', 'A'), along('E', 'Q')); });
}

void click(Target to, Event event) {
  if (to.state.measuring().active()) {
    to.state.measuring().add(to.frames->pick(to.state, event.cursor), event.cursor);
    if (const std::string line = measured_line(to.state.settings().measured); !line.empty()) to.print(line);
    return;
  }
  if (const auto photon = to.frames->pick_photon(to.state, event.cursor)) {
    to.state.selection().select_photon(photon);
    if (const auto& chosen = to.state.photons().selection())
      to.print("photon " + std::to_string(chosen->number) + ": " + chosen->history);
    return;
  }
  to.state.selection().select(to.frames->pick(to.state, event.cursor), event.cursor);
  if (to.state.selection()) to.print(to.state.selection()->path);
}

void double_click(Target to, Event event) {
  if (to.state.measuring().active()) return;  // the first click added a point
  to.state.selection().select(to.frames->pick(to.state, event.cursor), event.cursor);
  if (to.state.selection()) to.state.viewpoint().focus_selection();
}

void wireframe(Settings& s) {
  s.wireframe = !s.wireframe;
}
void edges(Settings& s) {
  s.edges = !s.edges;
}
void feature_edges(Settings& s) {
  s.set_feature_edges(!s.feature_edges);
}
void transparency(Settings& s) {
  s.opacity = s.opacity < 1 ? 1.0F : 0.25F;
}
/// A change that rays do not show.
template <void (*change)(Settings&)>
void unless_rays(ViewerState& state) {
  if (state.settings().ray_cast == RayMode::off) return state.change_settings(change);
  state.messages().show("rays show opaque surfaces; K until 'off' draws");
}

void clip(ViewerState& state) {
  state.change_settings([&](Settings& s) {
    const bool clipped = !s.planes().empty();
    s.set_planes({});
    if (!clipped) s.clip = facing_plane(state.camera().forward());
  });
}

void next_clip_axis(ViewerState& state) {
  state.change_settings([&](Settings& s) {
    int axis = -1;
    if (s.clip) s.clip->normal.cwiseAbs().maxCoeff(&axis);
    s.clip_box.reset();
    s.clip = facing_plane(state.camera().forward(), (axis + 1) % 3);
  });
}

/// Moves the clipping plane by a hundredth of the scene's size.
template <int direction>
void move_clip(ViewerState& state) {
  if (!state.settings().clip || !state.scene()) return;
  const Bounds& bounds = state.scene()->bounds;
  state.change_settings([&](Settings& s) {
    s.clip->offset = s.clip->offset_in(bounds) + direction * 0.01 * to_eigen(bounds.size()).norm();
  });
}

void all_times(ViewerState& state) {
  state.light().play(false);
  state.change_settings([](Settings& s) { s.photons.time.reset(); });
}

void copy_facts(Target to, Event) {
  if (const auto& points = to.state.settings().measured; !points.empty() && to.copy) {
    to.copy(lines_text(measured_lines(points)));
    return to.state.messages().show("copied: what is measured");
  }
  const std::string text = to.state.selection().text();
  if (text.empty() || !to.copy)
    return to.state.messages().show(to.state.selection() ? "the facts are being worked out" : "nothing is selected");
  to.copy(text);
  to.state.messages().show("copied: the facts of " + to.state.selection()->name);
}

void escape(Target to, Event) {
  if (to.layout.menu != WindowLayout::Menu::closed) {
    to.layout.menu = WindowLayout::Menu::closed;
    return;
  }
  if (to.layout.opening) {
    to.layout.opening = false;
    return;
  }
  if (to.loader.loading()) return to.loader.cancel();
  if (to.state.measuring().active() || !to.state.settings().measured.empty())
    return to.state.measuring().set_active(false);
  to.layout.help = false;
  to.state.messages().dismiss_error();
  to.state.selection().select(std::nullopt);
}

std::vector<Control> make_controls() {
  return {
      {Kind::drag, {"left drag"}, "orbit", [](Camera& c, Event e) { c.orbit(-e.dx * kOrbit, -e.dy * kOrbit); }},
      {Kind::drag, {"right drag", "middle drag", "Shift+left drag"}, "pan", pan},
      {Kind::drag, {"Ctrl+right drag"}, "move the source of light", move_source},
      {Kind::drag, {"Ctrl+left drag"}, "look around", [](Camera& c, Event e) { c.turn(e.dx * kTurn, e.dy * kTurn); }},
      {Kind::drag,
       {"drag of a handle"},
       "move a face of the clipping box",
       [](Target to, Event e) { to.state.clipping().drag_face(e.face, e.cursor); }},
      {Kind::wheel, {"wheel"}, "zoom to the cursor", zoom},
      {Kind::wheel,
       {"wheel while flying"},
       "fly faster or slower, from now on",
       [](Target to, Event e) { to.state.viewpoint().change_fly_speed(e.steps); }},
      {Kind::click, {"click"}, "select the solid or photon under the cursor, print its path or history", click},
      {Kind::click, {"double click"}, "select and frame the solid under the cursor", double_click},
      {Kind::click, {"right click"}, "open the menu of the solid under the cursor", open_solid_menu},
      {Kind::held_key, {"W", "S", "A", "D", "E", "Q"}, "fly; faster with Shift", fly},
      {Kind::key, {"1"}, "view from the front", [](ViewerState& s) { s.viewpoint().look(StandardView::front); }},
      {Kind::key, {"Ctrl+1"}, "view from the back", [](ViewerState& s) { s.viewpoint().look(StandardView::back); }},
      {Kind::key, {"3"}, "view from the right", [](ViewerState& s) { s.viewpoint().look(StandardView::right); }},
      {Kind::key, {"Ctrl+3"}, "view from the left", [](ViewerState& s) { s.viewpoint().look(StandardView::left); }},
      {Kind::key, {"7"}, "view from the top", [](ViewerState& s) { s.viewpoint().look(StandardView::top); }},
      {Kind::key, {"Ctrl+7"}, "view from the bottom", [](ViewerState& s) { s.viewpoint().look(StandardView::bottom); }},
      {Kind::key, {"0"}, "isometric view", [](ViewerState& s) { s.viewpoint().look(StandardView::iso); }},
      {Kind::key,
       {"5"},
       "orthographic",
       [](ViewerState& s) { s.viewpoint().set_orthographic(!s.camera().orthographic); }},
      {Kind::key, {"Home", "Enter"}, "frame the scene", [](ViewerState& s) { s.viewpoint().frame_all(); }},
      {Kind::key, {"F"}, "frame the selected solid", [](ViewerState& s) { s.viewpoint().focus_selection(); }},
      {Kind::key, {"L"}, "hide the selected solid", [](ViewerState& s) { s.appearance().hide_selection(); }},
      {Kind::key, {"Ctrl+C"}, "copy what is measured, or the facts of the selected solid", copy_facts},
      {Kind::key,
       {"Y"},
       "measure between clicked points, or end it",
       [](ViewerState& s) { s.measuring().set_active(!s.measuring().active()); }},
      {Kind::key,
       {"Ctrl+Z"},
       "undo the last change of what is hidden, or of styles",
       [](ViewerState& s) { s.appearance().undo(); }},
      {Kind::key, {"U"}, "show all solids", [](ViewerState& s) { s.change_solids(&Solids::show_all); }},
      {Kind::key,
       {"V"},
       "what encloses all others: faint, solid or hidden",
       [](Settings& s) { s.shells = after(s.shells, kShellsNames); }},
      {Kind::key, {"M"}, "wireframe", unless_rays<wireframe>},
      {Kind::key, {"G"}, "edges", unless_rays<edges>},
      {Kind::key, {"Shift+G"}, "feature edges alone, or the edges of all triangles", unless_rays<feature_edges>},
      {Kind::key,
       {"Ctrl+G"},
       "draw all but the selected solid faintly; again, or without one: none",
       [](ViewerState& s) { s.appearance().ghost_others(); }},
      {Kind::key, {"N"}, "smooth or flat shading", [](Settings& s) { s.smooth = !s.smooth; }},
      {Kind::key, {"T"}, "transparency", unless_rays<transparency>},
      {Kind::key, {"B"}, "back faces in red stripes", [](Settings& s) { s.back_faces = !s.back_faces; }},
      {Kind::key, {"X"}, "clipping plane: cut the half that faces the camera", clip},
      {Kind::key, {"Shift+X"}, "clip along the next axis", next_clip_axis},
      {Kind::key,
       {"Ctrl+X"},
       "clipping box around the selected solid, or around what is shown; again: none",
       [](ViewerState& s) { s.clipping().toggle_box(); }},
      {Kind::key, {"["}, "move the clipping plane back", move_clip<-1>},
      {Kind::key, {"]"}, "move the clipping plane forward", move_clip<1>},
      {Kind::key, {"C"}, "next colouring", [](Settings& s) { s.color = after(s.color, kColorNames); }},
      {Kind::key,
       {"O"},
       "next colouring of light",
       [](Settings& s) { s.photons.color = after(s.photons.color, kPhotonColorNames); }},
      {Kind::key,
       {"Space"},
       "let the time of light run, or stop it",
       [](ViewerState& s) { s.light().play(!s.light().playing()); }},
      {Kind::key, {","}, "light a little earlier", [](ViewerState& s) { s.light().step_time(-0.01); }},
      {Kind::key, {"."}, "light a little later", [](ViewerState& s) { s.light().step_time(0.01); }},
      {Kind::key, {"Shift+Space"}, "light of all times", all_times},
      {Kind::key, {"K"}, "next ray-casting mode", [](Settings& s) { s.ray_cast = after(s.ray_cast, kRayModeNames); }},
      {Kind::key, {"I"}, "axes and scale bar", [](Settings& s) { s.axes = s.scale_bar = !s.axes; }},
      {Kind::key, {"Ctrl+D"}, "bookmark the view", [](ViewerState& s) { s.add_bookmark(); }},
      {Kind::key, {"Ctrl+O"}, "open a file", [](Target to, Event) { to.layout.opening = true; }},
      {Kind::key, {"R", "F5"}, "reload the file", [](ViewerState& s) { s.reload(); }},
      {Kind::key, {"J"}, "legend of the colours", [](Target to, Event) { to.layout.legend = !to.layout.legend; }},
      {Kind::key, {"P"}, "panels", [](Target to, Event) { to.layout.panels = !to.layout.panels; }},
      {Kind::key, {"H"}, "help", [](Target to, Event) { to.layout.help = !to.layout.help; }},
      {Kind::key,
       {"Escape"},
       "stop reading a file; end measuring; close menu, dialog, help and errors, deselect",
       escape},
      {Kind::key, {"F11"}, "full screen", [](Target to, Event) { to.layout.full_screen ^= true; }, true},
      {Kind::key, {"F12"}, "save the image", [](Target to, Event) { to.frames->save_image(to.state); }, true},
      {Kind::key, {"Ctrl+Q"}, "quit", [](Target to, Event) { to.layout.closing = true; }, true}};
}

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

void Control::act(const ControlTarget& to, const ControlEvent& event) const {
  std::visit(Overloaded{[&](void (*change)(Settings&)) { to.state.change_settings(change); },
                        [&](void (*change)(ViewerState&)) { change(to.state); },
                        [&](void (*move)(Camera&, Event)) {
                          to.state.viewpoint().move([&](Camera& camera) { move(camera, event); });
                        },
                        [&](void (*work)(Target, Event)) { work(to, event); }},
             action);
}

std::string Control::all_names() const {
  std::string text;
  for (const std::string_view one : names) text += (text.empty() ? "" : ", ") + std::string(one);
  return text;
}

const std::vector<Control>& controls() {
  static const std::vector<Control> table = make_controls();
  return table;
}

const Control* find_control(Control::Kind kind, std::string_view name, bool control, bool shift) {
  const auto find = [&](const char* modifier) -> const Control* {
    const std::string full = std::string(modifier) + std::string(name);
    for (const Control& one : controls())
      if (one.kind == kind && std::find(one.names.begin(), one.names.end(), full) != one.names.end()) return &one;
    return nullptr;
  };
  const Control* found = shift ? find("Shift+") : nullptr;
  if (found == nullptr && control) found = find("Ctrl+");
  return found != nullptr ? found : find("");
}

}  // namespace raylift::viewer
