// SPDX-License-Identifier: Apache-2.0
#include "window/controls/controls.h"

#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "model/settings/measurement.h"
#include "window/controls/solid_menu.h"

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

void print_measured(Target to) {
  if (const std::string line = measured_line(to.state.settings().measured); !line.empty()) to.print(line);
}

void add_measured_point(Target to, Event event) {
  to.state.measuring().add(to.frames->pick_around(to.state, event.cursor), event.cursor, !event.alt);
  print_measured(to);
}

void add_measured_centre(Target to, Event event) {
  const auto picked = to.frames->pick(to.state, event.cursor);
  if (!picked) return to.state.messages().show("no solid is there to be measured from");
  to.state.measuring().add_centre(picked->instance);
  print_measured(to);
}

void select(Target to, Event event) {
  if (to.state.measuring().active())
    return event.shift ? add_measured_centre(to, event) : add_measured_point(to, event);
  if (const auto photon = to.frames->pick_photon(to.state, event.cursor)) {
    to.state.selection().select_photon(photon);
    if (const auto& chosen = to.state.photons().selection())
      to.print("photon " + std::to_string(chosen->number) + ": " + chosen->history);
    return;
  }
  to.state.selection().select(to.frames->pick(to.state, event.cursor), event.cursor);
  if (to.state.selection()) to.print(to.state.selection()->path);
}

