// SPDX-License-Identifier: Apache-2.0
#include "window.h"

// GLEW's header comes before all others of OpenGL.
#include "desk.h"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <raylift/geometry/error.h>
#include <raylift/interop/gl_context.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/interrupt.h"
#include "cli/text.h"
#include "panels.h"

namespace raylift::viewer {
namespace {

constexpr double kClickDistance = 4;   // pixels: a press that moves farther is a drag
constexpr double kDoubleClick = 0.35;  // seconds

std::string last_glfw_error;

/// GLFW's library, as long as it is needed.
class Glfw {
 public:
  Glfw() {
    glfwSetErrorCallback([](int, const char* text) { last_glfw_error = text; });
    if (glfwInit() != GLFW_TRUE)
      throw Error(ErrorKind::no_display, "no window can be opened: " + last_glfw_error, {},
                  "set DISPLAY, or draw without a window: --output FILE.png");
  }
  ~Glfw() { glfwTerminate(); }
  Glfw(const Glfw&) = delete;
  Glfw& operator=(const Glfw&) = delete;
};

struct DestroyWindow {
  void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};

/// Dear ImGui on a window.
class Gui {
 public:
  explicit Gui(GLFWwindow* window) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    float x = 1, y = 1;
    glfwGetWindowContentScale(window, &x, &y);
    const float scale = std::clamp(std::max(x, y), 1.0F, 3.0F);
    // A scalable font where there is one; ImGui's own is a bitmap.
    for (const char* font : {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                             "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf"}) {
      std::error_code ignored;
      if (!std::filesystem::exists(font, ignored)) continue;
      io.Fonts->AddFontFromFileTTF(font, std::round(13.5F * scale));
      break;
    }
    style(scale);
    ImGui_ImplGlfw_InitForOpenGL(window, true);
    ImGui_ImplOpenGL3_Init("#version 450 core");
  }
  ~Gui() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
  }
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

 private:
  static void style(float scale) {
    ImGui::StyleColorsDark();
    ImGuiStyle& s = ImGui::GetStyle();
    s.WindowRounding = 7;
    s.FrameRounding = 4;
    s.GrabRounding = 4;
    s.TabRounding = 4;
    s.ScrollbarRounding = 6;
    s.WindowBorderSize = 0;
    s.WindowPadding = {10, 9};
    s.ItemSpacing = {7, 5};
    s.Colors[ImGuiCol_WindowBg] = {0.085F, 0.095F, 0.11F, 0.88F};
    s.Colors[ImGuiCol_TitleBg] = s.Colors[ImGuiCol_TitleBgActive] = {0.11F, 0.125F, 0.15F, 0.95F};
    s.Colors[ImGuiCol_FrameBg] = {0.18F, 0.20F, 0.24F, 0.9F};
    s.Colors[ImGuiCol_Header] = {0.24F, 0.36F, 0.52F, 0.75F};
    s.Colors[ImGuiCol_Button] = {0.22F, 0.27F, 0.34F, 0.9F};
    s.ScaleAllSizes(scale);
  }
};

