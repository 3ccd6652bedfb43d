// SPDX-License-Identifier: Apache-2.0
// What the window's controls and the verbs of clients act on.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "state/frame_scheduler.h"
#include "state/scene_loader.h"
#include "state/viewer_state.h"

namespace raylift::viewer {

/// What the window shows around the image.
struct WindowLayout {
  bool panels = true;
  bool help = false;
  bool palette = false;  ///< the commands by their names
  bool opening = false;  ///< the dialog that opens a scene
  enum class Menu { closed, opening, open };
  Menu menu = Menu::closed;                        ///< of the selected solid
  bool scene = true, image = true, legend = true;  ///< the panels that stay open
  /// Sections of the image's panel: whether each is open, and the one to scroll to.
  enum class Section { view, colour, surfaces, clipping, ray_casting, overlays };
  std::array<bool, 6> sections{false, true, true, false, false, false};
  std::optional<Section> reveal{};
  [[nodiscard]] bool& open(Section section) { return sections[static_cast<std::size_t>(section)]; }
  /// Tabs of the scene's panel: the one that is shown, and the one to show.
  enum class Tab { solids, surfaces, light, properties, device, bookmarks };
  Tab tab = Tab::solids;
  std::optional<Tab> next_tab{};
  bool search = false;  ///< the cursor is to go to the search of solids
  enum class Scale { none, solids, light };
  Scale scale = Scale::none;  ///< whose editor is to open at the legend: that of the solids' colours, or of light's
  ThemeChoice theme = ThemeChoice::automatic;
  bool light = false;  ///< the panels' theme as it is now
  bool full_screen = false;
  bool closing = false;
  friend bool operator==(const WindowLayout&, const WindowLayout&) = default;
};

struct ControlTarget {
  ViewerState& state;
  FrameScheduler* frames;  ///< null: nothing is drawn, and no control or verb that needs an image may act
  WindowLayout& layout;
  SceneLoader& loader;
  std::function<void(const std::string&)> print;      ///< prints a line on standard output
  std::function<void(const std::string&)> copy = {};  ///< puts a text on the clipboard; empty: there is none
};

/// A server of clients outside the window, which the window runs between its frames.
class Server {
 public:
  virtual ~Server() = default;
  /// Where clients connect.
  [[nodiscard]] virtual std::string address() const = 0;
  /// A descriptor that is readable while serve() has input.
  [[nodiscard]] virtual int descriptor() const = 0;
  /// Whether serve() has work although the descriptor is not readable.
  [[nodiscard]] virtual bool busy() const = 0;
  /// Whether a client waits for the result of work that goes on.
  [[nodiscard]] virtual bool pending() const = 0;
  /// Reads, answers and writes for some milliseconds, without blocking. Returns whether a verb acted.
  virtual bool serve() = 0;
};

/// What clients can ask the viewer for, for a person who types it: lines as `raylift-view --send` takes them.
class Commands {
 public:
  struct Entry {
    std::string name, help;
    std::vector<std::pair<std::string, std::string>> parameters;  ///< "[view=front|back]", and its help
    bool complete = true;                                         ///< does something without parameters
  };
  virtual ~Commands() = default;
  [[nodiscard]] virtual const std::vector<Entry>& all() const = 0;
  /// Begins a command such as "look view=top"; words in quotation marks may have spaces. Its result becomes a message
  /// of the state, or its error.
  virtual void run(const std::string& line) = 0;
  /// Goes on with commands whose results are still to come, without blocking. Returns whether one acted.
  virtual bool serve() = 0;
  /// Whether a result is still to come.
  [[nodiscard]] virtual bool pending() const = 0;
};
using CommandsFactory = std::function<std::unique_ptr<Commands>(const ControlTarget&)>;

/// Makes a server whose verbs act on a target, which must outlive it; empty: no server. Throws Error.
using ServerFactory = std::function<std::unique_ptr<Server>(const ControlTarget&)>;

}  // namespace raylift::viewer
