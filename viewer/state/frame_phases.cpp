// SPDX-License-Identifier: Apache-2.0
#include "state/frame_phases.h"

namespace raylift::viewer {

FramePhases::Step FramePhases::begin_frame(const FrameRequest& request) {
  const bool goes_on = phase_ == Phase::light_turns && request.same_scene;
  const bool restarts = request.at_once || (request.changed && !goes_on) || (request.moving && in_turns()) ||
                        (phase_ == Phase::coarse && !request.moving);
  if (restarts && phase_ != Phase::blank) phase_ = Phase::stale;
  if (in_turns()) return Step::next_turn;
  if (phase_ != Phase::blank && phase_ != Phase::stale)
    return request.rays && request.rays_left ? Step::cast_on : Step::none;
  const bool first = phase_ == Phase::blank;
  if (request.rays) {
    phase_ = request.moving && !request.at_once ? Phase::coarse : Phase::casting;
    return phase_ == Phase::coarse ? Step::cast_coarse : Step::cast;
  }
  if (!request.slow || request.at_once) {
    phase_ = Phase::whole;
    return Step::whole;
  }
  if (request.moving || first) {
    phase_ = Phase::coarse;
    return Step::coarse;
  }
  phase_ = request.keeps_scene ? Phase::light_turns : Phase::turns;
  return Step::first_turn;
}

void FramePhases::end_frame(bool complete) {
  if (complete && in_turns()) phase_ = Phase::whole;
}

}  // namespace raylift::viewer