class Window {
 public:
  Window(const ViewOptions& options, cli::Session& session) : options_(options), session_(session) {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 5);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    window_.reset(
        glfwCreateWindow(options.resolution.width, options.resolution.height, "raylift-view", nullptr, nullptr));
    if (!window_)
      throw Error(ErrorKind::no_display, "no window with OpenGL 4.5 can be opened: " + last_glfw_error, {},
                  "update the display's driver, or draw without a window: --output FILE.png");
    glfwMakeContextCurrent(window_.get());
    glfwSwapInterval(1);
    const GlInfo info = init_gl();
    session.debug("OpenGL: " + info.renderer + ", " + info.version);
    glfwSetWindowUserPointer(window_.get(), this);
    set_callbacks();
    gui_ = std::make_unique<Gui>(window_.get());
    desk_ = std::make_unique<Desk>(options, framebuffer().value_or(Resolution{1, 1}));
    if (!options.files.empty()) desk_->open(options.files.front());
  }
  // In this order, while the context is current.
  ~Window() {
    desk_.reset();
    gui_.reset();
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  void run() {
    while (glfwWindowShouldClose(window_.get()) == 0 && cli::interrupted_by() == 0) {
      // Asleep until something happens, but for what goes on by itself.
      if (desk_->busy() || flying() || wake_ > 0)
        glfwPollEvents();
      else
        glfwWaitEventsTimeout(desk_->loading() ? 0.05 : 0.2);
      if (wake_ > 0) --wake_;
      fly();
      desk_->poll();
      draw();
    }
    session_.stop_if_interrupted();
  }

 private:
  static Window& of(GLFWwindow* window) { return *static_cast<Window*>(glfwGetWindowUserPointer(window)); }

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
    glfwSetDropCallback(w, [](GLFWwindow* window, int count, const char** paths) {
      if (count > 0) of(window).on_drop({paths, paths + count});
    });
    glfwSetWindowRefreshCallback(w, [](GLFWwindow* window) { of(window).wake_ = 2; });
  }

  [[nodiscard]] Resolution window_size() const {
    Resolution size{1, 1};
    glfwGetWindowSize(window_.get(), &size.width, &size.height);
    return {std::max(1, size.width), std::max(1, size.height)};
  }

  /// None where the window is minimised.
  [[nodiscard]] std::optional<Resolution> framebuffer() const {
    Resolution size{0, 0};
    glfwGetFramebufferSize(window_.get(), &size.width, &size.height);
    if (size.width <= 0 || size.height <= 0) return std::nullopt;
    return size;
  }

  void draw() {
    const std::optional<Resolution> pixels = framebuffer();
    if (!pixels) return;
    desk_->draw(*pixels);
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    const Resolution size = window_size();
    panels_.draw(*desk_, static_cast<float>(size.width), static_cast<float>(size.height));
    ImGui::Render();
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(0, 0, pixels->width, pixels->height);
    desk_->renderer.present(0, pixels->width, pixels->height);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    glfwSwapBuffers(window_.get());
    const std::string title = desk_->file.empty() ? "raylift-view" : desk_->file + " - raylift-view";
    if (title != title_) glfwSetWindowTitle(window_.get(), (title_ = title).c_str());
  }

  void on_button(int button, int action, int modifiers) {
    wake_ = 3;
    if (action == GLFW_PRESS) {
      if (ImGui::GetIO().WantCaptureMouse) return;
      // Where the events say: the cursor itself may be elsewhere by now, when pictures are slow.
      press_x_ = cursor_x_;
      press_y_ = cursor_y_;
      last_x_ = press_x_;
      last_y_ = press_y_;
      button_ = button;
      modifiers_ = modifiers;
      dragged_ = false;
      return;
    }
    if (button != button_) return;
    button_ = -1;
    if (dragged_ || button != GLFW_MOUSE_BUTTON_LEFT) return;
    desk_->pick(press_x_, press_y_, window_size());
    const double now = glfwGetTime();
    if (desk_->selection) {
      const std::array<std::uint32_t, 1> one{desk_->selection->instance};
      if (now - last_click_ < kDoubleClick)
        desk_->focus(one);
      else
        session_.write(cli::printable(desk_->selection->path) + '\n');
    }
    last_click_ = now;
  }

  void on_cursor(double x, double y) {
    wake_ = 3;
    cursor_x_ = x;
    cursor_y_ = y;
    if (button_ < 0) return;
    if (std::hypot(x - press_x_, y - press_y_) > kClickDistance) dragged_ = true;
    if (!dragged_) return;
    const double dx = x - last_x_, dy = y - last_y_;
    last_x_ = x;
    last_y_ = y;
    Camera& camera = desk_->camera;
    const Resolution size = window_size();
    const bool pan = button_ != GLFW_MOUSE_BUTTON_LEFT || (modifiers_ & GLFW_MOD_SHIFT) != 0;
    if (pan) {
      const double pixel = camera.pixel_size(size.height);
      camera.pan(-dx * pixel, dy * pixel);
    } else if ((modifiers_ & GLFW_MOD_CONTROL) != 0) {
      camera.turn(dx * 0.003, dy * 0.003);
    } else {
      camera.orbit(-dx * 0.0075, dy * -0.0075);
    }
    desk_->moved();
  }

  void on_scroll(double y) {
    wake_ = 3;
    if (ImGui::GetIO().WantCaptureMouse) return;
    desk_->camera.zoom(std::pow(0.88, y), desk_->point_under(cursor_x_, cursor_y_, window_size()));
    desk_->moved();
  }

  void on_drop(const std::vector<std::string>& paths) {
    desk_->options.files = paths;
    desk_->open(paths.front());
    wake_ = 3;
  }

  [[nodiscard]] bool down(int key) const { return glfwGetKey(window_.get(), key) == GLFW_PRESS; }
  [[nodiscard]] bool flying() const {
    if (ImGui::GetIO().WantTextInput || down(GLFW_KEY_LEFT_CONTROL) || down(GLFW_KEY_RIGHT_CONTROL)) return false;
    const auto keys = {GLFW_KEY_W, GLFW_KEY_S, GLFW_KEY_A, GLFW_KEY_D, GLFW_KEY_Q, GLFW_KEY_E};
    return std::any_of(keys.begin(), keys.end(), [&](int key) { return down(key); });
  }
  void fly() {
    const double now = glfwGetTime();
    const double step = std::min(0.1, now - last_fly_);
    last_fly_ = now;
    if (!flying()) return;
    const auto axis_of = [&](int plus, int minus) { return (down(plus) ? 1.0 : 0.0) - (down(minus) ? 1.0 : 0.0); };
    const double speed = desk_->camera.distance * step * (down(GLFW_KEY_LEFT_SHIFT) ? 2.5 : 0.7);
    desk_->camera.move(speed * axis_of(GLFW_KEY_W, GLFW_KEY_S), speed * axis_of(GLFW_KEY_D, GLFW_KEY_A),
                       speed * axis_of(GLFW_KEY_E, GLFW_KEY_Q));
    desk_->moved();
  }

  void look(StandardView view) {
    desk_->camera.look(view);
    desk_->frame_all();
  }

  void on_key(int key, int modifiers) {
    wake_ = 3;
    const bool control = (modifiers & GLFW_MOD_CONTROL) != 0;
    const bool shift = (modifiers & GLFW_MOD_SHIFT) != 0;
    if (control && key == GLFW_KEY_Q) return glfwSetWindowShouldClose(window_.get(), GLFW_TRUE);
    if (key == GLFW_KEY_F12) {
      desk_->screenshot();
      return;
    }
    if (key == GLFW_KEY_F11) return toggle_full_screen();
    if (ImGui::GetIO().WantTextInput) return;
    Settings& s = desk_->settings;
    switch (key) {
      case GLFW_KEY_1:
      case GLFW_KEY_KP_1:
        return look(control ? StandardView::back : StandardView::front);
      case GLFW_KEY_3:
      case GLFW_KEY_KP_3:
        return look(control ? StandardView::left : StandardView::right);
      case GLFW_KEY_7:
      case GLFW_KEY_KP_7:
        return look(control ? StandardView::bottom : StandardView::top);
      case GLFW_KEY_0:
      case GLFW_KEY_KP_0:
        return look(StandardView::iso);
      case GLFW_KEY_5:
      case GLFW_KEY_KP_5:
        desk_->camera.orthographic = !desk_->camera.orthographic;
        break;
      case GLFW_KEY_HOME:
      case GLFW_KEY_ENTER:
      case GLFW_KEY_KP_ENTER:
        return desk_->frame_all();
      case GLFW_KEY_F:
        return focus_selection();
      case GLFW_KEY_L:
        return hide_selection();
      case GLFW_KEY_U:
        if (desk_->solids) desk_->solids->show_all();
        break;
      case GLFW_KEY_M:
        s.fill = s.fill == Fill::surface ? Fill::wireframe : Fill::surface;
        break;
      case GLFW_KEY_G:
        s.edges = !s.edges;
        break;
      case GLFW_KEY_N:
        s.smooth = !s.smooth;
        break;
      case GLFW_KEY_T:
        s.opacity = s.opacity < 1 ? 1.0F : 0.25F;
        break;
      case GLFW_KEY_B:
        s.back_faces = !s.back_faces;
        break;
      case GLFW_KEY_X:
        toggle_clip(shift);
        break;
      case GLFW_KEY_LEFT_BRACKET:
        move_clip(-1);
        break;
      case GLFW_KEY_RIGHT_BRACKET:
        move_clip(1);
        break;
      case GLFW_KEY_C:
        s.color = static_cast<ColorBy>((static_cast<std::size_t>(s.color) + 1) % kColorNames.size());
        break;
      case GLFW_KEY_K:
        s.rays = static_cast<RayMode>((static_cast<std::size_t>(s.rays) + 1) % kRayModeNames.size());
        break;
      case GLFW_KEY_I:
        s.axes = s.scale_bar = !s.axes;
        break;
      case GLFW_KEY_D:
        if (control) desk_->add_bookmark();
        return;
      case GLFW_KEY_R:
      case GLFW_KEY_F5:
        return desk_->reload();
      case GLFW_KEY_P:
        panels_.visible = !panels_.visible;
        return;
      case GLFW_KEY_H:
        panels_.help = !panels_.help;
        return;
      case GLFW_KEY_ESCAPE:
        panels_.help = false;
        desk_->error.clear();
        desk_->select(std::nullopt);
        break;
      default:
        return;
    }
    desk_->changed();
  }

  void focus_selection() {
    if (!desk_->selection) return desk_->frame_all();
    desk_->focus(std::array<std::uint32_t, 1>{desk_->selection->instance});
  }
  void hide_selection() {
    if (!desk_->selection) return;
    desk_->solids->set_visible(std::array<std::uint32_t, 1>{desk_->selection->instance}, false);
    desk_->select(std::nullopt);
  }
  void toggle_clip(bool next_axis) {
    auto& clip = desk_->settings.clip;
    if (!next_axis) {
      if (clip)
        clip.reset();
      else
        clip.emplace();
      return;
    }
    int axis_number = -1;
    if (clip) clip->normal.cwiseAbs().maxCoeff(&axis_number);
    clip = ClipPlane{Eigen::Vector3d::Unit((axis_number + 1) % 3), std::nullopt};
  }
  void move_clip(int direction) {
    auto& clip = desk_->settings.clip;
    if (!clip || !desk_->scene) return;
    clip->offset = clip->offset_in(desk_->scene->bounds) + direction * 0.01 * desk_->scene->bounds.size().norm();
  }
  void toggle_full_screen() {
    GLFWwindow* w = window_.get();
    if (glfwGetWindowMonitor(w) != nullptr) {
      glfwSetWindowMonitor(w, nullptr, 60, 60, options_.resolution.width, options_.resolution.height, 0);
    } else if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) {
      const GLFWvidmode* mode = glfwGetVideoMode(monitor);
      if (mode != nullptr) glfwSetWindowMonitor(w, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
    }
  }

  const ViewOptions& options_;
  cli::Session& session_;
  std::unique_ptr<GLFWwindow, DestroyWindow> window_;
  std::unique_ptr<Gui> gui_;
  std::unique_ptr<Desk> desk_;
  Panels panels_;
  std::string title_;
  int wake_ = 3;  // frames to draw before sleeping: ImGui needs some to settle
  int button_ = -1;
  int modifiers_ = 0;
  bool dragged_ = false;
  double cursor_x_ = 0, cursor_y_ = 0, press_x_ = 0, press_y_ = 0, last_x_ = 0, last_y_ = 0;
  double last_click_ = -1;
  double last_fly_ = 0;
};

}  // namespace

int show_window(const ViewOptions& options, cli::Session& session) {
  const Glfw glfw;
  Window window(options, session);
  window.run();
  return 0;
}

}  // namespace raylift::viewer