void select_and_frame(Target to, Event event) {
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
  if (to.layout.palette) {
    to.layout.palette = false;
    return;
  }
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

template <StandardView view>
void look_from(ViewerState& state) {
  state.viewpoint().look(view);
}

/// Turns the camera by steps of 15 degrees.
template <int around, int over>
void turn_by_key(Camera& camera, Event) {
  constexpr double kStep = 15 * std::numbers::pi / 180;
  camera.orbit(around * kStep, over * kStep);
}

void look_from_opposite(ViewerState& state) {
  state.viewpoint().move([](Camera& camera) { camera.look(-camera.forward(), camera.above()); });
}

void zoom_by_drag(Camera& camera, Event event) {
  constexpr double kPixels = 12;  // that are as a step of the wheel
  camera.zoom(std::pow(kWheel, -event.dy / kPixels));
}

template <int steps>
void zoom_by_key(Camera& camera, Event) {
  camera.zoom(std::pow(kWheel, steps));
}

int digit(Event event) {
  return event.key.front() - '0';
}

using Group = Control::Group;
using Names = std::vector<std::string_view>;

Control key(Names names, std::string_view help, Control::Action action) {
  return {{}, Kind::key, std::move(names), help, action};
}
Control held_key(Names names, std::string_view help, Control::Action action) {
  return {{}, Kind::held_key, std::move(names), help, action};
}
Control drag(Names names, std::string_view help, Control::Action action) {
  return {{}, Kind::drag, std::move(names), help, action};
}
Control wheel(Names names, std::string_view help, Control::Action action) {
  return {{}, Kind::wheel, std::move(names), help, action};
}
Control click(Names names, std::string_view help, Control::Action action) {
  return {{}, Kind::click, std::move(names), help, action};
}

Control drag_by_scheme(decltype(Control::by_scheme) names, std::string_view help, Control::Action action) {
  Control one = drag({}, help, action);
  one.by_scheme = std::move(names);
  return one;
}

Control while_typing(Control one) {
  one.while_typing = true;
  return one;
}

Control shown_as(std::string_view names, Control one) {
  one.shown = names;
  return one;
}

std::vector<Control> in_group(Group group, std::vector<Control> controls) {
  for (Control& one : controls) one.group = group;
  return controls;
}

std::vector<Control> view_controls() {
  return in_group(
      Group::view,
      {drag_by_scheme({{{"left drag"}, {"left drag"}, {"middle drag", "left drag"}}}, "orbit",
                      [](Camera& c, Event e) { c.orbit(-e.dx * kOrbit, -e.dy * kOrbit); }),
       drag_by_scheme({{{"right drag", "middle drag", "Shift+left drag"},
                        {"middle drag", "Shift+left drag"},
                        {"Shift+middle drag", "right drag", "Shift+left drag"}}},
                      "pan", pan),
       drag_by_scheme({{{"Ctrl+middle drag"}, {"right drag"}, {"Ctrl+middle drag"}}}, "zoom", zoom_by_drag),
       drag({"Ctrl+left drag"}, "look around", [](Camera& c, Event e) { c.turn(e.dx * kTurn, e.dy * kTurn); }),
       wheel({"wheel"}, "zoom to the cursor", zoom),
       held_key({"W", "S", "A", "D", "E", "Q"}, "fly; faster with Shift", fly),
       wheel({"wheel while flying"}, "fly faster or slower, from now on",
             [](Target to, Event e) { to.state.viewpoint().change_fly_speed(e.steps); }),
       click({"click on an axis of the gizmo"}, "look along this axis",
             [](Target to, Event e) { to.state.viewpoint().look_along(e.axis); }),
       key({"Num 1", "Shift+1"}, "view from the front", look_from<StandardView::front>),
       key({"Ctrl+Num 1", "Ctrl+Shift+1"}, "view from the back", look_from<StandardView::back>),
       key({"Num 3", "Shift+3"}, "view from the right", look_from<StandardView::right>),
       key({"Ctrl+Num 3", "Ctrl+Shift+3"}, "view from the left", look_from<StandardView::left>),
       key({"Num 7", "Shift+7"}, "view from the top", look_from<StandardView::top>),
       key({"Ctrl+Num 7", "Ctrl+Shift+7"}, "view from the bottom", look_from<StandardView::bottom>),
       key({"Num 9", "Shift+9"}, "view from the opposite side", look_from_opposite),
       key({"Num 0", "Shift+0"}, "isometric view", look_from<StandardView::iso>),
       key({"Num 4"}, "turn the camera to the left by 15 degrees", turn_by_key<-1, 0>),
       key({"Num 6"}, "turn the camera to the right by 15 degrees", turn_by_key<1, 0>),
       key({"Num 8"}, "raise the camera by 15 degrees", turn_by_key<0, -1>),
       key({"Num 2"}, "lower the camera by 15 degrees", turn_by_key<0, 1>),
       key({"Num +"}, "zoom in", zoom_by_key<1>),
       key({"Num -"}, "zoom out", zoom_by_key<-1>),
       key({"Num 5", "Shift+5"}, "orthographic",
           [](ViewerState& s) { s.viewpoint().set_orthographic(!s.camera().orthographic); }),
       key({"Home"}, "the first view again", [](ViewerState& s) { s.viewpoint().go_home(); }),
       key({"Enter"}, "frame all that is shown", [](ViewerState& s) { s.viewpoint().frame_all(); }),
       key({"F", "Num ."}, "frame the selected solid", [](ViewerState& s) { s.viewpoint().focus_selection(); })});
}

std::vector<Control> selection_controls() {
  return in_group(Group::selection,
                  {click({"click"}, "select the solid or photon under the cursor, print its path or history", select),
                   click({"double click"}, "select and frame the solid under the cursor", select_and_frame),
                   click({"right click"}, "open the menu of the solid under the cursor", open_solid_menu),
                   key({"L"}, "hide the selected solid", [](ViewerState& s) { s.appearance().hide_selection(); }),
                   key({"Ctrl+G"}, "draw all but the selected solid faintly; again, or without one: none",
                       [](ViewerState& s) { s.appearance().ghost_others(); }),
                   key({"U"}, "show all solids", [](ViewerState& s) { s.change_solids(&Solids::show_all); }),
                   key({"Ctrl+Z"}, "undo the last change of what is hidden, or of styles",
                       [](ViewerState& s) { s.appearance().undo(); }),
                   key({"Ctrl+C"}, "copy what is measured, or the facts of the selected solid", copy_facts)});
}

std::vector<Control> appearance_controls() {
  return in_group(
      Group::appearance,
      {key({"C"}, "next colouring", [](Settings& s) { s.color = after(s.color, kColorNames); }),
       key({"V"}, "what encloses all others: faint, solid or hidden",
           [](Settings& s) { s.shells = after(s.shells, kShellsNames); }),
       key({"M"}, "wireframe", unless_rays<wireframe>), key({"G"}, "edges", unless_rays<edges>),
       key({"Shift+G"}, "feature edges alone, or the edges of all triangles", unless_rays<feature_edges>),
       key({"N"}, "smooth or flat shading", [](Settings& s) { s.smooth = !s.smooth; }),
       key({"T"}, "transparency", unless_rays<transparency>),
       key({"B"}, "back faces in red stripes", [](Settings& s) { s.back_faces = !s.back_faces; }),
       key({"K"}, "next ray-casting mode", [](Settings& s) { s.ray_cast = after(s.ray_cast, kRayModeNames); }),
       key({"I"}, "axes and scale bar", [](Settings& s) { s.axes = s.scale_bar = !s.axes; }),
       key({"J"}, "legend of the colours", [](Target to, Event) { to.layout.legend = !to.layout.legend; })});
}

std::vector<Control> clip_controls() {
  return in_group(
      Group::clip,
      {key({"X"}, "clipping plane: cut the half that faces the camera", clip),
       key({"Shift+X"}, "clip along the next axis", next_clip_axis),
       key({"Ctrl+X"}, "clipping box around the selected solid, or around what is shown; again: none",
           [](ViewerState& s) { s.clipping().toggle_box(); }),
       drag({"drag of a handle"}, "move a face of the clipping box",
            [](Target to, Event e) { to.state.clipping().drag_face(e.face, e.cursor); }),
       key({"["}, "move the clipping plane back", move_clip<-1>),
       key({"]"}, "move the clipping plane forward", move_clip<1>),
       key({"Y"}, "measure between clicked points, or end it",
           [](ViewerState& s) { s.measuring().set_active(!s.measuring().active()); }),
       click({"click while measuring"},
             "add a point; it snaps to a vertex, edge or centre close by, with Alt held to none", add_measured_point),
       click({"Shift+click while measuring"}, "add the centre of the solid under the cursor", add_measured_centre),
       key({"Shift+Y"}, "snapping to vertices, edges and centres", [](Settings& s) { s.snap = !s.snap; })});
}

std::vector<Control> light_controls() {
  return in_group(Group::light,
                  {drag({"Ctrl+right drag"}, "move the source of light", move_source),
                   key({"O"}, "next colouring of light",
                       [](Settings& s) { s.photons.color = after(s.photons.color, kPhotonColorNames); }),
                   key({"Space"}, "let the time of light run, or stop it",
                       [](ViewerState& s) { s.light().play(!s.light().playing()); }),
                   key({","}, "light a little earlier", [](ViewerState& s) { s.light().step_time(-0.01); }),
                   key({"."}, "light a little later", [](ViewerState& s) { s.light().step_time(0.01); }),
                   key({"Shift+Space"}, "light of all times", all_times),
                   key({"Page Down"}, "next event", [](ViewerState& s) { s.light().step_event(1); }),
                   key({"Page Up"}, "event before", [](ViewerState& s) { s.light().step_event(-1); })});
}

std::vector<Control> file_controls() {
  return in_group(
      Group::files,
      {key({"Ctrl+O"}, "open a file", [](Target to, Event) { to.layout.opening = true; }),
       key({"R", "F5"}, "reload the file", [](ViewerState& s) { s.reload(); }),
       while_typing(key({"F12"}, "save the image", [](Target to, Event) { to.frames->save_new_image(to.state); })),
       shown_as("0 to 9", key({"1", "2", "3", "4", "5", "6", "7", "8", "9", "0"}, "go to the bookmark with this key",
                              [](Target to, Event e) { to.state.go_to_key(digit(e)); })),
       shown_as(
           "Ctrl+0 to Ctrl+9",
           key({"Ctrl+1", "Ctrl+2", "Ctrl+3", "Ctrl+4", "Ctrl+5", "Ctrl+6", "Ctrl+7", "Ctrl+8", "Ctrl+9", "Ctrl+0"},
               "bookmark the view with this key", [](Target to, Event e) { to.state.bookmark_key(digit(e)); })),
       key({"Ctrl+D"}, "bookmark the view with the first free key", [](ViewerState& s) { s.add_bookmark(); })});
}

std::vector<Control> window_controls() {
  return in_group(
      Group::window,
      {while_typing(key({"Ctrl+P"}, "find a command by its name",
                        [](Target to, Event) { to.layout.palette = !to.layout.palette; })),
       key({"Ctrl+F"}, "find solids",
           [](Target to, Event) {
             to.layout.panels = to.layout.scene = to.layout.search = true;
             to.layout.next_tab = WindowLayout::Tab::solids;
           }),
       key({"H", "F1"}, "help", [](Target to, Event) { to.layout.help = !to.layout.help; }),
       key({"P"}, "panels", [](Target to, Event) { to.layout.panels = !to.layout.panels; }),
       key({"Shift+H"}, "name, material and position under the cursor", [](Settings& s) { s.hover = !s.hover; }),
       key({"Escape"}, "stop reading a file; end measuring; close menu, dialog, help and errors, deselect", escape),
       while_typing(key({"F11"}, "full screen", [](Target to, Event) { to.layout.full_screen ^= true; })),
       while_typing(key({"Ctrl+Q"}, "quit", [](Target to, Event) { to.layout.closing = true; }))});
}

std::vector<Control> make_controls() {
  std::vector<Control> all;
  for (const auto& group : {view_controls, selection_controls, appearance_controls, clip_controls, light_controls,
                            file_controls, window_controls})
    for (Control& one : group()) all.push_back(std::move(one));
  return all;
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

const std::vector<std::string_view>& Control::names_in(MouseScheme scheme) const {
  return differs_by_scheme() ? by_scheme[static_cast<std::size_t>(scheme)] : names;
}

std::string Control::all_names(MouseScheme scheme) const {
  if (!shown.empty()) return std::string(shown);
  std::string text;
  for (const std::string_view one : names_in(scheme)) text += (text.empty() ? "" : ", ") + std::string(one);
  return text;
}

const std::vector<Control>& controls() {
  static const std::vector<Control> table = make_controls();
  return table;
}

const Control* find_control(Control::Kind kind, std::string_view name, bool control, bool shift, MouseScheme scheme) {
  const auto find = [&](const char* modifier) -> const Control* {
    const std::string full = std::string(modifier) + std::string(name);
    for (const Control& one : controls()) {
      const std::vector<std::string_view>& names = one.names_in(scheme);
      if (one.kind == kind && std::find(names.begin(), names.end(), full) != names.end()) return &one;
    }
    return nullptr;
  };
  if (control && kind == Control::Kind::key) {  // another key than without
    const Control* found = shift ? find("Ctrl+Shift+") : nullptr;
    return found != nullptr ? found : find("Ctrl+");
  }
  const Control* found = control && shift ? find("Ctrl+Shift+") : nullptr;
  if (found == nullptr && shift) found = find("Shift+");
  if (found == nullptr && control) found = find("Ctrl+");
  return found != nullptr ? found : find("");
}

}  // namespace raylift::viewer
