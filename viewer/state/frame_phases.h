// SPDX-License-Identifier: Apache-2.0
// The phases in which the window's image is drawn, as a state machine. No GL.
//
//                    slow, and moving or the scene's first image
//   blank, stale ---------------------------------------------------> coarse
//    ^   |   |  \                                                       |
//    |   |   |   \ slow                                                 | the move ends (as from stale)
//    |   |   |    `---> turns, light_turns <----------------------------+
//    |   |   |               |  (a turn a frame; the image before shows)|
//    |   |   | rays          | last turn                                |
//    |   |   `---> casting   v                                          |
//    |   `-------------> whole <----------------------------------------'
//    |
//    `-- any change of the image, from each phase. Exception: a change of light alone leaves light_turns as it is.
//
// blank: no image of this scene yet. coarse: fewer pixels. light_turns: turns that keep the scene, to draw light over
// it. casting: rays are cast in slices, of a coarse image too. A whole image that is drawn at once skips coarse and
// turns.
#pragma once

#include <cstdint>

namespace raylift::viewer {

/// What the next frame is to be drawn for.
struct FrameRequest {
  bool changed = false;      ///< since the last frame
  bool at_once = false;      ///< a whole image is needed, however long it takes
  bool moving = false;       ///< the camera moves, or time runs over a scene that is drawn anew for it
  bool slow = false;         ///< a whole image takes too long for one frame
  bool rays = false;         ///< rays are cast
  bool rays_left = false;    ///< of the last image
  bool keeps_scene = false;  ///< light can be drawn over the scene as it is kept
  bool same_scene = false;   ///< light alone changed since, and the scene is kept
};

class FramePhases {
 public:
  enum class Phase : std::uint8_t { blank, stale, coarse, turns, light_turns, casting, whole };
  /// What a frame draws.
  enum class Step : std::uint8_t { none, whole, coarse, first_turn, next_turn, cast, cast_coarse, cast_on };

  /// Begins the next frame. Each step but `none` ends with end_frame().
  [[nodiscard]] Step begin_frame(const FrameRequest& request);
  /// Ends it. `complete`: no turn is left.
  void end_frame(bool complete);
  /// Another scene: its first image is coarse where that is slow.
  void set_blank() { phase_ = Phase::blank; }

  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] bool in_turns() const { return phase_ == Phase::turns || phase_ == Phase::light_turns; }
  [[nodiscard]] bool coarse() const { return phase_ == Phase::coarse; }

 private:
  Phase phase_ = Phase::blank;
};

}  // namespace raylift::viewer
