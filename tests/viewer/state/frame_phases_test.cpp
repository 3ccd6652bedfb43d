// SPDX-License-Identifier: Apache-2.0
// The phases of the window's image, without GL.
#include "state/frame_phases.h"

#include <gtest/gtest.h>

namespace raylift::viewer {
namespace {

using Phase = FramePhases::Phase;
using Step = FramePhases::Step;

FrameRequest changed() {
  FrameRequest request;
  request.changed = true;
  return request;
}
FrameRequest slow(bool is_changed, bool moving = false) {
  FrameRequest request;
  request.changed = is_changed;
  request.slow = true;
  request.moving = moving;
  return request;
}

/// Phases after a whole image.
FramePhases drawn() {
  FramePhases phases;
  EXPECT_EQ(phases.begin_frame(changed()), Step::whole);
  phases.end_frame(true);
  return phases;
}

TEST(FramePhases, AFastImageIsWholeAtOnceAndDrawnOnce) {
  FramePhases phases = drawn();
  EXPECT_EQ(phases.begin_frame({}), Step::none);
  FrameRequest moves = changed();
  moves.moving = true;
  EXPECT_EQ(phases.begin_frame(moves), Step::whole);
  EXPECT_EQ(phases.phase(), Phase::whole);
}

TEST(FramePhases, TheFirstSlowImageIsCoarseAndRefinedInTurns) {
  FramePhases phases = drawn();
  phases.set_blank();
  EXPECT_EQ(phases.begin_frame(slow(true)), Step::coarse);
  phases.end_frame(true);
  EXPECT_TRUE(phases.coarse());
  EXPECT_EQ(phases.begin_frame(slow(false)), Step::first_turn);
  phases.end_frame(false);
  EXPECT_TRUE(phases.in_turns());
  EXPECT_EQ(phases.begin_frame(slow(false)), Step::next_turn);
  phases.end_frame(true);
  EXPECT_EQ(phases.phase(), Phase::whole);
  EXPECT_EQ(phases.begin_frame(slow(false)), Step::none);
  EXPECT_EQ(phases.begin_frame(slow(true)), Step::first_turn) << "the scene has an image";
}

TEST(FramePhases, ASlowImageIsCoarseWhileItMoves) {
  FramePhases phases = drawn();
  EXPECT_EQ(phases.begin_frame(slow(true)), Step::first_turn);
  phases.end_frame(false);
  EXPECT_EQ(phases.begin_frame(slow(true, true)), Step::coarse) << "the turns end";
  EXPECT_EQ(phases.begin_frame(slow(false, true)), Step::none);
  EXPECT_EQ(phases.begin_frame(slow(true, true)), Step::coarse);
  EXPECT_EQ(phases.begin_frame(slow(false)), Step::first_turn) << "the move has ended";
}

TEST(FramePhases, AChangeOfLightAloneDoesNotRestartTurnsThatKeepTheScene) {
  FramePhases phases = drawn();
  FrameRequest light = slow(true);
  light.keeps_scene = true;
  EXPECT_EQ(phases.begin_frame(light), Step::first_turn);
  EXPECT_EQ(phases.phase(), Phase::light_turns);
  phases.end_frame(false);
  light.same_scene = true;
  EXPECT_EQ(phases.begin_frame(light), Step::next_turn);
  phases.end_frame(false);
  light.same_scene = false;
  EXPECT_EQ(phases.begin_frame(light), Step::first_turn) << "another scene";
  phases.end_frame(false);
  light.keeps_scene = false;
  EXPECT_EQ(phases.begin_frame(light), Step::first_turn);
  phases.end_frame(false);
  light.same_scene = true;
  EXPECT_EQ(phases.begin_frame(light), Step::first_turn) << "these turns do not keep it";
}

TEST(FramePhases, AWholeImageAtOnceEndsTurns) {
  FramePhases phases = drawn();
  EXPECT_EQ(phases.begin_frame(slow(true)), Step::first_turn);
  phases.end_frame(false);
  FrameRequest now = slow(false, true);
  now.at_once = true;
  EXPECT_EQ(phases.begin_frame(now), Step::whole);
  EXPECT_EQ(phases.phase(), Phase::whole);
  EXPECT_EQ(phases.begin_frame(slow(false, true)), Step::none);
}

TEST(FramePhases, RaysAreCastInSlicesAndCoarselyDuringAMove) {
  FramePhases phases = drawn();
  FrameRequest rays = changed();
  rays.rays = rays.rays_left = true;
  EXPECT_EQ(phases.begin_frame(rays), Step::cast);
  rays.changed = false;
  EXPECT_EQ(phases.begin_frame(rays), Step::cast_on);
  rays.changed = rays.moving = true;
  EXPECT_EQ(phases.begin_frame(rays), Step::cast_coarse);
  rays.changed = false;
  EXPECT_EQ(phases.begin_frame(rays), Step::cast_on) << "the coarse image too";
  rays.rays_left = false;
  EXPECT_EQ(phases.begin_frame(rays), Step::none);
  rays.moving = false;
  EXPECT_EQ(phases.begin_frame(rays), Step::cast) << "the move has ended";
  EXPECT_EQ(phases.begin_frame(rays), Step::none) << "no rays are left";
}

}  // namespace
}  // namespace raylift::viewer
