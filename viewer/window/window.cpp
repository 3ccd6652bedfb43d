// SPDX-License-Identifier: Apache-2.0
#include "window/window.h"

// GLEW's header comes before all others of OpenGL.
#include "state/frame_scheduler.h"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <raylift/geometry/error.h>
#include <raylift/interop/gl_context.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/descriptor.h"
#include "cli/interrupt.h"
#include "cli/text.h"
#include "draw/overlay/overlay.h"
#include "geometry/src/process.h"
#include "state/scene_loader.h"
#include "window/controls/controls.h"
#include "window/controls/solid_menu.h"
#include "window/desktop_theme.h"
#include "window/gui.h"
#include "window/items/panel_items.h"
#include "window/panels/hover_panel.h"
#include "window/panels/palette_panel.h"
#include "window/panels/panels.h"

namespace raylift::viewer {
namespace {

constexpr double kClickDistance = 4;   // pixels: a press that moves farther is a drag
constexpr double kDoubleClick = 0.35;  // seconds
constexpr int kFramesAfterEvent = 3;   // that ImGui needs
constexpr double kRest = 0.35;         // seconds that the cursor rests before it shows what it is over

struct DestroyWindow {
  void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
using WindowHandle = std::unique_ptr<GLFWwindow, DestroyWindow>;

/// A window with an OpenGL context, which is current from now on.
WindowHandle open_window(const Resolution& size) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 5);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  WindowHandle window(glfwCreateWindow(size.width, size.height, "raylift-view", nullptr, nullptr));
  if (!window)
    throw Error(ErrorKind::no_display, "no window with OpenGL 4.5 can be opened: " + Glfw::last_error(), {},
                "update the display's driver, or draw without a window: --output FILE.png");
  glfwMakeContextCurrent(window.get());
  glfwSwapInterval(1);
  return window;
}

/// A thread that ends GLFW's wait for events when a descriptor becomes readable.
class Waker {
 public:
  /// The descriptor must outlive this. Throws Error(io).
  explicit Waker(int descriptor)
      : stop_(detail::opened(::eventfd(0, EFD_CLOEXEC), "eventfd")),
        events_(detail::opened(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
    // EPOLLET: input that the window has not read yet wakes it once.
    for (const int one : {descriptor, stop_.get()}) {
      epoll_event event{EPOLLIN | EPOLLET, {.fd = one}};
      (void)::epoll_ctl(events_.get(), EPOLL_CTL_ADD, one, &event);
    }
    thread_ = std::thread([this] {
      for (epoll_event event{}; event.data.fd != stop_.get();)
        if (::epoll_wait(events_.get(), &event, 1, -1) == 1) glfwPostEmptyEvent();
    });
  }
  ~Waker() {
    (void)::eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

 private:
  base::Descriptor stop_, events_;
  std::thread thread_;
};

/// The size of the framebuffer, in pixels; none where the window is minimised.
std::optional<Resolution> framebuffer_of(GLFWwindow* window) {
  Resolution size{0, 0};
  glfwGetFramebufferSize(window, &size.width, &size.height);
  if (size.width <= 0 || size.height <= 0) return std::nullopt;
  return size;
}

/// GLFW's window with the image and the panels. Its events go through the table of controls.
class Window {
 public:
  Window(const ViewOptions& options, cli::Session& session, const ServerFactory& make_server,
         const CommandsFactory& make_commands)
      : options_(options),
        window_((ask_desktop(), open_window(options.image.resolution))),
        gl_(init_gl()),
        state_(options, framebuffer_of(window_.get()).value_or(Resolution{1, 1})),
        panels_(state_, loader_, frames_, layout_),
        target_{state_,
                &frames_,
                layout_,
                loader_,
                [&](const std::string& line) { session.write(cli::printable(line) + '\n'); },
                [this](const std::string& text) { glfwSetClipboardString(window_.get(), text.c_str()); }},
        commands_(make_commands ? make_commands(target_) : nullptr),
        palette_(commands_.get()) {
    session.debug("OpenGL: " + gl_.renderer + ", " + gl_.version);
    glfwSetWindowUserPointer(window_.get(), this);
    set_callbacks();
    layout_.theme = options.window.theme;
    layout_.light = options.window.theme == ThemeChoice::light;
    if (const auto bookmarks = bookmarks_file(options); !bookmarks.empty())
      state_.remember(bookmarks.parent_path() / "window.json");
    gui_ = std::make_unique<Gui>(window_.get(), options.window.ui_scale);  // calls the callbacks above after its own
    if (make_server) listen(make_server, session);
  }

  void run(const cli::Session& session) {
    while (glfwWindowShouldClose(window_.get()) == 0 && cli::interrupted_by() == 0) {
      if (draws_on() || (server_ && server_->busy()))
        glfwPollEvents();
      else
        glfwWaitEventsTimeout(longest_wait());
      act_on_held_keys();
      if (!any_held_key()) state_.keep_fly_speed();
      act_on_time();
      serve_clients();
      serve_commands();
      loader_.poll(state_);
      state_.reread_bookmarks();
      follow_theme();
      look_under_cursor();
      if (tip_due_ && glfwGetTime() >= *tip_due_) {
        tip_due_.reset();
        wake_ = kFramesAfterEvent;
      }
      note_changes();
      // A wait that ends without an event or a change draws nothing: an idle window costs nothing.
      if (!draws_on()) continue;
      const bool woken = wake_ > 0;
      if (woken) --wake_;
      draw(woken);
      apply_layout();
    }
    session.stop_if_interrupted();
  }

 private:
  /// While the window opens.
  void ask_desktop() {
    if (options_.window.theme == ThemeChoice::automatic) desktop_.ask();
  }

  void listen(const ServerFactory& make_server, cli::Session& session) {
    try {
      server_ = make_server(target_);
      waker_.emplace(server_->descriptor());
      session.debug("socket: " + server_->address());
    } catch (const Error& error) {
      session.warn(error.what());
    }
  }

  /// Applies the chosen theme, or the desktop's. A background that is not a theme's own stays.
  void follow_theme() {
    const bool light = layout_.theme == ThemeChoice::light ||
                       (layout_.theme == ThemeChoice::automatic && desktop_.theme() == DesktopTheme::light);
    if (light == layout_.light) return;
    if (state_.settings().background == parse_background(layout_.light ? "light" : "dark"))
      state_.change_settings([&](Settings& s) { s.background = parse_background(light ? "light" : "dark"); });
    layout_.light = light;
    wake_ = kFramesAfterEvent;
  }

  void serve_clients() {
    if (!server_) return;
    const WindowLayout before = layout_;
    if (!server_->serve() || layout_ == before) return;
    wake_ = kFramesAfterEvent;
    apply_layout();
  }

  void serve_commands() {
    if (commands_ && commands_->serve()) wake_ = kFramesAfterEvent;
  }

  static Window& of(GLFWwindow* window) { return *static_cast<Window*>(glfwGetWindowUserPointer(window)); }

  [[nodiscard]] bool draws_on() const {
    return frames_.busy(state_) || any_held_key() || wake_ > 0 || state_.plays_path();
  }

  /// Seconds until something may have changed without an event. The loop notices an interrupt after that time at the
  /// latest.
  [[nodiscard]] double longest_wait() const {
    if (loader_.busy() || (server_ && server_->pending()) || (commands_ && commands_->pending())) return 0.05;
    if (tip_due_) return std::max(0.001, *tip_due_ - glfwGetTime());
    if (looks_for_hover()) return std::max(0.001, moved_ + kRest - glfwGetTime());
    if (ImGui::GetIO().WantTextInput) return 0.2;  // its cursor blinks
    return options_.window.watch || !state_.messages().text().empty() ? 0.4 : 1.0;
  }

  /// Draws some frames after any change that panels show.
  void note_changes() {
    const SceneLoader::Activity work = loader_.activity();
    const int facts = !state_.selection().facts() ? 0 : state_.selection().facts()->checked ? 2 : 1;
    Shown now{state_.revision(),
              state_.messages().error(),
              state_.messages().text(),
              work.what + work.stage,
              work.share,
              state_.check() != nullptr,
              facts,
              state_.wants_thumbnail()};
    if (now != shown_ || ImGui::GetIO().WantTextInput) wake_ = std::max(wake_, now != shown_ ? kFramesAfterEvent : 1);
    shown_ = std::move(now);
  }

  void set_callbacks() {
    GLFWwindow* w = window_.get();
    glfwSetMouseButtonCallback(w, [](GLFWwindow* window, int button, int action, int modifiers) {
      of(window).on_button(button, action, modifiers);
    });
    glfwSetCursorPosCallback(w, [](GLFWwindow* window, double x, double y) { of(window).on_cursor(x, y); });
    glfwSetScrollCallback(w, [](GLFWwindow* window, double, double y) { of(window).on_scroll(y); });
    glfwSetKeyCallback(w, [](GLFWwindow* window, int key, int, int action, int modifiers) {
      if (action != GLFW_RELEASE) of(window).on_key(key, modifiers);
    });
    glfwSetCharCallback(w, [](GLFWwindow* window, unsigned code) {
      if (of(window).layout_.palette && !ImGui::GetIO().WantTextInput) of(window).palette_.type(code);
    });
    glfwSetDropCallback(w, [](GLFWwindow* window, int count, const char** paths) {
      if (count > 0) of(window).state_.open(std::vector<std::string>(paths, paths + count));
      of(window).wake_ = kFramesAfterEvent;
    });
    glfwSetWindowFocusCallback(w, [](GLFWwindow* window, int focused) {
      // Its setting may have changed meanwhile.
      if (focused == GLFW_TRUE && of(window).layout_.theme == ThemeChoice::automatic) of(window).desktop_.ask();
      of(window).wake_ = kFramesAfterEvent;
    });
    glfwSetWindowRefreshCallback(w, [](GLFWwindow* window) { of(window).wake_ = kFramesAfterEvent; });
  }

  [[nodiscard]] Resolution window_size() const {
    Resolution size{1, 1};
    glfwGetWindowSize(window_.get(), &size.width, &size.height);
    return {std::max(1, size.width), std::max(1, size.height)};
  }

  /// `woken`: something besides the image may have changed.
  void draw(bool woken) {
    const std::optional<Resolution> pixels = framebuffer_of(window_.get());
    if (!pixels) return;
    state_.viewpoint().set_framebuffer(*pixels);
    const bool in_turns = frames_.in_turns();
    frames_.draw(state_);
    // The screen stays until the image differs, but for how far it is: to draw it again would take longer than half a
    // turn.
    constexpr double kSayAgain = 0.25;  // seconds
    if (!woken && !frames_.redrawn() && glfwGetTime() - presented_ < kSayAgain) return;
    // Polls events before the image is presented: one that arrived during the last turn would wait for that.
    if (!woken && in_turns && !frames_.in_turns()) {
      wake_ = 1;
      return;
    }
    if (lettered_ != state_.scene()) {
      lettered_ = state_.scene();
      if (lettered_) need_letters(*lettered_);
    }
    gui_->need_letters(state_.file());
    gui_->need_letters(panels_.new_names());
    gui_->begin_frame(layout_.light);
    if (gui_->lacks_new_letters() && state_.messages().error().empty())
      state_.messages().show(
          "some names have letters that are in no installed font, and appear as boxes: install fonts-noto-cjk for "
          "Chinese, Japanese and Korean");
    const Resolution size = window_size();
    const auto width = static_cast<float>(size.width), height = static_cast<float>(size.height);
    if (button_ < 0 && !Gui::covers(cursor_x_, cursor_y_))
      if (const auto end = gizmo_under(cursor_x_, cursor_y_)) draw_gizmo_highlight(*end, *pixels, width, height);
    panels_.draw(width, height);
    if (!panels_.settled()) wake_ = std::max(wake_, 1);
    draw_solid_menu(target_);
    draw_help(target_, width, height);
    palette_.draw(target_, width, height);
    const ImVec2 cursor(static_cast<float>(cursor_x_), static_cast<float>(cursor_y_));
    if (snap_) draw_snap_mark(*snap_, state_.camera(), width, height);
    if (hover_ && !layout_.palette && !layout_.help && !layout_.opening && !Gui::covers(cursor_x_, cursor_y_))
      draw_hover(*hover_, cursor.x, cursor.y, width, height);
    const auto [low, high] = panels_.free_part(width, height);
    state_.viewpoint().set_free_part({low.x(), 1 - high.y()}, {high.x(), 1 - low.y()});
    const auto to_tip = seconds_to_tip();
    tip_due_ = to_tip ? std::optional(glfwGetTime() + *to_tip) : std::nullopt;
    ImGui::Render();
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(0, 0, pixels->width, pixels->height);
    frames_.renderer().present(0, pixels->width, pixels->height);
    gui_->end_frame();
    glfwSwapBuffers(window_.get());
    presented_ = glfwGetTime();
    const std::string title = state_.file().empty() ? "raylift-view" : state_.file() + " - raylift-view";
    if (title != title_) glfwSetWindowTitle(window_.get(), (title_ = title).c_str());
  }

  /// Loads the letters of the names that panels show.
  void need_letters(const Scene& scene) {
    for (const Node& node : scene.nodes) gui_->need_letters(node.name);
    for (const Mesh& mesh : scene.meshes) gui_->need_letters(mesh.name);
    for (const Material& material : scene.materials) gui_->need_letters(material.name);
    for (const auto& surface : scene.optics.surfaces) gui_->need_letters(surface.name);
  }

  /// Applies the layout that controls and panels have set.
  void apply_layout() {
    GLFWwindow* w = window_.get();
    if (layout_.closing) glfwSetWindowShouldClose(w, GLFW_TRUE);
    if (layout_.full_screen == (glfwGetWindowMonitor(w) != nullptr)) return;
    if (!layout_.full_screen) {
      glfwSetWindowMonitor(w, nullptr, 60, 60, options_.image.resolution.width, options_.image.resolution.height, 0);
      return;
    }
    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode* mode = monitor != nullptr ? glfwGetVideoMode(monitor) : nullptr;
    layout_.full_screen = mode != nullptr;
    if (mode != nullptr) glfwSetWindowMonitor(w, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
  }

  void act(Control::Kind kind, std::string_view name, int modifiers, const ControlEvent& event) {
    const Control* control = find_control(kind, name, (modifiers & GLFW_MOD_CONTROL) != 0,
                                          (modifiers & GLFW_MOD_SHIFT) != 0, state_.settings().controls);
    if (control == nullptr ||
        (!control->while_typing && kind == Control::Kind::key && (ImGui::GetIO().WantTextInput || layout_.palette)))
      return;
    if (kind != Control::Kind::key) state_.stop_path();
    control->act(target_, event);
  }

  [[nodiscard]] ControlEvent event_at(double x, double y) const {
    ControlEvent event;
    event.cursor = {x, y, window_size()};
    return event;
  }

  void on_button(int button, int action, int modifiers) {
    wake_ = kFramesAfterEvent;
    if (action == GLFW_PRESS) {
      // The position of the event: the cursor may be elsewhere by now, when drawing is slow.
      if (Gui::covers(cursor_x_, cursor_y_)) return;
      forget_hover();
      state_.stop_path();
      press_time_ = glfwGetTime();
      press_x_ = last_x_ = cursor_x_;
      press_y_ = last_y_ = cursor_y_;
      button_ = button;
      handle_ =
          button == GLFW_MOUSE_BUTTON_LEFT ? panels_.handle_under(event_at(press_x_, press_y_).cursor) : std::nullopt;
      gizmo_ = button == GLFW_MOUSE_BUTTON_LEFT ? gizmo_under(press_x_, press_y_) : std::nullopt;
      modifiers_ = modifiers;
      dragged_ = false;
      return;
    }
    if (button != button_) return;
    button_ = -1;
    if (dragged_ || handle_) return;
    if (button == GLFW_MOUSE_BUTTON_RIGHT)
      return act(Control::Kind::click, "right click", 0, event_at(press_x_, press_y_));
    if (button != GLFW_MOUSE_BUTTON_LEFT) return;
    if (gizmo_) {
      ControlEvent event = event_at(press_x_, press_y_);
      event.axis = gizmo_->axis;
      return act(Control::Kind::click, "click on an axis of the gizmo", 0, event);
    }
    const bool twice = press_time_ - last_click_ < kDoubleClick &&
                       std::hypot(press_x_ - last_click_x_, press_y_ - last_click_y_) <= kClickDistance;
    ControlEvent event = event_at(press_x_, press_y_);
    event.alt = (modifiers_ & GLFW_MOD_ALT) != 0;
    event.shift = (modifiers_ & GLFW_MOD_SHIFT) != 0;
    act(Control::Kind::click, twice ? "double click" : "click", 0, event);
    last_click_ = twice ? -1 : press_time_;  // a third click begins a new pair
    last_click_x_ = press_x_;
    last_click_y_ = press_y_;
  }

  void on_cursor(double x, double y) {
    wake_ = kFramesAfterEvent;
    cursor_x_ = x;
    cursor_y_ = y;
    forget_hover();
    moves_ = true;
    if (button_ < 0) return;
    if (std::hypot(x - press_x_, y - press_y_) > kClickDistance) dragged_ = true;
    if (!dragged_) return;
    ControlEvent event = event_at(x, y);
    event.dx = x - last_x_;
    event.dy = y - last_y_;
    last_x_ = x;
    last_y_ = y;
    event.face = handle_.value_or(0);
    act(Control::Kind::drag, handle_ ? "drag of a handle" : drag_name(button_), modifiers_, event);
  }

  void on_scroll(double steps) {
    wake_ = kFramesAfterEvent;
    if (Gui::covers(cursor_x_, cursor_y_)) return;
    forget_hover();
    ControlEvent event = event_at(cursor_x_, cursor_y_);
    event.steps = steps;
    act(Control::Kind::wheel, any_held_key() ? "wheel while flying" : "wheel", 0, event);
  }

  void on_key(int key, int modifiers) {
    wake_ = kFramesAfterEvent;
    const std::string name = key_name(key);
    if (name == "Escape" && Gui::close_menus()) return;
    const bool in_palette = layout_.palette;
    if (layout_.opening) panels_.press(name);
    if (in_palette) palette_.press(name);
    // Who types looks elsewhere: the tip comes back with the next move.
    forget_hover();
    moves_ = false;
    // The palette's field takes all keys but those that act while typing.
    ControlEvent event = event_at(cursor_x_, cursor_y_);
    event.key = name;
    if (!in_palette || name == "P" || name.size() > 1) act(Control::Kind::key, name, modifiers, event);
  }

  /// The end of the gizmo's axis under a place of the window.
  [[nodiscard]] std::optional<GizmoEnd> gizmo_under(double x, double y) const {
    const Resolution window = window_size(), image = state_.framebuffer();
    const Eigen::Vector2f place(static_cast<float>(x * image.width / window.width),
                                static_cast<float>(image.height - y * image.height / window.height));
    return gizmo_end_at(state_.camera(), state_.settings(), image, place);
  }

  /// Whether the cursor rests over the image, and what it met is still to be found.
  [[nodiscard]] bool looks_for_hover() const {
    return !hover_known_ && moves_ && (state_.settings().hover || state_.measuring().active()) && button_ < 0 &&
           state_.scene() && !layout_.opening && !layout_.palette && !layout_.help &&
           layout_.menu == WindowLayout::Menu::closed && glfwGetWindowAttrib(window_.get(), GLFW_HOVERED) == GLFW_TRUE;
  }
  void forget_hover() {
    if (hover_ || snap_) wake_ = kFramesAfterEvent;
    moved_ = glfwGetTime();
    hover_known_ = false;
    hover_.reset();
    snap_.reset();
  }
  /// Finds what lies under a cursor that has rested for a while: once, so that a window at rest takes no processor.
  void look_under_cursor() {
    if (hover_revision_ != state_.revision()) {  // something else may be there now
      hover_revision_ = state_.revision();
      if (hover_known_) forget_hover();
    }
    if (!looks_for_hover() || frames_.busy(state_) || any_held_key() || glfwGetTime() < moved_ + kRest) return;
    hover_known_ = true;
    if (Gui::covers(cursor_x_, cursor_y_) || gizmo_under(cursor_x_, cursor_y_)) return;
    const Cursor cursor = event_at(cursor_x_, cursor_y_).cursor;
    if (state_.measuring().active()) {
      const bool alt = down(GLFW_KEY_LEFT_ALT) || down(GLFW_KEY_RIGHT_ALT);
      snap_ = state_.measuring().point_at(frames_.pick_around(state_, cursor), cursor, !alt);
    } else if (const auto picked = frames_.pick(state_, cursor)) {
      hover_ = state_.hover_text(*picked, cursor);
      gui_->need_letters(hover_->name + hover_->material);
    }
    if (hover_ || snap_) wake_ = kFramesAfterEvent;
  }

  [[nodiscard]] bool down(int key) const { return glfwGetKey(window_.get(), key) == GLFW_PRESS; }
  /// Does `work` for each held key that has a control.
  template <class Work>
  void for_held_keys(const Work& work) const {
    // The palette and the dialog take letters from the key on that opens them, ImGui from the next image on.
    if (ImGui::GetIO().WantTextInput || layout_.palette || layout_.opening || down(GLFW_KEY_LEFT_CONTROL) ||
        down(GLFW_KEY_RIGHT_CONTROL))
      return;
    for (const Control& control : controls())
      for (const std::string_view name : control.names)
        if (control.kind == Control::Kind::held_key && down(name.front())) work(control, name);  // GLFW has ASCII codes
  }
  [[nodiscard]] bool any_held_key() const {
    bool any = false;
    for_held_keys([&](const Control&, std::string_view) { any = true; });
    return any;
  }
  void act_on_held_keys() {
    const double now = glfwGetTime();
    ControlEvent event = event_at(cursor_x_, cursor_y_);
    event.seconds = std::min(0.1, now - last_held_);
    event.shift = down(GLFW_KEY_LEFT_SHIFT);
    last_held_ = now;
    for_held_keys([&](const Control& control, std::string_view name) {
      event.key = name;
      control.act(target_, event);
    });
  }

  /// Advances the photons' time with the clock; after a pause, by one frame.
  void act_on_time() {
    const double now = glfwGetTime();
    const double seconds = std::min(0.1, now - last_advance_);
    if (state_.light().playing()) state_.light().advance(seconds);
    if (any_held_key()) state_.stop_path();
    state_.advance_path(seconds);
    last_advance_ = now;
  }

  const ViewOptions& options_;
  DesktopThemeWatch desktop_{[] { glfwPostEmptyEvent(); }};
  WindowHandle window_;  // its context outlives all that follow
  GlInfo gl_;
  WindowLayout layout_;
  ViewerState state_;
  SceneLoader loader_;
  FrameScheduler frames_;
  Panels panels_;
  ControlTarget target_;
  std::unique_ptr<Commands> commands_;
  PalettePanel palette_;
  std::unique_ptr<Server> server_;
  std::optional<Waker> waker_;  // of the server's descriptor
  std::unique_ptr<Gui> gui_;
  std::shared_ptr<const Scene> lettered_;  // whose letters are loaded
  std::string title_;
  struct Shown {
    std::uint64_t revision = 0;
    std::string error, message, work;
    float share = 0;
    bool checked = false;
    int facts = 0;
    std::string thumbnail;
    friend bool operator==(const Shown&, const Shown&) = default;
  };
  Shown shown_;                        // by the panels, apart from the effects of events
  int wake_ = kFramesAfterEvent;       // frames to draw before waiting for events
  int button_ = -1;                    // the pressed button
  std::optional<std::size_t> handle_;  // of the clipping box, under the press
  std::optional<GizmoEnd> gizmo_;      // under the press
  double moved_ = 0;                   // when the cursor moved, or the image changed
  bool hover_known_ = true;            // what lies under the cursor, or that nothing does
  bool moves_ = false;                 // the cursor moved since the last key
  std::uint64_t hover_revision_ = 0;   // of the state
  std::optional<double> tip_due_;      // when a tooltip appears
  std::optional<HoverText> hover_;
  std::optional<SnapPoint> snap_;
  int modifiers_ = 0;
  bool dragged_ = false;
  double cursor_x_ = 0, cursor_y_ = 0, press_x_ = 0, press_y_ = 0, last_x_ = 0, last_y_ = 0;
  double press_time_ = 0, last_click_ = -1, last_click_x_ = 0, last_click_y_ = 0;
  double last_held_ = 0, last_advance_ = 0, presented_ = 0;
};

}  // namespace

int show_window(const ViewOptions& options, cli::Session& session, const ServerFactory& make_server,
                const CommandsFactory& make_commands) {
  const Glfw glfw;
  Window window(options, session, make_server, make_commands);
  window.run(session);
  return 0;
}

}  // namespace raylift::viewer
